"""Puts the launcher's package on the path, and gives the repository's root."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "build-support"))


@pytest.fixture
def repository() -> Path:
    return _ROOT


@pytest.fixture
def launcher_process_path() -> str:
    """`PYTHONPATH` for a process that imports the launcher's package."""
    return str(_ROOT / "build-support")
