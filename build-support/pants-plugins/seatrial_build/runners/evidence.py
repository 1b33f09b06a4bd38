"""What every gate's process leaves: a record with the proof of its seal, and an exit code that fits it."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

EXIT_CODES = {"passed": 0, "failed": 13, "broken": 14, "unsealed": 16}
RECORD_FORMAT = 1


def gate_arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser of the options that all gates have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--kind", required=True, help="the kind of target, for example structure_gate")
    parser.add_argument("--address", required=True, help="the address of the target")
    parser.add_argument("--out", required=True, type=Path, help="the folder to leave the record in")
    return parser


def seal_proof() -> dict[str, object] | None:
    """Return the proof that the seal wrote before it started this process.

    None when there is none, or when it does not say that the process is sealed. The policy `off` is a
    person's choice: it is a proof that nothing was cut off, which the build says aloud.
    """
    path = os.environ.get("SEATRIAL_SEAL_PROOF")
    if not path:
        return None
    try:
        proof = json.loads(Path(path).read_bytes())
    except (OSError, ValueError):
        return None
    if isinstance(proof, dict) and (proof.get("sealed") is True or proof.get("policy") == "off"):
        return proof
    return None


def leave_record(
    options: argparse.Namespace,
    verdict: str,
    reason: str,
    *,
    proof: dict[str, object] | None,
    cure: str = "",
    **more: object,
) -> int:
    """Write the record and return the exit code that fits it. It holds no time, so that equal runs are equal."""
    options.out.mkdir(parents=True, exist_ok=True)
    record = {
        "format": RECORD_FORMAT,
        "address": options.address,
        "kind": options.kind,
        "verdict": verdict,
        "reason": reason,
        "cure": cure,
        "seal": proof,
        **more,
    }
    text = json.dumps(record, indent=2, ensure_ascii=False)
    (options.out / "record.json").write_text(text + "\n", encoding="utf-8")
    return EXIT_CODES[verdict]


def refuse_unsealed(options: argparse.Namespace) -> int:
    """Leave the record of a gate that was started without its seal."""
    return leave_record(
        options,
        "unsealed",
        "the gate was started without a proof of its seal (SEATRIAL_SEAL_PROOF)",
        proof=None,
        cure=f"Run: ./pants test {options.address}",
    )
