"""The stores' clock rule on bad and good text: SQL, Redis calls and Lua."""

from __future__ import annotations

import pytest
from rules import store_clock
from rules.files import SourceFile


def seen(text: str, path: str = "src/bosun/log/store.py") -> list[tuple[int, str]]:
    return [(finding.line, finding.what) for finding in store_clock.check(SourceFile(path, text))]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("q = 'SELECT now()'", "has the SQL now"),
        ("q = 'select Now ( )'", "has the SQL Now"),
        ("q = f'SELECT now() - {age}'", "has the SQL now"),
        ("q = 'created_at timestamptz DEFAULT CURRENT_TIMESTAMP'", "has the SQL CURRENT_TIMESTAMP"),
        ("q = 'insert into t values (current_date)'", "has the SQL current_date"),
        ("q = 'SELECT clock_timestamp()'", "has the SQL clock_timestamp"),
        ("q = 'ORDER BY random()'", "has the SQL random"),
        ("q = 'DEFAULT gen_random_uuid()'", "has the SQL gen_random_uuid"),
        ("q = 'DEFAULT uuid_generate_v4()'", "has the SQL uuid_generate_v4"),
        ("""q = "SELECT 'now'::timestamptz" """, "has the SQL 'now'::"),
        ("""q = "WHERE day = date 'today'" """, "has the SQL date 'today'"),
        ("from sqlalchemy import func\nColumn(server_default=func.now())", "uses the SQL function now"),
        (
            "import sqlalchemy as sa\nColumn(onupdate=sa.func.current_timestamp)",
            "uses the SQL function current_timestamp",
        ),
        ("select(t).order_by(func.random())", "uses the SQL function random"),
    ],
)
def test_sql_that_reads_the_servers_clock_or_randomness_is_seen(text: str, what: str) -> None:
    assert [found for _, found in seen(text)] == [what]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("redis.expire(key, 5)", "uses the Redis command EXPIRE"),
        ("redis.pexpire(key, 5)", "uses the Redis command PEXPIRE"),
        ("each(redis.expireat)", "uses the Redis command EXPIREAT"),
        ("redis.setex(key, 5, value)", "uses the Redis command SETEX"),
        ("redis.set(key, value, ex=5)", "uses the Redis command SET with an expiry"),
        ("redis.set(key, value, nx=True, px=5)", "uses the Redis command SET with an expiry"),
        ("self._redis.time()", "uses the Redis command TIME"),
        ("redis.ttl(key)", "uses the Redis command TTL"),
        ("redis.spop(key)", "uses the Redis command SPOP"),
        ("redis.lock('x', timeout=5)", "uses Redis' lock() with a timeout, which is a key's expiry"),
        ("redis.execute_command('PEXPIRE', key, 5)", "uses the Redis command PEXPIRE"),
        ("redis.execute_command('SET', key, value, 'EX', 5)", "uses the Redis command SET with an expiry"),
        ("redis.execute_command('TIME')", "uses the Redis command TIME"),
        ("redis.xadd(stream, fields)", "uses the Redis command XADD"),
        ("s = \"redis.call('EXPIRE', KEYS[1], 5)\"", "has the Redis command EXPIRE in a script"),
        ("s = 'local t = redis.call(\"TIME\")'", "has the Redis command TIME in a script"),
        (
            "s = \"redis.call('SET', KEYS[1], ARGV[1], 'PX', 5)\"",
            "has the Redis command SET with an expiry in a script",
        ),
        ("s = \"redis.call('XADD', KEYS[1], '*', 'a', 'b')\"", "has the Redis command XADD in a script"),
        ("s = 'return math.random(5)'", "has the Lua function math.random"),
    ],
)
def test_redis_that_decides_by_its_own_clock_or_randomness_is_seen(text: str, what: str) -> None:
    assert [found for _, found in seen(text)] == [what]


def test_the_line_is_counted_within_a_text_of_several_lines() -> None:
    assert seen('a = 1\nq = """\nSELECT seq\nWHERE at < now()\n"""\n') == [(4, "has the SQL now")]


@pytest.mark.parametrize(
    "text",
    [
        '"""Never now() or CURRENT_TIMESTAMP, no EXPIRE."""',
        "def f():\n    '''no random() here'''",
        "# SELECT now()\nx = 1",
        "q = 'SELECT seq FROM conversation_events WHERE created_at < :before ORDER BY seq'",
        "block = '<current_time>12:00</current_time>'",
        "message = 'it is stopped now (since 5 s)'",
        "knows(x); name = 'known()'",
        "redis.set(key, value, nx=True)",
        "redis.hset(key, mapping=fields)",
        "lease.ttl",
        "moment.time()",
        "s = \"redis.call('SET', KEYS[1], ARGV[1])\"",
        "Column(server_default=text('0'))",
        "func.count()",
    ],
)
def test_words_and_queries_by_bound_values_are_left_alone(text: str) -> None:
    assert seen(text) == []


def test_only_the_queues_transport_may_use_stream_ids() -> None:
    assert seen("redis.xadd(s, f)\nredis.xautoclaim(s, g, c, 0)", "src/bosun/mailbox/redis_queue.py") == []
    assert len(seen("redis.xadd(s, f)\nredis.xautoclaim(s, g, c, 0)", "src/bosun/mailbox/mailbox.py")) == 2
    assert len(seen("redis.expire(k, 5)", "src/bosun/mailbox/redis_queue.py")) == 1


def test_sql_and_lua_files_are_read_without_their_comments() -> None:
    assert seen("-- now() is not used\nSELECT 1;\nSELECT now();\n", "src/bosun/stores/x.sql") == [
        (3, "has the SQL now")
    ]
    assert seen("-- no TIME\nreturn redis.call('TIME')\n", "src/bosun/mailbox/x.lua") == [
        (2, "has the Redis command TIME in a script")
    ]
