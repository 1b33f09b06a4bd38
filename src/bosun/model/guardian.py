"""The guardian: decides about one exact call of a tool, after its arguments were checked and before it is made.

A public function of Bosun: a turn asks it, and so may anybody who wants to know what it would say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bosun.log.events import DecidedBy, ReviewDecision, Risk
from bosun.tool_arguments import JSON
from bosun.tools import Effect, Touches


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """One call as it would be made: which tool of which plugin, with which arguments, and for whom."""

    tool: str
    plugin: str
    effect: Effect
    touches: Touches
    arguments: Mapping[str, JSON]
    actor_id: str
    conversation_id: str


@dataclass(frozen=True)
class Decision:
    """What was decided, how much is at stake, why, and who decided. Only `allow` lets the call be made."""

    decision: ReviewDecision
    risk: Risk
    reason: str
    by: DecidedBy


READS: Final = Decision("allow", "low", "it only reads", "rule")
OWN_MEMORY: Final = Decision("allow", "low", "it changes only what is kept for the person who asks", "rule")
CONVERSATION: Final = Decision("allow", "low", "it says something in the conversation that it is made in", "rule")
UNREVIEWED: Final = "no review is available"
"""Why everything else is denied: without a review, nothing that needs one is done."""

_RISKS: Final[Mapping[Effect, Risk]] = {"write": "medium", "external": "high", "destructive": "high"}


class Guardian:
    """Decides by rule. What no rule allows is denied."""

    async def decide(self, proposal: Proposal) -> Decision:
        """Return what is decided about the call."""
        if proposal.effect == "read":
            return READS
        if proposal.effect == "write" and proposal.touches == "own_memory":
            return OWN_MEMORY
        if proposal.effect == "write" and proposal.touches == "conversation":
            return CONVERSATION
        return Decision("deny", _RISKS.get(proposal.effect, "high"), UNREVIEWED, "rule")
