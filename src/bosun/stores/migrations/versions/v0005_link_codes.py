"""Codes by which people say who they are on Slack."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "link_codes",
        sa.Column("code_sha256", sa.String, primary_key=True),
        sa.Column("identity_id", sa.String, sa.ForeignKey("identities.id"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_for", sa.String, nullable=True),
    )
    op.create_index("link_codes_by_age", "link_codes", ["created_at"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("link_codes")
