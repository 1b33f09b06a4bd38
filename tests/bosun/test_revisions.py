"""Changed and deleted messages: what counts does not depend on the order in which the log has it."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from bosun.log.events import MessageUpdated, UserMessage, VisibleMessage
from bosun.log.history import history_of
from bosun.log.revisions import DELETED, revised, revisions_of

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
CHANGES = st.lists(
    st.builds(
        MessageUpdated,
        message_id=st.sampled_from(["1", "2"]),
        revision=st.integers(0, 50),
        text=TEXTS,
        deleted=st.booleans(),
    ),
    max_size=6,
    unique_by=lambda change: (change.message_id, change.revision),
)


def heard(message_id: str) -> UserMessage:
    """Return a message as the model reads it."""
    return UserMessage(message_id=message_id, turn_id=None, author_id="eve", author="Eve", text="as it was")


@given(changes=CHANGES, order=st.randoms(use_true_random=False))
def test_the_newest_change_counts_in_whatever_order_they_come(
    changes: list[MessageUpdated], order: random.Random
) -> None:
    """A deletion counts for ever."""
    mine = [change for change in changes if change.message_id == "1"]
    shuffled = [*changes, heard("1")]
    order.shuffle(shuffled)
    (read,) = history_of(shuffled)
    if any(change.deleted for change in mine):
        assert read.text == DELETED
    elif mine:
        newest = max(mine, key=lambda change: change.revision)
        assert read.text in (newest.text, newest.text.lstrip().removeprefix("!!").strip())
    else:
        assert read.text == "as it was"


@given(changes=CHANGES)
def test_what_was_deleted_stands_in_no_row(changes: list[MessageUpdated]) -> None:
    """Nor in the rows of its changes; Bosun's own words stay what they are."""
    revisions = revisions_of(changes)
    for change in changes:
        if revisions[change.message_id].deleted:
            assert revised(change, revisions).text == DELETED
        else:
            assert revised(change, revisions) == change


def test_the_mark_of_an_interrupt_is_for_people_to_see_and_not_for_the_model() -> None:
    """As in a message that was not changed."""
    change = MessageUpdated(message_id="1", revision=1, text="!! hurry", deleted=False)
    seen = VisibleMessage(
        message_id="1",
        role="user",
        kind="message",
        author_id="eve",
        author="Eve",
        source="slack",
        text="",
        turn_id=None,
    )
    assert revised(seen, {"1": change}).text == "!! hurry"
    assert revised(heard("1"), {"1": change}).text == "hurry"
