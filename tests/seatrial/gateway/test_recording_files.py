"""A recording is served whole and unchanged, or not at all."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.gateway.key import JSON, MAX_DEPTH, parse_json, request_key
from seatrial.gateway.recording import (
    Aborted,
    Answer,
    Exchange,
    Origin,
    Recording,
    RecordingBroken,
    Request,
    Stream,
    UpstreamFacts,
    Usage,
    dump_recording,
    load_recording,
    seal,
)


def exchange(text: str, outcome: Answer | Stream | Aborted, *, occurrence: int = 1) -> Exchange:
    message: JSON = {"role": "user", "content": text}
    body: JSON = {"model": "alias", "messages": [message], "temperature": 0.7, "seed": 2**70}
    key = request_key(method="POST", path="/v1/chat/completions", role="agent", conversation=1, body=body)
    return Exchange(
        key=key, occurrence=occurrence, role="agent", conversation=1,
        request=Request(method="POST", path="/v1/chat/completions", body=body), outcome=outcome,
        usage=Usage(input_tokens=5, output_tokens=2, cached_input_tokens=None),
    )  # fmt: skip


HEADERS = {"content-type": "application/json"}
UPSTREAM = UpstreamFacts(kind="test", model="real model", fingerprint=None, parameters={"seed": 0})
RECORDING = Recording(
    trial=0,
    recorded_at="2030-01-01T00:00:00Z",
    upstream=UPSTREAM,
    contracts={"context.time": 1},
    exchanges=(
        exchange("When is it?\nAnd why? Grüße 🌍", Answer(status=200, headers=HEADERS, body={"a": [1.0, None, True]})),
        exchange("What now?", Stream(status=200, headers=HEADERS, events=('{"b": "two\\nlines"}', "[DONE]"))),
        exchange("What now?", Aborted(), occurrence=2).model_copy(
            update={"origin": Origin(recorded_at="2029-01-01T00:00:00Z", upstream=UPSTREAM)}
        ),
    ),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "case.recording.json"


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode("utf-8"))
    return path


def test_what_was_dumped_is_what_is_loaded_and_dumped_again(path: Path) -> None:
    text = dump_recording(RECORDING)
    loaded = load_recording(write(path, text))
    assert loaded == seal(RECORDING)
    assert dump_recording(loaded) == text
    assert text.endswith("}\n") and "Grüße 🌍" in text and max(map(len, text.splitlines())) < 120


def test_a_missing_file_is_not_a_broken_one(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_recording(path)


def test_a_file_that_cannot_be_read_is_broken(path: Path) -> None:
    path.mkdir()
    with pytest.raises(RecordingBroken, match="cannot be read"):
        load_recording(path)


def test_a_file_cut_at_any_byte_is_broken(path: Path) -> None:
    data = dump_recording(RECORDING).encode("utf-8")
    for end in range(len(data)):
        path.write_bytes(data[:end])
        with pytest.raises(RecordingBroken):
            load_recording(path)


def test_a_file_with_any_word_changed_is_broken_and_says_where(path: Path) -> None:
    text = dump_recording(RECORDING)
    words = list(re.finditer(r"[\w.+-]+", text))
    assert len(words) > 100
    for word in words:
        for other in ("wrong", "0", "null"):
            if word.group() != other:
                write(path, text[: word.start()] + other + text[word.end() :])
                with pytest.raises(RecordingBroken) as caught:
                    load_recording(path)
                assert str(path) in str(caught.value) and "record the case again" in str(caught.value)


def test_a_number_spelled_as_text_is_a_change(path: Path) -> None:
    text = dump_recording(RECORDING).replace('"trial": 0', '"trial": "0"')
    with pytest.raises(RecordingBroken, match="head"):
        load_recording(write(path, text))


def test_a_removed_or_moved_exchange_is_a_change(path: Path) -> None:
    raw = json.loads(dump_recording(RECORDING))
    for exchanges in (raw["exchanges"][1:], raw["exchanges"][:2], [raw["exchanges"][i] for i in (1, 0, 2)]):
        with pytest.raises(RecordingBroken, match="list of exchanges"):
            load_recording(write(path, json.dumps({**raw, "exchanges": exchanges}) + "\n"))


def test_a_changed_word_names_its_exchange(path: Path) -> None:
    text = dump_recording(RECORDING).replace("two\\\\nlines", "two\\\\nwords")
    with pytest.raises(RecordingBroken) as caught:
        load_recording(write(path, text))
    assert str(caught.value) == (
        f"Recording '{path}' is broken: exchange 2 (role agent, conversation 1) does not fit its digest; it was "
        "changed after it was recorded. Restore the file from version control, or delete it and record the case again."
    )


def test_digests_made_to_fit_do_not_help_a_key_or_an_occurrence_that_does_not(path: Path) -> None:
    first, second, third = RECORDING.exchanges
    for changed, why in (
        (first.model_copy(update={"conversation": 2}), "exchange 1 .* key of its request"),
        (first.model_copy(update={"occurrence": 2}), "exchange 1 .* occurrence 2 .*, but it is number 1"),
    ):
        forged = RECORDING.model_copy(update={"exchanges": (changed, second, third)})
        with pytest.raises(RecordingBroken, match=why):
            load_recording(write(path, dump_recording(forged)))


def test_an_unknown_field_or_format_is_named(path: Path) -> None:
    raw = json.loads(dump_recording(RECORDING))
    changes: tuple[tuple[dict[str, object], str], ...] = (
        ({**raw, "more": 1}, "field 'more'"),
        ({**raw, "format": 2}, "field 'format'"),
        ({}, "field"),
    )
    for changed, why in changes:
        with pytest.raises(RecordingBroken, match=why):
            load_recording(write(path, json.dumps(changed) + "\n"))


def test_a_file_that_is_too_large_is_not_read(path: Path) -> None:
    text = dump_recording(RECORDING)
    write(path, text)
    assert load_recording(path, max_bytes=len(text.encode()))
    with pytest.raises(RecordingBroken, match="larger than"):
        load_recording(path, max_bytes=len(text.encode()) - 1)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))


@settings(derandomize=True, database=None, deadline=None, max_examples=100)
@given(values, st.lists(texts.filter(lambda text: text and "\r" not in text), max_size=3))
def test_any_words_survive_the_file(body: JSON, events: list[str]) -> None:
    key = request_key(method="POST", path="/p", role="agent", conversation=1, body=body)
    outcome = Stream(status=200, headers={}, events=tuple(events))
    one = Exchange(
        key=key, occurrence=1, role="agent", conversation=1, request=Request(method="POST", path="/p", body=body),
        outcome=outcome, usage=None,
    )  # fmt: skip
    recording = seal(RECORDING.model_copy(update={"exchanges": (one,)}))
    with TemporaryDirectory() as folder:
        assert load_recording(write(Path(folder) / "r.json", dump_recording(recording))) == recording


def test_the_deepest_body_that_a_request_may_have_can_be_recorded(path: Path) -> None:
    deepest = parse_json(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
    one = exchange("What now?", Answer(status=200, headers=HEADERS, body=deepest))
    recording = seal(RECORDING.model_copy(update={"exchanges": (one,)}))
    assert load_recording(write(path, dump_recording(recording))) == recording


def test_a_stream_cannot_hold_what_the_wire_cannot_carry() -> None:
    for event in ("", "a\rb"):
        with pytest.raises(ValueError):
            Stream(status=200, headers={}, events=(event,))
