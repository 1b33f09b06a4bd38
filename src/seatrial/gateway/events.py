"""Server-sent events, as the HTML standard defines them, down to the bytes and back.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
Only the `data` of an event is kept: an OpenAI-compatible stream of completions uses nothing else.
"""

from __future__ import annotations

DONE = "[DONE]"


class EventDecoder:
    """Turns the bytes of a stream into its events; how the bytes are split makes no difference.

    `foreign` names the fields other than `data` that the stream used; a recording cannot hold them.
    """

    def __init__(self) -> None:
        self.foreign: tuple[str, ...] = ()
        self._line = bytearray()
        self._data: list[str] = []
        self._after_return = False
        self._first_line = True

    def feed(self, chunk: bytes) -> tuple[str, ...]:
        """The events that this chunk completes. Raises UnicodeDecodeError when a line is not UTF-8."""
        events: list[str] = []
        # 0x0A and 0x0D are never part of a longer UTF-8 sequence, so lines can be found among the bytes.
        if self._after_return and chunk:
            self._after_return = False
            chunk = chunk.removeprefix(b"\n")
        start = 0
        while (end := _line_end(chunk, start)) >= 0:
            self._line += chunk[start:end]
            self._end_line(events)
            start = end + 1
            if chunk[end] == 0x0D:
                self._after_return = start == len(chunk)
                if chunk[start : start + 1] == b"\n":
                    start += 1
        self._line += chunk[start:]
        return tuple(events)

    def finish(self) -> tuple[str, ...]:
        """What the end of the bytes completes: nothing by the standard, but `[DONE]` also without its empty line."""
        events: list[str] = []
        if self._line:
            self._end_line(events)
        if self._data == [DONE]:
            events.append(DONE)
        return tuple(events)

    def _end_line(self, events: list[str]) -> None:
        line = self._line.decode("utf-8")
        self._line.clear()
        if self._first_line:
            self._first_line = False
            line = line.removeprefix("\ufeff")
        if not line:
            if data := "\n".join(self._data):
                events.append(data)
            self._data = []
            return
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
        elif name and name not in self.foreign:  # a line that begins with a colon is a comment
            self.foreign += (name,)


def encode_event(data: str) -> bytes:
    """One event as it goes over the wire. `data` is not empty and holds no carriage return."""
    return "".join(f"data: {line}\n" for line in data.split("\n")).encode("utf-8") + b"\n"


def _line_end(chunk: bytes, start: int) -> int:
    ends = [end for end in (chunk.find(b"\n", start), chunk.find(b"\r", start)) if end >= 0]
    return min(ends, default=-1)
