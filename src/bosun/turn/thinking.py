"""The loop of one turn: ask, make the calls that are asked for, ask again, until an answer asks for none.

Before each request and before it acts on an answer it looks into its mailbox: messages that came meanwhile join the
next request, and a stop ends the turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bosun.context.assembler import ContextAssembler, ContextRequest
from bosun.log.events import TokenUsage, TurnRouted
from bosun.log.history import Placed
from bosun.log.messages import ConversationRecord, InboundMessage, Turn
from bosun.log.reading import ConversationReader
from bosun.log.store import ConversationLog, TurnTakenOver
from bosun.log.writing import ConversationUnknown
from bosun.mailbox.steering import Steering, SteeringRead
from bosun.model.client import Model, ModelAnswer, ModelRequest
from bosun.model.errors import ModelFailure
from bosun.model.router import Route, RouteProposal, Router
from bosun.steps import Step, StepSink
from bosun.timer import heed_cancellation
from bosun.tool_arguments import JSON
from bosun.turn.compaction import Compactor
from bosun.turn.lifecycle import Answered, Silent, TurnStopped, read_answer
from bosun.turn.tool_calls import ToolCalls


@dataclass
class Slice:
    """What one slice of a turn has come to so far: kept outside of the loop, which may be cancelled anywhere."""

    turn: Turn
    asked: Sequence[InboundMessage]
    """The latest messages that the turn has taken in."""
    usage: dict[str, TokenUsage] = field(default_factory=dict)
    """What the slice took, by the role that asked."""

    @property
    def words(self) -> str:
        """What the turn answers: the latest messages that it has taken in."""
        return "\n".join(message.spoken for message in self.asked)

    def spend(self, role: str, usage: TokenUsage) -> None:
        """Add to what the slice took."""
        self.usage[role] = self.usage.get(role, TokenUsage()) + usage


class Thinking:
    """Thinks for turns. Where a turn stands is read from the log, so that one that was left open goes on there."""

    def __init__(
        self,
        *,
        log: ConversationLog,
        reader: ConversationReader,
        assembler: ContextAssembler,
        model: Model,
        router: Router,
        compactor: Compactor,
        tools: ToolCalls,
        steps: StepSink,
        contracts: Mapping[str, int],
    ) -> None:
        self._log = log
        self._reader = reader
        self._assembler = assembler
        self._model = model
        self._router = router
        self._compactor = compactor
        self._tools = tools
        self._steps = steps
        self._contracts = contracts

    async def think(self, work: Slice, steering: Steering) -> Answered | Silent:
        """Return how the turn is to end. Raises `TurnStopped` when it is not to end by an answer."""
        conversation = await self._reader.conversation(work.turn.conversation_id)
        if conversation is None:
            raise ConversationUnknown(work.turn.conversation_id)
        route: Route | None = None
        while True:
            heed_cancellation()
            progress = await self._tools.settle(work.turn, conversation.account_id, asked=work.words, spend=work.spend)
            await self.take_in(work, steering)
            if route is None:
                route = await self._route(work)
                await self.take_in(work, steering)  # what came while it was decided
            number = len(progress.answers) + 1
            offered = self._tools.offered(progress)
            request, stream = await self._request(work, conversation, number, offered, route)
            if self._compactor.is_full(request.messages, request.tools):
                room = await self._compactor.make_room(work.turn, number, stream, request.messages, request.tools)
                if room is not None:
                    work.spend("compaction", room.usage)
                    continue
            answer = await self._answer(request, work)
            waiting = (await look(work.turn, steering)).messages
            if request.tools and answer.calls:
                await self._log.record_calls(work.turn, number, answer.text, answer.calls)
                continue
            outcome = read_answer(answer.text)
            assert outcome is not None
            if not waiting:
                return outcome
            await self._log.record_unsent(work.turn, number, answer.text)

    async def take_in(self, work: Slice, steering: Steering) -> None:
        """Let what came meanwhile join the turn. The mailbox forgets it when its rows are committed, not before."""
        waiting = (await look(work.turn, steering)).messages
        if not waiting:
            return
        work.turn = await self._log.join_turn(work.turn, waiting)
        if waiting[-1].id not in work.turn.message_ids:
            raise TurnTakenOver(work.turn.id)
        work.asked = waiting
        await steering.joined(waiting)

    async def _route(self, work: Slice) -> Route:
        """Return the route that is stored, or decide and store it: a turn is routed once."""
        turn = work.turn
        stored = await self._reader.route(turn)
        if stored is not None:
            return Route(**stored.model_dump(exclude={"turn_id"}))
        route = await self._router.decide(RouteProposal(asked=work.words, conversation_id=turn.conversation_id))
        if route.usage != TokenUsage():  # a rule asks nobody
            work.spend("router", route.usage)
        told = {name: getattr(route, name) for name in ("profile", "reasoning", "confidence", "reason", "by")}
        await self._log.record_route(turn, TurnRouted(turn_id=turn.id, **told))
        fields: dict[str, JSON] = {"profile": route.profile, "reasoning": route.reasoning, "by": route.by}
        self._steps.emit(Step("turn.routed", turn.conversation_id, fields))
        return route

    async def _answer(self, request: ModelRequest, work: Slice) -> ModelAnswer:
        """Return an answer with something in it: calls of what was offered, or words."""
        for _ in range(2):  # an empty answer is asked for once more
            answer = await self._model.complete(request)
            work.spend(request.role, answer.usage)
            if (request.tools and answer.calls) or read_answer(answer.text) is not None:
                return answer
        raise ModelFailure("invalid_response", "the model answered nothing, twice")

    async def _request(
        self,
        work: Slice,
        conversation: ConversationRecord,
        number: int,
        tools: tuple[Mapping[str, JSON], ...],
        route: Route,
    ) -> tuple[ModelRequest, tuple[Placed, ...]]:
        turn = work.turn
        stream = await self._reader.stream(turn.conversation_id)
        prompt = await self._assembler.build(
            ContextRequest(
                conversation_id=turn.conversation_id,
                account_id=conversation.account_id,
                actor_id=turn.actor_id,
                actor_name=turn.author,
                asked=work.words,
                history=tuple(placed.message for placed in stream),
            )
        )
        await self._log.record_context(turn, number, prompt.blocks, self._contracts)
        profile = self._router.profile(route)
        request = ModelRequest(
            role="agent",
            conversation_id=turn.conversation_id,
            messages=prompt.messages,
            tools=tools,
            model=profile.model,
            max_tokens=profile.max_tokens,
            reasoning=route.reasoning if profile.takes_reasoning else None,
        )
        return request, stream


async def look(turn: Turn, steering: Steering) -> SteeringRead:
    """Read the mailbox. Raises `TurnStopped`: a stop comes before whatever else there is."""
    read = await steering.read(turn)
    if read.stopped:
        raise TurnStopped(turn.id)
    return read
