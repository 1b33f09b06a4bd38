"""A prompt, as data: what the assembler makes and the model client sends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class PromptMessage:
    """One message of a request to the model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Prompt:
    """A request's words, and the names of the blocks in them."""

    messages: tuple[PromptMessage, ...]
    blocks: tuple[str, ...]
