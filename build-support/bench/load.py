"""Measure what appending a message costs under load, and that nothing is lost. README.md says how and what."""

from __future__ import annotations

import argparse
import asyncio
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

from load_check import Findings, check_all, drained
from load_client import Client, Sent, open_loop
from load_report import Phase, print_findings, print_phases
from load_service import Service, ServiceFailed, start_model

ROOT = Path(__file__).resolve().parents[2]
BESIDE = 4
"""The same load at so many times less is measured beside it."""
WARM_UP = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=6000, help="how many messages are appended at the rate")
    parser.add_argument("--rate", type=float, default=200.0, help="how many a second arrive")
    parser.add_argument("--conversations", type=int, default=50, help="among how many conversations")
    parser.add_argument("--people", type=int, default=10, help="how many people they belong to, a token each")
    parser.add_argument("--drain", type=float, default=900.0, help="seconds that the work may take after the last one")
    parser.add_argument("--folder", type=Path, help="where the stores' data lies meanwhile (a temporary folder)")
    parser.add_argument(
        "--python", type=Path, default=ROOT / ".venv/bin/python", help="the interpreter of the locked environment"
    )
    options = parser.parse_args()
    if min(options.messages, options.rate, options.conversations, options.people, options.drain) <= 0:
        parser.error("every number has to be above zero")
    # An end that is asked for takes the same way out as Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a server that stalls has many requests open
    try:
        with tempfile.TemporaryDirectory(prefix="bosun-load-", dir=options.folder) as place:
            Path(place).chmod(0o755)  # PostgreSQL runs as another user when this is root
            with start_model() as model, Service(ROOT, options.python.absolute(), Path(place), model.url) as service:
                phases, findings = asyncio.run(measure(service, model.pid, options))
    except ServiceFailed as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("bench: interrupted; its service, its stores and its folder are taken away.", file=sys.stderr)
        return 130
    print_phases(phases, options.conversations, options.people)
    print_findings(findings)
    return 0 if findings.good else 1


async def measure(service: Service, model: int, options: argparse.Namespace) -> tuple[list[Phase], Findings]:
    """Load the service, twice, and look at every conversation. Raises ServiceFailed."""
    tokens = [service.create_token(f"person-{number}") for number in range(min(options.people, options.conversations))]
    sent: list[Sent] = []
    phases: list[Phase] = []
    async with Client(service.port) as client:
        conversations = []
        for number in range(options.conversations):
            token = tokens[number % len(tokens)]
            first = Sent(f"first-{number}", "", token, f"Conversation {number} begins.")
            answer = await client.append(first)
            if answer.status != 202:
                raise ServiceFailed(f"a conversation could not be begun: {answer.status} {answer.problem}")
            conversations.append((answer.conversation_id, token))
            sent.append(first.accepted(answer))
        for name, rate, count in (
            ("warm-up", options.rate / BESIDE, WARM_UP),
            (f"{options.rate / BESIDE:g}/s", options.rate / BESIDE, max(1, options.messages // BESIDE)),
            (f"{options.rate:g}/s", options.rate, options.messages),
        ):
            before, start = service.cpu_seconds(model), time.monotonic()
            load = await open_loop(client, conversations, rate, count, key=name)
            ended = time.monotonic()
            until_sent = service.cpu_seconds(model)
            await drained(client, conversations, service, options.drain)
            sent += load.sent
            phase = Phase(
                name=name,
                load=load,
                seconds=ended - start,
                drain_seconds=time.monotonic() - ended,
                cpu_while_sending={each: until_sent[each] - before[each] for each in before},
                cpu={each: seconds - before[each] for each, seconds in service.cpu_seconds(model).items()},
            )
            note(phase)
            if name != "warm-up":
                phases.append(phase)
        findings = await check_all(client, conversations, sent)
    for phase in phases:
        findings.refused.update(f"{a.status} {a.problem}" for a in phase.load.answers if a.status != 202)
    return phases, findings


def note(phase: Phase) -> None:
    accepted = sum(1 for answer in phase.load.answers if answer.status == 202)
    print(
        f"bench: {phase.name}: {accepted} of {len(phase.load.answers)} accepted in {phase.seconds:.1f} s, "
        f"answered {phase.drain_seconds:.1f} s later",
        file=sys.stderr,
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
