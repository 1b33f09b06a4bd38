"""Debian packages by name, for when a pinned file has left the mirrors: what apt's signed index has today.

A stable release replaces packages at each point release and drops the old files. Trust then comes from the
release's signature, which apt checks against the Debian keyring on this machine, instead of from a pin.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from launcher import tool
from launcher.mirrors import Source
from launcher.report import SetUpError, tail

_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def source_lines(release: str, sources: list[Source], override: str | None) -> list[str]:
    """apt's one-line entries for `release`, on the mirrors that serve this machine's own release."""
    wanted: dict[tuple[str, str], None] = {}
    if override:
        wanted[override.rstrip("/"), release] = None
    for source in sources:
        if source.suite.endswith(("-security", "/updates")):
            wanted[source.address, f"{release}-security"] = None
        elif "-" not in source.suite:
            wanted[source.address, release] = None
    return [f"deb [signed-by={_KEYRING}] {address} {suite} main\n" for address, suite in wanted]


def download(names: list[str], entries: list[str], release: str, folder: Path, complaint: str) -> None:
    """Puts the packages' files into `folder`, with an apt of its own below it: no root, no system state.

    Raises SetUpError; `complaint` says why the pinned files did not come.
    """
    if not _KEYRING.is_file():
        raise _unreached(release, f"{complaint}; and '{_KEYRING}' is missing")
    with tempfile.TemporaryDirectory(dir=folder) as private:
        root = Path(private)
        for needed in ("lists/partial", "archives/partial", "parts"):
            (root / needed).mkdir(parents=True)
        (root / "sources.list").write_text("".join(entries), encoding="utf-8")
        (root / "status").touch()
        options = {
            "Dir::State": root,
            "Dir::State::Lists": root / "lists",
            "Dir::State::status": root / "status",
            "Dir::Cache": root,
            "Dir::Etc::sourcelist": root / "sources.list",
            "Dir::Etc::sourceparts": root / "parts",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root",
            "Acquire::Languages": "none",
        }
        apt_get = ["apt-get", "-qq"] + [f"-o{name}={value}" for name, value in options.items()]
        for command in ([*apt_get, "update"], [*apt_get, "download", *names]):
            done = tool.run(command, environment={**os.environ, "LC_ALL": "C.UTF-8"}, folder=folder)
            if done.code != 0:
                raise _unreached(release, f"{complaint}; then: {tail(done.output)}")


def _unreached(release: str, why: str) -> SetUpError:
    cure = (
        f"check `apt-get update`, or set SEATRIAL_DEBIAN_MIRROR to the address of a mirror that has {release}"
    )
    return SetUpError(f"the packages of Debian's {release} were not downloaded", why, cure)
