"""A `/dev` of the command's own: the devices that hold nothing, and terminals and shared memory that are private.

The host's has disks, terminals and the kernel's log in it, and root outside may open them all: nobody's user number
inside is root's as far as the permissions of a file go.
"""

from __future__ import annotations

import os

import kernel

ROOT = "/dev"
HARMLESS = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}


def build() -> None:
    """Put the private one over the host's. Raises OSError."""
    through = {name: os.open(f"{ROOT}/{name}", os.O_PATH) for name in HARMLESS if os.path.exists(f"{ROOT}/{name}")}
    kernel.mount("tmpfs", ROOT, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "mode=755")
    for name, descriptor in through.items():
        os.close(os.open(f"{ROOT}/{name}", os.O_CREAT | os.O_WRONLY, 0o600))
        kernel.mount(f"/proc/self/fd/{descriptor}", f"{ROOT}/{name}", None, kernel.BIND)
        os.close(descriptor)
    for name, target in _LINKS.items():
        os.symlink(target, f"{ROOT}/{name}")
    os.mkdir(f"{ROOT}/pts")
    kernel.mount(
        "devpts", f"{ROOT}/pts", "devpts", kernel.NO_SUID | kernel.NO_EXEC, "newinstance,ptmxmode=666,mode=620"
    )
    os.mkdir(f"{ROOT}/shm")
    os.chmod(f"{ROOT}/shm", 0o1777)
