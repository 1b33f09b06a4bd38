"""What looks like a credential, a real person's address or a path of somebody's machine, in text that is kept
in the repository.

Sources of the shapes: RFC 6750 (bearer tokens), RFC 7468 (PEM), RFC 7519 (JSON Web Tokens), RFC 2606
(reserved names), and the prefixes that vendors document for their keys (OpenAI, Slack, AWS, GitHub, Google).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from rules.files import SourceFile
from rules.finding import Finding

WHY = "whoever can read the repository can use it; a recording is read by everybody who reads the case"
CURE = "remove it, record the case again with invented values, and revoke what was real"


@dataclass(frozen=True)
class Shape:
    """A kind of secret and its pattern. The pattern's group `value`, or all of it, is what is shown
    (shortened)."""

    what: str
    pattern: re.Pattern[str]


SHAPES = (
    Shape("a private key", re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----")),
    Shape("a bearer token", re.compile(r"\bBearer\s+(?P<value>[\w.~+/-]{12,}=*)", re.IGNORECASE)),
    Shape("basic authentication", re.compile(r"\bBasic\s+(?P<value>[A-Za-z0-9+/]{12,}={0,2})(?![\w ])")),
    Shape("an API key", re.compile(r"(?<![\w-])sk-(?:[a-z]+-)*[A-Za-z0-9_-]{16,}")),
    Shape(
        "a Slack token",
        re.compile(r"(?<![\w-])xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|(?<![\w-])xapp-\d-[A-Za-z0-9-]{10,}"),
    ),
    Shape("a Slack webhook", re.compile(r"hooks\.slack\.com/services/\w+/\w+/\w+")),
    Shape("an AWS key id", re.compile(r"(?<![A-Z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])")),
    Shape("a GitHub token", re.compile(r"(?<![\w-])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})")),
    Shape("a Google key", re.compile(r"(?<![\w-])AIza[\w-]{35}")),
    Shape("a JSON Web Token", re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")),
    Shape("a URL with a password", re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/:@'\"]+:(?P<value>[^\s/@'\"]+)@")),
)

# A field whose name promises a secret, and a value beside it: JSON, YAML, Python and header lines.
_FIELD = re.compile(
    r"""["']?(?P<name>[\w-]*(?:authorization|api[_-]?key|secret|token|password|passwd|cookie|credential|signature)[\w-]*)["']?"""
    r"""\s*[:=]\s*["']?(?P<value>[^\s"',}\]]{16,})""",
    re.IGNORECASE,
)
# Names that only look like it: counts of a model's tokens.
_COUNTS = re.compile(r"^(?:\w+_)?tokens(?:_\w+)?$", re.IGNORECASE)
LEAST_ENTROPY = 3.5
"""Bits for each character. Sixteen random hexadecimal digits have about 3.5, words of a language in
snake_case below that."""

_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@(?P<domain>(?:[\w-]+\.)+[A-Za-z]{2,})(?![\w-])")
# RFC 2606: names that nobody can own, and `example` below any other top-level name.
_NOBODYS = re.compile(r"(?:^|\.)(?:example(?:\.\w+)?|test|invalid|localhost)$", re.IGNORECASE)

_ESCAPE = re.compile(r"""\\(u[0-9A-Fa-f]{4}|["\\/bfnrt])""")
_MACHINE_PATH = re.compile(
    r"(?:(?<![\w.~/-])|(?<=file://))/(?:home|root|Users)(?:/[\w.-]+|\b(?=[\"'\s:]))|\b[A-Za-z]:\\+Users\\+\w+"
)


def check(file: SourceFile) -> list[Finding]:
    """Everything in one text that looks like a secret, an address or a machine's path."""
    found: set[Finding] = set()
    for number, line in enumerate(file.lines, start=1):
        once = unescaped(line)
        # Twice: a tool's arguments are JSON within the JSON of a recording.
        for reading in {line, once, unescaped(once)}:
            found.update(_in_line(file.path, number, reading))
    return sorted(found)


def unescaped(line: str) -> str:
    """The text behind a line's JSON escapes (RFC 8259, 7). A line break within a text is shown as a space."""
    return _ESCAPE.sub(lambda match: _meaning(match.group(1)), line)


def _meaning(escape: str) -> str:
    if escape[0] == "u":
        return chr(int(escape[1:], 16))
    return " " if escape in "bfnrt" else escape


def _in_line(path: str, number: int, line: str) -> Iterator[Finding]:
    for shape in SHAPES:
        for match in shape.pattern.finditer(line):
            yield Finding(path, number, f"holds {shape.what}: {_shown(match)}", WHY, CURE)
    for match in _FIELD.finditer(line):
        name, value = match.group("name"), match.group("value")
        if not _COUNTS.search(name) and entropy(value) >= LEAST_ENTROPY and _mixed(value):
            yield Finding(path, number, f"holds a long random value in '{name}': {_shown(match)}", WHY, CURE)
    for match in _ADDRESS.finditer(line):
        if not _NOBODYS.search(match.group("domain")):
            why = "the people of cases and recordings are invented, and an invented address must be nobody's"
            yield Finding(
                path,
                number,
                f"holds the address '{match.group()}'",
                why,
                "use a domain of RFC 2606: example.com, …",
            )
    yield from machine_paths(path, number, line)


def machine_paths(path: str, number: int, line: str) -> Iterator[Finding]:
    """Absolute paths below somebody's home folder."""
    for match in _MACHINE_PATH.finditer(line):
        why = "a path of one machine means nothing on another, and tells whose machine it was"
        yield Finding(
            path,
            number,
            f"holds the path '{match.group()}'",
            why,
            "use a path relative to the repository's root",
        )


def entropy(text: str) -> float:
    """Shannon's entropy in bits for each character: 0 for one repeated character."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values()) if text else 0.0


def _mixed(value: str) -> bool:
    """Random values mix letters and digits; names and sentences seldom do."""
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def _shown(match: re.Match[str]) -> str:
    """Enough to find it in the line, too little to use it."""
    value = match.groupdict().get("value") or match.group()
    return f"'{value[:6]}…' ({len(value)} characters)"
