"""Seatrial's rooms: the harness's own part of the table in `house`; `SEATRIAL` is joined to the rest there."""

from __future__ import annotations

from rules.rooms import Room

LEAVES = (
    *("seatrial.clock", "seatrial.headers", "seatrial.ids", "seatrial.kill", "seatrial.nearest"),
    *("seatrial.slack", "seatrial.steps", "seatrial.verdict"),
)
DATA = (
    *("seatrial.conversation", "seatrial.fixture", "seatrial.history", "seatrial.inputs"),
    "seatrial.progress",
)
NO_TEST_RUNNER = ("pytest",)

# What running a case needs. Of the gateway the recording's types and the upstream's data, which the trial is
# given; never its server.
CASE_RUNTIME = (
    *("seatrial.binding", "seatrial.trial", "seatrial.judges", "seatrial.report", "seatrial.stores"),
    *("seatrial.gateway.recording", "seatrial.gateway.seen", "seatrial.gateway.upstream"),
)

SEATRIAL = (
    Room(
        "seatrial",
        (*LEAVES, *DATA),
        "the public names are data; importing one must not load a gateway",
        may_not=NO_TEST_RUNNER,
        exact=True,
    ),
    *(Room(leaf, (), "a leaf type knows nobody", may_not=NO_TEST_RUNNER) for leaf in LEAVES),
    Room("seatrial.inputs", LEAVES, "what a test says", may_not=NO_TEST_RUNNER),
    Room(
        "seatrial.history",
        (*LEAVES, "seatrial.inputs"),
        "what a test says came before",
        may_not=NO_TEST_RUNNER,
    ),
    Room(
        "seatrial.conversation",
        (*LEAVES, "seatrial.inputs", "seatrial.history", "seatrial.progress"),
        "what a test sees",
        may_not=NO_TEST_RUNNER,
    ),
    Room(
        "seatrial.fixture",
        (*LEAVES, "seatrial.conversation", "seatrial.inputs", "seatrial.history", "seatrial.progress"),
        "what a test is given, as types: nothing of it is made here",
        may_not=NO_TEST_RUNNER,
    ),
    Room(
        "seatrial.progress",
        (*LEAVES, "seatrial.inputs"),
        "what a test sees while a turn runs",
        may_not=NO_TEST_RUNNER,
    ),
    Room("seatrial.work", LEAVES, "the harness's scheduling", may_not=NO_TEST_RUNNER),
    Room("seatrial.serving", (), "serves any ASGI app", may_not=NO_TEST_RUNNER),
    Room("seatrial.seal_proof", LEAVES, "reads what the seal proved", may_not=NO_TEST_RUNNER),
    Room(
        "seatrial.binding",
        (*LEAVES, *DATA, "seatrial.work"),
        "the Protocol by which any agent is driven",
        may_not=NO_TEST_RUNNER,
    ),
    Room(
        "seatrial.gateway",
        (*LEAVES, "seatrial.serving"),
        "the gateway knows requests and recordings, no case and no agent",
        may_not=("seatrial.cases", "seatrial.trial"),
        outside=("httpx", "pydantic", "pydantic_core", "starlette", "uvicorn"),
    ),
    Room(
        "seatrial.standins",
        (*LEAVES, *DATA, "seatrial.serving"),
        "a stand-in is a third party: it knows no trial",
        may_not=NO_TEST_RUNNER,
    ),
    Room(
        "seatrial.stores",
        (*LEAVES, "seatrial.binding", "embedded_services"),
        "stores for a trial, however they are had",
        may_not=NO_TEST_RUNNER,
    ),
    Room(
        "seatrial.idle",
        (*LEAVES, *DATA, "seatrial.binding", "seatrial.work"),
        "when an agent is idle",
        may_not=NO_TEST_RUNNER,
    ),
    Room(
        "seatrial.trial",
        (
            *LEAVES,
            *DATA,
            *(
                "seatrial.binding",
                "seatrial.gateway",
                "seatrial.idle",
                "seatrial.serving",
                "seatrial.standins",
                "seatrial.stores",
            ),
            "seatrial.work",
        ),
        "one test's world",
        may_not=NO_TEST_RUNNER,
    ),
    Room(
        "seatrial.judges",
        (*LEAVES, *DATA),
        "a judge reads a record and asks a model through the gateway",
        may_not=NO_TEST_RUNNER,
    ),
    Room("seatrial.drift", LEAVES, "versions and fingerprints", may_not=NO_TEST_RUNNER),
    Room(
        "seatrial.report",
        (*LEAVES, *DATA),
        "a report is made of records alone",
        may_not=("seatrial.trial", "seatrial.gateway", *NO_TEST_RUNNER),
    ),
    Room(
        "seatrial.cases",
        (*LEAVES, *DATA, "seatrial.binding", "seatrial.drift", "seatrial.report.record"),
        "to read a case and to judge what came of it starts nothing",
        may_not=("seatrial.trial", *NO_TEST_RUNNER),
    ),
    Room(
        "seatrial.cases.attempt",
        (*LEAVES, *DATA, *CASE_RUNTIME, "seatrial.cases"),
        "one attempt drives one trial, against what it is given",
        may_not=("seatrial.cases.run", *NO_TEST_RUNNER),
    ),
    Room(
        "seatrial.cases.run",
        (
            *LEAVES,
            *DATA,
            *CASE_RUNTIME,
            "seatrial.busy_core",
            "seatrial.cases",
            "seatrial.drift",
            "seatrial.seal_proof",
        ),
        "the place of composition of a case's process; it knows no test runner",
        may_not=NO_TEST_RUNNER,
    ),
    Room(
        "seatrial.pytest_plugin",
        (
            "seatrial",
            *LEAVES,
            *DATA,
            *CASE_RUNTIME,
            "seatrial.cases.attempt",
            "seatrial.cases.contracts",
            "seatrial.seal_proof",
        ),
        "the fixtures `run` and `agent`: with what runs them, the only room that knows pytest",
    ),
    Room("seatrial.busy_core", (), "counts in a process of its own", may_not=NO_TEST_RUNNER),
    Room(
        "seatrial.pytest_run",
        (*LEAVES, *CASE_RUNTIME, "seatrial.busy_core", "seatrial.pytest_plugin", "seatrial.seal_proof"),
        "the place of composition of a Python eval's process",
    ),
    Room(
        "seatrial.model_server",
        LEAVES,
        "the embedded model is an upstream like any other",
        may_not=NO_TEST_RUNNER,
    ),
)
