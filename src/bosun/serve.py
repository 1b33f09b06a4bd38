"""`python -m bosun serve`: web and worker in one process, until a signal ends it."""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Final

from bosun.embedded import stores
from bosun.plugins import require_known
from bosun.settings import MODEL_URL_MISSING, Settings, SettingsInvalid

REQUEST_SECONDS: Final = 10
"""How long a shutdown waits for requests that have begun; all of them are short."""


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT; then finish or cancel what runs, and stop the embedded stores.

    Raises `SettingsInvalid` and `PluginUnknown` before anything is started, `DataDirectoryBusy` and `ServiceError`
    when the stores cannot be, or when one of them ends of itself: what is left could only refuse, for ever.
    """
    if not settings.model_url:
        raise SettingsInvalid(MODEL_URL_MISSING)
    require_known(settings.plugins)
    main = threading.get_ident()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end_once)
    ends: list[Exception] = []

    def store_ended(why: Exception) -> None:
        ends.append(why)
        signal.pthread_kill(main, signal.SIGTERM)  # the way out that everything has anyway

    try:
        with stores(settings, store_ended) as urls:
            _serve_on(settings, urls.postgres, urls.redis)
    except (_Ended, Exception, SystemExit) as error:
        if not ends and not isinstance(error, _Ended):
            raise
    if ends:
        raise ends[0]


class _Ended(BaseException):
    """A signal asked the process to end; it unwinds through everything that has to be stopped."""


def _end_once(number: int, frame: FrameType | None) -> None:
    """Unwind on the first signal; a second one must not interrupt the stopping that it asks for.

    While the server runs, uvicorn handles signals itself and repeats them here when it has shut down.
    """
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    raise _Ended


def _serve_on(settings: Settings, postgres_url: str, redis_url: str) -> None:
    import uvicorn

    from bosun.app import create_app
    from bosun.stores.migrations import migrate

    migrate(postgres_url)
    app = create_app(settings.options(postgres_url, redis_url))
    config = uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        lifespan="on",
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=REQUEST_SECONDS,
    )
    server = uvicorn.Server(config)
    server.run()
    if not server.started:
        sys.exit(3)
