"""Staged records get their places in the tree, whatever comes in between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from service.audit.note import SigningKey
from service.audit.record import leaf_hash
from service.audit.tiles import Builder, tiles_for_consistency
from service.audit.tree import Frontier, root_of, verify_consistency
from service.errors import GainsayError, SettingsError, StoreUnavailable
from service.store.schema.preflight import NotDurable, OpenIncident, check_database, check_sequencer, refuse_incidents
from service.store.schema.roles import RolesMissing, UnsafeRole
from service.store.sequence import (
    AlreadyThere,
    BadLogName,
    OutOfOrder,
    Overtaken,
    SequencerLeadership,
    Sequencing,
    Tree,
    TreeDamaged,
)
from tests.fixtures.growing import Growing
from tests.fixtures.postgres import MIGRATIONS, Cluster, Database
from tests.fixtures.sequencing import END_THE_LEADER, KEY, LOG, a_leaf, leaves, stage

pytestmark = pytest.mark.no_replay


@asynccontextmanager
async def opened(database: Database) -> AsyncIterator[Sequencing]:
    """The sequencer's connections."""
    async with Sequencing.open(database.sequencer_url, size=2) as store:
        yield store


async def taken(store: Sequencing, tree: Tree | None = None) -> Tree:
    """The tree after everything that is staged for it was taken."""
    tree = tree or await store.load(LOG, KEY.public)
    for number in (await store.staged()).get(LOG, []):
        await store.extend(tree, [number], holes=True)
    return tree


async def test_records_of_a_batch_stand_in_the_order_in_which_they_were_staged_whatever_their_ids(
    database: Database,
) -> None:
    stage(database, 2, range(2))
    stage(database, 3, [0])
    stage(database, 1, range(2))
    stage(database, 2, [2])
    async with opened(database) as store:
        tree = await store.load(LOG, KEY.public)

        count = await store.extend(tree, (await store.staged())[LOG])

        assert (count, tree.size) == (6, 6)
        assert await store.staged() == {}
    assert leaves(database) == [(2, 0), (2, 1), (3, 0), (1, 0), (1, 1), (2, 2)]


async def test_the_order_of_a_chain_goes_before_the_one_in_which_its_records_were_staged(database: Database) -> None:
    stage(database, 2, [2])
    stage(database, 1, [0])
    stage(database, 2, [0])
    stage(database, 3, [0])
    stage(database, 2, [1])
    async with opened(database) as store:
        tree = await store.load(LOG, KEY.public)

        assert await store.extend(tree, (await store.staged())[LOG]) == 5
    assert leaves(database) == [(1, 0), (2, 0), (3, 0), (2, 1), (2, 2)]


async def test_a_tree_that_is_read_anew_at_any_size_goes_on_as_if_it_had_never_been_put_away(
    database: Database,
) -> None:
    sizes = [*range(1, 12), 254, 255, 256, 257, 258, 259, 510, 511, 512, 513, 514, 600]
    builder, frontier, tiles = Builder(), Frontier(), dict[tuple[int, int], bytes]()
    async with opened(database) as store:
        for old, new in pairwise([0, *sizes]):
            stage(database, 1, range(old, new))
            hashes = [leaf_hash(a_leaf(1, n)) for n in range(old, new)]
            frontier.extend(hashes)
            tiles |= {(tile.level, tile.index): tile.hashes for tile in builder.add(hashes)}

            tree = await store.load(LOG, KEY.public)
            await store.extend(tree, (await store.staged())[LOG])
            again = await store.load(LOG, KEY.public)

            for each in (tree, again):
                assert (each.size, each.root, each.frontier.encode()) == (new, frontier.root(), frontier.encode())
                assert each.builder.partial == builder.partial
            assert await store.root_at(LOG, old) == root_of([leaf_hash(a_leaf(1, n)) for n in range(old)])
    with psycopg.connect(database.admin_url) as admin:
        rows = admin.execute("SELECT level, idx, hashes FROM gainsay.tile").fetchall()
    assert {(level, idx): bytes(stored) for level, idx, stored in rows} == tiles
    leaves(database)


async def test_what_a_tree_holds_in_memory_proves_that_its_last_head_leads_to_this_one(database: Database) -> None:
    async with opened(database) as store:
        for old, new in pairwise([0, 200, 300, 512, 1_500]):
            stage(database, 1, range(old, new))
            tree = await store.load(LOG, KEY.public)
            await store.extend(tree, (await store.staged())[LOG])

            path = await store.path(LOG, old, new)

            assert tiles_for_consistency(old, new) <= tree.tiles.keys()
            assert await store.path(LOG, old, new, tree.tiles) == path
            before = root_of([leaf_hash(a_leaf(1, n)) for n in range(old)])
            verify_consistency(old, new, path, before, tree.root)


async def test_a_tree_of_three_levels_is_gone_on_with(database: Database) -> None:
    log = Growing(database.admin_url)
    log.add([leaf_hash(a_leaf(1, n)) for n in range(65_535)])
    log.close()
    stage(database, 2, range(258))
    async with opened(database) as store:
        tree = await store.load(LOG, KEY.public)
        await store.extend(tree, (await store.staged())[LOG])

        again = await store.load(LOG, KEY.public)

    hashes = [leaf_hash(a_leaf(1, n)) for n in range(65_535)] + [leaf_hash(a_leaf(2, n)) for n in range(258)]
    assert tree.root == again.root == root_of(hashes)
    assert [len(row) for row in again.builder.partial] == [1, 1, 1]


async def test_of_two_that_continue_the_same_head_one_has_to_look_again(database: Database) -> None:
    stage(database, 1, range(4))
    async with opened(database) as store:
        first, second = await store.load(LOG, KEY.public), await store.load(LOG, KEY.public)
        numbers = (await store.staged())[LOG]
        await store.extend(first, numbers[:2])

        with pytest.raises(Overtaken):
            await store.extend(second, numbers[2:])

        assert list((await store.staged()).values()) == [numbers[2:]], "nothing was taken"
        await taken(store)
    assert leaves(database) == [(1, n) for n in range(4)]


async def test_a_record_never_stands_before_the_one_that_it_follows(database: Database) -> None:
    stage(database, 1, range(3))
    async with opened(database) as store:
        tree = await store.load(LOG, KEY.public)
        first, second, third = (await store.staged())[LOG]

        with pytest.raises(OutOfOrder):
            await store.extend(tree, [second, third])

        assert tree.size == 0
        await store.extend(tree, [first])
        await store.extend(tree, [second, third])
    assert leaves(database) == [(1, 0), (1, 1), (1, 2)]


async def test_a_record_whose_predecessor_is_gone_from_staging_stands_with_a_hole_before_it(
    database: Database,
) -> None:
    stage(database, 1, range(3))
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("DELETE FROM gainsay.pending WHERE n = 1")
    async with opened(database) as store:
        tree = await store.load(LOG, KEY.public)
        with pytest.raises(OutOfOrder):
            await store.extend(tree, (await store.staged())[LOG])

        assert await store.extend(tree, (await store.staged())[LOG], holes=True) == 2
    assert leaves(database) == [(1, 0), (1, 2)]


async def test_what_is_staged_twice_or_is_not_stored_gets_no_second_leaf(database: Database) -> None:
    stage(database, 1, range(2))
    async with opened(database) as store:
        tree = await taken(store)
        with psycopg.connect(database.service_url) as service:
            for chain, n in ((1, 0), (1, 1), (9, 0)):
                statement = "INSERT INTO gainsay.pending (log, debate, n) VALUES (%s, %s, %s)"
                service.execute(statement, (LOG, UUID(int=chain), n))
        stage(database, 1, [2])

        with pytest.raises(AlreadyThere):
            await store.extend(tree, (await store.staged())[LOG])
        tree = await store.load(LOG, KEY.public)
        assert await store.extend(tree, (await store.staged())[LOG], careful=True) == 1

        assert await store.staged() == {}
    assert leaves(database) == [(1, 0), (1, 1), (1, 2)]


async def test_logs_are_found_each_with_its_own_numbers_the_one_that_waits_longest_first(database: Database) -> None:
    stage(database, 1, range(2), log="localhost/b/1")
    stage(database, 2, range(1), log="localhost/a/1")
    stage(database, 3, range(1), log="localhost/b/1")
    async with opened(database) as store:
        found = await store.staged()
        last = found["localhost/a/1"][0]

        assert {log: len(numbers) for log, numbers in found.items()} == {"localhost/b/1": 3, "localhost/a/1": 1}
        assert next(iter(found)) == "localhost/b/1"
        assert await store.staged(passing=["localhost/b/1"]) == {"localhost/a/1": [last]}
        assert list(await store.staged(above=last)) == ["localhost/b/1"]


LEFT = (
    *("nothing", "localhost/1", "localhost/tenant/0", "localhost/tenant/x", "/tenant/1", "localhost//1"),
    *("localhost/a b/1", "localhost/a+b/1", "localhost/a/b/1", "localhost/a\nb/1", "localhost/../1", "localhost/ü/1"),
    *("localhost/tenant/01", "localhost/tenant/٣", "localhost/tenant/9999999999", f"localhost/{'x' * 101}/1"),
    *("localhost/tenant/1\n", "localhost/a\u202eb/1", f"localhost/tenant/{'9' * 5_000}"),
)


@pytest.mark.parametrize("name", LEFT)
async def test_a_log_without_tenant_or_epoch_in_its_name_is_not_begun(module_database: Database, name: str) -> None:
    async with opened(module_database) as store:
        with pytest.raises(BadLogName):
            await store.load(name, KEY.public)


async def test_a_log_of_another_host_than_the_keys_is_not_begun(database: Database) -> None:
    stage(database, 1, [0], log="elsewhere/default/1")

    async with opened(database) as store:
        with pytest.raises(BadLogName, match=r"'localhost'.*GAINSAY_LOG_HOST"):
            await store.load("elsewhere/default/1", KEY.public)
        assert await store.logs() == []
        assert list(await store.staged()) == ["elsewhere/default/1"]


async def test_a_tenant_has_one_log_of_an_epoch(database: Database) -> None:
    async with opened(database) as store:
        await store.load(LOG, KEY.public)

        with pytest.raises(BadLogName, match="GAINSAY_LOG_HOST"):
            await store.load("elsewhere/default/1", SigningKey.from_seed("elsewhere", bytes(32)).public)


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE gainsay.leaf SET hash = sha256('other') WHERE idx = 299",
        "DELETE FROM gainsay.leaf WHERE idx = 299",
        "UPDATE gainsay.tile SET hashes = set_byte(hashes, 7, 255 - get_byte(hashes, 7))",
        "DELETE FROM gainsay.tile",
        "UPDATE gainsay.batch SET root = sha256('other')",
        "UPDATE gainsay.batch SET frontier = set_byte(frontier, 7, 255 - get_byte(frontier, 7))",
        "UPDATE gainsay.batch SET frontier = ''",
    ],
)
async def test_a_tree_whose_parts_do_not_fit_together_is_not_gone_on_with(database: Database, tampering: str) -> None:
    stage(database, 1, range(300))
    async with opened(database) as store:
        tree = await store.load(LOG, KEY.public)
        await store.extend(tree, (await store.staged())[LOG])
        with psycopg.connect(database.admin_url) as admin:
            for table in ("leaf", "tile", "batch"):
                admin.execute(f"ALTER TABLE gainsay.{table} DISABLE TRIGGER refuse_change".encode())
            admin.execute(tampering.encode())

        with pytest.raises(TreeDamaged):
            await store.load(LOG, KEY.public)


async def test_one_session_leads_and_the_next_one_when_it_has_ended(database: Database) -> None:
    stage(database, 1, range(1))
    first, second = SequencerLeadership(database.sequencer_url), SequencerLeadership(database.sequencer_url)
    try:
        assert await first.staged() is not None
        assert await second.staged() is None
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute(END_THE_LEADER)

            with pytest.raises(StoreUnavailable):
                await first.staged()
        assert list(await second.staged() or {}) == [LOG]
        assert await first.staged() is None
    finally:
        await first.close()
        await second.close()


# -- roles


def statements_of(url: str, statement: str) -> None:
    with psycopg.connect(url, options="-c search_path=gainsay") as connection:
        connection.execute(statement.encode())


ID = "'00000000-0000-0000-0000-000000000001'"


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO entry VALUES ({ID}, 0, '')",
        f"INSERT INTO payload VALUES ({ID}, 0, '', '')",
        f"INSERT INTO pending (log, debate, n) VALUES ('l', {ID}, 0)",
        "SELECT FROM payload",
        "SELECT FROM document",
        "SELECT FROM debate_head",
        "UPDATE leaf SET idx = idx",
        "DELETE FROM leaf",
        "DELETE FROM batch",
        "DELETE FROM checkpoint",
        "DELETE FROM incident",
        "TRUNCATE leaf",
        "UPDATE debate_head SET state = 'failed'",
        "SET ROLE gainsay_owner",
        "SET ROLE gainsay_writer",
        "CREATE TABLE mine (n integer)",
    ],
)
def test_the_sequencer_may_not(module_database: Database, statement: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        statements_of(module_database.sequencer_url, statement)


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO leaf VALUES ('l', 0, {ID}, 0, sha256(''))",
        "INSERT INTO batch (log, first, next, root, frontier) VALUES ('l', 0, 1, sha256(''), '')",
        "INSERT INTO tile VALUES ('l', 0, 0, '')",
        "INSERT INTO checkpoint VALUES ('l', 1, sha256(''), '')",
        "INSERT INTO cosignature VALUES ('l', 1, 'w', '')",
        "INSERT INTO incident (log, what, closes) VALUES ('l', 'w', 1)",
        "DELETE FROM pending",
        "SET ROLE gainsay_sequencer",
    ],
)
def test_the_service_may_not(module_database: Database, statement: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        statements_of(module_database.service_url, statement)


# -- what a server must be


def test_databases_of_tests_are_accepted(module_database: Database) -> None:
    check_database(module_database.service_url, MIGRATIONS)
    check_sequencer(module_database.sequencer_url, MIGRATIONS)
    refuse_incidents(module_database.service_url)


@pytest.mark.parametrize(
    ("role", "error"), [("admin_url", UnsafeRole), ("migrate_url", UnsafeRole), ("service_url", UnsafeRole)]
)
def test_the_sequencer_is_refused_a_role_that_does_more(
    module_database: Database, role: str, error: type[GainsayError]
) -> None:
    with pytest.raises(error, match="GAINSAY_SEQUENCER_URL"):
        check_sequencer(getattr(module_database, role), MIGRATIONS)


def test_the_sequencer_is_refused_a_role_that_does_less(cluster: Cluster, module_database: Database) -> None:
    nobody = f"{module_database.name}_nobody"
    cluster.admin.execute(f"CREATE ROLE {nobody} LOGIN PASSWORD 'nobody' IN ROLE gainsay_reader".encode())
    try:
        url = psycopg.conninfo.make_conninfo(module_database.service_url, user=nobody, password="nobody")
        with pytest.raises(RolesMissing, match="gainsay_sequencer"):
            check_sequencer(url, MIGRATIONS)
    finally:
        cluster.admin.execute(f"DROP ROLE {nobody}".encode())


def test_an_address_of_the_sequencer_that_cannot_be_read_is_named_and_not_shown() -> None:
    with pytest.raises(SettingsError, match="GAINSAY_SEQUENCER_URL") as caught:
        check_sequencer("postgresql://sequencer:hunter2@:x", MIGRATIONS)

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("which", ["service_url", "sequencer_url"])
def test_a_commit_that_is_not_waited_for_is_refused_wherever_it_is_switched_off(
    database: Database, cluster: Cluster, which: str
) -> None:
    url = getattr(database, which)
    check = check_database if which == "service_url" else check_sequencer
    with pytest.raises(NotDurable, match="synchronous_commit = off"):
        check(psycopg.conninfo.make_conninfo(url, options="-c synchronous_commit=off"), MIGRATIONS)

    user = psycopg.conninfo.conninfo_to_dict(url)["user"]
    cluster.admin.execute(f'ALTER ROLE "{user}" IN DATABASE {database.name} SET synchronous_commit = off'.encode())
    with pytest.raises(NotDurable, match="set by: database user"):
        check(url, MIGRATIONS)

    cluster.admin.execute(f'ALTER ROLE "{user}" IN DATABASE {database.name} SET synchronous_commit = local'.encode())
    check(url, MIGRATIONS)


def test_an_open_incident_refuses_the_start_until_a_row_closes_it(database: Database) -> None:
    with psycopg.connect(database.sequencer_url) as sequencer:
        sequencer.execute("INSERT INTO gainsay.incident (log, what) VALUES (%s, 'it shrank')", (LOG,))
    with pytest.raises(OpenIncident, match=f"log {LOG}.*it shrank"):
        refuse_incidents(database.service_url)

    with psycopg.connect(database.migrate_url) as migrator:
        migrator.execute("SET ROLE gainsay_owner")
        migrator.execute("INSERT INTO gainsay.incident (log, what, closes) VALUES (%s, 'put right', 1)", (LOG,))
    refuse_incidents(database.service_url)
