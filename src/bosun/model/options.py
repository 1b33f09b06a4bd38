"""Which model answers, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """An OpenAI-compatible endpoint and the aliases that the parts of Bosun ask for."""

    base_url: str
    api_key: str = "none"
    """Sent as the bearer; servers without keys ignore it."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Role (agent, title, …) to model alias."""
    default: str = "bosun"
    """The alias of every role that `models` does not name."""
    temperature: float = 0.2
    max_tokens: int = 600
    """The longest answer, in tokens."""
    silence_seconds: float = 70.0
    """How long the endpoint may say nothing, at the beginning of an answer or within one. Then the request is given up
    with the kind `timeout`. Shorter than a lease, so that one silent request never costs a worker its conversation."""

    def alias(self, role: str) -> str:
        """Return the alias that a role asks for."""
        return self.models.get(role, self.default)
