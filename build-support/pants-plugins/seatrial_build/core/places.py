"""Where the parts that every sealed process needs lie, from the repository's top."""

from __future__ import annotations

SEAL = "build-support/seal/seal.py"
"""The shim that cuts the network off and then starts the process."""

SEAL_FILES = "build-support/seal/*.py"
"""The shim with the modules that it imports from beside it."""

RUNNERS = "build-support/pants-plugins/seatrial_build/runners"
GATE_RUNNER = f"{RUNNERS}/pytest_gate.py"
TYPING_RUNNER = f"{RUNNERS}/mypy_gate.py"
RUNNER_SUPPORT = f"{RUNNERS}/evidence.py"
MYPY_CONFIG = "mypy.ini"

CASE_RUNNER = "seatrial.cases.run"
"""The Python module that runs one case. First party here, third party elsewhere."""

TEST_RUNNER = "seatrial.pytest_run"
"""The Python module that runs one test function of a Python eval."""

BUILD_DEFINITION = "//:build_definition"
"""The target of the files that shape every process without being inputs of one (pants.toml, this plugin).

Gates and cases depend on it where it exists, so that `--changed-since` follows an edit of them. It is in
no sandbox; what it changes about a process is in the process itself.
"""

OUT = "__out__"
"""The folder, in a process's sandbox, that a process leaves its record in."""

PRIVATE = ".t"
"""The folder, in a process's sandbox, for temporary files and sockets: no other sealed process can see into it."""

CACHE = ".cache/seatrial_stores"
CACHE_NAME = "seatrial_stores"
"""The named cache of database templates. It saves time and never decides anything."""

COMMAND = "./pants"
"""How people start the build; every message that says what to run next begins with it."""
