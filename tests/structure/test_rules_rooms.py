"""The check of imports against a table: on a small table of its own, so that it holds whatever the house
looks like."""

from __future__ import annotations

from rules.rooms import Edge, House, Package, Room, cycle

PACKAGES = (Package("shop", "src", ("banned",), "the shop sells no such thing"),)
ROOMS = (
    Room("shop", (), "the front", exact=True),
    Room("shop.till", ("shop.ledger",), "the till", may_not=("shop.ledger.secret",), outside=("money",)),
    Room("shop.ledger", (), "the ledger"),
    Room("shop.stalls.*", ("shop.till",), "stalls stand apart"),
)
HOUSE = House(ROOMS, PACKAGES)


def closed(importer: str, imported: str) -> list[str]:
    return [finding.what for finding in HOUSE.closed_doors([Edge(importer, imported, "src/shop/a.py", 1)])]


def test_a_room_uses_itself_and_its_open_doors() -> None:
    assert closed("shop.till.drawer", "shop.till.key") == []
    assert closed("shop.till.drawer", "shop.ledger.pages") == []


def test_a_closed_door_is_named_with_both_sides() -> None:
    assert closed("shop.ledger.pages", "shop.till.drawer") == ["imports shop.till.drawer into shop.ledger"]


def test_what_a_room_may_not_wins_over_what_it_may() -> None:
    assert closed("shop.till.drawer", "shop.ledger.secret.page") == ["imports shop.ledger.secret.page into shop.till"]


def test_children_without_a_row_are_rooms_apart() -> None:
    assert closed("shop.stalls.fruit.apples", "shop.stalls.fruit.pears") == []
    assert closed("shop.stalls.fruit.apples", "shop.stalls.fish") == ["imports shop.stalls.fish into shop.stalls.fruit"]


def test_an_exact_room_is_one_module_and_its_door_leads_no_further() -> None:
    house = House(
        (Room("shop", (), "front", exact=True), Room("shop.a", ("shop",), "a"), Room("shop.b", (), "b")),
        PACKAGES,
    )
    assert house.closed_doors([Edge("shop.a", "shop", "a.py", 1)]) == []
    assert len(house.closed_doors([Edge("shop.a", "shop.b", "a.py", 1)])) == 1


def test_third_parties_are_those_that_a_room_names() -> None:
    assert closed("shop.till.drawer", "money") == []
    assert closed("shop.till.drawer", "json") == []
    assert closed("shop.till.drawer", "stones") == ["imports stones"]
    assert closed("shop.ledger.pages", "stones") == []
    assert closed("shop.ledger.pages", "banned") == ["imports banned"]


def test_all_closed_doors_are_reported_at_once() -> None:
    edges = [
        Edge("shop.ledger", "shop.till", "src/shop/b.py", 2),
        Edge("shop.ledger", "banned", "src/shop/a.py", 1),
    ]
    assert [finding.address for finding in HOUSE.closed_doors(edges)] == [
        "src/shop/a.py:1",
        "src/shop/b.py:2",
    ]


def test_a_table_that_leads_in_a_circle_is_seen() -> None:
    assert cycle(ROOMS) == ()
    circle = (Room("a", ("b.part",), ""), Room("b", ("c",), ""), Room("c", ("a",), ""))
    assert cycle(circle) == ("a", "b", "c", "a")
