"""The event log: what happened in a conversation, in order, never changed. Its one writer and its readers.

How a turn is written, by the worker and by a host that loads history alike (a host leaves out
`record_context`): `open_conversation`, `accept_message` for each message, `start_turn`, `record_context` for
each model request, and one of `commit_reply`, `commit_no_reply`, `commit_failure`. An answer that asks for calls of
tools is `record_calls`, and then for each call `record_review`, `start_tool` and `finish_tool`.

What happens to a running turn: `join_turn` for messages that steer it, `record_unsent` for the answer that they
overtook, `pause_turn` when a slice is over, `commit_stop` when a person stops it. `discard` is for messages that
nobody answers. `forks` copies a conversation up to a reply.
"""
