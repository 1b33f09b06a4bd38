"""The one writer of the event log. A running turn and a host that loads history call the same functions.

Each function is one transaction and may be called again after a crash: what is already there is not written
twice. Times are the app's clock's; order is `seq`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bosun.clock import Clock
from bosun.ids import IdSource
from bosun.log.events import (
    NO_REPLY,
    AssistantMessage,
    CallEnd,
    Compaction,
    DecidedBy,
    DeliveryStarted,
    GuardianActionReviewed,
    Handoff,
    Payload,
    ReviewDecision,
    Risk,
    Title,
    TokenUsage,
    ToolExecutionStarted,
    ToolResult,
    TurnCompleted,
    TurnContext,
    TurnFailed,
    TurnPaused,
    TurnRouted,
    TurnStarted,
    VisibleKind,
    VisibleMessage,
)
from bosun.log.messages import ConversationRecord, InboundMessage, ProposedCall, ToolCall, Turn
from bosun.log.reading import delivery_key, latest_turn, progress_of, route_key
from bosun.log.rows import by_bosun, handled, heard, missing, shown
from bosun.log.writing import NewEvent, hold
from bosun.stores.tables import conversations
from bosun.tool_arguments import JSON
from bosun.tools import Effect

Usage = Mapping[str, TokenUsage]
"""Tokens by the role that asked."""


class MessagesHandled(Exception):
    """There is no open turn, and an ended one has taken in all of the messages."""


class TurnTakenOver(Exception):
    """The turn has taken messages in that this attempt has not seen: another attempt goes on with it."""


class ConversationLog:
    """Writes conversations. Raises `ConversationUnknown` for a conversation that was never opened.

    What ends a turn raises `TurnTakenOver` when it would end one of which it has not seen everything.
    """

    def __init__(self, engine: AsyncEngine, *, clock: Clock, ids: IdSource) -> None:
        self._engine = engine
        self._clock = clock
        self._ids = ids

    async def open_conversation(self, record: ConversationRecord) -> bool:
        """Make the conversation unless it is there. Return whether it was made."""
        statement = (
            insert(conversations)
            .values(**record.model_dump(), title=None, last_seq=0, history_version=1, created_at=self._clock.now())
            .on_conflict_do_nothing()
            .returning(conversations.c.id)
        )
        async with self._engine.begin() as connection:
            return (await connection.execute(statement)).scalar_one_or_none() is not None

    async def accept_message(self, conversation_id: str, message: InboundMessage) -> bool:
        """Make a person's message visible. Return False when it already was."""
        row = shown(message)
        return await self._append_once(conversation_id, row.key, row.payload)

    async def start_turn(self, conversation_id: str, messages: Sequence[InboundMessage]) -> Turn:
        """Start a turn for messages of one actor and source, or take up the turn that was left open.

        The messages enter the model's stream here; those that came since join the turn, unless its last words are
        being delivered: then they stay for a turn of their own. Raises `MessagesHandled` when there is nothing to
        start a turn for: another attempt was faster.
        """
        now = self._clock.now()
        async with self._engine.begin() as connection:
            held = await hold(connection, conversation_id, now)
            turn, is_open = await latest_turn(connection, conversation_id)
            delivered = [] if turn is None else [delivery_key(turn)]
            done = await held.existing([*(handled(message.id, None).key for message in messages), *delivered])
            if turn is not None and is_open and delivery_key(turn) in done:
                return turn
            fresh = [message for message in messages if handled(message.id, None).key not in done]
            events: list[NewEvent] = []
            if turn is None or not is_open:
                if not fresh:
                    raise MessagesHandled(conversation_id)
                turn = self._next_turn(conversation_id, turn, fresh, now)
                started = TurnStarted(
                    turn_id=turn.id,
                    ordinal=turn.ordinal,
                    actor_id=turn.actor_id,
                    source=turn.source,
                    message_ids=list(turn.message_ids),
                )
                events.append(NewEvent(f"turn_started:{turn.id}", started))
            events += await missing(held, [heard(message, turn.id) for message in fresh])
            await held.append(events)
        return _with(turn, fresh)

    async def join_turn(self, turn: Turn, messages: Sequence[InboundMessage]) -> Turn:
        """Make messages visible and part of an open turn, at once. Return the turn with those that it has taken in.

        A turn that another attempt has ended, or begun to deliver, takes none in: they stay for a turn of their own.
        """
        async with self._engine.begin() as connection:
            held = await hold(connection, turn.conversation_id, self._clock.now())
            latest, is_open = await latest_turn(connection, turn.conversation_id)
            if latest is None or latest.id != turn.id or not is_open or await held.existing([delivery_key(turn)]):
                return turn
            await held.append(await missing(held, [shown(message) for message in messages]))
            await held.append(await missing(held, [heard(message, turn.id) for message in messages]))
        return _with(turn, messages)

    async def record_unsent(self, turn: Turn, request: int, text: str) -> None:
        """Keep the answer to the turn's n-th request for the model alone: messages came before it was sent."""
        async with self._engine.begin() as connection:
            held = await hold(connection, turn.conversation_id, self._clock.now())
            if len((await progress_of(connection, turn)).answers) < request:
                said = AssistantMessage(turn_id=turn.id, text=text)
                await held.append([NewEvent(f"{said.type}:{turn.id}:{request}", said)])

    async def pause_turn(self, turn: Turn, number: int, usage: Usage | None = None) -> bool:
        """Say that the turn's n-th slice ended before the turn did. Return False when that was said."""
        paused = TurnPaused(turn_id=turn.id, slice=number, usage=dict(usage or {}))
        return await self._append_once(turn.conversation_id, f"{paused.type}:{turn.id}:{number}", paused)

    async def commit_stop(
        self, conversation_id: str, messages: Sequence[InboundMessage], notice: str, usage: Usage | None = None
    ) -> Turn | None:
        """End the open turn without a reply, with a notice that people see, and discard the messages that it lacks.

        What is discarded becomes visible and is never answered. Return the turn that was ended, None where none ran:
        then there is no notice.
        """
        async with self._engine.begin() as connection:
            held = await hold(connection, conversation_id, self._clock.now())
            turn, is_open = await latest_turn(connection, conversation_id)
            own = turn.message_ids if turn is not None and is_open else ()
            await held.append(await missing(held, [shown(message) for message in messages]))
            discarded = [handled(message.id, None) for message in messages if message.id not in own]
            await held.append(await missing(held, discarded))
            if turn is None or not is_open:
                return None
            completed = TurnCompleted(turn_id=turn.id, status="no_reply", usage=dict(usage or {}))
            # The model reads the notice as its own words too: the sentinel would say that it chose to be silent.
            said = [self._from_bosun(turn, "notice", notice), AssistantMessage(turn_id=turn.id, text=notice)]
            await held.append(await missing(held, _ending(turn, said, completed)))
        return turn

    async def discard(self, conversation_id: str, messages: Sequence[InboundMessage], notice: str | None) -> None:
        """Make messages visible that no turn will answer, and say why, where there is something to say."""
        async with self._engine.begin() as connection:
            held = await hold(connection, conversation_id, self._clock.now())
            events = [shown(message) for message in messages]
            if notice is not None:
                message_id = self._ids.derive(conversation_id, "notice", messages[0].id)
                said = by_bosun(message_id, "notice", notice, source=messages[0].source, turn_id=None)
                events.append(NewEvent(f"{said.type}:{message_id}", said))
            events += [handled(message.id, None) for message in messages]
            await held.append(await missing(held, events))

    async def record_route(self, turn: Turn, route: TurnRouted) -> bool:
        """Store how the turn is thought about. Return False when that was decided before; the first decision stays."""
        return await self._append_once(turn.conversation_id, route_key(turn), route)

    async def replace_history(self, turn: Turn, request: int, made: Compaction | Handoff) -> bool:
        """Store a summary for a part of the model's stream, made before the turn's n-th request. From then on it counts
        in that part's place.

        Return False when another attempt has made room for that request in this way; then that counts.
        """
        key = f"{made.type}:{turn.id}:{request}:{made.upto}"
        async with self._engine.begin() as connection:
            held = await hold(connection, turn.conversation_id, self._clock.now())
            if await held.existing([key]):
                return False
            await held.append([NewEvent(key, made)])
            named = conversations.c.id == turn.conversation_id
            newer = update(conversations).where(named).values(history_version=conversations.c.history_version + 1)
            await connection.execute(newer)
        return True

    async def record_context(
        self, turn: Turn, request: int, blocks: Sequence[str], contracts: Mapping[str, int]
    ) -> None:
        """Say what the turn's n-th model request was built from.

        A request that is built again after a crash says it once.
        """
        context = TurnContext(turn_id=turn.id, request=request, blocks=list(blocks), contracts=dict(contracts))
        await self._append_once(turn.conversation_id, f"turn_context:{turn.id}:{request}", context)

    async def record_calls(
        self, turn: Turn, request: int, text: str, calls: Sequence[ProposedCall]
    ) -> tuple[ToolCall, ...]:
        """Store that the answer to the turn's n-th request asks for these calls, and what it says beside them.

        Return the calls with their ids. When the request has an answer with calls already, that one stays and its
        calls are returned.
        """
        async with self._engine.begin() as connection:
            held = await hold(connection, turn.conversation_id, self._clock.now())
            progress = await progress_of(connection, turn)
            if len(progress.answers) >= request:
                return tuple(each.call for each in progress.answers[request - 1])
            named = tuple(
                ToolCall(id=self._ids.derive(turn.id, "tool_call", ordinal), name=each.name, arguments=each.arguments)
                for ordinal, each in enumerate(calls, start=len(progress.calls) + 1)
            )
            said = AssistantMessage(turn_id=turn.id, text=text, tool_calls=list(named))
            await held.append([NewEvent(f"assistant_message:{turn.id}:{request}", said)])
        return named

    async def record_review(
        self,
        turn: Turn,
        call: ToolCall,
        *,
        effect: Effect,
        decision: ReviewDecision,
        risk: Risk,
        reason: str,
        by: DecidedBy,
    ) -> bool:
        """Store what was decided about a call. Return False when that was decided before; the first decision stays."""
        reviewed = GuardianActionReviewed(
            turn_id=turn.id,
            call_id=call.id,
            tool=call.name,
            effect=effect,
            decision=decision,
            risk=risk,
            reason=reason,
            by=by,
        )
        return await self._append_once(turn.conversation_id, f"{reviewed.type}:{call.id}", reviewed)

    async def start_tool(self, turn: Turn, call: ToolCall, arguments: Mapping[str, JSON]) -> bool:
        """Store that a call is about to be made. Return False when it was begun before: it must not be made again."""
        started = ToolExecutionStarted(turn_id=turn.id, call_id=call.id, name=call.name, input=dict(arguments))
        return await self._append_once(turn.conversation_id, f"{started.type}:{call.id}", started)

    async def finish_tool(self, turn: Turn, call: ToolCall, status: CallEnd, output: str) -> bool:
        """Store what came of a call. Return False when it has a result; the first one stays."""
        result = ToolResult(turn_id=turn.id, call_id=call.id, name=call.name, status=status, output=output)
        return await self._append_once(turn.conversation_id, f"{result.type}:{call.id}", result)

    async def start_delivery(self, started: DeliveryStarted, turn: Turn) -> bool:
        """Store what the turn's last words are before they are posted. Return False when the turn has ended.

        Raises `TurnTakenOver` when another attempt delivers already, or has taken more in.
        """
        async with self._engine.begin() as connection:
            held = await hold(connection, turn.conversation_id, self._clock.now())
            there = await held.existing([f"turn_ended:{turn.id}", delivery_key(turn)])
            if f"turn_ended:{turn.id}" in there:
                return False
            await _require_seen(connection, turn)
            if there:
                raise TurnTakenOver(turn.id)
            await held.append([NewEvent(delivery_key(turn), started)])
        return True

    async def commit_reply(self, turn: Turn, text: str, usage: Usage | None = None) -> bool:
        """Deliver an answer and end the turn, in one transaction: on the web this commit is the delivery.

        Return False, having written nothing, when the turn has ended already.
        """
        completed = TurnCompleted(turn_id=turn.id, status="succeeded", usage=dict(usage or {}))
        return await self._end(
            turn,
            [self._from_bosun(turn, "answer", text), AssistantMessage(turn_id=turn.id, text=text)],
            completed,
        )

    async def commit_no_reply(self, turn: Turn, usage: Usage | None = None) -> bool:
        """End the turn without a word. Return False when it has ended already."""
        completed = TurnCompleted(turn_id=turn.id, status="no_reply", usage=dict(usage or {}))
        return await self._end(turn, [AssistantMessage(turn_id=turn.id, text=NO_REPLY)], completed)

    async def commit_failure(self, turn: Turn, kind: str, sentence: str, usage: Usage | None = None) -> bool:
        """End the turn as failed and show people the sentence that belongs to the kind.

        Return False when it has ended already.
        """
        failed = TurnFailed(turn_id=turn.id, kind=kind, usage=dict(usage or {}))
        return await self._end(turn, [self._from_bosun(turn, "error", sentence)], failed)

    async def set_title(self, conversation_id: str, title: str, usage: Usage | None = None) -> bool:
        """Give the conversation its title. Return False when it has one."""
        async with self._engine.begin() as connection:
            held = await hold(connection, conversation_id, self._clock.now())
            if await held.existing(["title"]):
                return False
            await held.append([NewEvent("title", Title(title=title, usage=dict(usage or {})))])
            named = update(conversations).where(conversations.c.id == conversation_id).values(title=title)
            await connection.execute(named)
        return True

    async def _append_once(self, conversation_id: str, key: str, payload: Payload) -> bool:
        async with self._engine.begin() as connection:
            held = await hold(connection, conversation_id, self._clock.now())
            if await held.existing([key]):
                return False
            await held.append([NewEvent(key, payload)])
        return True

    async def _end(self, turn: Turn, said: Sequence[Payload], ending: TurnCompleted | TurnFailed) -> bool:
        events = _ending(turn, said, ending)
        async with self._engine.begin() as connection:
            held = await hold(connection, turn.conversation_id, self._clock.now())
            if await held.existing([events[-1].key]):
                return False
            await _require_seen(connection, turn)
            await held.append(await missing(held, events))
        return True

    def _next_turn(
        self, conversation_id: str, latest: Turn | None, messages: Sequence[InboundMessage], now: datetime
    ) -> Turn:
        ordinal = 1 if latest is None else latest.ordinal + 1
        return Turn(
            id=self._ids.derive(conversation_id, "turn", ordinal),
            conversation_id=conversation_id,
            ordinal=ordinal,
            actor_id=messages[0].actor_id,
            author=messages[0].author,
            source=messages[0].source,
            message_ids=tuple(message.id for message in messages),
            started_at=now,
        )

    def _from_bosun(self, turn: Turn, kind: VisibleKind, text: str) -> VisibleMessage:
        message_id = self._ids.derive(turn.id, "message", 1)
        return by_bosun(message_id, kind, text, source=turn.source, turn_id=turn.id)


async def _require_seen(connection: AsyncConnection, turn: Turn) -> None:
    """Raise `TurnTakenOver` when the turn has taken in what this attempt has not seen."""
    latest, _ = await latest_turn(connection, turn.conversation_id)
    if latest is not None and latest.id == turn.id and set(latest.message_ids) - set(turn.message_ids):
        raise TurnTakenOver(turn.id)


def _ending(turn: Turn, said: Sequence[Payload], ending: TurnCompleted | TurnFailed) -> list[NewEvent]:
    """Return a turn's last rows. One key for every ending: a turn ends once."""
    return [
        *(NewEvent(f"{payload.type}:{turn.id}", payload) for payload in said),
        *(handled(message_id, turn.id) for message_id in turn.message_ids),
        NewEvent(f"turn_ended:{turn.id}", ending),
    ]


def _with(turn: Turn, messages: Sequence[InboundMessage]) -> Turn:
    joined = (*turn.message_ids, *(m.id for m in messages if m.id not in turn.message_ids))
    return turn.model_copy(update={"message_ids": joined})
