"""Golden sets of one's own in a service: named by a setting, refused with a fault, listed, asked, missing elsewhere."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.reviews.evaluation_sets import GoldenShelf
from tests.end_to_end.processes import deployed
from tests.fixtures.evaluating import GOLDEN, a_plan
from tests.fixtures.postgres import Database
from tests.fixtures.serving import served
from tests.fixtures.spending import rows

pytestmark = pytest.mark.long
OWN = "GAINSAY_EVALUATION_SETS"
TINY = str(GOLDEN / "tiny-critic")


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A set whose first label has an answer that there is not, and whose second item tells its own."""
    folder = tmp_path / "broken"
    shutil.copytree(GOLDEN / "tiny-questions", folder)
    labels, items = folder / "labels.jsonl", folder / "items.jsonl"
    first, *others = labels.read_text("utf-8").splitlines(keepends=True)
    labels.write_text("".join([first.replace('"no"', '"never"').replace('"yes"', '"never"'), *others]), "utf-8")
    lines = items.read_text("utf-8").splitlines(keepends=True)
    items.write_text("".join([lines[0], lines[1].replace("{", '{"answer": "yes", ', 1), *lines[2:]]), "utf-8")
    return folder


async def ended(http: httpx.AsyncClient, path: str) -> dict[str, Any]:
    """The evaluation at its end."""
    told: dict[str, Any] = {}
    for _ in range(1_200):
        told = (await http.get(path)).json()
        if told["status"] != "running":
            return told
        await asyncio.sleep(0.05)
    raise AssertionError(f"it did not end: {told}")


@pytest.mark.parametrize("command", ["serve", "work"])
async def test_a_set_with_faults_stops_the_start_and_each_is_named_by_file_and_line(
    database: Database, tmp_path: Path, broken: Path, command: str
) -> None:
    variables = {OWN: f"{TINY},{broken},{tmp_path}/nowhere"}
    async with deployed(database, tmp_path, **variables) as deployment:
        process = deployment.start(command, "--port", "0")
        code = await process.ends()

    assert code == 2, process.told
    for words in (
        f"{OWN}, faults of golden sets: ",
        f"{broken}/labels.jsonl:1: answer: 'never' is not in the closed list",
        f"{broken}/items.jsonl:2: answer: this is a label's member",
        f"found none at {tmp_path}/nowhere",
    ):
        assert words in process.told, process.told
    assert "tiny-critic" not in process.told
    assert "Traceback" not in process.told


async def test_commands_that_ask_no_set_start_whatever_the_sets_are(
    database: Database, tmp_path: Path, broken: Path
) -> None:
    async with deployed(database, tmp_path, **{OWN: str(broken)}) as deployment:
        listed = deployment.start("list")
        assert await listed.ends() == 0, listed.told


async def test_the_command_line_asks_the_sets_of_the_setting_too(
    database: Database, tmp_path: Path, broken: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(a_plan("critic"), "utf-8")
    async with deployed(database, tmp_path, **{OWN: TINY}) as deployment:
        of_setting, twice, faulty = [
            deployment.start("evaluate", "plan", str(plan), *words)
            for words in ((), ("--sets", TINY), ("--sets", str(broken)))
        ]
        codes = [await process.ends() for process in (of_setting, twice, faulty)]

    assert codes == [0, 0, 2], faulty.told
    assert f"bad_set: {broken}/items.jsonl:2: answer: this is a label's member" in faulty.told


async def test_a_service_asks_a_set_of_its_setting_to_its_result(database: Database) -> None:
    async with served(database.service_url, GAINSAY_EVALUATION_SETS=TINY) as site:
        listed = {each["id"]: each for each in (await site.http.get("/v1/evaluation-sets")).json()["sets"]}
        answer = await site.http.post("/v1/evaluations", json={"plan": a_plan("critic")})
        assert answer.status_code == 202, answer.text
        told = await ended(site.http, answer.headers["location"])

    assert (listed["tiny-critic"]["shipped"], listed["contract-critic"]["shipped"]) == (False, True)
    assert (told["status"], told["scored"]) == ("concluded", 2)
    assert told["sets"][0]["sha256"] == listed["tiny-critic"]["sha256"]


async def test_a_plan_on_a_set_that_the_serving_process_has_not_is_refused_and_says_what_to_do(
    database: Database,
) -> None:
    async with served(database.service_url, work=False) as site:
        answer = await site.http.post("/v1/evaluations", json={"plan": a_plan("critic")})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_plan"), answer.text
    assert "there is no set 'tiny-critic' at hand here; there are architecture-critic, " in answer.json()["detail"]
    assert "to a service in GAINSAY_EVALUATION_SETS of the process that answers" in answer.json()["detail"]
    assert rows(database, "SELECT count(*) FROM gainsay.evaluation") == [(0,)]


async def test_a_set_of_one_tenant_is_neither_listed_nor_asked_in_another(database: Database) -> None:
    async with served(database.service_url, work=False, GAINSAY_EVALUATION_SETS=f"acme={TINY}") as site:
        listed = (await site.http.get("/v1/evaluation-sets")).json()["sets"]
        answer = await site.http.post("/v1/evaluations", json={"plan": a_plan("critic")})

    assert all(each["shipped"] for each in listed)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_plan"), answer.text
    assert rows(database, "SELECT count(*) FROM gainsay.evaluation") == [(0,)]


async def test_an_evaluation_whose_set_no_worker_has_waits_and_says_so_to_its_caller(database: Database) -> None:
    async with served(database.service_url, GAINSAY_EVALUATION_SETS=TINY) as site:
        desk = site.app.evaluating.desk
        given, desk.shelf = desk.shelf, GoldenShelf()
        path = (await site.http.post("/v1/evaluations", json={"plan": a_plan("critic")})).headers["location"]
        told: dict[str, Any] = {}
        while "was not given the set" not in told.get("paused", ""):
            told = (await site.http.get(path)).json()
            assert (told["status"], told["asked"]) == ("running", 0)
            await asyncio.sleep(0.05)
        desk.shelf = given
        assert (await ended(site.http, path))["status"] == "concluded"

    assert "name its folder in GAINSAY_EVALUATION_SETS of workers" in told["paused"]
