"""Writing a document: the same bytes for the same conversation, in a file that is there whole or not at all."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from bosun.log.recorded import RecordedDocument


def document_text(document: RecordedDocument) -> str:
    """Return the document as JSON, which a person can read."""
    return json.dumps(document.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"


def write_document(document: RecordedDocument, path: Path | None) -> None:
    """Write to a file, or to standard output when there is none. Raises OSError."""
    text = document_text(document)
    if path is None:
        sys.stdout.write(text)
        return
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def told(document: RecordedDocument) -> str:
    """Say what was removed and replaced, for whoever has to read the document now."""
    turns = sum(row.type == "turn_started" for row in document.rows)
    lines = [f"exported {turns} turn(s) in {len(document.rows)} rows"]
    lines.append(f"removed: {_listed(document.removed)}")
    lines.append(f"replaced: {_listed(document.replaced)}")
    return "\n".join([*lines, document.note])


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items()) or "nothing"
