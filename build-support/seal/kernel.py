"""The system calls of the seal that Python has no function for."""

from __future__ import annotations

import ctypes
import os

NEW_MOUNTS, NEW_IPC, NEW_USERS, NEW_PIDS, NEW_NETWORK = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 0x1000, 0x4000, 0x40000
_REMOUNT = 0x20

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 1, 38, 22, 2
_ENOSYS = 38
_MOUNT_SETATTR = 442  # on every machine
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTRIBUTES = b"\1" + bytes(31)  # struct mount_attr: attr_set is MOUNT_ATTR_RDONLY, the rest is nothing

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags))


def enter(descriptor: int, kind: int) -> None:
    """setns(2)."""
    _checked(_libc.setns(descriptor, kind))


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, options)]
    _checked(_libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]))


def make_read_only(path: str) -> None:
    """Make the mount at `path` read-only, with all that is mounted below it. Raises OSError.

    Before Linux 5.12 no call does that; there the mounts below are left, so that `path` must have none.
    """
    try:
        size = ctypes.c_size_t(len(_ATTRIBUTES))
        _checked(_libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), _AT_RECURSIVE, _ATTRIBUTES, size))
    except OSError as error:
        if error.errno != _ENOSYS:
            raise
        mount("none", path, None, _REMOUNT | BIND | READ_ONLY | NO_SUID | NO_DEVICES | NO_EXEC)


def prctl(option: int, value: int, pointer: object = None) -> None:
    # Whole registers: the kernel refuses arguments that are not zero where they should be.
    nothing = ctypes.c_ulong(0)
    _checked(_libc.prctl(option, ctypes.c_ulong(value), nothing if pointer is None else pointer, nothing, nothing))


def die_with_parent(death_signal: int) -> None:
    prctl(_PR_SET_PDEATHSIG, death_signal)


def filter_calls(program: bytes) -> None:
    """Put a filter (struct sock_fprog) on this process and all that it starts."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.create_string_buffer(program))
