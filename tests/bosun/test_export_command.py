"""`python -m bosun conversation export`: a document on standard output or in a file, or one sentence and none."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CountedIds, HandClock
from recorded_bench import CONVERSATION, begun, inbound, write_conversation
from sqlalchemy import text

from bosun.log.recorded import read_recorded
from bosun.log.store import ConversationLog
from bosun.stores.postgres import create_engine


@pytest.fixture
def store(database_url: str) -> str:
    """A store with one conversation in it."""
    asyncio.run(_write(database_url))
    return database_url


def export(store: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command on a store, as somebody at a terminal does."""
    environment = {"BOSUN_POSTGRES_URL": store, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "bosun", "conversation", "export", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


async def _write(url: str, said: str | None = None) -> None:
    engine, clock = create_engine(url), HandClock()
    log = ConversationLog(engine, clock=clock, ids=CountedIds())
    if said is None:
        await write_conversation(log, clock)
    else:
        await log.commit_stop(CONVERSATION, [], "I stopped.")
        await log.commit_reply(await begun(log, clock, inbound("10", said, clock)), "I see.")
    await engine.dispose()


def test_the_document_goes_to_standard_output_and_what_was_done_to_standard_error(store: str) -> None:
    """So that it can be piped."""
    done = export(store, CONVERSATION)
    assert done.returncode == 0
    assert len(read_recorded(json.loads(done.stdout)).rows) > 20
    assert done.stderr.startswith("exported 5 turn(s) in ")
    assert "anna" not in (done.stdout + done.stderr).lower()


def test_a_file_is_written_whole_or_not_at_all(store: str, tmp_path: Path) -> None:
    """What was refused leaves the file that was there before, and says where it is wrong."""
    path = tmp_path / "conversation.json"
    done = export(store, CONVERSATION, "--out", str(path))
    assert (done.returncode, done.stdout) == (0, "")
    written = path.read_bytes()
    asyncio.run(_write(store, "It is q7Zp2Lw9Xk4Vb8Nm3Rt6Yd1" + "Gh5Jf0."))
    refused = export(store, CONVERSATION, "--out", str(path))
    assert refused.returncode == 2
    assert refused.stderr.startswith("bosun: something in it looks like a credential: rows[")
    assert path.read_bytes() == written
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_exported_is_one_sentence(store: str, tmp_path: Path) -> None:
    """A conversation that is not there, a folder that is not there, a row that is corrupt."""
    absent = export(store, "web:none")
    assert (absent.returncode, absent.stdout) == (2, "")
    assert absent.stderr.startswith("bosun: there is no conversation 'web:none': its id is ")
    nowhere = export(store, CONVERSATION, "--out", str(tmp_path / "no" / "x.json"))
    assert nowhere.returncode == 2
    assert nowhere.stderr.startswith("bosun: [Errno 2] No such file or directory")
    asyncio.run(_damage(store))
    corrupt = export(store, CONVERSATION)
    assert (corrupt.returncode, corrupt.stdout) == (2, "")
    assert corrupt.stderr.startswith("bosun: event 1 (message) of conversation ")


async def _damage(url: str) -> None:
    engine = create_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE conversation_events SET payload = '{}' WHERE seq = 1"))
    await engine.dispose()
