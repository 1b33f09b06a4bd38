"""A small OpenID provider on loopback: discovery, authorization with PKCE, tokens, keys; and what goes wrong with one.

Source: OpenID Connect Core 1.0 and Discovery 1.0. People sign in by being named: the provider asks for no password.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from conftest import START
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from bosun.login.options import LoginOptions

CLIENT, SECRET = "bosun", "a secret of the client's"
CALLBACK = "http://localhost/login/callback"
KEY, OTHER = RSAKey.generate_key(2048, {"kid": "one"}), RSAKey.generate_key(2048, {"kid": "one"})


@dataclass
class OidcProvider:
    """Who is about to sign in, and what the provider says that it should not."""

    person: dict[str, Any] = field(default_factory=lambda: {"sub": "4711", "name": "Morgan"})
    claims: dict[str, Any] = field(default_factory=dict)
    """Claims that are said instead of the right ones; None leaves one out."""
    algorithm: str = "RS256"
    key: Any = field(default_factory=lambda: KEY)
    token_status: int = 200
    token_body: bytes | None = None
    document: dict[str, Any] | None = None
    keys_status: int = 200
    callback: str = CALLBACK
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def options(self, **more: Any) -> LoginOptions:
        """Return what Bosun needs to know of it."""
        given = {
            "client_id": CLIENT,
            "client_secret": SECRET,
            "public_url": "http://localhost",
            "account_id": "standard",
        }
        return LoginOptions(**{**given, "issuer": self.url, **more})

    def authorize(self, url: str) -> str:
        """Be the page where the person agrees: return where the browser is sent back to."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert (asked["client_id"], asked["redirect_uri"], asked["response_type"]) == (CLIENT, self.callback, "code")
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = f"code-{len(self.codes) + 1}"
        self.codes[code] = asked
        return f"/login/callback?{urlencode({'code': code, 'state': asked['state']})}"

    def discovery(self) -> dict[str, Any]:
        """Return the discovery document."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
        }

    def token(self, form: Mapping[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Give a token for a code, once, to the client that began with it."""
        if authorization != "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode():
            return 401, {"error": "invalid_client"}
        asked = self.codes.pop(form.get("code", ""), None)
        if asked is None or form.get("redirect_uri") != self.callback:
            return 400, {"error": "invalid_grant"}
        verifier = form.get("code_verifier", "")
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        if len(verifier) < 43 or challenge != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        return 200, {"access_token": "x", "token_type": "Bearer", "id_token": self._id_token(asked["nonce"])}

    def _id_token(self, nonce: str) -> str:
        now = int(START.timestamp())
        right = {"iss": self.url, "aud": CLIENT, "exp": now + 300, "iat": now, "nonce": nonce, **self.person}
        claims = {name: value for name, value in {**right, **self.claims}.items() if value is not None}
        if self.algorithm == "none":
            parts = [json.dumps(each).encode() for each in ({"alg": "none"}, claims)]
            return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."
        header = {"alg": self.algorithm, "kid": "one"}
        return jwt.encode(header, claims, self.key, algorithms=[self.algorithm])


SHARED = OctKey.import_key(SECRET)
"""What a client knows too: a token that is signed with it proves nothing."""


class _Handler(BaseHTTPRequestHandler):
    provider: OidcProvider
    timeout = 30

    def do_GET(self) -> None:
        provider = self.provider
        provider.asked.append(self.path)
        if self.path == "/.well-known/openid-configuration":
            self._say(200, provider.discovery() if provider.document is None else provider.document)
        elif self.path.startswith("/authorize?"):  # a browser: whoever it is agrees at once
            back = provider.authorize(self.path)
            self.send_response(302)
            self.send_header("location", provider.callback + back.removeprefix("/login/callback"))
            self.send_header("content-length", "0")
            self.end_headers()
        elif self.path == "/keys":
            self._say(provider.keys_status, {"keys": [KEY.as_dict(private=False)]})
        else:
            self._say(404, {})

    def do_POST(self) -> None:
        provider = self.provider
        provider.asked.append(self.path)
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        status, answer = provider.token(form, self.headers.get("authorization", ""))
        if provider.token_body is not None:
            self._send(provider.token_status, provider.token_body)
        else:
            self._say(status if provider.token_status == 200 else provider.token_status, answer)

    def _say(self, status: int, value: object) -> None:
        self._send(status, json.dumps(value).encode())

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Bind, and ask no name server what this machine is called."""
        TCPServer.server_bind(self)


@contextmanager
def oidc_provider() -> Iterator[OidcProvider]:
    """Serve a provider of its own, until the block ends."""
    provider = OidcProvider()
    handler: Callable[..., BaseHTTPRequestHandler] = type("Handler", (_Handler,), {"provider": provider})
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        provider.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
