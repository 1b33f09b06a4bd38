"""PostgreSQL from its wheel, with the real server and a real client."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from embedded_services import Postgres, ServiceError, initialize_cluster, server_version
from embedded_services.account import require_reachable, require_writable
from embedded_services.binaries import postgres_program
from embedded_services.process import Account

Watch = Callable[..., Callable[..., list[int]]]


def show(server: Postgres, *names: str) -> list[str]:
    with psycopg.connect(server.url()) as connection:
        return [str(connection.execute(f"SHOW {name}").fetchone()[0]) for name in names]  # type: ignore[index]


def test_the_version_is_what_the_server_says_of_itself(postgres: Postgres) -> None:
    said = subprocess.run([postgres_program("postgres"), "--version"], check=True, capture_output=True, text=True)
    assert said.stdout.split()[-1] == server_version()
    assert show(postgres, "server_version") == [server_version()]


def test_a_started_server_answers_at_once_and_a_stopped_one_leaves_nothing(
    place: Path, cluster: Path, watch: Watch
) -> None:
    server = Postgres.start(cluster, place / "sockets", durable=False)
    with closing(psycopg.connect(server.url(), autocommit=True)) as connection:
        backend = connection.info.backend_pid
        assert connection.execute("SELECT 40 + 2").fetchone() == (42,)
        left = watch(server.pid, backend)
        server.stop()
        assert left(seconds=0) == []
    assert list((place / "sockets").iterdir()) == []
    assert not (cluster / "postmaster.pid").exists()


def test_data_is_there_after_a_durable_server_was_stopped_and_started(place: Path, cluster: Path) -> None:
    with (
        Postgres.start(cluster, place / "sockets", durable=True) as server,
        psycopg.connect(server.url()) as connection,
    ):
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    with (
        Postgres.start(cluster, place / "sockets", durable=True) as server,
        psycopg.connect(server.url()) as connection,
    ):
        assert connection.execute("SELECT number FROM kept").fetchone() == (7,)


@pytest.mark.parametrize(("durable", "flushing"), [(True, "on"), (False, "off")])
def test_durability_is_what_was_asked_for_whatever_the_clusters_own_file_says(
    place: Path, cluster: Path, durable: bool, flushing: str
) -> None:
    contrary = "off" if durable else "on"
    with (cluster / "postgresql.conf").open("a") as settings:
        settings.write(
            f"fsync={contrary}\nsynchronous_commit={contrary}\nfull_page_writes={contrary}\nlogging_collector=on\n"
        )
    with Postgres.start(cluster, place / "sockets", durable=durable) as server:
        assert show(server, "fsync", "synchronous_commit", "full_page_writes") == [flushing] * 3


def test_it_listens_on_no_network_address(postgres: Postgres) -> None:
    assert show(postgres, "listen_addresses") == [""]


def test_a_new_cluster_is_utf8_with_the_c_locale_in_utc_whatever_the_callers_environment(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("LC_ALL", "POSIX")
    monkeypatch.setenv("PGOPTIONS", "-c work_mem=1MB")
    initialize_cluster(place / "new")
    monkeypatch.delenv("PGOPTIONS")
    with Postgres.start(place / "new", place / "sockets", durable=False) as server:
        shown = show(server, "server_encoding", "lc_messages", "TimeZone", "wal_segment_size")
    assert shown == ["UTF8", "C", "UTC", "1MB"] or shown == ["UTF8", "C", "Etc/UTC", "1MB"]


def test_a_socket_directory_may_have_any_name_without_a_comma(place: Path, cluster: Path) -> None:
    with Postgres.start(cluster, place / 'a b%20c"d é', durable=False) as server:
        with psycopg.connect(server.url()) as connection:
            assert connection.info.dbname == "postgres"
        with psycopg.connect(server.url("template1")) as connection:
            assert connection.info.dbname == "template1"


def test_a_socket_directory_with_a_comma_is_refused_since_no_client_could_name_it(place: Path, cluster: Path) -> None:
    with pytest.raises(ServiceError, match="it contains a comma"):
        Postgres.start(cluster, place / "a,b", durable=False)


def test_stop_may_be_called_again_and_after_the_server_was_killed(place: Path, cluster: Path, watch: Watch) -> None:
    server = Postgres.start(cluster, place / "sockets", durable=False)
    left = watch(server.pid)
    os.kill(server.pid, signal.SIGKILL)
    assert left() == []
    server.stop()
    server.stop()
    assert list((place / "sockets").iterdir()) == []


def test_stopping_a_killed_server_leaves_the_socket_of_the_next_one(place: Path, cluster: Path, watch: Watch) -> None:
    first = Postgres.start(cluster, place / "sockets", durable=False)
    left = watch(first.pid)
    os.kill(first.pid, signal.SIGKILL)
    assert left() == []
    first._process.kill()  # waits for the killed server's own children
    with Postgres.start(cluster, place / "sockets", durable=False) as second:
        first.stop()
        assert show(second, "fsync") == ["off"]


def test_a_server_outlives_the_thread_that_started_it(place: Path, cluster: Path, watch: Watch) -> None:
    started: list[Postgres] = []
    thread = threading.Thread(target=lambda: started.append(Postgres.start(cluster, place / "sockets", durable=False)))
    thread.start()
    thread.join()
    with started[0] as server:
        left = watch(server.pid)
        assert left(seconds=0.2) == [server.pid]
        assert show(server, "fsync") == ["off"]


def test_a_socket_path_of_107_bytes_works_and_one_of_108_is_refused(place: Path, cluster: Path) -> None:
    room = 107 - len("/.s.PGSQL.5432") - len(os.fsencode(place)) - 1
    with Postgres.start(cluster, place / ("d" * room), durable=False) as server:
        assert show(server, "fsync") == ["off"]
    too_long = place / ("d" * (room + 1))
    with pytest.raises(ServiceError, match=r"is 108 bytes long; the system's limit is 107(.|\n)*Choose a shorter"):
        Postgres.start(cluster, too_long, durable=False)
    assert not too_long.exists()


def test_a_cluster_of_another_version_is_named_with_both_versions(place: Path, cluster: Path) -> None:
    (cluster / "PG_VERSION").write_text("15\n")
    with pytest.raises(ServiceError, match=r"was made by PostgreSQL 15; this is PostgreSQL 18\.\d+"):
        Postgres.start(cluster, place / "sockets", durable=False)
    assert not (place / "sockets").exists()


def test_a_directory_that_is_no_cluster_is_named(place: Path) -> None:
    with pytest.raises(ServiceError, match=r"is no PostgreSQL cluster(.|\n)*initialize_cluster\(\)"):
        Postgres.start(place, place / "sockets", durable=False)


def test_a_running_cluster_is_not_served_twice_and_goes_on(place: Path, cluster: Path, postgres: Postgres) -> None:
    with pytest.raises(ServiceError, match=rf"PID {postgres.pid}(.|\n)*already running: stop the server"):
        Postgres.start(cluster, place / "other", durable=False)
    assert show(postgres, "fsync") == ["off"]
    assert list((place / "other").iterdir()) == []


def test_a_socket_directory_in_use_is_refused_and_its_server_goes_on(
    place: Path, made_cluster: Path, postgres: Postgres
) -> None:
    second = place / "second"
    subprocess.run(["cp", "-r", made_cluster, second], check=True)
    with pytest.raises(ServiceError, match="Another server uses this socket directory"):
        Postgres.start(second, place / "sockets", durable=False)
    assert show(postgres, "fsync") == ["off"]


def test_a_server_that_refuses_to_start_is_reported_with_its_own_words(place: Path, cluster: Path) -> None:
    with (cluster / "postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")
    with pytest.raises(
        ServiceError, match=r'ended with status 1(.|\n)*unrecognized configuration parameter "no_such_setting"'
    ):
        Postgres.start(cluster, place / "sockets", durable=False)
    assert list((place / "sockets").iterdir()) == []
    assert not (cluster / "postmaster.pid").exists()


def test_a_cluster_is_not_made_where_something_is(place: Path) -> None:
    (place / "mine").write_text("keep me")
    with pytest.raises(ServiceError, match="is not empty"):
        initialize_cluster(place)
    assert (place / "mine").read_text() == "keep me"


AS_ROOT = """
import sys
from pathlib import Path
from embedded_services import Postgres, ServiceError
try:
    Postgres.start(Path(sys.argv[1]), Path(sys.argv[2]), durable=False)
except ServiceError as error:
    sys.exit(str(error))
"""


def refused_to_root(cluster: Path, socket_dir: Path) -> str:
    """What root is told. It is root of a user namespace, so that every user can run this."""
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", AS_ROOT, str(cluster), str(socket_dir)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done
    return done.stderr


def test_root_of_a_namespace_without_nobody_is_told_what_to_do(place: Path, cluster: Path) -> None:
    told = refused_to_root(cluster, place / "sockets")
    assert "no uid 65534 (nobody)" in told and "Run as an ordinary user" in told


# Root hands the server to another account; that account's way is checked before. Every user can check it.
ANOTHER = Account(uid=12345, gid=12345)


def test_a_directory_that_keeps_the_servers_account_out_is_named(place: Path, cluster: Path) -> None:
    require_reachable(cluster, ANOTHER)
    place.chmod(0o700)
    with pytest.raises(ServiceError, match=rf"'{place}' keeps nobody out(.|\n)*chmod o\+x '{place}'"):
        require_reachable(cluster, ANOTHER)


def test_a_directory_with_other_things_in_it_is_not_given_away_for_a_socket(place: Path, cluster: Path) -> None:
    owner = place.stat().st_uid
    with pytest.raises(ServiceError, match="nobody may not make a socket in"):
        require_writable(place, ANOTHER)
    assert place.stat().st_uid == owner
