"""A credential is found in every encoding of the table, wherever it stands, and is never shown."""

from __future__ import annotations

import gzip
import inspect
import json
import zlib
from base64 import b16encode, b32encode, b64encode, encodebytes, urlsafe_b64encode
from collections.abc import Callable, Mapping
from html import escape
from quopri import encodestring
from types import ModuleType
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seatrial_build.core import secret_search as of_the_build

from seatrial.gateway import secret_search as of_the_harness


def _utf16_hex(secret: str) -> str:
    return secret.encode("utf-16-le", "surrogatepass").hex()


def _each_byte(form: str) -> Callable[[str], str]:
    return lambda secret: "".join(form.format(byte) for byte in secret.encode())


def _each_character(form: str) -> Callable[[str], str]:
    return lambda secret: "".join(form.format(ord(character)) for character in secret)


def _units(secret: str) -> str:
    coded = secret.encode("utf-16-be")
    return "".join(f"\\u{coded[at]:02x}{coded[at + 1]:02X}" for at in range(0, len(coded), 2))


def _lower_percents(text: str) -> str:
    first, *rest = text.split("%")
    return first + "".join("%" + part[:2].lower() + part[2:] for part in rest)


def _shifted(encode: Callable[[bytes], bytes], before: int) -> Callable[[str], str]:
    return lambda secret: encode(b"Bearer "[:before] + secret.encode() + b" end").decode()


# Each is written here without the code that decodes it.
ENCODINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda secret: secret,
    "JSON": lambda secret: json.dumps({"key": secret}),
    "JSON, not in ASCII": lambda secret: json.dumps({"key": secret}, ensure_ascii=False),
    "JSON in JSON": lambda secret: json.dumps(json.dumps({"key": secret})),
    "JSON escapes of each character": _units,
    "URL-quoted": lambda secret: quote(secret, safe=""),
    "URL-quoted, lower case": lambda secret: _lower_percents(quote(secret, safe="")),
    "URL-quoted with plus for space": quote_plus,
    "URL-quoted, each byte": _each_byte("%{:02X}"),
    "URL-quoted, each byte, lower case": _each_byte("%{:02x}"),
    "URL-quoted twice": lambda secret: quote(quote(secret, safe=""), safe=""),
    **{f"base64 at {before}": _shifted(b64encode, before) for before in range(4)},
    **{f"base64 for URLs at {before}": _shifted(urlsafe_b64encode, before) for before in range(4)},
    "base64 without padding": lambda secret: b64encode(secret.encode()).decode().rstrip("="),
    "base64 in lines": lambda secret: encodebytes(b"x" * 50 + secret.encode() * 2).decode(),
    "base64 twice": lambda secret: b64encode(b64encode(secret.encode())).decode(),
    "base64, URL-quoted": lambda secret: quote(b64encode(secret.encode()).decode(), safe=""),
    "base64 of JSON": lambda secret: b64encode(json.dumps({"k": secret}).encode()).decode(),
    "base64 of gzip": lambda secret: b64encode(gzip.compress(secret.encode(), mtime=0)).decode(),
    "base64 of zlib": lambda secret: b64encode(zlib.compress(secret.encode())).decode(),
    "base64 of UTF-16": lambda secret: b64encode(secret.encode("utf-16-le")).decode(),
    "basic authentication": lambda secret: "Basic " + b64encode(f"user:{secret}".encode()).decode(),
    "base32": lambda secret: b32encode(secret.encode()).decode(),
    "base32, lower case, unpadded": lambda secret: b32encode(secret.encode()).decode().lower().rstrip("="),
    "base32 at 3": _shifted(b32encode, 3),
    "base16": lambda secret: b16encode(secret.encode()).decode(),
    "hex, lower case": lambda secret: secret.encode().hex(),
    "hex with colons": lambda secret: secret.encode().hex(":"),
    "hex of base64": lambda secret: b64encode(secret.encode()).hex(),
    "hex of UTF-16": _utf16_hex,
    "hex bytes of C": _each_byte("0x{:02x}, "),
    "backslash-x": _each_byte("\\x{:02x}"),
    "backslash, octal": _each_byte("\\{:03o}"),
    "HTML": escape,
    "HTML, decimal": _each_character("&#{};"),
    "HTML, hexadecimal": _each_character("&#x{:X};"),
    "quoted-printable": lambda secret: encodestring(secret.encode(), quotetabs=True).decode(),
    "quoted-printable, each byte": _each_byte("={:02X}"),
    "byte numbers": lambda secret: json.dumps(list(secret.encode())),
}

SECRET = 'sk-9/x+"ö~ä\\7?&<pass> word'
HOMES = pytest.mark.parametrize("search", [of_the_build, of_the_harness], ids=["build", "harness"])

# What keys are made of, and what stands in passwords that people choose. (HTML and quoted-printable have no spelling of
# control characters; letters outside of the BMP and accents are drawn too.)
secrets = st.one_of(
    st.from_regex(r"(sk|pk|ghp|xoxb|AKIA)[-_]?[A-Za-z0-9_\-]{12,48}", fullmatch=True),
    st.from_regex(r"[A-Za-z0-9+/]{16,40}={0,2}", fullmatch=True),
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=40),
    st.text(st.characters(min_codepoint=0x21, blacklist_categories=("Cs", "Cc", "Cn", "Z")), min_size=8, max_size=20),
)


def exchange(request: str = "", answer: str = "", header: str = "", events: tuple[str, ...] = ()) -> bytes:
    """A recording as far as it matters here: what it is a search of is bytes."""
    made = {
        "exchanges": [
            {
                "request": {"body": {"messages": [{"role": "user", "content": request}]}},
                "outcome": {"headers": {"x-id": header}, "body": {"choices": [{"message": {"content": answer}}]}},
            },
            {"outcome": {"kind": "stream", "events": [*events, "[DONE]"]}},
        ]
    }
    return (json.dumps(made, ensure_ascii=False, indent=2) + "\n").encode()


def in_pieces(text: str, size: int) -> tuple[str, ...]:
    """A stream that says the text in pieces, with another choice's words between them."""
    events = []
    for start in range(0, len(text), size):
        for index, content in ((0, text[start : start + size]), (1, "between")):
            events.append(json.dumps({"choices": [{"index": index, "delta": {"content": content}}]}))
    return tuple(events)


PLACES: Mapping[str, Callable[[str], bytes]] = {
    "request": lambda text: exchange(request=f"a {text} b"),
    "answer": lambda text: exchange(answer=f"a {text} b"),
    "header": lambda text: exchange(header=text),
    "stream": lambda text: exchange(events=in_pieces(f"a {text} b", 10_000)),
    "stream in pieces": lambda text: exchange(events=in_pieces(f"a {text} b", 5)),
}


def names(search: ModuleType, content: bytes, values: Mapping[str, str]) -> list[str]:
    return [found.name for found in search.find_secrets(content, values)]


@HOMES
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_secret_is_found_in_each_encoding_at_each_place(encoding: str, place: str, search: ModuleType) -> None:
    values = {"OTHER_KEY": "another-value", "MODEL_KEY": SECRET}
    assert names(search, PLACES[place](ENCODINGS[encoding](SECRET)), values) == ["MODEL_KEY"]


@settings(max_examples=400)
@given(secret=secrets, encoding=st.sampled_from(sorted(ENCODINGS)), place=st.sampled_from(sorted(PLACES)))
def test_any_secret_is_found_in_any_encoding_at_any_place(secret: str, encoding: str, place: str) -> None:
    assert names(of_the_build, PLACES[place](ENCODINGS[encoding](secret)), {"K": secret}) == ["K"]


@given(before=st.binary(max_size=20), after=st.binary(max_size=20), secret=secrets, size=st.integers(1, 9))
def test_what_stands_around_a_secret_does_not_hide_it(before: bytes, after: bytes, secret: str, size: int) -> None:
    text = b64encode(before + secret.encode() + after).decode()
    assert names(of_the_build, exchange(events=in_pieces(text, size)), {"K": secret}) == ["K"]


@given(text=st.text(max_size=200), secret=secrets)
def test_a_text_without_the_secret_holds_none(text: str, secret: str) -> None:
    content = exchange(request=text, events=in_pieces(text, 3))
    unrelated = secret + "\N{LATIN SMALL LETTER ETH}-unrelated-0123456789"
    assert names(of_the_build, content, {"K": unrelated}) == []


@HOMES
def test_a_finding_names_the_credential_and_never_its_value(search: ModuleType) -> None:
    (found,) = search.find_secrets(exchange(answer=ENCODINGS["base64 of JSON"](SECRET)), {"MODEL_KEY": SECRET})
    assert str(found).startswith("MODEL_KEY (")
    assert "base64" in str(found)
    assert SECRET not in repr(found)


@HOMES
def test_an_empty_key_or_a_placeholder_is_in_no_text(search: ModuleType) -> None:
    assert len("none") < search.SHORTEST_SECRET
    assert search.find_secrets(b"none", {"EMPTY": "", "PLACEHOLDER": "none"}) == ()


def test_a_text_that_would_take_for_ever_to_search_is_refused() -> None:
    bombs = [ENCODINGS["base64 of zlib"](f"{number} " * 4_000_000) for number in range(40)]
    content = json.dumps(bombs).encode()
    with pytest.raises(of_the_build.SearchTooLarge):
        of_the_build.find_secrets(content, {"K": SECRET})


def test_the_harness_and_the_build_search_alike() -> None:
    assert inspect.getsource(of_the_harness) == inspect.getsource(of_the_build)
