"""Put the seal in front of a process."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass

from pants.backend.python.util_rules.pex import VenvPexProcess
from pants.engine.addresses import Address
from pants.engine.fs import Digest, MergeDigests
from pants.engine.process import Process, ProcessCacheScope
from pants.engine.rules import Get, collect_rules, rule
from pants.util.frozendict import FrozenDict
from pants.util.logging import LogLevel

from seatrial_build.core import places
from seatrial_build.rules.prepare_runtime import Runtime

PROOF = f"{places.OUT}/seal.json"


@dataclass(frozen=True)
class SealedProcessRequest:
    """Ask for the sealed process that runs Python with `argv` in `runtime`.

    ``inputs`` are its own files, beside the runtime's. ``source_roots`` are added to the runtime's.
    ``keep_sockets`` are the Unix sockets of the host that stay reachable.
    """

    address: Address
    runtime: Runtime
    argv: tuple[str, ...]
    inputs: Digest
    description: str
    policy: str
    timeout: int
    source_roots: tuple[str, ...] = ()
    caches: FrozenDict[str, str] = dataclasses.field(default_factory=FrozenDict)
    keep_sockets: tuple[str, ...] = ()
    cache_scope: ProcessCacheScope = ProcessCacheScope.SUCCESSFUL


@dataclass(frozen=True)
class SealedProcess:
    """``key`` names what the process is made of; the proof in its record repeats it."""

    process: Process
    key: str


@rule(desc="Seal a process", level=LogLevel.DEBUG)
async def seal_process(request: SealedProcessRequest) -> SealedProcess:
    runtime = request.runtime
    inputs = await Get(Digest, MergeDigests([runtime.sources, request.inputs]))
    roots = sorted({*runtime.source_roots, *request.source_roots})
    process = await Get(
        Process,
        VenvPexProcess(
            runtime.pex,
            argv=request.argv,
            input_digest=inputs,
            description=request.description,
            level=LogLevel.DEBUG,
            output_directories=(places.OUT,),
            extra_env={"PYTHONPATH": ":".join(roots)},
            timeout_seconds=request.timeout,
            cache_scope=request.cache_scope,
            append_only_caches=request.caches,
        ),
    )
    key = _key(process)
    seal = (
        runtime.interpreter,
        # The seal has to be what it is everywhere, not what this machine's site-packages make of it.
        *("-I", "-S", places.SEAL),
        *("--policy", request.policy),
        *("--proof", PROOF),
        *("--record-dir", places.OUT),
        *("--address", request.address.spec),
        *("--private", places.PRIVATE),
        *("--key", key),
        *(word for socket in request.keep_sockets for word in ("--keep-socket", socket)),
        "--",
    )
    # The environment's interpreter itself: its `pex` script would start Python twice.
    argv = (*seal, runtime.pex.python.argv0, *process.argv[1:])
    return SealedProcess(dataclasses.replace(process, argv=argv), key)


def _key(process: Process) -> str:
    """Name a process by its files, arguments and environment: a record with another name is of another process."""
    parts = [process.input_digest.fingerprint, list(process.argv), sorted(process.env.items())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def rules():
    return collect_rules()
