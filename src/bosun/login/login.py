"""One login from its beginning to a session."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from typing import Final

from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.clock import Clock
from bosun.identity import Actor, ensure_identity
from bosun.ids import IdSource
from bosun.login.attempts import Attempt, Attempts, digest
from bosun.login.oidc import Issuer, LoginFailed
from bosun.login.options import LoginOptions
from bosun.login.paths import own_path
from bosun.login.sessions import Sessions

LONGEST_NAME: Final = 80


@dataclass(frozen=True)
class Begun:
    """Where the browser goes, and the secret that it has to bring back."""

    url: str
    browser: str


@dataclass(frozen=True)
class SignedInAs:
    """The session that was made, and where the browser wanted to go."""

    session: str
    next: str


class Login:
    """Signs people in."""

    def __init__(
        self,
        options: LoginOptions,
        *,
        engine: AsyncEngine,
        attempts: Attempts,
        sessions: Sessions,
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._options = options
        self._issuer = Issuer(options, clock=clock)
        self._engine = engine
        self._attempts = attempts
        self._sessions = sessions
        self._clock = clock
        self._ids = ids

    async def begin(self, wanted: str | None) -> Begun:
        """Begin a login for a browser that wants to see a page. Raises `LoginFailed`."""
        state, nonce, verifier, browser = (
            self._ids.nonce("login", kind) for kind in ("state", "nonce", "verifier", "browser")
        )
        verifier = _long_enough(verifier)
        url = await self._issuer.authorization_url(state=state, nonce=nonce, verifier=verifier)
        await self._attempts.begin(state, Attempt(nonce, verifier, own_path(wanted), digest(browser)))
        return Begun(url, browser)

    async def finish(self, *, state: str, code: str, browser: str, earlier: str | None) -> SignedInAs:
        """Finish it with what the issuer sent the browser back with. The browser's earlier session ends.

        Raises `LoginFailed`, and changes nothing but that the attempt is used up.
        """
        attempt = await self._attempts.take(state, browser)
        if attempt is None:
            raise LoginFailed(
                "no login of this browser's has this state",
                "This login is too old, was used already, or began in another browser. Please sign in again.",
            )
        person = await self._issuer.person(code=code, nonce=attempt.nonce, verifier=attempt.verifier)
        actor = Actor(identity_of(self._options.issuer, person.subject), _name(person.name), self._options.account_id)
        async with self._engine.begin() as connection:
            await ensure_identity(connection, actor, self._clock.now())
        session = await self._sessions.begin(actor.id)
        if earlier:
            await self._sessions.end(earlier)
        return SignedInAs(session, attempt.next)


def identity_of(issuer: str, subject: str) -> str:
    """Return the identity of an issuer's subject: the two together are one person, for ever (Core 1.0, section 2)."""
    told = hashlib.sha256(f"{issuer}\0{subject}".encode("utf-8", "surrogatepass")).digest()
    return f"oidc:{base64.b32encode(told).decode().lower()[:26]}"


def _name(text: str) -> str:
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words[:LONGEST_NAME].strip() or "Somebody"


def _long_enough(verifier: str) -> str:
    """RFC 7636 asks for 43 characters at least; the source's randomness is all in the first of them."""
    return verifier if len(verifier) >= 43 else (verifier + "-" * 43)[:43]
