"""Reads the addresses of Debian's mirrors from apt's own sources files: the launcher names no mirror itself.

Formats: sources.list(5) of apt, one-line (`*.list`) and deb822 (`*.sources`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_SUITE = re.compile(
    r"(bullseye|bookworm|trixie|forky|duke|sid|oldoldstable|oldstable|stable|testing|unstable)"
    r"(-security|-updates|-backports|-proposed-updates|/updates)?"
)


class Source(NamedTuple):
    address: str
    suite: str


def debian_sources(etc_apt: Path) -> list[Source]:
    """Enabled entries for Debian's `main`, in apt's order; other vendors' repositories are left out."""
    found: dict[Source, None] = {}
    files = [etc_apt / "sources.list"]
    folder = etc_apt / "sources.list.d"
    if folder.is_dir():
        files += sorted(path for path in folder.iterdir() if path.suffix in (".list", ".sources"))
    for path in files:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        entries = _deb822(text) if path.suffix == ".sources" else _one_line(text)
        for address, suites, components in entries:
            for suite in suites:
                if "main" in components and _SUITE.fullmatch(suite):
                    for expanded in _expand(address):
                        found[Source(expanded.rstrip("/"), suite)] = None
    return list(found)


def addresses(sources: list[Source]) -> list[str]:
    """Each base address once, in order."""
    return list(dict.fromkeys(source.address for source in sources))


def _one_line(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    for line in text.splitlines():
        entry = re.match(r"\s*deb\s+(?:\[[^\]]*\]\s*)?(\S+)\s+(\S+)\s+([^#]+)", line)
        if entry:
            yield entry[1], [entry[2]], entry[3].split()


def _deb822(text: str) -> Iterator[tuple[str, list[str], list[str]]]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields = {
            name.lower(): value.split()
            for name, value in re.findall(r"^([A-Za-z-]+):((?:.*)(?:\n[ \t].*)*)", stanza, re.MULTILINE)
        }
        enabled = fields.get("enabled", ["yes"])[:1] != ["no"]
        if enabled and "deb" in fields.get("types", []):
            for address in fields.get("uris", []):
                yield address, fields.get("suites", []), fields.get("components", [])


def _expand(address: str) -> Iterator[str]:
    """`mirror+file:/path` (Debian's cloud images) stands for the addresses in that file."""
    prefix = "mirror+file:"
    if not address.startswith(prefix):
        yield address
        return
    path = Path("/" + address[len(prefix) :].lstrip("/"))
    try:
        listed = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in listed:
        words = line.split("#")[0].split()
        if words:
            yield words[0]
