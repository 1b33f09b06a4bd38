"""The rules of the reply policy: what they are sure of, and that everything else is left to the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosun.model.reply_rules import Said, Verdict, is_acknowledgement, judge, together

ANSWER = Said(by_bosun=True, text="The release of Beacon is on Thursday.")
QUESTION = Said(by_bosun=True, text="Shall I remember that?")
SOMEBODY = Said(by_bosun=False, text="I will ask her.")
WORDS = st.text(st.characters(codec="utf-8"), max_size=60)
THANKS = st.lists(
    st.sampled_from(["thanks", "Thank you", "ok", "OK", "great", "👍", ":tada:", "perfect", "got it", "Cool"]),
    min_size=1,
    max_size=3,
)
SIGNS = st.sampled_from(["", "!", ".", " :)", " 🙏", "…"])
OPT_OUTS = st.sampled_from(
    ["be quiet", "please be quiet", "shut up", "stay out", "leave us alone", "stop replying here", "go away"]
)


@pytest.mark.parametrize(
    ("text", "before", "verdict"),
    [
        ("Bosun, be quiet", ANSWER, "opt_out"),
        ("@Bosun please leave us alone", None, "opt_out"),
        ("Stop replying here.", SOMEBODY, "opt_out"),
        ("please don't answer in this thread", ANSWER, "opt_out"),
        ("ok, please stop responding to us now", ANSWER, "opt_out"),
        ("Our customers told us to leave them alone", ANSWER, None),
        ("Why did you stop replying to the customer yesterday evening?", ANSWER, None),
        ("@Priya be quiet", ANSWER, "to_somebody_else"),
        ("be quiet", SOMEBODY, None),
        ("@Priya can you look at it?", ANSWER, "to_somebody_else"),
        ("what do you think, @priya.k?", ANSWER, "to_somebody_else"),
        ("@here who has time?", SOMEBODY, None),
        ("Write to priya@example.com that it is late", ANSWER, None),
        ("Bosun, tell @Priya when it is", ANSWER, "by_name"),
        ("hey Bosun what is in it?", SOMEBODY, "by_name"),
        ("Bosun's answer was wrong", SOMEBODY, None),
        ("Bosun should stop answering here.", SOMEBODY, None),
        ("Bosun?", SOMEBODY, "by_name"),
        ("bosun when is it?", SOMEBODY, "by_name"),
        ("thanks", ANSWER, "acknowledged"),
        ("ok 👍", ANSWER, "acknowledged"),
        (":+1:", SOMEBODY, "acknowledged"),
        ("Great, thank you so much!", ANSWER, "acknowledged"),
        ("that is it for me", ANSWER, None),
        ("thanks, and when is the next one?", ANSWER, None),
        ("yes please", QUESTION, "answer"),
        ("ok", QUESTION, "answer"),
        ("no", QUESTION, "answer"),
        ("thanks", QUESTION, "acknowledged"),
        ("yes", SOMEBODY, "acknowledged"),
        ("why?", ANSWER, "clarification"),
        ("and Monday?", ANSWER, "clarification"),
        ("Why", ANSWER, "clarification"),
        ("?", ANSWER, None),
        ("why?", SOMEBODY, None),
        ("why?", None, None),
        ("and I will go home now", ANSWER, None),
        ("", ANSWER, None),
    ],
)
def test_what_the_rules_say(text: str, before: Said | None, verdict: Verdict | None) -> None:
    """One message, after what was said before it."""
    assert judge(text, before) == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Priya, can you look at it?", "to_somebody_else"),
        ("hey eve: are you there?", "to_somebody_else"),
        ("Eve Adams, when will you be done?", "to_somebody_else"),
        ("Bosun, can you look at it?", "by_name"),
        ("Zoë, can you look at it?", None),
        ("Priya asked me, can you tell her who owns it?", None),
        ("Well, what is it that she wants?", None),
    ],
)
def test_a_message_that_begins_with_a_name_is_said_to_that_person(text: str, verdict: Verdict | None) -> None:
    """Where somebody of that name wrote before."""
    assert judge(text, ANSWER, ("Priya", "Eve Adams", "Bosun")) == verdict


@given(words=THANKS, sign=SIGNS, before=st.sampled_from([None, ANSWER, SOMEBODY]))
def test_thanks_in_any_form_are_acknowledged(words: list[str], sign: str, before: Said | None) -> None:
    """Bosun does not answer politeness with politeness."""
    assert judge(", ".join(words) + sign, before) == "acknowledged"


@given(words=THANKS, more=st.sampled_from(["deploy it", "what now", "Beacon", "send the list", "Priya"]))
def test_thanks_with_something_behind_them_are_no_acknowledgement(words: list[str], more: str) -> None:
    """What else is said may be for Bosun."""
    assert not is_acknowledgement(f"{', '.join(words)}, {more}")


@given(
    text=WORDS,
    name=st.sampled_from(["Priya", "eve.k", "Zoë", "U0EVE"]),
    before=st.sampled_from([None, ANSWER, QUESTION]),
)
def test_a_mention_of_somebody_else_is_never_answered_by_a_rule(text: str, name: str, before: Said | None) -> None:
    """Unless it names Bosun too."""
    verdict = judge(f"{text} @{name}", before)
    assert (
        verdict == "to_somebody_else" or "bosun" in text.casefold() or text[-1:].isalnum() or text.endswith(("@", "_"))
    )


@given(phrase=OPT_OUTS, name=st.sampled_from(["Bosun, ", "bosun ", "@Bosun: ", "ok Bosun, "]), sign=SIGNS)
def test_an_opt_out_with_the_name_is_heeded(phrase: str, name: str, sign: str) -> None:
    """Whatever was said before."""
    assert judge(name + phrase + sign, None) == judge(name + phrase + sign, ANSWER) == "opt_out"


@given(text=WORDS, by_bosun=st.booleans(), before=WORDS)
def test_any_text_has_a_verdict_or_none(text: str, by_bosun: bool, before: str) -> None:
    """The rules never raise, and what follows a person's words is never called a clarification of Bosun's."""
    verdict = judge(text, Said(by_bosun, before))
    assert by_bosun or verdict not in ("clarification", "answer")
    assert verdict != "acknowledged" or is_acknowledgement(text)


VERDICTS = st.sampled_from([None, "opt_out", "acknowledged", "to_somebody_else", "by_name", "clarification", "answer"])


@given(verdicts=st.lists(VERDICTS, min_size=1, max_size=5))
def test_several_messages_come_to_one_verdict(verdicts: list[Verdict | None]) -> None:
    """An opt-out before all; thanks change nothing; what is surely for Bosun counts more than a doubt."""
    whole = together(verdicts)
    assert (whole == "opt_out") == ("opt_out" in verdicts)
    assert whole == together([*verdicts, "acknowledged"]) == together(["acknowledged", *verdicts])
    if whole is None:
        assert None in verdicts
    if whole == "to_somebody_else":
        assert set(verdicts) <= {"to_somebody_else", "acknowledged"}
