"""Configuration by environment: variables that begin with BOSUN_.

Only the command line reads them; an app knows its options alone.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from bosun.clock import CalendarPolicy
from bosun.limits import Limits
from bosun.login.options import LoginOptions
from bosun.mailbox.steering import CrossActor
from bosun.model.options import ModelOptions
from bosun.model.profiles import DEFAULT_PROFILES, Profile, check_profiles
from bosun.options import BosunOptions
from bosun.prices import Price
from bosun.slack.options import SLACK_URL, SlackOptions

MODEL_URL_MISSING = (
    "BOSUN_MODEL_URL is not set: Bosun needs the base URL of an OpenAI-compatible model server. "
    "Set it, for example: BOSUN_MODEL_URL=http://127.0.0.1:8000/v1 python -m bosun serve"
)
SLACK_HALF = (
    "Slack is configured by half: {missing} is not set. BOSUN_SLACK_BOT_TOKEN, BOSUN_SLACK_SIGNING_SECRET and "
    "BOSUN_SLACK_ACCOUNT belong together: set all of them, or unset {given}"
)


class SettingsInvalid(Exception):
    """A variable is missing or has a value that cannot be used. The message names each."""


class Settings(BaseSettings):
    """What the environment says. `BOSUN_MODELS` is JSON, `BOSUN_PLUGINS` names with commas between them."""

    model_config = SettingsConfigDict(env_prefix="BOSUN_", frozen=True, extra="ignore", protected_namespaces=())

    postgres_url: str | None = None
    """Without it, an embedded PostgreSQL keeps its data in the data directory."""
    redis_url: str | None = None
    """Without it, an embedded Valkey keeps its data in the data directory."""
    data_dir: Path = Field(default_factory=lambda: default_data_dir())
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65535)
    model_url: str | None = None
    model_key: str = "none"
    model: str = "bosun"
    models: dict[str, str] = {}
    temperature: float = Field(default=ModelOptions.temperature, ge=0, le=2)
    max_tokens: int = Field(default=ModelOptions.max_tokens, ge=1)
    model_silence_seconds: float = Field(default=ModelOptions.silence_seconds, gt=0)
    zone: str = "UTC"
    week_starts: str = "monday"
    stale_after_days: float = Field(default=7, gt=0)
    profiles: tuple[Profile, ...] = DEFAULT_PROFILES
    """JSON, for example `[{"name": "standard", "description": "everything", "takes_reasoning": true}]`."""
    prices: tuple[Price, ...] = ()
    """JSON, for example `[{"model": "large", "currency": "USD", "input": 2, "output": 8, "as_of": "2026-12-01"}]`."""
    plugins: Annotated[tuple[str, ...], NoDecode] = ()
    """For example `BOSUN_PLUGINS=memory`. Without it, no plugin is composed."""
    turn_timeout_seconds: float = Field(default=Limits.turn_timeout_seconds, gt=0)
    slice_budget_seconds: float = Field(default=Limits.slice_budget_seconds, gt=0)
    slices_per_turn: int = Field(default=Limits.slices_per_turn, ge=1)
    automated_turns: int = Field(default=Limits.automated_turns, ge=1)
    cross_actor: CrossActor = "follow_up"
    context_window_tokens: int = Field(default=Limits.context_window_tokens, ge=1)
    tool_calls_per_turn: int = Field(default=Limits.tool_calls_per_turn, ge=1)
    workers: int = Field(default=Limits.workers, ge=1)
    attempts: int = Field(default=Limits.attempts, ge=1)
    drain_seconds: float = Field(default=Limits.drain_seconds, ge=0)
    slack_bot_token: str | None = Field(default=None, repr=False)
    """With it, Bosun answers on Slack too; it needs the secret and the account beside it."""
    slack_signing_secret: str | None = Field(default=None, repr=False)
    slack_account: str | None = None
    """The account of whoever writes on Slack and is not known otherwise."""
    slack_bot_user: str | None = None
    slack_url: str = SLACK_URL

    login_issuer: str | None = None
    """With it, people sign in to the dashboard by OpenID Connect; it needs the other variables of login and the URL."""
    login_client_id: str | None = None
    login_client_secret: str | None = Field(default=None, repr=False)
    login_account: str | None = None
    login_email_domains: Annotated[tuple[str, ...], NoDecode] = ()
    public_url: str | None = None
    """Where browsers find Bosun."""

    @field_validator("plugins", "login_email_domains", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(name.strip() for name in value.split(",") if name.strip())

    def options(self, postgres_url: str, redis_url: str) -> BosunOptions:
        """Return the options of an app on these stores. Raises `SettingsInvalid`."""
        if not self.model_url:
            raise SettingsInvalid(MODEL_URL_MISSING)
        try:
            profiles = check_profiles(self.profiles)
        except ValueError as error:
            raise SettingsInvalid(f"BOSUN_PROFILES: {error}") from error
        try:
            calendar = CalendarPolicy(zone=self.zone, week_starts=self.week_starts)
        except ValueError as error:
            raise SettingsInvalid(f"BOSUN_ZONE or BOSUN_WEEK_STARTS: {error}") from error
        return BosunOptions(
            postgres_url=postgres_url,
            redis_url=redis_url,
            model=ModelOptions(
                base_url=self.model_url,
                api_key=self.model_key,
                models=self.models,
                default=self.model,
                temperature=self.temperature,
                max_tokens=self.max_tokens,
                silence_seconds=self.model_silence_seconds,
            ),
            limits=Limits(
                turn_timeout_seconds=self.turn_timeout_seconds,
                slice_budget_seconds=self.slice_budget_seconds,
                slices_per_turn=self.slices_per_turn,
                automated_turns=self.automated_turns,
                context_window_tokens=self.context_window_tokens,
                tool_calls_per_turn=self.tool_calls_per_turn,
                workers=self.workers,
                attempts=self.attempts,
                drain_seconds=self.drain_seconds,
            ),
            profiles=profiles,
            prices=self.prices,
            plugins=self.plugins,
            cross_actor=self.cross_actor,
            slack=self._slack(),
            login=self._login(),
            calendar=calendar,
            stale_after=timedelta(days=self.stale_after_days),
        )

    def _login(self) -> LoginOptions | None:
        parts = {
            "BOSUN_LOGIN_ISSUER": self.login_issuer,
            "BOSUN_LOGIN_CLIENT_ID": self.login_client_id,
            "BOSUN_LOGIN_CLIENT_SECRET": self.login_client_secret,
            "BOSUN_LOGIN_ACCOUNT": self.login_account,
            "BOSUN_PUBLIC_URL": self.public_url,
        }
        given = [name for name, value in parts.items() if value]
        missing = [name for name, value in parts.items() if not value]
        if not given or given == ["BOSUN_PUBLIC_URL"]:
            return None
        if missing:
            raise SettingsInvalid(
                f"The login is configured by half: {' and '.join(missing)} is not set, and {' and '.join(given)} is. "
                "Set all of them, or none"
            )
        try:
            return LoginOptions(
                issuer=self.login_issuer or "",
                client_id=self.login_client_id or "",
                client_secret=self.login_client_secret or "",
                public_url=self.public_url or "",
                account_id=self.login_account or "",
                email_domains=tuple(domain.lower() for domain in self.login_email_domains),
            )
        except ValueError as error:
            raise SettingsInvalid(f"BOSUN_LOGIN_* or BOSUN_PUBLIC_URL: {error}") from error

    def _slack(self) -> SlackOptions | None:
        token, secret, account = self.slack_bot_token, self.slack_signing_secret, self.slack_account
        if token and secret and account:
            try:
                return SlackOptions(
                    bot_token=token,
                    signing_secret=secret,
                    account_id=account,
                    bot_user_id=self.slack_bot_user or None,
                    base_url=self.slack_url,
                )
            except ValueError as error:
                raise SettingsInvalid(f"BOSUN_SLACK_*: {error}") from error
        parts = {
            "BOSUN_SLACK_BOT_TOKEN": token,
            "BOSUN_SLACK_SIGNING_SECRET": secret,
            "BOSUN_SLACK_ACCOUNT": account,
        }
        given = [name for name, value in parts.items() if value]
        if given:
            missing = [name for name, value in parts.items() if not value]
            raise SettingsInvalid(SLACK_HALF.format(missing=" and ".join(missing), given=" and ".join(given)))
        return None


def read_settings() -> Settings:
    """Read the environment. Raises `SettingsInvalid`."""
    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(f"BOSUN_{str(each['loc'][0]).upper()}: {each['msg']}" for each in error.errors())
        raise SettingsInvalid(wrong) from error


def default_data_dir() -> Path:
    """Return where data is kept when BOSUN_DATA_DIR does not say.

    Root's home is closed to the user that PostgreSQL then runs as, hence another place for root.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/bosun")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "bosun"
