"""A recording is kept whole or not at all, whatever interrupts the writing, and never with a key in it."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from seatrial_build.core.keeping import objection, write_together

from seatrial.cases.contracts import Holder, contract_findings, with_contracts
from seatrial.verdict import Cause

KEY = "sk-a+b/c=d&e f"

CASE = "purpose: p\nreview_by: 2030-01-01\ncontracts: {context.time: 1}\nturns: []\n"
NEW_CONTRACTS = {"context.time": 2}
OLD = {"a.recording.json": b'{"old": 1}\n' * 5000, "a.yaml": CASE.encode()}
NEW = {"a.recording.json": b'{"new": 1}\n' * 9000, "a.yaml": with_contracts(CASE, NEW_CONTRACTS).encode()}
EARLIER = {"earlier.recording.json": b"{}\n", "earlier.yaml": b"purpose: p\n"}

# Keeps one case, and is killed before the nth line of keeping.py that runs for the next: so before, between and after
# all that it asks of the operating system.
KILLED = """
import os, signal, sys
from pathlib import Path
from seatrial_build.core import keeping

folder, number, *pairs = sys.argv[1:]
count = 0

def before_each_line(frame, event, argument):
    global count
    if frame.f_code.co_filename != keeping.__file__:
        return None
    if event == "line":
        count += 1
        if count == int(number):
            os.kill(os.getpid(), signal.SIGKILL)
    return before_each_line

files = [(Path(folder) / name, Path(new).read_bytes()) for name, new in zip(pairs[::2], pairs[1::2])]
keeping.write_together(dict(files[:2]))
sys.settrace(before_each_line)
keeping.write_together(dict(files[2:]))
"""


@pytest.mark.parametrize("text", [KEY, base64.b64encode(f"Bearer {KEY}".encode()).decode()])
def test_what_holds_a_key_is_refused_by_the_keys_name(text: str) -> None:
    told = objection([b"{}", f'{{"a": "{text}"}}'.encode()], {"MODEL_KEY": KEY})
    assert told.startswith("it would hold the value of MODEL_KEY")
    assert KEY not in told


def test_other_text_may_be_written() -> None:
    assert objection([b"sk-a+b/c", b""], {"MODEL_KEY": KEY}) == ""


def test_only_files_that_differ_are_written(tmp_path: Path) -> None:
    same, other = tmp_path / "same", tmp_path / "other"
    same.write_bytes(b"1")
    os.utime(same, (1, 1))
    assert write_together({same: b"1", other: b"2"}) == (other,)
    assert same.stat().st_mtime == 1
    assert other.read_bytes() == b"2"


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"1")
    path.chmod(0o640)
    write_together({path: b"2"})
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_cannot_be_written_whole_changes_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.write_bytes(b"old")
    with pytest.raises(FileNotFoundError):
        write_together({first: b"new", tmp_path / "no folder" / "second": b"new"})
    assert first.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["first"]


def put(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def stale(recording: bytes, case: bytes) -> bool:
    """What a run says of a pair before it runs anything; a recording of today's agent names its contracts."""
    made_for = NEW_CONTRACTS if recording == NEW["a.recording.json"] else {"context.time": 1}
    holders = [
        Holder("case", yaml.safe_load(case).get("contracts", {}), ""),
        Holder("recording", made_for, ""),
    ]
    causes = {finding.cause for finding in contract_findings(NEW_CONTRACTS, holders)}
    return causes == {Cause.CONTRACT_DIFFERS}


def test_who_is_killed_at_any_point_leaves_whole_files_and_no_pair_that_passes(tmp_path: Path) -> None:
    new, environment = tmp_path / "new", {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    put(new, {**EARLIER, **NEW})
    pairs = [text for name in (*EARLIER, *NEW) for text in (name, str(new / name))]
    seen: list[tuple[str, str]] = []
    for number in range(1, 500):
        folder = tmp_path / f"tree{number}"
        put(folder, OLD)
        argv = [sys.executable, "-c", KILLED, str(folder), str(number), *pairs]
        code = subprocess.run(argv, env=environment, check=False).returncode
        recording, case = (folder / name for name in NEW)
        whole = {OLD["a.recording.json"]: "old", NEW["a.recording.json"]: "new"}
        whole.update({OLD["a.yaml"]: "old", NEW["a.yaml"]: "new"})
        seen.append((whole[recording.read_bytes()], whole[case.read_bytes()]))
        assert {name: (folder / name).read_bytes() for name in EARLIER} == EARLIER
        if seen[-1] == ("new", "old"):
            assert stale(recording.read_bytes(), case.read_bytes())
        # Whoever records next finds no trace of it.
        write_together({recording: b"next", case: b"next"})
        assert sorted(path.name for path in folder.iterdir()) == sorted((*EARLIER, *NEW))
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert list(dict.fromkeys(seen)) == [("old", "old"), ("new", "old"), ("new", "new")]


def test_a_case_that_never_had_contracts_is_stale_beside_the_new_recording() -> None:
    assert stale(NEW["a.recording.json"], b"purpose: p\nreview_by: 2030-01-01\nturns: []\n")
    assert not stale(NEW["a.recording.json"], NEW["a.yaml"])


FULL = """
import resource, signal, sys
from pathlib import Path
from seatrial_build.core.keeping import write_together

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then writing ends with an error, as on a full disk
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
folder = Path(sys.argv[1])
try:
    write_together({folder / "a.recording.json": b"n" * 90_000, folder / "a.yaml": b"n" * 100_000})
except OSError as error:
    sys.exit(f"errno {error.errno}")
"""


@pytest.mark.parametrize("room", [0, 1, 4096, 89_999, 90_000, 99_999])
def test_where_the_disk_is_full_the_old_files_stay_and_nothing_is_left(tmp_path: Path, room: int) -> None:
    put(tmp_path, OLD)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run([sys.executable, "-c", FULL, str(tmp_path), str(room)], env=environment, check=False,
                           capture_output=True, text=True)  # fmt: skip
    assert ended.stderr.startswith("errno ")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == OLD
