"""The two stores as Bosun sees them: PostgreSQL's tables and Redis' connection.

Reached by URL, both may be Unix sockets.
"""
