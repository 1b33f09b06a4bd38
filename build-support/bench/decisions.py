"""How well the router and the guardian decide: invented messages and calls, put to a real model.

PYTHONPATH=src python build-support/bench/decisions.py http://127.0.0.1:8000/v1

Prints one line a decision, and then the tables of `src/bosun/model/DECISIONS.md`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bosun.machine import SystemTimer
from bosun.model.client import ModelClient
from bosun.model.guardian import Guardian, Proposal
from bosun.model.options import ModelOptions
from bosun.model.router import RouteProposal, Router
from bosun.steps import LoggedSteps

ITEMS = Path(__file__).with_name("decisions.json")
ROUTES = ("quick", "standard", "deep")
DECISIONS = ("allow", "ask", "deny")


async def routes(router: Router, items: Sequence[Any]) -> Counter[tuple[str, str]]:
    """Count what is decided by what was expected."""
    counts: Counter[tuple[str, str]] = Counter()
    for asked, expected in items:
        route = await router.decide(RouteProposal(asked=asked, conversation_id="bench"))
        counts[expected, route.profile] += 1
        said(route.profile == expected, expected, route.profile, asked, f"{route.confidence:.2f} {route.reason}")
    return counts


async def reviews(guardian: Guardian, items: Sequence[Any]) -> Counter[tuple[str, str]]:
    """Count what is decided by what was expected."""
    counts: Counter[tuple[str, str]] = Counter()
    for asked, tool, effect, arguments, expected in items:
        proposal = Proposal(
            tool=tool, plugin="bench", effect=effect, touches="other", arguments=arguments, actor_id="morgan",
            conversation_id="bench", asked=asked,
        )  # fmt: skip
        decision = await guardian.decide(proposal)
        counts[expected, decision.decision] += 1
        right = decision.decision == expected
        said(
            right, expected, decision.decision, f"{asked} -> {tool} {arguments}", f"{decision.risk}: {decision.reason}"
        )
    return counts


def said(right: bool, expected: str, got: str, what: str, why: str) -> None:
    """Print one decision."""
    print(f"{'ok ' if right else '-- '}{expected:9}{got:9}{what!r} ({why})", flush=True)


def table(counts: Counter[tuple[str, str]], names: Sequence[str]) -> None:
    """Print what was decided, a line an expectation."""
    print(f"\n| expected | items | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    for expected in names:
        row = [counts[expected, got] for got in names]
        print(f"| {expected} | {sum(row)} | {' | '.join(map(str, row))} |")
    right = sum(counts[name, name] for name in names)
    print(f"\n{right} of {sum(counts.values())} as expected\n")


async def main(url: str, only: str = "") -> None:
    """Ask about each item, and count."""
    items = json.loads(ITEMS.read_text(encoding="utf-8"))
    model = ModelClient(ModelOptions(base_url=url), timer=SystemTimer(), steps=LoggedSteps())
    if only in ("", "router"):
        table(await routes(Router(model), items["router"]), ROUTES)
    if only in ("", "guardian"):
        table(await reviews(Guardian(model), items["guardian"]), DECISIONS)
    await model.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
