"""A recording is kept whole or not at all, and never with a key in it."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seatrial_build.core.keeping import SHORTEST_SECRET, holds_secret, write_together

KEY = "sk-a+b/c=d&e f"


@pytest.mark.parametrize(
    "text",
    [
        KEY,
        quote(KEY, safe=""),
        base64.b64encode(KEY.encode()).decode(),
        base64.b64encode(f"Bearer {KEY}".encode()).decode(),
        base64.urlsafe_b64encode(f"x{KEY}yz".encode()).decode(),
    ],
)
def test_a_key_is_found_however_it_was_written(text: str) -> None:
    assert holds_secret([b"{}", f'{{"a": "{text}"}}'.encode()], KEY)


@given(before=st.binary(max_size=20), after=st.binary(max_size=20), key=st.text(min_size=12, max_size=40))
def test_a_key_is_found_in_the_base64_of_any_text_around_it(before: bytes, after: bytes, key: str) -> None:
    coded = base64.b64encode(before + key.encode(errors="replace") + after)
    assert holds_secret([coded], key.encode(errors="replace").decode())


def test_other_text_holds_no_key() -> None:
    assert not holds_secret([b"sk-a+b/c", b""], KEY)


def test_an_empty_key_or_a_placeholder_is_in_no_text() -> None:
    assert not holds_secret([b"none"], "none")
    assert not holds_secret([b"anything"], "")
    assert len("none") < SHORTEST_SECRET


def test_only_files_that_differ_are_written(tmp_path: Path) -> None:
    same, other = tmp_path / "same", tmp_path / "other"
    same.write_bytes(b"1")
    os.utime(same, (1, 1))
    assert write_together({same: b"1", other: b"2"}) == (other,)
    assert same.stat().st_mtime == 1
    assert other.read_bytes() == b"2"


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    path.chmod(0o640)
    write_together({path: b"2"})
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_cannot_be_written_whole_changes_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.write_bytes(b"old")
    with pytest.raises(FileNotFoundError):
        write_together({first: b"new", tmp_path / "no folder" / "second": b"new"})
    assert first.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["first"]
