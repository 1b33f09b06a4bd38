"""The command line: serve, migrate, make tokens, describe accounts, link people on Slack, export conversations.

Configuration is by environment, see `settings.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from bosun.settings import Settings, SettingsInvalid, read_settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Return the process' exit status: 0, or 2 after one sentence on standard error."""
    parsed = _parser().parse_args(arguments)
    logging.basicConfig(level=parsed.log_level, format="%(levelname)s %(name)s: %(message)s")
    try:
        settings = read_settings()
        if parsed.command == "serve":
            from bosun.serve import serve

            serve(settings)
        elif parsed.command == "migrate":
            _migrate(settings)
        elif parsed.command == "token":
            act = _create_token if parsed.token_command == "create" else _revoke_tokens
            print(asyncio.run(act(settings, parsed)))
        elif parsed.command == "slack":
            asyncio.run(_link(settings, parsed))
        elif parsed.command == "conversation":
            asyncio.run(_export(settings, parsed))
        else:
            asyncio.run(_set_account(settings, parsed))
    except Exception as error:
        if not isinstance(error, _sentences()):
            raise
        print(f"bosun: {error}", file=sys.stderr)
        return 2
    return 0


def _sentences() -> tuple[type[Exception], ...]:
    """Return the errors whose message is all that the user needs; what raises any other is a fault, with its trace."""
    from bosun.embedded import DataDirectoryBusy
    from bosun.export.exporting import ConversationMissing, ExportRefused
    from bosun.export.fields import FieldUnknown
    from bosun.identity import ScopeUnknown
    from bosun.log.events import CorruptEvent
    from bosun.plugins import PluginUnknown
    from bosun.slack.people import LinkRefused
    from bosun.stores.migrations import SchemaMismatch

    known: tuple[type[Exception], ...] = (
        SettingsInvalid,
        DataDirectoryBusy,
        ScopeUnknown,
        ConversationMissing,
        ExportRefused,
        FieldUnknown,
        CorruptEvent,
        PluginUnknown,
        LinkRefused,
        SchemaMismatch,
        OSError,
    )
    services = sys.modules.get("embedded_services.errors")
    return known if services is None else (*known, services.ServiceError)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bosun", description="Bosun, a team agent.")
    parser.add_argument("--log-level", default="INFO", choices=("DEBUG", "INFO", "WARNING", "ERROR"))
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("serve", help="answer people, until a signal ends it")
    commands.add_parser("migrate", help="bring the database's schema to what this Bosun needs")
    token = commands.add_parser("token", help="API tokens").add_subparsers(dest="token_command", required=True)
    revoke = token.add_parser("revoke", help="end all tokens of a person, at once")
    revoke.add_argument("--actor", required=True, help="the person's id, as in token create --actor")
    create = token.add_parser("create", help="make a token and print it; it is shown this once")
    create.add_argument("--actor", required=True, help="the person's id")
    create.add_argument("--name", required=True, help="the person's name, as others see it")
    create.add_argument("--account", required=True, help="the id of the person's account")
    create.add_argument("--scope", required=True, action="append", help="may be given several times")
    account = commands.add_parser("account", help="accounts").add_subparsers(dest="account_command", required=True)
    describe = account.add_parser("set", help="describe an account: what Bosun knows about it in every turn")
    describe.add_argument("--account", required=True, help="the account's id")
    describe.add_argument("--name", required=True, help="its name, as people see it")
    describe.add_argument("--plan", required=True)
    describe.add_argument("--project", action="append", default=[], help="may be given several times")
    slack = commands.add_parser("slack", help="people on Slack").add_subparsers(dest="slack_command", required=True)
    link = slack.add_parser("link", help="say that a person on Slack is one whom Bosun knows from the web")
    link.add_argument("team", help="the workspace's id, for example T024BE7LD")
    link.add_argument("user", help="the person's id there, for example U061F7AUR")
    link.add_argument("identity", help="the person's id here, as in token create --actor")
    conversations = commands.add_parser("conversation", help="conversations")
    export = conversations.add_subparsers(dest="conversation_command", required=True).add_parser(
        "export",
        help="write one conversation as a document, with names, ids and secrets replaced",
        description="Write one conversation as a document that an evaluation can load. Names, ids, addresses, links, "
        "numbers and what looks like a credential are replaced. A replaced name is not anonymity: read the document "
        "before you pass it on.",
    )
    export.add_argument("id", help="the conversation's id")
    export.add_argument("--out", type=Path, help="the file to write; without it, the document goes to standard output")
    return parser


def _migrate(settings: Settings) -> None:
    from bosun.embedded import database
    from bosun.stores.migrations import SCHEMA_HEAD, migrate

    with database(settings) as url:
        migrate(url)
    print(f"the schema has revision {SCHEMA_HEAD}")


async def _create_token(settings: Settings, parsed: argparse.Namespace) -> str:
    from bosun.embedded import database
    from bosun.identity import Actor, create_token
    from bosun.machine import SystemClock, SystemIds
    from bosun.stores.postgres import create_engine, require_schema

    actor = Actor(parsed.actor, parsed.name, parsed.account)
    with database(settings) as url:
        engine = create_engine(url)
        try:
            await require_schema(engine)
            return await create_token(engine, actor=actor, scopes=parsed.scope, ids=SystemIds(), clock=SystemClock())
        finally:
            await engine.dispose()


async def _revoke_tokens(settings: Settings, parsed: argparse.Namespace) -> str:
    from bosun.embedded import database
    from bosun.identity import revoke_tokens
    from bosun.stores.postgres import create_engine, require_schema

    with database(settings) as url:
        engine = create_engine(url)
        try:
            await require_schema(engine)
            ended = await revoke_tokens(engine, parsed.actor)
        finally:
            await engine.dispose()
    return f"{ended} token{'s' if ended != 1 else ''} of {parsed.actor!r} revoked"


async def _set_account(settings: Settings, parsed: argparse.Namespace) -> None:
    from bosun.accounts import save_account
    from bosun.context.sources import AccountSnapshot
    from bosun.embedded import database
    from bosun.machine import SystemClock
    from bosun.stores.postgres import create_engine, require_schema

    snapshot = AccountSnapshot(
        display_name=parsed.name,
        plan=parsed.plan,
        projects=tuple(parsed.project),
        updated_at=SystemClock().now(),
    )
    with database(settings) as url:
        engine = create_engine(url)
        try:
            await require_schema(engine)
            await save_account(engine, parsed.account, snapshot)
        finally:
            await engine.dispose()


async def _link(settings: Settings, parsed: argparse.Namespace) -> None:
    from bosun.embedded import database
    from bosun.slack.people import link_slack_user
    from bosun.stores.postgres import create_engine, require_schema

    with database(settings) as url:
        engine = create_engine(url)
        try:
            await require_schema(engine)
            await link_slack_user(engine, parsed.team, parsed.user, parsed.identity)
        finally:
            await engine.dispose()
    print(f"{parsed.user} of {parsed.team} is {parsed.identity} from now on")


async def _export(settings: Settings, parsed: argparse.Namespace) -> None:
    from bosun.embedded import database
    from bosun.export.exporting import export_conversation
    from bosun.export.writing import told, write_document
    from bosun.stores.postgres import create_engine, require_schema

    with database(settings) as url:
        engine = create_engine(url)
        try:
            await require_schema(engine)
            document = await export_conversation(engine, parsed.id)
        finally:
            await engine.dispose()
    write_document(document, parsed.out)
    print(told(document), file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
