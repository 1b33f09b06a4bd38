"""The system calls of the seal that Python has no function for, and its seccomp filter."""

from __future__ import annotations

import ctypes
import os
import struct

NEW_MOUNTS, NEW_IPC, NEW_USERS, NEW_PIDS, NEW_NETWORK = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
NO_SUID, NO_DEVICES, NO_EXEC, BIND, RECURSIVE, PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 1, 38, 22, 2
_EAFNOSUPPORT, _ENOSYS = 97, 38

# What a sealed process may open. Netlink: libc's getaddrinfo asks the kernel for this machine's addresses.
# Everything else is refused, above all AF_VSOCK (40), which leads to a virtual machine's host past every
# network namespace, and AF_PACKET (17).
FAMILIES = {"unix": 1, "inet": 2, "inet6": 10, "netlink": 16}
# io_uring makes sockets without the system calls that the filter sees.
REFUSED_CALLS = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427}
# machine: (AUDIT_ARCH of seccomp_data, socket, socketpair)
_MACHINES = {"x86_64": (0xC000003E, 41, 53), "aarch64": (0xC00000B7, 198, 199)}

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags))


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, options)]
    _checked(_libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]))


def prctl(option: int, value: int, pointer: object = None) -> None:
    # Whole registers: the kernel refuses arguments that are not zero where they should be.
    nothing = ctypes.c_ulong(0)
    _checked(_libc.prctl(option, ctypes.c_ulong(value), nothing if pointer is None else pointer, nothing, nothing))


def die_with_parent(death_signal: int) -> None:
    prctl(_PR_SET_PDEATHSIG, death_signal)


def refuse_calls() -> None:
    """Refuse the families and calls above, for this process and all that it starts. It cannot be undone.

    Raises OSError, also for a machine whose system calls are not known here.
    """
    program = _filter(os.uname().machine)
    buffer = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer)))
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header)


def _filter(machine: str) -> bytes:
    """A BPF program over seccomp_data (seccomp(2)): number at 0, architecture at 4, first argument at 16."""
    if machine not in _MACHINES:
        raise OSError(_ENOSYS, f"no system call filter is known for the machine '{machine}'")
    architecture, socket, socketpair = _MACHINES[machine]
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    allow, refuse_family, refuse_call = 0x7FFF0000, 0x50000 | _EAFNOSUPPORT, 0x50000 | _ENOSYS

    # Each step: (code, operand, where to go if true, if false); None is the next step.
    calls = sorted(REFUSED_CALLS.values())
    steps: list[tuple[int, int, str | None, str | None]] = [
        (load, 4, None, None),
        (equal, architecture, None, "call"),  # 32-bit calls have other numbers
        (load, 0, None, None),
        (at_least, 0x40000000, "call", None),  # so have x32's
        *((equal, number, "call", None) for number in calls),
        (equal, socket, "family", None),
        (equal, socketpair, "family", "allow"),
    ]
    family_at = len(steps)
    steps.append((load, 16, None, None))
    steps.extend((equal, number, "allow", None) for number in sorted(FAMILIES.values()))
    ends = {
        "family_refused": len(steps),
        "call": len(steps) + 1,
        "allow": len(steps) + 2,
        "family": family_at,
    }
    packed = b""
    for place, (code, operand, true, false) in enumerate(steps):
        jumps = [0 if goal is None else ends[goal] - place - 1 for goal in (true, false)]
        packed += struct.pack("HBBI", code, jumps[0], jumps[1], operand)
    return packed + b"".join(struct.pack("HBBI", answer, 0, 0, end) for end in (refuse_family, refuse_call, allow))
