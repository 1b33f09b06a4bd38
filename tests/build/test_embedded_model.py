"""The model server is a child that is waited for, and that no end of its parent leaves behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from seatrial_build.core.embedded_model import (
    LOCK,
    ModelServerFailed,
    environment_of,
    model_server,
    prepare_command,
    serve_command,
)
from seatrial_build.core.private_folder import private_folder

# Says that it is ready, and ends with its input, as the model server does; what it does on the way is a test's own.
SERVER = """
import os, sys
{before}
print("m serves at unix:s", flush=True)
{after}
while os.read(0, 100):
    pass
{end}
"""


def server(before: str = "", after: str = "", end: str = "") -> list[str]:
    return [sys.executable, "-c", SERVER.format(before=before, after=after, end=end)]


def test_a_server_is_ready_when_it_says_so_and_has_ended_after_the_context(tmp_path: Path) -> None:
    words = 'print("loading", os.environ["TMPDIR"], os.getcwd(), os.environ["A"], flush=True)'
    ended = "open(os.environ['TMPDIR'] + '/ended', 'w')"
    with model_server(server(words, end=ended), folder=str(tmp_path), top="/", environment={"A": "b"}) as process:
        assert process.poll() is None
    assert process.returncode == 0
    assert (tmp_path / "ended").exists()


def test_a_server_that_talks_much_is_listened_to(tmp_path: Path) -> None:
    much = "print('x' * 1_000_000, flush=True); open(os.environ['TMPDIR'] + '/said', 'w')"
    with model_server(server(after=much), folder=str(tmp_path), top="/", environment={}) as process:
        pass
    assert process.returncode == 0
    assert (tmp_path / "said").exists()


def test_a_server_that_fails_to_start_is_told_with_its_words(tmp_path: Path) -> None:
    failing = server("print('no weights here'); sys.exit(2)")
    with (
        pytest.raises(ModelServerFailed, match=r"ended before it was ready.\n  no weights here"),
        model_server(failing, folder=str(tmp_path), top="/", environment={}),
    ):
        pass


def test_an_exception_ends_the_server_too(tmp_path: Path) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        model_server(server(), folder=str(tmp_path), top="/", environment={}) as process,
    ):
        raise KeyboardInterrupt
    assert process.returncode == 0


PARENT = """
import os, sys
from seatrial_build.core.embedded_model import model_server
from seatrial_build.core.private_folder import private_folder
with private_folder() as folder, model_server(sys.argv[1:], folder=folder, top="/", environment={}) as process:
    os.mkfifo(folder + "/socket")
    print(folder, process.pid, flush=True)
    os.read(0, 1)
"""


def gone(pid: int) -> None:
    """Wait until a process that is nobody's child here has ended: its handle becomes readable then."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    assert select.select([handle], [], [], 30)[0], f"process {pid} lives on"
    os.close(handle)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, None])
def test_however_the_parent_ends_neither_server_nor_folder_is_left(number: signal.Signals | None) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *server()], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert parent.stdin is not None and parent.stdout is not None
    folder, pid = parent.stdout.readline().decode().split()
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    assert Path(folder).stat().st_mode & 0o777 == 0o700
    if number is None:
        parent.stdin.close()
    else:
        for child in children if number != signal.SIGKILL else ():  # Pants passes on what it gets
            os.kill(int(child), number)
        parent.send_signal(number)
    parent.wait(timeout=30)
    for child in {pid, *children}:
        gone(int(child))
    assert not Path(folder).exists()


def test_a_private_folder_goes_with_its_context_whatever_is_in_it() -> None:
    with pytest.raises(OSError, match="in the middle"), private_folder() as folder:
        (Path(folder) / "a b").mkdir()
        (Path(folder) / "a b" / "c").touch()
        raise OSError("in the middle")
    assert not Path(folder).exists()


def test_weights_and_the_yes_reach_the_commands() -> None:
    prepare = prepare_command("py", weights="w.gguf", yes=True, said_yes="./pants record --yes a")
    assert prepare[:6] == ("py", "-m", "seatrial.model_server", "prepare", "--lock", LOCK)
    assert prepare[6:] == ("--model", "w.gguf", "--yes", "--said-yes", "./pants record --yes a")
    assert "--yes" not in prepare_command("py", weights="", yes=False, said_yes="x")
    serve = serve_command("py", weights="", socket="/s")
    assert serve[3:] == ("serve", "--lock", LOCK, "--socket", "/s", "--while-stdin-open")
    assert environment_of({"HOME": "/h", "PYTHONPATH": "/elsewhere"}) == {
        "HOME": "/h",
        "PYTHONPATH": "src",
        "PYTHONSAFEPATH": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
