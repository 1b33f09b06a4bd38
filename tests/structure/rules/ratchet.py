"""Lists of known violations that can only get shorter: more than the list fails, and fewer fails as well,
until the list is lowered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rules.conduct import Breach
from rules.finding import Finding


def compare(breaches: Iterable[Breach], known: Mapping[str, Mapping[str, int]], list_path: str) -> list[Finding]:
    """What differs from the lists. `known` maps rule → file → count; `list_path` is the file that holds the
    lists.

    Where a file has more breaches than its entry allows, all of them are named, since nobody can say which
    one is new.
    """
    seen: dict[tuple[str, str], list[Finding]] = {}
    for breach in breaches:
        seen.setdefault((breach.rule, breach.finding.path), []).append(breach.finding)
    found: list[Finding] = []
    for (rule, path), findings in seen.items():
        if len(findings) > known.get(rule, {}).get(path, 0):
            found += findings
    for rule, files in known.items():
        for path, allowed in files.items():
            count = len(seen.get((rule, path), []))
            if allowed < 1:
                why = "an entry of nothing allows nothing"
                found.append(
                    Finding(list_path, 0, f"lists '{path}' under {rule} with {allowed}", why, "remove the entry")
                )
            elif count < allowed:
                what = f"lists '{path}' under {rule} with {allowed}; left of them: {count}"
                cure = f"lower the entry to {count}" if count else "remove the entry"
                found.append(
                    Finding(
                        list_path,
                        0,
                        what,
                        "the list only shrinks: room in it would let a new one in unseen",
                        cure,
                    )
                )
    return sorted(found)
