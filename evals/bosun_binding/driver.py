"""Drive one running Bosun: post through its routes, read its reporting API, store what was there before."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

import httpx

from bosun.identity import SCOPES, Actor, create_token
from bosun.log.loading import RecordedLoader
from bosun.log.messages import ConversationRecord, InboundMessage
from bosun.log.recorded import read_recorded
from bosun.log.store import ConversationLog
from bosun.plugins import PluginHost
from bosun_binding.decisions import Decisions
from bosun_binding.earlier_tools import EarlierTools
from bosun_binding.error_log import ErrorLog
from bosun_binding.setup import setup_module
from bosun_binding.slack import OnSlack, conversation_in
from seatrial.binding import InputRefused, Sent, SlackExchange
from seatrial.conversation import Compaction, ConversationState, Reply, Said, ToolCall, Turn
from seatrial.history import Exchange, RecordedConversation
from seatrial.inputs import DEFAULT_AUTHOR, WebMessage
from seatrial.slack import SlackMember, SlackRequest, SlackThread

ACCOUNT = "standard"
"""The account that invented people belong to."""


class BosunAgent:
    """One running Bosun. Every person has an API token, made by the function behind ``token create``.

    ``host`` has the stores, time and ids that the app has too, ``tools`` are those of its plugins, ``slack`` is its
    side on Slack, where it is there.
    """

    def __init__(
        self,
        url: str,
        host: PluginHost,
        tools: EarlierTools,
        slack: OnSlack | None = None,
        decisions: Decisions | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(base_url=url, timeout=None)
        self._host = host
        self._clock = host.clock
        self._ids = host.ids
        self._log = ConversationLog(host.engine, clock=host.clock, ids=host.ids)
        self._tools = tools
        self._slack = slack
        self._decisions = decisions
        self._errors = ErrorLog()
        self._tokens: dict[str, str] = {}
        self._owners: dict[str, str] = {}

    async def __aenter__(self) -> BosunAgent:
        self._errors.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._errors.stop()
        await self._http.aclose()

    async def send(self, item: WebMessage, *, conversation_id: str | None, key: str) -> Sent:
        """Post a web message as its author. Raises InputRefused with Bosun's answer."""
        path = "/api/conversations" if conversation_id is None else f"/api/conversations/{conversation_id}/messages"
        body = await self._post(path, {"idempotencyKey": key, "message": item.text}, item.author)
        self._owners.setdefault(body["conversationId"], item.author)
        return Sent(body["conversationId"], body["messageId"])

    async def decide(self, kind: str, proposal: Mapping[str, Any], *, conversation_id: str) -> Mapping[str, Any]:
        """Call one of Bosun's public decision functions. Raises InputRefused."""
        if self._decisions is None:
            raise InputRefused("no decision can be asked for where Bosun runs in a process of its own")
        return await self._decisions.decide(kind, proposal, conversation_id=conversation_id)

    async def stop(self, conversation_id: str, *, author: str) -> None:
        """Post the stop as its author. Raises InputRefused with Bosun's answer."""
        await self._post(f"/api/conversations/{conversation_id}/stop", {}, author)

    async def fork(self, conversation_id: str, message_id: str, *, key: str) -> str:
        """Fork as the person who started the conversation. Raises InputRefused with Bosun's answer."""
        owner = self._owners.get(conversation_id, DEFAULT_AUTHOR)
        path = f"/api/conversations/{conversation_id}/forks"
        body = await self._post(path, {"idempotencyKey": key, "messageId": message_id}, owner)
        fork_id = str(body["conversationId"])
        self._owners[fork_id] = owner
        return fork_id

    async def _post(self, path: str, body: Mapping[str, Any], author: str) -> dict[str, Any]:
        response = await self._http.post(path, json=dict(body), headers=await self._headers(author))
        if not response.is_success:
            raise InputRefused(f"{path} answered {response.status_code}: {response.text}")
        return dict(response.json())

    async def read(self, conversation_id: str) -> ConversationState:
        """Read the conversation as the person who started it."""
        owner = self._owners.get(conversation_id, DEFAULT_AUTHOR)
        response = await self._http.get(f"/api/conversations/{conversation_id}", headers=await self._headers(owner))
        response.raise_for_status()
        return _state(response.json())

    async def events(self, conversation_id: str, *, before: int | None = None) -> dict[str, Any]:
        """Read a page of the conversation's log as the person who started it."""
        owner = self._owners.get(conversation_id, DEFAULT_AUTHOR)
        response = await self._http.get(
            f"/api/conversations/{conversation_id}/events",
            params={} if before is None else {"before": before},
            headers=await self._headers(owner),
        )
        response.raise_for_status()
        return dict(response.json())

    async def all_events(self, conversation_id: str) -> tuple[Mapping[str, Any], ...]:
        """Read the conversation's whole log, page by page."""
        rows: tuple[Mapping[str, Any], ...] = ()
        before: int | None = None
        while True:
            page = await self.events(conversation_id, before=before)
            rows, before = (*page["events"], *rows), page["before"]
            if before is None:
                return rows

    async def load_history(self, turns: tuple[Exchange, ...], *, conversation_id: str | None, key: str) -> str:
        """Store earlier turns by the calls that Bosun's worker makes, in its order."""
        if conversation_id is None:
            starter = _actor(turns[0].messages[0].author)
            await self._headers(starter.id)
            conversation_id = self._ids.derive(starter.id, "web", key)
            await self._log.open_conversation(
                ConversationRecord(id=conversation_id, account_id=starter.account_id, actor_id=starter.id)
            )
            self._owners[conversation_id] = starter.id
        for number, exchange in enumerate(turns, start=1):
            messages = [
                InboundMessage(
                    id=self._ids.derive(conversation_id, "message", f"{key}-{number}-{position}"),
                    actor_id=message.author,
                    author=_actor(message.author).display_name,
                    text=message.text,
                    received_at=self._clock.now(),
                )
                for position, message in enumerate(exchange.messages, start=1)
            ]
            for message in messages:
                await self._log.accept_message(conversation_id, message)
            turn = await self._log.start_turn(conversation_id, messages)
            await self._tools.store(self._log, turn, exchange.reply.tools)
            await self._log.commit_reply(turn, exchange.reply.text)
        return conversation_id

    async def load_recorded(self, recorded: RecordedConversation, *, conversation_id: str | None, key: str) -> str:
        """Store a recorded conversation with Bosun's loader: as the person who began it, whole or not at all."""
        loader = RecordedLoader(self._host.engine, clock=self._clock, ids=self._ids)
        found = read_recorded(recorded.data)
        if conversation_id is not None:
            await loader.append(conversation_id, found, key)
            return conversation_id
        starter = _actor(found.began_by)
        await self._headers(starter.id)
        conversation_id = self._ids.derive(starter.id, "web", key)
        record = ConversationRecord(id=conversation_id, account_id=starter.account_id, actor_id=starter.id)
        await loader.begin(record, found)
        self._owners[conversation_id] = starter.id
        return conversation_id

    async def meet(self, member: SlackMember) -> None:
        """Connect a member of the workspace with the person of the same name on the web."""
        await self._headers(member.name)
        await self._on_slack.meet(member, member.name, _actor(member.name).display_name)

    async def receive(self, request: SlackRequest) -> None:
        """Post what Slack sends to Bosun's webhook. Raises InputRefused with Bosun's answer."""
        await self._on_slack.receive(request, self._http)

    def conversation_in(self, thread: SlackThread, starter: SlackMember) -> str:
        """Return the id of a thread's conversation, which its starter reads on the web."""
        conversation_id = conversation_in(thread)
        self._owners.setdefault(conversation_id, starter.name)
        return conversation_id

    async def load_slack_history(
        self, turns: tuple[SlackExchange, ...], *, thread: SlackThread, starter: SlackMember, key: str
    ) -> str:
        """Store earlier turns of a thread, which Bosun follows then as it does after an answer of its own."""
        await self._on_slack.load_history(turns, thread, actor_id=starter.name, account_id=ACCOUNT)
        return self.conversation_in(thread, starter)

    @property
    def _on_slack(self) -> OnSlack:
        assert self._slack is not None, "a trial speaks to an agent on Slack only where it is there"
        return self._slack

    async def insert(self, kind: str, data: Mapping[str, Any], *, key: str) -> None:
        """Store setup data as the plugin that it belongs to does; the same data is stored once."""
        module = setup_module(kind)
        for person in module.people(data):
            await self._headers(person)
        await module.insert(data, account_id=ACCOUNT, host=self._host)

    def pending(self) -> tuple[str, ...]:
        """Bosun's work is all in the queue and the background runner, which the harness supplies."""
        return ()

    def errors(self) -> tuple[str, ...]:
        """Return what Bosun has logged as an error: in production that is what wakes somebody up."""
        return self._errors.seen()

    async def _headers(self, author: str) -> dict[str, str]:
        if author not in self._tokens:
            self._tokens[author] = await create_token(
                self._host.engine, actor=_actor(author), scopes=SCOPES, ids=self._ids, clock=self._clock
            )
        return {"authorization": f"Bearer {self._tokens[author]}"}


def _actor(author: str) -> Actor:
    return Actor(id=author, display_name=author.capitalize(), account_id=ACCOUNT)


def _state(data: dict[str, Any]) -> ConversationState:
    replies = tuple(
        Reply(id=m["id"], text=m["text"], kind=m["kind"], turn_id=m["turnId"])
        for m in data["messages"]
        if m["role"] == "assistant"
    )
    turns = tuple(
        Turn(
            id=t["id"],
            status=t["status"],
            replies=tuple(reply for reply in replies if reply.turn_id == t["id"]),
            tool_calls=tuple(ToolCall(**call) for call in t["toolCalls"]),
            compactions=tuple(Compaction(made["kind"], made["summary"]) for made in t["compactions"]),
        )
        for t in data["turns"]
    )
    return ConversationState(
        conversation_id=data["id"],
        title=data["title"],
        replies=replies,
        turns=turns,
        transcript=tuple(Said(id=m["id"], author=m["author"], text=m["text"]) for m in data["messages"]),
    )
