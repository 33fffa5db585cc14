"""Debates without a network, a clock or a database: canned cases and replies, and a driver over lists.

drive      performs the kernel's moves as a runner would: intents, then replies in any order, failures, refusals
           by the ledger, silences, stops, late replies; or goes on from entries whose worker has died
canned     a short, legal reply for any turn of any format
found      the finding of any check when nothing is wrong, and nobody agrees
World      what lies outside the kernel, drawn from a seed by name: whatever the order of arrival, a turn gets the
           same reply, an attempt the same fate and a check the same finding
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from service.budget import Ledger, Usage, charge, worst_case
from service.debate.adversarial import SEATS
from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    CaseReceived,
    Charge,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    DebateStopped,
    Entry,
    GateDecided,
    GateDecision,
    TurnAsked,
    TurnSilent,
    TurnSpoke,
)
from service.debate.facts import Facts
from service.debate.findings import (
    ArgumentVerdict,
    Citation,
    CitationsFound,
    CitationVerdict,
    CritiqueFound,
    Finding,
    InjectionFound,
    StrikeReason,
    Suspicion,
)
from service.debate.kernel import FORMATS, decide, refuse_illegal, unusable
from service.debate.model import (
    AdversarialOptions,
    Ask,
    Case,
    Check,
    Conclude,
    Document,
    Measure,
    Options,
    Outcome,
    Position,
    PriceRow,
    SeatPlan,
    Turn,
    TurnId,
    labels,
)
from service.debate.options import positions_of
from service.debate.replies import (
    Answer,
    ArgumentScore,
    Concession,
    ConfidenceLevel,
    Critique,
    Framing,
    KeyDocument,
    Moderation,
    Point,
    Proposal,
    Rebuttal,
    Reply,
    Shift,
    Statement,
    statements,
)
from service.debate.turns import phase_of
from tests import formats

ALLOWANCE = 500
INPUT_TOKENS = 1_000


def price_row(
    given: int, output: int, cached_input: int, cache_write: int, reasoning: int, model: str = "plain"
) -> PriceRow:
    """A price row from its rates, the first of them for fresh input."""
    return PriceRow(
        model=model,
        effective="2026-01-01",
        source="made up",
        input=given,
        output=output,
        cached_input=cached_input,
        cache_write=cache_write,
        reasoning=reasoning,
    )


PRICE = price_row(1_000_000, 4_000_000, 250_000, 1_250_000, 4_000_000)
TURN_COST = 3_000
"""What one attempt costs at most, in micro-dollars: `INPUT_TOKENS` and `ALLOWANCE` at `PRICE`, the cheapest way."""

T = TypeVar("T")
LEVELS: tuple[ConfidenceLevel, ...] = ("HIGH", "MODERATE", "LOW")

Replies = Callable[[Turn, Facts], Reply]
Findings = Callable[[Check, Facts], Finding]


def a_case(*rounds: int, question: str = "Does the agreement expose the buyer to uncapped liability?") -> Case:
    """A case with one document for each number: the round in which it is introduced."""
    documents = tuple(
        Document(f"D{i}", f"Document {i}", f"{i:064x}", 1_000, r) for i, r in enumerate(rounds or (1,), start=1)
    )
    return Case(question, "contract", documents, Decimal(250_000), Decimal("0.55"))


def a_start(
    max_rounds: int = 1,
    *,
    positions: Sequence[str] = (),
    personas: Sequence[str] = (),
    ceiling: int = 1_000_000,
    seed: str = "00" * 32,
    human_review: bool = False,
    moderator_family: str = "birch",
    attempts_per_turn: int = 3,
) -> DebateStarted:
    """A debate that may start; every seat has the same price and allowance."""
    options = AdversarialOptions(
        max_rounds,
        6,
        6,
        human_review,
        tuple(Position(name, f"Choose {name}.") for name in positions),
        dict.fromkeys(personas, "You are a careful reader."),
    )
    seats = tuple(a_plan(seat, moderator_family if seat == "moderator" else "oak") for seat in SEATS)
    return DebateStarted(
        "adversarial/1",
        options,
        seats,
        pins={seat: f"{seat}@1 {'ab' * 32}" for seat in SEATS},
        pin="cd" * 32,
        policy_hash="01" * 32,
        price_hash="02" * 32,
        configuration_hash="03" * 32,
        build_hash="04" * 32,
        seed=seed,
        ceiling=ceiling,
        expected_cost=15_000,
        attempts_per_turn=attempts_per_turn,
    )


FAMILIES = {"moderator": "birch", "judge": "birch", "synthesizer": "yew", "adjudicator": "fir", "classifier": "larch"}


def start_of(
    options: Options,
    *,
    families: Sequence[str] = ("oak", "elm", "ash"),
    ceiling: int = 10_000_000,
    seed: str = "00" * 32,
    attempts_per_turn: int = 3,
) -> DebateStarted:
    """A debate of any format that may start: debaters take their models from the families in turn."""
    form = str(options.__struct_config__.tag)
    seats = FORMATS[form].table(options).seats
    plans = [a_plan(seat, FAMILIES.get(seat, families[i % len(families)])) for i, seat in enumerate(seats)]
    started = replace(a_start(ceiling=ceiling, seed=seed, attempts_per_turn=attempts_per_turn), format=form)
    return replace(started, options=options, seats=tuple(plans))


def a_plan(seat: str, family: str) -> SeatPlan:
    """A seat with a model of a family, at the common price and allowance."""
    model = f"{family}-1"
    return SeatPlan(seat, model, "scripted", model, family, "bytes/4", 1_000, 100_000, ALLOWANCE, PRICE)


DECIDED = GateDecided(GateDecision(True, "merits", (), 10_000, 50, "1", "05" * 32))
DECLINED = GateDecided(GateDecision(False, "worthIt", (), 10_000, 50, "1", "05" * 32))


def opening(started: DebateStarted, case: Case) -> list[Entry]:
    """What comes before the first turn."""
    return [CaseReceived(case, "local"), DECIDED, started]


def asked(turn: TurnId, attempt: int = 1, held: int = TURN_COST, model: str | None = None) -> TurnAsked:
    """An intent, at the model that sits in its seat by `a_start` unless another is named."""
    model = model or ("birch-1" if ".moderator." in turn else "oak-1")
    return TurnAsked(turn, attempt, model, "0a" * 32, "0b" * 32, INPUT_TOKENS, held)


def canned(turn: Turn, facts: Facts) -> Reply:
    """A short, legal reply: two arguments, an objection to each, an answer and a concession, a moderation that is
    satisfied; and in the other formats what `formats.said` says."""
    return formats.said(turn, facts) if turn.kind else reply_for(turn, _positions(facts))


def _positions(facts: Facts) -> tuple[str, ...]:
    return tuple(p.id for p in positions_of(facts.started.options)) if facts.started else ()


def reply_for(turn: Turn, positions: Sequence[str] = ()) -> Reply:
    """The canned reply of a turn in a debate between these positions (none: about one proposition)."""
    shift = Shift("weakened", "The new document narrows the claim.") if "evidence" in turn.fragments else None
    quote = (Citation("the Supplier's liability shall not exceed the Fees", "D1"),)
    match turn.seat:
        case "framing":
            key = (KeyDocument("D1", "It caps liability."),)
            return Framing("Liability is capped.", "Clause 9.", ("Is there a cap?",), key)
        case "proposer":
            usual = Statement(2, "It is usual.", (), "reasoning")
            arguments = (Statement(1, "The cap covers all claims.", quote), usual)
            return Proposal(f"{turn.party} stands.", arguments, "upheld", shift=shift)
        case "critic":
            return Critique("The cap leaks.", _points(positions), 8, "rejected", shift)
        case "rebuttal":
            mine = phase_of(turn.id)
            numbers = [p.n for p in _points(positions) if p.position in (mine or None, None)]
            answers = tuple(Answer(n, "The carve-out is narrow.", quote) for n in numbers[:1])
            granted = tuple(Concession(n, "Granted: it is silent on fines.") for n in numbers[1:])
            return Rebuttal("The cap holds.", answers, granted, "upheld", shift)
        case _:
            return moderation(turn)


def _points(positions: Sequence[str]) -> tuple[Point, ...]:
    quote = (Citation("except for breach of clause 12", "D1"),)
    whose = [(position, attacked) for position in positions or (None,) for attacked in (1, 2)]
    return tuple(
        Point(n, f"Argument {attacked} overlooks the carve-out.", (attacked,), quote, position=position)
        for n, (position, attacked) in enumerate(whose, start=1)
    )


def moderation(
    turn: Turn,
    *,
    another: bool = False,
    level: ConfidenceLevel = "HIGH",
    scores: Callable[[str], int] = lambda _: 7,
    best: Callable[[str], Any] = str,
) -> Moderation:
    """A moderation of exactly what the turn is shown; ``best`` orders the labels of positions."""
    shown = labels(turn)
    return Moderation(
        tuple(ArgumentScore(label, scores(label)) for label in sorted(shown.values())),
        ("The cap exists.",),
        ("Whether fines are covered.",),
        another,
        "The cap holds but for clause 12.",
        level,
        ("No court has read this clause.",),
        "modified",
        tuple(sorted((label for who, label in shown.items() if who.startswith("proposer.")), key=best)),
    )


def found(check: Check, facts: Facts) -> Finding:
    """Nothing is wrong: every citation is verified, the critique is strong, no document speaks to a model."""
    if check.kind == "injection":
        return InjectionFound(())
    if check.kind == "critique":
        return CritiqueFound(2, 2, 2, 2, 800, 100, 0, (), (), ())
    if check.kind != "citations":
        return formats.found(check, facts)
    return CitationsFound(
        tuple(
            ArgumentVerdict(turn, a.n, tuple(CitationVerdict("verified", "D1", (0, 20)) for _ in a.citations))
            for turn in check.over
            for a in statements(facts.said[turn])
        )
    )


class _Run:
    """One debate under way: the entries, folded as they come, and refused when the kernel refuses them."""

    def __init__(self, started: DebateStarted, entries: Sequence[Entry]) -> None:
        self.started = started
        self.entries: list[Entry] = []
        self.facts = Facts()
        self.ledger = Ledger(0)
        self.lost: dict[TurnId, int] = {}
        for entry in entries:
            self.fold(entry)

    def add(self, entry: Entry) -> None:
        """Append an entry, if it is legal."""
        refuse_illegal(self.facts, entry)
        self.fold(entry)

    def fold(self, entry: Entry) -> None:
        """Take over an entry that is recorded already."""
        self.facts.add(entry)
        self.ledger = self.ledger.add(entry)
        self.entries.append(entry)
        if isinstance(entry, AttemptFailed) and entry.reason == "lost":
            self.lost[entry.turn] = self.lost.get(entry.turn, 0) + 1

    def tries(self, turn: TurnId) -> int:
        """The attempts at a turn that a provider saw to their end, or is still working on."""
        return self.facts.attempts.get(turn, 0) - self.lost.get(turn, 0)


def drive(
    started: DebateStarted,
    replies: Replies = canned,
    *,
    case: Case | None = None,
    findings: Findings = found,
    order: Random | None = None,
    fails: Callable[[TurnId, int], bool] = lambda _turn, _nth: False,
    used: Callable[[TurnId], Usage | None] = lambda _: Usage(INPUT_TOKENS, ALLOWANCE),
    refuses: Callable[[Sequence[TurnId]], bool] = lambda _: False,
    stops: Callable[[Facts], DebateStopped | None] = lambda _: None,
    entries: Sequence[Entry] = (),
) -> list[Entry]:
    """Run a debate to its end and give its entries.

    ``order`` draws which open attempt ends next and which check is recorded first (without it: as asked). ``fails``
    says whether the nth attempt of a turn fails, ``used`` what a turn used, ``refuses`` what money refuses beside the
    ceiling, ``stops`` when the debate is stopped. ``entries`` go on from there: their open attempts are lost, and lost
    ones do not count towards giving a seat up. Raises `IllegalEntry` when the kernel refuses what it asked for itself.
    """
    run = _Run(started, entries)
    for entry in opening(started, case or a_case())[len(run.entries) :]:
        run.add(entry)
    for turn, attempt in list(run.facts.open.items()):
        run.add(AttemptFailed(turn, attempt, "lost", "its worker died", Charge(run.ledger.held[turn], "reserved")))
    while run.facts.concluded is None:
        if not run.facts.stopped and (stop := stops(run.facts)):
            run.add(stop)
        match decide(run.facts):
            case Measure(checks):
                for check in _shuffled(checks, order):
                    run.add(CheckFound(check.id, "canned/1", findings(check, run.facts)))
            case Ask() as ask if idle := [turn for turn in ask.turns if turn.id not in run.facts.open]:
                _begin(run, ask, idle, fails, refuses, order)
            case Conclude(outcome) if not run.facts.open:
                run.add(DebateConcluded(outcome))
            case _:
                _settle(run, replies, fails, used, order)
    return run.entries


def _begin(
    run: _Run,
    ask: Ask,
    idle: list[Turn],
    fails: Callable[[TurnId, int], bool],
    refuses: Callable[[Sequence[TurnId]], bool],
    order: Random | None,
) -> None:
    """Give up what failed too often, then fund and start all the rest, or refuse it."""
    if gone := [turn for turn in idle if run.tries(turn.id) >= run.started.attempts_per_turn]:
        run.add(TurnSilent(_shuffled(gone, order)[0].id, "it failed too often"))
        return
    names = tuple(turn.id for turn in idle)
    held = {turn.id: worst_case(INPUT_TOKENS, run.started.seat(turn.seat)) for turn in idle}
    closing = [worst_case(INPUT_TOKENS, run.started.seat(turn.seat)) for turn in ask.holding]
    if refusal := run.ledger.refuse(held.values(), closing):
        run.add(BudgetRefused(names, refusal.limit, refusal.needed, max(0, refusal.left)))
    elif refuses(names):
        run.add(BudgetRefused(names, "tenantDay", sum(held.values()), 0))
    else:
        for turn in idle:
            attempt = run.facts.attempts.get(turn.id, 0) + 1
            run.add(asked(turn.id, attempt, held[turn.id], run.started.seat(turn.seat).model))


def _settle(
    run: _Run,
    replies: Replies,
    fails: Callable[[TurnId, int], bool],
    used: Callable[[TurnId], Usage | None],
    order: Random | None,
) -> None:
    """One open attempt ends."""
    turn = _shuffled(list(run.facts.open), order)[0]
    attempt, held = run.facts.open[turn], run.ledger.held[turn]
    if fails(turn, run.tries(turn)):
        run.add(AttemptFailed(turn, attempt, "overload", "the provider was busy", Charge(0, "none")))
        return
    cost, due = charge(used(turn), held, PRICE), _due(run.facts, turn)
    reply = replies(due, run.facts)
    if wrong := unusable(run.facts, due, reply):
        run.add(AttemptFailed(turn, attempt, "malformedReply", wrong, cost))
    else:
        run.add(TurnSpoke(turn, attempt, reply, cost))


def _due(facts: Facts, turn: TurnId) -> Turn:
    """The open turn as the kernel asked for it, also after a stop."""
    unstopped = Facts()
    vars(unstopped).update(vars(facts), stopped=None, move=None)
    move = decide(unstopped)
    assert isinstance(move, Ask)
    return next(due for due in move.turns if due.id == turn)


def _shuffled(items: Sequence[T], order: Random | None) -> list[T]:
    return order.sample(list(items), len(items)) if order else list(items)


def outcome(entries: Sequence[Entry]) -> Outcome:
    """How a debate ended."""
    last = entries[-1]
    assert isinstance(last, DebateConcluded)
    return last.outcome


def turns_asked(entries: Sequence[Entry]) -> list[TurnId]:
    """The turns in the order in which they were asked, each attempt once."""
    return [entry.turn for entry in entries if isinstance(entry, TurnAsked)]


class World(NamedTuple):
    """Everything that the kernel does not decide, drawn from ``seed`` by name. Shares are in per cent."""

    seed: int
    failing: int = 0
    refusing: int = 0
    weak: int = 20
    another: int = 50
    unverified: int = 15
    unfit: int = 0

    def _draw(self, *name: object) -> Random:
        return Random(f"{self.seed}|{'|'.join(map(str, name))}")

    def _chance(self, share: int, *name: object) -> bool:
        return self._draw(*name).randrange(100) < share

    def fails(self, turn: TurnId, nth: int) -> bool:
        """Whether the nth attempt of a turn fails."""
        return self._chance(self.failing, "fails", turn, nth)

    def refuses(self, turns: Sequence[TurnId]) -> bool:
        """Whether a limit beside the ceiling refuses one of these turns."""
        return any(self._chance(self.refusing, "refuses", turn) for turn in turns)

    def used(self, turn: TurnId) -> Usage | None:
        """Up to the allowance, sometimes untold."""
        rng = self._draw("used", turn)
        return None if rng.randrange(20) == 0 else Usage(rng.randrange(INPUT_TOKENS + 1), rng.randrange(ALLOWANCE + 1))

    def replies(self, turn: Turn, facts: Facts) -> Reply:
        """The canned reply with other ratings, points, conclusions, votes and so on; now and then one that is unfit."""
        reply = self._reply(turn, facts)
        lost = sum(failed.reason == "lost" for failed in facts.failed.get(turn.id, ()))
        nth = facts.attempts.get(turn.id, 0) - lost
        return formats.unfit(reply) if self._chance(self.unfit, "unfit", turn.id, nth) else reply

    def _reply(self, turn: Turn, facts: Facts) -> Reply:
        rng, reply = self._draw("reply", turn.id), canned(turn, facts)
        conclusion = rng.choice(("upheld", "modified", "rejected"))
        match reply:
            case Critique():
                points = reply.points[: rng.randrange(len(reply.points) + 1)] if rng.random() < 0.3 else reply.points
                return replace(reply, conclusion=conclusion, challenge_strength=rng.randint(1, 10), points=points)
            case Rebuttal():
                critique = facts.said.get(turn.sees[-1])
                there = {p.n for p in critique.points} if isinstance(critique, Critique) else set()
                answers = tuple(a for a in reply.rebuttals if a.n in there)
                concessions = tuple(c for c in reply.concessions if c.n in there)
                return replace(reply, conclusion=conclusion, rebuttals=answers, concessions=concessions)
            case Moderation():
                salt, level = rng.random(), rng.choice(LEVELS)
                scores = {label: rng.randint(1, 10) for label in sorted(labels(turn).values())}
                return replace(
                    moderation(
                        turn,
                        another=rng.randrange(100) < self.another,
                        level=level,
                        scores=scores.__getitem__,
                        best=lambda label: self._draw("best", salt, label).random(),
                    ),
                    conclusion=conclusion,
                )
            case Proposal():
                return replace(reply, conclusion=conclusion)
        return formats.drawn(rng, reply)

    def findings(self, check: Check, facts: Facts) -> Finding:
        """Weak critiques, unverified citations, uncited evidence and suspicious documents, now and then."""
        finding = found(check, facts)
        match finding:
            case InjectionFound() if self._chance(5, check.id):
                return InjectionFound((Suspicion("D1", (3, 9), "speaks to a model"),))
            case CritiqueFound():
                weak = ("littleNovelty",) if self._chance(self.weak, "weak", check.id) else ()
                soft = ("to be fair",) if self._chance(10, "soft", check.id) else ()
                return replace(finding, weak=weak, softening=soft, soft=("softening",) if soft else ())
            case CitationsFound():
                return CitationsFound(tuple(self._argument(check, a) for a in finding.arguments))
        return formats.varied(self._draw("found", check.id), finding)

    def _argument(self, check: Check, argument: ArgumentVerdict) -> ArgumentVerdict:
        name = (check.id, argument.turn, argument.n)
        verdicts = tuple(
            CitationVerdict("not_found", found_in="D2") if self._chance(self.unverified, *name, i) else verdict
            for i, verdict in enumerate(argument.verdicts)
        )
        struck: StrikeReason | None = "unverified_citation" if any(v.verdict != "verified" for v in verdicts) else None
        if not verdicts and self._chance(self.unverified, *name):
            struck = "uncited"
        return ArgumentVerdict(argument.turn, argument.n, verdicts, struck)

    def drive(self, started: DebateStarted, **others: Any) -> list[Entry]:
        """A debate in this world."""
        parts = {
            "findings": self.findings,
            "fails": self.fails,
            "used": self.used,
            "refuses": self.refuses,
            "order": Random(self.seed),
        }
        return drive(started, self.replies, **{**parts, **others})
