"""What must never get into a recording: headers that are not on the list, and the credentials in use."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

from seatrial.gateway.exchange import Stream
from seatrial.gateway.recording import Recording, dump_recording

# All else in an upstream's headers is about the transport, its limits or its account.
KEPT_HEADERS = ("content-type",)

# Shorter values ("none", "local") stand in many texts and are no credentials.
SHORTEST_SECRET = 8


@dataclass(frozen=True)
class SecretFound:
    """A credential's name, the form it was found in, and the line (from 1) of the text. Never its value."""

    name: str
    form: str
    line: int


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that may be recorded. Names in lower case."""
    return {name: headers[name] for name in KEPT_HEADERS if name in headers}


def find_secrets(text: str, secrets: Mapping[str, str]) -> tuple[SecretFound, ...]:
    """Search a text for the values of `secrets` (name → value): plain, escaped in JSON, base64, URL-encoded.

    Base64 is found at all three alignments, also inside a longer encoded text. Values shorter than
    SHORTEST_SECRET characters are not searched for.
    """
    found: list[SecretFound] = []
    for name, value in secrets.items():
        if len(value) < SHORTEST_SECRET:
            continue
        for form, needle in _forms(value):
            at = text.find(needle)
            if at >= 0:
                found.append(SecretFound(name, form, text.count("\n", 0, at) + 1))
                break
    return tuple(found)


def secrets_in(recording: Recording, secrets: Mapping[str, str]) -> tuple[SecretFound, ...]:
    """Search all that would be written, and each streamed text as a whole: a stream may split a credential.

    A line of 0 stands for a text that is spread over the events of a stream.
    """
    found = find_secrets(dump_recording(recording), secrets)
    for exchange in recording.exchanges:
        if isinstance(exchange.outcome, Stream):
            for text in streamed_texts(exchange.outcome):
                spread = find_secrets(text, secrets)
                found += tuple(SecretFound(each.name, each.form, 0) for each in spread)
    return tuple(dict.fromkeys(found))


def streamed_texts(stream: Stream) -> tuple[str, ...]:
    """Each text that a stream's events add up to: the parts with the same place in their event, joined."""
    texts: dict[tuple[str | int, ...], list[str]] = {}
    for event in stream.events:
        try:
            value: object = json.loads(event)
        except ValueError:
            continue
        for place, text in _strings(value, ()):
            texts.setdefault(place, []).append(text)
    return tuple("".join(parts) for parts in texts.values())


def _strings(value: object, place: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _strings(part, (*place, name))
    elif isinstance(value, list):
        for position, part in enumerate(value):
            # Choices and tool calls carry their own index; several may take turns at one position.
            own = part.get("index", position) if isinstance(part, dict) else position
            yield from _strings(part, (*place, own))


def _forms(value: str) -> Iterator[tuple[str, str]]:
    data = value.encode("utf-8")
    yield "plain", value
    for escaped in (json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]):
        yield "escaped in JSON", escaped
        for ascii_only in (True, False):  # JSON inside a text of JSON: a stream's events
            yield "escaped in JSON", json.dumps(escaped, ensure_ascii=ascii_only)[1:-1]
    for skipped in range(3):
        for encode in (b64encode, urlsafe_b64encode):
            yield "base64", _base64_core(encode(bytes(skipped) + data).decode("ascii"), skipped, len(data))
    for encoded in (quote(value, safe=""), quote(value), quote_plus(value)):
        yield "URL-encoded", encoded
        yield "URL-encoded", _lower_escapes(encoded)


def _base64_core(encoded: str, skipped: int, length: int) -> str:
    """The characters that depend on the value alone, whatever stands before and after it."""
    first = -(-skipped * 8 // 6)
    last = (skipped + length) * 8 // 6
    return encoded[first:last]


def _lower_escapes(encoded: str) -> str:
    parts = encoded.split("%")
    return parts[0] + "".join("%" + part[:2].lower() + part[2:] for part in parts[1:])
