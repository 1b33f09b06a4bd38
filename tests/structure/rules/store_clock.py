"""No store's clock or randomness: SQL functions, Redis expiry and Redis time, in calls, in SQL and in Lua."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rules import clock_data as data
from rules.files import SourceFile
from rules.finding import Finding
from rules.names import docstring_nodes

WHY = "a store's own clock moves while a test's time stands still, and its randomness differs between two runs"
CURE_SQL = "bind a value from the app's Clock or IdSource as a parameter; order rows by seq"
CURE_REDIS = "store the deadline as a value from the app's Timer and compare it in code"
CURE_STREAM = "give an explicit id, or leave streams to the queue's transport (bosun.mailbox.redis_queue)"

_PLAIN = sorted(data.SQL_FUNCTIONS - data.SQL_FUNCTIONS_WITHOUT_ARGUMENTS, key=len, reverse=True)
_SQL = re.compile(
    rf"(?<!math\.)\b(?:{'|'.join(_PLAIN)})(?=\s*\()"
    rf"|\b(?:{'|'.join(sorted(data.SQL_FUNCTIONS_WITHOUT_ARGUMENTS))})(?=\s*\(\s*\))"
    rf"|\b(?P<word>{'|'.join(sorted(data.SQL_WORDS, key=len, reverse=True))})\b"
    rf"|{data.SQL_INPUTS}",
    re.IGNORECASE,
)
_LOOKS_LIKE_SQL = re.compile(
    r"\b(?:select|insert|update|delete|values|default|where|set|create|alter)\b", re.IGNORECASE
)
_QUOTED = r"""\s*\(\s*["'](?P<command>\w+)["']"""
_LUA_CALL = re.compile(rf"\b(?:redis|server)\.p?call{_QUOTED}(?P<rest>[^)]*)", re.IGNORECASE)
_LUA_RANDOM = re.compile(r"\bmath\.random(?:seed)?\b|\bos\.(?:time|clock|date)\b")
_SQL_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_CLOCK_COMMANDS = data.REDIS_COMMANDS | data.REDIS_COMMANDS_WHEN_CALLED | {"time"}
_CLIENT = re.compile(r"(?:^|_)(?:redis|valkey|client|pipe|pipeline|connection)$", re.IGNORECASE)


def check(file: SourceFile) -> list[Finding]:
    """All uses of a store's clock in one file: Python is read as syntax, `.sql` and `.lua` as text."""
    if file.module in data.ALLOWED_MODULES:
        return []
    if not file.path.endswith(".py"):
        text = _SQL_COMMENT.sub(lambda match: "\n" * match.group().count("\n"), file.text)
        return sorted(set(_in_text(file, text, 1)))
    docstrings = docstring_nodes(file.nodes)
    found: list[Finding] = []
    for node in file.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            found += _in_text(file, node.value, node.lineno)
        elif isinstance(node, ast.Attribute):
            found += _sql_function(file, node)
            found += _redis_attribute(file, node)
        elif isinstance(node, ast.Call):
            found += _redis_call(file, node)
    return sorted(set(found))


def may_use_streams(module: str) -> bool:
    """True for the queue's transport and the modules of a package of that name."""
    return any(module == name or module.startswith(f"{name}.") for name in data.STREAM_MODULES)


def _in_text(file: SourceFile, text: str, first_line: int) -> Iterator[Finding]:
    """SQL and Lua inside a text. A text of several lines starts at `first_line`; lines within it are counted
    from there."""
    for match in _SQL.finditer(text):
        word = match.group("word")
        if word and not word.isupper() and not _LOOKS_LIKE_SQL.search(text):
            continue
        yield Finding(file.path, _line(text, match, first_line), f"has the SQL {match.group().strip()}", WHY, CURE_SQL)
    for match in _LUA_CALL.finditer(text):
        command, rest = match.group("command").lower(), match.group("rest").lower()
        line = _line(text, match, first_line)
        if command in _CLOCK_COMMANDS:
            yield Finding(file.path, line, f"has the Redis command {command.upper()} in a script", WHY, CURE_REDIS)
        elif command == "set" and re.search(rf"""["'](?:{"|".join(data.REDIS_EXPIRY_KEYWORDS)})["']""", rest):
            yield Finding(file.path, line, "has the Redis command SET with an expiry in a script", WHY, CURE_REDIS)
        elif command in data.STREAM_COMMANDS and not may_use_streams(file.module):
            yield Finding(file.path, line, f"has the Redis command {command.upper()} in a script", WHY, CURE_STREAM)
    for match in _LUA_RANDOM.finditer(text):
        yield Finding(
            file.path,
            _line(text, match, first_line),
            f"has the Lua function {match.group()}",
            WHY,
            CURE_REDIS,
        )


def _line(text: str, match: re.Match[str], first_line: int) -> int:
    return first_line + text.count("\n", 0, match.start())


def _sql_function(file: SourceFile, node: ast.Attribute) -> Iterator[Finding]:
    """`func.now` of SQLAlchemy, called or handed on, under whatever module `func` was reached."""
    owner = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
    if owner == "func" and node.attr.lower() in data.SQL_FUNCTIONS:
        yield Finding(file.path, node.lineno, f"uses the SQL function {node.attr}", WHY, CURE_SQL)


def _redis_attribute(file: SourceFile, node: ast.Attribute) -> Iterator[Finding]:
    if node.attr in data.REDIS_COMMANDS:
        yield Finding(file.path, node.lineno, f"uses the Redis command {node.attr.upper()}", WHY, CURE_REDIS)
    elif node.attr in data.STREAM_COMMANDS and not may_use_streams(file.module):
        yield Finding(file.path, node.lineno, f"uses the Redis command {node.attr.upper()}", WHY, CURE_STREAM)


def _redis_call(file: SourceFile, call: ast.Call) -> Iterator[Finding]:
    if not isinstance(call.func, ast.Attribute):
        return
    method = call.func.attr
    keywords = {keyword.arg for keyword in call.keywords}
    if method in ("set", "hsetex") and keywords & data.REDIS_EXPIRY_KEYWORDS:
        yield Finding(file.path, call.lineno, "uses the Redis command SET with an expiry", WHY, CURE_REDIS)
    elif method == "lock" and "timeout" in keywords:
        yield Finding(
            file.path,
            call.lineno,
            "uses Redis' lock() with a timeout, which is a key's expiry",
            WHY,
            CURE_REDIS,
        )
    elif method in data.REDIS_COMMANDS_WHEN_CALLED:
        yield Finding(file.path, call.lineno, f"uses the Redis command {method.upper()}", WHY, CURE_REDIS)
    elif method == "time" and not call.args and _CLIENT.search(_owner(call.func.value)):
        yield Finding(file.path, call.lineno, "uses the Redis command TIME", WHY, CURE_REDIS)
    elif method == "execute_command":
        yield from _raw_command(file, call)


def _owner(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _raw_command(file: SourceFile, call: ast.Call) -> Iterator[Finding]:
    words = [node.value.lower() for node in call.args if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    command = words[0].split()[0] if words and words[0].split() else ""
    if command in _CLOCK_COMMANDS:
        yield Finding(file.path, call.lineno, f"uses the Redis command {command.upper()}", WHY, CURE_REDIS)
    elif command == "set" and data.REDIS_EXPIRY_KEYWORDS & set(words[1:]):
        yield Finding(file.path, call.lineno, "uses the Redis command SET with an expiry", WHY, CURE_REDIS)
    elif command in data.STREAM_COMMANDS and not may_use_streams(file.module):
        yield Finding(file.path, call.lineno, f"uses the Redis command {command.upper()}", WHY, CURE_STREAM)
