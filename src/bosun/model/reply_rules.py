"""What can be told without a model: whether a message that was not said to Bosun is for it.

Plain functions of texts. A rule that is not sure says nothing; silence is the safe side of every doubt.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Verdict: TypeAlias = Literal["opt_out", "acknowledged", "to_somebody_else", "by_name", "clarification", "answer"]
"""What a rule finds in a message. Bosun answers the last three."""

NAME: Final = "bosun"
MOST_TERSE_WORDS: Final = 4

_MENTION: Final = re.compile(r"(?<![\w@])@([\w][\w.-]*)")
_EVERYBODY: Final = frozenset({"here", "channel", "everyone"})
_BY_NAME: Final = re.compile(
    rf"^\W*(?:(?:hey|hi|hello|ok|okay|so|and|please)\W+{NAME}\b(?!['’])|{NAME}\b(?:\s*[,:]|\W*$|(?!['’]).*\?\W*$))",
    re.IGNORECASE | re.DOTALL,
)
_SAYS_SOMETHING: Final = frozenset(
    (
        *("thanks", "thank", "thx", "ty", "cheers", "ta", "appreciated", "helpful", "noted", "understood", "got"),
        *("great", "good", "nice", "cool", "perfect", "awesome", "excellent", "lovely", "super", "brilliant", "fine"),
        *("wonderful", "amazing", "ok", "okay", "k", "kk", "alright", "right", "lgtm", "gotcha", "sure", "done"),
        *("yes", "yep", "yeah", "yup", "will", "works", "makes"),
    )
)
_BESIDE_IT: Final = frozenset(
    ("you", "it", "do", "for", "me", "sense", "much", "very", "so", "a", "lot", "all", "many", "that", "is", "that's")
)
_CONSENT: Final = frozenset(
    ("yes", "yep", "yeah", "yup", "sure", "ok", "okay", "no", "nope", "nah", "please", "both", "neither")
)
_MOST_THANKS: Final = 8
_SHORTCODE: Final = re.compile(r":[a-z0-9_+\-]+:")

_CALLED: Final = re.compile(r"^\W*(?:(?:hey|hi|hello|ok|okay|thanks|thank you)\W+)?(\w[\w .'’-]{0,60}?)\s*[,:]", re.I)

_OPT_OUT: Final = re.compile(
    r"""^\W*(?:(?:ok|okay|hey|please|thanks|thank\ you)\W+)*
    (?:(?:@?bosun)\W+(?:(?:please|can\ you|could\ you|would\ you|you\ can)\W+)*
       (?:be\ quiet|shut\ up|hush|go\ away|leave|stay\ (?:out|quiet|silent)|keep\ quiet|stop\ (?:talking|it)|quiet)
      |(?:(?:@?bosun)\W+)?(?:(?:please|can\ you|could\ you|would\ you)\W+)*
       (?:leave\ us\ (?:alone|in\ peace)|stop\ (?:replying|answering|responding|posting|writing)
         |(?:do\ not|don['’]?t)\ (?:reply|answer|respond|post|write)\ (?:here|in\ this\ thread|in\ here|any\ ?more)
         |no\ more\ (?:replies|answers)|stay\ out\ of\ (?:this|here|it)|unsubscribe|mute\ yourself))
    (?:\W+(?:here|now|please|in\ (?:this\ thread|here)|of\ this(?:\ thread)?|thread|to\ us|to\ this(?:\ thread)?
       |from\ now\ on|any\ ?more|for\ now|thanks|thank\ you|@?bosun))*\W*$""",
    re.IGNORECASE | re.VERBOSE,
)

_ASKS: Final = re.compile(
    r"^\W*(?:why|how|when|where|who|which|what|whose|since when|how come|says who|really|are you sure|and|or|also|"
    r"what about|how about|meaning|in what way|for example|such as|like what|compared to what)\b",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class Said:
    """The latest words before a message: whose they are, and what they are. Nobody's: nothing was said."""

    by_bosun: bool
    text: str


def judge(text: str, before: Said | None, people: Collection[str] = ()) -> Verdict | None:
    """Return what the rules find in a message, after the latest words before it; None where no rule is sure.

    `people` are the names of those who wrote before.
    """
    if _OPT_OUT.match(text):
        return "opt_out"
    if _addresses_others(text) or _calls_one_of(text, people):
        return "to_somebody_else"
    if _BY_NAME.match(text):
        return "by_name"
    follows_bosun = before is not None and before.by_bosun
    if follows_bosun and before is not None and before.text.rstrip().endswith("?") and _is_consent(text):
        return "answer"
    if is_acknowledgement(text):
        return "acknowledged"
    if follows_bosun and _is_terse_question(text):
        return "clarification"
    return None


def is_acknowledgement(text: str) -> bool:
    """Tell whether a text does nothing but acknowledge: thanks, approval, or only signs and emoji."""
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(_SHORTCODE.sub(" ", text))]
    if not words:
        return bool(text.strip()) and not _questions(text)
    if len(words) > _MOST_THANKS or _questions(text):
        return False
    return _SAYS_SOMETHING.issuperset(w for w in words if w not in _BESIDE_IT) and not _BESIDE_IT.issuperset(words)


def _addresses_others(text: str) -> bool:
    """Tell whether a text mentions somebody, and not Bosun: neither as a mention nor by its name."""
    names = [name.casefold().rstrip(".-") for name in _MENTION.findall(text)]
    others = [name for name in names if name not in _EVERYBODY and name != NAME]
    return bool(others) and not re.search(rf"\b{NAME}\b", text, re.IGNORECASE)


def _calls_one_of(text: str, people: Collection[str]) -> bool:
    """Tell whether a text begins with somebody's name and a comma, or a colon: with the whole name, or the first."""
    called = _CALLED.match(text)
    if called is None:
        return False
    known = {part.casefold() for name in people for part in (name, name.partition(" ")[0])}
    return called[1].casefold() in known - {NAME}


def _is_terse_question(text: str) -> bool:
    count = len(_WORD.findall(text))
    if not 0 < count <= MOST_TERSE_WORDS:
        return False
    return _questions(text) or (_ASKS.match(text) is not None and count <= 2)


def _is_consent(text: str) -> bool:
    words = [word.casefold() for word in _WORD.findall(text)]
    return 0 < len(words) <= MOST_TERSE_WORDS and words[0] in _CONSENT


def _questions(text: str) -> bool:
    return any(unicodedata.name(character, "").endswith("QUESTION MARK") for character in text)


def together(verdicts: Sequence[Verdict | None]) -> Verdict | None:
    """Return what the verdicts about one person's messages in a row come to; None where a model has to be asked."""
    if "opt_out" in verdicts:
        return "opt_out"
    told = [verdict for verdict in verdicts if verdict != "acknowledged"]
    if not told:
        return "acknowledged"
    for answered in ("by_name", "clarification", "answer"):
        if answered in told:
            return answered
    return "to_somebody_else" if all(verdict == "to_somebody_else" for verdict in told) else None
