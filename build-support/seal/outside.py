"""The shim outside the seal: it makes the namespaces, writes the proof, passes signals on and waits.

It keeps the host's view of the file system, so that proof and record are written where the caller looks.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` takes 3 ms for its enums
import os

import inside
import kernel
import proof
import refusals
import sockets
import walls

TYPE_CHECKING = False  # importing `typing` would take as long as the seal itself
if TYPE_CHECKING:
    from typing import Any

    from seal import Call

NAMESPACES = ["user", "net", "mount", "pid", "ipc"]
NOBODY = 65534  # PostgreSQL wants a user with a name, and this one has an entry in /etc/passwd nearly everywhere


class Refused(OSError):
    """The first process inside could not finish the seal."""


def tidy_descriptors() -> None:
    """Close what the caller left open: a connection that is there already leads out of every namespace."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open("/dev/null", os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:  # noqa: SIM105 - contextlib would be imported for this alone
                os.close(int(name))
            except OSError:
                pass  # the descriptor of this very listing


def prove_inherited(call: Call, tried: list[str]) -> None:
    """Write the proof that the network is cut off already. Raises OSError when it is not."""
    tried.append("refuse system calls (seccomp)")
    refusals.refuse()
    done = inside.confirm(tried)
    tried.append("write the proof")
    proof.write(call.proof, _statement(call, [], None, {}, done, proof.OPEN_SOCKETS))


def run_sealed(call: Call, tried: list[str]) -> int:
    """Seal, prove, run, and return the command's exit status. Raises OSError when it could not be sealed."""
    tried.append("list the sockets to hide")
    bound = sockets.bound()
    user, group = os.geteuid(), os.getegid()
    tried.append("make user, network, PID and IPC namespaces")
    kernel.unshare(kernel.NEW_USERS | kernel.NEW_NETWORK | kernel.NEW_PIDS | kernel.NEW_IPC)
    tried.append("map the caller to nobody")
    _put("/proc/self/setgroups", "deny")
    _put("/proc/self/uid_map", f"{NOBODY} {user} 1")
    _put("/proc/self/gid_map", f"{NOBODY} {group} 1")
    tried.append("start the first process inside")
    _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
    mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, (_signal.SIGCHLD, *inside.FORWARDED))
    report_out, report_in = os.pipe()
    leave_out, leave_in = os.pipe()
    first = os.fork()
    if first == 0:
        os.close(report_out)
        os.close(leave_in)
        os._exit(_be_first(call, tried, bound, user, (report_in, leave_out), mask))
    os.close(report_in)
    os.close(leave_out)
    with os.fdopen(report_out, encoding="utf-8", errors="surrogateescape") as report:
        outcome, _, text = report.read().partition("\n")
    if outcome != "sealed":
        os.close(leave_in)
        os.waitpid(first, 0)
        number, _, rest = text.partition("\n")
        reason, _, steps = rest.partition("\n")
        tried[:] = steps.splitlines() or tried
        raise Refused(int(number or 0), reason or "the first process inside ended before it had reported")
    tried.append("write the proof")
    proof.write(call.proof, text)
    os.write(leave_in, b"!")
    return inside.attend(first, lambda number: os.kill(first, number))


def _be_first(call: Call, tried: list[str], bound: list[str], user: int, pipes: tuple[int, int], mask: Any) -> int:
    report_in, leave_out = pipes
    try:
        keep = [os.getcwd(), os.path.dirname(call.proof), call.record_dir, os.environ.get("TMPDIR", "/tmp")]
        if os.path.realpath(keep[1]) in walls.PRIVATE:
            raise OSError(0, f"the proof cannot lie in '{keep[1]}' itself, which is hidden inside")
        parts = inside.build(tried, keep, call, bound)
        mapped = {"inside": NOBODY, "outside": user}
        done = inside.confirm(tried)
        report = "sealed\n" + _statement(call, NAMESPACES, mapped, parts, done, proof.HIDDEN_SOCKETS)
    except Exception as error:
        number = (error.errno or 0) if isinstance(error, OSError) else 0
        words = (error.strerror if isinstance(error, OSError) else None) or repr(error)
        report = "\n".join(["unsealed", str(number), words.replace("\n", " "), *tried])
    with os.fdopen(report_in, "w", encoding="utf-8", errors="surrogateescape") as pipe:
        pipe.write(report)
    # The leave to go on never comes when the seal failed, or when the shim has ended.
    if os.read(leave_out, 1) != b"!":
        return 1
    return inside.keep_house(call.argv, call.environment, mask)


def _statement(
    call: Call,
    namespaces: list[str],
    mapped: dict[str, int] | None,
    parts: dict[str, Any],
    done: list[Any],
    note: str,
) -> str:
    return proof.encode(
        {
            "policy": call.policy,
            "key": call.key,
            "sealed": True,
            "namespaces": namespaces,
            "uid_map": mapped,
            **parts,
            "socket_families": list(refusals.FAMILIES),
            "refused_system_calls": list(refusals.REFUSED_CALLS),
            "probes": done,
            "reachable_unix_sockets_note": note,
        }
    )


def _put(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
