"""The Python fixture, used as its users use it: in a pytest of its own, with a record and an exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from echo_process import echoing, environment
from invented_slack import SlackBinding

BINDING = "binding: invented_agent:InventedBinding\nroot: evals\n"
EVAL = """\
from seatrial import reply, web_message

async def test_it_repeats(run):
    conversation = await run(web_message("one"), history=[web_message("before"), reply("then")])
    assert [r.text for r in conversation.replies] == ["You said: one"]
    again = await conversation.continue_(web_message("two"))
    assert [r.text for r in again.replies] == ["You said: two"]
"""


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with echoing() as url:
        yield url


def run_eval(folder: Path, source: str, *options: str, binding: str = BINDING) -> tuple[int, dict[str, Any]]:
    (folder / "binding.yaml").write_text(binding)
    (folder / "test_eval.py").write_text(source)
    proof = folder / "proof.json"
    proof.write_text('{"policy": "required", "sealed": true}')
    arguments = ["-p", "seatrial.pytest_plugin", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", "-W", "ignore"]
    arguments += [f"--seatrial-binding={folder / 'binding.yaml'}", f"--seatrial-out={folder / 'out'}", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *arguments, str(folder / "test_eval.py")],
        cwd=folder,
        env={**environment(), "SEATRIAL_SEAL_PROOF": str(proof)},
        capture_output=True,
        text=True,
    )
    (record,) = (folder / "out").glob("*/record.json")
    return done.returncode, json.loads(record.read_text())


def record(folder: Path, model: str, source: str = EVAL, *, binding: str = BINDING) -> None:
    options = [f"--seatrial-upstream={model}", "--seatrial-recorded-at=2030-01-15T12:00:00Z"]
    code, made = run_eval(folder, source, *options, binding=binding)
    assert (code, made["verdict"]) == (0, "passed"), made
    (written,) = (folder / "out").glob("*/recording.json")
    name = written.parent.name
    (folder / f"test_eval.{name}.recording.json").write_bytes(written.read_bytes())


def test_a_new_eval_is_unrecorded_then_recorded_then_passes(tmp_path: Path, model: str) -> None:
    code, made = run_eval(tmp_path, EVAL)
    assert (code, made["verdict"]) == (12, "unrecorded")
    record(tmp_path, model)
    code, made = run_eval(tmp_path, EVAL)
    assert (code, made["verdict"], made["reason"]) == (0, "passed", "")
    assert [call["transcript"] for call in made["calls"]] == [
        [["person", "one"], ["agent", "You said: one"]],
        [["person", "two"], ["agent", "You said: two"]],
    ]
    assert {request["source"] for request in made["requests"]} == {"recorded"}


ON_SLACK = """\
from seatrial import slack_mention

async def test_it_repeats(run):
    conversation = await run(slack_mention("one"))
    assert [call.args["text"] for call in conversation.slack if call.method == "chat.postMessage"] == ["You said: one"]
"""
FAILING_ON_SLACK = """\
from seatrial import slack_mention

async def test_it_waits(agent):
    made = await agent(slack=True)
    made.fail_on_slack("chat.postMessage", error="ratelimited", retry_after=30)
    conversation = await made.run(slack_mention("one"))
    assert [call.error for call in conversation.slack if call.method == "chat.postMessage"] == ["ratelimited", None]
"""


@pytest.mark.parametrize("source", [ON_SLACK, FAILING_ON_SLACK])
def test_an_eval_talks_to_an_agent_on_slack(tmp_path: Path, model: str, source: str) -> None:
    binding = f"binding: {SlackBinding.__module__}:{SlackBinding.__name__}\nroot: evals\n"
    record(tmp_path, model, source, binding=binding)
    code, made = run_eval(tmp_path, source, binding=binding)
    assert (code, made["verdict"]) == (0, "passed"), made


def test_a_failed_assertion_is_failed_and_the_record_quotes_it(tmp_path: Path, model: str) -> None:
    record(tmp_path, model)
    code, made = run_eval(tmp_path, EVAL.replace('"You said: two"', '"You said: three"'))
    assert (code, made["verdict"]) == (13, "failed")
    assert "You said: three" in made["detail"]


def test_an_agent_that_swallows_the_miss_is_still_unrecorded(tmp_path: Path, model: str) -> None:
    record(tmp_path, model)
    source = EVAL.replace('web_message("two")', 'web_message("other")').replace("You said: two", "error")
    code, made = run_eval(tmp_path, source)
    assert (code, made["verdict"]) == (12, "unrecorded")
    assert "other" in made["detail"]


def test_an_answer_that_nobody_asked_for_is_stale(tmp_path: Path, model: str) -> None:
    record(tmp_path, model)
    code, made = run_eval(tmp_path, EVAL.split("    again")[0])
    assert (code, made["verdict"]) == (11, "stale")


def test_a_test_that_makes_no_agent_is_broken(tmp_path: Path) -> None:
    code, made = run_eval(tmp_path, "async def test_nothing(agent):\n    pass\n")
    assert (code, made["verdict"]) == (14, "broken")


def test_a_second_agent_in_one_test_is_refused(tmp_path: Path) -> None:
    code, made = run_eval(tmp_path, "async def test_two(agent):\n    await agent()\n    await agent()\n")
    assert (code, made["verdict"]) == (14, "broken")
    assert "one agent a test" in made["reason"]


def test_a_test_moves_the_agents_time_by_its_clock(tmp_path: Path, model: str) -> None:
    source = """\
from datetime import timedelta
from seatrial import web_message

async def test_time(agent):
    made = await agent()
    before = made.clock.now()
    made.clock.advance(90)
    assert made.clock.now() - before == timedelta(seconds=90)
    await made.run(web_message("one"))
"""
    record(tmp_path, model, source)
    assert run_eval(tmp_path, source)[0] == 0


NOTES = BINDING + "plugins: {notes: [agent.notes, evals.notes_setup]}\n"
SETUP = """\
from seatrial import reply, tool_call, web_message

async def test_setup(agent):
    made = await agent(plugins=["notes"])
    await made.insert_memory("launch on Friday")
    await made.insert_memory("launch party", about="riley")
    earlier = [web_message("before"), reply("then", tools=[tool_call("look_up", {"query": "old"}, "nothing")])]
    first = await made.run(web_message("look up launch"), history=earlier)
    assert [(c.name, c.status, c.input["query"]) for c in first.tool_calls] == [("look_up", "succeeded", "launch")]
    assert [r.text for r in first.replies] == ["You said: found launch on Friday (team), launch party (riley)"]
    second = await made.run(web_message("when"))
    made.clock.advance(60)
    third = await second.continue_(web_message("when"))
    assert [c.number for c in (first, second, third)] == [1, 2, 2]
    assert [r.text for r in third.replies] == ["You said: when: 2030-01-15 12:01, begun 2030-01-15 12:00"]
"""


def test_setup_data_tools_and_several_conversations_are_kept_in_the_record(tmp_path: Path, model: str) -> None:
    record(tmp_path, model, SETUP, binding=NOTES)
    code, made = run_eval(tmp_path, SETUP, binding=NOTES)
    assert (code, made["verdict"]) == (0, "passed")
    assert [call["conversation"] for call in made["calls"]] == [1, 2, 2]
    (call,) = made["calls"][0]["tool_calls"]
    assert (call["name"], call["status"], call["before"]) == ("look_up", "succeeded", 1)


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        ('plugins=["notes"]', "", "'memory' needs the plugin 'notes': add it"),
        ('plugins=["notes"]', 'plugins=["nots"]', "there is no plugin 'nots'; did you mean 'notes'?"),
        ('tool_call("look_up"', 'tool_call("look"', "there is no tool 'look'"),
    ],
)
def test_what_the_agent_cannot_have_is_invalid_and_says_what_to_change(
    tmp_path: Path, before: str, after: str, part: str
) -> None:
    assert before in SETUP
    code, made = run_eval(tmp_path, SETUP.replace(before, after), binding=NOTES)
    assert (code, made["verdict"]) == (15, "invalid")
    assert part in made["detail"]


def test_an_agent_that_cannot_be_made_ready_is_broken(tmp_path: Path) -> None:
    code, made = run_eval(tmp_path, EVAL, binding=BINDING.replace("InventedBinding", "NobodysBinding"))
    assert (code, made["verdict"]) == (14, "broken")
    assert "no class 'NobodysBinding'" in made["reason"]


def test_an_agent_whose_end_fails_is_broken_although_its_test_held(tmp_path: Path, model: str) -> None:
    record(tmp_path, model)
    code, made = run_eval(tmp_path, EVAL, binding=BINDING.replace("InventedBinding", "FailsWhenItStops"))
    assert (code, made["verdict"]) == (14, "broken")
    assert "did not stop cleanly" in made["reason"]


DURING = """\
from seatrial import ModelRequest, reply, web_message, web_stop

async def test_during(run):
    told = []

    async def steer(progress, actions):
        told.append(progress)
        if progress == ModelRequest(1):
            await actions.send(web_message("two"))

    async def stop(progress, actions):
        assert progress == ModelRequest(1)
        await actions.send(web_stop())

    earlier = reply("then")
    first = await run(web_message("one"), history=[web_message("before"), earlier], on_progress=steer)
    assert told == [ModelRequest(1), ModelRequest(2)]
    assert [r.text for r in first.replies] == ["You said: one / two"]
    second = await first.continue_(web_message("slow"), on_progress=stop)
    assert [turn.status for turn in second.turns] == ["no_reply"]
    third = await (await second.fork(earlier)).continue_(web_message("three"))
    assert [said.text for said in third.transcript] == ["three", "You said: three"]
"""


def test_a_test_looks_on_stops_and_forks_and_its_recording_holds_the_abort(tmp_path: Path, model: str) -> None:
    record(tmp_path, model, DURING)
    (kept,) = tmp_path.glob("*.recording.json")
    exchanges = json.loads(kept.read_text())["exchanges"]
    assert kept.name == "test_eval.test_during.recording.json"
    assert [e["outcome"]["kind"] for e in exchanges] == ["answer", "answer", "aborted_by_client", "answer"]
    code, made = run_eval(tmp_path, DURING)
    assert (code, made["verdict"]) == (0, "passed"), made
    assert [call["conversation"] for call in made["calls"]] == [1, 1, 2]


def test_what_a_handler_asserts_is_failed(tmp_path: Path, model: str) -> None:
    record(tmp_path, model, DURING)
    code, made = run_eval(tmp_path, DURING.replace("assert progress == ModelRequest(1)", "assert progress is None"))
    assert (code, made["verdict"]) == (13, "failed"), made
    assert "assert progress is None" in made["detail"]
