"""The filter of system calls, run here step by step: for the machine that the tests are on and for the other one.

The numbers are taken down apart from the seal's, as `unistd.h` has them for each machine.
"""

from __future__ import annotations

import importlib
import struct
import sys
from pathlib import Path

import pytest
from attempt import NUMBERS

sys.path.append(str(Path(__file__).parents[2] / "build-support" / "seal"))
refusals = importlib.import_module("refusals")

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386, ARM = 0x40000003, 0x40000028
ALLOW, ERRNO = 0x7FFF0000, 0x50000
EPERM, ENOSYS, EPROTONOSUPPORT, EAFNOSUPPORT = 1, 38, 93, 97
COLUMNS = {machine: place for place, machine in enumerate(ARCHITECTURES)}
REFUSED = (
    "add_key",
    "bpf",
    "io_uring_setup",
    "keyctl",
    "one that is newer than the seal",
    "open_by_handle_at",
    "perf_event_open",
    "request_key",
    "socket, as x32 numbers it",
    "syslog",
    "userfaultfd",
)
# What a seal in a seal, a store, a debugger inside and an ordinary program need.
ALLOWED = (
    "mount",
    "unshare",
    "setns",
    "ptrace",
    "process_vm_readv",
    "shmget",
    "mq_open",
    "pidfd_open",
    "mount_setattr",
)


def step(program: bytes, place: int) -> tuple[int, int, int, int]:
    code, true, false, operand = struct.unpack_from("HBBI", program, place * 8)
    return int(code), int(true), int(false), int(operand)


def answer(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """What the filter says of a call: `ALLOW`, or the number of an error."""
    program = refusals.assemble(machine)
    words = [*arguments, *([0] * (6 - len(arguments)))]
    data = struct.pack("=IIQ6Q", number, architecture or ARCHITECTURES[machine], 0, *words)
    held, place = 0, 0
    while True:
        code, true, false, operand = step(program, place)
        place += 1
        if code == 0x20:
            held = struct.unpack_from("=I", data, operand)[0]
        elif code == 0x54:
            held &= operand
        elif code in (0x15, 0x35):
            place += true if (held == operand if code == 0x15 else held >= operand) else false
        else:
            assert code == 0x06
            return operand if operand == ALLOW else operand - ERRNO


@pytest.mark.parametrize("machine", list(ARCHITECTURES))
@pytest.mark.parametrize("name", REFUSED)
def test_a_call_is_refused(machine: str, name: str) -> None:
    assert answer(machine, NUMBERS[name][COLUMNS[machine]]) == ENOSYS


@pytest.mark.parametrize("machine", list(ARCHITECTURES))
@pytest.mark.parametrize("name", ALLOWED)
def test_a_call_is_allowed(machine: str, name: str) -> None:
    assert answer(machine, NUMBERS[name][COLUMNS[machine]]) == ALLOW


@pytest.mark.parametrize("machine", list(ARCHITECTURES))
@pytest.mark.parametrize("call", ["socket", "socketpair"])
def test_of_the_families_of_sockets_three_and_a_part_of_netlink_are_allowed(machine: str, call: str) -> None:
    number = NUMBERS[call][COLUMNS[machine]]
    allowed = [family for family in range(256) if answer(machine, number, family, 1, 0) == ALLOW]
    assert allowed == [1, 2, 10, 16]
    assert answer(machine, number, 40, 1, 0) == answer(machine, number, 17, 3, 0) == EAFNOSUPPORT
    assert [protocol for protocol in range(64) if answer(machine, number, 16, 3, protocol) == ALLOW] == [0]
    assert answer(machine, number, 16, 3, 15) == EPROTONOSUPPORT
    # The type may carry SOCK_CLOEXEC and SOCK_NONBLOCK, and the upper half of an argument is nobody's.
    assert answer(machine, number, 2, 0o2004000 | 10, 0) == EPROTONOSUPPORT
    assert answer(machine, number, 2, 0o2004000 | 1, 0) == ALLOW
    assert answer(machine, number, 0xFFFF_FFFF_0000_0028, 1, 0) == EAFNOSUPPORT


@pytest.mark.parametrize("machine", list(ARCHITECTURES))
def test_nothing_is_typed_at_a_terminal(machine: str) -> None:
    number = NUMBERS["ioctl"][COLUMNS[machine]]
    assert answer(machine, number, 0, 0x5412) == answer(machine, number, 0, 0x541C) == EPERM
    assert answer(machine, number, 0, 0x5413) == ALLOW


@pytest.mark.parametrize(("machine", "older"), [("x86_64", I386), ("aarch64", ARM)])
def test_every_call_with_the_numbers_of_32_bits_is_refused(machine: str, older: int) -> None:
    assert {answer(machine, number, architecture=older) for number in range(460)} == {ENOSYS}


def test_a_machine_whose_numbers_are_not_known_has_no_filter() -> None:
    with pytest.raises(OSError, match="no system call filter is known for the machine 'riscv64'"):
        refusals.assemble("riscv64")
