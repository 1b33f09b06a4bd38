"""The server's HTTP side, with words laid out by the test in the place of weights."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import pytest

from seatrial.model_server.app import ModelApp
from seatrial.model_server.llama import ModelRefused, Piece

pytestmark = pytest.mark.asyncio

USAGE: Any = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"properties": {"q": {"type": "string"}}}}}]
CALL = ['{"tool":"lo', 'ok","args":{"q":', '"tea"}}']
HI: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}


class Words:
    """Writes the pieces laid out for it and remembers what it was asked. With `hold` it stops before the last."""

    def __init__(self, *pieces: str, finish: str = "stop", refuse: ModelRefused | None = None, hold: bool = False):
        self.asked: list[Mapping[str, Any]] = []
        self.writing = 0
        self.most_at_once = 0
        self.holding = asyncio.Event()
        self._pieces, self._finish, self._refuse, self._hold = pieces, finish, refuse, hold

    async def write(self, body: Mapping[str, Any]) -> AsyncGenerator[Piece, None]:
        self.asked.append(body)
        self.writing += 1
        self.most_at_once = max(self.most_at_once, self.writing)
        try:
            for piece in self._pieces:
                yield Piece(piece)
            if self._refuse is not None:
                raise self._refuse
            if self._hold:
                self.holding.set()
                await asyncio.get_running_loop().create_future()
            yield Piece(finish=self._finish, usage=USAGE)
        finally:
            self.writing -= 1


class Client:
    """One request to the app, and what came back. It leaves when `leave` is set."""

    def __init__(self, words: Words) -> None:
        self.app = ModelApp(words, alias="small", fingerprint="r-1", roles=("agent", "title"))
        self.leave = asyncio.Event()

    async def ask(
        self, body: Any, headers: Mapping[str, str] | None = None, path: str = "/v1/chat/completions"
    ) -> tuple[int, str, bool]:
        """The status, the text, and whether the answer came to its end."""
        sent: list[Any] = []
        given = [{"type": "http.request", "body": body if isinstance(body, bytes) else json.dumps(body).encode()}]

        async def receive() -> dict[str, Any]:
            if given:
                return given.pop()
            await self.leave.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        raw = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        scope = {"type": "http", "method": "POST" if path.endswith("s") and body else "GET", "path": path}
        await self.app({**scope, "headers": raw}, receive, send)
        text = b"".join(message.get("body", b"") for message in sent).decode()
        return (sent[0]["status"] if sent else 0), text, bool(sent) and not sent[-1].get("more_body", False)


async def whole(words: Words, body: Any, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    status, text, ended = await Client(words).ask(body, headers)
    assert status == 200 and ended, text
    answer: dict[str, Any] = json.loads(text)
    return answer


async def streamed(words: Words, body: Any) -> list[Any]:
    status, text, ended = await Client(words).ask({**body, "stream": True})
    *events, last, nothing = text.split("\n\n")
    assert (status, last, nothing, ended) == (200, "data: [DONE]", "", True)
    return [json.loads(event.removeprefix("data: ")) for event in events]


async def test_plain_words_are_an_answer() -> None:
    answer = await whole(Words("Hel", "lo."), HI)
    assert (answer["model"], answer["system_fingerprint"], answer["created"]) == ("small", "r-1", 0)
    assert answer["usage"] == USAGE
    assert answer["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hello."},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]


async def test_a_call_is_an_answer_with_tool_calls() -> None:
    answer = await whole(Words(*CALL), {**HI, "tools": TOOLS})
    (choice,) = answer["choices"]
    (call,) = choice["message"]["tool_calls"]
    assert (choice["message"]["content"], choice["finish_reason"]) == (None, "tool_calls")
    assert call["function"] == {"name": "look", "arguments": '{"q":"tea"}'}
    assert call["type"] == "function" and call["id"].startswith("call_")


async def test_a_stream_of_a_call_names_it_before_its_arguments() -> None:
    events = await streamed(Words(*CALL), {**HI, "tools": TOOLS})
    deltas = [event["choices"][0]["delta"] for event in events]
    number = deltas[1]["tool_calls"][0]["id"]
    opening = {"index": 0, "id": number, "type": "function", "function": {"name": "look", "arguments": ""}}
    assert deltas == [
        {"role": "assistant"},
        {"tool_calls": [opening]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"q":"tea"}'}}]},
        {},
    ]
    assert [event["choices"][0]["finish_reason"] for event in events] == [None, None, None, "tool_calls"]


async def test_a_stream_of_a_reply_shows_its_text_as_it_is_written_and_its_usage_when_asked() -> None:
    words = Words('{"reply":"Green', " te", 'a."}')
    events = await streamed(words, {**HI, "tools": TOOLS, "stream_options": {"include_usage": True}})
    deltas = [event["choices"][0]["delta"] for event in events[:-1]]
    assert deltas == [{"role": "assistant"}, {"content": "Green"}, {"content": " te"}, {"content": "a."}, {}]
    assert events[-2]["choices"][0]["finish_reason"] == "stop"
    assert (events[-1]["choices"], events[-1]["usage"]) == ([], USAGE)


async def test_the_same_request_has_the_same_ids_and_another_has_others() -> None:
    body = {**HI, "tools": TOOLS}
    first, again = await whole(Words(*CALL), body), await whole(Words(*CALL), body)
    assert first == again
    later = {**body, "messages": [*HI["messages"], {"role": "user", "content": "And?"}]}
    others = [
        await whole(Words(*CALL), later),
        await whole(Words(*CALL), body, {"x-seatrial-seed": "1"}),
        await whole(Words(*CALL), body, {"x-seatrial-role": "title"}),
    ]
    ids = {answer["choices"][0]["message"]["tool_calls"][0]["id"] for answer in (first, *others)}
    assert len(ids) == 4


async def test_the_role_says_which_slot_and_the_trial_which_seed() -> None:
    words = Words("Hi")
    await whole(words, HI)
    await whole(words, HI, {"x-seatrial-role": "title", "x-seatrial-seed": "7"})
    assert [(asked["id_slot"], asked["seed"]) for asked in words.asked] == [(0, 0), (1, 7)]


@pytest.mark.parametrize(
    ("body", "headers", "why"),
    [
        (b"{", {}, "not JSON"),
        ([1], {}, "not a JSON object"),
        ({"messages": []}, {}, "no messages"),
        (HI, {"x-seatrial-role": "cook"}, "'cook'. Roles: agent, title"),
        (HI, {"x-seatrial-seed": "-1"}, "'-1', not the index"),
        ({**HI, "tools": 1}, {}, "'tools' is not a list"),
    ],
)
async def test_what_cannot_be_served_is_refused_before_the_model_is_asked(body: Any, headers: Any, why: str) -> None:
    words = Words("Hi")
    status, text, _ = await Client(words).ask(body, headers)
    assert status == 400 and why in json.loads(text)["error"]["message"] and words.asked == []


async def test_a_refusal_of_the_models_server_keeps_its_status() -> None:
    full = ModelRefused(400, "the request exceeds the context")
    status, text, _ = await Client(Words(refuse=full)).ask({**HI, "stream": True})
    assert (status, json.loads(text)["error"]["message"]) == (400, "the request exceeds the context")


async def test_an_answer_that_is_none_is_a_bad_gateway_and_a_stream_of_it_is_cut() -> None:
    status, text, _ = await Client(Words("Hello")).ask({**HI, "tools": TOOLS})
    assert status == 502 and "not JSON" in text
    with pytest.raises(Exception, match="not JSON"):
        await Client(Words("Hello")).ask({**HI, "tools": TOOLS, "stream": True})


async def test_one_request_is_written_at_a_time() -> None:
    words = Words("a", "b")
    client = Client(words)
    answers = await asyncio.gather(*(client.ask(HI) for _ in range(5)))
    assert [status for status, _, _ in answers] == [200] * 5 and words.most_at_once == 1


async def test_the_model_stops_when_the_client_leaves_and_the_next_is_served() -> None:
    words = Words("a", hold=True)
    client = Client(words)
    leaving = asyncio.create_task(client.ask({**HI, "stream": True}))
    await words.holding.wait()
    assert words.writing == 1
    client.leave.set()
    _, text, ended = await leaving
    assert words.writing == 0 and not ended and "[DONE]" not in text
    words.holding.clear()
    client.leave.clear()
    waiting = asyncio.create_task(client.ask(HI))
    await words.holding.wait()
    client.leave.set()
    assert (await waiting)[2] is False and words.writing == 0


async def test_it_names_its_model_and_knows_no_other_path() -> None:
    client = Client(Words())
    status, text, _ = await client.ask(b"", path="/v1/models")
    assert status == 200 and [model["id"] for model in json.loads(text)["data"]] == ["small"]
    assert (await client.ask(b"", path="/health"))[0] == 200
    assert (await client.ask(HI, path="/v1/embeddings"))[0] == 404
