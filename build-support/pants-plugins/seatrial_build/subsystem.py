"""Options of the plugin."""

from __future__ import annotations

from pants.option.option_types import IntOption, SkipOption, StrListOption, StrOption
from pants.option.subsystem import Subsystem

from seatrial_build.targets.fields import SEAL_POLICIES


class SeatrialSubsystem(Subsystem):
    options_scope = "seatrial"
    name = "Seatrial"
    help = "How gates and cases are run."

    skip = SkipOption("test")
    seal = StrOption(
        default="required",
        help=(
            f"How processes are cut off from the network: one of {', '.join(SEAL_POLICIES)}. A target's own `seal` "
            "field comes first. `off` is part of every cache key and is said in every verdict."
        ),
    )
    repeat = IntOption(
        default=1,
        help="Run each case so often in one sealed process; every repeat has to send the same bytes and end alike.",
    )
    test_plugins = StrListOption(
        default=["pytest_asyncio"],
        help="Python modules of pytest plugins that every `unit_test` gets, although no file imports them.",
    )
