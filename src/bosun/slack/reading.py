"""A person's Slack message as a model reads it: names for ids, addresses for links, a line for each file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bosun.slack.escaping import unescape
from bosun.text import storable

# What people type as < and > comes as entities, so that these are Slack's own.
_TOKEN: Final = re.compile(r"<([^<>]*)>")
_MENTION: Final = re.compile(r"<@([A-Z0-9]{1,40})(?:\|[^<>]*)?>")
_SCHEME: Final = re.compile(r"^(?:[a-z][a-z0-9+.-]*://|mailto:|tel:)", re.IGNORECASE)
_LONGEST_NAME: Final = 200
_OWN_NAME: Final = "Bosun"


@dataclass(frozen=True)
class SlackFile:
    """A file that a message shows. Its size is in bytes; what Slack did not say is empty or None."""

    id: str
    name: str
    mimetype: str = ""
    size: int | None = None

    @classmethod
    def among(cls, entries: Sequence[object]) -> tuple[SlackFile, ...]:
        """Return the files among what Slack lists: those that are still there, and have an id."""
        return tuple(file for entry in entries if isinstance(entry, dict) and (file := _file(entry)) is not None)

    @property
    def line(self) -> str:
        """What a model reads of it."""
        known = [self.name, self.mimetype, "" if self.size is None else _sized(self.size)]
        return f"[file: {', '.join(each for each in known if each)}]"


def mentions(text: str) -> tuple[str, ...]:
    """Return the user ids that a text mentions, in order, each once: those whose names `readable` needs."""
    return tuple(dict.fromkeys(_MENTION.findall(text)))


def readable(
    text: str,
    names: Mapping[str, str],
    *,
    files: Sequence[SlackFile] = (),
    bot_user_id: str | None = None,
) -> str:
    """Return a message's text as a model reads it; `names` are the names of users by id.

    The mention of Bosun that begins a message is left out, unless it is all that there is.
    """
    known = {bot_user_id: _OWN_NAME, **names} if bot_user_id else dict(names)
    body = _without_address(text, bot_user_id)
    said = "".join(
        _token(part, known) if index % 2 else unescape(part) for index, part in enumerate(_TOKEN.split(body))
    )
    return "\n".join(part for part in (said.strip(), *(file.line for file in files)) if part)


def _without_address(text: str, bot_user_id: str | None) -> str:
    found = _MENTION.match(text.lstrip())
    if found is None or bot_user_id is None or found[1] != bot_user_id:
        return text
    rest = re.sub(r"^\s*[,:]?\s*", "", text.lstrip()[found.end() :])
    return rest or text


def _token(inside: str, names: Mapping[str, str]) -> str:
    target, _, said = inside.partition("|")
    label = unescape(said).strip()
    if target.startswith("@"):
        return f"@{_one_line(names.get(target[1:], '')) or label.removeprefix('@') or target[1:]}"
    if target.startswith("#"):
        return f"#{label.removeprefix('#') or target[1:]}"
    if target.startswith("!"):
        return _command(target[1:], label)
    address = unescape(target)
    if not label or _bare(address) == _bare(label):
        return label or address
    return f"{label} ({address.removeprefix('mailto:')})"


def _command(command: str, label: str) -> str:
    name, _, argument = command.partition("^")
    if name == "date":
        return label or unescape(argument)
    return f"@{label.removeprefix('@') or unescape(argument) or name}"


def _bare(address: str) -> str:
    return _SCHEME.sub("", address).rstrip("/")


def _one_line(name: str) -> str:
    return " ".join(storable(name).split())[:_LONGEST_NAME]


def _file(entry: Mapping[str, Any]) -> SlackFile | None:
    if entry.get("mode") in ("tombstone", "hidden_by_limit"):
        return None
    texts = {key: _one_line(value) for key, value in entry.items() if isinstance(value, str)}
    identity, size = texts.get("id", ""), entry.get("size")
    if not identity:
        return None
    return SlackFile(
        id=identity,
        name=texts.get("name") or texts.get("title") or identity,
        mimetype=texts.get("mimetype", ""),
        size=size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
    )


def _sized(size: int) -> str:
    for unit, bytes_each in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_each:
            return f"{size / bytes_each:.1f}".removesuffix(".0") + f" {unit}"
    return f"{size} B"
