"""What Slack's Events API sends, as data: what people did in a thread, and everything else as `Ignored`.

Slack adds fields, types and subtypes as it likes. What is not known here is ignored, and never an error; what is
known and does not have the shape that Slack documents is a `SlackBodyInvalid`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError

from bosun.slack.channel import SlackThread, is_channel, is_ts
from bosun.slack.reading import SlackFile, mentions
from bosun.text import storable

# A message of these is a person's words; every other subtype is something that happened in the channel.
SPOKEN_SUBTYPES: Final = (None, "file_share", "me_message", "thread_broadcast")
# Slack's own voice looks like a person's but for its id.
SLACKBOT: Final = "USLACKBOT"


class SlackBodyInvalid(ValueError):
    """A body that is not what Slack documents.

    `fields` pairs a field's name with what is wrong with it; `no_json` says that there are no fields at all.
    """

    def __init__(self, fields: list[tuple[str, str]], *, no_json: bool = False) -> None:
        super().__init__("; ".join(f"{field}: {problem}" for field, problem in fields))
        self.fields = tuple(fields)
        self.no_json = no_json


@dataclass(frozen=True)
class UrlVerification:
    """Slack asks whether this address is the app's: the answer is the challenge."""

    challenge: str


@dataclass(frozen=True, kw_only=True)
class MessageArrived:
    """A person wrote. A mention in a channel comes twice, as `app_mention` and `message`, with one `ts`."""

    thread: SlackThread
    ts: str
    user_id: str
    text: str
    """As Slack writes it: `reading.readable` makes it what a model reads."""
    mentions_bot: bool
    direct: bool
    files: tuple[SlackFile, ...] = ()
    in_thread: bool = False
    """Whether it answers in a thread that another message began."""
    bot_user_id: str | None = None
    """Bosun's own user there, where it is known."""


@dataclass(frozen=True, kw_only=True)
class MessageChanged:
    """A person changed the words of a message."""

    thread: SlackThread
    ts: str
    """The changed message's."""
    text: str
    edited_ts: str
    """The change's own `ts`: it grows from change to change, so that a late one cannot undo a newer one."""
    files: tuple[SlackFile, ...] = ()
    bot_user_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class MessageDeleted:
    """A message is gone. Where Slack does not say in which thread it was, the thread is its own."""

    thread: SlackThread
    ts: str


@dataclass(frozen=True, kw_only=True)
class AssistantThreadStarted:
    """A person opened a new thread with Bosun, and has not written yet."""

    thread: SlackThread
    user_id: str


@dataclass(frozen=True)
class Ignored:
    """Nothing that Bosun acts on, and why."""

    why: str


SlackEvent = MessageArrived | MessageChanged | MessageDeleted | AssistantThreadStarted | Ignored


@dataclass(frozen=True, kw_only=True)
class EventCallback:
    """One event of one workspace."""

    event_id: str
    team_id: str
    event: SlackEvent


def _known(check: Any, name: str) -> AfterValidator:
    def validate(text: str) -> str:
        if not check(text):
            raise ValueError(f"must be {name} as Slack writes it")
        return text

    return AfterValidator(validate)


def _list(value: object) -> object:
    return value if isinstance(value, list) else []


Id = Annotated[str, StringConstraints(pattern=r"^[A-Z0-9]{1,40}\z")]
EventId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,100}\z")]
Channel = Annotated[str, _known(is_channel, "a channel's id")]
Ts = Annotated[str, _known(is_ts, "a ts")]
Words = Annotated[str, AfterValidator(storable)]
Entries = Annotated[list[Any], BeforeValidator(_list)]


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _Challenge(_Shape):
    challenge: Annotated[Words, StringConstraints(min_length=1, max_length=1_000)]


class _Envelope(_Shape):
    event_id: EventId
    team_id: Id
    event: dict[str, Any]
    authorizations: Entries = []


class _Message(_Shape):
    channel: Channel
    ts: Ts
    thread_ts: Ts | None = None
    user: Id | None = None
    text: Words | None = None
    channel_type: Any = None
    files: Entries = []

    @property
    def thread(self) -> SlackThread:
        return SlackThread(self.channel, self.thread_ts or self.ts)


class _Change(_Shape):
    channel: Channel
    ts: Ts
    message: dict[str, Any]
    previous_message: Any = None


class _Deletion(_Shape):
    channel: Channel
    deleted_ts: Ts
    previous_message: Any = None


class _Opened(_Shape):
    channel_id: Channel
    thread_ts: Ts
    user_id: Id


Shape = TypeVar("Shape", bound=_Shape)


def decode(body: bytes, *, bot_user_id: str | None = None) -> UrlVerification | EventCallback | Ignored:
    """Read a signed body; `bot_user_id` is Bosun's own user where the body does not say it.

    Raises `SlackBodyInvalid`, and nothing else.
    """
    content = _object(body)
    kind = content.get("type")
    if kind == "url_verification":
        return UrlVerification(_shaped(_Challenge, content).challenge)
    if kind != "event_callback":
        if not isinstance(kind, str):
            raise SlackBodyInvalid([("type", "is missing or no text")])
        return Ignored(f"type {kind[:100]}")
    envelope = _shaped(_Envelope, content)
    bot = _own_user(envelope.authorizations) or bot_user_id
    event = _event(envelope.event, bot)
    return EventCallback(event_id=envelope.event_id, team_id=envelope.team_id, event=event)


def _event(event: dict[str, Any], bot: str | None) -> SlackEvent:
    kind, subtype = event.get("type"), event.get("subtype")
    if kind == "assistant_thread_started":
        opened = event.get("assistant_thread")
        started = _shaped(_Opened, opened if isinstance(opened, dict) else {}, "event.assistant_thread")
        return AssistantThreadStarted(
            thread=SlackThread(started.channel_id, started.thread_ts), user_id=started.user_id
        )
    if kind == "app_mention":
        return _arrived(event, bot, mentioned=True)
    if kind != "message":
        return Ignored(f"event {str(kind)[:100]}")
    if subtype == "message_changed":
        return _changed(_shaped(_Change, event, "event"), bot)
    if subtype == "message_deleted":
        return _deleted(_shaped(_Deletion, event, "event"), bot)
    return _arrived(event, bot, mentioned=False)


def _arrived(event: dict[str, Any], bot: str | None, *, mentioned: bool) -> SlackEvent:
    if why := _no_person(event, bot):
        return Ignored(why)
    message = _shaped(_Message, event, "event")
    assert message.user is not None
    text = message.text or ""
    thread = message.thread
    return MessageArrived(
        thread=thread,
        ts=message.ts,
        user_id=message.user,
        text=text,
        mentions_bot=mentioned or (bot is not None and bot in mentions(text)),
        direct=thread.is_direct or message.channel_type == "im",
        files=SlackFile.among(message.files),
        in_thread=message.ts != thread.thread_ts,
        bot_user_id=bot,
    )


def _changed(change: _Change, bot: str | None) -> SlackEvent:
    before = change.previous_message if isinstance(change.previous_message, dict) else {}
    content = {**change.message, "channel": change.channel}
    if content.get("subtype") == "tombstone":
        # What began a thread leaves a stone in its place, of Slack's own user: Slack calls it a change.
        if before and (why := _no_person(before, bot)):
            return Ignored(why)
        gone = _shaped(_Message, {**content, "user": None, "text": None}, "event.message")
        return MessageDeleted(thread=gone.thread, ts=gone.ts)
    if why := _no_person(content, bot):
        return Ignored(why)
    message = _shaped(_Message, content, "event.message")
    if before.get("text") == content.get("text"):
        return Ignored("a change of what a message shows, not of its words")
    return MessageChanged(
        thread=message.thread,
        ts=message.ts,
        text=message.text or "",
        edited_ts=_edited(content.get("edited")) or change.ts,
        files=SlackFile.among(message.files),
        bot_user_id=bot,
    )


def _deleted(deletion: _Deletion, bot: str | None) -> SlackEvent:
    before = deletion.previous_message if isinstance(deletion.previous_message, dict) else {}
    if before and (why := _no_person(before, bot)):
        return Ignored(why)
    thread_ts = before.get("thread_ts")
    if not (isinstance(thread_ts, str) and is_ts(thread_ts)):
        thread_ts = deletion.deleted_ts
    return MessageDeleted(thread=SlackThread(deletion.channel, thread_ts), ts=deletion.deleted_ts)


def _no_person(message: Mapping[str, Any], bot: str | None) -> str | None:
    """Say why a message is no person's: Bosun that answers itself or another machine would never stop."""
    if message.get("bot_id") or message.get("bot_profile") or message.get("subtype") == "bot_message":
        return "a message of a bot"
    if message.get("subtype") not in SPOKEN_SUBTYPES:
        return f"a message of the subtype {str(message.get('subtype'))[:100]}"
    user = message.get("user")
    if user is None:
        return "a message of nobody"
    if user == bot:
        return "a message of Bosun"
    return "a message of Slack" if user == SLACKBOT else None


def _own_user(authorizations: list[Any]) -> str | None:
    for each in authorizations:
        if isinstance(each, dict) and each.get("is_bot") is True and isinstance(each.get("user_id"), str):
            return str(each["user_id"])
    return None


def _edited(edited: object) -> str | None:
    ts = edited.get("ts") if isinstance(edited, dict) else None
    return ts if isinstance(ts, str) and is_ts(ts) else None


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        problem = "is nested too deeply" if isinstance(error, RecursionError) else f"is not valid JSON: {error}"
        raise SlackBodyInvalid([("body", problem)], no_json=True) from error
    if not isinstance(content, dict):
        raise SlackBodyInvalid([("body", "is no JSON object")], no_json=True)
    return content


def _shaped(shape: type[Shape], content: Mapping[str, Any], at: str = "") -> Shape:
    try:
        return shape.model_validate(content)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise SlackBodyInvalid([(_name(at, each["loc"]), each["msg"]) for each in found]) from error


def _name(at: str, loc: tuple[int | str, ...]) -> str:
    return ".".join([*([at] if at else []), *(str(part) for part in loc)]) or "body"
