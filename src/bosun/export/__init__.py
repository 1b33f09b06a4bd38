"""Exporting one conversation as a document in which nothing says whose it was.

What is replaced, each by a stable placeholder that the same value gets everywhere, nested JSON included: the ids of
conversations, messages, turns and calls; people's ids and display names, and each name in them; the names of the
account and its projects; addresses, links, hosts, numbers of nine digits and more, ids of other services, paths of
a home folder, and what looks like a credential. What is taken out altogether: rows that a fork would not copy, and
attachments. Times are moved so that the conversation begins at a fixed instant; their distances stay.

A replaced name is not anonymity. Bosun knows the names of people that it has met; whom people only talk about, and what
was said, stays in the words. Somebody has to read a document before it leaves the house.

A document in which something still looks like a credential is refused, with the place.
"""
