"""`/pants` hands over when its stamp is good, and otherwise sets up. Pants is a script here: it tells what it got."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAMS = os.environ.get("PATH") or os.defpath
TELL = """#!/bin/sh
printf "arguments:"; printf " [%s]" "$@"; echo
echo "folder: $PWD"
env
"""


class Checkout:
    """A copy of the launcher in a folder of its own, with a cache beside it."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.root = folder / "a checkout"
        self.parts = self.root / "build-support" / "launcher"
        self.cache = folder / "cache"
        self.tell = folder / "tell"
        self.parts.mkdir(parents=True)
        shutil.copy(repository / "pants", self.root)
        for part in (repository / "build-support" / "launcher").iterdir():
            if part.suffix in (".py", ".lock", ".debian"):
                shutil.copy(part, self.parts)
        self.tell.write_text(TELL)
        self.tell.chmod(0o755)

    def stamp(self) -> Path:
        """Worked out apart from the script: sha256sum's lines, sorted by byte, hashed again."""
        names = ["../../pants"]
        for pattern in ("*.py", "*.lock", "*.debian"):
            names += sorted(path.name for path in self.parts.glob(pattern))
        lines = [f"{hashlib.sha256((self.parts / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
        key = hashlib.sha256("".join(lines).encode()).hexdigest()
        return self.cache / "launcher" / "ready" / key

    def set_up(self, *lines: str) -> None:
        stamp = self.stamp()
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text("".join(f"{line}\n" for line in (f"python={self.tell}", "program=bin/pants", *lines)))

    def run(self, *arguments: str, folder: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        """With no python3 in sight, so that a set-up stops with its first message instead of reaching out."""
        tools = self.cache.parent / "tools"
        if not tools.exists():
            tools.mkdir()
            for name in ("bash", "sha256sum", "readlink", "env", "sh"):
                found = shutil.which(name, path=PROGRAMS)
                assert found is not None
                (tools / name).symlink_to(found)
        given = {"PATH": str(tools), "HOME": str(self.cache.parent), "SEATRIAL_CACHE": str(self.cache)}
        return subprocess.run(
            [str(self.root / "pants"), *arguments],
            cwd=folder or self.root,
            env={**given, **environment},
            capture_output=True,
            text=True,
        )


@pytest.fixture
def checkout(repository: Path, tmp_path: Path) -> Checkout:
    return Checkout(repository, tmp_path)


def variables(output: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in output.splitlines() if "=" in line)


def test_a_ready_machine_hands_over_in_silence_with_arguments_and_folder(checkout: Checkout) -> None:
    checkout.set_up()
    result = checkout.run("--tag=['stress']", "test", "a b::", folder=checkout.parts)
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.splitlines()[0] == "arguments: [bin/pants] [--tag=['stress']] [test] [a b::]"
    assert result.stdout.splitlines()[1] == f"folder: {checkout.parts}"
    assert variables(result.stdout)["NO_SCIE_WARNING"] == "1"


def test_called_from_outside_it_works_on_its_own_repository(checkout: Checkout, tmp_path: Path) -> None:
    checkout.set_up()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "link").symlink_to(checkout.root / "pants")
    result = subprocess.run(
        [str(outside / "link")],
        cwd=outside,
        env={"PATH": PROGRAMS, "SEATRIAL_CACHE": str(checkout.cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines()[1] == f"folder: {checkout.root}"


def test_the_stamps_settings_reach_pants_but_the_users_own_win(checkout: Checkout) -> None:
    checkout.set_up('env=PANTS_ONE=["a b", "c=d"]', "env=PANTS_TWO=from the stamp")
    given = variables(checkout.run(PANTS_TWO="").stdout)
    assert given["PANTS_ONE"] == '["a b", "c=d"]'
    assert given["PANTS_TWO"] == ""


def test_a_private_ca_is_passed_on_when_its_file_exists(checkout: Checkout, tmp_path: Path) -> None:
    checkout.set_up()
    authority = tmp_path / "ca.pem"
    authority.touch()
    assert variables(checkout.run(SSL_CERT_FILE=str(authority)).stdout)["PANTS_CA_CERTS_PATH"] == str(authority)
    own = checkout.run(SSL_CERT_FILE=str(authority), PANTS_CA_CERTS_PATH="/own.pem")
    assert variables(own.stdout)["PANTS_CA_CERTS_PATH"] == "/own.pem"
    assert "PANTS_CA_CERTS_PATH" not in variables(checkout.run(SSL_CERT_FILE="/missing.pem").stdout)


def test_variables_for_other_interpreters_do_not_reach_pants(checkout: Checkout) -> None:
    checkout.set_up()
    assert "PYTHONPATH" not in variables(checkout.run(PYTHONPATH="/elsewhere").stdout)


@pytest.mark.parametrize("part", ["pants.lock", "cpython-3.9.debian", "set_up.py", "../../pants"])
def test_a_changed_part_asks_for_a_new_set_up(checkout: Checkout, part: str) -> None:
    checkout.set_up()
    with (checkout.parts / part).open("a") as file:
        file.write("# changed\n")
    result = checkout.run()
    assert result.returncode == 1
    assert "cannot set up Pants" in result.stderr


def test_a_needed_file_that_is_gone_asks_for_a_new_set_up(checkout: Checkout, tmp_path: Path) -> None:
    needed = tmp_path / "python3.11"
    needed.touch()
    checkout.set_up(f"need={needed}")
    assert checkout.run().returncode == 0
    needed.unlink()
    assert "cannot set up Pants" in checkout.run().stderr


def test_the_language_of_the_user_does_not_ask_for_a_new_set_up(checkout: Checkout) -> None:
    checkout.set_up()
    assert checkout.run(LC_ALL="C.UTF-8").returncode == 0
    assert checkout.run(LC_ALL="C").returncode == 0


def test_without_any_python3_it_says_what_to_install(checkout: Checkout) -> None:
    result = checkout.run("test", "::")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "pants: cannot set up Pants: no python3 on PATH works (3.8 or newer, with its whole standard library).",
        "pants: Next: install one, best with pip. On Debian: apt-get install python3 python3-pip",
    ]
    assert not checkout.cache.exists()


def test_the_cache_lies_in_the_users_cache_folder(checkout: Checkout, tmp_path: Path) -> None:
    checkout.set_up()
    (tmp_path / "xdg").mkdir()
    checkout.cache.rename(tmp_path / "xdg" / "seatrial")
    assert checkout.run(SEATRIAL_CACHE="", XDG_CACHE_HOME=str(tmp_path / "xdg")).returncode == 0
    (tmp_path / "xdg").rename(tmp_path / ".cache")
    assert checkout.run(SEATRIAL_CACHE="").returncode == 0
