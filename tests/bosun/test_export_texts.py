"""What a text gives away is replaced: the same by the same, everywhere, and nothing of it stays."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosun.export.patterns import suspicious
from bosun.export.placeholders import Placeholders
from bosun.export.texts import Known, Person, Texts

KNOWN = Known(
    people=(Person("U0ANNA1SCHM", "Anna Schmidt"), Person("jo@corp.example", "Jo"), Person("ada", "Zoé de la Cruz")),
    companies=("Harbor Goods",),
    projects=("Blue Heron",),
    ids=("web:abcdefghijklmnopqrstuvwxyz", "acct-77"),
)


def cleaned(text: str) -> str:
    """Return what a fresh document makes of a text."""
    return Texts(KNOWN, Placeholders()).text(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ask Anna Schmidt, anna or SCHMIDT.", "Ask Morgan, morgan or Morgan."),
        ("Anna's plan, Annas Plan, anna_schmidt", "Morgan's plan, Morgans Plan, morgan_morgan"),
        ("Jo and Anna and Jo", "Morgan and Kim and Morgan"),
        ("Joanna has no part in it", "Joanna has no part in it"),
        ("Write to anna.schmidt@corp.example.", "Write to address-1@example.com."),
        ("Zoé and Zoe\u0301 are one", "Morgan and Morgan are one"),
        ("U0ANNA1SCHM said so", "morgan said so"),
        ("<@U0OTHER123> and U0OTHER123", "[id-1] and [id-2]"),
        ("Harbor Goods runs blue heron", "Company 1 runs Project 1"),
        ("it is web:abcdefghijklmnopqrstuvwxyz of acct-77", "it is [id-1] of [id-2]"),
        ("see https://wiki.corp.example/x?y=1, then http://a.example/", "see https://example.com/link-1, then {2}"),
        ("db7.corp.internal at 10.1.2.3 or fe80:0:0:1::2", "host-1.example.com at host-2.example.com or {3}"),
        ("call +43 660 1234567 or 0660 123 45 67", "call [number-1] or [number-2]"),
        ("AT61 1904 3002 3457 3201 is it", "[number-1] is it"),
        ("on 2030-01-15 at 12:00, 2030-01-15 12:00", "on 2030-01-15 at 12:00, 2030-01-15 12:00"),
        ("5 of 1,200 in 2029", "5 of 1,200 in 2029"),
        ("123e4567-e89b-42d3-a456-426614174000", "[id-1]"),
        ("commit 3fe6281a7b9c0d", "commit [id-1]"),
        ("in /" + "home/anna/notes.txt and ~/x and C:\\" + "Users\\anna\\x", "in [path-1] and [path-2] and [path-3]"),
        ("[file: plan.pdf, application/pdf, 12 kB]", "[attachment-1]"),
        ("![x](data:image/png;base64,iVBORw0KGgo=)", "![x]([attachment-1])"),
        ("password: hunter22 and token=abcdef12", "password: [secret-1] and token=[secret-2]"),
        ("the password is hunter22", "the password is [secret-1]"),
        ("Authorization: Bearer abc.def.ghi123", "Authorization: [secret-1]"),
        ("key sk-" + "a1b2" * 6 + "!", "key [secret-1]!"),
        ("-----BEGIN " + "PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- end", "[secret-1] end"),
    ],
)
def test_what_gives_somebody_away_is_replaced(text: str, expected: str) -> None:
    """And nothing beside it."""
    expected = expected.replace("{2}", "https://example.com/link-2").replace("{3}", "host-3.example.com")
    assert cleaned(text) == expected


def test_json_is_replaced_within_json() -> None:
    """In a text that is JSON as a whole, in its keys, and in what is JSON there again."""
    inner = json.dumps({"by": "Anna"})
    value = {"to": ["Anna Schmidt"], "jo": 1, "inner": inner, "api_key": "short", "auth": {"tokens": [1, "x"]}}
    assert json.loads(cleaned(json.dumps(value))) == {
        "to": ["Morgan"],
        "kim": 1,
        "inner": json.dumps({"by": "Morgan"}),
        "api_key": "[secret-1]",
        "auth": {"tokens": ["[secret-2]", "[secret-3]"]},
    }


def test_json_in_which_nothing_is_replaced_stays_as_it_was_written() -> None:
    """Letter for letter: the model reads it."""
    for text in ('{ "query":"launch" }', "[1,2 ]", "{not json", "[[NO_REPLY]]", '{"a": 1e3}'):
        assert cleaned(text) == text


def test_long_numbers_of_json_are_replaced() -> None:
    """They count things seldom, and name accounts often."""
    assert json.loads(cleaned('{"account": 1234567890, "count": 12}')) == {"account": "[number-1]", "count": 12}


def test_the_same_is_the_same_in_a_whole_document() -> None:
    """In each of its texts."""
    texts = Texts(KNOWN, Placeholders())
    assert [texts.text(text) for text in ("ann@x.example", "bob@x.example", "Write: ann@x.example.")] == [
        "address-1@example.com",
        "address-2@example.com",
        "Write: address-1@example.com.",
    ]


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(KNOWN.people), st.sampled_from("., \n!'(-"))
def test_no_surroundings_hide_a_name_or_an_address(before: str, after: str, whose: Person, edge: str) -> None:
    """Whatever stands before and after it."""
    for secret in (whose.name, "zed.zork@corp.example"):
        text = f"{before}{edge}{secret}{edge}{after}"
        assert secret.lower() not in cleaned(text).lower() or secret.lower() in (before + after).lower()


@given(st.text(max_size=200))
def test_every_text_can_be_cleaned_and_is_the_same_each_time(text: str) -> None:
    """None is too strange."""
    assert cleaned(text) == cleaned(text)


@given(st.integers(0, 2**160 - 1))
def test_a_random_run_is_suspicious(number: int) -> None:
    """In the alphabets that credentials are written in; unless chance made it look like no credential at all."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    run = "".join(alphabet[(number >> (5 * place)) % 31 * 2] for place in range(32))
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(run))
    if changes >= 4 and len(set(run)) >= 18:
        assert list(suspicious(f"It is {run}."))


@pytest.mark.parametrize(
    "text",
    [
        "search_scheduled_automations_2030 for the_launch_of_2031",
        "supercalifragilisticexpialidocious and createScheduledAutomation2",
        "address-12@example.com and https://example.com/link-12",
        "2030-01-15T12:00:00+00:00/2031-01-15T12:00:00+00:00",
    ],
)
def test_words_and_dates_are_not_suspicious(text: str) -> None:
    """Else nothing could be exported."""
    assert list(suspicious(text)) == []
