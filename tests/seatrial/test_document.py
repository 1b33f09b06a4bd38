"""A case's file is read with its lines, and what could mislead its author is a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from seatrial.cases.document import MAX_BYTES, InvalidFile, read_document


def write(folder: Path, content: str | bytes) -> Path:
    path = folder / "case.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_every_value_knows_its_line(tmp_path: Path) -> None:
    document = read_document(write(tmp_path, "a: 1\nb:\n  - x\n  - c: 2\n"))
    assert document.data == {"a": 1, "b": ["x", {"c": 2}]}
    assert [document.line(place) for place in [("a",), ("b",), ("b", 0), ("b", 1, "c")]] == [1, 2, 3, 4]


def test_a_place_that_is_not_there_has_the_line_of_what_is_around_it(tmp_path: Path) -> None:
    document = read_document(write(tmp_path, "a: 1\nb:\n  c: 2\n"))
    assert document.line(("b", "missing", 0)) == 2


def test_a_key_is_the_word_that_stands_there(tmp_path: Path) -> None:
    assert read_document(write(tmp_path, "on: yes\nno: 1\n")).data == {"on": True, "no": 1}


def test_a_duplicate_key_is_a_mistake_that_names_the_first(tmp_path: Path) -> None:
    document = read_document(write(tmp_path, "a: 1\nb: 2\na: 3\n"))
    assert [(m.line, m.message) for m in document.mistakes] == [(3, "'a' stands here again; first in line 1")]


def test_an_alias_is_a_mistake_and_is_not_expanded(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    document = read_document(write(tmp_path, bomb))
    assert document.mistakes and all("aliases" in m.message for m in document.mistakes)


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    assert read_document(write(tmp_path, b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")).data == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("content", "line", "part"),
    [
        (b"", 1, "empty"),
        (b"a: 1\n\tb: 2\n", 2, "not YAML"),
        (b"a: [1\n", 2, "not YAML"),
        (b"a: \xff\n", 1, "not UTF-8 (byte 3)"),
        (b"a: 1\n---\nb: 2\n", 2, "not YAML"),
        (b"# x\n" * (MAX_BYTES // 4 + 1), 1, "at most"),
    ],
)
def test_what_cannot_be_read_says_where_and_why(tmp_path: Path, content: bytes, line: int, part: str) -> None:
    with pytest.raises(InvalidFile) as caught:
        read_document(write(tmp_path, content))
    (mistake,) = caught.value.mistakes
    assert mistake.line == line and part in mistake.message


def test_a_value_that_its_tag_cannot_hold_is_a_mistake_in_its_line(tmp_path: Path) -> None:
    document = read_document(write(tmp_path, "a: 1\nb: 2026-13-45\nc: !!python/name:os.system\n"))
    assert [m.line for m in document.mistakes] == [2, 3]
