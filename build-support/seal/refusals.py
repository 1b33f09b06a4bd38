"""The system calls that nobody inside the seal may make: one filter (seccomp), for both machines that it knows.

It is not there to make the kernel smaller. Each entry is a way past the namespaces, or to something of the host's
that they do not divide.
"""

from __future__ import annotations

import ctypes
import os
import struct

import kernel

_EPERM, _ENOSYS, _EPROTONOSUPPORT, _EAFNOSUPPORT = 1, 38, 93, 97

# What a sealed process may open. Everything else is refused, above all AF_VSOCK (40), which leads to a virtual
# machine's host past every network namespace, and AF_PACKET (17).
FAMILIES = {"unix": 1, "inet": 2, "inet6": 10, "netlink": 16}
_NETLINK = FAMILIES["netlink"]
# libc's getaddrinfo asks the kernel for this machine's addresses by NETLINK_ROUTE; nothing needs the other protocols.
_NETLINK_ROUTE = 0
# AF_INET with this type is AF_PACKET under its old name.
_SOCK_PACKET, _SOCK_TYPES = 10, 0xF

# name: (x86_64, aarch64), as <asm/unistd_64.h> and <asm-generic/unistd.h> number them.
REFUSED_CALLS = {
    # Makes and uses sockets without the system calls that the filter sees.
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # The caller's session keyring holds its tickets and passwords, and a key that is asked for is fetched by a
    # program of the host's, with the host's network: `dns_resolver` is a kind of key.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # See the whole machine where it is lax about them.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "syslog": (103, 116),
    # Opens a file without its path, and so below what covers it.
    "open_by_handle_at": (304, 265),
    # Stops the kernel in the middle of another call, which is how its mistakes are used.
    "userfaultfd": (323, 282),
}
# The first number without a call when this was written (Linux 6.18). As io_uring did, a new call may make sockets.
FIRST_UNKNOWN_CALL = 470
# ioctl requests that type at the terminal of whoever started the seal: TIOCSTI and TIOCLINUX.
_TYPING = (0x5412, 0x541C)

# machine: (AUDIT_ARCH of seccomp_data, socket, socketpair, ioctl)
_MACHINES = {"x86_64": (0xC000003E, 41, 53, 16), "aarch64": (0xC00000B7, 198, 199, 29)}

# Where seccomp_data has them (seccomp(2)); of an argument the low half, which is all that these calls look at.
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD = 0, 4, 16, 24, 32
_LOAD, _EQUAL, _AT_LEAST, _AND, _ANSWER = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x50000

TYPE_CHECKING = False  # importing `typing` would take as long as the seal itself
if TYPE_CHECKING:
    # (code, operand, where to go if true, if false); None is the next step, a text is a label's own step.
    Step = tuple[int, int, str | None, str | None]


def refuse() -> None:
    """Put the filter on this process and all that it starts. It cannot be taken off.

    Raises OSError, also for a machine whose system calls are not known here.
    """
    program = assemble(os.uname().machine)
    buffer = ctypes.create_string_buffer(program, len(program))
    kernel.filter_calls(struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer)))


def assemble(machine: str) -> bytes:
    """The filter as a BPF program. Raises OSError for a `machine` that is not known."""
    if machine not in _MACHINES:
        raise OSError(_ENOSYS, f"no system call filter is known for the machine '{machine}'")
    architecture, socket, socketpair, ioctl = _MACHINES[machine]
    column = list(_MACHINES).index(machine)
    steps: list[Step] = [
        (_LOAD, _ARCHITECTURE, None, None),
        (_EQUAL, architecture, None, "no call"),  # 32-bit calls have other numbers
        (_LOAD, _NUMBER, None, None),
        (_AT_LEAST, FIRST_UNKNOWN_CALL, "no call", None),  # x32's begin at 0x40000000
        *((_EQUAL, numbers[column], "no call", None) for numbers in REFUSED_CALLS.values()),
        (_EQUAL, ioctl, "ioctl", None),
        (_EQUAL, socket, "socket", None),
        (_EQUAL, socketpair, "socket", "allow"),
    ]
    labels = {"ioctl": len(steps)}
    steps += [
        (_LOAD, _SECOND, None, None),
        *((_EQUAL, request, "not permitted", None) for request in _TYPING[:-1]),
        (_EQUAL, _TYPING[-1], "not permitted", "allow"),
    ]
    labels["socket"] = len(steps)
    steps += [
        (_LOAD, _FIRST, None, None),
        (_EQUAL, _NETLINK, "netlink", None),
        *((_EQUAL, family, "type", None) for family in sorted(FAMILIES.values()) if family != _NETLINK),
        (_ANSWER, _ERRNO | _EAFNOSUPPORT, None, None),
    ]
    labels["type"] = len(steps)
    steps += [
        (_LOAD, _SECOND, None, None),
        (_AND, _SOCK_TYPES, None, None),
        (_EQUAL, _SOCK_PACKET, "no protocol", "allow"),
    ]
    labels["netlink"] = len(steps)
    steps += [(_LOAD, _THIRD, None, None), (_EQUAL, _NETLINK_ROUTE, "allow", "no protocol")]
    for label, answer in (
        ("no call", _ERRNO | _ENOSYS),
        ("no protocol", _ERRNO | _EPROTONOSUPPORT),
        ("not permitted", _ERRNO | _EPERM),
        ("allow", _ALLOW),
    ):
        labels[label] = len(steps)
        steps.append((_ANSWER, answer, None, None))
    return b"".join(_encode(place, step, labels) for place, step in enumerate(steps))


def _encode(place: int, step: Step, labels: dict[str, int]) -> bytes:
    code, operand, true, false = step
    jumps = [0 if goal is None else labels[goal] - place - 1 for goal in (true, false)]
    return struct.pack("HBBI", code, jumps[0], jumps[1], operand)
