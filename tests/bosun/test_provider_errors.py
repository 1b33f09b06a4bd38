"""Each kind of failure from a real answer over HTTP: what is tried again, after how long, and what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from conftest import KeptSteps
from hypothesis import given, settings
from hypothesis import strategies as st
from provider import Ordered, Provider, chunk, error, provider_server, stream

from bosun.context.prompt import PromptMessage
from bosun.model.client import BACKOFF_SECONDS, ModelClient, ModelRequest
from bosun.model.errors import FAILURE_KINDS, RETRIED, SENTENCES, FailureKind, ModelFailure
from bosun.model.options import ModelOptions

SILENCE = 33.0

# By the pages "Error codes" and "Chat completion chunk" of OpenAI's API documentation; `content_filter` and 529 are
# what compatible services send.
KINDS: list[tuple[Ordered, FailureKind]] = [
    (error(401, "invalid_api_key", kind="invalid_request_error"), "auth"),
    (error(403, "unsupported_country_region_territory", kind="request_forbidden"), "permission"),
    (error(429, "rate_limit_exceeded", kind="tokens"), "rate_limit"),
    (error(429, "insufficient_quota", kind="insufficient_quota"), "quota"),
    (error(503, None, kind="server_error"), "capacity"),
    (error(529, None, kind="overloaded_error"), "capacity"),
    (error(408, None), "timeout"),
    (error(504, None), "timeout"),
    (error(500, None, kind="server_error"), "server"),
    (error(502, None, kind="server_error"), "server"),
    (error(400, "context_length_exceeded", kind="invalid_request_error"), "invalid_request"),
    (error(404, "model_not_found", kind="invalid_request_error"), "invalid_request"),
    (error(400, "content_filter"), "content_policy"),
    (error(400, "content_policy_violation"), "content_policy"),
    (Ordered(502, b"<html>Bad gateway</html>", {"content-type": "text/html"}), "server"),
    (Ordered(304), "unknown"),
    (Ordered(), "network"),
    (stream(chunk(), then="cut"), "network"),
    (stream(chunk(), "[DONE]"), "network"),
    (stream("<html>"), "invalid_response"),
    (stream({"choices": 3}), "invalid_response"),
    (stream(chunk(), {"error": {"message": "boom", "type": "server_error", "code": None}}), "server"),
    (stream(chunk(), chunk("content_filter"), "[DONE]"), "content_policy"),
]


class NotedTimer:
    """Lets every wait pass at once and notes it; but for the wait that ends a silence, which a test lets pass."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.elapsed = 0.0
        self.silences = asyncio.Semaphore(0)

    def monotonic(self) -> float:
        """Return how much time has passed."""
        return self.elapsed

    async def sleep(self, seconds: float) -> None:
        """Let it pass."""
        self.waits.append(seconds)
        self.elapsed += seconds

    async def deadline(self, seconds: float) -> None:
        """Wait for the test."""
        await self.silences.acquire()
        self.elapsed += seconds


@pytest.fixture
def provider() -> Iterator[Provider]:
    with provider_server() as served:
        yield served


def client(provider: Provider, timer: NotedTimer) -> ModelClient:
    options = ModelOptions(base_url=provider.url, silence_seconds=SILENCE)
    return ModelClient(options, timer=timer, steps=KeptSteps())


async def ask(model: ModelClient) -> ModelFailure:
    """Ask, and return how it failed."""
    request = ModelRequest(role="agent", conversation_id="c", messages=(PromptMessage("user", "Well?"),))
    try:
        with pytest.raises(ModelFailure) as caught:
            await model.complete(request)
        return caught.value
    finally:
        await model.close()


def test_every_kind_is_here() -> None:
    assert {kind for _, kind in KINDS} == set(FAILURE_KINDS)


@pytest.mark.parametrize(("order", "kind"), KINDS)
async def test_one_answer_is_one_kind_and_a_second_request_is_made_for_what_may_pass(
    provider: Provider, order: Ordered, kind: FailureKind
) -> None:
    provider.orders.extend([order, order, order])
    timer = NotedTimer()
    failure = await ask(client(provider, timer))
    assert failure.kind == kind
    assert len(provider.asked) == (2 if kind in RETRIED else 1)
    assert timer.waits == ([BACKOFF_SECONDS] if kind in RETRIED else [])
    assert "Secret words" not in SENTENCES[failure.kind]


@pytest.mark.parametrize(("order", "kind"), [each for each in KINDS if each[1] in RETRIED])
async def test_the_second_request_is_the_first_one_and_what_comes_of_it_counts(
    provider: Provider, order: Ordered, kind: FailureKind
) -> None:
    provider.orders.append(order)
    assert (await ask(client(provider, NotedTimer()))).kind == "invalid_request"
    assert provider.asked[0] == provider.asked[1]


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({"retry_after": "7"}, [7.0]),
        ({"retry_after": "60"}, [60.0]),
        ({"retry_after": "0"}, [0.0]),
        ({"retry_after_ms": "250"}, [0.25]),
        ({"retry_after_ms": "250", "retry_after": "9"}, [0.25]),
        ({"retry_after": "Wed, 21 Oct 2026 07:28:00 GMT"}, [BACKOFF_SECONDS]),
        ({"retry_after": "-5"}, [BACKOFF_SECONDS]),
        ({"retry_after": "soon"}, [BACKOFF_SECONDS]),
        ({"retry_after": "1e400"}, [BACKOFF_SECONDS]),
    ],
)
async def test_the_wait_is_the_one_that_the_provider_asks_for(
    provider: Provider, headers: dict[str, str], waits: list[float]
) -> None:
    provider.orders.append(error(429, "rate_limit_exceeded", **headers))
    timer = NotedTimer()
    assert (await ask(client(provider, timer))).kind == "invalid_request"
    assert timer.waits == waits


@pytest.mark.parametrize("asked_for", ["61", "86400", "9" * 400])
async def test_nobody_waits_longer_than_a_minute_for_a_provider(provider: Provider, asked_for: str) -> None:
    provider.orders.append(error(429, "rate_limit_exceeded", retry_after=asked_for))
    timer = NotedTimer()
    failure = await ask(client(provider, timer))
    assert (failure.kind, timer.waits, len(provider.asked)) == ("rate_limit", [], 1)


@pytest.mark.parametrize("order", [Ordered(then="hold"), stream(chunk(), then="hold")])
async def test_a_silence_is_given_up_and_its_connection_closed(provider: Provider, order: Ordered) -> None:
    provider.orders.append(order)
    timer = NotedTimer()
    asking = asyncio.ensure_future(ask(client(provider, timer)))
    assert await asyncio.to_thread(provider.silent.wait, 20)
    timer.silences.release()
    assert await asyncio.to_thread(provider.left.wait, 20)
    assert (await asking).kind == "invalid_request"
    assert timer.waits == [BACKOFF_SECONDS]


async def test_two_silences_are_a_timeout(provider: Provider) -> None:
    provider.orders.extend([Ordered(then="hold"), Ordered(then="hold")])
    timer = NotedTimer()
    timer.silences.release()
    timer.silences.release()
    failure = await ask(client(provider, timer))
    assert failure.kind == "timeout"


@settings(derandomize=True, database=None, deadline=None, max_examples=60)
@given(
    status=st.sampled_from([200, 204, 301, 304, 400, 401, 404, 409, 418, 429, 451, 500, 503, 529, 599]),
    body=st.binary(max_size=200),
    content_type=st.sampled_from(["text/event-stream", "application/json", "text/html", "", "x"]),
    header=st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20),
)
def test_whatever_a_provider_answers_is_an_answer_or_a_kind(
    status: int, body: bytes, content_type: str, header: str
) -> None:
    async def scenario() -> ModelFailure:
        with provider_server() as served:
            order = Ordered(status, body, {"content-type": content_type, "retry-after": header})
            served.orders.extend([order, order])
            return await ask(client(served, NotedTimer()))

    outcome = asyncio.run(scenario())
    assert outcome.kind in FAILURE_KINDS
