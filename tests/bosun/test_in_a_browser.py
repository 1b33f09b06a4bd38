"""The dashboard as a person uses it: a real Chromium, without JavaScript, on the real routes, stores and login."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import uvicorn
from chromium import chromium
from conftest import HandClock
from oidc_provider import OidcProvider, oidc_provider
from redis.asyncio import Redis
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from sqlalchemy.ext.asyncio import AsyncEngine
from test_dashboard import answer
from web_bench import Web, open_web

pytestmark = pytest.mark.asyncio

SHOTS = os.environ.get("BOSUN_SCREENSHOTS")
"""A folder in which each test leaves what it saw, for a person to look at."""
LONG = "Unbreakable" * 40


@dataclass
class Site:
    """Bosun as it is served, and where."""

    web: Web
    url: str


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with oidc_provider() as served:
        yield served


@asynccontextmanager
async def served(web: Web, listener: socket.socket) -> AsyncIterator[None]:
    server = uvicorn.Server(uvicorn.Config(web.app, log_level="warning", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await serving


@pytest_asyncio.fixture
async def site(provider: OidcProvider, engine: AsyncEngine, redis: Redis, clock: HandClock) -> AsyncIterator[Site]:
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    provider.callback = f"{url}/login/callback"
    async with open_web(engine, redis, clock, login=provider.options(public_url=url)) as web, served(web, listener):
        yield Site(web, url)


async def looks(use: Callable[[Chrome], Any], **how: Any) -> Any:
    """Use a browser in a thread of its own, while the site is served in this one."""

    def run() -> Any:
        with chromium(**how) as browser:
            return use(browser)

    return await asyncio.to_thread(run)


def shot(browser: Chrome, name: str) -> None:
    if SHOTS:
        browser.save_screenshot(str(Path(SHOTS) / f"{name}.png"))


def text(browser: Chrome) -> str:
    return browser.find_element(By.TAG_NAME, "main").text


def write(browser: Chrome, message: str) -> None:
    browser.find_element(By.ID, "message").send_keys(message)
    browser.find_element(By.CSS_SELECTOR, "form.say button").click()


def path_of(browser: Chrome, site: Site) -> str:
    return browser.current_url.removeprefix(site.url)


async def test_a_person_signs_in_writes_reads_forks_and_stops(site: Site) -> None:
    loop = asyncio.get_running_loop()

    def answered(path: str, words: str) -> None:
        asyncio.run_coroutine_threadsafe(answer(site.web, path, words), loop).result(30)

    def use(browser: Chrome) -> None:
        browser.get(site.url + "/")
        assert "There are no conversations yet" in text(browser)
        shot(browser, "empty")
        write(browser, f"Which plan am I on? {LONG}")
        path = path_of(browser, site)
        assert "Which plan am I on?" in text(browser)
        answered(path, "You are on the active plan.")
        browser.find_element(By.LINK_TEXT, "Reload").click()
        assert "You are on the active plan." in text(browser)
        browser.find_element(By.CSS_SELECTOR, "details.turn summary").click()
        assert "high risk" in text(browser)
        shot(browser, "conversation")
        browser.find_element(By.XPATH, "//button[text()='Fork from here']").click()
        assert path_of(browser, site) != path
        assert "You are on the active plan." in text(browser)
        write(browser, "And what else?")
        assert "waits" in text(browser)
        browser.find_element(By.XPATH, "//button[text()='Stop what runs']").click()
        assert "stopping" in text(browser)
        browser.find_element(By.LINK_TEXT, "Conversations").click()
        assert len(browser.find_elements(By.CSS_SELECTOR, "ul.list li")) == 2
        shot(browser, "list")
        browser.find_element(By.XPATH, "//button[text()='Sign out']").click()
        assert "You are signed out." in text(browser)

    await looks(use)


async def test_all_of_it_can_be_reached_by_the_keyboard(site: Site) -> None:
    def use(browser: Chrome) -> list[str]:
        browser.get(site.url + "/")
        write(browser, "Hello")
        wanted = browser.find_elements(By.CSS_SELECTOR, "a, button, textarea, summary")
        reached: list[str] = []
        body = browser.find_element(By.TAG_NAME, "body")
        for _ in range(len(wanted) + 2):
            (browser.switch_to.active_element or body).send_keys(Keys.TAB)
            at = browser.switch_to.active_element
            reached.append(f"{at.tag_name} {at.accessible_name}")
        names = [f"{each.tag_name} {each.accessible_name}" for each in wanted]
        assert [name for name in names if name not in reached] == []
        assert all(name.partition(" ")[2] for name in names)
        return reached

    reached = await looks(use)
    assert reached[0] == "a Skip to the content"


@pytest.mark.parametrize("dark", [False, True])
async def test_on_a_phone_nothing_stands_beside_the_screen_and_words_can_be_read(site: Site, dark: bool) -> None:
    """The width of the content is the screen's, and every text has a contrast of 4.5 at least (WCAG 2.2, 1.4.3)."""
    loop = asyncio.get_running_loop()

    def use(browser: Chrome) -> list[str]:
        browser.get(site.url + "/")
        write(browser, f"Which plan am I on? {LONG}")
        path = path_of(browser, site)
        asyncio.run_coroutine_threadsafe(answer(site.web, path, f"Active. {LONG}"), loop).result(30)
        found = []
        for where in ("/", path):
            browser.get(site.url + where)
            for summary in browser.find_elements(By.TAG_NAME, "summary"):
                summary.click()
            size = browser.execute_cdp_cmd("Page.getLayoutMetrics", {})["cssContentSize"]
            assert size["width"] <= 360
            shot(browser, f"phone-{'dark' if dark else 'light'}-{'list' if where == '/' else 'conversation'}")
            found += too_faint(browser)
        return found

    assert await looks(use, width=360, height=780, dark=dark) == []


def too_faint(browser: Chrome) -> list[str]:
    """Return the elements whose own text has too little contrast to what lies behind it."""
    found = []
    for element in browser.find_elements(By.CSS_SELECTOR, "main *"):
        if element.tag_name in ("style", "form", "input") or not element.is_displayed() or not element.text.strip():
            continue
        ink, back = colour(element.value_of_css_property("color")), (0.0, 0.0, 0.0, 0.0)
        behind: Any = element
        while back[3] == 0:
            back = colour(behind.value_of_css_property("background-color"))
            if behind.tag_name == "html":
                back = back if back[3] else (255.0, 255.0, 255.0, 1.0)
                break
            behind = behind.find_element(By.XPATH, "..")
        ratio = contrast(ink, back)
        if ratio < 4.5:
            found.append(f"{element.tag_name}.{element.get_attribute('class')} {ratio:.2f}: {element.text[:40]!r}")
    return found


def colour(text: str) -> tuple[float, float, float, float]:
    values = [float(each) for each in text.partition("(")[2].rstrip(")").split(",")]
    return values[0], values[1], values[2], values[3] if len(values) > 3 else 1.0


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Compute the contrast ratio of WCAG 2.2."""

    def light(colour_: tuple[float, ...]) -> float:
        parts = [each / 255 for each in colour_[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    brighter, darker = sorted((light(one), light(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)
