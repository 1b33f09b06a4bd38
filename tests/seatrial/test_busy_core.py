"""A core that is kept busy: somebody counts while the block runs, and nobody does afterwards."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

from seatrial.busy_core import busy_core

PROGRAM = """\
import os, sys
from seatrial.busy_core import busy_core
with busy_core():
    print("busy", flush=True)
    sys.stdin.read()
"""


def children(process: int) -> list[int]:
    told = Path(f"/proc/{process}/task/{process}/children")
    return [int(word) for word in told.read_text().split()]


def ticks(process: int) -> int:
    """How much processor time a process has had, in the kernel's own unit."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])


def test_a_process_counts_while_the_block_runs_and_is_gone_after_it() -> None:
    before = set(children(os.getpid()))
    with busy_core():
        (counting,) = set(children(os.getpid())) - before
        start = ticks(counting)
        while ticks(counting) < start + 5:
            pass
    assert set(children(os.getpid())) == before


def test_nothing_is_started_where_it_is_not_wanted() -> None:
    before = children(os.getpid())
    with busy_core(wanted=False):
        assert children(os.getpid()) == before


def test_who_counts_ends_with_a_parent_that_is_killed() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    parent = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert parent.stdin is not None and parent.stdout is not None
    assert parent.stdout.readline() == b"busy\n"
    (counting,) = children(parent.pid)
    watched = os.pidfd_open(counting)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert select.select([watched], [], [], 60)[0] == [watched]  # readable: it has ended
    parent.stdin.close()
    parent.stdout.close()
    os.close(watched)
