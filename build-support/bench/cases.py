"""Measure how long cases take. README.md says how and what."""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import tempfile
from pathlib import Path

import copies
from parts import parts_of
from runs import Pants, Run, RunFailed

ROOT = Path(__file__).resolve().parents[2]
UNCHANGED_RUNS = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200, help="how many cases are made (2 or more)")
    parser.add_argument("--with-plugin", type=int, help="how many of them have the plugin (a tenth)")
    options = parser.parse_args()
    count = max(2, options.cases)
    with_plugin = min(count - 1, options.with_plugin or max(1, count // 10))
    # An end that is asked for takes the same way out as Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="seatrial-bench-") as place:
        root, store, sandboxes = (Path(place, name) for name in ("repository", "store", "sandboxes"))
        for folder in (root, store, sandboxes):
            folder.mkdir()
        copies.copy_repository(ROOT, root)
        copies.make_cases(root, count, with_plugin)
        pants = Pants(root, store)
        try:
            runs = measure(pants, root, count, with_plugin)
            parts = parts_of(pants, copies.case_path(0), sandboxes)
        except RunFailed as error:
            print(error, file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("bench: interrupted; its folder and its daemon are taken away.", file=sys.stderr)
            return 130
        finally:
            pants.end()
    print_runs(runs, count, with_plugin)
    print_parts(parts)
    return 0


def measure(pants: Pants, root: Path, count: int, with_plugin: int) -> dict[str, Run]:
    """Run all ways, one after the other; each is told as soon as it is known. Raises RunFailed."""
    everything = f"{copies.FOLDER}:"
    found: dict[str, Run] = {}

    def note(way: str, *runs: Run) -> None:
        found[way] = middle(runs)
        print(f"bench: {way}: {found[way].wall:.1f} s", file=sys.stderr, flush=True)

    first = (copies.case_path(0), copies.case_path(count - 1))
    note("first: environments, gates, 2 cases", pants.test(*first))
    note(f"cold: {count - 2} cases new", pants.test(everything))
    note("unchanged", *(pants.test(everything) for _ in range(UNCHANGED_RUNS)))
    copies.edit(root / copies.case_path(0), "# edited")
    note("one case changed", pants.test(everything))
    copies.edit(root / copies.PLUGIN_FILE, "# edited")
    note("one line of a plugin changed", pants.test(everything))
    note("unchanged, without the daemon", pants.test(everything, options=("--no-pantsd",)))
    return found


def middle(runs: tuple[Run, ...]) -> Run:
    """Return the middle of several runs, which have to have run the same."""
    if len({(run.cases, run.others) for run in runs}) != 1:
        raise RunFailed(f"runs of the same differ in what they ran: {runs}")
    wall, user = statistics.median(run.wall for run in runs), statistics.median(run.user for run in runs)
    return Run(wall, user, runs[0].cases, runs[0].others)


def print_runs(runs: dict[str, Run], count: int, with_plugin: int) -> None:
    base = runs["unchanged"]
    print(f"\n{count} cases, {with_plugin} of them with the plugin\n")
    print(f"{'':<36} {'wall':>8} {'ratio':>6} {'user':>8} {'ratio':>6} {'cases ran':>10} {'gates ran':>10}")
    for way, run in runs.items():
        print(
            f"{way:<36} {run.wall:>6.1f} s {run.wall / base.wall:>6.1f} {run.user:>6.1f} s "
            f"{run.user / base.user:>6.1f} {run.cases:>10} {run.others:>10}"
        )


def print_parts(parts: list[tuple[str, float]]) -> None:
    print("\none case, in its own process\n")
    for stage, seconds in parts:
        print(f"{stage:<36} {seconds * 1000:>6.0f} ms")
    print(f"{'all':<36} {sum(seconds for _, seconds in parts) * 1000:>6.0f} ms")


if __name__ == "__main__":
    sys.exit(main())
