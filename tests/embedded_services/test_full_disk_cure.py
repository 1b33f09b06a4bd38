"""A server that ends because its disk is full is told apart by its log, whichever way the last write failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from embedded_services.errors import cure_of_full_disk


@pytest.mark.parametrize("line", ["Error writing to the AOF file: No space left on device", "Short write while so"])
def test_each_sign_has_the_same_cure(line: str) -> None:
    cures = cure_of_full_disk(Path("/srv/data"), "Short write")
    found = {cure for sign, cure in cures.items() if sign in line}
    assert found == {"Free space on the disk of '/srv/data', then start again."}
