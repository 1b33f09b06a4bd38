"""Word what came of recording each case, and how to go on after a run that ended early."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from seatrial_build.core.places import COMMAND
from seatrial_build.core.spending import Account
from seatrial_build.core.verdicts import Judgement


def kept(path: str, *, changed: bool, exchanges: int, account: Account, seconds: float) -> str:
    """The line of a case whose recording was kept: for example `recorded a.recording.json (2 exchanges: …)`."""
    word = "recorded" if changed else "unchanged"
    old = max(0, exchanges - account.answered)
    return f"{word} {path} ({exchanges} exchanges: {account.answered} asked, {old} kept; {_cost(account, seconds)})"


def not_kept(
    case: str, why: str, account: Account | None = None, seconds: float = 0.0, details: Iterable[str] = ()
) -> str:
    """The lines of a case that was not recorded: why, what it has cost all the same, and what else helps."""
    cost = "" if account is None else f" ({account.answered} asked; {_cost(account, seconds)})"
    return "\n".join([f"not recorded {case}{cost}: {why}", *(detail for detail in details if detail)])


def checked(case: str, changes: Sequence[str], account: Account, seconds: float) -> str:
    """The lines of a case that was checked: unchanged, or each difference as before -> after."""
    head = f"{'drifted' if changes else 'unchanged'} {case} ({account.answered} asked; {_cost(account, seconds)})"
    return "\n".join([head, *(f"  {change}" for change in changes)])


def unchecked(case: str, why: str, account: Account, seconds: float) -> str:
    """The line of a case that could not be checked."""
    return f"not checked {case} ({account.answered} asked; {_cost(account, seconds)}): {why}"


def judged(judgement: Judgement, stage: str) -> str:
    """Why a judgement keeps a case from being recorded."""
    return f"{judgement.verdict} {stage}: {judgement.headline}"


def going_on(reached: str, left: Sequence[str], *, check: bool) -> str:
    """What ended the run, and how to go on."""
    option = "--check " if check else ""
    command = f"{COMMAND} record {option}{' '.join(shlex.quote(case) for case in left)}"
    kept_so_far = "" if check else " What was recorded before stays, and is not asked again."
    return f"budget reached: {reached}.{kept_so_far} To go on, with a larger budget or none: {command}"


def _cost(account: Account, seconds: float) -> str:
    return f"{account.tokens}; {seconds:.1f} s"
