"""Debates of the offline models over the shipped samples and over real documents beside the project."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service import samples
from service.debate.entries import CheckFound
from service.debate.findings import CitationsFound
from service.debate.formats import NAMES
from service.debate.kernel import replay
from service.intake.request import CaseRequest
from service.report import build_result
from service.simulated import OfflineProvider
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, bench

pytestmark = pytest.mark.replay

REAL = {
    "contract": ("Does this agreement expose us to uncapped liability?", "cuad-garrett.txt"),
    "security": ("Are these authenticator requirements sufficient against phishing?", "nist-63b-auth.txt"),
    "security-sessions": (
        "Is the session management design sufficient against session hijacking?",
        "owasp-session.txt",
    ),
    "architecture": ("Should we adopt the decisions recorded here for our forms platform?", "adr-govuk.txt"),
    "compliance": ("Does a practice of keeping no records of declined applications comply?", "reg-1080.txt"),
}


async def debated(service: Bench, body: dict[str, Any]) -> dict[str, Any]:
    """The result of a whole debate of a case, replayed, its quotations looked up again in the documents."""
    request = msgspec.json.decode(msgspec.json.encode(body), type=CaseRequest)
    debate = (await service.reviews.submit(request, CALLER)).debate
    assert await service.claim() == debate
    await (await service.runner(debate)).run()
    lines = await service.reviews.lines(debate, CALLER)
    replay(await service.case(debate), [line.entry for line in lines])
    texts = {d.get("id") or f"D{i}": d["text"] for i, d in enumerate(body["documents"], start=1)}
    found = [e.entry.finding for e in lines if isinstance(e.entry, CheckFound)]
    for verdict in [v for f in found if isinstance(f, CitationsFound) for a in f.arguments for v in a.verdicts]:
        assert verdict.verdict == "verified"
        assert verdict.source_id is not None
        assert verdict.span is not None
        start, end = verdict.span
        assert texts[verdict.source_id][start:end] == verdict.text
    read: dict[str, Any] = json.loads(msgspec.json.encode(build_result(debate, lines)))
    return read


def quotes(read: dict[str, Any], side: str) -> set[str]:
    """What a side quoted in the first round."""
    part = read["rounds"][0][f"{side}Position"]
    return {citation["quote"] for citation in part["evidence_cited"]}


async def test_13_4_a_contract_clause_is_debated_from_end_to_end(database: Database) -> None:
    async with bench(database.service_url, OfflineProvider()) as service:
        read = await debated(service, samples.load("contract").case)

        for record in read["rounds"]:
            assert record["proposerPosition"]["supporting_arguments"]
            assert record["criticPosition"]["counter_arguments"]
            assert record["rebuttalPosition"]["rebuttals"] or record["rebuttalPosition"]["concessions"]
            assert record["moderatorEvaluation"]["confidenceLevel"] in ("HIGH", "MODERATE", "LOW")
            assert record["moderatorEvaluation"]["explicitUncertainties"]
        cost = read["overallCost"]
        assert 0 < Decimal(cost["spentUSD"]) <= Decimal(cost["ceilingUSD"])
        assert Decimal(cost["spentUSD"]) <= Decimal("1.5") * Decimal(cost["expectedUSD"])
        assert read["simulated"] is True


@pytest.mark.parametrize("name", samples.names())
async def test_every_sample_is_debated_to_its_end_and_both_sides_quote(database: Database, name: str) -> None:
    async with bench(database.service_url, OfflineProvider()) as service:
        read = await debated(service, samples.load(name).case)

        assert read["status"] == "completed"
        assert quotes(read, "proposer")
        assert not quotes(read, "proposer") & quotes(read, "critic")


async def test_one_sample_makes_its_critic_try_again_and_one_ends_low(database: Database) -> None:
    async with bench(database.service_url, OfflineProvider()) as service:
        told = {name: await debated(service, samples.load(name).case) for name in samples.names()}

        retried = [name for name, read in told.items() if any("criticFirstTake" in d for d in read["roundDetails"])]
        low = [name for name, read in told.items() if read["decision"]["confidence"] == "LOW"]
        assert retried
        assert low
        assert len(retried) < len(told)
        assert len(low) < len(told)


@pytest.mark.parametrize(
    ("name", "variant"),
    [(name, variant) for name in samples.names() for variant in samples.variants(name)],
)
async def test_every_variant_of_a_sample_is_debated_to_its_end(database: Database, name: str, variant: str) -> None:
    async with bench(database.service_url, OfflineProvider()) as service:
        read = await debated(service, samples.load(name, variant).case)

        assert read["status"] == "completed"
        if variant == "positions":
            assert [ranked["rank"] for ranked in read["result"]["ranking"]] == [1, 2, 3]
        if variant == "evidence":
            assert {shift["seat"] for shift in read["shifts"]} == {"proposer", "critic", "rebuttal"}


FORMATS = tuple(name for name in NAMES if name != "adversarial")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("form", FORMATS)
async def test_every_sample_is_debated_to_its_end_in_every_format_on_true_quotations_alone(
    database: Database, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with bench(database.service_url, OfflineProvider()) as service:
        told = {name: await debated(service, samples.load(name, form).case) for name in samples.names()}

        for read in told.values():
            assert read["status"] == "completed"
            assert read["format"].partition("/")[0] == form
            assert read["simulated"] is True
            cost = read["overallCost"]
            assert 0 < Decimal(cost["spentUSD"]) <= Decimal(cost["ceilingUSD"]) == Decimal("0.50")
            arguments = [a for spoken in read["transcript"] for a in spoken["arguments"]]
            assert arguments
            assert not any(a.get("struck") for a in arguments)
            assert sum(bool(a.get("citations")) for a in arguments) >= 0.75 * len(arguments)
    assert capsys.readouterr() == ("", "")


@pytest.mark.timeout(300)
async def test_simulated_panels_and_debaters_agree_on_some_samples_and_not_on_others(database: Database) -> None:
    async with bench(database.service_url, OfflineProvider()) as service:
        reached, met = set(), set()
        for name in samples.names():
            panel = (await debated(service, samples.load(name, "panel").case))["result"]
            reached.add(panel["consensusReached"])
            overall = [round_["overall"] for round_ in panel["consensus"]]
            assert overall[-1] > overall[0], name
            met.add(
                (await debated(service, samples.load(name, "convergence").case))["result"].get("convergedIn") is None
            )

        assert reached == {True, False}
        assert met == {True, False}


@pytest.mark.timeout(300)
async def test_real_documents_give_different_debates_whose_quotations_are_all_true(
    database: Database, shared: Path
) -> None:
    async with bench(database.service_url, OfflineProvider()) as service:
        told = {}
        for name, (question, file) in REAL.items():
            body = {
                "question": question,
                "taskType": name.partition("-")[0],
                "estimatedDownside": 500000,
                "documents": [
                    {"id": "D1", "title": file, "text": (shared / "data/documents" / file).read_text("utf-8")}
                ],
                "costCeilingUSD": "2",
            }
            told[name] = await debated(service, body)

        theses = [read["framing"]["thesis"] for read in told.values()]
        assert len(set(theses)) == len(theses)
        for read in told.values():
            assert read["status"] == "completed"
            assert quotes(read, "proposer")
            assert not quotes(read, "proposer") & quotes(read, "critic")
            assert read["rounds"][0]["moderatorEvaluation"]["explicitUncertainties"]
