"""Following one answer while the model writes it: what can be shown already, and what it was in the end."""

from __future__ import annotations

from collections.abc import Collection

from seatrial.model_server.answer import AnswerBroken, Call, parse_answer, reply_so_far

_CUT_OFF = "length"


class Reader:
    """`text` is what the person sees, `call` the call if there is one; `tools` are those that the answer may call.

    Without tools the model writes plain text, and each piece is shown as it comes.
    """

    def __init__(self, tools: Collection[str]) -> None:
        self.text = ""
        self.call: Call | None = None
        self._tools = tools
        self._written = ""

    def take(self, piece: str) -> str:
        """Read on; answers with the text that is new."""
        self._written += piece
        if not self._tools:
            return self._show(self._written)
        return self._show(reply_so_far(self._written) or "")

    def end(self, finish: str) -> tuple[str, str]:
        """The last new text and the reason to finish, as OpenAI's API names it.

        An answer that met the limit of its tokens keeps the text that it came to; half a call is dropped. Raises
        AnswerBroken for anything else that is no answer.
        """
        if not self._tools:
            return "", finish
        try:
            answer = parse_answer(self._written, self._tools)
        except AnswerBroken:
            if finish == _CUT_OFF:
                return "", finish
            raise
        if isinstance(answer, Call):
            self.call = answer
            return "", "tool_calls"
        return self._show(answer.text), finish

    def _show(self, text: str) -> str:
        new, self.text = text[len(self.text) :], text
        return new
