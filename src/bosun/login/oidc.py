"""OpenID Connect: the authorization code flow with PKCE, against one issuer.

Sources: OpenID Connect Core 1.0 (sections 3.1.2 and 3.1.3), Discovery 1.0, RFC 7636 (PKCE), RFC 9207 (`iss`).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from bosun.clock import Clock
from bosun.login.options import LoginOptions

SECONDS: Final = 10.0
"""How long the issuer may take for one answer. It bounds what a network holds up, so it is the machine's time."""
LEEWAY_SECONDS: Final = 60
ALGORITHMS: Final = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
"""Signatures with a key pair alone: never `none`, and never one that is made with what a client knows."""
SCOPE: Final = "openid profile email"
LARGEST_ANSWER: Final = 1_000_000


class LoginFailed(Exception):
    """Nobody is signed in. The message is for the log; `sentence` is for the person."""

    def __init__(self, detail: str, sentence: str = "You could not be signed in. Please try again.") -> None:
        super().__init__(detail)
        self.sentence = sentence


@dataclass(frozen=True)
class Person:
    """Whom the issuer says that somebody is."""

    subject: str
    name: str
    email: str | None


class Issuer:
    """Talks to the issuer. Its documents are fetched when they are first needed, its keys again for an unknown one."""

    def __init__(self, options: LoginOptions, *, clock: Clock) -> None:
        self._options = options
        self._clock = clock
        self._document: Mapping[str, Any] | None = None
        self._keys: KeySet | None = None

    async def authorization_url(self, *, state: str, nonce: str, verifier: str) -> str:
        """Return where the browser is sent to. Raises `LoginFailed`."""
        document = await self._discover()
        async with self._client() as client:
            url, _ = client.create_authorization_url(
                document["authorization_endpoint"],
                state=state,
                nonce=nonce,
                code_verifier=verifier,
            )
        return str(url)

    async def person(self, *, code: str, nonce: str, verifier: str) -> Person:
        """Return who has signed in, by the code that the browser brought. Raises `LoginFailed`."""
        document = await self._discover()
        try:
            async with self._client() as client:
                token = await client.fetch_token(
                    document["token_endpoint"], grant_type="authorization_code", code=code, code_verifier=verifier
                )
        except Exception as error:  # Authlib takes whichever HTTP client is there: its errors are not known by name
            raise LoginFailed(f"the issuer gave no token for the code: {type(error).__name__}: {error}") from error
        id_token = token.get("id_token") if isinstance(token, dict) else None
        if not isinstance(id_token, str):
            raise LoginFailed("the issuer's answer has no id_token")
        return self._read(await self._claims(id_token), nonce)

    def _read(self, claims: Mapping[str, Any], nonce: str) -> Person:
        """Check what the token says (Core 1.0, section 3.1.3.7)."""
        now = self._clock.now().timestamp()
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        expires, issued = claims.get("exp"), claims.get("iat")
        wrong = [
            name
            for name, right in (
                ("iss", claims.get("iss") == self._options.issuer),
                ("aud", self._options.client_id in audiences),
                ("azp", claims.get("azp", self._options.client_id) == self._options.client_id),
                ("exp", isinstance(expires, int | float) and expires + LEEWAY_SECONDS > now),
                ("iat", isinstance(issued, int | float) and issued - LEEWAY_SECONDS <= now),
                ("nonce", claims.get("nonce") == nonce),
                ("sub", isinstance(claims.get("sub"), str) and bool(claims["sub"])),
            )
            if not right
        ]
        if wrong:
            raise LoginFailed(f"the id_token is not for this login: {', '.join(wrong)}")
        email = claims.get("email") if claims.get("email_verified") is True else None
        domains = self._options.email_domains
        if domains and (not isinstance(email, str) or email.rpartition("@")[2].lower() not in domains):
            raise LoginFailed(
                "the e-mail address is of no domain that may sign in",
                "Your account may not use this Bosun. Whoever runs it can let you in.",
            )
        names = (claims.get(name) for name in ("name", "preferred_username", "nickname", "email"))
        name = next((each for each in names if isinstance(each, str) and each.strip()), "Somebody")
        return Person(str(claims["sub"]), name, email if isinstance(email, str) else None)

    async def _claims(self, id_token: str) -> Mapping[str, Any]:
        for fresh in (False, True):
            keys = await self._key_set(fresh)
            try:
                return jwt.decode(id_token, keys, algorithms=ALGORITHMS).claims
            except (JoseError, ValueError, TypeError, KeyError) as error:
                problem = error
        raise LoginFailed(f"the id_token is not signed by the issuer: {type(problem).__name__}: {problem}") from problem

    async def _key_set(self, fresh: bool) -> KeySet:
        if self._keys is None or fresh:
            document = await self._discover()
            answer = await self._get(document["jwks_uri"])
            try:
                self._keys = KeySet.import_key_set(answer)  # type: ignore[arg-type]
            except (JoseError, ValueError, TypeError, KeyError) as error:
                raise LoginFailed(f"the issuer's keys cannot be read: {error}") from error
        return self._keys

    async def _discover(self) -> Mapping[str, Any]:
        if self._document is None:
            document = await self._get(f"{self._options.issuer.rstrip('/')}/.well-known/openid-configuration")
            missing = [
                name
                for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")
                if not isinstance(document.get(name), str)
            ]
            if document.get("issuer") != self._options.issuer:
                raise LoginFailed(f"the discovery document is another issuer's: {document.get('issuer')!r}")
            if missing:
                raise LoginFailed(f"the discovery document lacks {', '.join(missing)}")
            self._document = document
        return self._document

    async def _get(self, url: str) -> dict[str, Any]:
        try:
            async with httpx.AsyncClient(timeout=SECONDS) as client:
                response = await client.get(url)
                response.raise_for_status()
                if len(response.content) > LARGEST_ANSWER:
                    raise ValueError(f"{len(response.content)} bytes are too many")
                document = response.json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            logging.getLogger("bosun.login").warning("the issuer does not answer: %s: %s", url, error)
            raise LoginFailed(
                f"the issuer does not answer: {type(error).__name__}: {error}",
                "The service that signs you in does not answer. Please try again in a few minutes.",
            ) from error
        if not isinstance(document, dict):
            raise LoginFailed(f"{url} is no JSON object")
        return document

    def _client(self) -> AsyncOAuth2Client:
        return AsyncOAuth2Client(
            self._options.client_id,
            self._options.client_secret,
            scope=SCOPE,
            redirect_uri=self._options.callback,
            code_challenge_method="S256",
            timeout=SECONDS,
        )
