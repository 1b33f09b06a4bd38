"""Ways out by the file system: sockets that have a path, devices, settings of the machine, what a mount covers."""

from __future__ import annotations

import ctypes
import os
import socket
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from attempt import OUT, World, all_of, call, connect, way, write_open

_NEW_USER, _NEW_MOUNTS, _NEW_PROCESSES, _NEW_NETWORK = 0x10000000, 0x20000, 0x20000000, 0x40000000
_READ_ONLY, _REMOUNT, _BIND, _RECURSIVE, _DETACH = 1, 32, 0x1000, 0x4000, 2
# ECONNREFUSED: covered, it is no socket any more. ENOENT: below a hidden folder.
_HIDDEN = ("ECONNREFUSED", "ENOENT", "ECONNREFUSED ENOENT")


@way("sockets of the host with a path: a daemon's, a display's, a bus's", *_HIDDEN)
def path_sockets(world: World) -> str:
    return all_of([lambda path=path: connect(socket.AF_UNIX, path) for path in world.sockets])  # type: ignore[misc]


@way("one through a symbolic link", "ECONNREFUSED")
def linked(world: World) -> str:
    return connect(socket.AF_UNIX, world.link)


@way("one from within its folder, by its bare name", *_HIDDEN)
def relative(world: World) -> str:
    def there(path: str) -> str:
        os.chdir(os.path.dirname(path))
        return connect(socket.AF_UNIX, os.path.basename(path))

    return all_of([lambda path=path: there(path) for path in world.sockets])  # type: ignore[misc]


@way("one without a path", "ECONNREFUSED")
def abstract(world: World) -> str:
    return connect(socket.AF_UNIX, "\0" + world.abstract)


@way("the services of this machine", "none")
def services(world: World) -> str:
    """Docker, D-Bus, systemd, X11, the agents of keys: whichever of their sockets is there may not be one."""
    places = ("/run", "/var/run", "/tmp/.X11-unix", os.environ.get("XDG_RUNTIME_DIR", "/run"))
    named = [os.environ.get("SSH_AUTH_SOCK", ""), "/var/lib/docker.sock"]
    found = [path for place in places for path in Path(place).rglob("*")] + [Path(path) for path in named if path]
    reached = [path for path in found if _is_socket(path) and _answers(path)]
    return "none" if not reached else str(reached[0])


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:
        return False


def _answers(path: Path) -> bool:
    try:
        return connect(socket.AF_UNIX, str(path)) == OUT
    except OSError:
        return False


@way("disks, the kernel's log, terminals and machines' hosts", "ENOENT")
def devices(world: World) -> str:
    names = (
        "vda",
        "sda",
        "nvme0n1",
        "kmsg",
        "mem",
        "kvm",
        "fuse",
        "net/tun",
        "tty1",
        "vsock",
        "vhost-vsock",
        "console",
    )
    return all_of([lambda name=name: write_open(f"/dev/{name}") for name in names])  # type: ignore[misc]


@way("a device of one's own", "EPERM")
def make_device(world: World) -> str:
    with tempfile.TemporaryDirectory() as folder:
        os.mknod(f"{folder}/disk", stat.S_IFBLK | 0o600, os.makedev(254, 0))
    return OUT


@way("the terminal of the caller, by its path", "ENOENT", "EACCES", "EIO")
def terminal(world: World) -> str:
    return write_open(world.terminal)


@way("what is typed at a terminal", "EPERM")
def type_at(world: World) -> str:
    import fcntl
    import pty

    _, ours = pty.openpty()
    os.setsid()
    fcntl.ioctl(ours, 0x540E, 0)  # TIOCSCTTY: the call's own terminal, which it would else be allowed to type at
    return all_of([lambda request=request: _ioctl(ours, request) for request in (0x5412, 0x541C)])  # type: ignore[misc]


def _ioctl(descriptor: int, request: int) -> str:
    import fcntl

    fcntl.ioctl(descriptor, request, b"x")
    return OUT


# EROFS: root's, covered. EACCES: another's, as outside. ENOENT: this kernel has none.
@way("a program that the host would run for a crash", "EROFS", "EACCES")
def core_pattern(world: World) -> str:
    return write_open("/proc/sys/kernel/core_pattern")


@way(
    "other settings of the machine",
    "EROFS",
    "EACCES",
    "EACCES ENOENT",
    "ENOENT EROFS",
    "EACCES EROFS",
    "EACCES ENOENT EROFS",
)
def settings(world: World) -> str:
    names = ("kernel/modprobe", "kernel/hotplug", "vm/drop_caches", "fs/file-max", "kernel/hostname")
    paths = [f"/proc/sys/{name}" for name in names]
    paths += ["/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/sys/kernel/uevent_helper", "/sys/power/state"]
    return all_of([lambda path=path: write_open(path) for path in paths])  # type: ignore[misc]


@way("control groups, whose agent the host runs", "none")
def control_groups(world: World) -> str:
    found = [path for path in Path("/sys/fs/cgroup").rglob("*") if os.access(path, os.W_OK)]
    return "none" if not found else str(found[0])


@way("to make a setting writable again", "EPERM", "EINVAL EPERM", "EACCES EPERM")
def remount(world: World) -> str:
    def bare(path: str) -> str:
        call("mount", b"none", path.encode(), None, _REMOUNT | _BIND, None)
        return OUT

    return all_of([lambda: bare("/proc/sys"), lambda: bare("/sys"), lambda: _within(lambda: bare("/sys"))])


@way("to take a cover off", "EPERM")
def uncover(world: World) -> str:
    paths = ["/run", "/dev", "/proc", world.sockets[0]]
    return all_of([lambda path=path: _unmount(path) for path in paths])  # type: ignore[misc]


# EINVAL: the cover is locked, and so is whatever holds one.
@way("to take a cover off, as root of a namespace of one's own", "EINVAL")
def uncover_as_root(world: World) -> str:
    paths = ["/dev", world.sockets[0]]
    return _within(lambda: all_of([lambda path=path: _unmount(path) for path in paths]))  # type: ignore[misc]


@way("to look below a cover by another mount", "EINVAL")
def look_below(world: World) -> str:
    def bind() -> str:
        with tempfile.TemporaryDirectory() as folder:
            call("mount", b"/", folder.encode(), None, _BIND, None)
        return OUT

    def tree() -> str:
        call("open_tree", -100, b"/", 1)  # OPEN_TREE_CLONE
        return OUT

    def move() -> str:
        with tempfile.TemporaryDirectory() as folder:
            call("move_mount", -100, b"/dev", -100, folder.encode(), 0)
        return OUT

    return _within(lambda: all_of([bind, tree, move]))


@way("a new /proc or /sys that can be written", "EPERM", "EACCES EPERM", "EACCES")
def new_settings(world: World) -> str:
    def fresh(kind: bytes, setting: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            call("mount", kind, folder.encode(), kind, 0, None)
            return write_open(f"{folder}/{setting}")

    return _within(
        lambda: all_of([lambda: fresh(b"proc", "sys/kernel/core_pattern"), lambda: fresh(b"sysfs", "power/state")]),
        more=_NEW_PROCESSES | _NEW_NETWORK,
    )


@way("a root or a mount without a namespace of one's own", "EPERM")
def mount(world: World) -> str:
    def by(name: str, *arguments: int | bytes | ctypes.Array[ctypes.c_char] | None) -> str:
        call(name, *arguments)
        return OUT

    return all_of(
        [
            lambda: by("mount", b"/", b"/tmp", None, _BIND | _RECURSIVE, None),
            lambda: by("chroot", b"/tmp"),
            lambda: by("pivot_root", b"/", b"/"),
            lambda: by("mount_setattr", -100, b"/sys", 0, bytes(8) + b"\1" + bytes(23), 32),
        ]
    )


def _unmount(path: str) -> str:
    call("umount2", path.encode(), _DETACH)
    return OUT


def _within(step: Callable[[], str], more: int = 0) -> str:
    """Take a step as root of new user and mount namespaces, in a process of its own, and say how it ended."""
    reading, writing = os.pipe()
    user, group = os.getuid(), os.getgid()
    if os.fork() == 0:
        call("unshare", _NEW_USER | _NEW_MOUNTS | more)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
        if os.fork() == 0:  # the first of the new process namespace, where there is one
            os.write(writing, all_of([step]).encode())
            os._exit(0)
        os.wait()
        os._exit(0)
    os.close(writing)
    os.wait()
    return os.read(reading, 4096).decode() or "nothing was said"
