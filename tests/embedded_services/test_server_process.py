"""Servers end with the process that started them, and a start that fails leaves none."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import embedded_services
from embedded_services import ServiceError
from embedded_services.process import ServerProcess

Watch = Callable[..., Callable[..., list[int]]]

SOURCES = Path(embedded_services.__file__).parent.parent

HOST = """
import sys, threading
from pathlib import Path
import psycopg
from embedded_services import Postgres, Valkey
place, cluster, durable = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "durable"
servers = []
def start():
    servers.append(Postgres.start(cluster, place / "sockets", durable=durable))
    servers.append(Valkey.start(place / "valkey", place / "sockets" / "valkey", durable=durable))
thread = threading.Thread(target=start)
thread.start()
thread.join()
connection = psycopg.connect(servers[0].url())
print(*(server.pid for server in servers), connection.info.backend_pid, flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("durability", ["durable", "fleeting"])
@pytest.mark.parametrize("end", ["killed", "returned"])
def test_servers_end_with_the_process_that_started_them(
    place: Path, cluster: Path, durability: str, end: str, watch: Watch
) -> None:
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(place), str(cluster), durability],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])},
        text=True,
    )
    with host:
        assert host.stdin is not None and host.stdout is not None
        left = watch(*(int(pid) for pid in host.stdout.readline().split()))
        if end == "killed":
            host.kill()
        else:
            host.stdin.write("\n")
            host.stdin.flush()
        assert left() == []
    assert list((place / "sockets").iterdir()) == []


def test_a_server_that_never_becomes_ready_is_killed_and_its_log_shown() -> None:
    with pytest.raises(
        ServiceError, match=r"Slow was not ready within 0\.2 s and was killed(.|\n)*pid [0-9]+"
    ) as caught:
        ServerProcess.start(
            "Slow",
            ["/bin/sh", "-c", "echo pid $$; exec sleep 1000"],
            ready_line="ready",
            death_signal=signal.SIGKILL,
            environment={"PATH": "/usr/bin:/bin"},
            seconds=0.2,
        )
    pid = int(str(caught.value).split("pid ")[1].split()[0])
    assert not Path(f"/proc/{pid}").exists()


def test_only_the_end_of_a_long_log_is_kept() -> None:
    with pytest.raises(ServiceError) as caught:
        ServerProcess.start(
            "Wordy",
            ["/bin/sh", "-c", "seq 1 500; exit 3"],
            ready_line="ready",
            death_signal=signal.SIGKILL,
            environment={"PATH": "/usr/bin:/bin"},
        )
    lines = [line.strip() for line in str(caught.value).splitlines() if line.startswith("  ")]
    assert lines == [str(number) for number in range(451, 501)]
    assert "Wordy ended with status 3 before it was ready." in str(caught.value)


def test_a_server_that_ignores_the_request_to_stop_is_killed_and_said_so(watch: Watch) -> None:
    server = ServerProcess.start(
        "Deaf",
        ["/bin/sh", "-c", "trap '' TERM; echo ready; while :; do read line; done < /dev/zero"],
        ready_line="ready",
        death_signal=signal.SIGKILL,
        environment={"PATH": "/usr/bin:/bin"},
    )
    left = watch(server.pid)
    with pytest.raises(ServiceError, match=r"Deaf did not stop within 0\.2 s of SIGTERM and was killed"):
        server.stop(signal.SIGTERM, seconds=0.2)
    assert left(seconds=0) == []
    server.stop(signal.SIGTERM)


def test_a_missing_program_is_an_error_of_the_service() -> None:
    with pytest.raises(ServiceError, match=r"Absent could not be started: .*'/nonexistent'"):
        ServerProcess.start("Absent", ["/nonexistent"], ready_line="", death_signal=signal.SIGKILL, environment={})


def test_the_end_of_a_server_that_nobody_stopped_is_told_with_the_end_of_its_log_and_its_cure() -> None:
    ends: queue.Queue[ServiceError] = queue.Queue()
    server = ServerProcess.start(
        "Mortal",
        ["/bin/sh", "-c", "echo ready; seq 1 30; echo no room; exit 3"],
        ready_line="ready",
        death_signal=signal.SIGKILL,
        environment={"PATH": "/usr/bin:/bin"},
        cures={"no room": "Make room."},
        on_end=ends.put,
    )
    said = str(ends.get()).splitlines()
    assert said[0] == "Mortal ended with status 3, and nobody had asked it to."
    assert [line.strip() for line in said if line.startswith("  ")] == [*(str(n) for n in range(22, 31)), "no room"]
    assert said[-1] == "Make room."
    server.stop(signal.SIGTERM)


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_the_end_of_a_server_that_was_asked_to_end_is_not_told(end: str) -> None:
    ends: list[ServiceError] = []
    server = ServerProcess.start(
        "Willing",
        ["/bin/sh", "-c", "echo ready; exec sleep 1000"],
        ready_line="ready",
        death_signal=signal.SIGKILL,
        environment={"PATH": "/usr/bin:/bin"},
        on_end=ends.append,
    )
    if end == "stop":
        server.stop(signal.SIGTERM)
    else:
        server.kill()
    assert ends == []
