"""An answer in the form of OpenAI's chat completions, whole or as a stream.

Source: https://platform.openai.com/docs/api-reference/chat/object and …/chat/streaming. Nothing in it comes from this
machine's time or chance: the same request, asked again, has the same answer down to its ids, with 0 as its date.
"""

from __future__ import annotations

from dataclasses import dataclass

from seatrial.model_server.answer import Call
from seatrial.model_server.request import JSON

_OBJECT = "chat.completion"


@dataclass(frozen=True)
class Envelope:
    """What all parts of one answer carry. `digest` names the request, `fingerprint` what computed it."""

    digest: str
    model: str
    fingerprint: str

    def whole(self, text: str, call: Call | None, finish: str, usage: JSON) -> dict[str, JSON]:
        """The answer as one object."""
        message: dict[str, JSON] = {"role": "assistant", "content": text if call is None else None}
        if call is not None:
            message["tool_calls"] = [self._call(call, call.arguments)]
        choice: dict[str, JSON] = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        return {**self._head(_OBJECT), "choices": [choice], "usage": usage}

    def begin(self) -> dict[str, JSON]:
        """The first event of a stream."""
        return self._chunk({"role": "assistant"}, None)

    def text(self, piece: str) -> dict[str, JSON]:
        """An event with a piece of the text."""
        return self._chunk({"content": piece}, None)

    def call(self, call: Call) -> tuple[dict[str, JSON], dict[str, JSON]]:
        """The events of a call: who is called, then with what."""
        opening = {"index": 0, **self._call(call, "")}
        arguments: dict[str, JSON] = {"index": 0, "function": {"arguments": call.arguments}}
        return self._chunk({"tool_calls": [opening]}, None), self._chunk({"tool_calls": [arguments]}, None)

    def end(self, finish: str) -> dict[str, JSON]:
        """The event that says why the answer ends."""
        return self._chunk({}, finish)

    def usage(self, usage: JSON) -> dict[str, JSON]:
        """The event with the usage, for a client that asked for it."""
        return {**self._head(f"{_OBJECT}.chunk"), "choices": [], "usage": usage}

    def _head(self, kind: str) -> dict[str, JSON]:
        return {
            "id": f"chatcmpl-{self.digest}", "object": kind, "created": 0, "model": self.model,
            "system_fingerprint": self.fingerprint,
        }  # fmt: skip

    def _chunk(self, delta: dict[str, JSON], finish: str | None) -> dict[str, JSON]:
        choice: dict[str, JSON] = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head(f"{_OBJECT}.chunk"), "choices": [choice]}

    def _call(self, call: Call, arguments: str) -> dict[str, JSON]:
        function: dict[str, JSON] = {"name": call.tool, "arguments": arguments}
        return {"id": f"call_{self.digest}", "type": "function", "function": function}
