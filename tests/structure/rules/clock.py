"""No machine clock, date or randomness in Python code: everything comes from the seams that a host may
supply."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from rules import clock_data as data
from rules.files import SourceFile
from rules.finding import Finding
from rules.names import Names, first_within, imports, within

WHY = "a request that depends on the machine's clock or randomness never repeats: no recording of it replays"


def check(file: SourceFile) -> list[Finding]:
    """All uses of the machine's clock and randomness in one Python file. Raises SyntaxError when it does not
    parse."""
    if file.module in data.ALLOWED_MODULES:
        return []
    names = file.names
    found = [*_banned_imports(file), *_banned_mentions(file, names), *_loop_clock(file, names)]
    return sorted(set(found))


def _finding(file: SourceFile, line: int, what: str, cure: str) -> Finding:
    return Finding(file.path, line, what, WHY, cure)


def _banned_imports(file: SourceFile) -> Iterator[Finding]:
    for imported in imports(file.nodes):
        module = first_within(imported.name, data.BANNED_MODULES)
        if module is not None:
            yield _finding(file, imported.line, f"imports {imported.name}", module[1])
            continue
        base, _, last = imported.name.rpartition(".")
        if last == "*" and base.split(".")[0] in data.NO_STAR:
            yield _finding(
                file, imported.line, f"imports {imported.name}", "import the names that are used, one by one"
            )
        name = first_within(imported.name, data.BANNED_NAMES)
        if name is not None:
            yield _finding(file, imported.line, f"imports {imported.name}", name[1])


def _banned_mentions(file: SourceFile, names: Names) -> Iterator[Finding]:
    for node in file.nodes:
        if isinstance(node, (ast.Attribute, ast.Name, ast.Call)) and not isinstance(
            getattr(node, "ctx", None), ast.Store
        ):
            meaning = names.resolve(node)
            if meaning in data.BANNED_NAMES:
                yield _finding(file, node.lineno, f"uses {meaning}", data.BANNED_NAMES[meaning])
        if isinstance(node, ast.Call):
            yield from _zone_of_the_machine(file, node, names)
            if (isinstance(node.func, ast.Name) and node.func.id == "__import__") or names.resolve(node.func) in (
                "importlib.import_module",
                "importlib.__import__",
            ):
                yield from _import_by_name(file, node)


def _import_by_name(file: SourceFile, call: ast.Call) -> Iterator[Finding]:
    for argument in call.args[:1]:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            module = first_within(argument.value, data.BANNED_MODULES)
            if module is not None:
                yield _finding(file, call.lineno, f"imports {argument.value} by name", module[1])


def _zone_of_the_machine(file: SourceFile, call: ast.Call, names: Names) -> Iterator[Finding]:
    """`astimezone()` and `fromtimestamp(x)` without a zone answer in the zone that this machine happens to be
    set to."""
    given = len(call.args) + len(call.keywords)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "astimezone" and given == 0:
        yield _finding(
            file, call.lineno, "uses astimezone() without a zone", "pass the zone of the app's CalendarPolicy"
        )
    elif names.resolve(call.func) in ("datetime.datetime.fromtimestamp", "datetime.date.fromtimestamp") and given == 1:
        yield _finding(
            file,
            call.lineno,
            "uses fromtimestamp() without a zone",
            "pass tz=UTC or the zone of the app's CalendarPolicy",
        )


def _loop_clock(file: SourceFile, names: Names) -> Iterator[Finding]:
    loops = _loop_names(file.nodes, names)
    for node in file.nodes:
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        if node.attr in data.LOOP_TIMERS:
            yield _finding(file, node.lineno, f"uses the event loop's {node.attr}()", data.CURE_TIMER)
        elif node.attr == "time" and (_is_loop_call(node.value, names) or _is_loop_name(node.value, loops)):
            yield _finding(file, node.lineno, "uses the event loop's time()", data.CURE_TIMER)


def _is_loop_call(node: ast.expr, names: Names) -> bool:
    return isinstance(node, ast.Call) and names.resolve(node.func) in data.LOOP_SOURCES


def _is_loop_type(node: ast.expr | None, names: Names) -> bool:
    return node is not None and within(names.resolve(node) or "", "asyncio.AbstractEventLoop")


def _is_loop_name(node: ast.expr, loops: frozenset[str]) -> bool:
    last = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return last in loops or last.lstrip("_") == "loop" or last.endswith("_loop")


def _loop_names(nodes: Sequence[ast.AST], names: Names) -> frozenset[str]:
    """The last part of every target that is given a running loop: `x = asyncio.get_running_loop()`, `self.x:
    AbstractEventLoop`."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and _is_loop_call(node.value, names):
            found.update(_last_parts(node.targets))
        elif isinstance(node, ast.AnnAssign):
            if _is_loop_type(node.annotation, names) or (node.value is not None and _is_loop_call(node.value, names)):
                found.update(_last_parts([node.target]))
        elif isinstance(node, ast.NamedExpr) and _is_loop_call(node.value, names):
            found.add(node.target.id)
        elif isinstance(node, ast.arg) and _is_loop_type(node.annotation, names):
            found.add(node.arg)
    return frozenset(found)


def _last_parts(targets: Iterable[ast.expr]) -> Iterator[str]:
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Attribute):
            yield target.attr


def stale_permissions(modules: Iterable[str]) -> list[Finding]:
    """Permissions for modules that are not there: the list only shrinks, and an entry without a module would
    let one in unseen."""
    there = set(modules)
    why = "an entry that outlives its module would let a later module of that name in without a review"
    cure = "remove the entry from ALLOWED_MODULES or STREAM_MODULES"
    return [
        Finding("tests/structure/rules/clock_data.py", 0, f"permits '{name}', which does not exist", why, cure)
        for name in (*data.ALLOWED_MODULES, *data.STREAM_MODULES)
        if not any(within(module, name) for module in there)
    ]
