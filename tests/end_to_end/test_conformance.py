"""What the record of a whole debate has to hold, by the sections of EAAPL-MAG005 that demand it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from service.debate.entries import DebateStarted, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.kernel import decide
from service.debate.model import Ask
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.prompts.fence import blocks
from service.prompts.render import render
from service.prompts.request import Request, encode
from service.report import build_result, markdown
from service.store.stored_debate import read_documents
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, TEXT, Bench, CannedProvider, bench

pytestmark = pytest.mark.replay

LATER = "A side letter of 3 March 2026 removes the exception in clause 12.3 with effect from signing."
PERSONAS = {
    "framing": "You are a clerk to an arbitrator.",
    "proposer": "You are a senior litigation partner at a global law firm.",
    "critic": "You are a chief risk officer at a tier-1 bank.",
    "rebuttal": "You are general counsel.",
    "moderator": "You are a retired appellate judge.",
}


class Oscillating(CannedProvider):
    """A moderator that always wants another round, and seats that new evidence moves; keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.heard: list[Request] = []

    async def send(self, body: bytes) -> Any:
        self.heard.append(msgspec.json.decode(body, type=Request))
        return await super().send(body)

    @staticmethod
    def _answer(seat: str, round_: int, reply: dict[str, Any]) -> dict[str, Any]:
        if seat == "moderator":
            return {**reply, "recommendAnotherRound": True}
        if seat == "framing" or round_ == 1:
            return reply
        fresh = {
            "points": [
                {**p, "text": "A side letter removes the exception, so the indemnity falls under the fees paid again."}
                for p in reply.get("points", ())
            ]
        }
        shift = {"movement": "weakened", "because": "The side letter removes the exception."}
        return {**reply, **(fresh if seat == "critic" else {}), "shift": shift}


async def run(service: Bench) -> str:
    """A debate of two rounds with personas, late evidence and everything that a case may say of itself."""
    documents = [{"id": "D1", "title": "Master agreement", "text": TEXT}, {"id": "D2", "text": LATER, "round": 2}]
    return await service.run(
        documents=documents,
        options={"format": "adversarial", "maxRounds": 2, "personas": PERSONAS},
        costCeilingUSD="2",
        useCase="vendor onboarding",
        intendedUse="input to the outsourcing committee",
        materiality="moderate",
        downsideBasis="replacement cost of the vendor",
        metadata={"ticket": "OUT-118"},
    )


async def told(service: Bench, debate: str) -> dict[str, Any]:
    lines = await service.reviews.lines(debate, CALLER)
    read: dict[str, Any] = json.loads(msgspec.json.encode(build_result(debate, lines)))
    return read


async def test_8_2_the_audit_trail_of_a_debate_is_complete(database: Database) -> None:
    async with bench(database.service_url, Oscillating()) as service:
        debate = await run(service)

        entries = await service.entries(debate)
        replies = {e.turn: e for e in entries if isinstance(e, TurnSpoke)}
        seats = ("proposer", "critic", "rebuttal", "moderator")
        assert list(replies) == ["0.framing.1", *(f"{r}.{seat}.1" for r in (1, 2) for seat in seats)]
        assert all(spoke.usage and spoke.charge.amount > 0 for spoke in replies.values())
        assert (await service.case(debate)).question == "Does this agreement leave us with uncapped liability?"
        read = await told(service, debate)
        assert read["framing"]["thesis"] == "The agreement leaves us uncapped."
        assert [r["roundNumber"] for r in read["rounds"]] == [1, 2]
        for record in read["rounds"]:
            assert all(record[part] for part in record)
            assert all(tokens > 0 for tokens in record["tokenCost"].values())
        assert read["synthesis"] == "The exception lifts the limit for the indemnity."
        assert read["decision"]["confidence"] == read["moderatorConfidenceLevel"] == "MODERATE"
        assert read["explicitUncertainties"] == ["No schedule was given."]


async def test_8_2_what_a_case_says_of_itself_stands_in_result_and_report(database: Database) -> None:
    async with bench(database.service_url, Oscillating()) as service:
        debate = await run(service)

        lines = await service.reviews.lines(debate, CALLER)
        case, report = (await told(service, debate))["case"], markdown(build_result(debate, lines))
        said = {
            "useCase": "vendor onboarding",
            "intendedUse": "input to the outsourcing committee",
            "materiality": "moderate",
            "downsideBasis": "replacement cost of the vendor",
        }
        assert {name: case[name] for name in said} == said
        assert case["metadata"] == {"ticket": "OUT-118"}
        assert [value for value in (*said.values(), "OUT-118", *PERSONAS.values()) if value not in report] == []


async def test_11_a_debate_that_oscillates_ends_at_its_ceiling_with_its_unresolved_points(database: Database) -> None:
    async with bench(database.service_url, Oscillating()) as service:
        debate = await run(service)

        read = await told(service, debate)
        assert (read["status"], read["stopReason"]) == ("completed", "roundCeiling")
        assert read["result"]["dissent"]["unresolvedPoints"] == ["Whether the limit reaches the indemnity."]
        last = read["rounds"][-1]["moderatorEvaluation"]
        assert last["recommendAnotherRound"] is True
        assert last["unresolvedPoints"] == read["result"]["dissent"]["unresolvedPoints"]


async def test_11_an_audit_over_time_finds_whom_each_label_hid_and_how_it_was_scored(database: Database) -> None:
    async with bench(database.service_url, Oscillating()) as service:
        debate = await run(service)

        read = await told(service, debate)
        for record, detail in zip(read["rounds"], read["roundDetails"], strict=True):
            assert set(detail["labels"]) == {"proposer", "critic", "rebuttal"}
            assert list(detail["labels"].values()) == ["Statement 1", "Statement 2", "Statement 3"]
            assert set(record["moderatorEvaluation"]["argumentQualityScore"]) == set(detail["labels"])
        assert [s["family"] for s in read["seats"] if s["seat"] == "moderator"] == ["cedar"]


async def test_12_1_the_parameters_of_a_debate_are_in_its_record(database: Database) -> None:
    async with bench(database.service_url, Oscillating()) as service:
        debate = await run(service)

        (started,) = [e for e in await service.entries(debate) if isinstance(e, DebateStarted)]
        assert (started.format, started.options.max_rounds) == ("adversarial/1", 2)
        assert {plan.seat: plan.model for plan in started.seats} == {
            "framing": "cedar-small",
            "proposer": "alder-large",
            "critic": "birch-large",
            "rebuttal": "alder-small",
            "moderator": "cedar-large",
        }
        assert all(plan.price.source and plan.price.effective and plan.allowance for plan in started.seats)
        assert started.pins == dict(service.prompts.pins())
        assert started.pin == service.prompts.pin
        assert len({started.policy_hash, started.price_hash, started.configuration_hash, started.build_hash}) == 4


async def test_every_recorded_request_hash_is_that_of_the_request_rendered_again(database: Database) -> None:
    provider = Oscillating()
    async with bench(database.service_url, provider) as service:
        debate = await run(service)

        entries, case = await service.entries(debate), await service.case(debate)
        sources = await read_documents(service.database, debate, "default")
        asked = [(n, e) for n, e in enumerate(entries) if isinstance(e, TurnAsked)]
        assert len(asked) == len(provider.heard) == 9
        for (n, intent), heard in zip(asked, provider.heard, strict=True):
            facts = Facts.of(entries[:n])
            move = decide(facts)
            assert isinstance(move, Ask)
            (turn,) = move.turns
            again = render(service.prompts, case, sources, facts, turn)
            assert again == heard
            salted = bytes.fromhex(intent.request_salt) + encode(again)
            assert sha256(salted).hexdigest() == intent.request_hash


async def test_7_2_the_moderator_reads_the_documents_and_not_only_what_the_others_said_of_them(
    database: Database,
) -> None:
    provider = Oscillating()
    async with bench(database.service_url, provider) as service:
        await run(service)

        moderations = [request for request in provider.heard if request.seat == "moderator"]
        read = [
            [block.text for m in request.messages for block in blocks(m.content) if block.kind == "document"]
            for request in moderations
        ]
        assert read == [[TEXT], [TEXT, LATER]]


async def test_14_2_every_seat_is_given_its_own_persona_as_data_and_the_fragment_that_tells_its_limits(
    database: Database,
) -> None:
    provider = Oscillating()
    async with bench(database.service_url, provider) as service:
        await run(service)

        for request in provider.heard:
            personas = [b.text for m in request.messages for b in blocks(m.content) if b.kind == "persona"]
            assert personas == [PERSONAS[request.seat]]
            assert "without stereotyping" in request.messages[-1].content
            assert PERSONAS[request.seat] not in request.messages[0].content + request.messages[-1].content


def test_9_frontier_models_argue_and_cheaper_ones_answer_and_weigh() -> None:
    policy = read_policy(SHIPPED_POLICY)

    rates = {seat: policy.models[plan.model].prices[-1].output for seat, plan in policy.seats.items()}
    families = {seat: policy.models[plan.model].family for seat, plan in policy.seats.items()}

    assert max(rates["rebuttal"], rates["moderator"], rates["framing"]) < min(rates["proposer"], rates["critic"])
    assert len({families["proposer"], families["critic"], families["moderator"]}) == 3
