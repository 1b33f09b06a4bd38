"""A conversation as a running Bosun writes it, by the log's own functions: with everything that a history can hold."""

from __future__ import annotations

from conftest import HandClock

from bosun.ids import derive
from bosun.log.messages import ConversationRecord, InboundMessage, ProposedCall, Turn
from bosun.log.store import ConversationLog

CONVERSATION = derive("anna", "web", "first")
ANNA, BEN = ("anna", "Anna Schmidt"), ("ben", "Ben")


def inbound(key: str, text: str, clock: HandClock, who: tuple[str, str] = ANNA) -> InboundMessage:
    """Return a message as a route makes it."""
    return InboundMessage(
        id=derive(CONVERSATION, "message", key), actor_id=who[0], author=who[1], text=text, received_at=clock.now()
    )


async def write_conversation(log: ConversationLog, clock: HandClock) -> None:
    """Write turns with a call of a tool, with steering, a pause, a stop and a failure, and what waits at the end."""
    await log.open_conversation(ConversationRecord(id=CONVERSATION, account_id="acct-77", actor_id="anna"))
    turn = await begun(log, clock, inbound("1", "Remember that Ben is at ben@corp.example.", clock))
    arguments = '{"text": "Ben is at ben@corp.example"}'
    (call,) = await log.record_calls(turn, 1, "I keep it.", [ProposedCall(name="remember", arguments=arguments)])
    await log.record_review(turn, call, effect="write", decision="allow", risk="low", reason="own memory", by="rule")
    await log.start_tool(turn, call, {"text": "Ben is at ben@corp.example"})
    await log.finish_tool(turn, call, "succeeded", '{"kept": "Ben is at ben@corp.example"}')
    await log.commit_reply(turn, "Kept, Anna.")
    await log.set_title(CONVERSATION, "Ben's address")
    clock.advance(60)
    turn = await begun(log, clock, inbound("2", "Who is Ben?", clock))
    await log.record_unsent(turn, 1, "Somebody.")
    await log.pause_turn(turn, 1)
    turn = await log.join_turn(turn, [inbound("3", "And where?", clock)])
    await log.commit_reply(turn, "Ben is at ben@corp.example.")
    turn = await begun(log, clock, inbound("4", "Tell me more.", clock, BEN))
    await log.commit_stop(CONVERSATION, [inbound("5", "And then?", clock)], "I stopped.")
    turn = await begun(log, clock, inbound("6", "Well?", clock))
    await log.commit_failure(turn, "timeout", "The model took too long.")
    turn = await begun(log, clock, inbound("7", "Thanks, Ben.", clock))
    await log.commit_no_reply(turn)
    await begun(log, clock, inbound("8", "This one is not over.", clock))
    await log.accept_message(CONVERSATION, inbound("9", "This one waits.", clock))


async def begun(log: ConversationLog, clock: HandClock, message: InboundMessage) -> Turn:
    """Begin a turn for a message."""
    clock.advance(1.5)
    await log.accept_message(CONVERSATION, message)
    turn = await log.start_turn(CONVERSATION, [message])
    await log.record_context(turn, 1, ["account"], {"context.account": 1})
    return turn
