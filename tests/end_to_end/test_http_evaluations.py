"""Evaluations over HTTP: a plan whole or not at all, its run, its stream, its report, its records, and other tenants."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from service.audit.note import PublicKey
from service.evaluation.scoring.result import compared, result_hash, result_of
from service.evaluation.sets import files
from service.policy.settings import SHIPPED_POLICY
from service.reviews.evaluation_sets import GoldenShelf
from service.verify import export
from service.verify.steps import Trust
from tests.fixtures.callers import Known, Registers, identity_file
from tests.fixtures.evaluating import GOLDEN, a_plan
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, SIGNING_KEY, Event, Served, events_of, ids_of, served
from tests.fixtures.spending import rows

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.long]
NOWHERE = "/v1/evaluations/01890a5d-ac96-774b-bcce-b302099a8057"
HELD = a_plan("critic").replace('split = "open"', 'split = "held"')


class Stage:
    """A service with identities that has the tiny sets, and its callers by name."""

    def __init__(self, site: Served, callers: dict[str, Known]) -> None:
        self.site, self.callers = site, callers

    async def get(self, path: str, by: str = "validator", **headers: str) -> httpx.Response:
        return await self.site.http.get(path, headers={**self.callers[by].headers, **headers})

    async def post(self, path: str, by: str = "validator", json: JSON | None = None, **headers: str) -> httpx.Response:
        return await self.site.http.post(path, json=json, headers={**self.callers[by].headers, **headers})

    async def ended(self, path: str) -> JSON:
        for _ in range(1200):
            found = await self.get(path)
            assert found.status_code == 200, found.text
            told: JSON = found.json()
            if told["status"] != "running":
                return told
            assert found.headers["retry-after"] == "1"
            await asyncio.sleep(0.05)
        raise AssertionError(f"the evaluation did not end: {found.text}")


def a_policy(folder: Path) -> str:
    """The shipped policy, by which a validator's items may force their debates."""
    text = SHIPPED_POLICY.read_text("utf-8").replace('may_force = ["operator"]', 'may_force = ["operator", "validator"]')
    path = folder / "policy.toml"
    path.write_text(text, "utf-8")
    return str(path)


def give_sets(site: Served) -> None:
    """Give a service the tiny sets beside the shipped ones, to its desk and to its feeder."""
    shelf = GoldenShelf(sorted(GOLDEN.glob("tiny-*")))
    site.app.evaluations.shelf = site.app.evaluating.desk.shelf = shelf


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("identity")
    policy = a_policy(folder)
    async with served(
        module_database.service_url, GAINSAY_IDENTITY=identity_file(folder), GAINSAY_POLICY=policy
    ) as site:
        give_sets(site)
        registers = Registers(module_database)
        await registers.add_tenant("other")
        callers = {role: await registers.issue(role) for role in ("validator", "operator", "auditor", "requester")}
        callers["second"] = await registers.issue("validator")
        callers["other"] = await registers.issue("validator", tenant="other")
        yield Stage(site, callers)


async def test_a_plan_is_registered_run_followed_reported_and_verified(stage: Stage) -> None:
    answer = await stage.post("/v1/evaluations", json={"plan": a_plan("critic")})

    assert answer.status_code == 202, answer.text
    path = answer.headers["location"]
    told = await stage.ended(path)
    assert told["evaluationId"] == answer.json()["evaluationId"]
    assert (told["status"], told["planned"], told["asked"], told["scored"]) == ("concluded", 2, 2, 2), told
    assert told["links"]["self"] == path
