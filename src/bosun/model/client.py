"""The model client: the `openai` client against any OpenAI-compatible endpoint, streaming, for every role of Bosun."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias, cast

import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
from openai.types.shared_params import ResponseFormatJSONSchema

from bosun.context.prompt import PromptMessage
from bosun.log.events import TokenUsage
from bosun.log.messages import ProposedCall
from bosun.model.errors import RETRIED, FailureKind, ModelFailure, kind_of_status
from bosun.model.options import ModelOptions
from bosun.model.profiles import Reasoning
from bosun.model.tool_deltas import CallDeltas
from bosun.steps import Step, StepSink
from bosun.text import storable
from bosun.timer import Overtaken, Timer, ahead_of
from bosun.tool_arguments import JSON

Role: TypeAlias = Literal["agent", "router", "title", "guardian", "reply_policy", "compaction"]
"""Which part of Bosun asks."""

BACKOFF_SECONDS: Final = 1.0
"""How long the agent waits before its one second try, where the provider does not say."""

LONGEST_WAIT_SECONDS: Final = 60.0
"""A provider that asks to be left alone for longer is not tried again: people are told at once."""

CONNECT_SECONDS: Final = 10.0
"""How long a connection may take to be made. This is the machine's time: it bounds what the network holds up."""


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """One question to the model: who asks, for which conversation, and the words."""

    role: Role
    conversation_id: str
    messages: tuple[PromptMessage, ...]
    tools: tuple[Mapping[str, JSON], ...] = ()
    """OpenAI function tools that the answer may call. Without any, the request has no such field."""
    max_tokens: int | None = None
    """Overrides the app's option."""
    temperature: float | None = None
    """Overrides the app's option: a decision is asked for at 0."""
    model: str | None = None
    """The alias to ask for; None is the role's own."""
    reasoning: Reasoning | None = None
    """How much a model that reasons does so. Without it, the request has no such field."""
    answer: Mapping[str, JSON] | None = None
    """A JSON schema of the whole answer. Without one, the request has no such field."""


@dataclass(frozen=True, kw_only=True)
class ModelAnswer:
    """A complete answer: words, calls of tools, or both.

    All of it is as the model gave it, without what UTF-8 and PostgreSQL cannot hold.
    """

    text: str
    calls: tuple[ProposedCall, ...] = ()
    finish_reason: str
    usage: TokenUsage = field(default_factory=TokenUsage)


class Model(Protocol):
    """Answers requests. Raises `ModelFailure`."""

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Ask, and return the whole answer."""
        ...


class ModelClient:
    """Asks over HTTP.

    Each request says in its headers which part of Bosun made it and for which conversation.
    """

    def __init__(self, options: ModelOptions, *, timer: Timer, steps: StepSink) -> None:
        self._options = options
        self._timer = timer
        self._steps = steps
        self._openai = openai.AsyncOpenAI(
            base_url=options.base_url,
            api_key=options.api_key,
            max_retries=0,
            timeout=openai.Timeout(None, connect=CONNECT_SECONDS),
        )

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Ask, a second time after the first failure of a kind that may pass. Raises `ModelFailure`."""
        try:
            return await self._ask(request)
        except ModelFailure as failure:
            wait = BACKOFF_SECONDS if failure.wait_seconds is None else failure.wait_seconds
            if failure.kind not in RETRIED or wait > LONGEST_WAIT_SECONDS:
                raise
            logging.getLogger("bosun.model").warning("%s request is tried again after %s", request.role, failure)
        await self._timer.sleep(wait)
        return await self._ask(request)

    async def close(self) -> None:
        """Close the connections."""
        await self._openai.close()

    async def _ask(self, request: ModelRequest) -> ModelAnswer:
        self._emit("model.requested", request, role=request.role)
        heard = _Heard(self._timer, self._options.silence_seconds)
        try:
            answer = await ahead_of(heard.nothing(), self._stream(request, heard))
        except Overtaken:
            silence = f"the model said nothing for {self._options.silence_seconds:g} s"
            raise ModelFailure("timeout", silence) from None
        except openai.OpenAIError as error:
            raise _failure(error) from error
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ModelFailure("invalid_response", f"the stream holds no JSON: {error}") from error
        except (AttributeError, TypeError, ValueError) as error:  # the client library does not check what it parsed
            raise ModelFailure("invalid_response", f"the stream holds something else than chunks: {error}") from error
        self._emit("model.answered", request, role=request.role, finishReason=answer.finish_reason)
        if answer.finish_reason == "content_filter":
            raise ModelFailure("content_policy", "the answer ended with finish_reason content_filter")
        return answer

    async def _stream(self, request: ModelRequest, heard: _Heard) -> ModelAnswer:
        texts: list[str] = []
        deltas = CallDeltas()
        finish_reason: str | None = None
        usage = TokenUsage()
        stream = await self._openai.chat.completions.create(
            model=request.model or self._options.alias(request.role),
            messages=[_parameter(message) for message in request.messages],
            temperature=self._options.temperature if request.temperature is None else request.temperature,
            max_tokens=request.max_tokens or self._options.max_tokens,
            stream=True,
            stream_options={"include_usage": True},
            reasoning_effort=openai.omit if request.reasoning is None else request.reasoning,
            response_format=openai.omit if request.answer is None else _json_schema(request),
            tools=cast(Iterable[ChatCompletionFunctionToolParam], request.tools) if request.tools else openai.omit,
            extra_headers={"x-bosun-role": request.role, "x-bosun-conversation": request.conversation_id},
        )
        async with stream:  # a cancelled turn closes the connection: the running request is aborted, not awaited
            async for chunk in stream:
                heard.something()
                if chunk.usage is not None:
                    usage = _usage(chunk.usage)
                for choice in chunk.choices:
                    texts.append(choice.delta.content or "")
                    for piece in choice.delta.tool_calls or ():
                        function = piece.function
                        deltas.add(
                            piece.index,
                            None if function is None else function.name,
                            None if function is None else function.arguments,
                        )
                    finish_reason = choice.finish_reason or finish_reason
        if finish_reason is None:
            raise ModelFailure("network", "the stream ended before the answer was complete")
        # An answer that the provider filtered is a failure of its own kind, whatever came of it.
        calls = () if finish_reason == "content_filter" else deltas.finish(finish_reason)
        return ModelAnswer(text=storable("".join(texts)), calls=calls, finish_reason=finish_reason, usage=usage)

    def _emit(self, name: str, request: ModelRequest, **fields: str) -> None:
        self._steps.emit(Step(name, request.conversation_id, dict(fields)))


class _Heard:
    """When something was last heard of an answer."""

    def __init__(self, timer: Timer, longest: float) -> None:
        self._timer = timer
        self._longest = longest
        self._at = timer.monotonic()

    def something(self) -> None:
        self._at = self._timer.monotonic()

    async def nothing(self) -> None:
        """Return when nothing was heard for the longest time that is allowed."""
        while (left := self._at + self._longest - self._timer.monotonic()) > 0:
            await self._timer.deadline(left)


def _parameter(message: PromptMessage) -> ChatCompletionMessageParam:
    if message.role == "system":
        return {"role": "system", "content": message.content}
    if message.role == "user":
        return {"role": "user", "content": message.content}
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id or "", "content": message.content}
    if not message.calls:
        return {"role": "assistant", "content": message.content}
    return {
        "role": "assistant",
        "content": message.content or None,
        "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ],
    }


def _json_schema(request: ModelRequest) -> ResponseFormatJSONSchema:
    schema = cast("dict[str, object]", request.answer)
    return {"type": "json_schema", "json_schema": {"name": request.role, "strict": True, "schema": schema}}


def _usage(usage: CompletionUsage) -> TokenUsage:
    details = usage.prompt_tokens_details
    return TokenUsage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cached_input_tokens=(details.cached_tokens if details is not None else None) or 0,
    )


def _failure(error: openai.OpenAIError) -> ModelFailure:
    kind: FailureKind
    if isinstance(error, openai.APITimeoutError):
        kind = "timeout"
    elif isinstance(error, openai.APIConnectionError):
        kind = "network"
    elif isinstance(error, openai.APIResponseValidationError):
        kind = "invalid_response"
    elif isinstance(error, openai.APIStatusError):
        kind = kind_of_status(error.status_code, error.code)
    elif isinstance(error, openai.APIError):  # an error event within a stream that had begun
        kind = "content_policy" if error.code == "content_filter" else "server"
    else:
        kind = "unknown"
    return ModelFailure(kind, f"{type(error).__name__}: {error}", wait_seconds=_wait(error))


def _wait(error: openai.OpenAIError) -> float | None:
    """Return what the provider asks for in `retry-after-ms` or `retry-after` (RFC 9110 section 10.2.3, in seconds).

    A date there would be the provider's clock against this one's: it does not count.
    """
    headers: Mapping[str, str] = error.response.headers if isinstance(error, openai.APIStatusError) else {}
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if text.isascii() and text.isdigit():
            return min(int(text[:12]) / unit, 10.0**9)
    return None
