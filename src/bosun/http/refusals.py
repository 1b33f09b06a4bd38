"""How a request is refused: one shape for every refusal, with the field named where there is one.

`{"error": {"code": …, "message": …, "fields": [{"field": …, "problem": …}]}}`, and `store` where a store is in trouble.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from bosun.stores.faults import SAYS, STORE_AWAY, Store, store_of, trouble_of

RETRY_AFTER_SECONDS = "5"
NAMES: Mapping[Store | None, str] = {"postgres": "PostgreSQL", "redis": "Redis", None: "A store"}


class Refusal(Exception):
    """A request that is not served. `fields` pairs a field's name with what is wrong with it."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        fields: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.fields = tuple(fields)
        self.headers = dict(headers or {})


def field_problems(errors: Sequence[Any], *, root: str) -> list[tuple[str, str]]:
    """Name the field of each of pydantic's errors; `root` stands for the whole."""
    return [(".".join(str(part) for part in error["loc"]) or root, str(error["msg"])) for error in errors]


def install_refusals(app: FastAPI) -> None:
    """Give every refusal, the framework's own included, the one shape.

    A store that is away is a 503, not a fault.
    """

    async def refused(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, Refusal)
        return _response(error)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        fields = [
            (field.removeprefix("query."), problem) for field, problem in field_problems(error.errors(), root="query")
        ]
        return _response(invalid_fields(fields))

    async def unrouted(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        code = {404: "not_found", 405: "method_not_allowed"}.get(error.status_code, "refused")
        return _response(Refusal(error.status_code, code, str(error.detail), headers=error.headers))

    async def away(request: Request, error: Exception) -> JSONResponse:
        store, trouble = store_of(error), trouble_of(error)
        kind = type(error).__name__
        logging.getLogger("bosun.http").warning("%s: a store is %s: %s", request.url.path, SAYS[trouble], kind)
        if trouble == "overloaded":  # its part of a store's connections is Bosun's own bound, not the store's trouble
            return _response(overloaded())
        return _response(_unavailable(f"store_{trouble}", f"{NAMES[store]} is {SAYS[trouble]}"), store=store)

    app.add_exception_handler(Refusal, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, unrouted)
    for kind in STORE_AWAY:
        app.add_exception_handler(kind, away)


def invalid_fields(fields: Sequence[tuple[str, str]]) -> Refusal:
    """Refuse a request whose fields are wrong, naming them."""
    listed = "; ".join(f"{field}: {problem}" for field, problem in fields)
    return Refusal(422, "invalid_request", f"The request is not valid: {listed}", fields=fields)


def not_found() -> Refusal:
    """Refuse in the same words what is not there and what the actor may not see."""
    return Refusal(404, "not_found", "There is no such conversation.")


def overloaded() -> Refusal:
    """Refuse a request for which there is no room now, before anything is written."""
    return _unavailable("overloaded", f"Bosun is {SAYS['overloaded']}")


def _unavailable(code: str, what: str) -> Refusal:
    message = f"{what}. Nothing is known to be lost: send the same request again."
    return Refusal(503, code, message, headers={"Retry-After": RETRY_AFTER_SECONDS})


def _response(refusal: Refusal, store: Store | None = None) -> JSONResponse:
    error: dict[str, Any] = {"code": refusal.code, "message": refusal.message}
    if store is not None:
        error["store"] = store
    if refusal.fields:
        error["fields"] = [{"field": field, "problem": problem} for field, problem in refusal.fields]
    safe = JSONResponse({"error": _storable(error)}, status_code=refusal.status, headers=refusal.headers)
    return safe


def _storable(value: Any) -> Any:
    """Replace lone surrogates, which the refused request may have held and no answer can."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {key: _storable(each) for key, each in value.items()}
    return [_storable(each) for each in value]
