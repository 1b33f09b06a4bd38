"""A prompt, as data: what the assembler makes and the model client sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bosun.log.messages import ToolCall


@dataclass(frozen=True)
class PromptMessage:
    """One message of a request to the model; a tool's names the call that it is the result of."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None


@dataclass(frozen=True)
class Prompt:
    """A request's words, and the names of the blocks in them."""

    messages: tuple[PromptMessage, ...]
    blocks: tuple[str, ...]
