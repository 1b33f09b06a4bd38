"""Run a command that cannot reach the network, and prove it first.

usage: python3 seal.py --policy required|inherited|off --proof FILE --record-dir DIR --address ADDRESS
                       [--key KEY] [--keep-socket PATH]... [--private DIR]... -- COMMAND [ARGUMENT]...

required   namespaces of its own: users (the caller is `nobody`), network (loopback), mounts, processes, IPC
inherited  nothing is cut off here; the same probes must show that it already is
off        nothing is cut off, and that is said aloud

--key goes into the proof as it is: by it, whoever reads a record knows what it is the record of.
--private makes DIR an empty folder that only the command sees: the host and other seals reach no socket in it.
The proof is written to FILE before the command starts, which finds its path in SEATRIAL_SEAL_PROOF. The
exit status is the command's own, or 128 + the signal that ended it. What cannot be sealed is not run:
DIR/record.json says why, and the exit status is 16. 2 is a wrong call. Standard library alone, CPython 3.9 or
newer; `python3 -I -S` will do.
"""

from __future__ import annotations

import sys

sys.dont_write_bytecode = True  # no litter in a sandbox
if sys.flags.isolated:
    sys.path.insert(0, __file__.rpartition("/")[0] or ".")

import os  # noqa: E402

import proof  # noqa: E402

TYPE_CHECKING = False  # importing `typing` would take as long as the seal itself
if TYPE_CHECKING:
    from typing import NoReturn

WRONG_CALL = 2
POLICIES = ("required", "inherited", "off")


class Call:
    """What the command line asks for."""

    def __init__(self, arguments: list[str]) -> None:
        values: dict[str, str] = {}
        self.kept_sockets: list[str] = []
        self.private: list[str] = []
        while arguments and arguments[0] != "--":
            name = arguments.pop(0)
            if name in ("-h", "--help"):
                sys.stdout.write(__doc__ or "")
                sys.exit(0)
            if not arguments or name not in (
                "--policy",
                "--proof",
                "--record-dir",
                "--address",
                "--key",
                "--keep-socket",
                "--private",
            ):
                refuse(f"'{name}' is not an option with a value")
            if name == "--keep-socket":
                self.kept_sockets.append(os.path.abspath(arguments.pop(0)))
            elif name == "--private":
                self.private.append(os.path.abspath(arguments.pop(0)))
            else:
                values[name] = arguments.pop(0)
        self.argv = arguments[1:]
        missing = [name for name in ("--policy", "--proof", "--record-dir", "--address") if name not in values]
        if missing or not self.argv:
            refuse(f"missing: {', '.join(missing) or 'the command after --'}")
        self.policy, self.address, self.key = values["--policy"], values["--address"], values.get("--key")
        self.proof, self.record_dir = (
            os.path.abspath(values["--proof"]),
            os.path.abspath(values["--record-dir"]),
        )
        if self.policy not in POLICIES:
            refuse(f"the policy '{self.policy}' is none of: {', '.join(POLICIES)}")
        for path in self.kept_sockets:
            if not os.path.exists(path):
                refuse(f"the socket to keep, '{path}', does not exist; name its directory if it is still to come")
        self.environment = {**os.environ, "SEATRIAL_SEAL_PROOF": self.proof}


def refuse(problem: str) -> NoReturn:
    proof.say(f"seal: {problem}\nRun: python3 seal.py --help\n")
    sys.exit(WRONG_CALL)


def run(call: Call) -> int:
    """Run the command under the call's policy and return its exit status; two of the policies become it."""
    tried: list[str] = []
    try:
        tried.append("remove what an earlier run left")  # it proves nothing about this one
        for path in (call.proof, os.path.join(call.record_dir, "record.json")):
            if os.path.exists(path):
                os.unlink(path)
        if call.policy == "off":
            tried.append("write the proof")
            proof.say(f"seal: OFF. {call.address} runs with the network in reach.\n")
            proof.write(
                call.proof,
                proof.encode(
                    {
                        "policy": "off",
                        "key": call.key,
                        "sealed": False,
                        "reachable_unix_sockets_note": proof.OPEN_SOCKETS,
                    }
                ),
            )
            from inside import execute
        else:
            if not sys.platform.startswith("linux"):
                tried.append("look for Linux namespaces")
                raise OSError(f"this system is '{sys.platform}', and only Linux has what the seal is made of")
            import outside

            outside.tidy_descriptors()
            if call.policy == "required":
                return outside.run_sealed(call, tried)
            outside.prove_inherited(call, tried)
            from inside import execute
    except Exception as error:
        import unsealed

        return unsealed.report(call.policy, call.address, call.record_dir, tried, error)
    return execute(call.argv, call.environment)


if __name__ == "__main__":
    # Nothing is buffered and nothing is left to tidy up: without Python's own end, some milliseconds less.
    os._exit(run(Call(sys.argv[1:])))
