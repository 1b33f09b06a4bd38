"""The contract versions that a case, a fixture and a recording were written for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import yaml

from seatrial.verdict import Cause, Finding

Versions = Mapping[str, int]


def contract_findings(
    current: Versions, holders: Iterable[tuple[str, Versions]], *, complete: Iterable[str], cure: str
) -> tuple[Finding, ...]:
    """Compare the versions that each holder names with the agent's current ones.

    ``holders`` are (what it is, its versions). A holder named in ``complete`` has to name every contract
    of the agent; others, such as fixtures, name only those that they were written for.
    """
    found: list[Finding] = []
    whole = set(complete)
    for name, versions in holders:
        for contract, version in sorted(versions.items()):
            if contract not in current:
                found.append(
                    _differs(
                        f"{name} was written for contract {contract} {version}, which the agent no longer has", cure
                    )
                )
            elif current[contract] != version:
                found.append(
                    _differs(
                        f"{name} was written for contract {contract} {version}; the agent has {current[contract]}", cure
                    )
                )
        if name in whole:
            found.extend(
                _differs(f"{name} names no version of contract {contract}; the agent has {current[contract]}", cure)
                for contract in sorted(set(current) - set(versions))
            )
    return tuple(found)


def _differs(reason: str, cure: str) -> Finding:
    return Finding(
        Cause.CONTRACT_DIFFERS,
        reason,
        detail="A contract's version changes when the meaning of one of its fields does: "
        "read the case again, then record it.",
        cure=cure,
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
