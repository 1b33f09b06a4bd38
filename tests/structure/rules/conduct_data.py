"""The test rules as data: which files each rule is about, and what it refuses there. `conduct` applies it.

The rules are those of the fixture's contract ("Tests that run the agent use one small fixture"), translated
to this project. Each has a list of the files that break it today, with how often. A list can only get
shorter.
"""

from __future__ import annotations

from collections.abc import Mapping

RUNS_NO_AGENT = "tests-run-no-agent"
FIXTURE_ONLY = "agent-tests-import-only-the-fixture"
NO_MODEL_FAKES = "no-model-fakes"
NO_CONFIGURATION_CHANGES = "no-configuration-changes"
NO_WORKER_INTERNALS = "no-worker-internals"
NO_SKIPS = "no-skips"
NO_SLEEPS = "no-sleeps"

RULES = (
    RUNS_NO_AGENT,
    FIXTURE_ONLY,
    NO_MODEL_FAKES,
    NO_CONFIGURATION_CHANGES,
    NO_WORKER_INTERNALS,
    NO_SKIPS,
    NO_SLEEPS,
)

# rule -> file -> how often the file breaks it. More than that fails; fewer fails as well, until the entry is
# lowered.
KNOWN: Mapping[str, Mapping[str, int]] = {rule: {} for rule in RULES}

# Modules that make or drive an agent, by the folder of tests that may not import them. The longest folder
# counts.
AGENT_MAKERS = {
    # It composes apps, to compare what they are made of, and runs none.
    "tests/bosun/test_two_apps.py": ("bosun_binding", "seatrial"),
    "tests/": (
        "bosun.app",
        "bosun_binding",
        "seatrial.trial",
        "seatrial.pytest_plugin",
        "seatrial.cases.run",
        "seatrial.cases.attempt",
    ),
    "tests/seatrial/": ("bosun", "bosun_binding"),
}

# What an agent test may import beside the standard library: these names, and no module below them.
FIXTURE = ("pytest", "seatrial")

# Libraries whose purpose is to put something else in the place of a call.
FAKING_LIBRARIES = (
    "unittest.mock",
    "mock",
    "pytest_mock",
    "pytest_httpx",
    "pytest_httpserver",
    "respx",
    "responses",
    "requests_mock",
    "vcr",
    "httpx.MockTransport",
    "openai.types",
)
FAKING_FIXTURES = frozenset({"mocker", "httpx_mock", "respx_mock", "class_mocker", "module_mocker", "session_mocker"})
FAKE_NAME = (
    r"(?i)^_*(?:fake|mock|stub|scripted|canned|dummy)_?\w*(?:model|agent|openai|completion|llm)"
    r"|^_*\w*(?:model|agent|openai|completion|llm)_?(?:fake|mock|stub)"
)
# The `object` field of an OpenAI-compatible answer: who writes it in a test scripts a model's answer.
SCRIPTED_ANSWER = "chat.completion"
THE_MODEL = ("openai", "bosun.model")

# Whose attributes a test may not change.
PRODUCT = ("bosun", "bosun_binding", "seatrial")
PRODUCT_ENVIRONMENT = ("BOSUN_", "SEATRIAL_")

# Modules that only their own tests may import: module -> the words of which one is in the test file's name.
INTERNALS = {
    "bosun.mailbox.worker": ("worker",),
    "bosun.mailbox.lease": ("lease", "worker"),
    "bosun.turn": (
        "turn",
        "engine",
        "steering",
        "slices",
        "limits",
        "delivery",
        "lifecycle",
        "reply",
        "answer",
    ),
}

SKIPPING = (
    "pytest.skip",
    "pytest.xfail",
    "pytest.importorskip",
    "pytest.mark.skip",
    "pytest.mark.skipif",
    "pytest.mark.xfail",
    "unittest.skip",
    "unittest.skipIf",
    "unittest.skipUnless",
    "unittest.expectedFailure",
    "unittest.SkipTest",
)
NOT_COLLECTED = frozenset({"collect_ignore", "collect_ignore_glob", "__test__", "pytest_ignore_collect"})
SLEEPING = ("time.sleep", "asyncio.sleep", "anyio.sleep", "trio.sleep")
