"""What does not fit a page goes on on the next one, and nothing is left out."""

from __future__ import annotations

import pytest
from conftest import HandClock
from test_dashboard import answer, page, provider, said, web
from web_bench import Web

__all__ = ["provider", "web"]

pytestmark = pytest.mark.asyncio


async def test_the_list_goes_on_page_by_page_and_leaves_nothing_out(web: Web, clock: HandClock) -> None:
    """Fifty-three, of which some began at the same instant."""
    began = []
    for number in range(53):
        clock.advance(number % 3)
        began.append(await said(web, f"message {number}"))
    seen: list[str] = []
    where: str | None = "/"
    while where is not None:
        there = await page(web, where)
        seen += [each["href"] or "" for each in there.all("a") if (each["href"] or "").startswith("/conversations/")]
        where = next((each["href"] for each in there.all("a") if each.get("rel") == "next"), None)
    assert len(seen) == 53
    assert set(seen) == set(began)
    await page(web, "/?before=nonsense", 422)


async def test_a_long_conversation_is_told_page_by_page_and_leaves_nothing_out(web: Web) -> None:
    """Thirty-six turns of some ten rows each, of which a page tells three hundred."""
    path = await said(web, "said 0.")
    for number in range(1, 37):
        await answer(web, path, f"answer {number - 1}.")
        form = {"csrf": (await page(web, path)).field("csrf"), "key": f"{number}", "message": f"said {number}."}
        await web.client.post(f"{path}/messages", data=form)
    seen = ""
    where: str | None = path
    turns = 0
    while where is not None:
        there = await page(web, where)
        turns += len(there.all("details"))
        seen = there.text + seen
        where = next((each["href"] for each in there.all("a") if "?before=" in (each["href"] or "")), None)
    for number in range(36):
        assert f"said {number}." in seen and f"answer {number}." in seen
    assert 36 - 2 <= turns <= 36
    assert await page(web, f"{path}?before=x", 422)
