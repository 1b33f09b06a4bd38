"""The proof that a process was cut off from the network before it started."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seatrial.verdict import Cause, Finding

PROOF_VARIABLE = "SEATRIAL_SEAL_PROOF"
"""Environment variable in which the seal names the file with its proof."""


def read_seal_proof(environment: Mapping[str, str] = os.environ) -> tuple[Mapping[str, Any], Finding | None]:
    """Return the proof, and a finding when it does not say that this process is sealed.

    Without a proof nothing is known about the network, and what cannot be known is never a pass. The
    policy ``off`` is a person's choice: it is no finding, but the record says it.
    """
    path = environment.get(PROOF_VARIABLE)
    cure = "Run the case by `./pants test`, which puts the seal in front of it."
    if not path:
        return {}, Finding(Cause.UNSEALED, f"no seal: {PROOF_VARIABLE} is not set", cure=cure)
    try:
        proof = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return {}, Finding(Cause.UNSEALED, f"the seal's proof '{path}' cannot be read: {error}", cure=cure)
    if not isinstance(proof, dict) or not (proof.get("sealed") is True or proof.get("policy") == "off"):
        return {}, Finding(
            Cause.UNSEALED, f"the seal's proof '{path}' does not say that this process is sealed", cure=cure
        )
    return proof, None
