"""Fields that gates, tests and cases have in common."""

from __future__ import annotations

from pants.engine.target import (
    AsyncFieldMixin,
    BoolField,
    IntField,
    StringField,
    StringSequenceField,
    ValidNumbers,
)

SEAL_POLICIES = ("required", "inherited", "off")


class SealField(StringField):
    alias = "seal"
    valid_choices = SEAL_POLICIES
    help = (
        "How this target's process is cut off from the network. `required` (the default): it runs in a "
        "network namespace of its own, or ends *unsealed*. `inherited`: the machine around it is cut off "
        "already (`--network none`), which its record says. `off`: not at all; the record and the report "
        "say so. Unset, the option `[seatrial].seal` decides."
    )


class TimeoutField(IntField):
    alias = "timeout"
    default = 300
    valid_numbers = ValidNumbers.positive_only
    help = "Seconds after which the process is ended. Its verdict is then *broken*."


class GatesField(StringSequenceField, AsyncFieldMixin):
    alias = "gates"
    help = (
        "Addresses of the gates that come before this case, usually set once by `__defaults__`. A gate that "
        "does not pass blocks the case: no process is started. Gates are no dependencies: they are not in the "
        "case's sandbox, not in its cache key, and `--changed-since` does not follow them. A gate that reads "
        "`evals/` must not stand here."
    )


class BindingField(StringField, AsyncFieldMixin):
    alias = "binding"
    required = True
    help = (
        "The path, from the repository's top, of the `binding.yaml` that says how the agent is driven and which "
        "Python modules stand behind the words of a case."
    )


class RepeatField(IntField):
    alias = "repeat"
    valid_numbers = ValidNumbers.positive_only
    help = (
        "Run it so often in one sealed process. Every repeat has to end alike and to send the model the same bytes, "
        "or the verdict is *broken*. Unset, the option `[seatrial].repeat` decides. Recording runs once."
    )


class BesideBusyCoreField(BoolField):
    alias = "beside_busy_core"
    default = False
    help = (
        "Keep a core busy while it runs, so that its processes are scheduled otherwise than on an idle machine. "
        "With `repeat` it shows what hangs on who comes first."
    )


class ReadsField(StringSequenceField, AsyncFieldMixin):
    alias = "reads"
    help = (
        "Globs, from the repository's top, of files that this target reads as data (source code to check, a "
        "script to run). They are put into its sandbox, and whoever changes one finds this target by "
        "`--changed-since`, but what they import is not added to its requirements. `!` excludes."
    )
