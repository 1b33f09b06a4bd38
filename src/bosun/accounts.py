"""Accounts and their projects, as stored: what the account context of every prompt is built from."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sqlalchemy import delete, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bosun.context.sources import AccountSnapshot, AccountUnknown
from bosun.stores.postgres import for_reading
from bosun.stores.tables import accounts, projects

FIRST_PLAN: Final = "trial"
"""The plan of an account that nobody has described yet."""


async def ensure_account(connection: AsyncConnection, account_id: str, now: datetime) -> None:
    """Make an account without projects, named by its id, unless it is there."""
    row = {"id": account_id, "display_name": account_id, "plan": FIRST_PLAN, "updated_at": now}
    await connection.execute(upsert(accounts).values(row).on_conflict_do_nothing())


async def save_account(engine: AsyncEngine, account_id: str, snapshot: AccountSnapshot) -> None:
    """Make or replace an account and its projects, in the snapshot's order."""
    account = upsert(accounts).values(
        id=account_id, display_name=snapshot.display_name, plan=snapshot.plan, updated_at=snapshot.updated_at
    )
    taken = account.excluded
    account = account.on_conflict_do_update(
        index_elements=[accounts.c.id],
        set_={"display_name": taken.display_name, "plan": taken.plan, "updated_at": taken.updated_at},
    )
    rows = [
        {"account_id": account_id, "position": position, "name": name}
        for position, name in enumerate(snapshot.projects)
    ]
    async with engine.begin() as connection:
        await connection.execute(account)
        await connection.execute(delete(projects).where(projects.c.account_id == account_id))
        if rows:
            await connection.execute(insert(projects), rows)


class DatabaseSnapshotSource:
    """The production source of account snapshots: the accounts and projects tables."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = for_reading(engine)

    async def load(self, account_id: str) -> AccountSnapshot:
        """Read one account. Raises `AccountUnknown`."""
        account = select(accounts.c.display_name, accounts.c.plan, accounts.c.updated_at).where(
            accounts.c.id == account_id
        )
        names = select(projects.c.name).where(projects.c.account_id == account_id).order_by(projects.c.position)
        async with self._engine.connect() as connection:
            row = (await connection.execute(account)).one_or_none()
            if row is None:
                raise AccountUnknown(account_id)
            found = tuple((await connection.execute(names)).scalars())
        return AccountSnapshot(display_name=row.display_name, plan=row.plan, projects=found, updated_at=row.updated_at)
