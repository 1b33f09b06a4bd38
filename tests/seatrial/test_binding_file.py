"""What binding.yaml says of plugins is read as one module or several."""

from __future__ import annotations

from pathlib import Path

import pytest

from seatrial.binding import BindingError, read_binding_file


def write(folder: Path, plugins: str) -> Path:
    path = folder / "binding.yaml"
    path.write_text(f"binding: agent.binding:Binding\nroot: evals\nplugins: {plugins}\n")
    return path


def test_a_plugin_has_one_module_or_a_list_of_them(tmp_path: Path) -> None:
    file = read_binding_file(write(tmp_path, "{memory: [agent.memory, evals.memory_setup], web: agent.web}"))
    assert dict(file.plugins) == {"memory": ("agent.memory", "evals.memory_setup"), "web": ("agent.web",)}


@pytest.mark.parametrize("value", ["[]", "3", "{a: b}", "[agent.memory, 3]", "''", "null"])
def test_anything_else_is_refused_with_the_plugin_and_what_stands_there(tmp_path: Path, value: str) -> None:
    with pytest.raises(BindingError, match=r"binding\.yaml: 'plugins\.memory' has to be a Python module or a list"):
        read_binding_file(write(tmp_path, f"{{memory: {value}}}"))
