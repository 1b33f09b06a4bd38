"""The secrets rule on invented values. They are put together from parts, so that no scanner takes this file
for a leak."""

from __future__ import annotations

import pytest
from rules import credentials
from rules.files import SourceFile

RANDOM = "q7Zp2Lx9Vb4Kd8Rt1Ny6Wm3Hs5"


def seen(line: str) -> list[str]:
    found = credentials.check(SourceFile("evals/integration/x.recording.json", f"first line\n{line}\n"))
    assert all(finding.line == 2 for finding in found)
    return [finding.what.split(":")[0] for finding in found]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("-----BEGIN " + "PRIVATE KEY-----", "holds a private key"),
        ("-----BEGIN RSA " + "PRIVATE KEY-----", "holds a private key"),
        ("Bearer " + RANDOM, "holds a bearer token"),
        ('"text": "use bearer ' + RANDOM + '"', "holds a bearer token"),
        ("Basic " + "dXNlcjpwYXNzd29yZA==", "holds basic authentication"),
        ("sk-" + RANDOM, "holds an API key"),
        ("the key is sk-proj-" + RANDOM, "holds an API key"),
        ("xoxb-" + "1234567890-" + RANDOM, "holds a Slack token"),
        ("xapp-1-" + RANDOM, "holds a Slack token"),
        ("https://hooks.slack.com" + "/services/T000/B000/" + RANDOM, "holds a Slack webhook"),
        ("AKIA" + "ABCDEFGHIJ234567", "holds an AWS key id"),
        ("ghp_" + RANDOM, "holds a GitHub token"),
        ("AIza" + RANDOM + RANDOM[:9], "holds a Google key"),
        ("eyJ" + RANDOM + ".eyJ" + RANDOM + "." + RANDOM, "holds a JSON Web Token"),
        ("postgresql://morgan:" + "hunter22@db.internal/x", "holds a URL with a password"),
        ('"x-api-key": "' + RANDOM + '"', "holds a long random value in 'x-api-key'"),
        ("client_secret: " + RANDOM, "holds a long random value in 'client_secret'"),
        ('"set-cookie": "' + RANDOM + '"', "holds a long random value in 'set-cookie'"),
        ("access_token=" + RANDOM, "holds a long random value in 'access_token'"),
        ("write to morgan" + "@" + "acme.io today", "holds the address 'morgan" + "@" + "acme.io'"),
        (
            "morgan" + "@" + "example.com.evil.org",
            "holds the address 'morgan" + "@" + "example.com.evil.org'",
        ),
        ("in " + "/" + "home" + "/morgan/work", "holds the path '" + "/" + "home" + "/morgan'"),
        ('"cwd": "' + "/" + "root" + '"', "holds the path '" + "/" + "root" + "'"),
        ("/" + "Users" + "/morgan", "holds the path '" + "/" + "Users" + "/morgan'"),
        ("file:/" + "//" + "home/morgan/x", "holds the path '" + "/" + "home/morgan'"),
        ("C:" + "\\Users\\morgan", "holds the path 'C"),
    ],
)
def test_what_looks_like_a_secret_is_seen(line: str, what: str) -> None:
    assert what in seen(line)


@pytest.mark.parametrize(
    "line",
    [
        '"authorization": "[removed]"',
        "the bearer of this letter",
        "Basic arithmetic is enough",
        '"max_completion_tokens": 4096',
        '"input_tokens": 1234567890123456',
        '"total_tokens": "1234567890abcdef"',
        '"digest": "' + "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" + '"',
        '"key": "' + "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" + '"',
        "morgan" + "@" + "example.com, ana" + "@" + "mail.example.org",
        "morgan" + "@" + "team.example",
        "a risk-free, task-oriented ask-me-anything session",
        "https://example.com:8080/path",
        "http://127.0.0.1:9/v1",
        "postgresql://postgres@/db?host=socket",
        "secret: the launch is on Friday",
        "api_key: unused-in-a-sealed-case",
        "go to /homepage or ./home/x, tests/home/x and ~/home",
        "at 12:00 @morgan wrote",
        "AKIAshort",
    ],
)
def test_words_numbers_and_digests_are_left_alone(line: str) -> None:
    assert seen(line) == []


@pytest.mark.parametrize(
    "line",
    [
        '"text": "one\\nsk-' + RANDOM + '"',
        '"arguments": "{\\"text\\": \\"one\\\\nsk-' + RANDOM + '\\"}"',
        '"text": "\\u0073k-' + RANDOM + '"',
    ],
)
def test_a_secret_behind_escapes_is_seen(line: str) -> None:
    assert seen(line) == ["holds an API key"]


def test_a_field_within_escaped_json_is_seen() -> None:
    assert "holds a long random value in 'api_key'" in seen('"arguments": "{\\"api_key\\": \\"' + RANDOM + '\\"}"')


def test_a_secret_is_not_repeated_in_the_message() -> None:
    (finding,) = credentials.check(SourceFile("evals/x.yaml", "sk-" + RANDOM))
    assert RANDOM not in finding.what


def test_every_secret_of_a_file_is_reported_with_its_line() -> None:
    text = f"a: sk-{RANDOM}\nb: fine\nc: xoxb-{RANDOM}\n"
    assert [finding.line for finding in credentials.check(SourceFile("evals/x.yaml", text))] == [1, 3]


def test_entropy_is_bits_for_each_character() -> None:
    assert credentials.entropy("aaaa") == 0
    assert credentials.entropy("abcd") == 2
    assert credentials.entropy("") == 0
