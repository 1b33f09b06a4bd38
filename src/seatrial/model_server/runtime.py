"""llama.cpp's server in this process, from the `xllamacpp` wheel, which is not in the project's lock."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

CONTEXT_TOKENS = 4096  # of each slot
_PACKAGE = "xllamacpp"
# OpenMP's threads would spin while they wait, and take the other core from whoever needs it.
_OPENMP = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}


class RuntimeMissing(Exception):
    """The runtime is not installed, or did not start; the message says what to do."""


def fingerprint() -> str:
    """Names the runtime: another release may find other words. (llama.cpp's own name in this wheel is `b0-unknown`.)"""
    return f"{_PACKAGE}-{version(_PACKAGE)}"


def start(weights: Path, *, alias: str, slots: int, socket: Path) -> Any:
    """Load `weights` and serve them on `socket` for as long as the returned object lives. Raises RuntimeMissing.

    `socket` ends in `.sock`: by that llama.cpp knows that it is no host's name.
    """
    os.environ.update(_OPENMP)
    try:
        import xllamacpp  # type: ignore[import-not-found]
    except ImportError as error:
        raise RuntimeMissing(
            "The embedded model needs the runtime 'xllamacpp' (llama.cpp as a wheel, 34 MB), which this Python "
            f"does not have ({error}).\nInstall it beside, not into the project's lock:  pip install xllamacpp"
        ) from error
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {alias}
    params.hostnames = [str(socket)]
    # One thread: two on a machine with another busy core fall to a tenth.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_threads_http = 2
    params.n_parallel = slots
    params.n_ctx = CONTEXT_TOKENS * slots  # llama.cpp divides it among the slots
    params.sampling.temp = 0.0  # for a request that names none: the model is too small for OpenAI's 1
    params.sampling.seed = 0
    params.cache_ram_mib = 0  # a slot's own cache is enough
    params.use_jinja = True
    params.verbosity = 0
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise RuntimeMissing(f"The runtime could not load {weights}: {error}") from error
