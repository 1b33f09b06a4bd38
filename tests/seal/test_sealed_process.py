"""A sealed command behaves as the command alone would, and nothing of it outlives the shim."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

# A grandchild that left the command's session and process group; it holds the shim's standard output open.
GRANDCHILD = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"], start_new_session=True)
print("started", flush=True)
"""


@pytest.mark.parametrize("status", [0, 1, 13, 16, 255])
def test_the_exit_status_passes(seal: Any, status: int) -> None:
    done = seal.run("sh", "-c", f"exit {status}")
    assert (done.status, done.record) == (status, None)


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV"])
def test_death_by_a_signal_is_128_and_its_number(seal: Any, name: str) -> None:
    assert seal.run("sh", "-c", f"kill -{name} $$").status == 128 + signal.Signals[f"SIG{name}"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
@pytest.mark.parametrize("whole_group", [False, True])
def test_a_signal_to_the_shim_reaches_the_command(seal: Any, number: signal.Signals, whole_group: bool) -> None:
    waiting = (
        f"import signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [{number}])\n"
        "print('ready', flush=True)\n"
        f"signal.sigwait([{number}]); print('got it'); sys.exit(5)"
    )
    seal.directory.mkdir()
    argv = seal.argv(sys.executable, "-c", waiting)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, start_new_session=True) as shim:
        assert shim.stdout is not None and shim.stdout.readline() == "ready\n"
        (os.killpg if whole_group else os.kill)(shim.pid, number)
        assert shim.communicate(timeout=60)[0] == "got it\n"
    assert shim.returncode == 5


def test_a_signal_reaches_the_commands_own_children_too(seal: Any) -> None:
    seal.directory.mkdir()
    child = "import signal; print('ready', flush=True); signal.pause()"
    argv = seal.argv("sh", "-c", f'trap "exit 5" TERM; {sys.executable} -c "{child}"; exit 6')
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as shim:
        assert shim.stdout is not None and shim.stdout.readline() == "ready\n"
        shim.terminate()
        assert shim.wait(timeout=60) == 5


def test_killing_the_shim_leaves_no_process_of_the_inside(seal: Any) -> None:
    seal.directory.mkdir()
    argv = seal.argv(sys.executable, "-c", GRANDCHILD + "import signal; signal.pause()")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as shim:
        assert shim.stdout is not None and shim.stdout.readline() == "started\n"
        shim.kill()
        # The end of the stream: its last holder, the grandchild, is gone.
        assert shim.communicate(timeout=60)[0] == ""


def test_a_command_that_ends_takes_all_that_it_started_with_it(seal: Any) -> None:
    done = seal.python(GRANDCHILD)  # would wait for the end of the stream
    assert (done.output, done.status) == ("started\n", 0)


def test_standard_input_directory_environment_and_arguments_are_the_callers(seal: Any, tmp_path: Path) -> None:
    done = seal.python(
        "import os, sys\nprint(sys.stdin.read(), os.getcwd(), os.environ['HOME'], os.environ['MINE'], sys.argv[1:])",
        "--policy",
        "--",
        "ä b",
        input="typed",
        cwd=tmp_path,
        env={**os.environ, "HOME": "/place/of/mine", "MINE": "kept"},
    )
    assert done.output == f"typed {tmp_path} /place/of/mine kept ['--policy', '--', 'ä b']\n"


def test_signals_are_as_a_program_expects_them(seal: Any) -> None:
    done = seal.run("sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status")
    assert done.output == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"


def test_the_command_is_nobody_alone_in_its_own_process_table(seal: Any) -> None:
    done = seal.python(
        "import os\nprint(os.getuid(), os.getgid(), sorted(int(n) for n in os.listdir('/proc') if n.isdigit()))"
    )
    # A seal of root's lets the one in it have no process table, which would bring the machine's settings along.
    alone = done.proof["mounts"]["/proc"].startswith("of the PID namespace")
    assert alone or os.access("/proc/sys/kernel/core_pattern", os.W_OK) is False
    assert done.output.startswith("65534 65534 [1, 2")
    assert done.output.endswith(" [1, 2]\n") == alone


@pytest.mark.parametrize("root", ["/tmp", "/dev/shm"])
def test_files_written_in_the_directory_of_the_call_are_the_callers(seal: Any, root: str) -> None:
    directory = Path(tempfile.mkdtemp(dir=root))
    try:
        assert seal.run("sh", "-c", "echo mine > made", cwd=directory).status == 0
        assert (directory / "made").read_text() == "mine\n"
        assert (directory / "made").stat().st_uid == os.getuid()
    finally:
        shutil.rmtree(directory)


def test_what_is_written_to_shared_memory_stays_inside(seal: Any) -> None:
    name = f"seal-test-{os.getpid()}"
    assert seal.run("sh", "-c", f"echo x > /dev/shm/{name} && cat /dev/shm/{name}").output == "x\n"
    assert not Path("/dev/shm", name).exists()


@pytest.mark.parametrize(("command", "status"), [("/nonexistent", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_be_run_ends_as_in_a_shell(seal: Any, command: str, status: int) -> None:
    done = seal.run(command)
    assert (done.status, done.record) == (status, None)
    assert f"the command '{command}' cannot be run" in done.errors


def test_it_needs_neither_site_packages_nor_the_environment(seal: Any) -> None:
    done = seal.run("sh", "-c", "exit 3", within=lambda argv: [argv[0], "-I", "-S", *argv[1:]])
    assert (done.status, done.proof["sealed"]) == (3, True)


def test_it_runs_without_open_standard_streams(seal: Any) -> None:
    done = seal.run("true", within=lambda argv: ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *argv])
    assert (done.status, done.proof["sealed"]) == (0, True)
