"""The file system of a sealed process: private mounts, and nothing of the host's but its files.

The order matters: what is kept is held by descriptors before it is hidden, and put back before anything is covered.
"""

from __future__ import annotations

import os
import stat

import devices
import kernel
import settings
import sockets

HIDDEN = ("/run", "/var/run")
# Each of these is another after the seal, however much of it is named to be kept.
PRIVATE = (*HIDDEN, devices.ROOT, "/dev/shm")


def build(keep: list[str], kept_sockets: list[str], bound: list[str], private: list[str]) -> dict[str, object]:
    """Unshare the mounts and hide what is the host's.

    `keep` are paths that stay where they would be hidden, `bound` the sockets to cover, `private` folders that
    begin empty and that only the command sees. Returns what the proof says about it. Raises OSError.
    """
    kernel.unshare(kernel.NEW_MOUNTS)
    kernel.mount("none", "/", None, kernel.RECURSIVE | kernel.PRIVATE)
    hidden = [path for path in HIDDEN if os.path.isdir(path) and not os.path.islink(path)]
    through = [(path, os.open(path, os.O_PATH)) for path in _below(keep + kept_sockets, [*hidden, devices.ROOT])]
    for path in hidden:
        kernel.mount("tmpfs", path, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "mode=1777")
    devices.build()
    for path, descriptor in through:
        _bind(descriptor, path)
    # Who may enter is no question here: nobody else has the mount. Servers that run as another account have to.
    for path in private:
        os.makedirs(path, exist_ok=True)
        kernel.mount("tmpfs", path, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "mode=755")
    left = sockets.cover(bound, kept_sockets)
    mounts = {**{path: "private tmpfs" for path in hidden}, devices.ROOT: "private", **settings.build()}
    return {
        "mounts": mounts,
        "private_folders": len(private),
        "kept_sockets": len(kept_sockets),
        "sockets_not_hidden": left,
    }


def _below(paths: list[str], hidden: list[str]) -> list[str]:
    """Those of `paths` that a hidden directory would hide, resolved, the outer ones alone and in order."""
    found: list[str] = []
    for path in sorted({os.path.realpath(path) for path in paths if os.path.exists(path)}):
        inside = any(path.startswith(root + "/") for root in hidden) and path not in PRIVATE
        if inside and not any(path.startswith(outer + "/") for outer in found):
            found.append(path)
    return found


def _bind(descriptor: int, path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.makedirs(path, exist_ok=True)
    else:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    kernel.mount(f"/proc/self/fd/{descriptor}", path, None, kernel.BIND | kernel.RECURSIVE)
    os.close(descriptor)
