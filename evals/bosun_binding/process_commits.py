"""A way to PostgreSQL that sees each commit pass: before the server has it, and before Bosun hears that it is done.

Source of the messages' form: https://www.postgresql.org/docs/current/protocol-message-formats.html.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from sqlalchemy import make_url

_Reached = Callable[[str], None]

SOCKET = ".s.PGSQL.5432"
_HEADER = 5  # a byte that says what it is, and four of the length, which counts itself


@asynccontextmanager
async def commits_seen(url: str, folder: Path, reached: _Reached) -> AsyncIterator[str]:
    """Serve a Unix socket in the folder that leads to the server of the URL; yield the URL that leads there.

    ``reached`` is told of `commit.before` and `commit.after`. What it does not return from does not pass.
    """
    parsed = make_url(url)
    server = f"{parsed.query['host']}/{SOCKET}"
    lines: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, ahead = await asyncio.open_unix_connection(server)
        there = asyncio.ensure_future(_to_server(reader, ahead, reached))
        back = asyncio.ensure_future(_to_bosun(behind, writer, reached))
        lines.update((there, back))
        await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        for task, end in ((there, ahead), (back, writer)):
            task.cancel()
            end.close()
        await asyncio.gather(there, back, return_exceptions=True)
        lines.difference_update((there, back))

    listening = await asyncio.start_unix_server(connected, folder / SOCKET)
    try:
        yield parsed.update_query_dict({"host": str(folder)}).render_as_string(hide_password=False)
    finally:
        listening.close()
        for task in tuple(lines):
            task.cancel()
        await asyncio.gather(*lines, return_exceptions=True)


async def _to_server(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reached: _Reached) -> None:
    length = await reader.readexactly(4)  # the first message says nothing of its kind
    writer.write(length + await reader.readexactly(int.from_bytes(length) - 4))
    while True:
        kind, message = await _message(reader)
        if kind == b"Q" and message[_HEADER:] == b"COMMIT\0":
            reached("commit.before")
        writer.write(message)
        await writer.drain()


async def _to_bosun(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, reached: _Reached) -> None:
    while True:
        kind, message = await _message(reader)
        if kind == b"C" and message[_HEADER:] == b"COMMIT\0":
            reached("commit.after")
        writer.write(message)
        await writer.drain()


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Return what kind of message comes next, and all of it. Raises IncompleteReadError at the end."""
    header = await reader.readexactly(_HEADER)
    return header[:1], header + await reader.readexactly(int.from_bytes(header[1:]) - 4)
