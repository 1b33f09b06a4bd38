"""What all parts say of a request: its JSON, and that it cannot be served."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TypeAlias, Union

JSON: TypeAlias = Union[bool, int, float, str, "list[JSON]", "dict[str, JSON]", None]


class BadRequest(Exception):
    """The request cannot be served as it is; the message says why, and what would do."""


def text_of(content: JSON) -> str:
    """The text of a message's `content`: a string, a list of text parts, or nothing. Raises BadRequest."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    texts = []
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
        if not isinstance(text, str):
            raise BadRequest("A message has content that is not text. The embedded model reads text only.")
        texts.append(text)
    return "\n".join(texts)


def spelled(value: JSON) -> str:
    """A value as the model reads and writes it: text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def digest(body: Mapping[str, JSON], *, role: str, seed: int) -> str:
    """Names a request by what it says, so that the ids in its answer are the same each time it is asked."""
    said = json.dumps([body, role, seed], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(said.encode("ascii")).hexdigest()[:24]
