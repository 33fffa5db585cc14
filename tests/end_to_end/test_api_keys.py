"""API keys over HTTP: let in, refused in each hostile form, and revoked on every process within 5 s."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from service.identity.api_keys import write_key
from service.identity.issuing import Issued, Issuing
from service.store.pool import Database as Store
from tests.fixtures.issuing import KEYBOARD, a_key, issuing_on
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, served

ASKED = "/v1/models"


@pytest.fixture
def identity(tmp_path: Path) -> str:
    path = tmp_path / "identity.toml"
    path.write_text("[keys]\n")
    return str(path)


@pytest.fixture
async def issuing(database: Database) -> AsyncIterator[Issuing]:
    async with Store.open(database.service_url, size=1) as store:
        yield issuing_on(store)


def authorized(key: Issued | str) -> dict[str, str]:
    return {"authorization": f"Bearer {key if isinstance(key, str) else key.secret}"}


async def status(service: Served, key: Issued) -> int:
    return (await service.http.get(ASKED, headers=authorized(key))).status_code


async def test_what_is_revoked_is_refused_by_each_of_two_processes_within_5_seconds(
    database: Database, identity: str, issuing: Issuing
) -> None:
    key = await issuing.issue(KEYBOARD, a_key())
    other = await issuing.issue(KEYBOARD, a_key("gainsay"))
    url = database.service_url
    async with (
        served(url, work=False, sequence=False, GAINSAY_IDENTITY=identity) as one,
        served(url, work=False, sequence=False, GAINSAY_IDENTITY=identity) as two,
    ):
        pairs = [(service, given) for service in (one, two) for given in (key, other)]
        assert [await status(*pair) for pair in pairs] == [200] * 4  # and each process keeps these answers

        await issuing.revoke_key(KEYBOARD, "default", key.row.id)
        await issuing.revoke_subject(KEYBOARD, "gainsay", other.row.subject)
        begun = time.monotonic()
        while any([await status(*pair) == 200 for pair in pairs]):  # noqa: ASYNC110 - a client learns it by asking
            await asyncio.sleep(0.05)

        assert time.monotonic() - begun < 5
        assert [await status(*pair) for pair in pairs] == [401] * 4


async def test_every_way_to_present_a_key_but_one_is_refused(
    database: Database, identity: str, issuing: Issuing
) -> None:
    key = (await issuing.issue(KEYBOARD, a_key())).secret
    async with served(database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=identity) as service:
        let_in = await service.http.get(ASKED, headers=authorized(key))
        assert let_in.status_code == 200, let_in.text
        refusals = [
            await service.http.get(f"{ASKED}?api_key={key}"),
            await service.http.get(f"{ASKED}?access_token={key}"),
            await service.http.get(ASKED, headers=[*authorized(key).items(), *authorized(key).items()]),
            await service.http.get(ASKED, headers={"authorization": f"Basic {key}"}),
            await service.http.get(ASKED, headers={"x-api-key": key}),
            await service.http.get(ASKED, headers={"cookie": f"key={key}"}),
            await service.http.get(ASKED, headers=[(b"authorization", b"Bearer gainsay_\xc3\xbc\xff")]),
            await service.http.get(ASKED, headers=authorized(key[:-1])),
            await service.http.get(ASKED, headers=authorized(key[:-1] + ("0" if key[-1] != "0" else "1"))),
            await service.http.get(ASKED, headers=authorized(write_key(b"\7" * 32))),
            await service.http.get(ASKED),
        ]
        long = await service.http.get(ASKED, headers=authorized(key * 18_000))  # a megabyte: the server's own limit

    assert [answer.status_code for answer in refusals] == [401] * len(refusals)
    assert {answer.json()["code"] for answer in refusals} == {"unauthenticated"}
    assert all(answer.headers["www-authenticate"].startswith('Bearer realm="gainsay"') for answer in refusals)
    assert all(key not in answer.text for answer in refusals)
    assert 400 <= long.status_code < 500


async def test_the_register_shows_when_a_key_was_used_last(database: Database, identity: str, issuing: Issuing) -> None:
    key = await issuing.issue(KEYBOARD, a_key())
    async with served(database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=identity) as service:
        assert key.row.last_used is None
        assert await status(service, key) == 200
        async with asyncio.timeout(10):
            while (row := await issuing.show_key(KEYBOARD, "default", key.row.id)).last_used is None:  # noqa: ASYNC110
                await asyncio.sleep(0.02)

    assert row.created < row.last_used
