"""The first tables: who may speak, what they may see, and the append-only log of conversations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables. Times and ids are always the app's: no column has a server default."""
    op.create_table(
        "accounts",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("display_name", sa.String, nullable=False),
        sa.Column("plan", sa.String, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "projects",
        sa.Column("account_id", sa.String, sa.ForeignKey("accounts.id"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True),
        sa.Column("name", sa.String, nullable=False),
    )
    op.create_table(
        "identities",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("display_name", sa.String, nullable=False),
        sa.Column("account_id", sa.String, sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "api_tokens",
        sa.Column("token_sha256", sa.String, primary_key=True),
        sa.Column("identity_id", sa.String, sa.ForeignKey("identities.id"), nullable=False),
        sa.Column("scopes", ARRAY(sa.String), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "conversations",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("account_id", sa.String, nullable=False),
        sa.Column("actor_id", sa.String, nullable=False),
        sa.Column("location", sa.String, nullable=False),
        sa.Column("title", sa.String, nullable=True),
        sa.Column("last_seq", sa.BigInteger, nullable=False),
        sa.Column("history_version", sa.Integer, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("conversations_by_actor", "conversations", ["actor_id", "created_at", "id"])
    op.create_table(
        "conversation_events",
        sa.Column("conversation_id", sa.String, sa.ForeignKey("conversations.id"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True),
        sa.Column("history_version", sa.Integer, nullable=False),
        sa.Column("schema_version", sa.Integer, nullable=False),
        sa.Column("idempotency_key", sa.String, nullable=False),
        sa.Column("type", sa.String, nullable=False),
        sa.Column("payload", JSONB, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("conversation_id", "idempotency_key", name="conversation_events_once"),
    )


def downgrade() -> None:
    """Drop the tables, the ones that refer first."""
    for table in ("conversation_events", "conversations", "api_tokens", "identities", "projects", "accounts"):
        op.drop_table(table)
