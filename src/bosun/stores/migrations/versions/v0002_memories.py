"""Memories: what is kept for later conversations, found by full-text search."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table. The words follow from the text; a memory without a subject is the whole team's."""
    op.create_table(
        "memories",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("account_id", sa.String, nullable=False),
        sa.Column("subject", sa.String, nullable=True),
        sa.Column("author_id", sa.String, nullable=False),
        sa.Column("text", sa.String, nullable=False),
        sa.Column("conversation_id", sa.String, nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("words", TSVECTOR, sa.Computed("to_tsvector('english', text)", persisted=True)),
    )
    op.create_index("memories_by_account", "memories", ["account_id", "subject"])
    op.create_index("memories_by_words", "memories", ["words"], postgresql_using="gin")


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("memories")
