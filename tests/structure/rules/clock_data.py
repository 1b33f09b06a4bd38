"""What counts as the machine's clock, date or randomness, and who may touch it. Data only; `clock` and
`store_clock` apply it.

Names are the full dotted ones, whatever a file calls them. Sources: the standard library's index; PostgreSQL
18, "Date/Time Functions and Operators" (9.9), "Random Functions" (9.3), "UUID Functions" (9.14); the Valkey
command list.
"""

from __future__ import annotations

ALLOWED_MODULES = {
    "bosun.machine": "the seam itself: SystemClock, SystemTimer and SystemIds are what a host replaces",
}

CURE_CLOCK = "take the instant from the app's Clock (bosun.clock), which a host can freeze"
CURE_TIMER = "wait and measure by the app's Timer (bosun.timer), or bound the wait by asyncio.timeout"
CURE_IDS = "take the value from the app's IdSource (bosun.ids): derive(parent, kind, ordinal) or nonce(parent, kind)"

# Modules with nothing in them that would be allowed: importing one is the violation.
BANNED_MODULES = {
    "time": CURE_TIMER,
    "sched": CURE_TIMER,
    "timeit": CURE_TIMER,
    "random": CURE_IDS,
    "secrets": CURE_IDS,
    "numpy.random": CURE_IDS,
}

# Single names of modules that are otherwise welcome: every mention counts, called or handed on
# (`default_factory=uuid4`).
BANNED_NAMES = {
    "datetime.datetime.now": CURE_CLOCK,
    "datetime.datetime.utcnow": CURE_CLOCK,
    "datetime.datetime.today": CURE_CLOCK,
    "datetime.date.today": CURE_CLOCK,
    "email.utils.formatdate": CURE_CLOCK,
    "email.utils.localtime": CURE_CLOCK,
    "email.utils.make_msgid": CURE_IDS,
    "uuid.uuid1": CURE_IDS,
    "uuid.uuid4": CURE_IDS,
    "uuid.uuid6": CURE_IDS,
    "uuid.uuid7": CURE_IDS,
    "uuid.uuid8": CURE_IDS,
    "uuid.getnode": CURE_IDS,
    "os.urandom": CURE_IDS,
    "os.getrandom": CURE_IDS,
    "ssl.RAND_bytes": CURE_IDS,
    "os.times": CURE_TIMER,
    "asyncio.sleep": CURE_TIMER,
    "anyio.sleep": CURE_TIMER,
    "anyio.sleep_until": CURE_TIMER,
    "anyio.current_time": CURE_TIMER,
    "trio.sleep": CURE_TIMER,
    "threading.Timer": CURE_TIMER,
    "signal.alarm": CURE_TIMER,
    "signal.setitimer": CURE_TIMER,
}

# Partly banned modules: `from datetime import *` would hide what is used.
NO_STAR = frozenset(name.split(".")[0] for name in BANNED_NAMES)

# What answers with a running event loop, whose `.time()`, `.call_later()` and `.call_at()` are the machine's
# clock.
LOOP_SOURCES = frozenset({"asyncio.get_running_loop", "asyncio.get_event_loop", "asyncio.new_event_loop"})
LOOP_TIMERS = frozenset({"call_later", "call_at"})

# SQLAlchemy's `func.<name>` writes a function's name into SQL.
SQL_FUNCTIONS = frozenset(
    {
        "now",
        "current_timestamp",
        "current_date",
        "current_time",
        "localtime",
        "localtimestamp",
        "clock_timestamp",
        "statement_timestamp",
        "transaction_timestamp",
        "timeofday",
        "sysdate",
        "random",
        "random_normal",
        "setseed",
        "gen_random_uuid",
        "gen_random_bytes",
        "uuid_generate_v1",
        "uuid_generate_v1mc",
        "uuid_generate_v4",
        "uuidv4",
        "uuidv7",
        "pg_sleep",
        "pg_sleep_for",
        "pg_sleep_until",
    }
)

# Functions whose name with a parenthesis is found in prose too ("is now (since …)"): they count with `()`
# only.
SQL_FUNCTIONS_WITHOUT_ARGUMENTS = frozenset({"now", "localtime", "timeofday"})

# Words of SQL that need no parentheses: written small they may also be a field's name, so that they count
# where the text is SQL. And the special strings that PostgreSQL's date input reads from its clock (8.5.1.4).
SQL_WORDS = frozenset({"current_timestamp", "current_date", "current_time", "localtimestamp"})
_RELATIVE = "'(?:now|today|tomorrow|yesterday)'"
SQL_INPUTS = rf"{_RELATIVE}\s*::|\b(?:date|timestamp|timestamptz|time)\s+{_RELATIVE}"

# Redis commands by which a key's meaning hangs on the store's clock, and the arguments that do the same to
# `SET` and `GETEX`.
REDIS_COMMANDS = frozenset(
    {
        "expire",
        "pexpire",
        "expireat",
        "pexpireat",
        "hexpire",
        "hpexpire",
        "hexpireat",
        "hpexpireat",
        "setex",
        "psetex",
        "getex",
        "hsetex",
        "hgetex",
        "randomkey",
        "srandmember",
        "hrandfield",
        "zrandmember",
        "spop",
    }
)
# Ordinary words for an attribute too: these count when they are called.
REDIS_COMMANDS_WHEN_CALLED = frozenset({"ttl", "pttl", "expiretime", "pexpiretime"})
REDIS_EXPIRY_KEYWORDS = frozenset({"ex", "px", "exat", "pxat"})

# Stream ids and idle times are made by the store's clock. A queue's transport may use them, since an id only
# names a delivery there.
STREAM_COMMANDS = frozenset({"xadd", "xclaim", "xautoclaim"})
STREAM_MODULES = {
    "bosun.mailbox.redis_queue": "a stream id names a delivery here; order and meaning come from the mailbox",
}
