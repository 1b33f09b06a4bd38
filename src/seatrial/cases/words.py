"""What the words of a case are made of: closed mappings, texts, and values as JSON has them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Words(BaseModel):
    """A mapping of a case. A word that is not among its fields is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def listed(value: Any) -> Any:
    """Let one item stand for a list of one."""
    return value if isinstance(value, list) else [value]


Listed = BeforeValidator(listed)
"""Mark a list that may be written as its one item."""


def json_value(value: Any) -> Any:
    """Return the value when JSON has it too.

    Raises ValueError for one that only YAML has, such as a date that was written without quotes: an agent
    could never have said it.
    """
    if isinstance(value, dict):
        return {key: json_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [json_value(item) for item in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and value - value == 0:  # neither infinite nor not a number
        return value
    raise ValueError(f"{value} is a {type(value).__name__} in YAML, which JSON has not: put it in quotes")
