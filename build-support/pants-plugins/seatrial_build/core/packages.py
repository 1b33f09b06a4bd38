"""Which packages two texts of a lock, or of a requirements file, disagree about."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)", re.MULTILINE)
_REQUIREMENT = re.compile(r"^[ \t]*([A-Za-z0-9][A-Za-z0-9._-]*)[ \t]*([^#\n]*)", re.MULTILINE)


@dataclass(frozen=True)
class PackageChange:
    """One package, and what it was before and is now; empty where it is missing."""

    name: str
    before: str
    after: str

    @property
    def words(self) -> str:
        """For example `redis 8.1.0 -> 8.2.0`."""
        return f"{self.name} {self.before or 'none'} -> {self.after or 'none'}"


def pinned(before: str, after: str) -> tuple[PackageChange, ...]:
    """Return the packages whose pinned versions two locks disagree about."""
    return _changes(_found(_PIN, before), _found(_PIN, after))


def required(before: str, after: str) -> tuple[PackageChange, ...]:
    """Return the packages that two requirements files ask for otherwise; comments and order mean nothing."""
    return _changes(_found(_REQUIREMENT, before), _found(_REQUIREMENT, after))


def normal(name: str) -> str:
    """Return a package's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _found(pattern: re.Pattern[str], text: str) -> dict[str, str]:
    return {normal(name): " ".join(rest.split()) or "any" for name, rest in pattern.findall(text)}


def _changes(before: dict[str, str], after: dict[str, str]) -> tuple[PackageChange, ...]:
    names = sorted({*before, *after})
    return tuple(
        PackageChange(name, before.get(name, ""), after.get(name, ""))
        for name in names
        if before.get(name) != after.get(name)
    )
