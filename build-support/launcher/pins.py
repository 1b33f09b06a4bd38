"""Pinned Debian packages (lines of `sha256 bytes path`, the path below a mirror's address), and digests."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

_PARTS = Path(__file__).resolve().parent


class Package(NamedTuple):
    sha256: str
    size: int
    path: str

    @property
    def file(self) -> str:
        return self.path.rsplit("/", 1)[1]

    @property
    def name(self) -> str:
        return self.file.split("_", 1)[0]


def part(name: str) -> Path:
    """A data file of the launcher."""
    return _PARTS / name


def read_packages(file: Path) -> list[Package]:
    lines = file.read_text(encoding="utf-8").splitlines()
    entries = (line.split() for line in lines if line and not line.startswith("#"))
    return [Package(sha256, int(size), path) for sha256, size, path in entries]


def digest_of(*parts: bytes) -> str:
    """Names what was built from these bytes: 12 hexadecimal digits."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def sha256_of(file: Path) -> str:
    total = hashlib.sha256()
    with file.open("rb") as handle:
        for block in iter(lambda: handle.read(1 << 20), b""):
            total.update(block)
    return total.hexdigest()
