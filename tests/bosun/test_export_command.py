"""`python -m bosun conversation export`: a document on standard output or in a file, or one sentence and none."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from conftest import CountedIds, HandClock
from recorded_bench import CONVERSATION, begun, inbound, write_conversation
from sqlalchemy import text

from bosun.__main__ import main
from bosun.log.recorded import read_recorded
from bosun.log.store import ConversationLog
from bosun.stores.postgres import create_engine


@pytest.fixture
def store(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with one conversation in it, which the environment names."""
    monkeypatch.setenv("BOSUN_POSTGRES_URL", database_url)
    asyncio.run(_write(database_url))
    return database_url


async def _write(url: str, said: str | None = None) -> None:
    engine, clock = create_engine(url), HandClock()
    log = ConversationLog(engine, clock=clock, ids=CountedIds())
    if said is None:
        await write_conversation(log, clock)
    else:
        await log.commit_stop(CONVERSATION, [], "I stopped.")
        await log.commit_reply(await begun(log, clock, inbound("10", said, clock)), "I see.")
    await engine.dispose()


def test_the_document_goes_to_standard_output_and_what_was_done_to_standard_error(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that it can be piped."""
    assert main(["conversation", "export", CONVERSATION]) == 0
    out, told = capsys.readouterr()
    assert len(read_recorded(json.loads(out)).rows) > 20
    assert told.startswith("exported 5 turn(s) in ")
    assert "anna" not in (out + told).lower()


def test_a_file_is_written_whole_or_not_at_all(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was refused leaves the file that was there before, and says where it is wrong."""
    path = tmp_path / "conversation.json"
    assert main(["conversation", "export", CONVERSATION, "--out", str(path)]) == 0
    written = path.read_bytes()
    assert capsys.readouterr().out == ""
    asyncio.run(_write(store, "It is q7Zp2Lw9Xk4Vb8Nm3Rt6Yd1" + "Gh5Jf0."))
    assert main(["conversation", "export", CONVERSATION, "--out", str(path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("bosun: something in it looks like a credential: rows[")
    assert path.read_bytes() == written
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_exported_is_one_sentence(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A conversation that is not there, a row that is corrupt, a folder that is not there."""
    assert main(["conversation", "export", "web:none"]) == 2
    assert capsys.readouterr().err.startswith("bosun: there is no conversation 'web:none': its id is ")
    assert main(["conversation", "export", CONVERSATION, "--out", str(tmp_path / "no" / "x.json")]) == 2
    assert capsys.readouterr().err.startswith("bosun: [Errno 2] No such file or directory")
    asyncio.run(_damage(store))
    assert main(["conversation", "export", CONVERSATION]) == 2
    out, told = capsys.readouterr()
    assert (out, told.startswith("bosun: event 1 (message) of conversation ")) == ("", True)


async def _damage(url: str) -> None:
    engine = create_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE conversation_events SET payload = '{}' WHERE seq = 1"))
    await engine.dispose()
