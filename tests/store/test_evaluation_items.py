"""Items of evaluations on a real database: recorded once, played with given turns, proven, and counted nowhere else."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from service.debate.entries import (
    CaseReceived,
    DebateConcluded,
    DebateStarted,
    Entry,
    EvaluationItem,
    TurnAsked,
    TurnGiven,
    TurnSpoke,
)
from service.debate.model import Debater, Outcome, TurnId
from service.debate.options import EvaluationTerms
from service.debate.replies import Proposal, Reply
from service.debate.results import PanelResult
from service.errors import IdempotencyKeyReused, InvalidCase
from service.intake.request import DocumentRequest, OptionsRequest
from service.money import Ledger
from service.observing.labelled import REGISTRY
from service.proving.row_check import RowCheck
from service.report import Line, build_result
from service.report.document.markdown import markdown
from service.report.result.terms import AdversarialTerms
from service.reviews import DebateQuery, EvaluationCase
from service.reviews.query_parameters import read_query
from service.simulated.provider import OfflineProvider
from service.store.impact import standings
from service.verify.export import verify_export
from tests.fixtures.bundles import PINNED, TOOLS, Draft, export, failed, verify
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER, TEXT, Bench, CannedProvider, bench, take_log

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
OPERATOR = replace(CALLER, role="operator")
RUN = EvaluationItem("0199c0de-0000-7000-8000-00000000e7a1", "0e" * 32, "0f" * 32, "clause-12", "critic", 1)
ADVERSARIAL = OptionsRequest(format="adversarial", max_rounds=1)
FRAMING, PROPOSER, CRITIC = TurnId("0.framing.1"), TurnId("1.proposer.1"), TurnId("1.critic.1")
REBUTTAL, MODERATOR = TurnId("1.rebuttal.1"), TurnId("1.moderator.1")


def an_item(arm: str = "critic", options: OptionsRequest = ADVERSARIAL, **more: Any) -> EvaluationCase:
    return EvaluationCase(
        evaluation=replace(RUN, arm=arm),
        question="Does this agreement leave us with uncapped liability?",
        task_type="contract",
        documents=(DocumentRequest(TEXT, "D1", "Master agreement"),),
        options=options,
        **more,
    )


async def ran(service: Bench, item: EvaluationCase) -> list[Entry]:
    """The entries of an item's debate, run to its end."""
    debate = (await service.reviews.open_item(item, OPERATOR)).debate
    assert await service.claim() == debate
    await (await service.runner(debate)).run()
    return await service.entries(debate)


def spoken(entries: list[Entry]) -> dict[TurnId, Reply]:
    return {entry.turn: entry.reply for entry in entries if isinstance(entry, TurnSpoke)}


def outcome(entries: list[Entry]) -> Outcome:
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return last.outcome


class Listening(CannedProvider):
    """Keeps the bytes that each seat was sent."""

    def __init__(self) -> None:
        super().__init__()
        self.bodies: list[bytes] = []

    async def send(self, body: bytes) -> Any:
        self.bodies.append(body)
        return await super().send(body)


async def test_the_seats_after_a_given_turn_are_sent_the_bytes_that_a_spoken_one_would_have_brought(
    database: Database,
) -> None:
    """Once whole; then the same run of the same item, elsewhere, with what was said given in turn."""
    listening = Listening()
    async with bench(database.service_url, listening) as service:
        whole = await ran(service, an_item("debate"))
        said, sent = spoken(whole), list(listening.bodies)
        assert list(said) == [FRAMING, PROPOSER, CRITIC, REBUTTAL, MODERATOR]
        seed = next(entry.seed for entry in whole if isinstance(entry, DebateStarted))
        for put in ((PROPOSER,), (FRAMING, PROPOSER), (PROPOSER, CRITIC), (FRAMING, PROPOSER, CRITIC, REBUTTAL)):
            listening.bodies.clear()
            item = an_item("debate", given={turn: said[turn] for turn in put})
            # Another evaluation of the same plan has the same seeds, and so the same fences.
            item = replace(item, evaluation=replace(item.evaluation, id=f"{item.evaluation.id[:-1]}{len(put)}{put[0]}"))

            entries = await ran(service, item)

            assert next(entry.seed for entry in entries if isinstance(entry, DebateStarted)) == seed
            assert [e.turn for e in entries if isinstance(e, TurnGiven)] == list(put)
            assert listening.bodies == [body for turn, body in zip(said, sent, strict=True) if turn not in put]
            assert outcome(entries).conclusion == outcome(whole).conclusion


async def test_a_run_is_recorded_once_whatever_asks_for_it_again(database: Database) -> None:
    async with bench(database.service_url) as service:
        first = await service.reviews.open_item(an_item(), OPERATOR)
        again = await service.reviews.open_item(an_item(), OPERATOR)
        others = [
            await service.reviews.open_item(replace(an_item(), evaluation=replace(RUN, **change)), OPERATOR)
            for change in ({"repeat": 2}, {"arm": "vote"}, {"item": "clause-9"}, {"id": RUN.id[:-1] + "2"})
        ]

        assert (again.debate, again.replayed) == (first.debate, True)
        assert len({first.debate, *(one.debate for one in others)}) == 5
        with pytest.raises(IdempotencyKeyReused):
            await service.reviews.open_item(an_item(terms=EvaluationTerms(until="critic")), OPERATOR)


async def test_a_reply_that_cannot_be_used_is_refused_and_nothing_is_written(database: Database) -> None:
    async with bench(database.service_url) as service:
        with pytest.raises(InvalidCase, match=r"turn 1\.proposer\.1 cannot be used"):
            await service.reviews.open_item(an_item(given={PROPOSER: Proposal("-", (), "upheld")}), OPERATOR)

        assert (await service.reviews.find(DebateQuery(), CALLER)).debates == ()


@pytest.fixture
async def plain(database: Database) -> dict[TurnId, Reply]:
    """What the seats say of the case."""
    async with bench(database.service_url) as service:
        return spoken(await ran(service, an_item("plain")))


async def test_a_worker_that_dies_between_given_turns_leaves_them_to_the_next(
    database: Database, plain: dict[TurnId, Reply]
) -> None:
    """The entries up to each given turn are recorded, as a worker left them; another one goes on from there."""
    given = {turn: plain[turn] for turn in (FRAMING, PROPOSER, CRITIC, REBUTTAL)}
    async with bench(database.service_url) as service:
        undisturbed = await ran(service, an_item("moderator", given=given))
        for left in (1, 2, 3, 4):
            item = an_item(f"moderator-{left}", given=given)
            debate = (await service.reviews.open_item(item, OPERATOR)).debate
            assert await service.claim() == debate
            log = await take_log(service.database, debate, 1)
            await log.new_entries()
            last = [n for n, entry in enumerate(undisturbed) if isinstance(entry, TurnGiven)][left - 1]
            await log.append(undisturbed[3 : last + 1])

            assert await service.claim() == debate
            await (await service.runner(debate)).run()

            entries = await service.entries(debate)
            assert [e for e in entries if isinstance(e, TurnGiven)] == [
                e for e in undisturbed if isinstance(e, TurnGiven)
            ]
            assert [e.turn for e in entries if isinstance(e, TurnAsked)] == [MODERATOR]
            assert outcome(entries) == outcome(undisturbed)


async def test_items_are_verified_from_their_bundles_and_exports(
    database: Database, plain: dict[TurnId, Reply]
) -> None:
    debaters = (Debater("a"), Debater("b"), Debater("c"))
    ballot = OptionsRequest(format="ballot", votes=("yes", "no"), debaters=debaters)
    items = [
        an_item("until", terms=EvaluationTerms(until="critic"), given={PROPOSER: plain[PROPOSER]}),
        an_item("swapped", terms=EvaluationTerms(swapped=True)),
        an_item("vote", ballot, terms=EvaluationTerms(drafts=True)),
        an_item("single", replace(ballot, debaters=debaters[:1]), terms=EvaluationTerms(drafts=True)),
    ]
    drafts = list[Draft]()
    async with bench(database.service_url, OfflineProvider()) as service:
        for item in items:
            entries = await ran(service, item)
            debate = (await service.reviews.open_item(item, OPERATOR)).debate
            draft = Draft.read(database, debate, service.deployment)

            report = verify(draft.bundle())

            assert (report.code, failed(report)) == (0, []), item.evaluation.arm
            received = entries[0]
            assert isinstance(received, CaseReceived)
            assert received.evaluation == item.evaluation
            assert received.given == dict(item.given)
            drafts.append(draft)
    forged = [changed(drafts[0], 2, seed="ab" * 32), *drafts[1:]]
    assert failed(verify_export(export(drafts), PINNED, reports=TOOLS.reports)) == []
    assert failed(verify_export(export(forged), PINNED, reports=TOOLS.reports)) == ["moves"]


def changed(draft: Draft, n: int, **members: Any) -> Draft:
    return draft.change(n, lambda entry: entry.update(members))


async def test_a_seed_that_is_not_the_plans_fails_and_so_does_one_that_says_so_without_an_evaluation(
    database: Database,
) -> None:
    async with bench(database.service_url) as service:
        await ran(service, an_item())
        of_plan = Draft.read(
            database, (await service.reviews.open_item(an_item(), OPERATOR)).debate, service.deployment
        )
        usual = Draft.read(database, await service.run(), service.deployment)

    for forged in (
        changed(of_plan, 2, seed="ab" * 32),
        of_plan.change(2, lambda entry: entry.pop("seedFrom")),
        changed(usual, 2, seedFrom="plan"),
        of_plan.change(0, lambda entry: entry["arrival"]["evaluation"].update(repeat=2)),
        of_plan.change(0, lambda entry: entry.pop("arrival")),
    ):
        report = verify(forged.bundle())

        assert report.code == 1
        assert "moves" in failed(report)


async def test_a_given_reply_that_was_changed_fails(database: Database, plain: dict[TurnId, Reply]) -> None:
    item = an_item("forged", given={PROPOSER: plain[PROPOSER]})
    async with bench(database.service_url) as service:
        entries = await ran(service, item)
        debate = (await service.reviews.open_item(item, OPERATOR)).debate
        draft = Draft.read(database, debate, service.deployment)
    at = next(n for n, entry in enumerate(entries) if isinstance(entry, TurnGiven))

    report = verify(draft.change(at, lambda entry: entry["reply"].update(thesis="It does not.")).bundle())

    assert "moves" in failed(report)


def metric(name: str) -> float:
    samples = [sample for family in REGISTRY.collect() for sample in family.samples]
    return sum(sample.value for sample in samples if sample.name == name)


async def test_an_item_counts_in_no_metric_of_debates(database: Database) -> None:
    names = ("gainsay_debates_started_total", "gainsay_gate_decisions_total")
    async with bench(database.service_url) as service:
        before = [metric(name) for name in names]
        await ran(service, an_item("uncounted"))
        assert [metric(name) for name in names] == before
        await service.run()
        assert [metric(name) for name in names] == [count + 1 for count in before]


async def test_a_result_says_of_which_evaluation_it_is_and_decides_nothing_before_the_moderator(
    database: Database, plain: dict[TurnId, Reply]
) -> None:
    item = an_item("shown", terms=EvaluationTerms(until="critic"), given={PROPOSER: plain[PROPOSER]})
    async with bench(database.service_url) as service:
        entries = await ran(service, item)
        debate = (await service.reviews.open_item(item, OPERATOR)).debate
        lines: list[Line] = await service.reviews.lines(debate, OPERATOR)
        result = build_result(debate, lines)

        assert result.arrival is not None
        assert result.arrival.evaluation == item.evaluation
        assert isinstance(result.result, AdversarialTerms)
        assert result.result.conclusion is None
        assert result.decision is not None
        assert result.decision.outcome == "undecided"
        assert [n.notice for n in result.notices if n.turns == (PROPOSER,)] == ["replyGiven"]
        assert {a.turn for a in result.attempts} == {FRAMING, CRITIC}
        assert Ledger.of(entries).spent == sum(e.charge.amount for e in entries if isinstance(e, TurnSpoke))
        report = markdown(result)
        assert "an evaluation" in report
        assert RUN.id in report


async def test_the_list_tells_debates_of_evaluations_from_the_others(database: Database) -> None:
    async with bench(database.service_url) as service:
        await ran(service, an_item("listed"))
        item = (await service.reviews.open_item(an_item("listed"), OPERATOR)).debate
        usual = await service.run()

        async def found(**asked: str) -> dict[str, EvaluationItem | None]:
            page = await service.reviews.find(read_query({name: [value] for name, value in asked.items()}), CALLER)
            return {one.debate: one.evaluation for one in page.debates}

        assert await found() == {item: replace(RUN, arm="listed"), usual: None}
        assert set(await found(purpose="evaluation")) == {item}
        assert set(await found(purpose="decision")) == {usual}
        both = read_query({"purpose": ["decision", "evaluation"]})
        assert len((await service.reviews.find(both, CALLER)).debates) == 2
        assert await RowCheck(service.database, 24, "00" * 32).round() == 0


async def test_a_panel_of_an_evaluation_leaves_no_track_record(database: Database) -> None:
    panel = OptionsRequest(format="panel", debaters=2, max_rounds=2, question_type="factual")
    async with bench(database.service_url, OfflineProvider()) as service:
        entries = await ran(service, an_item("panel", panel))

        assert isinstance(outcome(entries).result, PanelResult)
        assert await standings(service.database, "default") == ()
        assert await RowCheck(service.database, 24, "00" * 32).round() == 0
