"""A credential in what would be written is found in the forms that it takes on its way, and is never shown."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote, quote_plus

import pytest

from seatrial.gateway.key import JSON, request_key
from seatrial.gateway.recording import Exchange, Recording, Request, Stream, UpstreamFacts
from seatrial.gateway.redact import find_secrets, kept_headers, secrets_in

SECRET = 'sk-9/x+"ö~ä\\7?&pass word'
SECRETS = {"MODEL_KEY": SECRET}


@pytest.mark.parametrize("before", range(7))
@pytest.mark.parametrize("after", range(4))
def test_base64_is_found_at_every_alignment(before: int, after: int) -> None:
    data = bytes([255] * before) + SECRET.encode() + bytes([255] * after)
    for encode in (b64encode, urlsafe_b64encode):
        found = find_secrets("first line\nx" + encode(data).decode(), SECRETS)
        assert [(each.name, each.form, each.line) for each in found] == [("MODEL_KEY", "base64", 2)]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (SECRET, "plain"),
        (json.dumps({"k": SECRET}), "escaped in JSON"),
        (json.dumps({"k": SECRET}, ensure_ascii=False), "escaped in JSON"),
        (json.dumps([json.dumps({"k": SECRET})]), "escaped in JSON"),
        (json.dumps([json.dumps({"k": SECRET}, ensure_ascii=False)], ensure_ascii=False), "escaped in JSON"),
        (quote(SECRET, safe=""), "URL-encoded"),
        (quote(SECRET), "URL-encoded"),
        (quote_plus(SECRET), "URL-encoded"),
        (quote(SECRET, safe="").replace("%C3%B6", "%c3%b6").replace("%2F", "%2f").replace("%2B", "%2b")
         .replace("%C3%A4", "%c3%a4").replace("%5C", "%5c").replace("%3F", "%3f"), "URL-encoded"),
    ],
)  # fmt: skip
def test_a_secret_is_found_in_the_forms_it_takes(text: str, form: str) -> None:
    assert [(each.name, each.form) for each in find_secrets(f"a {text} b", SECRETS)] == [("MODEL_KEY", form)]


def test_what_is_no_secret_is_not_found() -> None:
    assert find_secrets("sk-9/x nothing here", SECRETS) == ()
    assert find_secrets("a local model", {"KEY": "local", "EMPTY": ""}) == ()


def test_a_finding_never_shows_the_value() -> None:
    assert SECRET not in repr(find_secrets(SECRET, SECRETS))


def test_a_secret_that_a_stream_splits_is_found() -> None:
    parts = [{"choices": [{"index": 0, "delta": {"content": SECRET[i : i + 5]}}]} for i in range(0, len(SECRET), 5)]
    other = {"choices": [{"index": 1, "delta": {"content": "between"}}]}
    events = [json.dumps(part) for pair in parts for part in (pair, other)]
    body: JSON = {"messages": []}
    recording = Recording(
        trial=0, recorded_at="2030-01-01T00:00:00Z", contracts={},
        upstream=UpstreamFacts(kind="test", model="m", fingerprint=None, parameters={}),
        exchanges=(
            Exchange(
                key=request_key(method="POST", path="/v1/chat/completions", role="agent", conversation=1, body=body),
                occurrence=1, role="agent", conversation=1, usage=None,
                request=Request(method="POST", path="/v1/chat/completions", body=body),
                outcome=Stream(status=200, headers={}, events=(*events, "[DONE]")),
            ),
        ),
    )  # fmt: skip
    assert [(each.name, each.line) for each in secrets_in(recording, SECRETS)] == [("MODEL_KEY", 0)]
    assert secrets_in(recording, {"OTHER": "something else"}) == ()


def test_only_listed_headers_are_kept() -> None:
    headers = {"content-type": "application/json", "set-cookie": "s=1", "authorization": "x", "content-length": "3"}
    assert kept_headers(headers) == {"content-type": "application/json"}
