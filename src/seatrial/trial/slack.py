"""Slack in a trial: people act in the stand-in, Slack sends what they did, and what the agent does there is seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from seatrial.binding import AgentGone, InputRefused, OnSlack, SlackExchange
from seatrial.history import Exchange
from seatrial.inputs import (
    Message,
    SlackBotMessage,
    SlackDeletion,
    SlackDirectMessage,
    SlackEdit,
    SlackFile,
    SlackInput,
    SlackMention,
    SlackThreadMessage,
    WebMessage,
)
from seatrial.slack import SlackCall, SlackMember, SlackPost, SlackThread
from seatrial.standins.slack import Events, Fault, People, WebApi
from seatrial.trial.settings import TrialInvalid
from seatrial.trial.watch import Watch

Event = Mapping[str, Any]


class SlackSide:
    """The workspace of one trial, and the threads that its conversations are in."""

    def __init__(self, api: WebApi, agent: OnSlack) -> None:
        self.api = api
        self._agent = agent
        self._events = Events(api.workspace, api.signing_secret)
        self._people = People(api.workspace, self._events)
        self._threads: dict[str, SlackThread] = {}
        self._met: set[str] = set()
        self._sent: dict[str, tuple[str, tuple[Event, ...]]] = {}
        self._problems: list[str] = []
        self.watch: Watch | None = None
        """Who looks on at the call that runs."""
        api.onlooker = self

    # what people do

    async def send(self, item: SlackInput, conversation_id: str | None, key: str) -> str:
        """Let it happen, have Slack tell the agent, and return the conversation that it is in.

        What was sent with this key before is told again, as Slack does when it got no answer. Raises InputRefused.
        """
        if key in self._sent:
            conversation_id, events = self._sent[key]
            await self._tell(events, first=1)
            return conversation_id
        thread = None if conversation_id is None else self._thread(conversation_id)
        if not isinstance(item, SlackBotMessage):
            await self._meet(item.author)
        thread, events = self._happens(item, thread)
        conversation_id = conversation_id or self._conversation(thread, item)
        self._threads[conversation_id] = thread
        self._sent[key] = conversation_id, events
        await self._tell(events)
        for again in range(1, getattr(item, "deliveries", 1)):
            await self._tell(events, first=again)
        return conversation_id

    async def store(self, turns: tuple[Exchange, ...], conversation_id: str | None, key: str) -> str:
        """Write earlier turns into the workspace and have the agent store them; return the conversation's id."""
        thread = None if conversation_id is None else self._thread(conversation_id)
        stored: list[SlackExchange] = []
        starter = turns[0].messages[0].author
        for turn in turns:
            posts: list[SlackPost] = []
            for message in turn.messages:
                await self._meet(message.author)
                thread, post = self._wrote(message, thread)
                posts.append(post)
            assert thread is not None
            channel = self.api.workspace.channels[thread.channel]
            said = self.api.workspace.add(channel, self.api.workspace.bot, turn.reply.text, thread_ts=thread.ts)
            stored.append(SlackExchange(tuple(posts), SlackPost(thread, said.ts, said.text, None), turn.reply))
        assert thread is not None
        conversation_id = await self._agent.load_slack_history(
            tuple(stored), thread=thread, starter=self._member(starter), key=key
        )
        self._threads[conversation_id] = thread
        return conversation_id

    def faults_left(self) -> tuple[str, ...]:
        """Name the methods that were to fail and were not called."""
        return tuple(fault.method for fault in self.api.faults.unused())

    def order(self, method: str, **how: Any) -> None:
        """Let the next calls of a method fail. Raises TrialInvalid for a fault that Slack would not have."""
        try:
            self.api.faults.order(Fault(method, **how))
        except ValueError as error:
            raise TrialInvalid(str(error)) from error

    # what the agent does

    def mark(self) -> int:
        """Return a place in the calls that the agent has made."""
        return len(self.api.calls)

    def since(self, mark: int, conversation_id: str) -> tuple[SlackCall, ...]:
        """Return the calls that came after a mark, and of each whether it is about the conversation's thread."""
        thread = self._threads.get(conversation_id)
        return tuple(replace(call, here=thread is not None and call.thread == thread) for call in self.api.calls[mark:])

    def problems(self) -> tuple[str, ...]:
        """Name what went wrong between Slack and the agent without anybody seeing it."""
        return tuple(self._problems)

    async def posted(self, post: SlackPost) -> None:
        """Tell the agent of its own message, as Slack does, and hold the answer while the handler looks."""
        message = self.api.workspace.messages[post.thread.channel, post.ts]
        try:
            await self._tell(self._events.written(message))
        except (AgentGone, InputRefused) as error:
            self._problems.append(f"Slack could not tell the agent of its own message: {error}")
        if self.watch is not None:
            await self.watch.delivered(post.text)

    def failed_request(self) -> None:
        """Let time move with the wait by which the agent answers a failure of Slack's."""
        if self.watch is not None:
            self.watch.failed_request()

    # how

    def _thread(self, conversation_id: str) -> SlackThread:
        if conversation_id not in self._threads:
            raise TrialInvalid("the conversation is none of Slack's: start it there, or send a web_message")
        return self._threads[conversation_id]

    def _conversation(self, thread: SlackThread, item: SlackInput) -> str:
        if isinstance(item, SlackBotMessage):
            raise TrialInvalid("another bot starts no conversation: send it to one that is there")
        return self._agent.conversation_in(thread, self._member(item.author))

    def _member(self, name: str) -> SlackMember:
        return SlackMember(name, self.api.workspace.person(name).id)

    async def _meet(self, name: str) -> None:
        if name not in self._met:
            self._met.add(name)
            await self._agent.meet(self._member(name))

    async def _tell(self, events: Sequence[Event], *, first: int = 0) -> None:
        for event in events:
            await self._agent.receive(self._events.request(dict(event), retry=first))

    def _happens(self, item: SlackInput, thread: SlackThread | None) -> tuple[SlackThread, tuple[Event, ...]]:
        try:
            if isinstance(item, SlackMention | SlackDirectMessage | SlackThreadMessage):
                return self._says(item, thread)
            if thread is None:
                raise TrialInvalid(f"there is no thread for {_words(item)}: send it to a conversation on Slack")
            if isinstance(item, SlackBotMessage):
                return thread, self._people.bot_says(item.text, thread)
            if isinstance(item, SlackEdit):
                return thread, self._people.edits(item.author, item.text, thread)
            return thread, self._people.deletes(item.author, thread)
        except ValueError as error:
            raise TrialInvalid(str(error)) from error

    def _says(
        self, item: SlackMention | SlackDirectMessage | SlackThreadMessage, thread: SlackThread | None
    ) -> tuple[SlackThread, tuple[Event, ...]]:
        earlier: tuple[Event, ...] = ()
        if isinstance(item, SlackDirectMessage) and item.assistant_thread and thread is None:
            thread, earlier = self._people.opens(item.author)
        message, events = self._people.says(item.author, item.text, thread=thread, **_how(item, thread))
        return message.thread, (*earlier, *events)

    def _wrote(self, message: Message, thread: SlackThread | None) -> tuple[SlackThread, SlackPost]:
        assert not isinstance(message, WebMessage)
        try:
            there = self._people.wrote(message.author, message.text, thread=thread, **_how(message, thread))
        except ValueError as error:
            raise TrialInvalid(str(error)) from error
        return there.thread, SlackPost(there.thread, there.ts, there.text, self._member(message.author))


def _how(item: SlackMention | SlackDirectMessage | SlackThreadMessage, thread: SlackThread | None) -> Mapping[str, Any]:
    """Return where and with what a message is written. Raises TrialInvalid for one that does not fit its thread."""
    if thread is None and isinstance(item, SlackThreadMessage):
        raise TrialInvalid(f"there is no thread for {_words(item)}: send it to a conversation on Slack")
    if thread is not None and thread.direct != isinstance(item, SlackDirectMessage):
        where, right = ("direct", "slack_direct_message") if thread.direct else ("in a channel", "slack_thread_message")
        raise TrialInvalid(f"the conversation is {where}: send a {right}")
    channel = "direct" if isinstance(item, SlackDirectMessage) else getattr(item, "channel", "public")
    return {"channel": channel, "mention": isinstance(item, SlackMention), "files": [_file(f) for f in item.files]}


def _file(file: SlackFile) -> tuple[str, str, int]:
    return file.name, file.mimetype, file.size


def _words(item: SlackInput) -> str:
    names = {
        SlackThreadMessage: "a slack_thread_message",
        SlackEdit: "a slack_edit",
        SlackDeletion: "a slack_deletion",
        SlackBotMessage: "a slack_bot_message",
    }
    return names[type(item)]
