"""What a sealed command has to be able to do, and what only it may see."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

KERNEL = Path(__file__).parents[2] / "build-support" / "seal"
ECHO = """
import socket, sys
def echo(server, client):
    client.sendall(b"hello")
    print(server.accept()[0].recv(5).decode())
"""
WORKS = {
    "loopback": ECHO + "s = socket.create_server(('127.0.0.1', 0)); echo(s, socket.create_connection(s.getsockname()))",
    "loopback by its name": ECHO
    + "s = socket.create_server(('localhost', 0))\n"
    + "echo(s, socket.create_connection(('localhost', s.getsockname()[1])))",
    "loopback's second address": ECHO
    + "s = socket.create_server(('127.0.0.2', 0)); echo(s, socket.create_connection(s.getsockname()))",
    "loopback by IPv6": ECHO
    + "s = socket.create_server(('::1', 0), family=socket.AF_INET6)\n"
    + "c = socket.socket(socket.AF_INET6); c.connect(s.getsockname()[:2]); echo(s, c)",
    "a socket of its own": ECHO
    + "import tempfile; path = tempfile.mkdtemp() + '/s'; s = socket.socket(socket.AF_UNIX); s.bind(path); s.listen()\n"
    + "c = socket.socket(socket.AF_UNIX); c.connect(path); echo(s, c)",
    "a socket of its own without a path": ECHO
    + "s = socket.socket(socket.AF_UNIX); s.bind(chr(0) + 'mine'); s.listen()\n"
    + "c = socket.socket(socket.AF_UNIX); c.connect(chr(0) + 'mine'); echo(s, c)",
    "a pair of sockets": "import socket; a, b = socket.socketpair(); a.send(b'hello'); print(b.recv(5).decode())",
    "processes": (
        "import multiprocessing as m\n"
        "with m.get_context('fork').Pool(2) as pool: print(pool.map(str.lower, ['HELLO'])[0])"
    ),
    "shared memory": (
        "from multiprocessing.shared_memory import SharedMemory as S\n"
        "a = S(create=True, size=5); a.buf[:5] = b'hello'; b = S(a.name); print(bytes(b.buf[:5]).decode()); a.unlink()"
    ),
    "asynchronous programs": (
        "import asyncio\n"
        "async def run():\n"
        "    p = await asyncio.create_subprocess_exec('echo', 'hello', stdout=-1)\n"
        "    print((await p.communicate())[0].decode().strip())\n"
        "asyncio.run(run())"
    ),
    "a terminal": (
        "import os, pty, tty\n"
        "a, b = pty.openpty(); tty.setraw(b); os.write(os.open(os.ttyname(b), os.O_RDWR), b'hello')\n"
        "print(os.read(a, 5).decode())"
    ),
    "devices that hold nothing": (
        "import os\n"
        "open('/dev/null', 'w').write('x'); assert open('/dev/zero', 'rb').read(2) == bytes(2)\n"
        "assert len(open('/dev/urandom', 'rb').read(9)) == 9; print('hello', file=open('/dev/stdout', 'w'))"
    ),
    "how many processors there are": "import os; print('hello' if (os.cpu_count() or 0) > 0 else os.cpu_count())",
}


@pytest.mark.parametrize("what", list(WORKS))
def test_it_works_inside(seal: Any, what: str) -> None:
    done = seal.python(WORKS[what])
    assert (done.output, done.status) == ("hello\n", 0), done.errors


def test_a_private_folder_begins_empty_and_nothing_of_it_is_outside(seal: Any, tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    (private / "outer").touch()
    done = seal.run("sh", "-c", "ls && touch inner && ls", cwd=private, private=(private,))
    assert (done.output, done.proof["private_folders"]) == ("inner\n", 1)
    assert sorted(os.listdir(private)) == ["outer"]


def test_another_seal_reaches_no_socket_in_a_private_folder(seal: Any, tmp_path: Path) -> None:
    """Two cases at one time: each has stores, whose sockets lie in its own sandbox."""
    server = (
        "import socket, sys\n"
        "s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()\n"
        "print('ready', flush=True); sys.stdin.read()"
    )
    client = (
        "import errno, socket, sys\n"
        "try: socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('reached')\n"
        "except OSError as error: print(errno.errorcode[error.errno])\n"
    )
    seen = []
    for private in ((tmp_path / "first",), ()):
        (tmp_path / "first").mkdir(exist_ok=True)
        seal.directory.mkdir(exist_ok=True)
        path = str(tmp_path / "first" / "s")
        argv = seal.argv(sys.executable, "-c", server, path, private=private)
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
            assert first.stdout is not None and first.stdout.readline() == "ready\n"
            other = type(seal)(tmp_path / "other")
            seen.append(other.python(client, path).output)
            first.communicate()
    assert seen == ["ENOENT\n", "reached\n"]


# Root of namespaces of its own mounts a folder or a socket a second time, and starts the seal there.
MOUNTING = """
import os, sys
sys.path.insert(0, sys.argv[1])
import kernel
user, group = os.getuid(), os.getgid()
kernel.unshare(kernel.NEW_USERS | kernel.NEW_MOUNTS | (kernel.NEW_NETWORK if sys.argv[2] == "apart" else 0))
for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
kernel.mount(sys.argv[3], sys.argv[4], None, kernel.BIND)
os.execvp(sys.argv[5], sys.argv[5:])
"""
CONNECT = """
import errno, socket, sys
for path in sys.argv[1:]:
    try: socket.socket(socket.AF_UNIX).connect(path); print('reached')
    except OSError as error: print(errno.errorcode[error.errno])
"""


def test_a_socket_is_hidden_wherever_its_file_system_is_mounted(seal: Any, tmp_path: Path) -> None:
    place, again = tmp_path / "p", tmp_path / "again"
    place.mkdir()
    again.mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place / "s"))
        server.listen()
        done = seal.python(
            CONNECT,
            str(place / "s"),
            str(again / "s"),
            within=lambda argv: [sys.executable, "-c", MOUNTING, str(KERNEL), "", str(place), str(again), *argv],
        )
    assert done.output == "ECONNREFUSED\nECONNREFUSED\n", done.errors


def test_a_socket_that_a_container_was_given_is_hidden(seal: Any, tmp_path: Path) -> None:
    """It is in no list of the container's own network namespace."""
    given = tmp_path / "given.sock"
    given.touch()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        done = seal.python(
            CONNECT,
            str(given),
            within=lambda argv: [
                *(sys.executable, "-c", MOUNTING, str(KERNEL), "apart", str(tmp_path / "s"), str(given)),
                *argv,
            ],
        )
    assert done.output == "ECONNREFUSED\n", done.errors


def test_a_socket_with_a_relative_path_is_told_of(seal: Any, tmp_path: Path) -> None:
    code = (
        "import os, socket, subprocess, sys\n"
        "os.chdir(sys.argv[1]); server = socket.socket(socket.AF_UNIX); server.bind('near')\n"
        "sys.exit(subprocess.run(sys.argv[2:]).returncode)"
    )
    done = seal.run("true", within=lambda argv: [sys.executable, "-c", code, str(tmp_path), *argv])
    assert "near" in done.proof["sockets_not_hidden"]
