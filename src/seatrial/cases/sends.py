"""The inputs that a case can send."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import model_validator

from seatrial.cases.words import Text, Words
from seatrial.inputs import DEFAULT_AUTHOR, Input, web_message, web_stop


class SendWords(Words):
    """One input: what a person wrote, or that a person told the agent to stop. ``author`` is who it was."""

    web_message: Text | None = None
    web_stop: Annotated[bool, Literal[True]] | None = None
    author: Text = DEFAULT_AUTHOR

    @model_validator(mode="after")
    def _one_input(self) -> SendWords:
        if (self.web_message is None) == (self.web_stop is not True):
            raise ValueError("an input is one of: web_message: TEXT, web_stop: true")
        return self

    def item(self) -> Input:
        """Return what the words say."""
        if self.web_message is None:
            return web_stop(author=self.author)
        return web_message(self.web_message, author=self.author)
