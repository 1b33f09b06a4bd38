"""Who may sign in, and where Bosun finds out who somebody is."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, kw_only=True)
class LoginOptions:
    """One issuer of OpenID Connect. Raises `ValueError` for what cannot be used."""

    issuer: str
    """The issuer's identifier, from which its discovery document is found (OpenID Connect Discovery 1.0)."""
    client_id: str
    client_secret: str = field(repr=False)
    public_url: str
    """Where browsers find Bosun; the issuer sends them back to `/login/callback` there."""
    account_id: str
    """The account of whoever signs in."""
    email_domains: tuple[str, ...] = ()
    """Who may sign in, by the domain of a verified e-mail address. Empty: everybody whom the issuer lets in."""

    def __post_init__(self) -> None:
        for name in ("issuer", "public_url"):
            parts = urlsplit(getattr(self, name))
            safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
            if not safe or not parts.hostname or parts.query or parts.fragment:
                raise ValueError(f"{name} is {getattr(self, name)!r}: give an https URL, or an http one on loopback")
        for name in ("client_id", "client_secret", "account_id"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} is empty")

    @property
    def callback(self) -> str:
        """The address that the issuer sends browsers back to."""
        return f"{self.public_url.rstrip('/')}/login/callback"

    @property
    def secure(self) -> bool:
        """Whether cookies are for https alone."""
        return urlsplit(self.public_url).scheme == "https"

    @property
    def origin(self) -> str:
        """What a browser calls Bosun's pages when it sends a form."""
        parts = urlsplit(self.public_url)
        return f"{parts.scheme}://{parts.netloc}"
