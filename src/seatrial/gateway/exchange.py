"""What one exchange with a model is: the request, how it came out, what it cost. Data only."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

Role = Literal["agent", "router", "title", "guardian", "reply_policy", "compaction", "memory", "judge", "web"]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Request(_Data):
    """The request as the agent wrote it: its model is the alias, not the upstream's name."""

    method: str
    path: str
    body: JsonValue


class Answer(_Data):
    """A whole answer: JSON, decoded. `headers` are those of redact.KEPT_HEADERS only."""

    kind: Literal["answer"] = "answer"
    status: int
    headers: dict[str, str]
    body: JsonValue


class Stream(_Data):
    """A complete stream: the `data` of each server-sent event, in order, with the closing `[DONE]`."""

    kind: Literal["stream"] = "stream"
    status: int
    headers: dict[str, str]
    # A carriage return ends a line on the wire, so no event can hold one; an empty one is no event.
    events: tuple[Annotated[str, Field(pattern=r"\A[^\r]+\z")], ...]


class Aborted(_Data):
    """The client left before the answer was complete. It has no answer, and counts as used when it is asked again."""

    kind: Literal["aborted_by_client"] = "aborted_by_client"


Outcome = Annotated[Answer | Stream | Aborted, Field(discriminator="kind")]


class Usage(_Data):
    """Tokens that the upstream counted for one answer; None where it did not say."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int | None


class UpstreamFacts(_Data):
    """Whose words these are: the kind of service, the model, its fingerprint if it tells one, what it was set to."""

    kind: str
    model: str
    fingerprint: str | None
    parameters: dict[str, JsonValue]


class Origin(_Data):
    """Where an exchange comes from that is older than the rest of its file."""

    recorded_at: str
    upstream: UpstreamFacts


class Exchange(_Data):
    """One request and its outcome. `occurrence` counts equal requests from 1; without `origin` the file's holds."""

    key: str
    occurrence: Annotated[int, Field(ge=1)]
    role: Role
    conversation: Annotated[int, Field(ge=1)]
    request: Request
    outcome: Outcome
    usage: Usage | None
    origin: Origin | None = None
    digest: str = ""
