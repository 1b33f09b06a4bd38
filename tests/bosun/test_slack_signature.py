"""Slack's signature: Slack's own published example, and nothing that differs from it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosun.slack.signature import WINDOW_SECONDS, SignatureRefused, SlackSignature

# The example of Slack's page "Verifying requests from Slack": a secret, a request, and its signature.
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
TIMESTAMP = "1531420618"
BODY = (
    b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
    b"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
    b"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
    b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
)
SIGNATURE = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
THEN = datetime.fromtimestamp(int(TIMESTAMP), UTC)

SLACK = SlackSignature(SECRET)


def accepts(
    *,
    slack: SlackSignature = SLACK,
    timestamps: tuple[str, ...] = (TIMESTAMP,),
    signatures: tuple[str, ...] = (SIGNATURE,),
    body: bytes = BODY,
    now: datetime = THEN,
) -> bool:
    """Tell whether a request is Slack's."""
    try:
        slack.check(timestamps=list(timestamps), signatures=list(signatures), body=body, now=now)
    except SignatureRefused as refused:
        assert SECRET not in str(refused) and SIGNATURE not in str(refused), "a refusal tells no secret"
        return False
    return True


def altered(text: bytes) -> list[bytes]:
    """Return every text that differs in one byte: another one, one less, one more."""
    changed = [text[:at] + bytes([byte ^ bit]) + text[at + 1 :] for at, byte in enumerate(text) for bit in (1, 32, 128)]
    shorter = [text[:at] + text[at + 1 :] for at in range(len(text))]
    longer = [text[:at] + b"0" + text[at:] for at in range(len(text) + 1)]
    return changed + [each for each in shorter + longer if each != text]


def test_slacks_published_example() -> None:
    """The signature is what Slack says that it is."""
    assert SLACK.of(TIMESTAMP, BODY) == SIGNATURE
    assert accepts()


def test_every_change_of_one_byte_of_the_body_is_refused() -> None:
    """Also of one bit."""
    assert not [body for body in altered(BODY) if accepts(body=body)]


def test_every_change_of_one_byte_of_the_signature_is_refused() -> None:
    """Also what is no ASCII, which strings are not compared with in constant time."""
    assert not [each for each in altered(SIGNATURE.encode()) if accepts(signatures=(each.decode("latin-1"),))]
    assert not accepts(signatures=(SIGNATURE.upper(),))
    assert not accepts(signatures=(SIGNATURE.removeprefix("v0="),))


def test_every_change_of_one_byte_of_the_timestamp_is_refused() -> None:
    """It is signed, too."""
    assert not [each for each in altered(TIMESTAMP.encode()) if accepts(timestamps=(each.decode("latin-1"),))]


def test_every_change_of_one_byte_of_the_secret_is_refused() -> None:
    """Another app's requests are not this app's."""
    for secret in altered(SECRET.encode()):
        assert not accepts(slack=SlackSignature(secret.decode("latin-1")))


def test_what_belongs_to_the_timestamp_cannot_move_into_the_body() -> None:
    """`v0:1:2:x` would be signed alike for two requests, were a timestamp not digits alone."""
    signature = SLACK.of(TIMESTAMP, b"1:rest")
    assert not accepts(timestamps=(f"{TIMESTAMP}:1",), signatures=(signature,), body=b"rest")


@pytest.mark.parametrize("seconds", [-WINDOW_SECONDS, -1, 0, 0.5, WINDOW_SECONDS])
def test_within_the_window_a_request_is_taken(seconds: float) -> None:
    """Both edges belong to it."""
    assert accepts(now=THEN + timedelta(seconds=seconds))


@pytest.mark.parametrize("seconds", [-86_400, -WINDOW_SECONDS - 0.001, WINDOW_SECONDS + 0.001, 86_400, 10**9])
def test_outside_of_the_window_a_good_signature_is_refused(seconds: float) -> None:
    """Whoever has read an old request cannot send it again; nor one from the future."""
    assert not accepts(now=THEN + timedelta(seconds=seconds))


@pytest.mark.parametrize("values", [(), ("",), ("x",), (TIMESTAMP, TIMESTAMP), ("1531420618.0",), ("-1531420618",)])
def test_a_timestamp_that_is_missing_double_or_no_number(values: tuple[str, ...]) -> None:
    """It is refused, signed or not."""
    assert not accepts(timestamps=values)
    if values:
        assert not accepts(timestamps=values, signatures=(SLACK.of(values[0], BODY),))


@pytest.mark.parametrize("digits", ["１５３１４２０６１８", "١٥٣١٤٢٠٦١٨", "9" * 5_000, "1_531_420_618", " 1531420618"])
def test_numbers_that_only_python_would_read(digits: str) -> None:
    """A signed one is refused, too: it is none of Slack's."""
    assert not accepts(timestamps=(digits,), signatures=(SLACK.of(digits, BODY),))


@pytest.mark.parametrize("values", [(), ("",), ("v0=",), (SIGNATURE, SIGNATURE), (f"{SIGNATURE},{SIGNATURE}",)])
def test_a_signature_that_is_missing_double_or_empty(values: tuple[str, ...]) -> None:
    """A proxy may have read the other one."""
    assert not accepts(signatures=values)


@pytest.mark.parametrize("secret", ["", "  ", "\n"])
def test_without_a_secret_there_is_no_app(secret: str) -> None:
    """Everybody knows the empty key."""
    with pytest.raises(ValueError, match="signing secret is empty"):
        SlackSignature(secret)


@given(st.binary(max_size=200), st.integers(0, 10**10))
def test_what_is_signed_is_taken_then_and_not_by_another_app(body: bytes, second: int) -> None:
    """Any bytes: the body need not be text."""
    signature = SLACK.of(str(second), body)
    then = datetime.fromtimestamp(second, UTC)
    assert accepts(timestamps=(str(second),), signatures=(signature,), body=body, now=then)
    other = SlackSignature("another secret")
    assert not accepts(slack=other, timestamps=(str(second),), signatures=(signature,), body=body, now=then)


@given(st.text(max_size=80), st.text(max_size=20), st.binary(max_size=50))
def test_anything_else_is_refused_and_nothing_breaks(signature: str, timestamp: str, body: bytes) -> None:
    """Whatever the headers hold."""
    assert not accepts(timestamps=(timestamp,), signatures=(signature,), body=body)
