"""The tests at the top of a Python file, as the build finds them without running it."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seatrial_build.core.functions import EvalFunction, functions_in, is_eval

FILE = b'''\
"""Evals."""

import pytest


async def test_stops(run, tmp_path):
    first = await run("one")
    await first.continue_("two")


def helper(run): ...


async def test_composes(agent):
    made = await agent(plugins=["memory"])
    await made.run("one")

    async def test_inside(run): ...


class TestOld:
    async def test_method(self, run): ...
'''

NEWER = b"""\
async def test_one(run, *, other=1):
    match await run("x"):
        case [first]:
            await first.continue_("y")

type Word = str

def test_two(agent): await (await agent()).run("x")
"""


def test_each_function_at_the_top_is_found_with_what_it_asks_for() -> None:
    assert functions_in(FILE) == (
        EvalFunction("TestOld"),
        EvalFunction("test_composes", ("agent",)),
        EvalFunction("test_stops", ("run", "tmp_path")),
    )


def test_a_file_that_this_python_cannot_parse_is_read_by_its_lines() -> None:
    damaged = NEWER + b"\nthis is no Python\n"
    found = functions_in(damaged)
    assert [(each.name, each.arguments) for each in found] == [("test_one", ("run", "other")), ("test_two", ("agent",))]
    assert is_eval(damaged)


@pytest.mark.parametrize("content", [b"", b"\0", b"def test_(", b"\xff\xfe", b"(" * 100_000])
def test_what_is_no_python_holds_no_eval_and_harms_nobody(content: bytes) -> None:
    assert not is_eval(content)


def test_a_test_that_asks_for_no_agent_makes_a_file_no_eval() -> None:
    assert functions_in(b"def test_sum(tmp_path): ...")
    assert not is_eval(b"def test_sum(tmp_path): ...\ndef running(run): ...")


def test_a_function_that_is_written_twice_is_one() -> None:
    assert functions_in(b"def test_a(run): ...\ndef test_a(agent): ...") == (EvalFunction("test_a", ("agent",)),)


NAMES = st.from_regex(r"(test_|helper_)[a-z]{1,5}", fullmatch=True)


@given(st.lists(NAMES, unique=True, max_size=5), st.booleans())
def test_both_ways_of_reading_find_the_same_functions(names: list[str], damaged: bool) -> None:
    text = "".join(f"async def {name}(run):\n    await run('x')\n" for name in names)
    ast.parse(text)
    found = functions_in((text + ("not python\n" if damaged else "")).encode())
    assert found == tuple(EvalFunction(name, ("run",)) for name in sorted(names) if name.startswith("test_"))
