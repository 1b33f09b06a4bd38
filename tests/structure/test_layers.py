"""Gate: rooms and doors. Arrows between the rooms of each package point one way, as the table in
`rules/house.py` says."""

from __future__ import annotations

from pathlib import Path

from grimp.exceptions import SourceSyntaxError
from rules import by_name, import_graph
from rules.files import each_tree, nothing_to_check, read
from rules.finding import Finding, hold
from rules.house import MAY_IMPORT_BY_NAME, PACKAGES, ROOMS
from rules.import_graph import Imports
from rules.rooms import House

ROOT = Path.cwd()
HOUSE = House(ROOMS, PACKAGES)


def imports() -> Imports:
    try:
        return import_graph.build(ROOT, PACKAGES)
    except SourceSyntaxError as error:
        hold("layers", [import_graph.unparsed(error, ROOT)])
        raise


def test_every_package_of_the_table_is_there_to_be_checked() -> None:
    there = import_graph.present(ROOT, PACKAGES)
    why = "a package that the gate does not see may break every rule"
    hold(
        "layers",
        [
            Finding(
                f"{package.folder}/{package.name}",
                0,
                "is not there or has no __init__.py",
                why,
                "add it, or the gate's `reads`",
            )
            for package in PACKAGES
            if package not in there
        ],
    )


def test_every_module_is_in_a_room_of_the_table() -> None:
    hold("layers", HOUSE.homeless(imports().modules))


def test_every_import_goes_through_an_open_door() -> None:
    hold("layers", HOUSE.closed_doors(imports().edges))


def test_no_module_is_imported_by_name_but_where_that_is_the_point() -> None:
    files = read(ROOT, ["src", "evals/bosun_binding"], (".py",))
    hold(
        "layers",
        nothing_to_check(files, "src") + each_tree(files, lambda file: by_name.check(file, MAY_IMPORT_BY_NAME)),
    )
