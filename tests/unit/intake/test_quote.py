"""A quote bounds what its debate is charged, whatever the models do, and says whether the debate can begin."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service import money as budget
from service import samples
from service.checks.judgement.critique import CritiqueThresholds, _rate
from service.debate.amounts import MicroUSD
from service.debate.entries import DebateStarted, Entry, GateDecided, TurnAsked
from service.debate.findings import CritiqueFound
from service.debate.options import masked_of
from service.debate.turns import TurnId, seat_of
from service.errors import CeilingTooSmall, GainsayError, TooLarge
from service.intake import Deployment, Prepared, prepare, start
from service.intake.quote import SEED as QUOTED
from service.intake.quote import CaseQuote, quote
from service.intake.request import CaseRequest, document_ids
from service.intake.worst_case import _FINDINGS, WEAK, WRONG, worst_case_turns
from service.money import Ledger, Refusal, tokenizers
from service.policy import Policy
from service.prompts.fence import Block, blocks, fence, nonce
from service.prompts.render import ERROR_MAX
from service.prompts.request import Request, WireTexts, encode, texts_of, wire_texts
from service.running.log_port import AuditLog
from service.running.provider_port import Answer, CallFailed, Provider
from service.running.runner import Runner
from service.simulated import OfflineProvider
from tests.fixtures.running import PROMPTLY
from tests.unit.intake.test_intake import DAY, NOW, POLICY, POSITIONS, PROMPTS, REFUSED, a_case, policy

SEED = "ab" * 32


def checked(request: CaseRequest, under: Policy = POLICY, role: str = "operator") -> tuple[Prepared, Deployment]:
    deployment = Deployment(PROMPTS, under, DAY, "00" * 32)
    salts = {name: bytes(32) for name in document_ids(request)}
    return prepare(request, deployment, role, salts, NOW), deployment


def quoted(under: Policy = POLICY, **changes: Any) -> CaseQuote:
    return quote(*checked(a_case(**changes), under))


# -- real spending


class ListLog(AuditLog):
    """The log of one debate in a list."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = list(entries)
        self._seen = 0

    @property
    def debate(self) -> str:
        return "d1"

    def turn_age_s(self, turn: str) -> float:
        return 0.0

    @property
    def ledger(self) -> Ledger:
        return Ledger.of(self.entries)

    @property
    def allocated(self) -> MicroUSD:
        return self.ledger.ceiling

    @property
    def deadline_in_s(self) -> float | None:
        return None

    async def allocate(self, need: MicroUSD, want: MicroUSD) -> Refusal | None:
        return None

    async def new_entries(self) -> list[Entry]:
        found, self._seen = self.entries[self._seen :], len(self.entries)
        return found

    async def append(self, entries: Sequence[Entry], occurred: Sequence[float] = ()) -> None:
        self.entries += entries
        self._seen = len(self.entries)

    async def renew(self) -> None:
        return


class Spendthrift(Provider):
    """Costs as much as it may: replies fill their allowance, usage is what was allowed or is not told at all, calls
    fail after they were billed, critiques are weak, and every moderator wants another round and quotes what stands
    nowhere. Drawn from a seed."""

    def __init__(self, seed: int, troubled: int) -> None:
        self._random = Random(seed)
        self._troubled = troubled

    def encode(self, request: Request) -> bytes:
        return encode(request)

    def decode_request(self, body: bytes) -> WireTexts:
        return wire_texts(body)

    async def send(self, body: bytes) -> Answer:
        request = msgspec.json.decode(body, type=Request)
        if self._random.randrange(100) < self._troubled:
            return self._trouble(request)
        told = self._random.choice([self._told(request), None])
        return Answer(self._reply(request), told, request.model_name)

    def _told(self, request: Request) -> dict[str, Any]:
        return {
            "input_tokens": budget.count(texts_of(request), "bytes/4"),
            "output_tokens": request.max_output_tokens,
        }

    def _trouble(self, request: Request) -> Answer:
        what = self._random.choice(["overload", "refusedKey", "malformed", "cut"])
        if what == "malformed":
            told = self._told(request)
            return Answer("I would rather not.", told)
        if what == "cut":
            raise CallFailed("lengthLimit", "cut", answer=Answer('{"th', None))
        raise CallFailed("overload", "busy") if what == "overload" else CallFailed("refusedKey", "no", retry=False)

    def _reply(self, request: Request) -> str:
        given = [block for message in request.messages for block in blocks(message.content)]
        bytes_left = request.max_output_tokens * 4
        reply = _reply(request.seat, given, parts=self._random.randint(1, 9), length=1)
        spare = (bytes_left - len(json.dumps(reply))) // (2 * 9)
        full = json.dumps(_reply(request.seat, given, parts=self._random.randint(1, 9), length=max(1, spare)))
        return full if len(full) <= bytes_left else json.dumps(reply)


NOWHERE = 'Clause 99.9 states "whatever a debate may cost is paid twice over".'
"""A text for which a moderator is asked once more: no document has it."""


def _reply(seat: str, given: Sequence[Block], parts: int, length: int) -> dict[str, Any]:
    """A legal reply of so many parts, each with a text of this length."""
    text = "x" * length
    positions = [str(b.attributes["id"]) for b in given if b.kind == "position"]
    shift = {"movement": "unchanged", "because": text} if any(b.kind == "new-evidence" for b in given) else None
    moved = {"shift": shift} if shift else {}
    citation = {"quote": text, "sourceId": "D1"}
    numbered = [{"n": n, "text": text, "citations": [citation]} for n in range(1, parts + 1)]
    match seat:
        case "framing":
            return {"thesis": text, "scope": text, "criteria": [text] * parts, "keyDocuments": []}
        case "proposer":
            return {"thesis": text, "arguments": numbered, "conclusion": "upheld", **moved}
        case "critic":
            whose = {"position": positions[0]} if positions else {}
            points = [{**n, "attacks": [1], **whose} for n in numbered]
            return {"thesis": text, "points": points, "challengeStrength": 1, "conclusion": "rejected", **moved}
        case "rebuttal":
            return {"thesis": text, "rebuttals": [], "concessions": [], "conclusion": "upheld", **moved}
    labels: dict[str, dict[str, Any]] = {}
    for block in given:
        if block.kind == "statement":
            labels.setdefault(str(block.attributes["label"]), json.loads(block.text))
    ranked = [label for label, view in labels.items() if "position" in view and "concedes" not in view]
    return {
        "scores": [{"label": label, "score": 7} for label in labels],
        "resolvedPoints": [],
        "unresolvedPoints": [text] * parts,
        "recommendAnotherRound": True,
        "synthesis": text,
        "confidenceLevel": "LOW",
        "explicitUncertainties": [text, NOWHERE],
        "conclusion": "upheld",
        "ranking": ranked,
    }


def debated(prepared: Prepared, deployment: Deployment, provider: Provider) -> tuple[list[Entry], Ledger]:
    """What is recorded of the case's debate, and its money."""
    started = start(prepared, deployment, SEED)
    log = ListLog([prepared.received("local"), GateDecided(prepared.decision), started])
    runner = Runner(log, prepared.sources, PROMPTS, {"offline": provider}, calls=PROMPTLY)
    asyncio.run(runner.run())
    return log.entries, log.ledger


small_cases = st.fixed_dictionaries(
    {
        "documents": st.lists(
            st.builds(
                lambda text, round_: {"text": f"Clause {text}.", "round": round_},
                st.text(min_size=1, max_size=300),
                st.integers(1, 2),
            ),
            min_size=1,
            max_size=3,
        ).map(lambda found: [{**found[0], "round": 1}, *found[1:]]),
        "options": st.fixed_dictionaries(
            {"format": st.just("adversarial"), "maxRounds": st.integers(2, 3)},
            optional={"positions": st.just(POSITIONS), "personas": st.just({"critic": "An examiner."})},
        ),
        "costCeilingUSD": st.sampled_from([0.5, 2, 25]),
    }
)


FALLBACKS = {"proposer": "birch-large", "critic": "alder-large", "moderator": "birch-large"}


def a_policy(attempts: int, allowance: int, *fallbacks: str) -> Policy:
    """The shipped policy with so many attempts, this allowance at every seat, and a fallback at some."""
    seats = {
        name: replace(seat, allowance=allowance, fallback=FALLBACKS[name] if name in fallbacks else None)
        for name, seat in POLICY.seats.items()
    }
    return replace(POLICY, seats=seats, debate=replace(POLICY.debate, attempts_per_turn=attempts))


policies = st.builds(
    a_policy, st.integers(1, 3), st.integers(300, 1_500), st.sampled_from(["moderator", "critic", "proposer"])
)


@settings(max_examples=60)
@given(small_cases, policies, st.integers(0, 10**6), st.sampled_from([0, 20, 60]))
def test_no_debate_is_ever_charged_more_than_the_worst_that_was_quoted(
    body: dict[str, Any], under: Policy, seed: int, troubled: int
) -> None:
    prepared, deployment = checked(a_case(**body), under)
    found = quote(prepared, deployment)

    entries, money = debated(prepared, deployment, Spendthrift(seed, troubled))

    assert money.excess == 0
    assert money.spent <= found.worst <= prepared.ceiling
    assert found.worst <= found.asked_at_most
    costings = worst_case_turns(prepared.case, prepared.sources, found.started, PROMPTS)
    worst = {costing.turn.id: costing.worst for costing in costings}
    for turn, held in _held(entries).items():
        assert held <= worst[turn], turn


def _held(entries: Sequence[Entry]) -> dict[TurnId, MicroUSD]:
    """What was reserved for all attempts of each turn together."""
    held: dict[TurnId, MicroUSD] = {}
    for entry in entries:
        if isinstance(entry, TurnAsked):
            held[entry.turn] = held.get(entry.turn, 0) + entry.held
    return held


def test_the_worst_is_not_just_any_large_number() -> None:
    prepared, deployment = checked(
        a_case(options={"format": "adversarial", "maxRounds": 3}, costCeilingUSD=25), a_policy(1, 1_500)
    )

    spent = max(debated(prepared, deployment, Spendthrift(seed, troubled=0))[1].spent for seed in range(8))

    assert spent > quote(prepared, deployment).asked_at_most // 3


@settings(max_examples=20)
@given(small_cases)
def test_offline_debates_cost_about_what_was_expected_and_less_than_the_worst(body: dict[str, Any]) -> None:
    prepared, deployment = checked(a_case(**{**body, "costCeilingUSD": 25}))
    found = quote(prepared, deployment)

    _, money = debated(prepared, deployment, OfflineProvider())

    assert money.spent <= found.started.expected_cost <= found.asked_at_most == found.worst


@pytest.mark.parametrize(("name", "variant"), [("contract", None), ("architecture", "positions")])
def test_the_turns_of_a_quote_are_those_of_the_longest_debate(name: str, variant: str | None) -> None:
    case = msgspec.json.decode(msgspec.json.encode(samples.load(name, variant).case), type=CaseRequest)
    prepared, deployment = checked(replace(case, cost_ceiling_usd=None), policy(debate__ceiling=25_000_000))
    found = quote(prepared, deployment)

    entries, _ = debated(prepared, deployment, Spendthrift(1, troubled=0))

    asked = [e.turn for e in entries if isinstance(e, TurnAsked)]
    hidden = {"moderator": masked_of(prepared.options)}  # asked only where a passage is flagged, and none is here
    assert {seat.plan.seat: seat.turns for seat in found.seats} == {
        seat: sum(seat_of(turn) == seat for turn in asked) + hidden.get(seat, False)
        for seat in ("framing", "proposer", "critic", *_LATER)
    }


_LATER = ("rebuttal", "moderator")


# -- whether it begins


@settings(max_examples=30)
@given(small_cases, policies, st.integers(-3, 3))
def test_a_case_is_startable_exactly_where_its_debate_starts(body: dict[str, Any], under: Policy, by: int) -> None:
    prepared, deployment = checked(a_case(**{**body, "costCeilingUSD": 25}), under)
    needed = quote(prepared, deployment).needed
    tight = msgspec.structs.replace(prepared, ceiling=needed + by)

    found = quote(tight, deployment)

    assert found.startable == (by >= 0)
    if found.startable:
        start(tight, deployment, SEED)
        return
    with pytest.raises(CeilingTooSmall):
        start(tight, deployment, SEED)


@settings(max_examples=25)
@given(st.binary(min_size=32, max_size=32), st.sampled_from(["o200k_base", "cl100k_base"]))
def test_what_a_quote_says_is_needed_suffices_whatever_marks_the_fences(seed: bytes, tokenizer: str) -> None:
    tokenizers.load([tokenizer])
    models = {name: replace(model, tokenizer=tokenizer) for name, model in POLICY.models.items()}
    prepared, deployment = checked(a_case(), replace(POLICY, models=models))
    needed = quote(prepared, deployment).needed

    start(replace(prepared, ceiling=needed), deployment, seed.hex())


@pytest.mark.parametrize("tokenizer", ["o200k_base", "cl100k_base"])
def test_no_mark_of_a_fence_makes_more_tokens_than_that_of_a_quote(tokenizer: str) -> None:
    tokenizers.load([tokenizer])
    fences = fence(nonce(QUOTED), Block("document", {}, ""))

    bare = budget.count_tokens(fences.replace(nonce(QUOTED), ""), tokenizer)

    assert budget.count_tokens(fences, tokenizer) >= bare + 2 * 16


def test_what_is_needed_counts_a_moderator_whose_fallback_is_dearer() -> None:
    plain, dear = (quoted(a_policy(3, 1_000, *seats)) for seats in ((), ("moderator",)))

    assert dear.needed > plain.needed
    assert quoted(a_policy(3, 1_000, "critic")).needed == plain.needed


@pytest.mark.parametrize("name", [name for name in REFUSED if name != "a ceiling too small"])
def test_what_cannot_be_a_case_is_refused_as_it_is_when_it_is_submitted(name: str) -> None:
    changes, code, pointer = REFUSED[name]

    with pytest.raises(GainsayError) as error:
        quoted(**changes)

    assert (error.value.code, error.value.pointers[:1]) == (code, (pointer,))


def test_documents_that_a_seat_cannot_read_are_refused_unless_the_case_is_declined_anyway() -> None:
    models = {name: replace(model, context_window=9_000) for name, model in POLICY.models.items()}
    narrow = replace(POLICY, models=models)
    long = [{"text": "Clause. " * 10_000}]

    with pytest.raises(TooLarge):
        quoted(narrow, documents=long, costCeilingUSD=25)

    assert not quoted(narrow, documents=long, costCeilingUSD=25, estimatedDownside=0.000001).decision.debate


# -- what it names


def test_a_quote_names_what_a_debate_of_the_same_case_would_begin_with() -> None:
    prepared, deployment = checked(a_case())

    began, found = start(prepared, deployment, SEED), quote(prepared, deployment).started

    assert msgspec.structs.replace(found, seed=SEED) == began
    assert isinstance(began, DebateStarted)


def test_seats_add_up_to_the_whole() -> None:
    found = quoted(options={"format": "adversarial", "maxRounds": 2})

    assert sum(seat.expected for seat in found.seats) == found.started.expected_cost
    assert sum(seat.worst for seat in found.seats) == found.asked_at_most
    assert [seat.plan.seat for seat in found.seats] == [plan.seat for plan in found.started.seats]


def test_tokens_are_counted_for_each_document_and_for_the_whole_first_request_of_each_seat() -> None:
    found = quoted(documents=[{"text": "x" * 400}, {"text": "y" * 41}])

    assert [document.tokens for document in found.documents] == [{"bytes/4": 100}, {"bytes/4": 11}]
    assert all(seat.first_request > 111 for seat in found.seats)
    bare = quoted(documents=[{"text": "x" * 400}])
    for seat, less in zip(found.seats, bare.seats, strict=True):
        assert 11 <= seat.first_request - less.first_request <= 60


def test_the_worst_of_a_seat_includes_its_fallback() -> None:
    def critic(under: Policy) -> int:
        return next(seat.worst for seat in quoted(under).seats if seat.plan.seat == "critic")

    alone, doubled = critic(a_policy(2, 1_000)), critic(a_policy(2, 1_000, "critic"))

    assert doubled > alone


def test_the_longest_request_names_every_hard_sign_and_the_longest_error() -> None:
    """The bounds of a second critique and of a repair rest on these."""
    worst = _FINDINGS["critique"]
    assert isinstance(worst, CritiqueFound)
    cited = replace(worst, points=1, citations=1, self_overlap=1_000, restating=1_000, spared=("wait",))
    found = [worst, cited, replace(cited, upholds=False), replace(cited, points_naming_an_argument=1)]

    assert set(WEAK) == {sign for one in found for sign in _rate(one, CritiqueThresholds()).weak}
    assert len(WRONG) == ERROR_MAX
