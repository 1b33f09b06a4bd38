"""Try one way out: `python ways.py NAME WORLD`, with the world as JSON. Prints how it ended."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import ways_files
import ways_network
import ways_processes
from attempt import WAYS, World, try_way

PROGRAM = Path(__file__)
ALL = WAYS
FILES = (ways_files, ways_network, ways_processes)  # imported for what they enter

if __name__ == "__main__":
    print(try_way(sys.argv[1], World(**json.loads(sys.argv[2]))))
