"""Does the network end at this process? Asked of the kernel, from inside, before anything is run."""

from __future__ import annotations

import _socket
import errno
import fcntl
import os
import stat
import struct

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
        _probe("standard streams that are network connections", "none", _network_streams, ("none",)),
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


def _network_streams() -> str:
    found = []
    for descriptor in range(3):
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            stream = _socket.socket(fileno=os.dup(descriptor))
            if stream.family != _socket.AF_UNIX:
                found.append(str(descriptor))
            stream.close()
    return " ".join(found) or "none"
