"""Evaluations by each client against a service: registered, followed, read, listed, reported, saved and stopped."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args

import pytest
import pytest_asyncio

from service.audit.evaluation_bundle import is_evaluation
from service.evaluation.scoring.result import Outcome
from tests.fixtures.client_drivers import Driver, Failed
from tests.fixtures.evaluating import a_plan, give_sets
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, served

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.long]


PAGE = Path(__file__).parents[3] / "docs" / "evaluation.md"


def write(path: Path, text: str) -> None:
    path.write_text(text, "utf-8")


def text_of(path: str) -> str:
    return Path(path).read_text("utf-8")


def is_bundle(path: Path) -> bool:
    with path.open("rb") as file:
        return is_evaluation(file)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(module_database: Database) -> AsyncIterator[Served]:
    """A service with the tiny golden sets."""
    async with served(module_database.service_url) as made:
        give_sets(made.app)
        yield made


async def test_an_evaluation_is_registered_once_followed_and_read(driver: Driver, site: Served, tmp_path: Path) -> None:
    key, plan = f"plan-{type(driver).__name__}", a_plan("critic")
    async with driver.open(site.url) as client:
        first = await client.call("register_evaluation", plan, key=key)
        again = await client.call("register_evaluation", plan, key=key)
        evaluation = first["evaluationId"]
        assert again["evaluationId"] == evaluation

        events = await client.collect("follow_evaluation", evaluation)
        rest = await client.collect("follow_evaluation", evaluation, after=2)
        assert [event["id"] for event in events] == list(range(7))
        assert (events[-1]["name"], rest) == ("evaluation.concluded", events[3:])

        found = await client.call("evaluation", evaluation)
        assert (found["status"], found["scored"]) == ("concluded", 2)
        assert (await client.call("evaluations", limit=1))["evaluations"][0]["evaluationId"] == evaluation
        assert json.loads(await client.call("evaluation_report", evaluation, "json")) == found["result"]
        assert (await client.call("evaluation_report", evaluation)).startswith("# ")
        assert (await client.call("evaluation_report", evaluation, "pdf")).startswith("%PDF-")
        sets = {each["id"]: each for each in (await client.call("evaluation_sets"))["sets"]}
        assert sets["tiny-critic"]["sha256"] == found["sets"][0]["sha256"]
        saved = await client.call("export_evaluation", evaluation, str(tmp_path / "records.jsonl"))
        bundle = await client.call("export_evaluation", evaluation, str(tmp_path / "evaluation.zip"), form="bundle")
        stopped = await client.call("stop_evaluation", evaluation, reason="too late")
        assert stopped == found
    assert '"filters":{"evaluation":' in text_of(saved).splitlines()[0]
    assert is_bundle(Path(bundle))


async def test_the_example_of_the_page_does_what_it_says(
    site: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", text_of(str(PAGE)), re.DOTALL)
    address = '"https://gainsay.bank.example", token="..."'
    assert address in block
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "plan.toml", a_plan("critic"))

    await asyncio.to_thread(exec, block.replace(address, f'"{site.url}"'), {})

    told = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in told[:-1]] == list("0123456")
    assert told[-1] in get_args(Outcome)
    assert text_of(str(tmp_path / "records.jsonl")).endswith('{"records":49}\n')
    assert is_bundle(tmp_path / "evaluation.zip")


async def test_an_evaluation_that_is_refused_or_absent_is_an_error_with_its_code(driver: Driver, site: Served) -> None:
    async with driver.open(site.url) as client:
        with pytest.raises(Failed, match="invalid_plan") as refused:
            await client.call("register_evaluation", a_plan("critic").replace("repeats = 1", "repeats = 2"))
        assert [fault["pointer"] for fault in refused.value.members["errors"]] == ["/plan/plan/repeats"]
        for name in ("evaluation", "stop_evaluation", "evaluation_report"):
            with pytest.raises(Failed, match="not_found"):
                await client.call(name, "01920000-0000-7000-8000-000000000000")
