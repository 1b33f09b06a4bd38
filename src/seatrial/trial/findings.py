"""What keeps a trial from being known or from passing, beside its expectations."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.gateway.server import Gateway
from seatrial.verdict import Cause, Finding


def trial_findings(
    gateway: Gateway, *, failures: Sequence[str], unknown_steps: Sequence[str], recording: bool
) -> tuple[Finding, ...]:
    """Return everything that was found. A run that records replaces what the agent no longer asks."""
    found: list[Finding] = []
    if gateway.miss is not None:
        miss = gateway.miss
        reason = f"role {miss.role} asked in conversation {miss.conversation} what has no recorded answer"
        found.append(Finding(Cause.UNRECORDED, reason, detail=miss.explain()))
    broken = list(failures)
    broken += [f"the agent reported the unknown step '{name}'" for name in unknown_steps]
    if gateway.served == 0 and gateway.miss is None:
        broken.append("the agent asked the model nothing: whatever it said, no recorded answer is behind it")
    found.extend(Finding(Cause.BROKEN, reason) for reason in broken)
    unused = () if recording else gateway.unused()
    if unused:
        first = unused[0]
        found.append(
            Finding(
                Cause.RECORDING_UNUSED,
                f"{len(unused)} recorded answer(s) were not used; the first belongs to role {first.role}, "
                f"conversation {first.conversation}",
            )
        )
    return tuple(found)
