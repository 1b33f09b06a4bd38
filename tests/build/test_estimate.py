"""Before a recording starts its size is told, and what is not known is called unknown."""

from __future__ import annotations

import json

from seatrial_build.core.document import Listing, Mapping, Word
from seatrial_build.core.estimate import Recorded, estimate, recorded, turns_in, worded


def recording(*costs: tuple[str, tuple[int, int] | None]) -> bytes:
    exchanges = [
        {"role": role, "usage": None if cost is None else {"input_tokens": cost[0], "output_tokens": cost[1]}}
        for role, cost in costs
    ]
    return json.dumps({"exchanges": exchanges}).encode()


TWO = recording(("agent", (540, 18)), ("title", (60, 0)), ("agent", (0, 18)))


def test_a_recording_tells_its_exchanges_roles_and_cost() -> None:
    assert recorded(TWO) == Recorded(3, ("agent", "title"), (600, 36))
    assert recorded(recording(("agent", (1, 1)), ("title", None))) == Recorded(2, ("agent", "title"), None)
    assert [recorded(content) for content in (None, b"", b"[]", b'{"exchanges": [{}]}')] == [None] * 4


def test_a_recorded_case_takes_what_its_tokens_take_the_embedded_model() -> None:
    one = estimate("a", 1, TWO, (), embedded=True)
    assert one.seconds == 600 / 60 + 36 / 18
    assert str(one) == "a: 3 exchanges as recorded; tokens 600 in, 36 out; seconds about 12"


def test_how_fast_a_service_is_is_unknown() -> None:
    assert str(estimate("a", 1, TWO, (), embedded=False)).endswith("tokens 600 in, 36 out; seconds unknown")


def test_a_new_case_is_guessed_by_its_turns_and_the_roles_near_it() -> None:
    one = estimate("a", 2, None, ("agent", "title"), embedded=True)
    assert str(one) == "a: new, about 4 exchanges (2 turns x agent and title); tokens unknown; seconds unknown"
    assert estimate("a", 2, None, (), embedded=True).exchanges == 2


def test_a_new_eval_in_python_is_not_guessed() -> None:
    one = estimate("a", None, None, ("agent",), embedded=True)
    assert str(one) == "a: new; its exchanges are unknown; tokens unknown; seconds unknown"
    told = worded([one, estimate("b", 2, None, (), embedded=True)], whom="W", check=False)
    assert told.endswith("  in all: 2 exchanges, and those of 1 new eval; seconds unknown")
    assert estimate("a", None, TWO, (), embedded=True).exchanges == 3


def test_turns_that_send_are_counted() -> None:
    def turn(key: str) -> Mapping:
        return Mapping(((Word(key, 1), Word("x", 1)),))

    document = Mapping(((Word("turns", 1), Listing((turn("send"), turn("advance"), turn("send")))),))
    assert [turns_in(node) for node in (document, None, Word("x", 1))] == [2, 0, 0]


def test_the_sum_says_how_many_cases_it_does_not_know() -> None:
    known, new = estimate("a", 1, TWO, (), embedded=True), estimate("b", 1, None, (), embedded=True)
    told = worded([known, known, new], whom="W", check=False)
    assert told.splitlines()[0].startswith("Recording with W.")
    assert told.splitlines()[-1] == "  in all: 7 exchanges; seconds about 24, and 1 case of unknown length"
    assert worded([new, new], whom="W", check=True).splitlines()[-1] == "  in all: 2 exchanges; seconds unknown"
    assert "nothing beside the cases is changed" in worded([known], whom="W", check=True)
