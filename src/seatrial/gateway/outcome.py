"""What an answer in OpenAI's wire format says about itself: its cost, its model, and whether it may be recorded.

Source: https://platform.openai.com/docs/api-reference/chat (object and chunk), and /embeddings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from seatrial.gateway.events import DONE
from seatrial.gateway.exchange import Answer, Outcome, Stream, Usage

# Besides 200 only what is wrong with the request itself and will be wrong again. 401, 403 and 404 speak of keys and
# set-up, 408, 409, 425, 429 and 5xx of the moment.
RECORDABLE_STATUSES = (200, 400, 413, 422)


def not_recordable(value: object) -> str | None:
    """Why an answer's body or a stream's event must not be recorded; None when it may be.

    Transient are an error inside a stream that began well, and a refusal by a filter.
    """
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    if isinstance(error, dict) and error.get("code") == "content_filter":
        return "a filter refused the request"
    choices = value.get("choices")
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("finish_reason") == "content_filter":
            return "a filter refused the answer"
    return None


def stream_error(value: object) -> str | None:
    """The error that an event reports instead of words; None when it is no error."""
    error = value.get("error") if isinstance(value, dict) else None
    if not error:
        return None
    message = error.get("message") if isinstance(error, dict) else error
    return f"the stream reported an error: {message}"


def usage_of(outcome: Outcome) -> Usage | None:
    """What the upstream counted; None when it did not say (a stream says it only when it was asked to)."""
    found: Usage | None = None
    for value in _values(outcome):
        usage = value.get("usage")
        if isinstance(usage, dict):
            details = usage.get("prompt_tokens_details")
            cached = details.get("cached_tokens") if isinstance(details, dict) else None
            found = Usage(
                input_tokens=_count(usage.get("prompt_tokens")) or 0,
                output_tokens=_count(usage.get("completion_tokens")) or 0,
                cached_input_tokens=_count(cached),
            )
    return found


def named_in(outcomes: Iterable[Outcome], field: str) -> tuple[str, ...]:
    """All values of a text field ("model", "system_fingerprint") in some outcomes, each once, in order."""
    names: dict[str, None] = {}
    for outcome in outcomes:
        for value in _values(outcome):
            name = value.get(field)
            if isinstance(name, str) and name:
                names[name] = None
    return tuple(names)


def _values(outcome: Outcome) -> Iterator[dict[str, object]]:
    values: list[object] = []
    if isinstance(outcome, Answer):
        values.append(outcome.body)
    elif isinstance(outcome, Stream):
        values += [json.loads(event) for event in outcome.events if event != DONE]
    for value in values:
        if isinstance(value, dict):
            yield value


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
