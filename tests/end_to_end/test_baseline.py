"""`gainsay baseline`: what is counted, what is refused, what is kept for good, and what processes show of it."""

from __future__ import annotations

import asyncio
import json
import re
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from service import telemetry
from service.cli import main
from service.cli.probe.case import the_case
from service.store.baseline import Baselines
from tests.fixtures.policies import WRITTEN, policy_file
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, a_case, a_declined_case, served

RECORD = ("baseline", "record", "--task-type", "contract", "--by", "Ada Lovelace", "--yes")


async def debated(site: Served, number: int) -> list[int]:
    """How many explicit uncertainties so many new debates have."""

    async def one(nth: int) -> int:
        result = await site.finished(a_case(question=f"Is the liability capped in version {nth}?"))
        assert result["status"] == "completed"
        return len(result.get("explicitUncertainties", ()))

    return [found for nth in range(0, number, 5) for found in await asyncio.gather(*map(one, range(nth, nth + 5)))]


async def test_a_baseline_is_counted_recorded_shown_and_never_changed(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAINSAY_DATABASE_URL", database.service_url)
    monkeypatch.delenv("GAINSAY_SERVER", raising=False)

    async def run(*words: str) -> tuple[int, str]:
        capfd.readouterr()
        code = await asyncio.to_thread(main, [*words])
        return code, capfd.readouterr().out

    async with served(database.service_url) as site:
        counts = await debated(site, 15)
        await site.submit(a_declined_case())
        few, said = await run(*RECORD)
        counts += await debated(site, 10)
        code, recorded = await run(*RECORD)
        _, listed = await run("baseline", "show", "--json")
        none = await run("baseline", "record", "--task-type", "contrakt", "--by", "Ada", "--yes")
        other, _ = await run(*RECORD[:-2], "Grace Hopper", "--yes")
        _, text = await run("baseline", "show")
        await Baselines(site.app.database).look()
        metrics = (await site.http.get("/metrics")).text

    mean = sum(counts) / len(counts)
    assert len(counts) == 25
    assert sum(counts) > 0, "the simulated moderator has uncertainties, so that there is a mean to compare"
    assert few == 1
    assert "in 15 debates of" in said
    assert "not recorded: a baseline needs 20 debates" in said
    assert code == 0
    assert f"contract: {mean:.3f} explicit uncertainties a debate, in 25 debates of the last 90 days" in recorded
    assert re.search(r"recorded at \d{4}-\S+ by Ada Lovelace\n", recorded)
    (row,) = json.loads(listed)
    assert (row["taskType"], row["debates"], row["uncertainties"]) == ("contract", 25, sum(counts))
    assert (Decimal(str(row["mean"])), row["recordedBy"]) == (Decimal(str(round(mean, 6))), "Ada Lovelace")
    assert none[0] == 1
    assert other == 0
    assert [line.rsplit(" by ", 1)[1] for line in text.splitlines()] == [
        "Grace Hopper (in force)",
        "Ada Lovelace (before)",
    ]
    assert f'gainsay_debate_explicit_uncertainties_baseline{{task_type="contract"}} {mean}' in metrics
    assert metrics.count("gainsay_debate_explicit_uncertainties_baseline{") == 1
    for change in ("UPDATE uncertainty_baseline SET debates = 99", "DELETE FROM uncertainty_baseline"):
        with (
            psycopg.connect(database.admin_url, options="-c search_path=gainsay") as admin,
            pytest.raises(psycopg.DatabaseError, match="evidence is only ever added"),
        ):
            admin.execute(change.encode())


async def test_the_prober_s_debates_are_in_no_baseline(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    policy = policy_file(tmp_path, **WRITTEN, tenants={"default": {"purpose": "probe"}})
    monkeypatch.setenv("GAINSAY_DATABASE_URL", database.service_url)
    monkeypatch.delenv("GAINSAY_SERVER", raising=False)
    before = telemetry.UNCERTAINTIES.labels(task_type="contract")._sum.get()
    async with served(database.service_url, GAINSAY_POLICY=str(policy)) as site:
        for nth in range(21):
            case = {**the_case(60), "question": f"Is it capped in version {nth}?"}
            assert (await site.finished(case))["status"] == "completed"
        code = await asyncio.to_thread(main, [*RECORD])

    assert code == 1
    assert "in 0 debates" in capfd.readouterr().out
    assert telemetry.UNCERTAINTIES.labels(task_type="contract")._sum.get() == before


def test_a_baseline_that_is_not_asked_for_well_is_refused(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAINSAY_SERVER", "http://127.0.0.1:9")
    monkeypatch.delenv("GAINSAY_DATABASE_URL", raising=False)

    assert main([*RECORD]) == 2
    assert "works on a database" in capfd.readouterr().err
    for words in (("--days", "0"), ("--by", " "), ("--by", "x" * 201)):
        assert main([*RECORD, *words]) == 2
