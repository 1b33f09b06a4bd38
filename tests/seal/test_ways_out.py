"""The self-test of the seal: every way out is tried from inside, and ends as it has to.

The ways are in `ways_network`, `ways_files` and `ways_processes`, each with the errors that it may end in; this file
tries each in a seal of its own, against listeners, processes and shared memory that really are outside. What the seal
leaves open, and why no data of the outside comes by it:

| open | why |
|---|---|
| files and named pipes that the caller may use | the caller's own file system, as the build gives it |
| a Unix socket bound after the seal began, but in /run, /dev and private folders | the proof says so |
| another name (a hard link) of a socket that is covered | nothing lists it; the proof names the socket |
| a pair of stream sockets as a standard stream | ends at whoever started the seal, who may do all that anyhow |
| user and network namespaces of one's own | a seal in a seal needs them; what they give is as empty |
| shared memory, tracing, signals, `/proc` | among the command's own processes |
| the names of keys in `/proc/keys` | the calls that read keys are refused |
| an outer seal's process numbers and command lines, where that is root's | nothing of them can be opened |
"""

from __future__ import annotations

import json
import os
import pty
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import surroundings
import ways
from attempt import OUT, World, try_way


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with surroundings.made() as world:
        yield world


def inside(seal: Any, name: str, world: World) -> Any:
    """Try a way inside a seal whose caller has left the world's descriptors open."""
    command = [sys.executable, str(ways.PROGRAM), name, json.dumps(world.as_data())]
    return seal.run(*command, pass_fds=world.descriptors)


@pytest.mark.parametrize("name", list(ways.ALL))
def test_a_way_out_ends_in_its_error(seal: Any, world: World, name: str) -> None:
    done = inside(seal, name, world)
    assert done.status == 0, done.errors
    assert done.output.rstrip("\n") in ways.ALL[name].ends


def test_there_are_enough_ways_to_say_something() -> None:
    assert len(ways.ALL) >= 60
    assert not [way.name for way in ways.ALL.values() if OUT in way.ends or not way.ends]


@pytest.mark.parametrize(
    "name",
    [
        "what listens on the loopback interface outside",
        "one through a symbolic link",
        "one without a path",
        "a descriptor that is sent over one of them",
        "descriptors that the caller left open",
        "System V shared memory",
        "a message queue",
        "shared memory with a name",
        "a signal to an outside process",
        "the terminal of the caller, by its path",
        "the network namespace of the outside, seen as one's own",
    ],
)
def test_where_there_is_no_seal_the_same_way_is_open(world: World, name: str) -> None:
    """What the first test looks for is the seal's doing: here, at the outside, the ways lead somewhere."""
    assert try_way(name, world) == OUT


FROM = {
    "the main thread": "out()",
    "a thread": "import threading; t = threading.Thread(target=out); t.start(); t.join()",
    "a handler of a signal": "import os, signal; signal.signal(10, lambda *_: out()); os.kill(os.getpid(), 10)",
    "the end of the interpreter": "import atexit; atexit.register(out)",
    "an object's end": "class Last:\n    def __del__(self): out()\nlast = Last(); del last",
    "a child": "import os; pid = os.fork(); out() if pid == 0 else os.waitpid(pid, 0)",
    "a program": "import subprocess, sys; subprocess.run([sys.executable, '-c', text], check=True)",
    "a program in a session of its own": (
        "import subprocess, sys; subprocess.run([sys.executable, '-c', text], start_new_session=True)"
    ),
    "a pool's process": (
        "import multiprocessing as m; p = m.get_context('fork').Process(target=out); p.start(); p.join()"
    ),
    "an asynchronous program": (
        "import asyncio, sys\n"
        "async def run(): await (await asyncio.create_subprocess_exec(sys.executable, '-c', text)).wait()\n"
        "asyncio.run(run())"
    ),
    "a plugin of pytest": (
        "import pytest\n"
        "class Plugin:\n    def pytest_sessionfinish(self): out()\n"
        "pytest.main(['--collect-only', '-qqq', '-p', 'no:cacheprovider', '-c', '/dev/null', '/dev/null/x'],"
        " plugins=[Plugin()])"
    ),
    "C, by libc": (
        "import ctypes, errno, os, socket, struct\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "address = struct.pack('=H', 2) + struct.pack('!H4s8x', 80, socket.inet_aton('192.0.2.1'))\n"
        "ended = libc.connect(libc.socket(2, 1, 0), address, 16)\n"
        "say('out' if ended == 0 else errno.errorcode[ctypes.get_errno()])"
    ),
}
START = """
import errno, os, socket
def say(word):
    os.write(2, (word + chr(10)).encode())
def out():
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=60)
        say("out")
    except OSError as error:
        say(errno.errorcode.get(error.errno, repr(error)))
"""


@pytest.mark.parametrize("place", list(FROM))
def test_it_makes_no_difference_from_where_it_is_tried(seal: Any, place: str) -> None:
    text = START + "out()"
    done = seal.python(f"text = {text!r}\n{START}\n{FROM[place]}")
    # A packet that had left would have ended in a time-out instead.
    assert [line for line in done.errors.splitlines() if line in ("out", "ENETUNREACH")] == ["ENETUNREACH"], done.output


def test_a_daemon_that_outlives_its_parents_ends_with_the_seal(seal: Any) -> None:
    done = seal.python(
        "import os, signal\n"
        "heard, said = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]\n"
        "        print('up', flush=True); os.write(said, b'!'); signal.pause()\n"
        "    os._exit(0)\n"
        "os.read(heard, 1)\n"
    )
    # The output ends when nobody is left to write, and the daemon would write for ever.
    assert (done.output, done.status) == ("up\n", 0)


def refused_as_standard_input(seal: Any, stream: Any) -> None:
    done = seal.run("true", stdin=stream)
    assert (done.status, done.files) == (16, ["record.json"])
    assert "standard streams that lead outside: 0" in done.record["reason"]


def test_with_a_folder_as_standard_input_nothing_runs(seal: Any, tmp_path: Path) -> None:
    """It would be a way around every cover. Python itself does not start with one."""
    folder = os.open("/", os.O_RDONLY)
    done = seal.run("touch", str(tmp_path / "ran"), stdin=folder)
    os.close(folder)
    assert done.status != 0 and not (tmp_path / "ran").exists()


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_a_socket_that_can_still_be_connected_is_no_standard_input(seal: Any, kind: socket.SocketKind) -> None:
    with socket.socket(socket.AF_UNIX, kind) as stream:
        refused_as_standard_input(seal, stream)


def test_a_connection_to_a_service_is_no_standard_input(seal: Any, world: World) -> None:
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(world.sockets[0])
        refused_as_standard_input(seal, stream)


@pytest.mark.parametrize("kind", [socket.SOCK_DGRAM, socket.SOCK_SEQPACKET])
def test_a_pair_that_sends_to_any_name_is_no_standard_input(seal: Any, kind: socket.SocketKind) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
    with ours, theirs:
        refused_as_standard_input(seal, theirs)


def test_a_pair_of_streams_and_a_terminal_are_standard_streams_like_any(seal: Any) -> None:
    ours, theirs = socket.socketpair()
    leader, follower = pty.openpty()
    with ours, theirs:
        assert (seal.run("true", stdin=theirs).status, seal.run("true", stdin=follower).status) == (0, 0)
    os.close(leader)
    os.close(follower)


def test_a_socket_with_a_second_name_is_told_of(seal: Any, world: World) -> None:
    second = Path(world.sockets[0] + "2")
    second.hardlink_to(world.sockets[0])
    left = seal.run("true").proof["sockets_not_hidden"]
    second.unlink()
    assert world.sockets[0] in left
    assert world.sockets[0] not in seal.run("true").proof["sockets_not_hidden"]
