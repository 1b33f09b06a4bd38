"""Ways to cheat and to break: each is one edit, and each ends in another verdict than passed, which names its cause."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sabotage import Edit, copy_of_the_repository, verdict_of

CASES = "evals/integration"
THINKING = "src/bosun/turn/thinking.py"
STANDARD = 'Route(profile="standard", reasoning="medium", confidence=1, reason="", by="rule")'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_the_repository(tmp_path_factory.mktemp("repository"))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the database's template is kept, which no edit here changes."""
    return tmp_path_factory.mktemp("cache")


WAYS: dict[str, tuple[str, Edit, str, str]] = {
    "the guardian is dropped": (
        "remembers_across_conversations",
        Edit(
            "src/bosun/turn/tool_calls.py",
            "        decision = await self._decide(work, progress, owned, given)\n",
            '        decision = Decision("allow", "low", "nobody looked", "rule")\n',
        ),
        "failed",
        "guardian.reviewed",
    ),
    "the router is skipped": (
        "normal_account",
        Edit(THINKING, "                route = await self._route(work)\n", f"                route = {STANDARD}\n"),
        "failed",
        "turn.routed",
    ),
    "the router is skipped and says that it was not": (
        "normal_account",
        Edit(
            THINKING,
            "        route = await self._router.decide(RouteProposal("
            "asked=work.words, conversation_id=turn.conversation_id))\n",
            f"        route = {STANDARD}\n",
        ),
        "stale",
        "role router",
    ),
    "the assembler is skipped": (
        "normal_account",
        Edit(
            THINKING,
            "            messages=prompt.messages,\n",
            '            messages=tuple(type(prompt.messages[0])("user", said.message.text) for said in stream),\n',
        ),
        "unrecorded",
        "role agent",
    ),
    "a block is left out of the prompt": (
        "day_by_frozen_clock",
        Edit("src/bosun/context/assembler.py", "            time_block(now, self._calendar),\n", ""),
        "unrecorded",
        "role agent",
    ),
    "the machine's clock is used": (
        "day_by_frozen_clock",
        Edit(
            "src/bosun/context/assembler.py",
            "        now = self._clock.now()\n",
            "        import datetime as real\n        now = real.datetime.now(real.UTC)\n",
        ),
        "unrecorded",
        "role agent",
    ),
    "the model is not asked": (
        "normal_account",
        Edit(
            THINKING,
            "            answer = await self._answer(request, work)\n",
            '            return Answered("You are on the active plan.")\n',
        ),
        "failed",
        "model.requested",
    ),
    "history is not read": (
        "recall_from_history",
        Edit(
            THINKING,
            "                history=tuple(placed.message for placed in stream),\n",
            "                history=tuple(placed.message for placed in stream[-1:]),\n",
        ),
        "unrecorded",
        "role agent",
    ),
    "a tool's result is made up": (
        "remembers_across_conversations",
        Edit(
            "src/bosun/turn/tool_calls.py",
            '            return "succeeded", storable(await tool.run(context, arguments))\n',
            '            return "succeeded", "Kept."\n',
        ),
        "unrecorded",
        "role agent",
    ),
    "what comes while a turn runs is not read": (
        "steers_a_running_turn",
        Edit("src/bosun/turn/thinking.py", "        if not waiting:\n            return\n", "        return\n"),
        "",
        "",
    ),
    "a stop is not told": (
        "stops_a_running_turn",
        Edit(
            "src/bosun/log/store.py",
            'said = [self._from_bosun(turn, "notice", notice), AssistantMessage(turn_id=turn.id, text=notice)]',
            "said = [AssistantMessage(turn_id=turn.id, text=notice)]",
        ),
        "failed",
        "replies.count",
    ),
    "a failed request is not made again": (
        "provider_rate_limit_passes",
        Edit("src/bosun/model/errors.py", '{"rate_limit", "capacity", "timeout", "network", "server"}', "set()"),
        "unrecorded",
        "status DOES NOT HOLD",
    ),
    "a failed request is made again for ever": (
        "provider_is_overloaded_twice",
        Edit(
            "src/bosun/model/client.py",
            "        await self._timer.sleep(wait)\n        return await self._ask(request)\n",
            "        await self._timer.sleep(wait)\n        return await self.complete(request)\n",
        ),
        "unrecorded",
        "role agent",
    ),
    "the provider's words are shown": (
        "provider_refuses_the_key",
        Edit(
            "src/bosun/turn/delivery.py",
            "outcome.kind, SENTENCES[outcome.kind], usage)",
            'outcome.kind, "The provider says: bad key", usage)',
        ),
        "failed",
        "replies.contain",
    ),
    "nothing is summarized": (
        "compacts_what_does_not_fit",
        Edit(
            "src/bosun/turn/compaction.py",
            "        return request_tokens(messages, tools) > FULL * self._window\n",
            "        return False\n",
        ),
        "unrecorded",
        "role agent",
    ),
    "a summary is asked for and not used": (
        "compacts_what_does_not_fit",
        Edit(
            "src/bosun/log/history.py",
            "    replacement = _replacement(stored, changes)\n",
            "    replacement = None\n",
        ),
        "",
        "",
    ),
    "a reply goes out twice": (
        "slack_mention_is_answered",
        Edit(
            "src/bosun/slack/delivery.py",
            "                        await self._client.call(_post(thread, part, key, number, len(parts)))\n",
            "                        await self._client.call(_post(thread, part, key, number, len(parts)))\n"
            "                        await self._client.call(_post(thread, part, key, number, len(parts)))\n",
        ),
        "failed",
        "chat.postMessage",
    ),
    "a title is made up": (
        "slack_title_in_assistant_thread",
        Edit("src/bosun/model/titles.py", "    title = tidy_title(answer.text)\n", '    title = "A conversation"\n'),
        "failed",
        "",
    ),
    "a contract changes its meaning": (
        "normal_account",
        Edit("src/bosun/context/blocks.py", '"account": 1,', '"account": 2,'),
        "stale",
        "context.account",
    ),
}


@pytest.mark.parametrize("case", sorted({case for case, *_ in WAYS.values()}))
def test_the_copy_itself_passes(place: Path, cache: Path, case: str) -> None:
    """Otherwise the verdicts below would say nothing."""
    record = verdict_of(f"{CASES}/{case}.yaml", place, cache)
    assert record["verdict"] == "passed", record["printed"]


@pytest.mark.parametrize("way", WAYS)
def test_no_way_passes(place: Path, cache: Path, way: str) -> None:
    case, edit, verdict, named = WAYS[way]
    record = verdict_of(f"{CASES}/{case}.yaml", place, cache, edit)
    assert record["verdict"] != "passed"
    assert verdict in ("", record["verdict"]), record["printed"]
    assert record["reason"]
    assert named in record["printed"], record["printed"]


def words_of_the_model(text: str) -> str:
    return text.replace("active", "trial", 1)


def digest_of_another(text: str) -> str:
    start = text.rindex('"digest": "') + len('"digest": "')
    return text[:start] + "0" * 64 + text[start + 64 :]


def the_last_lines_lost(text: str) -> str:
    return text[: len(text) // 2]


@pytest.mark.parametrize("change", [words_of_the_model, digest_of_another, the_last_lines_lost])
def test_an_edited_recording_is_broken(place: Path, cache: Path, change: Callable[[str], str]) -> None:
    path = place / CASES / "normal_account.recording.json"
    before = path.read_text(encoding="utf-8")
    try:
        path.write_text(change(before), encoding="utf-8")
        record = verdict_of(f"{CASES}/normal_account.yaml", place, cache)
    finally:
        path.write_text(before, encoding="utf-8")
    assert record["verdict"] == "broken"
    assert "normal_account.recording.json" in record["printed"]
