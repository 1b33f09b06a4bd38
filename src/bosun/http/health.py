"""Readiness: both stores answer, or which one does not. The one route of Bosun that anybody may ask."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from bosun.stores.postgres import postgres_problem
from bosun.stores.redis import redis_problem


def health_routes(engine: AsyncEngine, redis: Redis) -> APIRouter:
    """Return the health route."""
    router = APIRouter()

    @router.get("/health")
    async def health() -> JSONResponse:
        problems = {"postgres": await postgres_problem(engine), "redis": await redis_problem(redis)}
        status = 503 if any(problems.values()) else 200
        return JSONResponse({store: problem or "ok" for store, problem in problems.items()}, status_code=status)

    return router
