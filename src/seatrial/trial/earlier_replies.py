"""Which reply of a conversation a test means, when it names one that it had loaded as history."""

from __future__ import annotations

from collections.abc import Sequence

from seatrial.conversation import Reply
from seatrial.history import HistoryItem, HistoryReply


class EarlierReplies:
    """The loaded replies of one trial, with the ids that the agent knows them by."""

    def __init__(self) -> None:
        self._loaded: dict[str, list[tuple[HistoryReply, str]]] = {}

    def add(self, conversation_id: str, history: Sequence[HistoryItem], replies: Sequence[Reply]) -> None:
        """Keep what was loaded just now: the conversation's last replies are those of the history, in its order."""
        loaded = [item for item in history if isinstance(item, HistoryReply)]
        ids = [reply.id for reply in replies[len(replies) - len(loaded) :]]
        self._loaded.setdefault(conversation_id, []).extend(zip(loaded, ids, strict=True))

    def id_of(self, conversation_id: str, reply: HistoryReply) -> str:
        """Return the id of a loaded reply. Raises LookupError, in words, when it is not one or could be several."""
        there = self._loaded.get(conversation_id, [])
        found = [id for item, id in there if item is reply] or [id for item, id in there if item == reply]
        if len(found) != 1:
            told = "was not loaded into this conversation" if not found else f"was loaded {len(found)} times"
            raise LookupError(f"the reply {reply.text!r} {told}")
        return found[0]
