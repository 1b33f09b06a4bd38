"""One attempt at a case: a trial from its first input to its last check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from seatrial.binding import Binding, Calendar
from seatrial.cases.during import During
from seatrial.cases.expect import check_turn
from seatrial.cases.faults import check_faults
from seatrial.cases.load import Case
from seatrial.cases.turns import AdvanceWords, TurnWords
from seatrial.gateway.recording import Recording
from seatrial.gateway.seen import SeenRequest
from seatrial.gateway.upstream import Upstream
from seatrial.report.calls import call_record
from seatrial.report.record import CallRecord, CheckRecord, RequestRecord
from seatrial.report.text import turn_name
from seatrial.stores.embedded import StoreUrls
from seatrial.trial import Trial, TrialBroken, TrialInvalid, TrialSettings, open_trial
from seatrial.verdict import Cause, Finding

DEFAULT_INSTANT = datetime(2030, 1, 15, 12, 0, tzinfo=UTC)
"""When a case takes place that does not say when: a Tuesday at noon, far from every change of day or year."""


@dataclass(frozen=True)
class Attempt:
    """What one attempt found out. ``bodies`` are the requests to the model, byte for byte."""

    findings: tuple[Finding, ...]
    calls: tuple[CallRecord, ...]
    requests: tuple[RequestRecord, ...]
    bodies: tuple[bytes, ...]
    made: Recording | None


async def attempt_case(
    case: Case,
    binding: Binding,
    stores: StoreUrls,
    *,
    recording: Recording | None,
    contracts: Mapping[str, int],
    upstream: Upstream | None = None,
    upstream_model: str = "",
    recorded_at: str = "",
) -> Attempt:
    """Run the case once against the given stores. With an upstream, also make a recording of it."""
    clock = case.words.clock
    settings = TrialSettings(
        binding=binding,
        composition=case.composition,
        stores=stores,
        at=DEFAULT_INSTANT if clock is None else clock.at,
        calendar=Calendar() if clock is None else Calendar(clock.zone, clock.week_starts),
        snapshot=case.snapshot,
        recording=recording,
        upstream=upstream,
        upstream_model=upstream_model,
    )
    calls: list[CallRecord] = []
    findings: list[Finding] = []
    made: Recording | None = None
    async with open_trial(settings) as trial:
        try:
            await _turns(case, trial, calls, findings)
        except TrialBroken as error:
            # A call that failed has a transcript all the same.
            calls.extend(call_record(call) for call in trial.calls[len(calls) :])
            findings.append(Finding(Cause.BROKEN, str(error)))
        except TrialInvalid as error:
            calls.extend(call_record(call) for call in trial.calls[len(calls) :])
            findings.append(Finding(Cause.INVALID, f"turn {len(calls) + 1}: {error}"))
        findings.extend(trial.findings())
        if upstream is not None and not findings:
            made = trial.recording_made(recorded_at=recorded_at, contracts=contracts)
    return Attempt(
        findings=tuple(dict.fromkeys(findings)),
        calls=tuple(calls),
        requests=request_records(trial.requests),
        bodies=tuple(seen.body for seen in trial.requests),
        made=made,
    )


async def _turns(case: Case, trial: Trial, calls: list[CallRecord], findings: list[Finding]) -> None:
    """Store what was there before, then run the items in order. A miss ends the attempt: what follows would only
    follow from it."""
    for kind, data in case.setup:
        await trial.insert(kind, data)
    history = case.recorded or [item for turn in case.history for item in turn.items]
    current = await trial.load(history) if history else None
    several = any(isinstance(item, TurnWords) and (item.new_conversation or item.fork) for item in case.words.turns)
    for item in case.words.turns:
        if item.advance is not None:
            trial.clock.advance(item.advance)
        if isinstance(item, AdvanceWords):
            continue
        if item.fork is not None and current is not None:
            current = await _fork(trial, current, item.fork.at)
        for fault in item.faults:
            fault.order(trial.faults)
        inputs = [send.item() for send in item.send]
        during = During(item.during) if item.during else None
        if current is None or item.new_conversation:
            conversation = await trial.run(inputs, on_progress=during)
        else:
            conversation = await trial.continue_conversation(current, inputs, (), during)
        current = conversation.conversation_id
        checks = (
            *check_turn(item, conversation),
            *check_faults(item.faults, trial.faults.left()),
            *(() if during is None else during.checks()),
        )
        calls.append(call_record(conversation, checks))
        findings.extend(_failures(turn_name(len(calls), conversation.number if several else None), checks))
        if trial.missed:
            return


async def _fork(trial: Trial, conversation_id: str, number: int) -> str:
    """Branch off after the n-th reply that people have seen in the conversation; return the fork's id."""
    replies = await trial.replies(conversation_id)
    if number > len(replies):
        raise TrialInvalid(f"there is no reply {number} to fork at: the conversation has {len(replies)}")
    return (await trial.fork_conversation(conversation_id, replies[number - 1])).conversation_id


def _failures(turn: str, checks: tuple[CheckRecord, ...]) -> list[Finding]:
    return [
        Finding(
            Cause.FAILED,
            f"{turn}: {check.what} does not hold",
            detail=f"expected: {check.expected}\nseen:     {check.seen}",
        )
        for check in checks
        if not check.holds
    ]


def request_records(requests: tuple[SeenRequest, ...]) -> tuple[RequestRecord, ...]:
    """Return the requests to the model as a record keeps them."""
    return tuple(
        RequestRecord(
            role=seen.role,
            conversation=seen.conversation,
            key=seen.key,
            occurrence=seen.occurrence,
            source=seen.source,
            usage=None if seen.usage is None else seen.usage.model_dump(),
        )
        for seen in requests
    )
