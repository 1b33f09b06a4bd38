"""What a request's body may be: bounded in size, JSON without surprises, and exactly the fields that are known."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, NoReturn, TypeVar

from fastapi import Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from bosun.http.refusals import Refusal, field_problems, invalid_fields

LARGEST_BODY: Final = 256 * 1024
"""Bytes."""
LONGEST_MESSAGE: Final = 20_000
LONGEST_KEY: Final = 200

Body = TypeVar("Body", bound=BaseModel)


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain the NUL character")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("must not contain lone surrogates: it is not valid Unicode")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


Text = Annotated[str, AfterValidator(_storable), AfterValidator(_not_blank)]
"""Text that both stores can hold, with something in it."""


class NewMessage(BaseModel):
    """A message to a conversation, new or known.

    The same key means the same message, however often it is sent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    idempotencyKey: Annotated[Text, Field(max_length=LONGEST_KEY)]
    message: Annotated[Text, Field(max_length=LONGEST_MESSAGE)]


class NewFork(BaseModel):
    """A fork of a conversation up to one of Bosun's messages. The same key means the same fork."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    idempotencyKey: Annotated[Text, Field(max_length=LONGEST_KEY)]
    messageId: Annotated[Text, Field(max_length=LONGEST_KEY)]


class Nothing(BaseModel):
    """What a route is told that needs to be told nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


async def read_body(request: Request, model: type[Body], *, empty: bool = False) -> Body:
    """Read and check the body; where it may be empty, that is an object without fields.

    Raises `Refusal`: 413 above the limit, 400 for what is no JSON object, 422 for wrong fields.
    """
    try:
        text = (await read_bytes(request)).decode("utf-8")
        content = json.loads(
            text or "{}" if empty else text, parse_constant=_no_constant, object_pairs_hook=_without_duplicates
        )
    except (ValueError, RecursionError) as error:
        problem = "is nested too deeply" if isinstance(error, RecursionError) else f"is not valid JSON: {error}"
        raise Refusal(400, "invalid_json", f"The body {problem}", fields=[("body", problem)]) from error
    return read_fields(content, model)


def read_fields(content: object, model: type[Body]) -> Body:
    """Check what a body holds, wherever it came from. Raises `Refusal` 422, which names the fields."""
    try:
        return model.model_validate(content)
    except ValidationError as error:
        raise invalid_fields(field_problems(error.errors(), root="body")) from error


async def read_bytes(request: Request, *, most: int = LARGEST_BODY) -> bytes:
    """Read the body as it came, and no more than it may be.

    Raises `Refusal`: 413 above `most` bytes.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            problem = f"is larger than {most} bytes"
            raise Refusal(413, "body_too_large", f"The body {problem}", fields=[("body", problem)])
    return bytes(body)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a name occurs twice in an object")
    return content
