"""apt's sources files give the mirrors; the launcher knows no address of its own."""

from __future__ import annotations

from pathlib import Path

from launcher.debian_index import source_lines
from launcher.mirrors import Source, addresses, debian_sources


def test_one_line_entries_are_read_with_options_and_comments(tmp_path: Path) -> None:
    (tmp_path / "sources.list").write_text(
        "# deb http://commented.example/debian bookworm main\n"
        "deb [arch=amd64 signed-by=/a/b c] http://one.example/debian/ bookworm main contrib # a note\n"
        "deb-src http://source.example/debian bookworm main\n"
        "  deb http://two.example/debian-security bookworm-security main\n"
    )
    assert debian_sources(tmp_path) == [
        Source("http://one.example/debian", "bookworm"),
        Source("http://two.example/debian-security", "bookworm-security"),
    ]


def test_deb822_stanzas_are_read_with_several_values_and_continuation_lines(tmp_path: Path) -> None:
    folder = tmp_path / "sources.list.d"
    folder.mkdir()
    (folder / "debian.sources").write_text(
        "Types: deb deb-src\n"
        "# a comment\n"
        "URIs: http://one.example/debian\n"
        " http://two.example/debian\n"
        "Suites: bookworm bookworm-updates\n"
        "Components: main\n"
        "\n"
        "Types: deb\n"
        "Enabled: no\n"
        "URIs: http://disabled.example/debian\n"
        "Suites: bookworm\n"
        "Components: main\n"
        "\n"
        "Types: deb-src\n"
        "URIs: http://source.example/debian\n"
        "Suites: bookworm\n"
        "Components: main\n"
    )
    found = debian_sources(tmp_path)
    assert addresses(found) == ["http://one.example/debian", "http://two.example/debian"]
    assert {source.suite for source in found} == {"bookworm", "bookworm-updates"}


def test_other_vendors_are_not_asked_for_debians_packages(tmp_path: Path) -> None:
    folder = tmp_path / "sources.list.d"
    folder.mkdir()
    (folder / "tools.list").write_text(
        "deb http://cloud.example/apt cloud-sdk-bookworm main\n"
        "deb http://docker.example/linux/debian bookworm stable\n"
        "deb http://ubuntu.example/ubuntu jammy main\n"
    )
    (folder / "README").write_text("deb http://readme.example/debian bookworm main\n")
    assert debian_sources(tmp_path) == []


def test_a_list_of_mirrors_stands_for_its_addresses(tmp_path: Path) -> None:
    mirrors = tmp_path / "debian.list"
    mirrors.write_text("# cloud images\nhttps://first.example/debian\tpriority:1\n\nhttps://second.example/debian\n")
    (tmp_path / "sources.list").write_text(f"deb mirror+file://{mirrors} trixie main\n")
    assert addresses(debian_sources(tmp_path)) == [
        "https://first.example/debian",
        "https://second.example/debian",
    ]


def test_a_machine_without_apt_has_no_mirrors(tmp_path: Path) -> None:
    assert debian_sources(tmp_path / "missing") == []


def test_another_release_is_asked_for_on_the_mirrors_of_this_one() -> None:
    sources = [
        Source("http://a.example/debian", "trixie"),
        Source("http://a.example/debian", "trixie-updates"),
        Source("http://s.example/debian-security", "trixie-security"),
    ]
    lines = source_lines("bullseye", sources, "http://own.example/debian/")
    assert [line.split("] ")[1] for line in lines] == [
        "http://own.example/debian bullseye main\n",
        "http://a.example/debian bullseye main\n",
        "http://s.example/debian-security bullseye-security main\n",
    ]
    assert all("signed-by=" in line for line in lines)
