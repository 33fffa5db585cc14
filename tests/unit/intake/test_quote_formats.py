"""In every format a quote bounds what its debate is charged, and what it says is needed pays for the beginning."""

from __future__ import annotations

import asyncio
import json
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service import money
from service.debate.entries import DebateConcluded, Entry, GateDecided, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.kernel import decide
from service.debate.model import Ask, SeatPlan, Turn, party
from service.debate.replies import Argument, Statement
from service.debate.turns import TurnId, seat_of, take_of
from service.errors import CeilingTooSmall, InvalidCase, TooLarge
from service.intake import Deployment, Prepared, start
from service.intake.quote import quote
from service.intake.worst_case import worst_case_turns
from service.policy import Policy, Seat, seating
from service.prompts.render import render
from service.prompts.request import Request, WireTexts, encode, texts_of, wire_texts
from service.running.attempt import ModelCaller
from service.running.provider_port import Answer, CallFailed, Provider
from service.running.runner import Runner
from service.verify.money import Again
from service.verify.requests import Rendering
from tests.fixtures import formats
from tests.fixtures.running import PROMPTLY
from tests.unit.intake.test_intake import POLICY, PROMPTS, a_case
from tests.unit.intake.test_quote import ListLog, checked

SEED = "cd" * 32
NEW = ("stances", "ballot", "panel", "convergence")
FREE = ("text", "answer", "verdict", "reasoning", "justification", "notes", "flaw", "because", "learnedFromOthers")
"""Members of replies that hold words: they are drawn out until the reply fills what its seat may say."""


PROJECTED = {"decision": "Sign.", "rationale": "It holds.", "conditions": [], "openQuestions": []}
"""What fits the shape of a synthesizer that was given no other."""


class Prolix(Provider):
    """Answers any turn as long as it may, or in many short parts, and is troubled now and then. Drawn from a seed."""

    def __init__(self, log: ListLog, seed: int, troubled: int) -> None:
        self._log, self._random, self._troubled = log, Random(seed), troubled

    def encode(self, request: Request) -> bytes:
        return encode(request)

    def decode_request(self, body: bytes) -> WireTexts:
        return wire_texts(body)

    async def send(self, body: bytes) -> Answer:
        request = msgspec.json.decode(body, type=Request)
        if self._random.randrange(100) < self._troubled:
            raise CallFailed("overload", "busy")
        used = {"input_tokens": money.count(texts_of(request), "bytes/4"), "output_tokens": request.max_output_tokens}
        told = self._random.choice([used, None])
        return Answer(self._reply(request), told, request.model_name)

    def _reply(self, request: Request) -> str:
        facts = Facts.of(self._log.entries)
        move = decide(facts)
        assert isinstance(move, Ask)
        (turn,) = [turn for turn in move.turns if turn.seat == request.seat]
        most = request.max_output_tokens * 4
        if turn.asks == "stances.synthesizer":
            return json.dumps({"output": json.dumps(PROJECTED)})
        if turn.asks == "screener":
            return "unsafe" if self._random.randrange(2) else _flood(most)
        reply = formats.drawn(self._random, formats.said(turn, facts))
        view = {name: value for name, value in msgspec.to_builtins(reply).items() if name != "seat"}
        full = _drawn_out(view, most, parts=self._random.choice([1, 2, 9, 30]))
        return full if len(full.encode()) <= most else json.dumps(view)


def _flood(most: int) -> str:
    """A screener's reply that fills what its seat may say."""
    one = {"field": "document", "name": "D1", "quote": "indemnify", "family": "verdict", "why": "-"}
    one["why"] = "x" * max(1, most - len(json.dumps({"suspicious": True, "passages": [one]})))
    return json.dumps({"suspicious": True, "passages": [one]})


def _drawn_out(view: dict[str, Any], most: int, parts: int) -> str:
    """The reply with more numbered parts, and longer words in all of them, as JSON of at most so many bytes."""
    view = json.loads(json.dumps(view))
    for name in ("arguments", "rationale", "claims"):
        if name in view:
            view[name] = [{**view[name][0], "n": n} for n in range(1, parts + 1)]
    places = list(_places(view))
    spare = max(0, most - len(json.dumps(view))) // max(1, len(places))
    for holder, name in places:
        holder[name] += "x" * spare
    return json.dumps(view)


def _places(value: Any) -> Any:
    """Where free words stand in a reply: the object and the member's name."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if (
                isinstance(inner, str)
                and name in FREE
                and inner not in ("affirmative", "qualified", "negative", "open")
            ):
                yield value, name
            yield from _places(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _places(inner)


def debated(prepared: Prepared, deployment: Deployment, seed: int = 0, troubled: int = 0) -> ListLog:
    """What is recorded of the case's debate."""
    started = start(prepared, deployment, SEED)
    log = ListLog([prepared.received("local"), GateDecided(prepared.decision), started])
    runner = Runner(log, prepared.sources, PROMPTS, {"offline": Prolix(log, seed, troubled)}, calls=PROMPTLY)
    asyncio.run(runner.run())
    return log


def named(count: int, **more: str) -> list[dict[str, str]]:
    return [{"name": f"n{i}", **more} for i in range(count)]


INSTRUCTIONS = st.just("Go by the book. " * 90)
OPTIONS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "stances": st.fixed_dictionaries(
        {
            "debaters": st.builds(named, st.integers(2, 3), stance=st.sampled_from(["yes", "as long as may be " * 40])),
            "maxRounds": st.integers(1, 3),
        },
        optional={
            "synthesizer": st.just(False),
            "anonymizeTranscript": st.booleans(),
            "instructions": st.just("Go. " * 90),
        },
    ),
    "ballot": st.fixed_dictionaries(
        {
            "debaters": st.builds(named, st.integers(2, 3), role=st.just("An examiner. " * 30)),
            "maxRounds": st.integers(1, 2),
        },
        optional={"votes": st.just(list(formats.VOTES)), "consensusThreshold": st.just(2)},
    ),
    "panel": st.fixed_dictionaries(
        {"debaters": st.integers(2, 3), "maxRounds": st.integers(1, 3), "questionType": st.sampled_from(formats.TYPES)},
        optional={"adjudicator": st.just("model"), "instructions": INSTRUCTIONS},
    ),
    "convergence": st.fixed_dictionaries(
        {"debaters": st.integers(2, 3), "maxRounds": st.integers(1, 2)}, optional={"judge": st.booleans()}
    ),
}
cases = st.sampled_from(NEW).flatmap(
    lambda name: st.fixed_dictionaries(
        {
            "options": OPTIONS[name].map(lambda options: {"format": name, **options}),
            "costCeilingUSD": st.sampled_from([0.5, 25]),
            "estimatedDownside": st.sampled_from([250_000, 90_000_000]),
        }
    )
)


def a_policy(attempts: int, allowance: int, fallback: str | None, screener: str | None = None) -> Policy:
    """The shipped policy with so many attempts, this allowance at every seat, a fallback at those of others, and a
    screener."""
    extra = {"screener": Seat(screener, allowance, fallback=fallback)} if screener else {}
    seats = extra | {
        name: replace(seat, allowance=allowance, fallback=fallback if name in ("debater", "judge") else None)
        for name, seat in POLICY.seats.items()
    }
    return replace(POLICY, seats=seats, debate=replace(POLICY.debate, attempts_per_turn=attempts))


policies = st.builds(
    a_policy,
    st.integers(1, 3),
    st.integers(400, 1_500),
    st.sampled_from([None, "cedar-small", "birch-small"]),
    st.sampled_from([None, "cedar-large"]),
)


@settings(max_examples=60)
@given(cases, policies, st.integers(0, 10**6), st.sampled_from([0, 20]))
def test_no_debate_of_any_format_is_charged_more_than_the_worst_that_was_quoted(
    body: dict[str, Any], under: Policy, seed: int, troubled: int
) -> None:
    prepared, deployment = checked(a_case(**body), under)
    try:
        found = quote(prepared, deployment)
        log = debated(prepared, deployment, seed, troubled)
    except CeilingTooSmall:
        return

    assert log.ledger.excess == 0
    assert log.ledger.spent <= found.worst <= prepared.ceiling
    worst: dict[str, int] = {}
    for turn, most in worst_case_turns(prepared.case, prepared.sources, found.started, deployment.prompts):
        worst[turn.id] = most
        worst[turn.party] = max(worst.get(turn.party, 0), most)  # a debate that ends early is closed in another round
    held: dict[TurnId, int] = {}
    for entry in log.entries:
        if isinstance(entry, TurnAsked):
            held[entry.turn] = held.get(entry.turn, 0) + entry.held
    assert {turn for turn in held if held[turn] > worst.get(turn, worst[party(turn)])} == set()


@settings(max_examples=25)
@example(  # the screener names a word that is shorter than the mark in its place
    {"options": {"format": "convergence", "debaters": 2, "maxRounds": 1}, "estimatedDownside": 90_000_000},
    0,
    "cedar-large",
)
@given(cases, st.integers(0, 10**6), st.sampled_from([None, "cedar-large"]))
def test_what_a_quote_says_is_needed_pays_for_the_beginning_of_every_format(
    body: dict[str, Any], seed: int, screener: str | None
) -> None:
    prepared, deployment = checked(a_case(**{**body, "costCeilingUSD": 25}), a_policy(1, 900, None, screener))
    needed = quote(prepared, deployment).needed

    log = debated(replace(prepared, ceiling=needed), deployment, seed)

    spoke = {entry.turn for entry in log.entries if isinstance(entry, TurnSpoke)}
    table = seating.choose_table(prepared.options)
    speaking = {turn.id for turn in table.beginning if turn.seat not in table.closing}
    closed = {seat_of(turn) for turn in spoke}
    ended = next(entry.outcome for entry in log.entries if isinstance(entry, DebateConcluded))
    unasked = {"synthesizer"} if "orderSensitive" in ended.flags else set()  # there is no verdict to put into words
    assert speaking <= spoke
    assert set(table.closing) - unasked <= closed
    with pytest.raises(CeilingTooSmall):
        start(replace(prepared, ceiling=needed - 1), deployment, SEED)


@pytest.mark.parametrize("format_", NEW)
def test_the_turns_of_a_quote_are_those_of_the_longest_debate(format_: str) -> None:
    options = {"stances": {"debaters": named(2, stance="yes")}}.get(format_, {})
    prepared, deployment = checked(a_case(options={"format": format_, **options}, costCeilingUSD=25))

    turns = [
        costing.turn for costing in worst_case_turns(prepared.case, prepared.sources, *_begun(prepared, deployment))
    ]

    usual = seating.choose_table(prepared.options).usual
    deciders = [seat for seat in usual if seat in ("judge", "synthesizer")]
    assert {seat: sum(turn.seat == seat and take_of(turn.id) == 1 for turn in turns) for seat in usual} == usual
    assert sorted(turn.seat for turn in turns if take_of(turn.id) == 2) == sorted(
        turn.seat for turn in turns if turn.seat in deciders and take_of(turn.id) == 1
    )


def test_an_adjudicator_that_is_asked_twice_may_be_asked_so_in_every_round() -> None:
    options = {"maxRounds": 3, "adjudicator": "model"}
    request = a_case(options={"format": "panel", **options}, costCeilingUSD=25, estimatedDownside=90_000_000)
    prepared, deployment = checked(request)

    turns = [
        costing.turn.id for costing in worst_case_turns(prepared.case, prepared.sources, *_begun(prepared, deployment))
    ]

    assert [turn for turn in turns if "swapped" in turn] == [f"{r}.adjudicator.swapped.1" for r in (1, 2, 3)]


@pytest.mark.parametrize("adjudicator", ["algorithmic", "model"])
@pytest.mark.parametrize(("rounds", "answers"), [(2, []), (3, [1, 2, 3]), (5, [1, 2, 3])])
def test_the_longest_panel_has_every_debater_answer_objections_after_its_last_round(
    rounds: int, answers: list[int], adjudicator: str
) -> None:
    options = {"maxRounds": rounds, "adjudicator": adjudicator}
    request = a_case(options={"format": "panel", **options}, costCeilingUSD=25, estimatedDownside=90_000_000)
    prepared, deployment = checked(request)

    costings = worst_case_turns(prepared.case, prepared.sources, *_begun(prepared, deployment))

    asked = {costing.turn.id: costing.worst for costing in costings if ".answer." in costing.turn.id}
    assert list(asked) == [f"{rounds}.debater-{n}.answer.1" for n in answers]
    assert all(worst > 0 for worst in asked.values())


def _begun(prepared: Prepared, deployment: Deployment) -> tuple[Any, Any]:
    return start(prepared, deployment, SEED), deployment.prompts


def test_what_is_held_for_a_judge_counts_stances_that_are_longer_than_labels_usually_are() -> None:
    long = "as long as a stance may be " * 70
    request = a_case(options={"format": "stances", "debaters": named(2, stance=long)}, costCeilingUSD=25)
    prepared, deployment = checked(request, a_policy(1, 400, None))
    started = start(prepared, deployment, SEED)
    entries: list[Entry] = [prepared.received("local"), GateDecided(prepared.decision), started]
    facts = Facts.of(entries)
    seen = (TurnId("1.debater-1.1"), TurnId("1.debater-2.1"))
    turn = Turn(TurnId("1.judge.1"), "judge", seen, kind="stances.judge")
    calling = ModelCaller(PROMPTS, {}, prepared.sources)

    before = calling.closing_cost(prepared.case, facts, turn)
    for seat in seen:
        facts.said[seat] = Argument((Statement(1, "x" * (400 * 4 - 60)),))

    assert calling.closing_cost(prepared.case, facts, turn) <= before


def test_a_verifier_computes_what_is_held_for_a_judge_as_a_worker_does() -> None:
    """No debater has spoken yet, so the reservation covers the long stances and the seat's own kind of reply."""
    request = a_case(options={"format": "stances", "debaters": named(2, stance="as long as may be " * 70)})
    prepared, deployment = checked(request, a_policy(1, 400, None))
    started = start(prepared, deployment, SEED)
    facts = Facts.of([prepared.received("local"), GateDecided(prepared.decision), started])
    turn = Turn(TurnId("1.judge.1"), "judge", (TurnId("1.debater-1.1"), TurnId("1.debater-2.1")), kind="stances.judge")

    again = Again(money.USAGES["usage/1"], Laid(prepared), started)

    held = ModelCaller(PROMPTS, {}, prepared.sources).closing_cost(prepared.case, facts, turn)
    assert again.closing_cost(facts, turn) == held


class Laid(Rendering):
    """The requests of a case that is in no bundle yet."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared

    def render(self, facts: Facts, turn: Turn, plan: SeatPlan) -> Request:
        return render(PROMPTS, self._prepared.case, self._prepared.sources, facts, turn, plan)

    def tokens(self, request: Request, plan: SeatPlan) -> int:
        return money.count(texts_of(request), plan.tokenizer)


@pytest.mark.parametrize("fallback", [None, "alder-large"])
@pytest.mark.parametrize("format_", ["adversarial", *NEW])
def test_a_screener_is_priced_like_any_seat_and_asked_at_the_least_ceiling(format_: str, fallback: str | None) -> None:
    options = {"stances": {"debaters": named(2, stance="yes")}}.get(format_, {})
    request = a_case(options={"format": format_, **options}, costCeilingUSD=25)
    prepared, deployment = checked(request, a_policy(1, 900, fallback, "cedar-large"))
    plain, _ = checked(request, a_policy(1, 900, fallback))
    found = quote(prepared, deployment)

    started = start(replace(prepared, ceiling=found.needed), deployment, SEED)
    facts = Facts.of([prepared.received("local"), GateDecided(prepared.decision), started])
    move = decide(facts)

    assert (prepared.options.screened, plain.options.screened) == (True, False)
    assert prepared.expected_by_seat["screener"] == prepared.expected_cost - plain.expected_cost > 0
    assert next(seat for seat in found.seats if seat.plan.seat == "screener").turns == 1
    assert isinstance(move, Ask)
    assert move.turns[0].seat == "screener"
    calling = ModelCaller(PROMPTS, {"offline": Prolix(ListLog([]), 0, 0)}, prepared.sources)
    first = calling.prepare(prepared.case, facts, move.turns[0], started.seat("screener")).asked.held
    assert first + sum(calling.closing_cost(prepared.case, facts, turn) for turn in move.holding) <= found.needed
    with pytest.raises(CeilingTooSmall):
        start(replace(prepared, ceiling=found.needed - 1), deployment, SEED)


@pytest.mark.parametrize("alias", ["cedar-large", "no-such-model"])
@pytest.mark.parametrize("screener", [None, "cedar-large"])
def test_a_case_can_neither_choose_nor_refuse_the_screener(alias: str, screener: str | None) -> None:
    request = a_case(options={"format": "panel", "models": {"screener": alias}})

    with pytest.raises(InvalidCase, match="policy alone seats the screener") as refused:
        checked(request, a_policy(1, 900, None, screener))

    assert refused.value.pointers == ("/options/models/screener",)


def test_a_case_that_a_screener_cannot_read_whole_is_refused_before_a_cent_is_spent() -> None:
    small = replace(POLICY.models["cedar-large"], alias="narrow", context_window=5_000)
    under = a_policy(1, 900, None, "narrow")
    under = replace(under, models={**under.models, "narrow": small})
    documents = [{"id": "D1", "text": "The fee is due. " * 2_000}]

    with pytest.raises(TooLarge, match="model 'narrow' at seat 'screener' can read"):
        start(*checked(a_case(documents=documents), under), SEED)
