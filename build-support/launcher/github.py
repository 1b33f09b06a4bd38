"""Asks whether GitHub answers, quickly: where it does not, set-up goes other ways instead of waiting."""

from __future__ import annotations

import sys

from launcher import tool

# The file that Pants itself would fetch: a proxy may let the site through and stop its downloads.
_ASSET = "https://github.com/pantsbuild/pex/releases/download/v2.1.137/pex"
_ASK = """
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], method="HEAD")
urllib.request.urlopen(request, timeout=float(sys.argv[2])).close()
"""
_SECONDS = 5


def answers() -> bool:
    """In a process of its own, because a name look-up cannot be given a time limit."""
    command = [sys.executable, "-I", "-c", _ASK, _ASSET, str(_SECONDS)]
    return tool.run(command, seconds=_SECONDS + 1).code == 0
