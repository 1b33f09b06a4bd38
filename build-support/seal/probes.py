"""Does the network end at this process? Asked of the kernel, from inside, before anything is run."""

from __future__ import annotations

import _socket
import errno
import fcntl
import os
import stat
import struct

import kernel

TYPE_CHECKING = False  # importing `typing` would take as long as the seal itself
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Probe = dict[str, Any]

# Addresses of documentation (RFC 5737, RFC 3849): nobody's, and routed like anybody's.
OUTSIDE = ("192.0.2.1", 80)
OUTSIDE_6 = ("2001:db8::1", 80)
NAME_SERVER = ("192.0.2.53", 53)
NAME = b"example.org"  # as bytes: Python would import its IDNA tables for a string

_SIOCGIFFLAGS, _IFF_UP = 0x8913, 1
_UNREACHABLE = ("ENETUNREACH",)
_UNREACHABLE_6 = ("ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT")


def run_probes() -> list[Probe]:
    """All probes, in order. Each is {what, expected, seen, ok}; none waits for an answer from anywhere."""
    done = [
        _probe("network interfaces that are up", "lo", _interfaces_up, ("lo",)),
        _probe("TCP connection over 127.0.0.1", "connected", _loopback, ("connected",)),
        _outside("TCP connection to 192.0.2.1 port 80", _socket.AF_INET, _socket.SOCK_STREAM, OUTSIDE, _UNREACHABLE),
        _outside(
            "TCP connection to 2001:db8::1 port 80",
            _socket.AF_INET6,
            _socket.SOCK_STREAM,
            OUTSIDE_6,
            _UNREACHABLE_6,
        ),
        _outside(
            "UDP packet to a name server at 192.0.2.53",
            _socket.AF_INET,
            _socket.SOCK_DGRAM,
            NAME_SERVER,
            _UNREACHABLE,
        ),
        _probe("standard streams that lead outside", "none", _streams, ("none",)),
        _probe("network namespaces that can be entered", "none", _networks_in_reach, ("none",)),
    ]
    # A look-up may wait for an answer where packets leave; there the probes above have already decided.
    if all(probe["ok"] for probe in done):
        done.append(_probe("look-up of example.org", "no address", _look_up, ("no address",)))
    refused = ("EAFNOSUPPORT",)
    done.append(_outside("socket of the family AF_VSOCK", 40, _socket.SOCK_STREAM, None, refused))
    done.append(_outside("socket of the family AF_PACKET", 17, _socket.SOCK_RAW, None, refused))
    return done


def _probe(what: str, expected: str, look: Callable[[], str], accepted: tuple[str, ...]) -> Probe:
    try:
        seen = look()
    except OSError as error:
        seen = errno.errorcode.get(error.errno or 0, str(error))
    return {"what": what, "expected": expected, "seen": seen, "ok": seen in accepted}


def _outside(what: str, family: int, kind: int, address: tuple[str, int] | None, accepted: tuple[str, ...]) -> Probe:
    def reach() -> str:
        connection = _socket.socket(family, kind, 0)
        try:
            if address is None:
                return "opened"
            connection.setblocking(False)
            connection.connect(address)
            if kind == _socket.SOCK_DGRAM:
                connection.send(b"\0")
            return "reached"
        finally:
            connection.close()

    return _probe(what, " or ".join(accepted), reach, accepted)


def _interfaces_up() -> str:
    asking = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM, 0)
    try:
        up = []
        for _, name in _socket.if_nameindex():
            answer = fcntl.ioctl(asking.fileno(), _SIOCGIFFLAGS, struct.pack("16sh14x", os.fsencode(name), 0))
            if struct.unpack("16xh14x", answer)[0] & _IFF_UP:
                up.append(name)
        return " ".join(up) or "none"
    finally:
        asking.close()


def _loopback() -> str:
    server = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0)
    client = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM, 0)
    try:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        client.settimeout(5)
        client.connect(server.getsockname())
        return "connected"
    finally:
        client.close()
        server.close()


def _look_up() -> str:
    try:
        found = _socket.getaddrinfo(NAME, 80)
    except _socket.gaierror:
        return "no address"
    return f"{len(found)} addresses"


def _streams() -> str:
    """The standard streams that are more than a stream of bytes: each is held by the host's namespaces."""
    return " ".join(str(descriptor) for descriptor in range(3) if _leads_out(descriptor)) or "none"


def _leads_out(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISSOCK(mode):
        # A directory is a way around every cover, and a disk is all of its files.
        return not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISCHR(mode))
    stream = _socket.socket(fileno=os.dup(descriptor))
    try:
        if stream.family != _socket.AF_UNIX or stream.type != _socket.SOCK_STREAM:
            return True  # a datagram's socket sends to any name of the network namespace that it was made in
        # Only a pair has no names. A service's socket has one, at this end or at the other.
        return bool(stream.getsockname() or stream.getpeername())
    except OSError:
        return True  # not connected yet: it can be, to what it likes
    finally:
        stream.close()


def _networks_in_reach() -> str:
    """Network namespaces of other processes that this one may enter: with privileges, `unshare --net` has many."""
    own = os.stat("/proc/self/ns/net")
    reached: list[str] = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and not os.path.samestat(own, os.stat(f"/proc/{name}/ns/net")):
                reached += [name] if _enters(f"/proc/{name}/ns/net") else []
        except OSError:
            continue  # not ours to look at, or just ended
    return "some" if reached else "none"


def _enters(path: str) -> bool:
    child = os.fork()
    if child == 0:
        try:
            kernel.enter(os.open(path, os.O_RDONLY), kernel.NEW_NETWORK)
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0
