"""A real Chromium, driven by its own driver: Debian's packages `chromium` and `chromium-driver`."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

MISSING = (
    "The lane 'browser' needs a Chromium and its driver, and this machine has no {name!r}. "
    "On Debian: apt-get install chromium chromium-driver"
)
QUIET = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)


@contextmanager
def chromium(*, width: int = 1200, height: int = 900, dark: bool = False) -> Iterator[Chrome]:
    """Give a browser for so long. What it keeps lies in a short path, since it makes sockets there."""
    with (
        tempfile.TemporaryDirectory(prefix="cr-", dir="/tmp", ignore_cleanup_errors=True) as profile,
        _chromium(Path(profile), width, height, dark) as browser,
    ):
        yield browser


@contextmanager
def _chromium(profile: Path, width: int, height: int, dark: bool) -> Iterator[Chrome]:
    """Give a browser that knows nobody, without JavaScript: the pages have to do without it."""
    programs = {}
    for name in ("chromium", "chromedriver"):
        programs[name] = shutil.which(name, path="/usr/bin:/usr/local/bin")
        if programs[name] is None:
            raise AssertionError(MISSING.format(name=name))
    options = ChromeOptions()
    options.binary_location = programs["chromium"] or ""
    for argument in (*QUIET, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
        options.add_argument(argument)
    if dark:
        options.add_argument("--force-dark-mode")
        options.add_argument("--blink-settings=preferredColorScheme=0")
    options.add_experimental_option("prefs", {"webkit.webprefs.javascript_enabled": False})
    environment = {"HOME": str(profile), "PATH": "/usr/bin:/bin", "TMPDIR": str(profile)}
    service = Service(executable_path=programs["chromedriver"], env=environment)
    browser = Chrome(options=options, service=service)
    try:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        if dark:
            browser.execute_cdp_cmd(
                "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
            )
        yield browser
    finally:
        browser.quit()
