"""Check a team's cache from end to end: this repository, Pants, and a cache served on loopback.

usage: python3.11 build-support/remote-cache/check.py

Five runs in a copy of the working tree, each with a local store of its own:
1. an empty store fills the cache;
2. another empty store gets every gate and the case from it, and runs none;
3. nobody answers at the cache's address: the gate runs, and passes;
4. somebody answers who says nothing: the same;
5. every file in the cache is cut short or changed by one bit: nothing comes from it, everything runs, and passes.
Prints what each run took, beside the second. Ends with status 1 when a run is not as it has to be.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from serve import serving

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "bench"))

from copies import copy_repository  # noqa: E402

CASE = "evals/integration/recall_from_history.yaml"
GATE = "tests/structure:clock"
_VERDICT = re.compile(r"(\S+) (passed|failed|broken|unsealed|stale|unrecorded|invalid) \((ran|memoized|cached [a-z]+)")


class CheckFailed(Exception):
    """A run is not as it has to be. The message says how, and holds what Pants printed."""


@dataclass(frozen=True)
class Run:
    """What one run came to. ``verdicts`` counts (verdict, where it came from); ``seconds`` are of the wall."""

    verdicts: Counter[tuple[str, str]]
    seconds: float
    output: str

    def require(self, origin: str) -> None:
        """Raise CheckFailed unless all verdicts are passes of this origin, and there is one."""
        if not self.verdicts or set(self.verdicts) != {("passed", origin)}:
            raise CheckFailed(f"expected passes that {origin} alone, and saw {dict(self.verdicts)}:\n{self.output}")


class Team:
    """A copy of the repository, and its members: each has a local store of its own, empty at first."""

    def __init__(self, root: Path, folder: Path, listen: str) -> None:
        self._root = root
        self._folder = folder
        self._listen = listen
        self._members = 0

    def run(self, *targets: str, write: bool = False, listen: str | None = None) -> Run:
        """Have a new member test these targets."""
        self._members += 1
        mine = self._folder / f"member-{self._members}"
        environment = {
            **os.environ,
            "PANTS_CONFIG_FILES": str(self._root / "build-support/remote-cache/pants.remote.toml"),
            "PANTS_REMOTE_STORE_ADDRESS": f"grpc://{listen or self._listen}",
            "PANTS_REMOTE_CACHE_WRITE": str(write).lower(),
            "PANTS_LOCAL_STORE_DIR": str(mine / "store"),
            "PANTS_WORKDIR": str(mine / "workdir"),
            "PANTS_PANTSD": "false",
            "PANTS_DYNAMIC_UI": "false",
            "PANTS_COLORS": "false",
        }
        began = time.monotonic()
        done = subprocess.run(
            ["./pants", "test", *targets],
            cwd=self._root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        seconds = time.monotonic() - began
        shutil.rmtree(mine, ignore_errors=True)
        if done.returncode != 0:
            raise CheckFailed(f"./pants test {' '.join(targets)} ended with {done.returncode}:\n{done.stdout[-6000:]}")
        found = Counter((verdict, origin) for _, verdict, origin in _VERDICT.findall(done.stdout))
        return Run(found, seconds, done.stdout[-6000:])


def damage(files: Path) -> int:
    """Cut every second file of a folder short and change one bit of each other. Return how many there were."""
    count = 0
    for number, file in enumerate(sorted(each for each in files.rglob("*") if each.is_file())):
        content = bytearray(file.read_bytes())
        if not content:
            continue
        if number % 2:
            del content[len(content) // 2 :]
        else:
            content[len(content) // 2] ^= 1
        file.chmod(0o600)
        file.write_bytes(content)
        count += 1
    return count


def check(team: Team, cache: Path, listen: str) -> None:
    """Make the five runs. Raises CheckFailed, and CannotServe."""
    with serving(cache, listen):
        first = team.run(CASE, GATE, write=True)
        first.require("ran")
        tell("an empty cache is filled", first)
        second = team.run(CASE, GATE)
        second.require("cached remotely")
        if second.verdicts.total() != first.verdicts.total():
            raise CheckFailed(f"{first.verdicts.total()} verdicts were stored, and {second.verdicts.total()} came back")
        tell("another empty store", second)
    alone = team.run(GATE, listen=listen)
    alone.require("ran")
    tell("one gate, nobody answers", alone)
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        mute = team.run(GATE, listen=f"127.0.0.1:{silent.getsockname()[1]}")
    mute.require("ran")
    tell("one gate, somebody who is silent", mute, beside=alone)
    count = damage(cache / "files")
    with serving(cache, listen):
        last = team.run(CASE, GATE)
    last.require("ran")
    tell(f"{count} damaged files", last, beside=first)


def tell(what: str, run: Run, beside: Run | None = None) -> None:
    """Print the line of a run."""
    origins = ", ".join(f"{count} {verdict} ({origin})" for (verdict, origin), count in run.verdicts.items())
    ratio = "" if beside is None else f", {run.seconds / beside.seconds:.2f} of the run without it"
    print(f"{what}: {origins}; {run.seconds:.0f} s{ratio}", flush=True)


def main() -> int:
    """Check, and say how it went."""
    with tempfile.TemporaryDirectory(prefix="seatrial-remote-cache-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # PostgreSQL runs as somebody else
        root = folder / "repository"
        copy_repository(ROOT, root)
        subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            listen = f"127.0.0.1:{probe.getsockname()[1]}"
        try:
            check(Team(root, folder, listen), folder / "cache", listen)
        except CheckFailed as error:
            print(f"remote cache: {error}", file=sys.stderr)
            return 1
    print("remote cache: as it has to be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
