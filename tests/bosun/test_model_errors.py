"""Provider failures have kinds, and people see one fixed sentence for each."""

from __future__ import annotations

import pytest

from bosun.model.errors import FAILURE_KINDS, SENTENCES, kind_of_status


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (401, None, "auth"),
        (403, None, "permission"),
        (404, None, "invalid_request"),
        (400, None, "invalid_request"),
        (400, "content_filter", "content_policy"),
        (422, None, "invalid_request"),
        (408, None, "timeout"),
        (429, None, "rate_limit"),
        (429, "insufficient_quota", "quota"),
        (500, None, "server"),
        (502, None, "server"),
        (503, None, "capacity"),
        (504, None, "timeout"),
        (529, None, "capacity"),
        (302, None, "unknown"),
    ],
)
def test_a_status_and_code_have_one_kind(status: int, code: str | None, kind: str) -> None:
    """After the provider's own page of error codes."""
    assert kind_of_status(status, code) == kind


def test_every_kind_has_a_sentence_of_its_own() -> None:
    """Twelve kinds, twelve sentences."""
    assert len(FAILURE_KINDS) == 12
    assert set(SENTENCES) == set(FAILURE_KINDS)
    assert len(set(SENTENCES.values())) == 12
