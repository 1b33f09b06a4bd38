"""Alembic runs this file for each command. The connection comes from `migrate`, which also commits."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], target_metadata=None)
with context.begin_transaction():
    context.run_migrations()
