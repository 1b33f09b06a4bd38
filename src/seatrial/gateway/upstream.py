"""The model service that `record` asks: any OpenAI-compatible one, by URL or through a Unix socket."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seatrial.gateway.key import JSON

if TYPE_CHECKING:
    import httpx

MAX_ANSWER_BYTES = 8 * 1024 * 1024
ROLE_HEADER = "x-seatrial-role"
SEED_HEADER = "x-seatrial-seed"
EMBEDDED = "embedded"  # the kind of the model server of this repository
_CONNECT_SECONDS = 10.0
_READABLE_ENCODINGS = ("", "identity", "gzip", "deflate")


class UpstreamTrouble(Exception):
    """The upstream gave no answer that can be used. `status` is what a gateway says then: 502, or 504 for a timeout."""

    def __init__(self, status: int, why: str) -> None:
        self.status = status
        super().__init__(why)


@dataclass(frozen=True)
class UpstreamAnswer:
    """An answer whose body has not been read. Names of `headers` are in lower case; the body arrives decoded."""

    status: int
    headers: Mapping[str, str]
    body: AsyncIterator[bytes]


class Upstream:
    """Where to ask, and what the recording says about it.

    `base_url` is that of the `openai` client, so it ends in `/v1`. With `socket` the connection goes through that Unix
    socket and the URL's host is only a name. `kind` names the sort of service, `parameters` what it was set to (a
    context size). `trial` is the trial's index: it goes along in a header, from which the embedded server, and no
    other, takes its seed; then it is a parameter too. It is in no body, so it is in no key. `timeout` is in seconds
    and counts from one piece of an answer to the next.
    """

    def __init__(
        self,
        *,
        base_url: str,
        kind: str,
        socket: Path | None = None,
        api_key: str | None = None,
        parameters: Mapping[str, JSON] | None = None,
        trial: int = 0,
        timeout: float = 600.0,
    ) -> None:
        self.kind = kind
        self.parameters: dict[str, JSON] = {**(parameters or {}), **({"seed": trial} if kind == EMBEDDED else {})}
        self._trial = trial
        self._base_url = base_url.rstrip("/")
        self._socket = socket
        self._api_key = api_key
        self._timeout = timeout

    @asynccontextmanager
    async def ask(self, method: str, path: str, body: bytes, *, role: str) -> AsyncIterator[UpstreamAnswer]:
        """Send one request; `path` is the gateway's, with `/v1`. Leaving the context hangs up.

        `role` goes along in a header, so that whoever passes the request on can say who asked. Raises
        UpstreamTrouble, also while the body is read.
        """
        import httpx  # 0.2 s: only a run that records pays for it

        headers = {
            "content-type": "application/json", "accept-encoding": "gzip", ROLE_HEADER: role,
            SEED_HEADER: str(self._trial),
        }  # fmt: skip
        if self._api_key is not None:
            headers["authorization"] = f"Bearer {self._api_key}"
        # A transport of our own also means: no proxy from the environment, which knows nothing of this machine.
        transport = httpx.AsyncHTTPTransport(uds=str(self._socket) if self._socket is not None else None)
        timeout = httpx.Timeout(self._timeout, connect=_CONNECT_SECONDS)
        url = self._base_url + path.removeprefix("/v1")
        async with httpx.AsyncClient(transport=transport, timeout=timeout, trust_env=False) as client:
            request = client.build_request(method, url, content=body, headers=headers)
            try:
                response = await client.send(request, stream=True)
            except httpx.HTTPError as error:
                raise _trouble(error) from error
            body_read = _body(response)
            try:
                yield UpstreamAnswer(response.status_code, response.headers, body_read)
            finally:
                await body_read.aclose()
                await response.aclose()


async def _body(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    import httpx

    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in _READABLE_ENCODINGS:
        raise UpstreamTrouble(502, f"the upstream's answer has the content encoding '{encoding}'")
    size = 0
    try:
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > MAX_ANSWER_BYTES:
                raise UpstreamTrouble(502, f"the upstream's answer is larger than {MAX_ANSWER_BYTES} bytes")
            yield chunk
    except httpx.HTTPError as error:
        raise _trouble(error) from error


def _trouble(error: httpx.HTTPError) -> UpstreamTrouble:
    import httpx

    name = type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        return UpstreamTrouble(504, f"the upstream did not answer in time ({name})")
    if isinstance(error, httpx.DecodingError):
        return UpstreamTrouble(502, f"the upstream's answer cannot be decoded ({error})")
    if isinstance(error, httpx.RemoteProtocolError):
        return UpstreamTrouble(502, f"the upstream broke its answer off ({error})")
    return UpstreamTrouble(502, f"the upstream cannot be reached ({name}: {error})")
