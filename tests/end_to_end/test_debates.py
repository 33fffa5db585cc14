"""Whole debates on a real database with canned seats: weak, false, failing and dear replies, and what they lead to."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from service.cli.display import page
from service.cli.display.console import console
from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    DebateConcluded,
    DebateStopped,
    Entry,
    TurnAsked,
    TurnSilent,
    TurnSpoke,
)
from service.debate.kernel import replay
from service.debate.model import Outcome
from service.money import Ledger
from service.observing import labelled
from service.prompts import DIRECTORY, Prompts, check_pins, check_schema_pin
from service.prompts.fence import blocks
from service.prompts.request import Request, WireTexts
from service.report import Result, build_result, markdown
from service.running.provider_port import Answer, CallFailed
from service.store.stored_debate import read_head
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, Bench, CannedProvider, bench

pytestmark = pytest.mark.replay


async def outcome_of(service: Bench, debate: str) -> Outcome:
    """The outcome, after what every debate must satisfy has been checked."""
    entries = await service.entries(debate)
    replay(await service.case(debate), entries)
    ledger = Ledger.of(entries)
    head = await read_head(service.database, debate, "default")
    assert (head["spent"], head["excess"], head["held"]) == (ledger.spent, ledger.excess, 0)
    assert ledger.spent <= ledger.ceiling
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return last.outcome


def turns(entries: list[Entry]) -> list[str]:
    return [e.turn for e in entries if isinstance(e, TurnSpoke)]


async def told(service: Bench, debate: str) -> dict[str, Any]:
    """The result as a caller reads it."""
    lines = await service.reviews.lines(debate, CALLER)
    read: dict[str, Any] = json.loads(msgspec.json.encode(build_result(debate, lines)))
    return read


class Listening(CannedProvider):
    """A canned provider that keeps the requests that it was sent."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.heard: list[Request] = []

    async def send(self, body: bytes) -> Any:
        self.heard.append(msgspec.json.decode(body, type=Request))
        return await super().send(body)

    def statements_for(self, seat: str) -> list[dict[str, Any]]:
        """The statements that the last request to a seat held."""
        request = [r for r in self.heard if r.seat == seat][-1]
        found = [b for m in request.messages for b in blocks(m.content) if b.kind == "statement"]
        return [json.loads(block.text) for block in found]


# -- reference 13.1


async def test_13_1_critic_retry_logic(database: Database) -> None:
    takes = iter(
        (
            (4, "Recovery stops at twelve months of charges."),
            (8, "An insolvent Supplier indemnifies nobody: the fees paid are the whole of what the Bank recovers."),
        )
    )

    def say(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
        if seat != "critic":
            return reply
        strength, text = next(takes)
        return {**reply, "points": [{**reply["points"][0], "text": text}], "challengeStrength": strength}

    provider = Listening(say)
    async with bench(database.service_url, provider) as service:
        debate = await service.run()

        assert "1.critic.2" in turns(await service.entries(debate))
        again = [r for r in provider.heard if r.seat == "critic"][1]
        assert "dangerously wrong" in again.messages[-1].content
        (reasons,) = [b for m in again.messages for b in blocks(m.content) if b.kind == "retry"]
        assert json.loads(reasons.text)["challengeStrength"] == 4
        outcome = await outcome_of(service, debate)
        assert "promptReview" in outcome.flags
        assert "critiqueWeak" not in outcome.flags


async def test_13_1_cost_ceiling(database: Database) -> None:
    def always_more(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "recommendAnotherRound": True} if seat == "moderator" else reply

    async with bench(database.service_url, CannedProvider(always_more)) as service:
        debate = await service.run(options={"format": "adversarial", "maxRounds": 3}, costCeilingUSD="0.16")

        outcome = await outcome_of(service, debate)
        assert (outcome.status, outcome.stop_reason) == ("truncated", "budget")
        assert "DEBATE_TRUNCATED" in outcome.flags
        assert outcome.confidence_level == "LOW"
        assert outcome.final_turn is not None
        assert any(isinstance(e, BudgetRefused) for e in await service.entries(debate))


async def test_a_conclusion_that_no_critic_was_heard_against_says_so(
    database: Database, capsys: pytest.CaptureFixture[str]
) -> None:
    class CriticNeverHeard(CannedProvider):
        async def send(self, body: bytes) -> Any:
            if msgspec.json.decode(body, type=Request).seat == "critic":
                raise CallFailed("timeout", "the vendor took too long, and nobody knows what it used")
            return await super().send(body)

    async with bench(database.service_url, CriticNeverHeard()) as service:
        debate = await service.run(costCeilingUSD="0.16")

        outcome = await outcome_of(service, debate)
        assert (outcome.status, outcome.stop_reason, outcome.conclusion) == ("truncated", "budget", "upheld")
        assert "unchallenged" in outcome.flags
        assert "unchallenged" in [cap.reason for cap in outcome.caps]
        found = await service.reviews.result(debate, CALLER)
        assert "has not been challenged" in markdown(found)
        page.show(console(), found)
        assert "Challenge      NONE was heard" in capsys.readouterr().out


async def test_13_1_round_ceiling(database: Database) -> None:
    def always_more(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "recommendAnotherRound": True} if seat == "moderator" else reply

    async with bench(database.service_url, CannedProvider(always_more)) as service:
        debate = await service.run(options={"format": "adversarial", "maxRounds": 2})

        outcome = await outcome_of(service, debate)
        assert (outcome.status, outcome.stop_reason) == ("completed", "roundCeiling")
        assert {turn[0] for turn in turns(await service.entries(debate))} == {"0", "1", "2"}


# -- reference 13.2


async def test_13_2_full_debate_run_matches_the_result_structure(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.run()

        read = await told(service, debate)
        jsonschema.validate(read, msgspec.json.schema(Result))
        (record,) = read["rounds"]
        assert list(record) == [
            "debateId",
            "roundNumber",
            "question",
            "proposerPosition",
            "criticPosition",
            "rebuttalPosition",
            "moderatorEvaluation",
            "tokenCost",
        ]
        assert record["moderatorEvaluation"]["argumentQualityScore"] == {"proposer": 7, "critic": 7, "rebuttal": 7}
        assert all(tokens > 0 for tokens in record["tokenCost"].values())


async def test_13_2_critic_citation_fabrication(database: Database) -> None:
    invented = {"quote": "The Supplier may terminate at any time without notice.", "sourceId": "D9"}

    def say(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
        if seat != "critic":
            return reply
        false = {"n": 2, "text": "Termination without warning ends recovery.", "citations": [invented], "attacks": [1]}
        return {**reply, "points": [*reply["points"], false]}

    provider = Listening(say)
    async with bench(database.service_url, provider) as service:
        debate = await service.run()

        outcome = await outcome_of(service, debate)
        (failure,) = outcome.critical_validation_failures
        assert (failure.turn, failure.n, failure.reason) == ("1.critic.1", 2, "not_found")
        assert outcome.confidence_level == "MODERATE"
        assert outcome.human_review.required
        for seat in ("rebuttal", "moderator"):
            struck = [view["struck"] for view in provider.statements_for(seat) if "struck" in view]
            assert struck == [[{"n": 2, "reason": "unverified_citation"}]]
            assert "terminate at any time" not in json.dumps(provider.statements_for(seat))


# -- what providers do


async def test_a_failed_attempt_is_recorded_and_tried_again(database: Database) -> None:
    async with bench(database.service_url, CannedProvider(fails={"critic": 2})) as service:
        debate = await service.run()

        entries = await service.entries(debate)
        assert [e.attempt for e in entries if isinstance(e, TurnAsked) and e.turn == "1.critic.1"] == [1, 2, 3]
        assert (await outcome_of(service, debate)).status == "completed"


async def test_a_seat_that_stays_silent_fails_the_debate_and_agrees_to_nothing(database: Database) -> None:
    async with bench(database.service_url, CannedProvider(fails={"critic": 99})) as service:
        debate = await service.run()

        outcome = await outcome_of(service, debate)
        assert (outcome.status, outcome.stop_reason) == ("failed", "seatSilent")
        assert outcome.human_review.required
        (silent,) = [e for e in await service.entries(debate) if isinstance(e, TurnSilent)]
        assert silent.turn == "1.critic.1"


@pytest.mark.parametrize(
    ("seat", "broken"),
    [
        ("critic", {"points": "many"}),
        ("critic", {"challengeStrength": 11}),
        ("critic", {"points": [{"n": 1, "opinion": "a field too many and one too few"}]}),
        ("rebuttal", {"rebuttals": [], "concessions": [{"n": 7, "text": "a point that nobody made"}]}),
        ("moderator", {"scores": [{"label": "Proposer", "score": 9}]}),
    ],
)
async def test_a_reply_that_cannot_be_used_is_charged_and_never_heard(
    database: Database, seat: str, broken: dict[str, Any]
) -> None:
    def say(asked: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, **broken} if asked == seat else reply

    async with bench(database.service_url, CannedProvider(say)) as service:
        debate = await service.run()

        entries = await service.entries(debate)
        failed = [e for e in entries if isinstance(e, AttemptFailed)]
        assert [e.reason for e in failed] == ["malformedReply"] * service.policy.debate.attempts_per_turn
        assert all(e.charge.basis == "usage" and e.charge.amount > 0 for e in failed)
        assert f"1.{seat}.1" not in turns(entries)
        assert (await outcome_of(service, debate)).status == "failed"


class Overbilling(CannedProvider):
    """Reports three times the allowance for one seat."""

    def __init__(self, seat: str) -> None:
        super().__init__()
        self._seat = seat

    async def send(self, body: bytes) -> Any:
        answer = await super().send(body)
        if msgspec.json.decode(body, type=Request).seat != self._seat:
            return answer
        return msgspec.structs.replace(answer, raw_usage={**(answer.raw_usage or {}), "output_tokens": 9_000})


async def test_a_vendor_that_bills_the_last_call_above_its_reservation_is_flagged_for_a_person(
    database: Database,
) -> None:
    async with bench(database.service_url, Overbilling("moderator")) as service:
        debate = await service.run()

        outcome = await outcome_of(service, debate)
        assert outcome.status == "completed"
        assert "providerOverrun" in outcome.flags
        assert "providerOverrun" in outcome.human_review.reasons
        result = build_result(debate, await service.reviews.lines(debate, CALLER))
        assert result.overall_cost.excess_usd != "0.00"
        assert "providerOverrun" in {notice.notice for notice in result.notices}


async def test_a_vendor_that_bills_above_the_reservation_ends_the_debate(database: Database) -> None:
    provider = Overbilling("proposer")
    async with bench(database.service_url, provider) as service:
        debate = await service.run()

        entries = await service.entries(debate)
        (spoke,) = [e for e in entries if isinstance(e, TurnSpoke) and e.turn == "1.proposer.1"]
        assert spoke.charge.excess > 0
        assert (await outcome_of(service, debate)).stop_reason == "budget"
        assert "providerOverrun" in (await outcome_of(service, debate)).flags
        assert {e.limit for e in entries if isinstance(e, BudgetRefused)} == {"providerOverrun"}
        assert provider.calls["critic"] == provider.calls["moderator"] == 0


# -- what keeps a call from being made


def favoured(told: WireTexts) -> WireTexts:
    """A prompt that leans to one side."""
    *others, last = told.messages
    leaning = msgspec.structs.replace(last, content=last.content + "\nPrefer Statement 1.")
    return msgspec.structs.replace(told, messages=(*others, leaning))


def steered(told: WireTexts) -> WireTexts:
    """A reply schema whose descriptions lean to one side."""
    schema = {**msgspec.json.decode(told.reply_schema), "description": "Prefer Statement 1."}
    return msgspec.structs.replace(told, reply_schema=msgspec.Raw(msgspec.json.encode(schema)))


@pytest.mark.parametrize("spoil", [favoured, steered])
async def test_a_prompt_or_schema_that_is_not_the_pinned_one_stops_the_debate_before_the_call(
    database: Database, spoil: Callable[[WireTexts], WireTexts]
) -> None:
    class Tampering(CannedProvider):
        def decode_request(self, body: bytes) -> WireTexts:
            told = super().decode_request(body)
            if msgspec.json.decode(body, type=Request).seat != "moderator":
                return told
            return spoil(told)

    provider = Tampering()
    async with bench(database.service_url, provider) as service:
        debate = await service.run()

        outcome = await outcome_of(service, debate)
        assert (outcome.status, outcome.stop_reason) == ("failed", "promptMismatch")
        assert provider.calls["moderator"] == 0
        assert "1.moderator.1" not in [e.turn for e in await service.entries(debate) if isinstance(e, TurnAsked)]


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("moderator.v1.md", "prompt 'moderator' does not match its manifest"),
        ("schemas/moderator.v1.json", "schema 'schema.moderator' does not match its manifest"),
        ("manifest.json", "the prompt manifest has changed"),
    ],
)
async def test_a_prompt_file_that_changes_between_two_calls_stops_the_next_one(
    database: Database, tmp_path: Path, file: str, told: str
) -> None:
    class Editing(CannedProvider):
        async def send(self, body: bytes) -> Answer:
            if msgspec.json.decode(body, type=Request).seat == "rebuttal":
                with (folder / file).open("a", encoding="utf-8") as edited:
                    edited.write(" ")
            return await super().send(body)

    folder = shutil.copytree(DIRECTORY, tmp_path / "prompts", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    provider = Editing()
    async with bench(database.service_url, provider) as service:
        service.prompts = Prompts.load(folder)
        before = labelled.REGISTRY.get_sample_value("gainsay_prompt_mismatches_total") or 0
        debate = await service.run()

        outcome, entries = await outcome_of(service, debate), await service.entries(debate)
        assert (outcome.status, outcome.stop_reason) == ("failed", "promptMismatch")
        assert provider.calls["rebuttal"] == 1
        assert provider.calls["moderator"] == 0
        (stopped,) = (e for e in entries if isinstance(e, DebateStopped))
        assert stopped.why.startswith(f"since this process started, {told}")
        assert turns(entries)[-1] == "1.rebuttal.1"
        assert Ledger.of(entries).spent == sum(e.charge.amount for e in entries if isinstance(e, TurnSpoke))
        assert labelled.REGISTRY.get_sample_value("gainsay_prompt_mismatches_total") == before + 1


async def test_every_call_carries_exactly_the_pinned_prompts(database: Database) -> None:
    provider = Listening()
    async with bench(database.service_url, provider) as service:
        await service.run()

        for request in provider.heard:
            told = WireTexts(request.messages, msgspec.Raw(msgspec.json.encode(request.reply_schema)))
            check_pins(service.prompts, told.messages, (request.seat,))
            check_schema_pin(service.prompts, request.seat, told.reply_schema)
        assert [r.seat for r in provider.heard] == ["framing", "proposer", "critic", "rebuttal", "moderator"]


async def test_an_abort_while_a_call_is_in_flight_records_the_paid_reply_and_asks_nobody_else(
    database: Database,
) -> None:
    provider = CannedProvider(latency_s=0.3)
    async with bench(database.service_url, provider) as service:
        debate = await service.submit()
        await service.claim(lease_s=30.0)
        running = asyncio.create_task((await service.runner(debate)).run())
        await provider.begun.wait()

        aborted = await service.reviews.abort(debate, CALLER, "asked by the caller")
        again = await service.reviews.abort(debate, CALLER, "asked twice")
        await running

        assert (aborted.status, again.status) == ("aborted", "aborted")
        assert aborted.held > 0
        assert (await outcome_of(service, debate)).stop_reason == "aborted"
        assert turns(await service.entries(debate)) == ["0.framing.1"]
        assert sum(provider.calls.values()) == 1


async def test_a_debate_past_its_deadline_stops_with_what_it_has(database: Database) -> None:
    deadline = (datetime.now(UTC) + timedelta(seconds=1.2)).isoformat()
    async with bench(database.service_url, CannedProvider(latency_s=0.5)) as service:
        debate = await service.run(deadline=deadline)

        outcome = await outcome_of(service, debate)
        assert (outcome.status, outcome.stop_reason) == ("truncated", "deadline")
        assert outcome.confidence_level == "LOW"
        assert "1.moderator.1" not in turns(await service.entries(debate))


# -- variants


async def test_positions_have_a_proposer_and_a_rebuttal_each_and_end_ranked(database: Database) -> None:
    positions = [{"id": "keep", "text": "Keep the supplier."}, {"id": "leave", "text": "Leave the supplier."}]

    def say(seat: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
        if seat == "critic":
            point = reply["points"][0]
            return {**reply, "points": [{**point, "n": i, "position": p["id"]} for i, p in enumerate(positions, 1)]}
        if seat == "rebuttal":
            return {**reply, "rebuttals": []}
        return reply

    class Ranking(Listening):
        async def send(self, body: bytes) -> Any:
            answer = await super().send(body)
            request = self.heard[-1]
            if request.seat != "moderator":
                return answer
            views = [b for m in request.messages for b in blocks(m.content) if b.kind == "statement"]
            proposals = [
                b for b in views if json.loads(b.text).get("position") and "concedes" not in json.loads(b.text)
            ]
            ranking = [b.attributes["label"] for b in proposals]
            return msgspec.structs.replace(answer, text=json.dumps({**json.loads(answer.text), "ranking": ranking}))

    async with bench(database.service_url, Ranking(say)) as service:
        debate = await service.run(
            options={"format": "adversarial", "maxRounds": 1, "positions": positions}, costCeilingUSD="2"
        )

        outcome = await outcome_of(service, debate)
        spoken = turns(await service.entries(debate))
        assert {"1.proposer.keep.1", "1.proposer.leave.1", "1.rebuttal.keep.1", "1.rebuttal.leave.1"} <= set(spoken)
        assert sorted(ranked.position for ranked in outcome.ranking) == ["keep", "leave"]
        assert [ranked.rank for ranked in outcome.ranking] == [1, 2]


async def test_evidence_of_a_later_round_is_seen_only_then_and_moves_the_seats(database: Database) -> None:
    later = "A side letter of 3 March 2026 removes the exception in clause 12.3 with effect from signing."

    def say(seat: str, round_: int, reply: dict[str, Any]) -> dict[str, Any]:
        if round_ == 1 or seat not in ("proposer", "critic", "rebuttal"):
            return reply
        shift = {"movement": "weakened", "because": "The side letter removes the exception."}
        fresh = {
            "points": [
                {**p, "text": "A side letter removes the exception, so the indemnity falls under the fees paid again."}
                for p in reply.get("points", ())
            ]
        }
        return {**reply, **(fresh if seat == "critic" else {}), "shift": shift}

    provider = Listening(say)
    async with bench(database.service_url, provider) as service:
        first = {"id": "D1", "text": "12.1 The Supplier shall indemnify the Bank against all losses. " * 3}
        documents = [{**first, "text": first["text"] + CANNED}, {"id": "D2", "text": later, "round": 2}]
        debate = await service.run(documents=documents, options={"format": "adversarial"}, costCeilingUSD="2")

        outcome = await outcome_of(service, debate)
        assert outcome.stop_reason == "moderatorSatisfied"
        seen = [(r.seat, later in r.messages[1].content) for r in provider.heard]
        assert [s for s, saw in seen if not saw] == ["framing", "proposer", "critic", "rebuttal", "moderator"]
        assert [s for s, saw in seen if saw] == ["proposer", "critic", "rebuttal", "moderator"]
        read = await told(service, debate)
        assert {shift["movement"] for shift in read["shifts"]} == {"weakened"}


CANNED = (
    "Neither party's liability shall exceed the fees paid in the year. "
    "Clause 12.2 does not apply to the indemnity in clause 12.1, and "
    "The Supplier shall indemnify the Bank against all losses arising from breach."
)
