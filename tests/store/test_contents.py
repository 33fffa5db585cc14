"""What debates name by hash is kept once, and everything that a deployment runs by is kept before it takes work."""

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import Any

import psycopg
import pytest

from service.policy import encode_policy
from service.prompts import DIRECTORY
from service.store import contents
from service.store.pool import Database
from tests.fixtures import postgres
from tests.fixtures.running import Bench, bench


@pytest.fixture
async def store(database: postgres.Database) -> AsyncIterator[Database]:
    async with Database.open(database.service_url, size=4) as opened:
        yield opened


@pytest.fixture
async def desk(database: postgres.Database) -> AsyncIterator[Bench]:
    async with bench(database.service_url) as opened:
        yield opened


def rows(url: str, query: Any) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute(query).fetchall()


async def test_texts_come_back_by_their_hash_as_far_as_they_are_kept(store: Database) -> None:
    texts = [b"", b"one", bytes(range(256))]
    hashes = [sha256(text).hexdigest() for text in texts]

    await contents.store_texts(store, texts)

    assert await contents.read(store, hashes) == dict(zip(hashes, texts, strict=True))
    assert await contents.read(store, ["00" * 32]) == {}
    assert await contents.read(store, []) == {}


async def test_keeping_the_same_texts_at_once_and_again_keeps_them_once(
    store: Database, database: postgres.Database
) -> None:
    texts = [str(n).encode() for n in range(50)]

    await asyncio.gather(*(contents.store_texts(store, texts[n:] + texts[:n]) for n in range(8)))
    await contents.store_texts(store, texts)

    assert rows(database.admin_url, "SELECT count(*) FROM gainsay.content") == [(50,)]


async def test_everything_that_a_debate_names_by_hash_is_kept(desk: Bench) -> None:
    configuration = desk.deployment.configuration
    hashes = [desk.prompts.pin, desk.policy.gate.hash, sha256(configuration).hexdigest()]

    manifest, policy, kept = [(await contents.read(desk.database, [digest]))[digest] for digest in hashes]

    assert manifest == (DIRECTORY / "manifest.json").read_bytes()
    assert policy == encode_policy(desk.policy)
    assert kept == configuration


async def test_the_prompts_of_a_manifest_are_its_files(desk: Bench) -> None:
    prompts = await contents.read_prompts(desk.database, desk.prompts.pin)

    assert prompts is not None
    assert set(prompts) == {"manifest.json", *(entry.file for entry in desk.prompts.entries)}
    assert all(body == (DIRECTORY / name).read_bytes() for name, body in prompts.items())
    assert await contents.read_prompts(desk.database, "00" * 32) is None


async def test_who_asks_by_a_prompts_hash_finds_the_manifests_that_give_it_out(
    desk: Bench, database: postgres.Database
) -> None:
    given = {entry.id: entry.sha256 for entry in desk.prompts.entries if entry.current}

    found = rows(database.admin_url, "SELECT manifest, prompt, sha256 FROM gainsay.manifest_prompt")

    assert {(manifest, prompt): digest for manifest, prompt, digest in found} == {
        (desk.prompts.pin, prompt): digest for prompt, digest in given.items()
    }


async def test_a_second_start_writes_nothing_anew(desk: Bench, database: postgres.Database) -> None:
    counts = "SELECT (SELECT count(*) FROM gainsay.content), (SELECT count(*) FROM gainsay.manifest_prompt)"
    before = rows(database.admin_url, counts)

    await contents.store_deployment(desk.database, desk.deployment)

    assert rows(database.admin_url, counts) == before
