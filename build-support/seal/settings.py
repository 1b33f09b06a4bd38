"""`/proc` and `/sys` inside: the processes are the command's own, and the machine's settings cannot be changed.

The settings have no namespaces. Root outside may write them from inside, since nobody's user number is root's as far
as the permissions of a file go, and some name a program that the host then runs: `/proc/sys/kernel/core_pattern`.
"""

from __future__ import annotations

import errno
import os

import kernel

PROCESSES, MACHINE = "/proc", "/sys"
# These two are of the user and the network namespace that asks, not of the machine.
_OWN = ("/proc/sys/user", "/proc/sys/net")
_MACHINE_WIDE = "/proc/sys/kernel/core_pattern"


def build() -> dict[str, str]:
    """Mount both and return what the proof says about them. Raises OSError."""
    seen = {PROCESSES: "of the PID namespace"}
    try:
        kernel.mount("proc", PROCESSES, "proc", kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC)
    except OSError as error:
        # Where parts of /proc are covered already, as in a container or in a seal of root's, there may be no other.
        seen[PROCESSES] = f"the outer one: {errno.errorcode.get(error.errno or 0, '')}"
    # Covers keep a seal inside this one from a /proc of its own: only where there is something to cover.
    if os.access(_MACHINE_WIDE, os.W_OK):
        _protect_settings()
        seen[PROCESSES] += ", its settings read-only"
    if os.path.ismount(MACHINE):
        seen[MACHINE] = _mount_machine()
    return seen


def _protect_settings() -> None:
    own = [(path, os.open(path, os.O_PATH)) for path in _OWN if os.path.isdir(path)]
    for name in sorted(os.listdir(PROCESSES)):
        path = f"{PROCESSES}/{name}"
        if name.isdigit() or os.path.islink(path):
            continue
        if os.path.isdir(path) or os.access(path, os.W_OK):
            kernel.mount(path, path, None, kernel.BIND | kernel.RECURSIVE)
            kernel.make_read_only(path)
    for path, descriptor in own:
        kernel.mount(f"/proc/self/fd/{descriptor}", path, None, kernel.BIND)
        os.close(descriptor)


def _mount_machine() -> str:
    try:
        # This one shows the network namespace's own devices, and no control groups.
        flags = kernel.READ_ONLY | kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC
        kernel.mount("sysfs", MACHINE, "sysfs", flags)
    except OSError as error:
        kernel.make_read_only(MACHINE)
        return f"the outer one, read-only: {errno.errorcode.get(error.errno or 0, '')}"
    return "of the network namespace, read-only"
