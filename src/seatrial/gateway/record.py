"""Making a recording of what a gateway in record mode has seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from seatrial.gateway.exchange import Exchange, Origin, UpstreamFacts
from seatrial.gateway.outcome import named_in, usage_of
from seatrial.gateway.recording import Recording, seal
from seatrial.gateway.seen import Entry
from seatrial.gateway.upstream import Upstream


class RecordRefused(Exception):
    """There is nothing that could be recorded honestly; the message says why."""


def make_recording(
    entries: Sequence[Entry],
    *,
    upstream: Upstream,
    older: Recording | None,
    recorded_at: str,
    trial: int,
    contracts: Mapping[str, int],
) -> Recording:
    """The used exchanges in the order of their requests: those kept from `older`, and those just asked for.

    When nothing was asked for, date and upstream of `older` stay. An exchange that was kept beside new ones carries
    its own date and upstream where they differ. Raises RecordRefused when there is no exchange at all.
    """
    spent = [entry.outcome for entry in entries if entry.outcome is not None]
    if spent:
        facts = UpstreamFacts(
            kind=upstream.kind,
            model=", ".join(named_in(spent, "model")),
            fingerprint=", ".join(named_in(spent, "system_fingerprint")) or None,
            parameters=upstream.parameters,
        )
        head = Origin(recorded_at=recorded_at, upstream=facts)
    elif older is not None and any(entry.recorded is not None for entry in entries):
        head = Origin(recorded_at=older.recorded_at, upstream=older.upstream)
    else:
        raise RecordRefused("Nothing can be recorded: no request was answered.")
    occurrences: Counter[str] = Counter()
    exchanges: list[Exchange] = []
    for entry in entries:
        if entry.again or (entry.recorded is None and entry.outcome is None):
            continue
        occurrences[entry.key] += 1
        exchanges.append(_exchange(entry, occurrences[entry.key], older, head))
    return seal(
        Recording(
            trial=trial, recorded_at=head.recorded_at, upstream=head.upstream, contracts=dict(contracts),
            exchanges=tuple(exchanges),
        )
    )  # fmt: skip


def _exchange(entry: Entry, occurrence: int, older: Recording | None, head: Origin) -> Exchange:
    if entry.recorded is not None:
        assert older is not None
        origin = entry.recorded.origin or Origin(recorded_at=older.recorded_at, upstream=older.upstream)
        return entry.recorded.model_copy(
            update={"occurrence": occurrence, "origin": None if origin == head else origin}
        )
    assert entry.outcome is not None
    return Exchange(
        key=entry.key, occurrence=occurrence, role=entry.role, conversation=entry.conversation, request=entry.request,
        outcome=entry.outcome, usage=usage_of(entry.outcome),
    )  # fmt: skip
