"""The contract versions that a case, a fixture and a recording were written for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import yaml

from seatrial.verdict import Cause, Finding

Versions = Mapping[str, int]


@dataclass(frozen=True)
class Holder:
    """What was written for certain versions, and what to do when they differ.

    A ``complete`` holder names every contract of the agent; a fixture names only those that it was written for.
    """

    name: str
    versions: Versions
    cure: str
    complete: bool = True


def fixture_holder(path: str, versions: Versions) -> Holder:
    """Return a fixture as a holder. Only a person can say that its values still mean what they did."""
    cure = f"edit: read {path} again, then write the agent's versions into its 'contracts'"
    return Holder(path, versions, cure, complete=False)


def contract_findings(current: Versions, holders: Iterable[Holder]) -> tuple[Finding, ...]:
    """Compare the versions that each holder names with the agent's current ones."""
    found: list[Finding] = []
    for holder in holders:
        written = f"{holder.name} was written for contract"
        for contract, version in sorted(holder.versions.items()):
            if contract not in current:
                found.append(_differs(f"{written} {contract} {version}, which the agent no longer has", holder))
            elif current[contract] != version:
                found.append(_differs(f"{written} {contract} {version}; the agent has {current[contract]}", holder))
        for contract in sorted(set(current) - set(holder.versions)) if holder.complete else ():
            reason = f"{holder.name} names no version of contract {contract}; the agent has {current[contract]}"
            found.append(_differs(reason, holder))
    return tuple(found)


def _differs(reason: str, holder: Holder) -> Finding:
    return Finding(
        Cause.CONTRACT_DIFFERS,
        reason,
        detail="A contract's version changes when the meaning of one of its fields does: "
        "what was written for the other meaning has to be read again.",
        cure=holder.cure,
    )


def with_contracts(text: str, versions: Versions) -> str:
    """Return the YAML text of a case with its ``contracts`` line set, and every other byte as it was.

    A case without the line gets it after ``review_by``.
    """
    entry = "contracts: {" + ", ".join(f"{name}: {version}" for name, version in sorted(versions.items())) + "}"
    newline = "\r\n" if "\r\n" in text else "\n"
    root = yaml.SafeLoader(text).get_single_node()
    assert isinstance(root, yaml.MappingNode)
    lines = text.split(newline)
    for key, value in root.value:
        if key.value == "contracts":
            first, last = key.start_mark.line, value.end_mark.line
            # A block mapping ends where the next key starts; a flow mapping ends in its own line.
            keep = last if isinstance(value, yaml.MappingNode) and not value.flow_style else last + 1
            return newline.join([*lines[:first], entry, *lines[keep:]])
    for key, value in root.value:
        if key.value == "review_by":
            position = value.end_mark.line + 1
            return newline.join([*lines[:position], entry, *lines[position:]])
    return newline.join([entry, *lines])
