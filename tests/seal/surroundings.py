"""The outside as the ways out would have it: real listeners, a real process, shared memory, a terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path

from attempt import World, call

_CREATE = 0o1000  # IPC_CREAT, with the permissions of the owner below it
_FEWEST = 50  # a number that no process inside has: there they begin anew at 1


@contextlib.contextmanager
def made() -> Iterator[World]:
    """Make it, and take it away again."""
    with contextlib.ExitStack() as stack:
        places = [Path(stack.enter_context(tempfile.TemporaryDirectory(dir=root))) for root in ("/tmp", "/dev/shm")]
        paths = [place / name for place in places for name in ("docker.sock", "X7", "bus")]
        for path in paths:
            _listen(stack, str(path))
        _listen(stack, f"\0seal outside {os.getpid()}")
        (places[0] / "link").symlink_to(paths[0])
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        _echo(stack, udp)
        ours, theirs = socket.socketpair()
        stack.enter_context(ours)
        stack.enter_context(theirs)
        socket.send_fds(ours, [b"?"], [tcp.fileno()])
        folder = os.open("/", os.O_RDONLY)
        stack.callback(os.close, folder)
        leader, follower = pty.openpty()
        stack.callback(os.close, leader)
        stack.callback(os.close, follower)
        memory = SharedMemory(create=True, size=16)
        stack.callback(memory.unlink)
        stack.callback(memory.close)
        yield World(
            process=_process(stack),
            tcp_port=tcp.getsockname()[1],
            udp_port=udp.getsockname()[1],
            sockets=tuple(map(str, paths)),
            link=str(places[0] / "link"),
            abstract=f"seal outside {os.getpid()}",
            terminal=os.ttyname(follower),
            network=os.stat("/proc/self/ns/net").st_ino,
            shared_memory=memory.name,
            memory_key=_memory(stack),
            queue=_queue(stack),
            descriptors=(theirs.fileno(), tcp.fileno(), folder),
        )


def _listen(stack: contextlib.ExitStack, address: str) -> None:
    server = stack.enter_context(socket.socket(socket.AF_UNIX))
    server.bind(address)
    server.listen()


def _echo(stack: contextlib.ExitStack, udp: socket.socket) -> None:
    """Answer each packet until an empty one comes."""

    def answer() -> None:
        while (packet := udp.recvfrom(1))[0]:
            udp.sendto(*packet)

    thread = threading.Thread(target=answer)
    thread.start()
    stack.callback(thread.join)
    stack.callback(lambda: udp.sendto(b"", udp.getsockname()))


def _process(stack: contextlib.ExitStack) -> int:
    """A process that waits, with a number that is not also one of the inside."""
    while True:
        process = subprocess.Popen([sys.executable, "-I", "-S", "-c", "input()"], stdin=subprocess.PIPE)
        stack.callback(process.wait)
        stack.callback(process.send_signal, signal.SIGKILL)
        if process.pid > _FEWEST:
            return process.pid


def _memory(stack: contextlib.ExitStack) -> int:
    key = 0x5EA1_0000 | os.getpid() & 0xFFFF
    number = call("shmget", key, 16, _CREATE | 0o600)
    stack.callback(call, "shmctl", number, 0, None)  # IPC_RMID
    return key


def _queue(stack: contextlib.ExitStack) -> str:
    name = f"seal-outside-{os.getpid()}"  # to the kernel, a name has no slash
    descriptor = call("mq_open", name.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
    stack.callback(call, "mq_unlink", name.encode())
    stack.callback(os.close, descriptor)
    return name
