"""Proofs are exact, policies are never softer than they say, and what cannot be sealed is not run."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "build-support" / "seal"

# A user namespace (root inside, as in a container) in which something is set before the seal is started.
NAMESPACE = """
import os, sys
sys.path.insert(0, sys.argv[1])
import inside, kernel
user, group = os.getuid(), os.getgid()
kernel.unshare(kernel.NEW_USERS | kernel.NEW_NETWORK)
for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
    with open(f"/proc/self/{name}", "w") as file:
        file.write(text)
exec(sys.argv[2])
os.execvp(sys.argv[3], sys.argv[3:])
"""


def place(setting: str) -> Callable[[list[str]], list[str]]:
    """A place to start the seal in, made by running `setting` in a user and network namespace."""
    return lambda argv: [sys.executable, "-c", NAMESPACE, str(FOLDER), setting, *argv]


def limit(kind: str) -> Callable[[list[str]], list[str]]:
    """A place that allows no more namespaces of this kind."""
    return place(f"open('/proc/sys/user/max_{kind}_namespaces', 'w').write('0')")


def test_the_proof_is_there_before_the_command_and_says_what_was_probed(seal: Any) -> None:
    done = seal.python("import json, os; print(json.dumps(json.load(open(os.environ['SEATRIAL_SEAL_PROOF']))))")
    assert json.loads(done.output) == done.proof
    assert (done.proof["policy"], done.proof["sealed"], done.proof["key"]) == ("required", True, "the key of what runs")
    assert done.proof["namespaces"] == ["user", "net", "mount", "pid", "ipc"]
    assert done.proof["uid_map"] == {"inside": 65534, "outside": os.getuid()}
    assert all(probe["ok"] for probe in done.proof["probes"])
    seen = {probe["what"]: probe["seen"] for probe in done.proof["probes"]}
    assert seen["TCP connection to 192.0.2.1 port 80"] == "ENETUNREACH"
    assert seen["TCP connection over 127.0.0.1"] == "connected"
    assert seen["look-up of example.org"] == "no address"
    assert "can be reached" in done.proof["reachable_unix_sockets_note"]


def test_two_seals_write_the_same_proof_byte_for_byte(seal: Any, tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        seal.directory = tmp_path / name
        seal.run("true", cwd=tmp_path)
        texts.append((tmp_path / name / "proof.json").read_bytes())
    assert texts[0] == texts[1]


def test_relative_paths_are_of_the_directory_of_the_call(tmp_path: Path) -> None:
    argv = [sys.executable, str(FOLDER / "seal.py"), "--policy", "required", "--proof", "deep/proof.json"]
    argv += ["--record-dir", ".", "--address", "a", "--", "sh", "-c", 'echo "$SEATRIAL_SEAL_PROOF"']
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path}/deep/proof.json\n"
    assert sorted(os.listdir(tmp_path)) == ["deep"]


@pytest.mark.parametrize("kind", ["user", "net", "pid", "mnt"])
def test_where_a_namespace_is_refused_nothing_runs_and_the_record_says_what_to_do(
    seal: Any, tmp_path: Path, kind: str
) -> None:
    done = seal.run("touch", str(tmp_path / "ran"), within=limit(kind))
    assert (done.status, done.files) == (16, ["record.json"]), done.errors
    assert not (tmp_path / "ran").exists()
    record = done.record
    assert (record["format"], record["address"], record["verdict"]) == (1, "tests//case.yaml", "unsealed")
    assert "ENOSPC: No space left on device" in record["reason"]
    assert ("sysctl -w user.max_user_namespaces=15000" if kind == "user" else "max_*_namespaces") in record["cure"]
    assert (record["seal"]["policy"], record["seal"]["sealed"]) == ("required", False)
    assert record["seal"]["tried"][-1] in record["reason"]
    assert record["reason"] in done.errors and record["cure"] in done.errors


def test_what_an_earlier_run_left_does_not_stand(seal: Any) -> None:
    assert seal.run("true").files == ["proof.json"]
    assert seal.run("true", within=limit("user")).files == ["record.json"]
    assert seal.run("true").files == ["proof.json"]


def test_a_proof_that_cannot_be_written_lets_nothing_run(seal: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    argv = seal.argv("touch", str(tmp_path / "ran"))
    argv[argv.index("--proof") + 1] = str(tmp_path / "file" / "proof.json")
    done = subprocess.run(argv, capture_output=True, text=True)
    assert done.returncode == 16 and not (tmp_path / "ran").exists()
    record = json.loads((seal.directory / "record.json").read_text())
    assert "write the proof: EEXIST" in record["reason"] and "may write" in record["cure"]


def test_inherited_is_believed_inside_a_seal(seal: Any, tmp_path: Path) -> None:
    inner = type(seal)(tmp_path / "inner")
    assert seal.run(*inner.argv("sh", "-c", "exit 9", policy="inherited")).status == 9
    proof = json.loads((tmp_path / "inner" / "proof.json").read_text())
    assert (proof["policy"], proof["sealed"], proof["namespaces"], proof["key"]) == (
        "inherited",
        True,
        [],
        "the key of what runs",
    )
    assert all(probe["ok"] for probe in proof["probes"])


@pytest.mark.parametrize(
    ("setting", "probe"),
    [
        ("pass", "network interfaces that are up: none"),
        # The address is answered: as far as a probe can see, it is a machine out there.
        (
            "import socket, struct, fcntl; inside.raise_loopback()\n"
            "address = struct.pack('HH4s8x', socket.AF_INET, 0, socket.inet_aton('192.0.2.1'))\n"
            "fcntl.ioctl(socket.socket(), 0x8916, struct.pack('16s16s', b'lo:2', address))",
            "TCP connection to 192.0.2.1 port 80: ",
        ),
        # Another process has another network, and this one the privilege to go there.
        (
            "import signal; inside.raise_loopback()\n"
            "heard, said = os.pipe()\n"
            "if os.fork() == 0: kernel.die_with_parent(9); os.write(said, b'!'); signal.pause()\n"
            "os.read(heard, 1); kernel.unshare(kernel.NEW_NETWORK); inside.raise_loopback()",
            "network namespaces that can be entered: some",
        ),
    ],
)
def test_inherited_is_refused_where_the_probes_see_anything_else(
    seal: Any, tmp_path: Path, setting: str, probe: str
) -> None:
    done = seal.run("touch", str(tmp_path / "ran"), policy="inherited", within=place(setting))
    assert (done.status, done.files) == (16, ["record.json"]), done.errors
    assert not (tmp_path / "ran").exists()
    assert probe in done.record["reason"]
    assert "--network none" in done.record["cure"]


def test_inherited_is_believed_of_this_very_place_only_when_it_has_no_network(seal: Any) -> None:
    cut_off = [name for _, name in socket.if_nameindex()] == ["lo"]
    assert seal.run("true", policy="inherited").status == (0 if cut_off else 16)


def test_off_runs_and_is_never_silent(seal: Any) -> None:
    done = seal.run("sh", "-c", "exit 4", policy="off")
    assert (done.status, done.proof["policy"], done.proof["sealed"], done.proof["key"]) == (
        4,
        "off",
        False,
        "the key of what runs",
    )
    assert "seal: OFF. tests//case.yaml runs with the network in reach." in done.errors


def test_a_failed_seal_is_not_replaced_by_a_weaker_policy(seal: Any) -> None:
    done = seal.run(
        "true",
        within=place("inside.raise_loopback(); open('/proc/sys/user/max_pid_namespaces','w').write('0')"),
    )
    assert done.status == 16  # although `inherited` would have been proved here


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        ([], "missing: --policy, --proof, --record-dir, --address"),
        (["--policy"], "'--policy' is not an option with a value"),
        (["--polcy", "off"], "'--polcy' is not an option with a value"),
        (
            ["--policy", "maybe", "--proof", "p", "--record-dir", ".", "--address", "a", "--", "true"],
            "the policy 'maybe'",
        ),
        (
            ["--policy", "off", "--proof", "p", "--record-dir", ".", "--address", "a", "--"],
            "the command after --",
        ),
        (
            [
                "--policy",
                "off",
                "--proof",
                "p",
                "--record-dir",
                ".",
                "--address",
                "a",
                "--keep-socket",
                "s",
                "--",
                "true",
            ],
            "does not exist",
        ),
    ],
)
def test_a_wrong_call_is_named_and_runs_nothing(tmp_path: Path, argv: list[str], problem: str) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "seal.py"), *argv], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2 and problem in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("policy", "platform", "number", "cure"),
    [
        ("required", "darwin", 1, "needs Linux"),
        ("inherited", "darwin", 0, "needs Linux"),
        ("inherited", "linux", 0, "--network none"),
    ],
)
def test_the_cure_fits_the_platform(policy: str, platform: str, number: int, cure: str) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import unsealed\n"
        "print(unsealed.find_cure(sys.argv[2], sys.argv[3], 'x', OSError(int(sys.argv[4]), 'x')))"
    )
    argv = [sys.executable, "-c", code, str(FOLDER), policy, platform, str(number)]
    assert cure in subprocess.run(argv, capture_output=True, text=True, check=True).stdout
