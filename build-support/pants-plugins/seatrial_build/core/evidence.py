"""Read the record that a sealed process left, and decide its verdict.

The record is the only witness. A process that left none, or that exited otherwise than its record
says, is *broken*: what cannot be known is never a pass.
"""

from __future__ import annotations

import json
from typing import Any

from seatrial_build.core.verdicts import EXIT_CODES, Judgement

RECORD_FORMAT = 1
"""The version of record.json that is read here."""


def judge(
    record: bytes | None, exit_code: int, *, seal_policy: str, key: str | None = None, timeout: int | None = None
) -> Judgement:
    """Return the judgement that a process left, from its record and its exit code.

    `record` are the bytes of record.json, None when the process wrote none. `seal_policy` is what the
    build asked for, `key` names the process that it asked for. `timeout` in seconds is named when the process was
    ended by a signal.
    """
    if record is None:
        return Judgement("broken", _no_record(exit_code, timeout))
    try:
        data = json.loads(record)
    except ValueError as error:
        return Judgement("broken", f"record.json is not JSON: {error}")
    if not isinstance(data, dict) or data.get("format") != RECORD_FORMAT:
        seen = data.get("format") if isinstance(data, dict) else type(data).__name__
        return Judgement("broken", f"record.json has format {seen!r}; this build reads format {RECORD_FORMAT}")
    verdict = data.get("verdict")
    if not isinstance(verdict, str) or verdict not in EXIT_CODES or verdict == "blocked":
        return Judgement("broken", f"record.json holds no verdict that a process can reach: {verdict!r}")
    if EXIT_CODES[verdict] != exit_code:
        return Judgement(
            "broken",
            f"record.json says '{verdict}', which exits with {EXIT_CODES[verdict]}, "
            f"but the process exited with {exit_code}{_by_signal(exit_code)}",
        )
    if seal_policy != "off" and verdict != "unsealed" and not is_sealed(data.get("seal")):
        return Judgement("broken", "record.json holds no proof that the process was sealed")
    if key is not None and verdict != "unsealed" and _key_of(data.get("seal")) != key:
        return Judgement(
            "broken",
            "record.json is of another process: a cache gave a result that belongs to other files",
            "Empty the cache that answered, and look at who may write to it.",
        )
    return Judgement(verdict, _text(data.get("reason")), _text(data.get("cure")))


def is_sealed(proof: Any) -> bool:
    """Tell whether `proof`, as the seal wrote it, says that the network was cut off."""
    return isinstance(proof, dict) and proof.get("sealed") is True


def _key_of(proof: Any) -> Any:
    return proof.get("key") if isinstance(proof, dict) else None


def _no_record(exit_code: int, timeout: int | None) -> str:
    told = f"the process left no record.json and exited with {exit_code}{_by_signal(exit_code)}"
    if exit_code < 0 and timeout:
        told += f"; its timeout is {timeout} s (field 'timeout')"
    return told


def _by_signal(exit_code: int) -> str:
    return f" (signal {-exit_code})" if exit_code < 0 else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
