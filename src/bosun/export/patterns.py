"""The shapes by which a text gives somebody or something away.

Sources: RFC 6750 (bearer tokens), RFC 7468 (PEM), RFC 7519 (JSON Web Tokens), RFC 2397 (data URLs), RFC 9562 (UUIDs),
and the prefixes that vendors document for their keys and ids (OpenAI, Slack, AWS, GitHub, Google).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from bosun.export.placeholders import Kind

SECRETS: Final = "|".join(
    (
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----|\Z)",
        r"\b(?:Bearer|Basic)\s+[\w.~+/-]{8,}=*",
        r"(?<![\w-])sk-[A-Za-z0-9_-]{12,}",
        r"(?<![\w-])xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}|(?<![\w-])xapp-\d-[A-Za-z0-9-]{8,}",
        r"(?-i:(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9]))",
        r"(?<![\w-])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,})",
        r"(?<![\w-])AIza[\w-]{35}",
        r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}",
        r"(?<![\w-])bosun_[A-Za-z0-9_-]{12,}",
    )
)

SECRET_NAME: Final = re.compile(
    r"authorization|api[_-]?key|secret|token|password|passwd|passphrase|cookie|credential|signature|private[_-]?key",
    re.IGNORECASE,
)
"""A field of this name holds a secret, whatever it looks like."""

NAMED_SECRET: Final = (
    rf"(?P<name_of_secret>(?<![\w-])[\w-]{{0,40}}(?:{SECRET_NAME.pattern})[\w-]{{0,40}}[\"']?\s*(?:[:=]|\bis\b)\s*[\"']?)"
    r"(?P<named_secret>(?:(?:Bearer|Basic)\s+)?[^\s\"',;}\]]{6,})"
)

_DOMAIN: Final = (
    r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+"
    r"(?:com|net|org|info|biz|io|dev|app|ai|co|cloud|eu|de|at|ch|fr|uk|us|nl|it|es|pl|se|internal|intranet|local|corp|lan)"
)

SHAPES: Final[tuple[tuple[Kind, str], ...]] = (
    ("secret", SECRETS),
    ("attachment", r"\bdata:[\w.+-]+/[\w.+-]+[;,][^\s\"')]*|\[file: [^\]\n]*\]"),
    ("link", r"(?<![\w])[a-z][a-z0-9+.-]*://[^\s<>\"')\]]+|(?<![\w])www\.[^\s<>\"')\]]+"),
    ("address", r"(?<![\w.+-])[\w.+-]+@(?:[\w-]+\.)*[\w-]+|(?<!\w)(?:mailto|tel):[^\s<>\"')\]]+"),
    ("id", r"<[@#!][^>\s]+>|(?-i:(?<![\w-])[UWCTDGB](?=[A-Z0-9]*\d)[A-Z0-9]{8,}(?![\w-]))"),
    ("id", r"(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])"),
    ("id", r"(?<![\w-])[a-z_]+:[a-z2-7]{26}(?![\w-])|(?<![\w-])slack:[A-Z0-9]+:[\d.]+"),
    ("id", r"(?<![\w-])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,}(?![\w-])"),
    ("host", r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|(?<![\w:])(?:[0-9a-f]{1,4}:){3,}[0-9a-f:]+(?!\w)"),
    ("host", rf"(?<![\w.-])(?:{_DOMAIN})(?![\w-])"),
    (
        "path",
        r"(?<![\w.~/-])/(?:home|Users)/[^\s\"',;:)\]]+|\b[A-Z]:\\+Users\\+[^\s\"',;:)\]]+|(?<!\w)~/[^\s\"',;)\]]+",
    ),
    ("number", r"(?-i:(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w))"),
    ("number", r"(?<![\w.,])\+\d[\d ()/.-]{6,}\d|(?<![\w.,-])(?:\d[ ./()-]?){8,}\d(?![\w-])"),
)
"""Tried at each place of a text in this order. A number is a telephone's, an account's or a card's: nine digits or
more."""

_RUNS: Final = re.compile(r"[A-Za-z0-9+/=_.~%-]{20,}")
LEAST_ENTROPY: Final = 3.8
"""Bits for each character. Twenty random letters and digits have about 4; words of a language have less, and their
digits at an end."""


def suspicious(text: str) -> Iterator[str]:
    """Yield what still looks like a credential: a shape of one, or a long run of letters and digits at random."""
    yield from (match.group() for match in re.finditer(SECRETS, text))
    for match in _RUNS.finditer(text):
        run = match.group()
        if any(_is_random(part) for part in (run, *re.split(r"[._=/-]", run))):
            yield run


def _is_random(run: str) -> bool:
    """Tell whether letters and digits take turns in it as they do in no word, and no letter is frequent."""
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(run))
    return len(run) >= 20 and changes >= 4 and _entropy(run) >= LEAST_ENTROPY


def _entropy(text: str) -> float:
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
