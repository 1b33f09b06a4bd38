"""Valkey from its wheel, with the real server and a real client."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from embedded_services import ServiceError, Valkey

Watch = Callable[..., Callable[..., list[int]]]


def settings(server: Valkey, *names: str) -> list[str]:
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        return [client.config_get(name)[name] for name in names]


def test_a_started_server_answers_at_once_and_a_stopped_one_leaves_nothing(place: Path, watch: Watch) -> None:
    server = Valkey.start(place / "data", place / "socket", durable=False)
    with redis.Redis.from_url(server.url) as client:
        assert client.ping()
        client.set("key", "value")
    left = watch(server.pid)
    server.stop()
    assert left(seconds=0) == []
    server.stop()
    assert not (place / "socket").exists()
    assert list((place / "data").iterdir()) == []


def test_no_descriptor_stays_open(place: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    Valkey.start(place / "data", place / "socket", durable=True).stop()
    with pytest.raises(ServiceError):
        Valkey.start(place / "data", place / ("s" * 108), durable=True)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_durable_server_flushes_every_write_and_still_has_it_after_a_kill(place: Path, watch: Watch) -> None:
    server = Valkey.start(place / "data", place / "socket", durable=True)
    assert settings(server, "appendonly", "appendfsync", "save") == ["yes", "always", ""]
    with redis.Redis.from_url(server.url) as client:
        client.set("key", "value")
    left = watch(server.pid)
    os.kill(server.pid, signal.SIGKILL)
    assert left() == []
    server.stop()
    assert not (place / "socket").exists()
    with (
        Valkey.start(place / "data", place / "socket", durable=True) as again,
        redis.Redis.from_url(again.url) as client,
    ):
        assert client.get("key") == b"value"


def test_a_server_that_need_not_last_writes_nothing_and_listens_on_no_port(valkey: Valkey) -> None:
    assert settings(valkey, "appendonly", "save", "port") == ["no", "", "0"]


def test_a_socket_may_have_any_name(place: Path) -> None:
    with Valkey.start(place / "a 'b", place / 'c d%20"é', durable=False) as server:
        assert settings(server, "dir") == [str(place / "a 'b")]


def test_a_socket_path_of_107_bytes_works_and_one_of_108_is_refused(place: Path) -> None:
    room = 107 - len(os.fsencode(place)) - 1
    with Valkey.start(place / "data", place / ("s" * room), durable=False) as server:
        assert settings(server, "port") == ["0"]
    with pytest.raises(ServiceError, match="is 108 bytes long; the system's limit is 107"):
        Valkey.start(place / "other", place / ("s" * (room + 1)), durable=False)
    assert not (place / "other").exists()


def test_a_socket_that_is_listened_on_is_not_taken_over(place: Path, valkey: Valkey) -> None:
    with pytest.raises(ServiceError, match="already listens on"):
        Valkey.start(place / "other", place / "sockets" / "valkey", durable=False)
    assert settings(valkey, "port") == ["0"]


def test_one_data_directory_serves_one_server_until_that_one_has_stopped(place: Path) -> None:
    with Valkey.start(place / "data", place / "first", durable=True) as first:
        with pytest.raises(ServiceError, match="Another Valkey already runs on the data directory"):
            Valkey.start(place / "data", place / "second", durable=True)
        assert settings(first, "port") == ["0"]
    with Valkey.start(place / "data", place / "second", durable=True) as second:
        assert settings(second, "port") == ["0"]


def test_stopping_a_killed_server_leaves_the_socket_of_the_next_one(place: Path, watch: Watch) -> None:
    first = Valkey.start(place / "data", place / "socket", durable=False)
    left = watch(first.pid)
    os.kill(first.pid, signal.SIGKILL)
    assert left() == []
    with Valkey.start(place / "data", place / "socket", durable=False) as second:
        first.stop()
        assert settings(second, "port") == ["0"]


def test_a_server_that_refuses_to_start_is_reported_with_its_own_words(place: Path) -> None:
    with (
        Valkey.start(place / "data", place / "socket", durable=True) as server,
        redis.Redis.from_url(server.url) as client,
    ):
        client.set("key", "value")
    (log,) = (place / "data").glob("appendonlydir/*.incr.aof")
    log.write_bytes(b"*3\r\n$3\r\nSET\r\nnonsense" + log.read_bytes())
    with pytest.raises(ServiceError, match=r"Bad file format(.|\n)*valkey-check-aof"):
        Valkey.start(place / "data", place / "socket", durable=True)
    assert not (place / "socket").exists()
