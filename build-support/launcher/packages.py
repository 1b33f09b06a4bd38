"""Downloads pinned Debian packages from this machine's mirrors, and unpacks them into a private folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from launcher import debian_index, mirrors, pins, tool
from launcher.report import SetUpError, say, tail

_APT_HELPER = "/usr/lib/apt/apt-helper"
_ETC_APT = Path("/etc/apt")


def unpack(packages: list[pins.Package], release: str, folder: Path) -> None:
    """Puts the packages' files below `folder`, each verified against its pin, or by `release`'s signed index.

    Raises SetUpError if this is no Debian, or no mirror has them.
    """
    for program in (_APT_HELPER, "dpkg-deb"):
        if shutil.which(program) is None:
            raise SetUpError(
                "Debian's packages cannot be used",
                f"`{program}` is missing, so this is no Debian",
                "install CPython 3.9 and 3.11 with pip (pyenv, uv), so that `python3.9` and `python3.11` run",
            )
    downloads = folder / "downloads"
    downloads.mkdir()
    _download(packages, release, downloads)
    for file in sorted(downloads.glob("*.deb")):
        done = tool.run(["dpkg-deb", "-x", str(file), str(folder)])
        if done.code != 0:
            why = tail(done.output)
            raise SetUpError(
                f"'{file.name}' was not unpacked", why, "check the disk's free space, then try again"
            )
    shutil.rmtree(downloads)


def _download(packages: list[pins.Package], release: str, folder: Path) -> None:
    sources = mirrors.debian_sources(_ETC_APT)
    override = os.environ.get("SEATRIAL_DEBIAN_MIRROR")
    bases = ([override.rstrip("/")] if override else []) + mirrors.addresses(sources)
    if not bases:
        raise SetUpError(
            "no Debian mirror is known",
            f"'{_ETC_APT}/sources.list' and '{_ETC_APT}/sources.list.d' name none with the component main",
            "set SEATRIAL_DEBIAN_MIRROR to the base address of a mirror",
        )
    missing, complaint = packages, ""
    for base in bases:
        missing, complaint = _fetch(missing, base, folder, complaint)
        if not missing:
            return
    say(f"no mirror gave {missing[0].name} as pinned; taking today's, by {release}'s signed index.")
    # All of them anew: packages of one source refuse to be mixed with those of its other versions.
    for file in folder.iterdir():
        file.unlink()
    names = [package.name for package in packages]
    debian_index.download(
        names, debian_index.source_lines(release, sources, override), release, folder, complaint
    )


def _fetch(
    packages: list[pins.Package], base: str, folder: Path, complaint: str
) -> tuple[list[pins.Package], str]:
    """What `base` does not have as pinned, and why. By apt's own client: it knows proxies and credentials."""
    command = [_APT_HELPER, "download-file"]
    for package in packages:
        command += [f"{base}/{package.path}", str(folder / package.file), f"SHA256:{package.sha256}"]
    done = tool.run(command)
    missing = []
    for package in packages:
        file = folder / package.file
        if not file.is_file() or pins.sha256_of(file) != package.sha256:
            missing.append(package)
            if file.exists():
                file.unlink()
    errors = [line[3:] for line in done.output.splitlines() if line.startswith("E: Failed")]
    return missing, errors[0] if errors else complaint
