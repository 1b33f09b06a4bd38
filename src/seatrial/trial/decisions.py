"""One decision of an agent, asked for by itself: the public function that its turns call, with the trial's model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from seatrial.binding import Agent, Decides, InputRefused
from seatrial.clock import VirtualTimer
from seatrial.conversation import Conversation, ConversationDriver, Decision, Said
from seatrial.gateway.server import Gateway
from seatrial.gateway.watcher import Nobody
from seatrial.progress import Actions
from seatrial.steps import StepLog
from seatrial.trial.settings import TrialBroken, TrialInvalid
from seatrial.trial.watch import Watch


class Deciding:
    """Asks for decisions, one at a time.

    `seconds` bounds each, in real time; None where a recording upstream answers.
    """

    def __init__(
        self, agent: Agent, gateway: Gateway, steps: StepLog, timer: VirtualTimer, *, seconds: float | None
    ) -> None:
        self._agent = agent
        self._gateway = gateway
        self._steps = steps
        self._timer = timer
        self._seconds = seconds
        self._asked = 0

    async def decide(
        self, kind: str, proposal: Mapping[str, Any], driver: ConversationDriver, actions: Actions
    ) -> tuple[Decision, Conversation]:
        """Ask for a decision; return it, and what there is to read of it.

        Raises TrialInvalid for an agent that has no such decision, and for a proposal that it does not take;
        TrialBroken when nothing comes of it.
        """
        if not isinstance(self._agent, Decides):
            raise TrialInvalid("the agent under test decides nothing by itself: its binding's agent has no 'decide'")
        self._asked += 1
        conversation_id = f"decision:{self._asked}"
        place, mark = self._gateway.register_conversation(conversation_id), self._steps.mark()
        watch = Watch(None, actions, self._timer)
        self._gateway.watcher = watch
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._agent.decide(kind, proposal, conversation_id=conversation_id)
        except InputRefused as error:
            raise TrialInvalid(f"'{kind}' cannot be asked that: {error}") from error
        except TimeoutError as error:
            raise TrialBroken(f"'{kind}' has decided nothing after {self._seconds:g} s") from error
        finally:
            self._gateway.watcher = Nobody()
            self._timer.follow_next_sleep(False)
            await watch.close()
        seen = tuple(step for step in self._steps.since(mark) if step.conversation_id == conversation_id)
        asked, said = (json.dumps(value, ensure_ascii=False, indent=1) for value in (dict(proposal), dict(answer)))
        told = Conversation(
            conversation_id=conversation_id,
            number=place,
            replies=(),
            tool_calls=(),
            turns=(),
            title=None,
            steps=seen,
            transcript=(Said("asked", "proposal", asked), Said("said", kind, said)),
            slack=(),
            _driver=driver,
        )
        return Decision(kind, answer, seen), told
