"""Ways out by the network: addresses, names, interfaces, and families of sockets that no namespace divides."""

from __future__ import annotations

import fcntl
import re
import socket
import struct
from pathlib import Path

from attempt import OUT, World, all_of, call, connect, way

NOWHERE = "192.0.2.1"  # of documentation (RFC 5737), and routed like anybody's
NOWHERE_6 = "2001:db8::1"  # the same (RFC 3849)
_NETLINK = 16
_ALLOWED = {1, 2, 10, _NETLINK}


@way("TCP to an outside address", "ENETUNREACH")
def tcp(world: World) -> str:
    return connect(socket.AF_INET, (NOWHERE, 80))


@way("TCP to an outside IPv6 address", "ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT")
def tcp_6(world: World) -> str:
    return connect(socket.AF_INET6, (NOWHERE_6, 80))


@way("TCP with the first bytes in its first packet", "ENETUNREACH")
def fast_open(world: World) -> str:
    with socket.socket() as client:
        client.sendto(b"?", 0x20000000, (NOWHERE, 80))  # MSG_FASTOPEN
    return OUT


@way("multipath TCP", "ENETUNREACH", "EPROTONOSUPPORT", "ENOPROTOOPT")
def multipath(world: World) -> str:
    return connect(socket.AF_INET, (NOWHERE, 80), protocol=262)


@way("SCTP", "ENETUNREACH", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT")
def sctp(world: World) -> str:
    return connect(socket.AF_INET, (NOWHERE, 80), protocol=132)


@way("UDP to an outside address", "ENETUNREACH")
def udp(world: World) -> str:
    return connect(socket.AF_INET, (NOWHERE, 9), socket.SOCK_DGRAM)


@way("UDP to an outside IPv6 address", "ENETUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT")
def udp_6(world: World) -> str:
    return connect(socket.AF_INET6, (NOWHERE_6, 9), socket.SOCK_DGRAM)


@way("the metadata service of a cloud", "ENETUNREACH")
def metadata(world: World) -> str:
    return connect(socket.AF_INET, ("169.254.169.254", 80))


@way("multicast and broadcast", "ENETUNREACH")
def everybody(world: World) -> str:
    def send(address: str) -> str:
        with socket.socket(type=socket.SOCK_DGRAM) as sender:
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            sender.sendto(b"?", (address, 5353))
        return OUT

    return all_of([lambda: send("224.0.0.251"), lambda: send("255.255.255.255")])


@way("a ping", "EACCES", "EPERM", "EAFNOSUPPORT", "EACCES EAFNOSUPPORT")
def ping(world: World) -> str:
    return all_of(
        [
            lambda: connect(socket.AF_INET, (NOWHERE, 0), socket.SOCK_DGRAM, socket.IPPROTO_ICMP),
            lambda: connect(socket.AF_INET6, (NOWHERE_6, 0), socket.SOCK_DGRAM, socket.IPPROTO_ICMPV6),
        ]
    )


@way("raw packets", "EPERM", "EAFNOSUPPORT EPERM")
def raw(world: World) -> str:
    return all_of(
        [
            lambda: connect(socket.AF_INET, (NOWHERE, 0), socket.SOCK_RAW, socket.IPPROTO_ICMP),
            lambda: connect(socket.AF_INET, (NOWHERE, 0), socket.SOCK_RAW, socket.IPPROTO_RAW),
            lambda: connect(socket.AF_INET6, (NOWHERE_6, 0), socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
        ]
    )


@way("a look-up by libc", "no address")
def look_up(world: World) -> str:
    socket.getaddrinfo("example.org", 443)
    return OUT


@way("a question to each name server of this machine", "ENETUNREACH", "ECONNREFUSED", "ECONNREFUSED ENETUNREACH")
def name_servers(world: World) -> str:
    file = Path("/etc/resolv.conf")
    text = file.read_text() if file.exists() else ""
    servers = ["192.0.2.53", *re.findall(r"^nameserver\s+(\S+)", text, re.MULTILINE)]

    def ask(server: str) -> str:
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        return connect(family, (server, 53), socket.SOCK_DGRAM)

    return all_of([lambda server=server: ask(server) for server in servers])  # type: ignore[misc]


@way("what listens on the loopback interface outside", "ECONNREFUSED")
def outer_loopback(world: World) -> str:
    return all_of(
        [
            lambda: connect(socket.AF_INET, ("127.0.0.1", world.tcp_port)),
            lambda: connect(socket.AF_INET, ("127.0.0.1", world.udp_port), socket.SOCK_DGRAM),
        ]
    )


@way("an interface of the host by its name", "none but lo")
def interfaces(world: World) -> str:
    names = {name for _, name in socket.if_nameindex()} | {path.name for path in Path("/sys/class/net").glob("*")}
    # The kernel may give each namespace tunnels of its own, which are down and lead nowhere.
    real = {name for name in names if Path(f"/sys/class/net/{name}/device").exists()}
    return "none but lo" if "lo" in names and not real else " ".join(sorted(names))


@way("an address or a route of one's own", "EPERM")
def route(world: World) -> str:
    def address() -> str:
        with socket.socket(type=socket.SOCK_DGRAM) as asking:
            data = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton("192.0.2.2"))
            fcntl.ioctl(asking.fileno(), 0x8916, struct.pack("16s16s", b"lo:3", data))  # SIOCSIFADDR
        return OUT

    def gateway() -> str:
        with socket.socket(_NETLINK, socket.SOCK_RAW, 0) as asking:
            body = struct.pack("BBBBBBBBI", socket.AF_INET, 0, 0, 0, 254, 3, 0, 1, 0)
            # RTM_NEWROUTE, with NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE
            asking.send(struct.pack("IHHII", 16 + len(body), 24, 0x405, 1, 0) + body)
            number = struct.unpack_from("i", asking.recv(4096), 16)[0]
        if number:
            raise OSError(-number, "refused")
        return OUT

    return all_of([address, gateway])


@way("netlink, other than what libc asks", "EPROTONOSUPPORT")
def netlink(world: World) -> str:
    return all_of([lambda protocol=protocol: _open(_NETLINK, protocol) for protocol in range(1, 32)])  # type: ignore[misc]


@way("AF_PACKET under its old name", "EPROTONOSUPPORT")
def old_packets(world: World) -> str:
    with socket.socket(socket.AF_INET, 10, 0):  # SOCK_PACKET
        return OUT


# By name, those that lead to a machine's host, to a radio, to a bus or past a namespace; then all that there are.
FAMILIES = {
    "AF_VSOCK": 40,
    "AF_PACKET": 17,
    "AF_BLUETOOTH": 31,
    "AF_CAN": 29,
    "AF_ALG": 38,
    "AF_XDP": 44,
    "AF_TIPC": 30,
    "AF_RDS": 21,
    "AF_SMC": 43,
    "AF_QIPCRTR": 42,
    "AF_NFC": 39,
    "AF_KEY": 15,
}


def _enter_families() -> None:
    for name, number in FAMILIES.items():
        way(f"a socket of the family {name}", "EAFNOSUPPORT")(lambda _, number=number: _open(number))  # type: ignore[misc]


def _open(family: int, protocol: int = 0) -> str:
    def by_kind(kind: int) -> str:
        call("socket", family, kind, protocol)
        return OUT

    kinds = (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET)
    return all_of([lambda kind=kind: by_kind(kind) for kind in kinds])  # type: ignore[misc]


_enter_families()


@way("a socket of any other family", "EAFNOSUPPORT")
def any_family(world: World) -> str:
    others = [number for number in range(128) if number not in _ALLOWED]
    return all_of([lambda number=number: _open(number) for number in others])  # type: ignore[misc]
