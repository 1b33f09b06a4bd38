"""Ids derive from what they belong to."""

from __future__ import annotations

import base64
import hashlib

from hypothesis import given
from hypothesis import strategies as st

from bosun.ids import derive
from bosun.machine import SystemIds


def test_an_id_is_the_hash_of_the_json_list_of_its_parts() -> None:
    """Ids are stored and recorded: the form may never change."""
    digest = hashlib.sha256(b'["morgan","web","k\\u00fcste"]').digest()
    assert derive("morgan", "web", "küste") == "web:" + base64.b32encode(digest).decode()[:26].lower()


parts = st.tuples(st.text(max_size=5), st.sampled_from(["web", "message", "turn"]), st.text(max_size=5) | st.integers())


@given(parts, parts)
def test_different_parts_never_share_an_id(one: tuple[str, str, str | int], other: tuple[str, str, str | int]) -> None:
    """Neither by joining differently nor by mixing counts and keys."""
    assert (derive(*one) == derive(*other)) == (one == other and type(one[2]) is type(other[2]))


def test_a_nonce_is_long_and_never_the_same_twice() -> None:
    """Tokens and leases hang on it."""
    nonces = {SystemIds().nonce("a", "token") for _ in range(100)}
    assert len(nonces) == 100
    assert all(len(nonce) == 43 for nonce in nonces)
