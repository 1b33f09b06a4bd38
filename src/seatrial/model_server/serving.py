"""The server as a process: weights, runtime and HTTP put together until somebody stops it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from seatrial.model_server import runtime
from seatrial.model_server.app import ModelApp
from seatrial.model_server.llama import LlamaServer

# Who may ask, each with a slot to itself: the gateway's roles that speak to a model. The first is for a request
# without the header.
ROLES = ("agent", "router", "title", "guardian", "reply_policy", "compaction", "memory", "judge")


@dataclass(frozen=True)
class Place:
    """Where to listen: on `socket` if it is set, else on `host` and `port`."""

    host: str
    port: int
    socket: Path | None

    def __str__(self) -> str:
        return f"unix:{self.socket}" if self.socket is not None else f"http://{self.host}:{self.port}/v1"


def serve(weights: Path, *, alias: str, place: Place, roles: Sequence[str] = ROLES) -> None:
    """Serve until SIGINT or SIGTERM. Raises RuntimeMissing."""
    with tempfile.TemporaryDirectory(prefix="model-server-") as private:
        socket = Path(private) / "llama.sock"
        llama = runtime.start(weights, alias=alias, slots=len(roles), socket=socket)
        app = ModelApp(LlamaServer(socket), alias=alias, fingerprint=runtime.fingerprint(), roles=roles)
        config = uvicorn.Config(
            app, host=place.host, port=place.port, uds=str(place.socket) if place.socket is not None else None,
            lifespan="off", ws="none", log_level="warning", access_log=False, timeout_graceful_shutdown=2,
        )  # fmt: skip
        try:
            _Server(config, f"{alias} serves at {place}").run()
        finally:
            if place.socket is not None:
                place.socket.unlink(missing_ok=True)
        del llama  # its threads end before its socket's folder goes


class _Server(uvicorn.Server):
    """Says that it is ready once it listens: whoever started it reads that line."""

    def __init__(self, config: uvicorn.Config, ready: str) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.started:
            print(self._ready, flush=True)
