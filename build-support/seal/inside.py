"""The first process inside the seal: it builds the walls, proves them, starts the command and reaps.

As PID 1 of its namespace it takes everything inside with it when it ends, and it ends with the shim outside.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` takes 3 ms for its enums
import _socket
import fcntl
import os
import struct

import kernel
import probes
import proof
import refusals
import walls

TYPE_CHECKING = False  # importing `typing` would take as long as the seal itself
if TYPE_CHECKING:
    from typing import Any

    from seal import Call

FORWARDED = (
    _signal.SIGINT,
    _signal.SIGTERM,
    _signal.SIGHUP,
    _signal.SIGQUIT,
    _signal.SIGUSR1,
    _signal.SIGUSR2,
)
_SIOCSIFFLAGS, _SIOCSIFADDR, _IFF_UP_RUNNING = 0x8914, 0x8916, 65


def raise_loopback() -> None:
    """Bring `lo` up, with a second address.

    With 127.0.0.1 alone, glibc's getaddrinfo(AI_ADDRCONFIG) finds no configured address and refuses every
    name, `localhost` too. 127.0.0.2 is as much this machine's own, and is enough for it.
    """
    asking = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM, 0)
    try:
        fcntl.ioctl(asking.fileno(), _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP_RUNNING))
        address = struct.pack("HH4s8x", _socket.AF_INET, 0, _socket.inet_aton("127.0.0.2"))
        fcntl.ioctl(asking.fileno(), _SIOCSIFADDR, struct.pack("16s16s", b"lo:1", address))
    finally:
        asking.close()


def build(tried: list[str], keep: list[str], call: Call, bound: list[str]) -> dict[str, Any]:
    """Finish the seal from inside and return its part of the proof. `tried` gets each step."""
    tried.append("die with the shim")
    kernel.die_with_parent(_signal.SIGKILL)
    os.setsid()  # a terminal's signals reach the shim, which passes each on once
    tried.append("bring the loopback interface up")
    raise_loopback()
    tried.append("make private mounts over /run, /dev, /proc and /sys")
    directory = os.getcwd()
    parts = walls.build(keep, call.kept_sockets, bound, call.private)
    os.chdir(directory)
    tried.append("refuse system calls (seccomp)")
    refusals.refuse()
    return parts


def confirm(tried: list[str]) -> list[dict[str, Any]]:
    """Run the probes. Raises OSError when one of them saw a way out."""
    tried.append("probe the network from inside")
    done = probes.run_probes()
    wrong = [f"{probe['what']}: {probe['seen']}" for probe in done if not probe["ok"]]
    if wrong:
        raise OSError(0, f"a way out is open ({'; '.join(wrong)})")
    return done


def execute(argv: list[str], environment: dict[str, str]) -> int:
    """Become the command. Returns the exit status of a shell for a command that cannot be run."""
    # Python ignores these two; a command expects them as they are by default.
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)
    try:
        os.execvpe(argv[0], argv, environment)
    except OSError as error:
        proof.say(f"seal: the command '{argv[0]}' cannot be run: {error.strerror}\n")
        return 127 if isinstance(error, FileNotFoundError) else 126


def keep_house(argv: list[str], environment: dict[str, str], mask: Any) -> int:
    """Start the command in a session of its own, pass signals on to it, reap, and return its exit status."""
    child = os.fork()
    if child == 0:
        os.setsid()
        _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)
        os._exit(execute(argv, environment))
    return attend(child, lambda number: os.killpg(child, number))


def attend(child: int, pass_on: Any) -> int:
    """Wait for `child`, reaping all others. The signals are blocked: none is lost between two waits."""
    while True:
        number = _signal.sigwaitinfo((_signal.SIGCHLD, *FORWARDED)).si_signo
        if number != _signal.SIGCHLD:
            try:  # noqa: SIM105 - contextlib would be imported for this alone
                pass_on(number)
            except ProcessLookupError:
                pass  # it has just ended
            continue
        while True:
            try:
                ended, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if ended == child:
                return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
            if ended == 0:
                break
