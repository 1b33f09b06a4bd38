"""`serve` without one of its own stores could only refuse: it ends, and says which store, why and what to do."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis import Redis
from small_disk import small_disk

WHO = ("--actor", "ada", "--name", "Ada", "--account", "a", "--scope", "conversations:write")


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A place that PostgreSQL's user can come to, with a name short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="bosun-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@dataclass
class Serving:
    """The command, while it runs."""

    process: subprocess.Popen[str]
    port: int
    environment: dict[str, str]

    def ended(self) -> tuple[int, str]:
        """Wait for its end. Return its status and what it said in the end."""
        _, said = self.process.communicate()
        begin = said.rfind("\nbosun: ")
        assert begin >= 0, said
        return self.process.returncode, said[begin + 1 :]


def serve(data_dir: Path) -> Serving:
    """Start the command and wait until it answers people."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BOSUN_")}
    environment = {
        **kept,
        "PYTHONPATH": os.pathsep.join(part for part in sys.path if part),
        "BOSUN_DATA_DIR": str(data_dir),
        "BOSUN_MODEL_URL": "http://127.0.0.1:9/v1",
        "BOSUN_PORT": "0",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "bosun", "serve"], env=environment, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        if found := re.search(r"running on http://127\.0\.0\.1:(\d+)", line):
            return Serving(process, int(found[1]), environment)
        said += line
    raise AssertionError(said)


def valkey_of(data_dir: Path) -> Redis:
    """Connect to the store beside the command."""
    return Redis(unix_socket_path=str(data_dir / "run" / "valkey.sock"))


def test_a_killed_postgresql_ends_the_command_and_the_next_start_works(data_dir: Path) -> None:
    """It ends in order: the other store is stopped, and a signal still ends the next one with success."""
    running = serve(data_dir)
    os.kill(int((data_dir / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    status, said = running.ended()
    assert status == 2
    assert said.startswith(f"bosun: PostgreSQL on '{data_dir}/postgres' ended by signal 9, and nobody had asked it to.")
    assert "database system is ready to accept connections" in said
    assert said.endswith("\n\nStart again. If this repeats, its log says why, or the system's does.\n")
    assert not (data_dir / "run" / "valkey.sock").exists()
    again = serve(data_dir)
    again.process.terminate()
    again.process.communicate()
    assert again.process.returncode == 0


def test_a_killed_valkey_ends_the_command(data_dir: Path) -> None:
    """PostgreSQL is stopped in order."""
    running = serve(data_dir)
    with valkey_of(data_dir) as valkey:
        os.kill(valkey.info("server")["process_id"], signal.SIGKILL)
    status, said = running.ended()
    assert status == 2
    name = f"bosun: Valkey on '{data_dir}/run/valkey.sock'"
    assert said.startswith(f"{name} ended by signal 9, and nobody had asked it to.\n\nThe end of its log:\n")
    assert not (data_dir / "postgres" / "postmaster.pid").exists()


def test_a_store_that_ends_because_its_disk_is_full_ends_the_command_and_the_disk_is_named(data_dir: Path) -> None:
    """What people were told was accepted is there at the next start."""
    with small_disk(4) as disk:
        (data_dir / "valkey").symlink_to(disk.folder, target_is_directory=True)
        running = serve(data_dir)
        disk.fill()
        accepted = begin_until_refused(running)
        status, said = running.ended()
        assert status == 2
        assert said.startswith(f"bosun: Valkey on '{data_dir}/run/valkey.sock' ended with status 1, ")
        assert "No space left on device" in said or "Short write while writing to the AOF file" in said
        assert said.endswith(f"\n\nFree space on the disk of '{data_dir}/valkey', then start again.\n")
        disk.free()
        again = serve(data_dir)
        with valkey_of(data_dir) as valkey:
            kept = b" ".join(valkey.scan_iter("*", count=10_000)).decode()
        again.process.terminate()
        again.process.communicate()
        assert all(conversation in kept for conversation in accepted)


def begin_until_refused(running: Serving) -> list[str]:
    """Begin conversations until one is not accepted. Return those that were."""
    made = subprocess.run(
        [sys.executable, "-m", "bosun", "token", "create", *WHO],
        env=running.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    accepted: list[str] = []
    while True:
        request = urllib.request.Request(
            f"http://127.0.0.1:{running.port}/api/conversations",
            data=json.dumps({"idempotencyKey": f"k{len(accepted)}", "message": "m" * 1000}).encode(),
            headers={"Authorization": f"Bearer {made.stdout.strip()}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request) as answer:
                accepted.append(json.load(answer)["conversationId"])
        except (urllib.error.URLError, ConnectionError):
            return accepted
