"""Nothing inside the seal reaches out, by any of the ways that a process has, and each try fails at once."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CONNECT = """
import errno, socket
def reach():
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=60)
    except OSError as error:
        return errno.errorcode.get(error.errno, repr(error))
"""
WAYS = {
    "main thread": "print(reach())",
    "thread": "import threading; t = threading.Thread(target=lambda: print(reach())); t.start(); t.join()",
    "child process": "import os; pid = os.fork(); print(reach()) if pid == 0 else os.waitpid(pid, 0)",
    "program of its own session": (
        "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], start_new_session=True)"
    ),
}


@pytest.mark.parametrize("way", list(WAYS))
def test_a_connection_out_fails_at_once(seal: Any, way: str) -> None:
    done = seal.python(CONNECT + WAYS[way], CONNECT + WAYS["main thread"])
    # A packet that had left would have ended in a time-out instead.
    assert (done.output, done.status) == ("ENETUNREACH\n", 0)


def test_a_look_up_fails_and_no_packet_leaves_for_a_name_server(seal: Any) -> None:
    done = seal.python(
        "import errno, socket\n"
        "try: print(socket.getaddrinfo('example.org', 443))\n"
        "except socket.gaierror: print('no address')\n"
        "try: socket.socket(type=socket.SOCK_DGRAM).sendto(b'?', ('192.0.2.53', 53))\n"
        "except OSError as error: print(errno.errorcode[error.errno])\n"
    )
    assert done.output == "no address\nENETUNREACH\n"


def test_loopback_works_under_its_names_and_with_addrconfig(seal: Any) -> None:
    done = seal.python(
        "import socket\n"
        "configured = socket.AI_ADDRCONFIG\n"
        "for host, flags in (('127.0.0.1', 0), ('localhost', configured), ('127.0.0.1', configured)):\n"
        "    server = socket.create_server(('127.0.0.1', 0))\n"
        "    port = server.getsockname()[1]\n"
        "    found = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM, 0, flags)\n"
        "    client = socket.create_connection(found[0][4]); client.sendall(b'hello')\n"
        "    print(server.accept()[0].recv(5).decode())\n"
    )
    assert done.output == "hello\n" * 3, done.errors


@pytest.mark.parametrize("family", ["AF_VSOCK", "AF_PACKET", "AF_ALG"])
def test_a_socket_of_another_family_is_refused(seal: Any, family: str) -> None:
    kind = "SOCK_RAW" if family == "AF_PACKET" else "SOCK_SEQPACKET" if family == "AF_ALG" else "SOCK_STREAM"
    done = seal.python(
        "import errno, socket\n"
        f"try: socket.socket(socket.{family}, socket.{kind}); print('opened')\n"
        "except OSError as error: print(errno.errorcode[error.errno])\n"
    )
    assert done.output == "EAFNOSUPPORT\n"


@pytest.mark.parametrize("number", [425, 426, 427])
def test_io_uring_is_refused(seal: Any, number: int) -> None:
    done = seal.python(
        "import ctypes, errno\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        f"print(libc.syscall({number}, 0, 0, 0, 0), errno.errorcode[ctypes.get_errno()])\n"
    )
    assert done.output == "-1 ENOSYS\n"


def test_what_libraries_need_of_sockets_still_works(seal: Any) -> None:
    done = seal.python(
        "import socket\n"
        "socket.socketpair(); socket.socket(socket.AF_INET6)\n"
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\n"
        "print(socket.if_nameindex()[0][1])\n"
    )
    assert done.output == "lo\n"


def test_a_descriptor_of_the_callers_is_closed(seal: Any) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        done = seal.python(
            "import os, sys\ntry: os.write(int(sys.argv[1]), b'out')\nexcept OSError as error: print(error.strerror)\n",
            str(theirs.fileno()),
            pass_fds=(theirs.fileno(),),
        )
        assert done.output == "Bad file descriptor\n"
        ours.setblocking(False)
        with pytest.raises(BlockingIOError):
            ours.recv(3)


def test_a_network_connection_as_standard_input_is_a_way_out(seal: Any) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        done = seal.run("true", stdin=client)
    assert done.status == 16
    assert "standard streams that lead outside: 0" in done.record["reason"]


CONNECT_UNIX = """
import errno, socket, sys
client = socket.socket(socket.AF_UNIX)
try:
    client.connect(sys.argv[1].replace("@", chr(0)))
    print("reached")
except OSError as error:
    print(errno.errorcode[error.errno])
"""


@pytest.fixture(params=["/tmp", "/dev/shm"])
def listening(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A socket of the host's which a process listens on."""
    with tempfile.TemporaryDirectory(dir=request.param) as directory, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{directory}/a socket")
        server.listen()
        yield Path(directory) / "a socket"


def test_the_hosts_sockets_are_hidden(seal: Any, listening: Path) -> None:
    # One that is covered is no socket any more; one below a hidden directory is not there.
    assert seal.python(CONNECT_UNIX, str(listening)).output in ("ECONNREFUSED\n", "ENOENT\n")


def test_a_socket_that_is_kept_is_reached(seal: Any, listening: Path) -> None:
    done = seal.python(CONNECT_UNIX, str(listening), keep=(listening,))
    assert (done.output, done.proof["kept_sockets"]) == ("reached\n", 1)


def test_the_sockets_of_a_directory_that_is_kept_are_reached(seal: Any, listening: Path) -> None:
    assert seal.python(CONNECT_UNIX, str(listening), keep=(listening.parent,)).output == "reached\n"


def test_keeping_one_socket_keeps_no_other(seal: Any, listening: Path) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(listening) + "2")
        other.listen()
        done = seal.python(CONNECT_UNIX, str(listening) + "2", keep=(listening,))
    assert done.output in ("ECONNREFUSED\n", "ENOENT\n")


def test_a_socket_without_a_path_is_not_there(seal: Any) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0seal test {os.getpid()}")
        server.listen()
        assert seal.python(CONNECT_UNIX, f"@seal test {os.getpid()}").output == "ECONNREFUSED\n"


def test_the_command_cannot_take_a_cover_off_or_go_back_out(seal: Any, listening: Path) -> None:
    done = seal.python(
        "import ctypes, errno, os, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for path in ('/dev/shm', '/proc', sys.argv[1]):\n"
        "    print(libc.umount2(path.encode(), 2))\n"
        "status = [line.split() for line in open('/proc/self/status')]\n"
        "print([row[1] for row in status if row[0] in ('CapEff:', 'NoNewPrivs:')])\n",
        str(listening),
    )
    assert done.output == "-1\n-1\n-1\n['0000000000000000', '1']\n"


def test_a_command_that_makes_namespaces_of_its_own_does_not_uncover_anything(seal: Any, listening: Path) -> None:
    kernel = Path(__file__).parents[2] / "build-support" / "seal"
    done = seal.python(
        "import sys, os, ctypes; sys.path.insert(0, sys.argv[2]); import kernel\n"
        "kernel.unshare(kernel.NEW_USERS | kernel.NEW_MOUNTS)\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print([libc.umount2(os.fsencode(path), 2) for path in ('/dev/shm', '/proc', sys.argv[1])])\n",
        str(listening),
        str(kernel),
    )
    assert done.output == "[-1, -1, -1]\n", done.errors


def test_a_seal_inside_a_seal_holds(seal: Any) -> None:
    done = seal.python(
        "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)",
        *seal.argv(sys.executable, "-c", CONNECT + WAYS["main thread"]),
    )
    assert (done.output, done.status) == ("ENETUNREACH\n", 0), done.errors


def test_in_the_open_the_same_connection_is_not_refused_in_this_way_or_the_machine_has_no_network() -> None:
    """The other side of the first test: what it looks for is the seal's doing wherever there is a network."""
    here = subprocess.run(
        [sys.executable, "-c", CONNECT.replace("timeout=60", "timeout=0.1") + WAYS["main thread"]],
        capture_output=True,
        text=True,
        check=True,
    )
    up = [name for _, name in socket.if_nameindex() if name != "lo"]
    assert here.stdout != "ENETUNREACH\n" or not up
