"""A case's recording: one JSON file of exchanges, checked in full before any of it is served.

Every exchange and the file carry a digest, so that a changed word or a file cut in half is found. The honest limit:
digests can be computed by anyone; only asking the model again proves that the words were the model's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from seatrial.gateway.exchange import Aborted, Answer, Exchange, Origin, Request, Stream, UpstreamFacts, Usage
from seatrial.gateway.key import JSON, MAX_FILE_DEPTH, canonical_json, parse_json, request_key

__all__ = [
    "MAX_BYTES", "Aborted", "Answer", "Exchange", "Origin", "Recording", "RecordingBroken", "RecordingWithheld",
    "Request", "Stream", "UpstreamFacts", "Usage", "dump_recording", "load_recording", "seal", "write_recording",
]  # fmt: skip

MAX_BYTES = 8 * 1024 * 1024


class Recording(BaseModel):
    """All exchanges of one trial of a case, in the order of their requests. `recorded_at` is an ISO 8601 time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    trial: Annotated[int, Field(ge=0)]
    recorded_at: str
    upstream: UpstreamFacts
    contracts: dict[str, int]
    exchanges: tuple[Exchange, ...]
    digest: str = ""


class RecordingBroken(Exception):
    """A recording that must not be replayed: which file, where in it, and why. The message ends with the cure."""

    def __init__(self, path: Path, where: str, why: str) -> None:
        self.path, self.where, self.why = path, where, why
        super().__init__(
            f"Recording '{path}' is broken: {where} {why}. Restore the file from version control, or delete it and "
            "record the case again."
        )


class RecordingWithheld(Exception):
    """A recording that must not be written, because a credential is in it; the message names it, not its value."""


def load_recording(path: Path, *, max_bytes: int = MAX_BYTES) -> Recording:
    """Read a recording and check all of it.

    Raises FileNotFoundError when there is no such file, RecordingBroken when it cannot be trusted.
    """
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RecordingBroken(path, "the file", f"cannot be read ({error.strerror or error})") from error
    if len(data) > max_bytes:
        raise RecordingBroken(path, "the file", f"is larger than {max_bytes} bytes")
    if not data.endswith(b"}\n"):
        raise RecordingBroken(path, "the file", "ends in the middle; it was cut, or its last line was changed")
    try:
        raw = parse_json(data, max_depth=MAX_FILE_DEPTH)
    except ValueError as error:
        raise RecordingBroken(path, "the file", f"cannot be read: {error}") from error
    try:
        recording = Recording.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RecordingBroken(path, f"field '{place}'", f"is not as the format says: {first['msg']}") from error
    assert isinstance(raw, dict)
    _check(path, recording, raw)
    return recording


def dump_recording(recording: Recording) -> str:
    """The text of a recording's file, with all digests computed; ends in a newline. To be written as UTF-8."""
    return json.dumps(seal(recording).model_dump(mode="json"), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def write_recording(path: Path, recording: Recording, *, secrets: Mapping[str, str]) -> None:
    """Write a recording's file, unless it holds the value of one of `secrets` (name -> value) in some encoding.

    Raises RecordingWithheld.
    """
    from seatrial.gateway.secret_search import SearchTooLarge, find_secrets  # a replay does not need it

    content = dump_recording(recording).encode("utf-8")
    try:
        found = find_secrets(content, secrets)
    except SearchTooLarge as error:
        raise RecordingWithheld(f"the recording was not written, nobody knows what it holds: {error}") from error
    if found:
        raise RecordingWithheld(f"the recording was not written: it would hold {', '.join(map(str, found))}")
    path.write_bytes(content)


def seal(recording: Recording) -> Recording:
    """The recording with the digests that belong to its words."""
    exchanges = tuple(
        exchange.model_copy(update={"digest": _digest(exchange.model_dump(mode="json"))})
        for exchange in recording.exchanges
    )
    sealed = recording.model_copy(update={"exchanges": exchanges})
    return sealed.model_copy(update={"digest": _digest(sealed.model_dump(mode="json"))})


def _check(path: Path, recording: Recording, raw: dict[str, JSON]) -> None:
    # Digests are computed over the file's own values: pydantic would read "1" as 1 and hide the change.
    raw_exchanges = raw["exchanges"]
    assert isinstance(raw_exchanges, list)
    seen: Counter[str] = Counter()
    for number, (exchange, raw_exchange) in enumerate(zip(recording.exchanges, raw_exchanges, strict=True), start=1):
        assert isinstance(raw_exchange, dict)
        where = f"exchange {number} (role {exchange.role}, conversation {exchange.conversation})"
        if exchange.digest != _digest(raw_exchange):
            raise RecordingBroken(path, where, "does not fit its digest; it was changed after it was recorded")
        request = exchange.request
        asked = request_key(
            method=request.method, path=request.path, role=exchange.role, conversation=exchange.conversation,
            body=request.body,
        )  # fmt: skip
        if exchange.key != asked:
            raise RecordingBroken(path, where, "has a key that is not the key of its request")
        seen[exchange.key] += 1
        if exchange.occurrence != seen[exchange.key]:
            why = f"says it is occurrence {exchange.occurrence} of its request, but it is number {seen[exchange.key]}"
            raise RecordingBroken(path, where, why)
    if recording.digest != _digest(raw):
        why = "does not fit its digest; its head or its list of exchanges was changed"
        raise RecordingBroken(path, "the file", why)


def _digest(value: Mapping[str, object]) -> str:
    return sha256(canonical_json({name: part for name, part in value.items() if name != "digest"})).hexdigest()
