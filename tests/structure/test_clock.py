"""Gate: nothing in `src` reads the machine's or a store's clock, date or randomness (context.md "Clock",
agent.md 3)."""

from __future__ import annotations

from pathlib import Path

from rules import clock, store_clock
from rules.files import each_tree, nothing_to_check, read
from rules.finding import hold

SOURCES = read(Path.cwd(), ["src"], (".py", ".sql", ".lua"))
PYTHON = tuple(file for file in SOURCES if file.path.endswith(".py"))


def test_no_module_of_src_reads_the_machines_clock_date_or_randomness() -> None:
    hold("clock", nothing_to_check(PYTHON, "src") + each_tree(PYTHON, clock.check))


def test_no_sql_redis_or_lua_of_src_decides_by_the_stores_clock_or_randomness() -> None:
    hold("store clock", nothing_to_check(PYTHON, "src") + each_tree(SOURCES, store_clock.check))


def test_every_module_that_may_touch_the_clock_exists() -> None:
    hold("clock", clock.stale_permissions(file.module for file in PYTHON))
