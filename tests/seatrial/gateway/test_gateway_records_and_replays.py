"""What was recorded is replayed: the same words in the same order, to the same requests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from seatrial.gateway.recording import (
    Aborted,
    Answer,
    RecordingWithheld,
    Stream,
    Usage,
    load_recording,
    write_recording,
)
from seatrial.gateway.server import Gateway
from seatrial.gateway.upstream import Upstream
from seatrial.headers import HeaderNames
from seatrial.serving import serve

if TYPE_CHECKING:
    from conftest import Recorder, Replayer, Site, TalkTo

pytestmark = pytest.mark.asyncio


async def test_a_whole_answer_is_replayed(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    site.whole("Grüß dich")
    async with recording_gateway(None) as (gateway, talk):
        live = await talk.whole("Hi")
        recording = await made(gateway)
    async with replaying_gateway(recording) as (gateway, talk):
        assert await talk.whole("Hi") == live == "Grüß dich"
        assert (gateway.served, gateway.unused(), gateway.problems, gateway.miss) == (1, (), (), None)
        assert gateway.requests[0].source == "recorded"
        assert gateway.requests[0].usage == Usage(input_tokens=7, output_tokens=3, cached_input_tokens=2)
    assert len(site.asked) == 1


async def test_the_upstream_gets_its_own_model_name_and_the_recording_keeps_the_alias(
    site: Site, recording_gateway: Recorder, made: Any
) -> None:
    site.whole("Hello")
    async with recording_gateway(None) as (gateway, talk):
        await talk.whole("Hi")
        recording = await made(gateway)
    assert site.asked == [{"messages": [{"role": "user", "content": "Hi"}], "model": "real-model"}]
    assert recording.exchanges[0].request.body == {
        "messages": [{"role": "user", "content": "Hi"}], "model": "alias",
    }  # fmt: skip
    assert (recording.upstream.kind, recording.upstream.model) == ("test", "real-model")
    assert recording.upstream.fingerprint == "fp_1"


async def test_no_credential_and_no_other_header_gets_into_a_recording(
    site: Site, recording_gateway: Recorder, made: Any
) -> None:
    site.whole("Hello")
    async with recording_gateway(None) as (gateway, talk):
        await talk.whole("Hi")
        recording = await made(gateway)
    assert site.headers[0]["authorization"] == "Bearer sk-0123456789"
    assert recording.exchanges[0].outcome.headers == {"content-type": "application/json"}


@pytest.mark.parametrize(
    ("kind", "trial", "parameters"), [("embedded", 0, {"seed": 0}), ("embedded", 4, {"seed": 4}), ("service", 4, {})]
)
async def test_the_trials_index_goes_along_as_a_header_and_is_a_parameter_of_the_embedded_server_only(
    site: Site, talk_to: TalkTo, names: HeaderNames, made: Any, kind: str, trial: int, parameters: dict[str, int]
) -> None:
    site.whole("Hello")
    upstream = Upstream(base_url=f"{site.url}/v1", kind=kind, trial=trial)
    gateway = Gateway(header_names=names, recording=None, upstream=upstream)
    async with serve(gateway.app, lifespan=False) as url:
        await talk_to(url).whole("Hi")
        recording = await made(gateway)
    assert site.headers[0]["x-seatrial-seed"] == str(trial)
    assert site.asked == [{"messages": [{"role": "user", "content": "Hi"}], "model": "alias"}]
    assert recording.exchanges[0].request.body == site.asked[0]
    assert recording.upstream.parameters == parameters


@pytest.mark.parametrize("pieces", [["sk-0123456789"], ["sk-01", "2345", "6789"], ["c2stMDEy", "MzQ1Njc4OQ=="]])
async def test_a_recording_in_which_a_stream_said_a_credential_is_not_written(
    site: Site, recording_gateway: Recorder, made: Any, tmp_path: Path, pieces: list[str]
) -> None:
    site.stream("The key is ", *pieces, ".")
    async with recording_gateway(None) as (gateway, talk):
        await talk.stream("Which key?")
        recording = await made(gateway)
    path = tmp_path / "recording.json"
    with pytest.raises(RecordingWithheld, match="MODEL_KEY") as refused:
        write_recording(path, recording, secrets={"MODEL_KEY": "sk-0123456789"})
    assert "0123" not in str(refused.value)
    assert not path.exists()
    write_recording(path, recording, secrets={"MODEL_KEY": "another-key-9876"})
    assert load_recording(path) == recording


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
async def test_a_stream_is_replayed_however_its_bytes_came(
    size: int, line_end: bytes, site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    site.stream("Grüß ", "dich, 🌍", "\n!", size=size, line_end=line_end)
    async with recording_gateway(None) as (gateway, talk):
        live = await talk.stream("Hi")
        recording = await made(gateway)
    outcome = recording.exchanges[0].outcome
    assert isinstance(outcome, Stream) and len(outcome.events) == 6 and outcome.events[-1] == "[DONE]"
    async with replaying_gateway(recording) as (_, talk):
        assert await talk.stream("Hi") == live == ["Grüß ", "dich, 🌍", "\n!"]
    assert recording.exchanges[0].usage == Usage(input_tokens=7, output_tokens=3, cached_input_tokens=None)


async def test_the_agent_sees_a_recorded_stream_while_it_is_still_coming(
    site: Site, recording_gateway: Recorder
) -> None:
    site.stream("first", done=False, then="hang")
    async with recording_gateway(None) as (_, talk), asyncio.timeout(5):
        parts = talk.parts("Hi")
        assert await anext(parts) == "first"
        await parts.aclose()  # type: ignore[attr-defined]
        await site.left.wait()


async def test_a_compressed_answer_is_stored_decoded(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    site.whole("zipped words", zipped=True)
    async with recording_gateway(None) as (gateway, talk):
        assert await talk.whole("Hi") == "zipped words"
        recording = await made(gateway)
    outcome = recording.exchanges[0].outcome
    assert isinstance(outcome, Answer) and outcome.headers == {"content-type": "application/json"}
    async with replaying_gateway(recording) as (_, talk):
        assert await talk.whole("Hi") == "zipped words"


async def test_divergent_answers_to_one_request_keep_their_order(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    for text in ("one", "two", "three"):
        site.whole(text)
    async with recording_gateway(None) as (gateway, talk):
        live = [await talk.whole("Hi") for _ in range(3)]
        recording = await made(gateway)
    async with replaying_gateway(recording) as (gateway, talk):
        assert [await talk.whole("Hi") for _ in range(3)] == live == ["one", "two", "three"]
        assert [request.occurrence for request in gateway.requests] == [1, 2, 3]


async def test_equal_requests_at_once_never_share_an_answer(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    texts = [f"answer {number}" for number in range(8)]
    for text in texts:
        site.whole(text)
    async with recording_gateway(None) as (gateway, talk):
        live = await asyncio.gather(*(talk.whole("Hi") for _ in texts))
        recording = await made(gateway)
    assert sorted(live) == texts
    async with replaying_gateway(recording) as (gateway, talk):
        assert sorted(await asyncio.gather(*(talk.whole("Hi") for _ in texts))) == texts
        assert gateway.unused() == ()


async def test_a_slow_first_request_stays_first_in_the_recording(
    site: Site, recording_gateway: Recorder, made: Any
) -> None:
    gate = asyncio.Event()
    site.whole("slow", gate=gate)
    site.whole("quick")
    async with recording_gateway(None) as (gateway, talk):
        slow = asyncio.create_task(talk.whole("Hi"))
        await site.arrived.wait()
        assert await talk.whole("Hi") == "quick"
        gate.set()
        assert await slow == "slow"
        recording = await made(gateway)
    answers = [exchange.outcome.body["choices"][0]["message"]["content"] for exchange in recording.exchanges]
    assert answers == ["slow", "quick"]


async def test_a_client_that_left_is_recorded_and_held_until_it_leaves_again(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    site.raw(200, {}, [], "hang")
    async with recording_gateway(None) as (gateway, talk), asyncio.timeout(5):
        asking = asyncio.create_task(talk.whole("Hi"))
        await site.arrived.wait()
        asking.cancel()
        await site.left.wait()
        recording = await made(gateway)
    assert recording.exchanges[0].outcome == Aborted() and gateway.problems == ()
    async with replaying_gateway(recording) as (gateway, talk), asyncio.timeout(5):
        asking = asyncio.create_task(talk.whole("Hi"))
        while not gateway.served:
            await talk.client.models.list()  # each answer gives the held request time to arrive
        assert (gateway.in_flight, gateway.unused()) == (1, ())
        asking.cancel()
        await gateway.settle()


async def test_recording_again_asks_only_for_what_is_new(site: Site, recording_gateway: Recorder, made: Any) -> None:
    site.whole("kept")
    site.whole("dropped")
    async with recording_gateway(None) as (gateway, talk):
        await talk.whole("A")
        await talk.whole("B")
        older = await made(gateway)
    site.whole("new")
    async with recording_gateway(older) as (gateway, talk):
        assert [await talk.whole("A"), await talk.whole("C")] == ["kept", "new"]
        assert [request.source for request in gateway.requests] == ["recorded", "spent"]
        await gateway.settle()
        newer = gateway.recording_made(recorded_at="2031-01-01T00:00:00Z", trial=0, contracts={})
    assert len(site.asked) == 3
    kept, new = newer.exchanges
    assert kept.key == older.exchanges[0].key
    assert kept.origin is not None and kept.origin.recorded_at == "2030-01-01T00:00:00Z"
    assert (newer.recorded_at, new.origin) == ("2031-01-01T00:00:00Z", None)
    site.whole("newest")
    async with recording_gateway(newer) as (gateway, talk):
        assert [await talk.whole(text) for text in "ACD"] == ["kept", "new", "newest"]
        await gateway.settle()
        newest = gateway.recording_made(recorded_at="2032-01-01T00:00:00Z", trial=0, contracts={})
    dates = [exchange.origin and exchange.origin.recorded_at for exchange in newest.exchanges]
    assert dates == ["2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z", None]


async def test_recording_again_without_anything_new_changes_nothing(
    site: Site, recording_gateway: Recorder, made: Any
) -> None:
    site.whole("kept")
    async with recording_gateway(None) as (gateway, talk):
        await talk.whole("A")
        older = await made(gateway)
    async with recording_gateway(older) as (gateway, talk):
        await talk.whole("A")
        assert gateway.recording_made(
            recorded_at="2031-01-01T00:00:00Z", trial=0, contracts={"context.time": 1}
        ) == older  # fmt: skip


async def test_an_embedding_is_replayed(
    site: Site, recording_gateway: Recorder, replaying_gateway: Replayer, made: Any
) -> None:
    body = (
        b'{"object":"list","model":"e","data":[{"object":"embedding","index":0,"embedding":[0.25,-1e-7]}],'
        b'"usage":{"prompt_tokens":2,"total_tokens":2}}'
    )
    site.raw(200, {"content-type": "application/json"}, [body])
    async with recording_gateway(None) as (gateway, talk):
        await talk.client.embeddings.create(model="alias", input="words", encoding_format="float")
        recording = await made(gateway)
    async with replaying_gateway(recording) as (_, talk):
        answer = await talk.client.embeddings.create(model="alias", input="words", encoding_format="float")
    assert answer.data[0].embedding == [0.25, -1e-7]
    assert recording.exchanges[0].usage == Usage(input_tokens=2, output_tokens=0, cached_input_tokens=None)


async def test_models_are_the_aliases(recording_gateway: Recorder) -> None:
    async with recording_gateway(None) as (gateway, talk):
        assert [model.id async for model in await talk.client.models.list()] == ["alias"]
        assert gateway.served == 0
