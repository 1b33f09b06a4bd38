"""Entry for `/pants`, run as a file with `-I`, so it puts the folder above its package on the path itself."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from launcher.set_up import main

sys.exit(main(sys.argv[1:]))
