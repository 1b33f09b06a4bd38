"""The mailbox: what was said and is not yet taken in, durable from the moment a route answers; and the work it causes.

`mailbox` holds the messages and the lease, `queue` says that there is work, `worker` does it. `steering` is what a
running turn and its mailbox agree on, `running` the mailbox's side of it.
"""
