"""What Bosun logs as an error while it is under test."""

from __future__ import annotations

import logging

LOGGER = "bosun"


class ErrorLog(logging.Handler):
    """Keeps the errors that Bosun logs. An error that no person sees is one all the same."""

    def __init__(self) -> None:
        super().__init__(level=logging.ERROR)
        self._seen: list[str] = []

    def start(self) -> None:
        """Listen to Bosun's logger."""
        logging.getLogger(LOGGER).addHandler(self)

    def stop(self) -> None:
        """Listen no more."""
        logging.getLogger(LOGGER).removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one error, with what was raised."""
        raised = record.exc_info[1] if record.exc_info else None
        self._seen.append(record.getMessage() + ("" if raised is None else f": {type(raised).__name__}: {raised}"))

    def seen(self) -> tuple[str, ...]:
        """Return the errors so far, oldest first."""
        return tuple(self._seen)
