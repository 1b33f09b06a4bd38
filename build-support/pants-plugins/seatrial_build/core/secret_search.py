"""Search a text for credentials, in whatever encoding they have taken on their way.

The credential is not spelled in all the ways that somebody may think of. The text is decoded instead, in each way
below, and what comes out is decoded again: so what was encoded twice is found as well. A JSON text is also searched
for what its lists add up to, because a stream may hand a credential out in pieces.

The harness and the build share no code, so each has this file; a test holds that they are the same to the byte.
"""

from __future__ import annotations

import contextlib
import html
import json
import re
import zlib
from base64 import b32decode, b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

SHORTEST_SECRET = 6
"""A shorter value is a placeholder such as `none`, which ordinary text contains."""

DEPTH = 5
"""So many encodings around one another are taken off."""

MOST_BYTES = 256 * 1024 * 1024
"""One search decodes no more than this. What would need more is refused: nobody knows what it holds."""

_MOST_INFLATED = 16 * 1024 * 1024
_BETWEEN = b"\xff\n"  # no encoding reads across it


@dataclass(frozen=True)
class SecretFound:
    """A credential, by its name and never by its value, and the encodings around it, outermost first."""

    name: str
    encodings: tuple[str, ...]

    def __str__(self) -> str:
        return self.name + (f" ({' of '.join(reversed(self.encodings))})" if self.encodings else "")


class SearchTooLarge(Exception):
    """The text has too many layers of encoding to look through them all, so it must not be written."""


def find_secrets(content: bytes, secrets: Mapping[str, str]) -> tuple[SecretFound, ...]:
    """Search `content` for the values of `secrets` (name -> value), each named once.

    Values shorter than SHORTEST_SECRET are not searched for. Raises SearchTooLarge.
    """
    wanted = {name: _spellings(value) for name, value in secrets.items() if len(value) >= SHORTEST_SECRET}
    found: dict[str, SecretFound] = {}
    for text, encodings in _decoded(content) if wanted else ():
        for name, spellings in wanted.items():
            if name not in found and any(spelling in text for spelling in spellings):
                found[name] = SecretFound(name, encodings)
        if len(found) == len(wanted):
            break
    return tuple(found.values())


def _spellings(value: str) -> tuple[bytes, ...]:
    """The value's bytes in the character sets that a text may use."""
    spelled = [value.encode(charset, "surrogatepass") for charset in ("utf-8", "utf-16-le", "utf-16-be")]
    with contextlib.suppress(UnicodeEncodeError):  # then it cannot stand in such a text
        spelled.append(value.encode("latin-1"))
    return tuple(dict.fromkeys(spelled))


def _decoded(content: bytes) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """The text, what its lists add up to, and what decoding makes of these, nearest first."""
    level: list[tuple[bytes, tuple[str, ...]]] = [(content, ())]
    level += [(text.encode("utf-8", "surrogatepass"), ("pieces",)) for text in _added_up(content)]
    seen = {text for text, _ in level}
    size = 0
    for depth in range(DEPTH + 1):
        deeper: list[tuple[bytes, tuple[str, ...]]] = []
        for text, encodings in level:
            yield text, encodings
            for name, decode in _ENCODINGS if depth < DEPTH and _WORTH_A_LOOK.search(text) else ():
                for made in decode(text):
                    if made in seen:
                        continue
                    seen.add(made)
                    size += len(made)
                    if size > MOST_BYTES:
                        raise SearchTooLarge(f"more than {MOST_BYTES} bytes of encoded text")
                    deeper.append((made, (*encodings, name)))
        level = deeper


# --- what lists add up to


def _added_up(content: bytes) -> Iterable[str]:
    """Each text that is spread over the items of a list: the strings at one place of the items, joined."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return ()
    joined: dict[str, None] = {}
    for items in _lists(value):
        texts: dict[tuple[Any, ...], list[str]] = {}
        for item in items:
            for place, text in _strings(_opened(item), ()):
                texts.setdefault(place, []).append(text)
        joined.update(("".join(parts), None) for parts in texts.values() if len(parts) > 1)
    return joined


def _lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _lists(part)


def _opened(item: Any) -> Any:
    """An event of a stream is JSON in a string."""
    if isinstance(item, str) and item[:1] in ("{", "["):
        try:
            return json.loads(item)
        except (ValueError, RecursionError):
            return item
    return item


def _strings(value: Any, place: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _strings(part, (*place, name))
    elif isinstance(value, list):
        for position, part in enumerate(value):
            # Choices and tool calls carry their own index; several may take turns at one position.
            own = part.get("index", position) if isinstance(part, dict) else position
            yield from _strings(part, (*place, str(own)))


# --- encodings of a whole text

_ESCAPE = re.compile(
    rb"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})"
    rb"|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-7]{3})|([\"'\\/bfnrt]))"
)
_LETTERS = {b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_SOFT = re.compile(rb"=(?:([0-9A-Fa-f]{2})|[ \t]*\r?\n)")
_BREAK = re.compile(rb"\r?\n[ \t>]*")


def _escape(match: re.Match[bytes]) -> bytes:
    high, low, braced, four, eight, two, octal, letter = match.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    if two is not None or octal is not None:
        return bytes([(int(two, 16) if octal is None else int(octal, 8)) & 0xFF])
    if high is not None:
        point = 0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF)
    else:
        point = int(braced or four or eight, 16)
    return chr(point).encode("utf-8", "surrogatepass") if point <= 0x10FFFF else match.group()


def _escapes(text: bytes) -> Iterator[bytes]:
    if b"\\" in text:
        yield _ESCAPE.sub(_escape, text)


def _percents(text: bytes) -> Iterator[bytes]:
    if b"%" in text:
        yield unquote_to_bytes(text)
    if b"+" in text:
        yield unquote_to_bytes(text.replace(b"+", b" "))


def _entities(text: bytes) -> Iterator[bytes]:
    if b"&" in text:
        yield html.unescape(text.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _quoted_printable(text: bytes) -> Iterator[bytes]:
    if b"=" in text:
        yield _SOFT.sub(lambda match: bytes([int(match[1], 16)]) if match[1] else b"", text)


def _lines(text: bytes) -> Iterator[bytes]:
    if b"\n" in text:
        yield _BREAK.sub(b"", text)


# --- encodings of a run of letters inside a text

_BASE64 = re.compile(rb"[A-Za-z0-9+/_-]{8,}")
_BASE32 = re.compile(rb"[A-Za-z2-7]{10,}")
_HEX = re.compile(rb"(?:(?:0x|\\x|%u?)?[0-9a-fA-F]{2}[ :,;-]{0,2}){6,}")
_HEX_MARK = re.compile(rb"0[xX]|[^0-9a-fA-F]")
_NUMBERS = re.compile(rb"\d{1,3}(?:\s*[,; ]\s*\d{1,3}){5,}")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
# A text in ASCII, or what gzip and zlib begin with: all else that comes out is the noise of an ordinary word.
_WORTH_A_LOOK = re.compile(rb"[\t\n\r\x20-\x7e]{6,}|(?:[\x20-\x7e]\0){6,}|\x1f\x8b\x08|\x78[\x01\x5e\x9c\xda]")


def _sorted(runs: Iterable[bytes]) -> Iterator[bytes]:
    """What the runs of a text were decoded to, as two texts: what is worth decoding again, and noise.

    Noise may be the credential itself in another character set, so it is searched as well.
    """
    texts: dict[bool, list[bytes]] = {}
    for run in runs:
        texts.setdefault(_WORTH_A_LOOK.search(run) is not None, []).append(run)
    for parts in texts.values():
        yield _BETWEEN.join(parts)


def _base64(text: bytes) -> Iterator[bytes]:
    runs = [run.translate(_URL_SAFE) for run in _BASE64.findall(text)]
    for start in range(4):  # wherever the encoded text begins in the run
        yield from _sorted(b64decode(_padded(run[start:], 4)) for run in runs)


def _base32(text: bytes) -> Iterator[bytes]:
    runs = [run.upper() for run in _BASE32.findall(text)]
    for start in range(8):
        yield from _sorted(b32decode(_padded(run[start:], 8)) for run in runs)


def _padded(run: bytes, group: int) -> bytes:
    return run + b"A" * (-len(run) % group)


def _hex(text: bytes) -> Iterator[bytes]:
    runs = [_HEX_MARK.sub(b"", run) for run in _HEX.findall(text)]
    for start in range(2):
        yield from _sorted(bytes.fromhex(run[start : len(run) - (len(run) - start) % 2].decode()) for run in runs)


def _numbers(text: bytes) -> Iterator[bytes]:
    for run in _NUMBERS.findall(text):
        numbers = [int(number) for number in re.findall(rb"\d+", run)]
        if max(numbers) < 256:
            yield bytes(numbers)


def _compressed(text: bytes) -> Iterator[bytes]:
    for magic, bits in ((b"\x1f\x8b\x08", 31), (b"\x78", 15)):
        at = text.find(magic)
        while at >= 0:
            try:
                made = zlib.decompressobj(bits).decompress(text[at:], _MOST_INFLATED)
            except zlib.error:
                made = b""
            if made:
                yield made
            at = text.find(magic, at + 1)


def _wide(text: bytes) -> Iterator[bytes]:
    if b"\0" in text:
        yield text.replace(b"\0", b"")


_ENCODINGS: tuple[tuple[str, Callable[[bytes], Iterator[bytes]]], ...] = (
    ("backslash escapes", _escapes),
    ("URL encoding", _percents),
    ("HTML entities", _entities),
    ("quoted-printable", _quoted_printable),
    ("wrapped lines", _lines),
    ("base64", _base64),
    ("base32", _base32),
    ("hexadecimal", _hex),
    ("byte numbers", _numbers),
    ("compression", _compressed),
    ("UTF-16", _wide),
)
