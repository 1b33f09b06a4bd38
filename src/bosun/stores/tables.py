"""The tables, as SQLAlchemy Core describes them. The migrations make them; nothing here does.

No column has a default that the server makes up: each time is the app's clock's, each id derives. What the server
computes follows from the row alone.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, Computed, DateTime, Integer, MetaData, String, Table
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TSVECTOR

metadata: Final = MetaData()

accounts: Final = Table(
    "accounts",
    metadata,
    Column("id", String, primary_key=True),
    Column("display_name", String, nullable=False),
    Column("plan", String, nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
)

projects: Final = Table(
    "projects",
    metadata,
    Column("account_id", String, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", String, nullable=False),
)

identities: Final = Table(
    "identities",
    metadata,
    Column("id", String, primary_key=True),
    Column("display_name", String, nullable=False),
    Column("account_id", String, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

api_tokens: Final = Table(
    "api_tokens",
    metadata,
    Column("token_sha256", String, primary_key=True),
    Column("identity_id", String, nullable=False),
    Column("scopes", ARRAY(String), nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

conversations: Final = Table(
    "conversations",
    metadata,
    Column("id", String, primary_key=True),
    Column("account_id", String, nullable=False),
    Column("actor_id", String, nullable=False),
    Column("location", String, nullable=False),
    Column("title", String, nullable=True),
    Column("last_seq", BigInteger, nullable=False),
    Column("history_version", Integer, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

participants: Final = Table(
    "participants",
    metadata,
    Column("conversation_id", String, primary_key=True),
    Column("identity_id", String, primary_key=True),
)
"""Who wrote in a conversation of somebody else's that is visible to several people, as a thread on Slack is."""

slack_users: Final = Table(
    "slack_users",
    metadata,
    Column("team_id", String, primary_key=True),
    Column("user_id", String, primary_key=True),
    Column("identity_id", String, nullable=False),
)
"""Who a person on Slack is."""

login_sessions: Final = Table(
    "login_sessions",
    metadata,
    Column("session_sha256", String, primary_key=True),
    Column("identity_id", String, nullable=False),
    Column("csrf", String, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("seen_at", DateTime(timezone=True), nullable=False),
)
"""Browsers that have signed in."""

link_codes: Final = Table(
    "link_codes",
    metadata,
    Column("code_sha256", String, primary_key=True),
    Column("identity_id", String, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("used_for", String, nullable=True),
)
"""Codes by which people say who they are on Slack. `used_for` is the message that used one up."""

conversation_events: Final = Table(
    "conversation_events",
    metadata,
    Column("conversation_id", String, primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("history_version", Integer, nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("idempotency_key", String, nullable=False),
    Column("type", String, nullable=False),
    Column("payload", JSONB, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

memories: Final = Table(
    "memories",
    metadata,
    Column("id", String, primary_key=True),
    Column("account_id", String, nullable=False),
    Column("subject", String, nullable=True),
    Column("author_id", String, nullable=False),
    Column("text", String, nullable=False),
    Column("conversation_id", String, nullable=True),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("words", TSVECTOR, Computed("to_tsvector('english', text)", persisted=True), nullable=True),
)
"""What is kept for later conversations. `subject` is the actor that a memory is for; null is the whole team."""
