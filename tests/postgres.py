"""Real databases for tests: `database` is fresh and migrated, for one test; `module_database` is for one module.

They come from GAINSAY_TEST_DATABASE_URL (a superuser's address: roles and databases are made and removed there), from a
container when GAINSAY_TEST_POSTGRES=testcontainers (skipped where there is no Docker), and otherwise from an embedded
server, one for each process that runs tests. A database is a copy of one migrated template, so each costs some
hundredths of a second. A server that is given several processes share: what a test does to it or asks of it is to be
about the test's own database.
"""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from service.store import guardian, roles
from service.store.embedded import shared_server
from service.store.migrate import migrate

LOGINS = (roles.MIGRATOR, roles.SERVICE, roles.SEQUENCING)
SEQUENCERS: dict[str, str] = {}
"""The sequencer's way into the database that the service enters by the address in front of it."""
GROUPS_LOCK = 5_273_019_846
"""Of the database that GAINSAY_TEST_DATABASE_URL names: whoever has it makes the group roles."""
MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations"


@dataclass(frozen=True)
class Database:
    """One database and the ways into it: as superuser, as the migrator, as the service, as the sequencer."""

    name: str
    admin_url: str
    migrate_url: str
    service_url: str
    sequencer_url: str


class Cluster:
    """A PostgreSQL server that tests may make databases in. It has a migrator and a service login of its own."""

    def __init__(self, admin: psycopg.Connection[Any], admin_url: str, logins: dict[str, str]) -> None:
        self.admin, self.admin_url, self.logins = admin, admin_url, logins
        self.names = (f"gainsay_test_{token_hex(4)}_{n}" for n in count())

    def create(self, template: str = "template0") -> Database:
        """Make a database that belongs to gainsay_owner."""
        name = next(self.names)
        self._do("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY FILE_COPY", name, roles.OWNER, template)
        # A copy has the objects of its template and their grants, but not the grants on the database itself.
        self._do("REVOKE ALL ON DATABASE {} FROM PUBLIC", name)
        for group in (roles.WRITER, roles.SEQUENCER, roles.AUDITOR, roles.READER):
            self._do("GRANT CONNECT ON DATABASE {} TO {}", name, group)
        database = Database(
            name,
            admin_url=make_conninfo(self.admin_url, dbname=name),
            migrate_url=self._url(name, "migrator"),
            service_url=self._url(name, "service"),
            sequencer_url=self._url(name, "sequencing"),
        )
        SEQUENCERS[database.service_url] = database.sequencer_url
        return database

    def drop(self, database: Database) -> None:
        """Remove a database, whoever is still connected to it."""
        SEQUENCERS.pop(database.service_url, None)
        self._do("DROP DATABASE IF EXISTS {} WITH (FORCE)", database.name)

    @contextmanager
    def lend(self, template: str = "template0") -> Iterator[Database]:
        """Make a database for the length of the block."""
        database = self.create(template)
        try:
            yield database
        finally:
            self.drop(database)

    def _url(self, name: str, which: str) -> str:
        user = next(login for login in self.logins if login.endswith(which))
        return make_conninfo(self.admin_url, dbname=name, user=user, password=self.logins[user])

    def _do(self, statement: LiteralString, *names: str) -> None:
        self.admin.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The server that this run's databases are made in."""
    if os.environ.get("GAINSAY_TEST_POSTGRES") == "testcontainers":
        with _container() as url, _foreign(url) as found:
            yield found
    elif address := os.environ.get("GAINSAY_TEST_DATABASE_URL"):
        with _foreign(address) as found:
            yield found
    else:
        with _embedded() as found:
            yield found


@pytest.fixture(scope="session")
def template(cluster: Cluster) -> Iterator[Database]:
    """A migrated database that nobody connects to: it is there to be copied."""
    with cluster.lend() as database:
        migrate(database.migrate_url, MIGRATIONS)
        yield database


@pytest.fixture
def database(cluster: Cluster, template: Database) -> Iterator[Database]:
    """A fresh migrated database for one test."""
    with cluster.lend(template.name) as database:
        yield database


@pytest.fixture(scope="module")
def module_database(cluster: Cluster, template: Database) -> Iterator[Database]:
    """A fresh migrated database for all tests of a module."""
    with cluster.lend(template.name) as database:
        yield database


@pytest.fixture
def empty_database(cluster: Cluster) -> Iterator[Database]:
    """A database without a table, for tests of migrating."""
    with cluster.lend() as database:
        yield database


@pytest.fixture
def data_folder() -> Iterator[Path]:
    """A folder for GAINSAY_DATA_DIR. As root, an embedded server in tmp_path would move to /var/lib/gainsay."""
    with passable_folder() as folder:
        yield folder / "data"


@contextmanager
def _embedded() -> Iterator[Cluster]:
    with passable_folder() as folder, shared_server(folder / "postgres") as server:
        url = server.url("postgres", "postgres")
        with psycopg.connect(url, autocommit=True) as admin:
            yield Cluster(admin, url, {role: server.passwords[role] for role in LOGINS})


@contextmanager
def passable_folder() -> Iterator[Path]:
    """Lend a folder that every user of this machine can pass: as root, PostgreSQL runs as another one."""
    place = _place()
    with _alone(place):
        _clear(place)
        folder = Path(tempfile.mkdtemp(prefix="gainsay-test-", dir=place))
        folder.chmod(0o711)
        mine = guardian.wait_for_lock(folder / "in-use.lock", fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        with _alone(place):
            shutil.rmtree(folder)
        os.close(mine)


def _place() -> Path:
    """Return a file system in memory if it has room for the databases, otherwise the folder for temporary files.

    Hundreds of small files are made and removed for each database; ext4 takes ten times as long for that.
    """
    memory = Path("/dev/shm")
    if memory.is_dir() and shutil.disk_usage(memory).free >= 2 * 1024**3:
        return memory
    return Path(tempfile.gettempdir())


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Make, remove and clear folders one process at a time: half made or half removed, one looks like a leftover."""
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _clear(place: Path) -> None:
    """Remove what killed runs have left."""
    for left in place.glob("gainsay-test-*/in-use.lock"):
        if os.access(left, os.W_OK) and guardian.is_free(left, fcntl.LOCK_EX):
            shutil.rmtree(left.parent, ignore_errors=True)


@contextmanager
def _foreign(url: str) -> Iterator[Cluster]:
    """Make logins for this run on a server that others may use too, and remove them afterwards."""
    run = token_hex(4)
    logins = {f"gainsay_test_{run}_{which}": token_hex(16) for which in ("migrator", "service", "sequencing")}
    members = (roles.OWNER, roles.WRITER, roles.SEQUENCER)
    with psycopg.connect(url, autocommit=True) as admin:
        _make_groups(admin)
        for (login, password), group in zip(logins.items(), members, strict=True):
            admin.execute(
                sql.SQL("CREATE ROLE {} LOGIN PASSWORD {} IN ROLE {}").format(
                    sql.Identifier(login), sql.Literal(password), sql.Identifier(group)
                )
            )
        try:
            yield Cluster(admin, url, logins)
        finally:
            for login in logins:
                admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(login)))


def _make_groups(admin: psycopg.Connection[Any]) -> None:
    """Make the group roles that are missing; of processes that begin at once one makes them, and the others wait."""
    admin.execute("SELECT pg_advisory_lock(%s)", [GROUPS_LOCK])
    try:
        found = {name for (name,) in admin.execute("SELECT rolname FROM pg_roles")}
        for group in roles.GROUPS:
            if group not in found:
                admin.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(group)))
    finally:
        admin.execute("SELECT pg_advisory_unlock(%s)", [GROUPS_LOCK])


@contextmanager
def _container() -> Iterator[str]:
    """Run PostgreSQL in a container; skip, and say so, where that is not possible."""
    with warnings.catch_warnings(action="ignore"):
        container, reason = _start_container()
        gc.collect()  # where Docker does not answer its client leaves a socket behind, and warns of it here
    if container is None:
        pytest.skip(f"GAINSAY_TEST_POSTGRES=testcontainers, but {reason}")
    try:
        yield container.get_connection_url()
    finally:
        container.stop()


def _start_container() -> tuple[Any, str]:
    """Return a running container, or None and why there is none."""
    try:
        containers = import_module("testcontainers.community.postgres")
        refused = import_module("docker.errors").DockerException
    except ModuleNotFoundError as error:
        return None, f"there is no module {error.name}"
    try:  # it asks for Docker as soon as it is constructed
        container = containers.PostgresContainer("postgres:18", username="postgres", dbname="postgres", driver=None)
        return container.start(), ""
    except refused as error:
        return None, f"Docker does not answer: {error}"
