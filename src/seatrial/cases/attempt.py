"""One attempt at a case: a trial from its first input to its last check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from seatrial.binding import Binding, Calendar
from seatrial.cases.expect import check_turn
from seatrial.cases.load import Case
from seatrial.cases.turns import AdvanceWords, TurnWords
from seatrial.conversation import Conversation
from seatrial.gateway.recording import Recording
from seatrial.gateway.seen import SeenRequest
from seatrial.gateway.upstream import Upstream
from seatrial.inputs import web_message
from seatrial.report.calls import call_record
from seatrial.report.record import CallRecord, CheckRecord, RequestRecord
from seatrial.report.text import turn_name
from seatrial.stores.embedded import StoreUrls
from seatrial.trial import Trial, TrialBroken, TrialSettings, open_trial
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
    history = [item for turn in case.history for item in turn.items]
    earlier = await trial.load(history) if history else None
    several = sum(isinstance(item, TurnWords) and item.new_conversation for item in case.words.turns) > 0
    conversation: Conversation | None = None
    for item in case.words.turns:
        if item.advance is not None:
            trial.clock.advance(item.advance)
        if isinstance(item, AdvanceWords):
            continue
        inputs = [web_message(send.web_message, author=send.author) for send in item.send]
        if conversation is None and earlier is not None:
            conversation = await trial.continue_conversation(earlier, inputs, ())
        elif conversation is None or item.new_conversation:
            conversation = await trial.run(inputs)
        else:
            conversation = await conversation.continue_(inputs)
        checks = check_turn(item, conversation)
        calls.append(call_record(conversation, checks))
        findings.extend(_failures(turn_name(len(calls), conversation.number if several else None), checks))
        if trial.missed:
            return


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
