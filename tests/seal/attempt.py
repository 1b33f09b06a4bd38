"""What a way out is, as the files beside this one write it: a function that tries it, and the errors it has to end in.

The tries run inside the seal, in a process each. Without a compiler C's own way is `libc.syscall`, by ctypes: the
numbers here are the kernel's (<asm/unistd_64.h>, <asm-generic/unistd.h>), taken down apart from the seal's.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass

OUT = "out"
"""What a try reports that got out."""


@dataclass(frozen=True)
class World:
    """What was made outside, for real, before the seal began."""

    process: int
    tcp_port: int
    udp_port: int
    sockets: tuple[str, ...]
    link: str
    abstract: str
    terminal: str
    network: int
    shared_memory: str
    memory_key: int
    queue: str
    descriptors: tuple[int, ...]

    def as_data(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Way:
    """One way out: how to try it, and how it may end."""

    name: str
    ends: frozenset[str]
    go: Callable[[World], str]


WAYS: dict[str, Way] = {}

_COLUMN = {"x86_64": 0, "aarch64": 1}[platform.machine()]
NUMBERS = {
    "ioctl": (16, 29),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ptrace": (101, 117),
    "syslog": (103, 116),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "mount": (165, 40),
    "umount2": (166, 39),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "perf_event_open": (298, 241),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "shmget": (29, 194),
    "shmctl": (31, 195),
    "io_uring_setup": (425, 425),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "mount_setattr": (442, 442),
    "one that is newer than the seal": (500, 500),
    "socket, as x32 numbers it": (0x40000000 + 41, 0x40000000 + 198),
}
_libc = ctypes.CDLL(None, use_errno=True)


def way(name: str, *ends: str) -> Callable[[Callable[[World], str]], Callable[[World], str]]:
    """Enter a function as the way `name`, which has to end in one of `ends`: names of errors, or its own words."""

    def enter(go: Callable[[World], str]) -> Callable[[World], str]:
        assert name not in WAYS
        WAYS[name] = Way(name, frozenset(ends), go)
        return go

    return enter


def call(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> int:
    """Make one system call as C does. Raises OSError."""
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    result: int = _libc.syscall(ctypes.c_long(NUMBERS[name][_COLUMN]), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def connect(family: int, address: object, kind: int = socket.SOCK_STREAM, protocol: int = 0) -> str:
    """Connect and send a byte, or end in the error of whichever failed."""
    with socket.socket(family, kind, protocol) as client:
        client.settimeout(30)
        client.connect(address)  # type: ignore[arg-type]
        client.send(b"?")
        if kind == socket.SOCK_DGRAM:
            client.recv(1)  # where nobody listens, the answer to the first packet is an error
        return OUT


def read(path: str) -> str:
    """Open a file and read of it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.read(descriptor, 1)
    return OUT


def write_open(path: str) -> str:
    """Open a file for writing; nothing is written, since on a machine without a seal it would count."""
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY))
    return OUT


def all_of(steps: list[Callable[[], str]]) -> str:
    """Try several things; the answer is one word when all end alike."""
    return " ".join(sorted({_ending(step) for step in steps}))


def try_way(name: str, world: World) -> str:
    """How a way ends: the name of an error, `out`, or its own words."""
    return _ending(lambda: WAYS[name].go(world))


def _ending(step: Callable[[], str]) -> str:
    try:
        return step()
    except socket.gaierror:
        return "no address"
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, repr(error))
