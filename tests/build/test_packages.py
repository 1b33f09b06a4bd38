"""Which packages an edit of a lock, or of a requirements file, is about."""

from __future__ import annotations

from seatrial_build.core.packages import PackageChange, normal, pinned, required

LOCK = """\
redis==8.1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
Ruff==1.0 ; python_version < "4" \\
    --hash=sha256:cc
"""


def test_a_lock_differs_by_the_versions_that_it_pins() -> None:
    after = LOCK.replace("8.1.0", "8.2.0") + "new.One==3 \\\n"
    assert pinned(LOCK, after) == (PackageChange("new-one", "", "3"), PackageChange("redis", "8.1.0", "8.2.0"))
    assert [change.words for change in pinned(after, LOCK)] == ["new-one 3 -> none", "redis 8.2.0 -> 8.1.0"]


def test_a_lock_of_the_same_versions_is_no_change_whatever_else_it_says() -> None:
    assert pinned(LOCK, f"# written again\n{LOCK.replace('aa', 'dd')}") == ()


def test_requirements_differ_by_what_they_ask_for() -> None:
    before = "# ours\nredis>=8.1\nsqlalchemy[asyncio]>=2.1  # the log\n\ntypes-pyyaml\n"
    after = "types_PyYAML\n  sqlalchemy[asyncio] >=2.2\nredis>=8.1\nhttpx>=1\n"
    assert [(change.name, change.before, change.after) for change in required(before, after)] == [
        ("httpx", "", ">=1"),
        ("sqlalchemy", "[asyncio]>=2.1", "[asyncio] >=2.2"),
    ]


def test_names_are_compared_as_the_index_compares_them() -> None:
    assert normal("Types__PyYAML.x") == "types-pyyaml-x"
