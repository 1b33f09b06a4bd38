"""How tests behave: the test rules on a file's syntax tree. Each finding belongs to one rule, so that a list
of known ones can shrink."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rules import conduct_data as data
from rules.files import SourceFile
from rules.finding import Finding
from rules.house_seatrial import SEATRIAL
from rules.names import Names, docstring_nodes, imports, within

_FAKE_NAME = re.compile(data.FAKE_NAME)
_ROOMS_OF_THE_FIXTURE = frozenset(room.name for room in SEATRIAL)


@dataclass(frozen=True, order=True)
class Breach:
    """One violation and the rule that it breaks."""

    rule: str
    finding: Finding


def check(file: SourceFile) -> list[Breach]:
    """All breaches of the test rules in one file. Raises SyntaxError when it does not parse."""
    if not is_test_code(file.path):
        return []
    names = file.names
    found: list[Breach] = []
    if file.path.startswith("tests/"):
        found += _runs_an_agent(file)
    if is_agent_test(file.path):
        found += _imports_more_than_the_fixture(file)
    if is_agent_test(file.path) or file.path.startswith("tests/bosun/"):
        found += _fakes_a_model(file, names)
    found += _changes_configuration(file, names)
    found += _uses_worker_internals(file)
    found += _skips(file, names)
    found += _sleeps(file, names)
    return sorted(set(found))


def is_agent_test(path: str) -> bool:
    """True for Python evals and what pytest loads beside them."""
    name = path.rpartition("/")[2]
    return path.startswith("evals/") and (name.startswith("test_") or name == "conftest.py")


def is_test_code(path: str) -> bool:
    """True for everything below `tests`, its helpers too, and for agent tests; a binding is a host and no
    test."""
    return path.startswith("tests/") or is_agent_test(path)


def _breach(rule: str, file: SourceFile, line: int, what: str, why: str, cure: str) -> Breach:
    return Breach(rule, Finding(file.path, line, what, f"{rule}: {why}", cure))


def _named_modules(file: SourceFile) -> Iterator[tuple[str, int]]:
    """Imported names, and modules that are named as text: `pytest_plugins = ["…"]`, `import_module("…")`."""
    for imported in imports(file.nodes):
        yield imported.name, imported.line
    docstrings = docstring_nodes(file.nodes)
    for node in file.nodes:
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "pytest_plugins" for t in node.targets
        ):
            yield from _texts(node.value, docstrings)
        elif isinstance(node, ast.Call) and _last(node.func) in ("import_module", "__import__", "run_module"):
            yield from _texts(node, docstrings)


def _texts(tree: ast.AST, docstrings: frozenset[int]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value, node.lineno


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _runs_an_agent(file: SourceFile) -> Iterator[Breach]:
    folder = max((prefix for prefix in data.AGENT_MAKERS if file.path.startswith(prefix)), key=len)
    for name, line in _named_modules(file):
        if any(within(name, maker) for maker in data.AGENT_MAKERS[folder]):
            why = "tests here run no agent; every test that does is an eval"
            yield _breach(
                data.RUNS_NO_AGENT,
                file,
                line,
                f"uses {name}",
                why,
                "test the part itself, or make it a case below evals/",
            )


def _imports_more_than_the_fixture(file: SourceFile) -> Iterator[Breach]:
    why = "an agent test that knows internals has to be rewritten with every refactoring"
    cure = f"import from {' or '.join(data.FIXTURE)} (their public names) or the standard library"
    for node in file.nodes:
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            modules = [base]
            if base == "seatrial":
                modules += [
                    f"seatrial.{alias.name}"
                    for alias in node.names
                    if f"seatrial.{alias.name}" in _ROOMS_OF_THE_FIXTURE
                ]
        else:
            continue
        for module in modules:
            if module not in data.FIXTURE and module.split(".")[0] not in sys.stdlib_module_names:
                yield _breach(data.FIXTURE_ONLY, file, node.lineno, f"imports {module}", why, cure)


def _fakes_a_model(file: SourceFile, names: Names) -> Iterator[Breach]:
    why = "the agent is one unit: nothing inside it is replaced, and a test never scripts a model's answer"
    cure = "make it a case with a recorded answer below evals/, or test the rule with plain values"
    rule = data.NO_MODEL_FAKES
    docstrings = docstring_nodes(file.nodes)
    for imported in imports(file.nodes):
        if any(within(imported.name, library) for library in data.FAKING_LIBRARIES):
            yield _breach(rule, file, imported.line, f"imports {imported.name}", why, cure)
    for node in file.nodes:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and _FAKE_NAME.search(node.name):
            yield _breach(rule, file, node.lineno, f"defines {node.name}", why, cure)
        elif isinstance(node, ast.arg) and node.arg in data.FAKING_FIXTURES:
            yield _breach(rule, file, node.lineno, f"asks for the fixture {node.arg}", why, cure)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            if data.SCRIPTED_ANSWER in node.value:
                yield _breach(rule, file, node.lineno, "writes a model's answer", why, cure)
        elif isinstance(node, ast.Attribute) and names.resolve(node) == "httpx.MockTransport":
            yield _breach(rule, file, node.lineno, "uses httpx.MockTransport", why, cure)
        elif isinstance(node, ast.Call) and _changes_the_client(node, names):
            yield _breach(rule, file, node.lineno, "changes the model's client", why, cure)


def _changes_the_client(call: ast.Call, names: Names) -> bool:
    """`monkeypatch.setattr(openai, …)`, by object, by text, or through a client at hand
    (`client.chat.completions`)."""
    if _last(call.func) not in ("setattr", "patch") or not call.args:
        return False
    return _aims_at(call.args[0], names, data.THE_MODEL) or "completions" in ast.unparse(call.args[0])


def _aims_at(node: ast.expr, names: Names, targets: Iterable[str]) -> bool:
    """True when an expression means one of the dotted names or something within: as an object, or as text."""
    meaning = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else names.resolve(node)
    return meaning is not None and any(within(meaning, target) for target in targets)


def _changes_configuration(file: SourceFile, names: Names) -> Iterator[Breach]:
    why = "what a test changes in a module or the environment, the next test inherits"
    cure = "give the value as an option of what is under test"

    def breach(node: ast.expr | ast.stmt, what: str) -> Breach:
        return _breach(data.NO_CONFIGURATION_CHANGES, file, node.lineno, what, why, cure)

    for node in file.nodes:
        if isinstance(node, ast.Call):
            method = _last(node.func)
            if names.resolve(node.func) == "importlib.reload":
                yield breach(node, "reloads a module")
            elif method in ("setattr", "delattr") and node.args and _aims_at(node.args[0], names, data.PRODUCT):
                yield breach(node, f"changes {ast.unparse(node.args[0])}")
            elif method in ("setenv", "delenv", "putenv", "unsetenv") and _product_variable(node, file.path):
                yield breach(node, f"changes the variable {ast.unparse(node.args[0])}")
            elif method in ("setitem", "delitem") and node.args and _is_shared(node.args[0], names):
                yield breach(node, f"changes {names.resolve(node.args[0])}")
            elif method in ("pop", "update", "setdefault", "clear") and _is_shared(_owner(node.func), names):
                yield breach(node, f"changes {names.resolve(_owner(node.func))}")
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            if isinstance(node, ast.Subscript) and _is_shared(node.value, names):
                yield breach(node, f"changes {names.resolve(node.value)}")
            elif isinstance(node, ast.Attribute) and _aims_at(node.value, names, data.PRODUCT):
                yield breach(node, f"changes {ast.unparse(node)}")


def _owner(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Attribute) else node


def _is_shared(node: ast.expr, names: Names) -> bool:
    return names.resolve(node) in ("sys.modules", "os.environ")


def _product_variable(call: ast.Call, path: str) -> bool:
    """A variable that the product reads; in an agent test any variable is one."""
    if is_agent_test(path):
        return bool(call.args)
    name = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else ""
    return isinstance(name, str) and name.startswith(data.PRODUCT_ENVIRONMENT)


def _uses_worker_internals(file: SourceFile) -> Iterator[Breach]:
    for name, line in _named_modules(file):
        for module, words in data.INTERNALS.items():
            if within(name, module) and not any(word in file.path.rpartition("/")[2] for word in words):
                why = "only its own tests know how work is done inside; others would break with every change"
                cure = f"test what people see, or move the test to a file of its own (test_…{words[0]}….py)"
                yield _breach(data.NO_WORKER_INTERNALS, file, line, f"uses {name}", why, cure)


def _skips(file: SourceFile, names: Names) -> Iterator[Breach]:
    why = "what cannot be known is never a pass: a skipped test looks like one"
    cure = "let the test fail and say what to install, or put it into a lane of its own by a tag"
    for imported in imports(file.nodes):
        if any(within(imported.name, name) for name in data.SKIPPING):
            yield _breach(data.NO_SKIPS, file, imported.line, f"imports {imported.name}", why, cure)
    for node in file.nodes:
        if isinstance(node, ast.Attribute) and names.resolve(node) in data.SKIPPING:
            yield _breach(data.NO_SKIPS, file, node.lineno, f"uses {names.resolve(node)}", why, cure)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in data.NOT_COLLECTED:
            yield _breach(data.NO_SKIPS, file, node.lineno, f"sets {node.id}", why, cure)
        elif isinstance(node, ast.FunctionDef) and node.name in data.NOT_COLLECTED:
            yield _breach(data.NO_SKIPS, file, node.lineno, f"defines {node.name}", why, cure)


def _sleeps(file: SourceFile, names: Names) -> Iterator[Breach]:
    """`asyncio.sleep(0)` is a turn of the event loop and no time; everything else waits and hopes."""
    turns = {
        id(node.func)
        for node in file.nodes
        if isinstance(node, ast.Call)
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == 0
    }
    why = "a sleep is a guess about another's speed: too short on a busy machine, wasted on an idle one"
    for node in file.nodes:
        if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load) and id(node) not in turns:
            meaning = names.resolve(node)
            if meaning in data.SLEEPING:
                cure = "wait for the event itself (a line, a future, a process's end), or use a virtual timer"
                yield _breach(data.NO_SLEEPS, file, node.lineno, f"uses {meaning}", why, cure)
