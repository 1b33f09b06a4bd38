"""A disk that a test fills up: a tmpfs of a few megabytes, which really refuses writes when it is full.

Only a process of its own sees the mount, in user and mount namespaces that anybody may make; everybody else reaches it
through that process' root directory.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from embedded_services.account import server_account

BLOCK = b"\1" * 4096
UNSHARED = ("unshare", "--user", "--mount", "--keep-caps")


class SmallDisk:
    """The disk's folder, and what takes its space away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Leave no space at all."""
        with self._ballast.open("ab", buffering=0) as file:
            while True:
                try:
                    file.write(BLOCK)
                except OSError as error:
                    assert error.errno == errno.ENOSPC
                    return

    def free(self) -> None:
        """Give the space back."""
        self._ballast.unlink()


@contextmanager
def small_disk(megabytes: int) -> Iterator[SmallDisk]:
    """Give a disk of this size. It is gone after the block, with all that is on it."""
    account = server_account()  # PostgreSQL's user where that is another: it has to come to the disk too
    user, group = (account.uid, account.gid) if account else (None, None)
    with tempfile.TemporaryDirectory(prefix="bosun-disk-", dir="/tmp") as place:
        Path(place).chmod(0o755)
        # A copy is no setuid program: it keeps the namespace's own capabilities, and needs no others.
        program = shutil.copyfile(shutil.which("mount") or "mount", Path(place) / "mount")
        program.chmod(0o755)
        mount = f"{program} -t tmpfs -o size={megabytes}m,mode=0755 small {place}"
        with subprocess.Popen(
            [*UNSHARED, "sh", "-c", f"echo apart && read mapped && {mount} && echo there && exec cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            user=user,
            group=group,
            extra_groups=None if user is None else [],
        ) as holder:
            assert holder.stdin is not None and holder.stdout is not None
            try:
                assert holder.stdout.readline() == "apart\n", "no user namespace was made"
                _map_users(Path(f"/proc/{holder.pid}"), {os.geteuid(), user}, {os.getegid(), group})
                holder.stdin.write("mapped\n")
                holder.stdin.flush()
                assert holder.stdout.readline() == "there\n", "nothing was mounted"
                yield SmallDisk(Path(f"/proc/{holder.pid}/root{place}"))
            finally:
                holder.stdin.close()  # `cat` ends, and the mount with it


def _map_users(holder: Path, users: set[int | None], groups: set[int | None]) -> None:
    """Let these users own files on the disk: user_namespaces(7).

    Root is another there: `mount` refuses to work for a user who could become root.
    """
    (holder / "setgroups").write_text("deny", encoding="ascii")
    for name, ids in (("uid_map", users), ("gid_map", groups)):
        lines = [f"{each or 1} {each} 1\n" for each in ids if each is not None]
        (holder / name).write_text("".join(lines), encoding="ascii")
