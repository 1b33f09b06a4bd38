"""PostgreSQL and Valkey start inside the seal, whoever the caller is outside."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import embedded_services

STORES = """
import sys
from pathlib import Path
import psycopg, redis
from embedded_services import Postgres, Valkey, initialize_cluster
place = Path(sys.argv[1])
initialize_cluster(place / "cluster")
with Postgres.start(place / "cluster", place / "s", durable=False) as postgres:
    with psycopg.connect(postgres.url()) as connection:
        print(connection.execute("SELECT 6 * 7").fetchone()[0])
with Valkey.start(place / "valkey", place / "s" / "valkey", durable=False) as valkey:
    print(redis.Redis.from_url(valkey.url).ping())
print(sorted(path.name for path in (place / "s").iterdir()))
"""


def test_the_stores_start_answer_and_stop(seal: Any, tmp_path: Path) -> None:
    sources = str(Path(embedded_services.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([sources, os.environ.get("PYTHONPATH", "")])}
    done = seal.python(STORES, str(tmp_path), env=environment)
    assert (done.output, done.status) == ("42\nTrue\n[]\n", 0), done.errors
