"""The record: everything that a case's process says about its case, as JSON.

The verdict of a case is read from here and from nowhere else. A record holds no times: it comes back
from the cache, and a time in it would be that of another run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from seatrial.verdict import Verdict

RECORD_FORMAT = 1


@dataclass(frozen=True)
class CheckRecord:
    """One expectation: what, expected, seen, and whether it holds."""

    what: str
    expected: str
    seen: str
    holds: bool


@dataclass(frozen=True)
class CallRecord:
    """One call to the agent: what people saw of it, the steps that it went, and its checks.

    ``conversation`` counts the conversations of the trial from 1. Each of ``tool_calls`` says in ``before`` where in
    the transcript it happened.
    """

    conversation_id: str
    conversation: int
    transcript: tuple[tuple[str, str], ...]
    statuses: tuple[str, ...]
    tool_calls: tuple[Mapping[str, Any], ...]
    title: str | None
    steps: tuple[str, ...]
    checks: tuple[CheckRecord, ...]


@dataclass(frozen=True)
class RequestRecord:
    """One request to the model: who asked, under which key, and what it used."""

    role: str
    conversation: int
    key: str
    occurrence: int
    source: str
    usage: Mapping[str, Any] | None


@dataclass(frozen=True)
class TrialRecord:
    """Everything about one trial of a case. ``rerun`` is the command that runs it again, and it alone."""

    address: str
    case: str
    verdict: str
    reason: str
    detail: str
    cure: str
    rerun: str
    seal: Mapping[str, Any]
    contracts: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Mapping[str, str], ...] = ()
    calls: tuple[CallRecord, ...] = ()
    requests: tuple[RequestRecord, ...] = ()
    repeats: int = 1
    kind: str = "eval_case"
    format: int = RECORD_FORMAT


def write_record(folder: Path, record: TrialRecord) -> None:
    """Write ``record.json`` and ``junit.xml``; a reader never sees half of one."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(record), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    _replace(folder / "record.json", text.encode("utf-8", "backslashreplace"))
    _replace(folder / "junit.xml", _junit(record))


def _replace(path: Path, content: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_bytes(content)
    os.replace(unfinished, path)


def _junit(record: TrialRecord) -> bytes:
    """Word the record for tools that read JUnit XML: failed is a failure, every other verdict an error."""
    verdict = Verdict(record.verdict)
    failures, errors = int(verdict is Verdict.FAILED), int(verdict not in (Verdict.PASSED, Verdict.FAILED))
    suite = ElementTree.Element(
        "testsuite", {"name": record.address, "tests": "1", "failures": str(failures), "errors": str(errors)}
    )
    case = ElementTree.SubElement(suite, "testcase", classname=record.kind, name=record.address)
    properties = ElementTree.SubElement(case, "properties")
    ElementTree.SubElement(properties, "property", name="verdict", value=record.verdict)
    if failures or errors:
        tag = "failure" if failures else "error"
        problem = ElementTree.SubElement(case, tag, type=record.verdict, message=_xml_text(record.reason))
        problem.text = _xml_text(f"{record.detail}\n{record.cure}".strip())
    text: str = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _xml_text(text: str) -> str:
    """Drop the characters that XML 1.0 cannot hold (section 2.2 of the recommendation)."""
    return "".join(
        c for c in text if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff"
    )
