"""Sessions of browsers that have signed in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "login_sessions",
        sa.Column("session_sha256", sa.String, primary_key=True),
        sa.Column("identity_id", sa.String, sa.ForeignKey("identities.id"), nullable=False),
        sa.Column("csrf", sa.String, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("login_sessions_by_age", "login_sessions", ["created_at"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("login_sessions")
