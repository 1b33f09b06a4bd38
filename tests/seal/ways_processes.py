"""Ways out by other processes, by what they share, and by calls that no namespace divides."""

from __future__ import annotations

import ctypes
import os
import platform
import socket
import subprocess
import sys
from pathlib import Path

from attempt import OUT, World, all_of, call, read, way

_NAMESPACES = {"net": 0x40000000, "mnt": 0x20000, "user": 0x10000000, "pid": 0x20000000, "ipc": 0x8000000}
# ENOENT: not in this process table. EACCES: in an outer one, and of a user namespace that this one is not above.
_UNSEEN = ("ENOENT", "EACCES", "EPERM", "EACCES ENOENT", "EACCES EPERM")


def _proc(number: int, name: str) -> str:
    path = f"/proc/{number}/{name}"
    if name in ("root", "cwd"):
        os.listdir(f"{path}/")
        return OUT
    return read(path)


@way("the memory, files and environment of an outside process", *_UNSEEN)
def look_into(world: World) -> str:
    names = ("root", "cwd", "fd/0", "environ", "mem", "maps")
    return all_of([lambda name=name: _proc(world.process, name) for name in names])  # type: ignore[misc]


@way("those of the first process inside, which is above the command", "EACCES", "EACCES EPERM")
def look_into_first(world: World) -> str:
    names = ("root", "cwd", "fd/0", "environ", "mem")
    return all_of([lambda name=name: _proc(1, name) for name in names])  # type: ignore[misc]


@way("a namespace of any process that can be seen", "EACCES", "ENOENT", "EPERM", "EACCES EPERM", "none but its own")
def enter(world: World) -> str:
    """Back to the network of the outside, by `/proc/N/ns`: not one may be another's that opens."""

    def by(number: str, kind: str) -> str:
        path = f"/proc/{number}/ns/{kind}"
        if os.stat(path).st_ino == os.stat(f"/proc/self/ns/{kind}").st_ino:
            return ""
        call("setns", os.open(path, os.O_RDONLY), _NAMESPACES[kind])
        return OUT

    numbers = [name for name in os.listdir("/proc") if name.isdigit()]
    ends = all_of([lambda n=n, kind=kind: by(n, kind) for n in numbers for kind in _NAMESPACES])  # type: ignore[misc]
    return ends.strip() or "none but its own"


@way("the network namespace of the outside, seen as one's own", "another")
def same_network(world: World) -> str:
    return OUT if os.stat("/proc/self/ns/net").st_ino == world.network else "another"


@way("a network namespace of one's own", "ENETUNREACH")
def own_network(world: World) -> str:
    call("unshare", _NAMESPACES["user"] | _NAMESPACES["net"])
    with socket.socket() as client:
        client.connect(("192.0.2.1", 80))
    return OUT


@way("to trace an outside process", "ESRCH")
def trace(world: World) -> str:
    call("ptrace", 0x4206, world.process, 0, 0)  # PTRACE_SEIZE
    return OUT


@way("to trace the first process inside", "EPERM")
def trace_first(world: World) -> str:
    call("ptrace", 0x4206, 1, 0, 0)
    return OUT


@way("to read the memory of an outside process by its number", "ESRCH")
def read_memory(world: World) -> str:
    piece = ctypes.create_string_buffer(16)
    vector = ctypes.create_string_buffer(
        ctypes.addressof(piece).to_bytes(8, sys.byteorder) + (16).to_bytes(8, sys.byteorder)
    )
    call("process_vm_readv", world.process, vector, 1, vector, 1, 0)
    return OUT


@way("a descriptor of an outside process", "ESRCH", "EINVAL")
def take_outer(world: World) -> str:
    call("pidfd_getfd", call("pidfd_open", world.process, 0), 0, 0)
    return OUT


@way("a descriptor of the first process inside", "EPERM")
def take_first(world: World) -> str:
    call("pidfd_getfd", call("pidfd_open", 1, 0), 0, 0)
    return OUT


@way("a signal to an outside process", "ESRCH")
def signal(world: World) -> str:
    os.kill(world.process, 0)
    return OUT


@way("descriptors that the caller left open", "EBADF")
def inherited(world: World) -> str:
    """A connected socket, a listening one, and a folder of the host's, past every mount."""

    def use(descriptor: int) -> str:
        os.fstat(descriptor)
        return OUT

    return all_of([lambda descriptor=descriptor: use(descriptor) for descriptor in world.descriptors])  # type: ignore[misc]


@way("a descriptor that is sent over one of them", "EBADF")
def sent(world: World) -> str:
    with socket.socket(fileno=os.dup(world.descriptors[0])) as stream:
        _, descriptors, _, _ = socket.recv_fds(stream, 1, 1)
        os.close(descriptors[0])
        return OUT


@way("descriptors that were not named", "0 1 2")
def any_descriptor(world: World) -> str:
    code = "import os; n = os.listdir('/proc/self/fd'); print(*sorted(int(d) for d in n if int(d) != 3))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@way("System V shared memory", "ENOENT")
def shared_memory(world: World) -> str:
    call("shmget", world.memory_key, 0, 0)
    return OUT


@way("a message queue", "ENOENT", "ENOSYS")
def queue(world: World) -> str:
    os.close(call("mq_open", world.queue.encode(), os.O_RDWR, 0, None))
    return OUT


@way("shared memory with a name", "ENOENT")
def named_memory(world: World) -> str:
    return read(f"/dev/shm/{world.shared_memory}")


@way("keys of the caller", "ENOSYS")
def keys(world: World) -> str:
    def by(name: str, *arguments: int | bytes | None) -> str:
        call(name, *arguments)
        return OUT

    return all_of(
        [
            lambda: by("keyctl", 0, -3, 0),  # KEYCTL_GET_KEYRING_ID of the session
            lambda: by("add_key", b"user", b"seal test", b"x", 1, -3),
            lambda: by("request_key", b"dns_resolver", b"example.org", b"", -3),
        ]
    )


def _refused(name: str, *arguments: int | bytes | None) -> None:
    def go(world: World) -> str:
        call(name, *arguments)
        return OUT

    way(f"the call {name}", "ENOSYS")(go)


_refused("io_uring_setup", 1, bytes(120))
_refused("bpf", 0, bytes(128), 128)
_refused("perf_event_open", (1).to_bytes(4, "little") + (128).to_bytes(4, "little") + bytes(120), 0, -1, -1, 0)
_refused("userfaultfd", 1)
_refused("open_by_handle_at", -100, bytes(128), 0)
_refused("syslog", 10, None, 0)
_refused("one that is newer than the seal", 0)
_refused("socket, as x32 numbers it", 2, 1, 0)


def _by_32_bits(world: World) -> str:
    """socket(2) by `int 0x80`: mov eax, 359; mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80; ret, with rbx kept."""
    import mmap

    code = bytes.fromhex("53 b867010000 bb02000000 b901000000 31d2 cd80 5b c3")
    memory = mmap.mmap(-1, len(code), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    child = os.fork()
    if child == 0:
        result: int = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
        os._exit(-result if result < 0 else 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status > 0:
        raise OSError(status, "int 0x80")
    return OUT if status == 0 else "no such instruction"


if platform.machine() == "x86_64":  # the other machine has no such way in
    way("a call with the numbers of 32 bits", "ENOSYS", "no such instruction")(_by_32_bits)


@way("more privileges by a program that gives them", "none")
def privileges(world: World) -> str:
    rows = [line.split() for line in Path("/proc/self/status").read_text().splitlines()]
    status = {row[0]: row[1] for row in rows if len(row) > 1}
    bare = all(int(status[name], 16) == 0 for name in ("CapInh:", "CapPrm:", "CapEff:", "CapAmb:"))
    return "none" if bare and status["NoNewPrivs:"] == "1" and status["Seccomp:"] == "2" else repr(status)
