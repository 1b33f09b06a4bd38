"""What a set-up writes for `/pants`, how it fails, and what its pinned files may hold."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from launcher import pex_cli, pins, set_up, wheels


def test_the_pex_tool_is_given_by_checksum_and_size(tmp_path: Path) -> None:
    file = tmp_path / "a pex"
    file.write_bytes(b"12345")
    settings = pex_cli.settings(file)
    assert settings["PANTS_PEX_CLI_URL_TEMPLATE"] == f"file://{tmp_path}/a%20pex"
    expected = f"v2.1.137|linux_x86_64|{hashlib.sha256(b'12345').hexdigest()}|5"
    assert json.loads(settings["PANTS_PEX_CLI_KNOWN_VERSIONS"]) == [expected]


def test_a_stamp_is_usable_only_while_all_it_needs_is_there(tmp_path: Path) -> None:
    python, program, other = tmp_path / "python", tmp_path / "program", tmp_path / "other"
    for file in (python, program, other):
        file.touch()
    stamp = tmp_path / "stamp"
    assert not set_up.is_usable(stamp)
    stamp.write_text(set_up.stamp_text(python, program, [other], {"NAME": "a=b"}))
    assert set_up.is_usable(stamp)
    other.unlink()
    assert not set_up.is_usable(stamp)


def test_a_failure_says_what_failed_why_and_what_is_next(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    main = repository / "build-support" / "launcher" / "__main__.py"
    result = subprocess.run(
        [
            sys.executable,
            "-I",
            "-B",
            str(main),
            "--stamp",
            str(tmp_path / "file" / "launcher" / "ready" / "key"),
        ],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert result.stdout == ""
    what, why, next_step = result.stderr.splitlines()
    folder = f"{tmp_path}/file/launcher"
    assert what == f"pants: cannot set up Pants: the cache folder '{folder}' cannot be written."
    assert why.startswith("pants: Why: ") and "Not a directory" in why
    assert next_step == "pants: Next: make it writable, or set SEATRIAL_CACHE to another folder"


def test_pip_keeps_its_configuration_but_for_what_would_change_a_hashed_install(tmp_path: Path) -> None:
    certificates = tmp_path / "ca.pem"
    certificates.touch()
    given = {
        "PIP_INDEX_URL": "x",
        "PIP_CONSTRAINT": "/c.txt",
        "PIP_USER": "1",
        "SSL_CERT_FILE": str(certificates),
    }
    environment = wheels.pip_environment(given)
    assert environment["PIP_INDEX_URL"] == "x"
    assert environment["PIP_CONSTRAINT"] == "/dev/null"
    assert environment["PIP_USER"] == "0"
    assert environment["REQUESTS_CA_BUNDLE"] == str(certificates)


@pytest.mark.parametrize("own", ["PIP_CERT", "REQUESTS_CA_BUNDLE"])
def test_certificates_chosen_for_pip_win_over_the_general_ones(tmp_path: Path, own: str) -> None:
    certificates = tmp_path / "ca.pem"
    certificates.touch()
    environment = wheels.pip_environment({"SSL_CERT_FILE": str(certificates), own: "/own.pem"})
    assert environment[own] == "/own.pem"
    assert str(certificates) not in (environment.get("PIP_CERT"), environment.get("REQUESTS_CA_BUNDLE"))


@pytest.mark.parametrize("name", ["pants.lock", "bootstrap.lock", "uv.lock"])
def test_every_locked_requirement_is_pinned_and_hashed(name: str) -> None:
    requirements = re.split(r"^(?=\S)", pins.part(name).read_text(), flags=re.MULTILINE)[1:]
    assert requirements
    for requirement in requirements:
        assert re.match(r"[a-z0-9-]+==[0-9.]+ \\\n(    --hash=sha256:[0-9a-f]{64}( \\)?\n)+$", requirement), requirement


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (
            "cpython-3.9.debian",
            {"python3.9", "python3.9-minimal", "libpython3.9-stdlib", "python3-distutils"},
        ),
        ("cpython-3.11.debian", {"python3.11", "python3.11-minimal", "libpython3.11-stdlib"}),
        ("pip.debian", {"python3-pip-whl"}),
    ],
)
def test_pinned_packages_are_complete_and_lie_below_a_mirrors_pool(name: str, wanted: set[str]) -> None:
    packages = pins.read_packages(pins.part(name))
    assert wanted <= {package.name for package in packages}
    for package in packages:
        assert re.fullmatch(r"[0-9a-f]{64}", package.sha256)
        assert package.size > 1000
        assert re.fullmatch(r"pool/main/[\w.+~/-]+_(amd64|all)\.deb", package.path)
