"""The verdict *unsealed*: what was tried, why it failed on this machine, and what to do about it."""

from __future__ import annotations

import errno
import os
import sys

import proof

UNSEALED = 16

FILES = ("remove what an earlier run left", "write the proof")
PATHS = "The namespaces are not at fault: name a proof file and a record directory that this user may write."

NOT_LINUX = (
    "The seal needs Linux. Run the tests in a Linux virtual machine, or in a Linux container started "
    "with `--network none` and the policy 'inherited'."
)
INHERITED = (
    "The policy 'inherited' is for a place whose network is cut off already. Start the container with "
    "`--network none`, or use the policy 'required'."
)
NO_USER_NAMESPACES = "User namespaces are switched off here. As root, run: sysctl -w user.max_user_namespaces=15000"
LIMIT = (
    "A limit on namespaces is reached. As root, look at `sysctl user` and raise the max_*_namespaces "
    "that is too small, for example: sysctl -w user.max_net_namespaces=15000"
)
NO_UNPRIVILEGED = (
    "This system keeps user namespaces for root. As root, run: sysctl -w kernel.unprivileged_userns_clone=1"
)
UBUNTU = (
    "AppArmor lets ordinary programs make a user namespace and then denies them its capabilities "
    "(Ubuntu 23.10 and newer). As root, run: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, "
    "or give this Python an AppArmor profile with `userns,`."
)
CONTAINER = (
    "This looks like a container whose profile denies namespaces, as Docker's default does. Start it "
    "with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`, or start it with "
    "`--network none` and use the policy 'inherited'."
)
GENERAL = (
    "Check that `unshare --user --net --pid --mount true` works for this user; what denies it (a "
    "security module, a chroot, a container's profile) has to allow it. Or run where the network is cut "
    "off already, with the policy 'inherited'."
)


def report(policy: str, address: str, record_dir: str, tried: list[str], error: Exception) -> int:
    """Write the record, say the same on standard error and return the exit status of the verdict."""
    step = tried[-1] if tried else "begin"
    reason = f"Cannot {step}: {_words(error)}"
    cure = find_cure(policy, sys.platform, step, error)
    record = {
        "format": 1,
        "address": address,
        "verdict": "unsealed",
        "reason": reason,
        "cure": cure,
        "seal": {"policy": policy, "sealed": False, "tried": tried},
    }
    proof.say(f"unsealed: '{address}' was not run.\n{reason}\n{cure}\n")
    try:
        proof.write(os.path.join(record_dir, "record.json"), proof.encode(record))
    except OSError as unwritable:
        proof.say(f"seal: the record could not be written either: {unwritable}\n")
    return UNSEALED


def find_cure(policy: str, platform: str, step: str, error: Exception) -> str:
    """What to do about the `error` of this `step` on this machine."""
    if not platform.startswith("linux"):
        return NOT_LINUX
    if step in FILES:
        return PATHS
    if policy == "inherited":
        return INHERITED
    if _setting("/proc/sys/user/max_user_namespaces") == "0":
        return NO_USER_NAMESPACES
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOSPC:
        return LIMIT
    if number not in (errno.EPERM, errno.EACCES):
        return GENERAL
    if os.geteuid() != 0 and _setting("/proc/sys/kernel/unprivileged_userns_clone") == "0":
        return NO_UNPRIVILEGED
    if _in_container():
        return CONTAINER
    if _setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return UBUNTU
    return GENERAL


def _words(error: Exception) -> str:
    if not isinstance(error, OSError) or not error.errno:
        return str(error.strerror if isinstance(error, OSError) and error.strerror else error) or repr(error)
    where = f" ('{error.filename}')" if error.filename else ""
    return f"{errno.errorcode.get(error.errno, error.errno)}: {error.strerror}{where}"


def _setting(path: str) -> str | None:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


def _in_container() -> bool:
    return any(map(os.path.exists, ("/.dockerenv", "/run/.containerenv"))) or "container" in os.environ
