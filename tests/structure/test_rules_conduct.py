"""The test rules on bad and good source text: each rule sees its breach and names the line; the lists only
shrink."""

from __future__ import annotations

import pytest
from rules import conduct, conduct_data, ratchet
from rules.conduct import Breach
from rules.conduct_data import RULES
from rules.files import SourceFile
from rules.finding import Finding

AGENT_TEST = "evals/integration/test_steering.py"
PRODUCT_TEST = "tests/bosun/test_router.py"
HARNESS_TEST = "tests/seatrial/test_trial.py"


def seen(path: str, text: str) -> list[tuple[str, int, str]]:
    return [(breach.rule, breach.finding.line, breach.finding.what) for breach in conduct.check(SourceFile(path, text))]


def rules(path: str, text: str) -> set[str]:
    return {rule for rule, _, _ in seen(path, text)}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (PRODUCT_TEST, "from bosun.app import create_app\ncreate_app(options)"),
        (PRODUCT_TEST, "import bosun.app"),
        (PRODUCT_TEST, "from bosun_binding.binding import make"),
        (PRODUCT_TEST, "def f():\n    from seatrial.trial import open_trial"),
        (PRODUCT_TEST, "pytest_plugins = ['seatrial.pytest_plugin']"),
        (PRODUCT_TEST, "import importlib\nimportlib.import_module('bosun_binding.binding')"),
        ("tests/bosun/conftest.py", "from seatrial.pytest_plugin import run"),
        ("tests/properties/test_key.py", "from seatrial.cases.run import main"),
        (HARNESS_TEST, "from bosun.options import BosunOptions"),
        (HARNESS_TEST, "import bosun_binding"),
    ],
)
def test_a_test_that_runs_the_agent_outside_of_evals_is_seen(path: str, text: str) -> None:
    assert conduct_data.RUNS_NO_AGENT in rules(path, text)


@pytest.mark.parametrize(
    "text",
    [
        "from bosun.options import BosunOptions",
        "import bosun",
        "import seatrial.trial",
        "from seatrial.trial import Trial",
        "from seatrial import gateway",
        "import httpx",
        "from .shared import thing",
        "import bosun_binding",
        "import sqlalchemy",
    ],
)
def test_an_agent_test_that_imports_more_than_the_fixture_is_seen(text: str) -> None:
    assert conduct_data.FIXTURE_ONLY in rules(AGENT_TEST, text)


@pytest.mark.parametrize("path", [AGENT_TEST, PRODUCT_TEST])
@pytest.mark.parametrize(
    "text",
    [
        "from unittest import mock",
        "from unittest.mock import patch",
        "import respx",
        "from httpx import MockTransport",
        "import httpx\nhttpx.MockTransport(handler)",
        "from openai.types.chat import ChatCompletion",
        "class MockAgent: ...",
        "class FakeChatModel: ...",
        "def fake_model_stream(): ...",
        "async def scripted_completion(): ...",
        "class ModelStub: ...",
        "def test_x(mocker): ...",
        "import openai\ndef test_x(monkeypatch): monkeypatch.setattr(openai, 'AsyncOpenAI', None)",
        "def test_x(monkeypatch): monkeypatch.setattr('bosun.model.client.ask', None)",
        "def test_x(monkeypatch, client): monkeypatch.setattr(client.chat.completions, 'create', None)",
        'LINE = \'data: {"object": "chat.completion.chunk"}\'',
    ],
)
def test_a_model_fake_is_seen(path: str, text: str) -> None:
    assert conduct_data.NO_MODEL_FAKES in rules(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (PRODUCT_TEST, "import importlib\nimportlib.reload(module)"),
        (
            PRODUCT_TEST,
            "import bosun.limits as l\ndef test_x(monkeypatch): monkeypatch.setattr(l, 'MOST', 3)",
        ),
        (PRODUCT_TEST, "def test_x(monkeypatch): monkeypatch.setattr('bosun.limits.MOST', 3)"),
        (PRODUCT_TEST, "def test_x(monkeypatch): monkeypatch.setenv('BOSUN_MODEL_URL', 'x')"),
        (AGENT_TEST, "def test_x(monkeypatch): monkeypatch.setenv('TZ', 'UTC')"),
        (PRODUCT_TEST, "import sys\nsys.modules['bosun'] = None"),
        (PRODUCT_TEST, "import sys\ndel sys.modules['bosun']"),
        (
            PRODUCT_TEST,
            "import sys\ndef test_x(monkeypatch): monkeypatch.setitem(sys.modules, 'bosun', None)",
        ),
        (PRODUCT_TEST, "from bosun import limits\nlimits.MOST = 3"),
        (PRODUCT_TEST, "from bosun import limits\nsetattr(limits, 'MOST', 3)"),
        (PRODUCT_TEST, "import os\nos.environ['TZ'] = 'UTC'"),
        (
            HARNESS_TEST,
            "from seatrial import verdict\ndef test_x(monkeypatch): monkeypatch.setattr(verdict, 'x', 3)",
        ),
    ],
)
def test_a_change_of_configuration_is_seen(path: str, text: str) -> None:
    assert conduct_data.NO_CONFIGURATION_CHANGES in rules(path, text)


def test_worker_internals_are_for_the_workers_own_tests() -> None:
    text = "from bosun.mailbox.worker import Worker"
    assert rules("tests/bosun/test_routes.py", text) == {conduct_data.NO_WORKER_INTERNALS}
    assert rules("tests/bosun/test_worker.py", text) == set()
    assert rules("tests/bosun/test_mailbox_worker_leases.py", text) == set()


@pytest.mark.parametrize(
    "text",
    [
        "import pytest\npytest.skip('later')",
        "import pytest as p\np.xfail('later')",
        "from pytest import importorskip",
        "import pytest\n@pytest.mark.skip\ndef test_x(): ...",
        "import pytest\n@pytest.mark.skipif(True, reason='x')\ndef test_x(): ...",
        "import pytest\npytestmark = pytest.mark.xfail(strict=True)",
        "from pytest import mark\nmark.skip",
        "import pytest\npytest.param(1, marks=pytest.mark.xfail)",
        "import unittest\nraise unittest.SkipTest",
        "collect_ignore = ['test_y.py']",
        "class TestX:\n    __test__ = False",
    ],
)
@pytest.mark.parametrize("path", [AGENT_TEST, PRODUCT_TEST, HARNESS_TEST, "tests/embedded_services/test_postgres.py"])
def test_a_skip_is_seen_everywhere(path: str, text: str) -> None:
    assert conduct_data.NO_SKIPS in rules(path, text)


def test_a_sleep_is_seen_but_a_turn_of_the_loop_is_none() -> None:
    assert rules(PRODUCT_TEST, "import time\ntime.sleep(1)") == {conduct_data.NO_SLEEPS}
    assert rules(PRODUCT_TEST, "from asyncio import sleep\nasync def f(): await sleep(0.1)") == {conduct_data.NO_SLEEPS}
    assert rules(PRODUCT_TEST, "import asyncio\nasync def f(): await asyncio.sleep(0)") == set()
    assert rules(PRODUCT_TEST, "async def f(timer): await timer.sleep(5)") == set()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            AGENT_TEST,
            "import json\nimport pytest\nfrom seatrial import web_message\nasync def test_x(run): ...",
        ),
        (
            PRODUCT_TEST,
            "'''No pytest.skip, no chat.completion.'''\nfrom bosun.context import escape\ndef test_x(): ...",
        ),
        (PRODUCT_TEST, "import httpx\ndef test_x(app): httpx.ASGITransport(app=app)"),
        (PRODUCT_TEST, "class ModelOptionsTable: ..."),
        (PRODUCT_TEST, "import os\ndict(os.environ)"),
        (PRODUCT_TEST, "def test_x(monkeypatch): monkeypatch.setenv('TZ', 'UTC')"),
        (HARNESS_TEST, "from seatrial.trial import open_trial\nclass FakeModel: ..."),
        ("evals/bosun_binding/binding.py", "from bosun.app import create_app\nimport httpx"),
        ("src/bosun/app.py", "import time\ntime.sleep(1)"),
    ],
)
def test_what_the_rules_allow_is_left_alone(path: str, text: str) -> None:
    assert seen(path, text) == []


def test_a_breach_names_its_line() -> None:
    assert seen(PRODUCT_TEST, "import pytest\n\n\ndef test_x():\n    pytest.skip('x')\n") == [
        (conduct_data.NO_SKIPS, 5, "uses pytest.skip")
    ]


def breaches(path: str, count: int) -> list[Breach]:
    return [Breach("rule", Finding(path, line, "does it", "rule: bad", "stop")) for line in range(1, count + 1)]


def test_what_is_not_on_the_list_fails_with_every_place() -> None:
    assert [finding.address for finding in ratchet.compare(breaches("a.py", 2), {"rule": {}}, "list.py")] == [
        "a.py:1",
        "a.py:2",
    ]


def test_as_many_as_the_list_says_pass() -> None:
    assert ratchet.compare(breaches("a.py", 2), {"rule": {"a.py": 2}}, "list.py") == []


def test_more_than_the_list_says_fails() -> None:
    assert len(ratchet.compare(breaches("a.py", 3), {"rule": {"a.py": 2}}, "list.py")) == 3


def test_fewer_than_the_list_says_fails_and_says_to_lower_the_entry() -> None:
    (finding,) = ratchet.compare(breaches("a.py", 1), {"rule": {"a.py": 2}}, "list.py")
    assert (finding.path, finding.cure) == ("list.py", "lower the entry to 1")
    (finding,) = ratchet.compare([], {"rule": {"a.py": 2}}, "list.py")
    assert finding.cure == "remove the entry"


def test_an_entry_of_nothing_fails() -> None:
    assert [finding.cure for finding in ratchet.compare([], {"rule": {"a.py": 0}}, "list.py")] == ["remove the entry"]


def test_every_rule_has_a_list() -> None:
    assert set(conduct_data.KNOWN) == set(RULES)
