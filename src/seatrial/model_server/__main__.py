"""The command line: ``python -m seatrial.model_server [serve|prepare|fetch] …``."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from seatrial.model_server.assembly import assemble, download_by_pip, offer
from seatrial.model_server.installation import Runtime, RuntimeUnfit
from seatrial.model_server.preparing import EXIT_REFUSED, ask_on_terminal, prepare
from seatrial.model_server.weights import KNOWN, WeightsUnfit, alias_of, cache_folder, cached, models_folder

_COMMANDS = ("serve", "fetch", "prepare")
_END_SECONDS = 10  # after which a server that does not end by itself is ended


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the arguments say; answers with the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] not in ([name] for name in (*_COMMANDS, "-h", "--help")):
        given.insert(0, _COMMANDS[0])
    options = _parser().parse_args(given)
    folder = models_folder(os.environ)
    ask = ask_on_terminal if sys.stdin.isatty() else None
    try:
        if options.command == "fetch":
            return fetch(folder, yes=options.yes, ask=ask)
        if options.command == "prepare":
            runtime = Runtime(options.lock, cache_folder(os.environ))
            return prepare(
                runtime, folder, own_weights=options.model, yes=options.yes, ask=ask, command=options.said_yes
            )
        if options.lock is not None:
            _hand_over(Runtime(options.lock, cache_folder(os.environ)), given)
        return _serve(options, folder)
    except (WeightsUnfit, RuntimeUnfit) as error:
        print(error, file=sys.stderr)
        return EXIT_REFUSED
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


def fetch(folder: Path, *, yes: bool, ask: Callable[[], bool] | None) -> int:
    """Have the known weights in `folder`, after a yes. `ask` is None where nobody can be asked.

    Raises WeightsUnfit when they are there and damaged, or cannot be had.
    """
    if (there := cached(folder)) is not None:
        alias_of(there)
        print(f"The weights are there and whole: {there}")
        return 0
    print(offer(KNOWN, folder), flush=True)
    if not yes and ask is None:
        print("Nothing was fetched: nobody can be asked here. Say yes with --yes.", file=sys.stderr)
        return EXIT_REFUSED
    if not yes and ask is not None and not ask():
        print("Nothing was fetched.", file=sys.stderr)
        return EXIT_REFUSED
    print(f"The weights are whole: {assemble(KNOWN, folder, download_by_pip)}")
    return 0


def _hand_over(runtime: Runtime, given: list[str]) -> None:
    """Become the runtime's own Python, with the same arguments. Raises RuntimeUnfit when it is not installed."""
    python = runtime.python
    if python is None:
        raise RuntimeUnfit(
            f"The runtime is not installed. Run: python -m seatrial.model_server prepare --lock {runtime.lock}"
        )
    if Path(sys.prefix) == runtime.folder:
        return
    os.execv(python, [str(python), "-m", "seatrial.model_server", *given])


def _serve(options: argparse.Namespace, folder: Path) -> int:
    weights = options.model or cached(folder)
    if weights is None:
        raise WeightsUnfit(
            f"There are no weights in {folder}. Fetch them (python -m seatrial.model_server fetch), or give the path "
            "of a GGUF file with --model."
        )
    if options.while_stdin_open:
        threading.Thread(target=_end_with_stdin, daemon=True).start()
    known_as = alias_of(weights)
    # Not above: fetching needs neither an HTTP server nor a client.
    from seatrial.model_server.runtime import RuntimeMissing
    from seatrial.model_server.serving import Place, serve

    try:
        serve(weights, alias=options.alias or known_as, place=Place(options.host, options.port, options.socket))
    except RuntimeMissing as error:
        print(error, file=sys.stderr)
        return EXIT_REFUSED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m seatrial.model_server", description="A small model on this machine, for recordings."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="serve OpenAI's chat completions (the default)")
    serving.add_argument("--model", type=Path, help="path of a GGUF file; else the fetched weights")
    serving.add_argument("--host", default="127.0.0.1")
    where = serving.add_mutually_exclusive_group()
    where.add_argument("--port", type=int, default=18111)
    where.add_argument("--socket", type=Path, help="listen on this Unix socket instead of a port")
    serving.add_argument("--alias", help="the model's name in answers; else the name of the weights")
    serving.add_argument("--lock", type=Path, help="serve by the runtime that `prepare` made of this lock")
    serving.add_argument("--while-stdin-open", action="store_true", help="end when standard input does")
    preparing = commands.add_parser("prepare", help="have runtime and weights, after a yes")
    preparing.add_argument("--lock", type=Path, required=True, help="the hashed lock of the runtime")
    preparing.add_argument("--model", type=Path, help="path of a GGUF file; then no weights are needed")
    preparing.add_argument("--yes", action="store_true", help="the yes, for scripts")
    preparing.add_argument("--said-yes", default="the same command with --yes", help="what to run to say yes")
    fetching = commands.add_parser("fetch", help="get the weights of the embedded model, after a yes")
    fetching.add_argument("--yes", action="store_true", help="the yes, for scripts")
    return parser


def _end_with_stdin() -> None:
    """Whoever started this server holds the other end of its input, and lets go of it by ending in any way."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    if not threading.Event().wait(_END_SECONDS):
        os._exit(143)


def _end(_number: int, _frame: object) -> None:
    """SIGTERM ends the process as an exception does, so that what is half-made is removed on the way."""
    sys.exit(143)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    sys.exit(main())
