"""Find the model that `record` asks: a service by its URL, or the embedded model, set up after a yes."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from pants.backend.python.subsystems.setup import PythonSetup
from pants.backend.python.util_rules.interpreter_constraints import InterpreterConstraints
from pants.backend.python.util_rules.pex import PythonExecutable
from pants.base.build_environment import get_buildroot
from pants.engine.env_vars import EnvironmentVars, EnvironmentVarsRequest
from pants.engine.rules import Get, collect_rules, rule
from pants.engine.streaming_workunit_handler import (
    thread_locals_get_for_current_thread,
    thread_locals_set_for_current_thread,
)
from pants.util.frozendict import FrozenDict
from pants.util.logging import LogLevel

from seatrial_build.core.embedded_model import environment_of, model_server, serve_command
from seatrial_build.core.forwarder import Forwarder
from seatrial_build.core.model_service import ModelService
from seatrial_build.core.private_folder import private_folder
from seatrial_build.core.spending import Ledger

logger = logging.getLogger(__name__)

URL, KEY, MODEL, WEIGHTS = (
    "SEATRIAL_MODEL_URL",
    "SEATRIAL_MODEL_KEY",
    "SEATRIAL_MODEL",
    "SEATRIAL_MODEL_WEIGHTS",
)
EMBEDDED = "embedded"

# What pip and the caches go by. A person's shell has it, the build's own process may be somebody else's.
_OF_THE_PERSON = (
    *("HOME", "PATH", "LANG", "LC_ALL", "TERM", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "SEATRIAL_CACHE"),
    *("PIP_CONFIG_FILE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_NO_INDEX", "PIP_CERT"),
    *("PIP_TRUSTED_HOST", "PIP_PROXY", "PIP_DEFAULT_TIMEOUT", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
    *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "NETRC"),
)


@dataclass(frozen=True)
class ModelRequest:
    """Ask which model is meant."""


@dataclass(frozen=True)
class ModelChoice:
    """The service of the environment or, where ``url`` is empty, the embedded model and what it is run with."""

    url: str
    key: str
    model: str
    certificates: str | None
    weights: str
    python: str
    environment: FrozenDict[str, str]

    @property
    def embedded(self) -> bool:
        return not self.url

    @property
    def kind(self) -> str:
        """What recordings call it."""
        return EMBEDDED if self.embedded else "openai-compatible"

    @property
    def secrets(self) -> dict[str, str]:
        """The credentials in use, by the variables that hold them."""
        return {KEY: self.key} if self.key else {}

    def service(self, socket: str = "") -> ModelService:
        """The service to forward to. Raises UpstreamUnusable."""
        if self.embedded:
            return ModelService("http://model/v1", socket=socket, kind=self.kind)
        return ModelService(self.url, self.key, self.model, self.certificates)


@rule(desc="Find the model to record with", level=LogLevel.DEBUG)
async def choose_model(_: ModelRequest, python_setup: PythonSetup) -> ModelChoice:
    given = await Get(EnvironmentVars, EnvironmentVarsRequest([URL, KEY, MODEL, WEIGHTS, *_OF_THE_PERSON]))
    python = await Get(
        PythonExecutable, InterpreterConstraints, InterpreterConstraints(python_setup.interpreter_constraints)
    )
    return ModelChoice(
        url=given.get(URL, ""),
        key=given.get(KEY, "") if given.get(URL) else "",
        model=given.get(MODEL, ""),
        certificates=given.get("SSL_CERT_FILE"),
        weights=given.get(WEIGHTS, ""),
        python=python.path,
        environment=FrozenDict(environment_of({name: given[name] for name in _OF_THE_PERSON if name in given})),
    )


@contextmanager
def reaching(choice: ModelChoice, ledger: Ledger) -> Iterator[Forwarder]:
    """Listen, in a folder of this user's own, for what sealed processes ask, and pass it on to the model.

    The embedded model's server is started first and stopped last. Raises ModelServerFailed.
    """
    thread_locals = thread_locals_get_for_current_thread()
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder())
        socket = os.path.join(folder, "server")
        if choice.embedded:
            command = serve_command(choice.python, weights=choice.weights, socket=socket)
            stack.enter_context(
                model_server(command, folder=folder, top=get_buildroot(), environment=choice.environment)
            )
        yield stack.enter_context(
            Forwarder(
                os.path.join(folder, "model"),
                choice.service(socket),
                ledger,
                tell=logger.info,
                enter_thread=lambda: thread_locals_set_for_current_thread(thread_locals),
            )
        )


def rules():
    return collect_rules()
