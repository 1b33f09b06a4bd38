"""People on Slack: who they are, and who wrote in a conversation that somebody else began."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables. Both are asked by the person too: what a person may see is found from there."""
    op.create_table(
        "slack_users",
        sa.Column("team_id", sa.String, primary_key=True),
        sa.Column("user_id", sa.String, primary_key=True),
        sa.Column("identity_id", sa.String, sa.ForeignKey("identities.id"), nullable=False),
    )
    op.create_table(
        "participants",
        sa.Column("conversation_id", sa.String, sa.ForeignKey("conversations.id"), primary_key=True),
        sa.Column("identity_id", sa.String, primary_key=True),
    )
    op.create_index("participants_by_identity", "participants", ["identity_id"])


def downgrade() -> None:
    """Drop the tables."""
    op.drop_table("participants")
    op.drop_table("slack_users")
