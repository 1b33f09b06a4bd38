"""The clock rule on bad and good source text: every way to the machine's clock is seen with its line, and the
seams are left alone."""

from __future__ import annotations

import pytest
from rules import clock, clock_data
from rules.files import SourceFile


def seen(text: str, path: str = "src/bosun/turn/engine.py") -> list[tuple[int, str]]:
    return [(finding.line, finding.what) for finding in clock.check(SourceFile(path, text))]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import time", "imports time"),
        ("import time as t", "imports time"),
        ("from time import monotonic as m", "imports time.monotonic"),
        ("from time import *", "imports time.*"),
        ("def late():\n    import random", "imports random"),
        ("import secrets", "imports secrets"),
        ("from datetime import *", "imports datetime.*"),
        ("from uuid import uuid4", "imports uuid.uuid4"),
        ("from os import urandom as bytes_of_chance", "imports os.urandom"),
        ("from asyncio import sleep", "imports asyncio.sleep"),
        ("__import__('time')", "imports time by name"),
        ("import importlib\nimportlib.import_module('random')", "imports random by name"),
    ],
)
def test_an_import_of_the_machines_clock_or_randomness_is_seen(text: str, what: str) -> None:
    assert what in [found for _, found in seen(text)]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import datetime as d\nd.datetime.now(d.UTC)", "uses datetime.datetime.now"),
        ("from datetime import datetime as dt\ndt.utcnow()", "uses datetime.datetime.utcnow"),
        ("from datetime import date\ndate.today()", "uses datetime.date.today"),
        ("from datetime import datetime\nread = datetime.now", "uses datetime.datetime.now"),
        ("from datetime import datetime\ngetattr(datetime, 'now')()", "uses datetime.datetime.now"),
        ("import datetime\nclass_ = datetime.datetime\nclass_.now()", "uses datetime.datetime.now"),
        ("import uuid\nField(default_factory=uuid.uuid4)", "uses uuid.uuid4"),
        ("import uuid as u\nu.uuid1()", "uses uuid.uuid1"),
        ("import os\nos.urandom(8)", "uses os.urandom"),
        ("import asyncio\nasync def f(): await asyncio.sleep(0)", "uses asyncio.sleep"),
        ("import threading\nthreading.Timer(1, print)", "uses threading.Timer"),
        ("from email.utils import formatdate", "imports email.utils.formatdate"),
        ("import asyncio\nasyncio.get_running_loop().time()", "uses the event loop's time()"),
        ("import asyncio\nx = asyncio.new_event_loop()\nx.time()", "uses the event loop's time()"),
        ("def f(self): self._loop.time()", "uses the event loop's time()"),
        (
            "import asyncio\ndef f(x: asyncio.AbstractEventLoop): return x.time",
            "uses the event loop's time()",
        ),
        ("def f(anything): anything.call_later(1, print)", "uses the event loop's call_later()"),
        ("moment.astimezone()", "uses astimezone() without a zone"),
        ("from datetime import datetime\ndatetime.fromtimestamp(0)", "uses fromtimestamp() without a zone"),
    ],
)
def test_a_use_of_the_machines_clock_or_randomness_is_seen(text: str, what: str) -> None:
    assert what in [found for _, found in seen(text)]


def test_the_line_is_the_line_of_the_use() -> None:
    assert seen("from datetime import datetime\n\n\ndef f():\n    return datetime.now()\n") == [
        (5, "uses datetime.datetime.now")
    ]


def test_every_violation_of_a_file_is_reported() -> None:
    found = seen("import time\nimport uuid\nimport asyncio\nuuid.uuid4()\nasyncio.sleep(1)\n")
    assert found == [(1, "imports time"), (4, "uses uuid.uuid4"), (5, "uses asyncio.sleep")]


@pytest.mark.parametrize(
    "text",
    [
        "from datetime import UTC, datetime, timedelta\ndatetime(2030, 1, 15) + timedelta(1)",
        "from datetime import datetime\ndatetime.fromisoformat('2030-01-15').time()",
        "from datetime import datetime\ndatetime.fromtimestamp(0, tz=zone)",
        "moment.astimezone(zone)",
        "def f(clock): return clock.now()",
        "async def f(timer): await timer.sleep(1); return timer.monotonic()",
        "import asyncio\nasync def f():\n    async with asyncio.timeout(5): await asyncio.wait(g)",
        "import uuid\nuuid.uuid5(uuid.NAMESPACE_URL, name)",
        "import os\nos.environ['HOME']",
        "import tempfile, hashlib\nhashlib.sha256(b'').hexdigest()",
        "'''Never call time.time() or datetime.now() here.'''",
        "from bosun.timer import sleep\nsleep",
        "import timely",
        "def f(time): return time.time",
    ],
)
def test_the_seams_and_plain_arithmetic_are_left_alone(text: str) -> None:
    assert seen(text) == []


def test_only_the_seam_module_may_touch_the_machine() -> None:
    text = "import time\nimport secrets\n"
    assert seen(text, "src/bosun/machine.py") == []
    assert len(seen(text, "src/bosun/machinery.py")) == 2
    assert len(seen(text, "src/seatrial/machine.py")) == 2


def test_a_file_that_does_not_parse_raises() -> None:
    with pytest.raises(SyntaxError):
        seen("def f(:")


def test_a_permission_without_a_module_is_reported() -> None:
    there = [*clock_data.ALLOWED_MODULES, *clock_data.STREAM_MODULES]
    assert clock.stale_permissions(there) == []
    assert [finding.what for finding in clock.stale_permissions(there[1:])] == [
        f"permits '{there[0]}', which does not exist"
    ]
