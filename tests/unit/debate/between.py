"""Debates between debaters for tests of stances and ballots: starts, replies by script, and what was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from service.debate.entries import DebateStarted, DebateStopped, Entry, TurnAsked
from service.debate.facts import Facts
from service.debate.findings import Citation
from service.debate.kernel import decide
from service.debate.model import Ask, BallotOptions, Debater, Options, StancesOptions, Turn, TurnId
from service.debate.options import debater_seats
from service.debate.replies import Argument, Ballot, ConfidenceLevel, Judgement, Projection, Reply, Statement
from service.debate.results import BallotResult, StancesResult
from tests.fixtures.debates import a_plan, outcome

OUTPUT = '{"decision": "Ship.", "rationale": "It is ready.", "conditions": [], "openQuestions": []}'
FAMILIES = ("oak", "elm", "ash")
Replies = Callable[[Turn, Facts], Reply]


def stances(*stances: str, max_rounds: int = 2, **others: object) -> StancesOptions:
    """Options with a debater for each stance, named ``name-1``..."""
    told = stances or ("ship now", "do not ship now")
    debaters = tuple(Debater(f"name-{n}", stance) for n, stance in enumerate(told, start=1))
    return StancesOptions(**{"debaters": debaters, "max_rounds": max_rounds, "human_review": False, **others})  # type: ignore[arg-type]


def ballot(*names: str, max_rounds: int = 2, threshold: int = 2, **others: object) -> BallotOptions:
    """Options of the reference's own example, unless told otherwise."""
    debaters = tuple(Debater(name) for name in names or ("planner", "critic", "operator"))
    given = {
        "debaters": debaters,
        "max_rounds": max_rounds,
        "votes": ("release", "revise", "escalate"),
        "consensus_threshold": threshold,
        "human_review": False,
    }
    return BallotOptions(**{**given, **others})  # type: ignore[arg-type]


def a_start(
    options: Options,
    families: Mapping[str, str] | None = None,
    *,
    seed: str = "00" * 32,
    ceiling: int = 10_000_000,
    attempts: int = 3,
) -> DebateStarted:
    """A debate that may start: debaters of families in turn, ``birch`` at every other seat."""
    debaters = dict(zip(debater_seats(options), FAMILIES * 4, strict=False))
    rest = ("judge", "synthesizer") if isinstance(options, StancesOptions) else ()
    seated = {**debaters, **dict.fromkeys(rest, "birch"), **(families or {})}
    return DebateStarted(
        "stances/1" if isinstance(options, StancesOptions) else "ballot/1",
        options,
        tuple(a_plan(seat, family) for seat, family in seated.items()),
        pins={},
        pin="cd" * 32,
        policy_hash="01" * 32,
        price_hash="02" * 32,
        configuration_hash="03" * 32,
        build_hash="04" * 32,
        seed=seed,
        ceiling=ceiling,
        expected_cost=15_000,
        attempts_per_turn=attempts,
    )


def said(turn: TurnId) -> tuple[Statement, ...]:
    """One statement with a citation."""
    return (Statement(1, f"What {turn} has to say.", (Citation("the Supplier's liability", "D1"),)),)


def judgement(winner: str | None, level: ConfidenceLevel = "HIGH", verdict: str = "It is ready.") -> Judgement:
    """A judge's reply."""
    return Judgement(verdict, winner, "The evidence says so.", level, ("Nobody has tested it.",))


def judged(
    winner: str | None = "ship now",
    swapped: str | None = "ship now",
    level: ConfidenceLevel = "HIGH",
    output: str = OUTPUT,
) -> Replies:
    """A debate of stances whose judge names this winner, and that one when it is asked again."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        match turn.asks:
            case "stances.judge":
                return judgement(swapped if ".swapped." in turn.id else winner, level)
            case "stances.synthesizer":
                return Projection(output)
        return Argument(said(turn.id))

    return reply


def voting(*votes: str | Sequence[str], otherwise: str = "revise") -> Replies:
    """A ballot whose debaters vote so in each of their turns, the last vote of a list again and again."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        mine = votes[int(turn.seat.removeprefix("debater-")) - 1]
        cast = [mine] if isinstance(mine, str) else mine
        spoken = sum(f".{turn.seat}." in other for other in facts.said)
        return Ballot("My position.", said(turn.id), cast[min(spoken, len(cast) - 1)])

    return reply


def asked(entries: Sequence[Entry], turn: TurnId) -> Turn:
    """The turn as the kernel asked for it."""
    return next(due for due in asking(entries, turn).turns if due.id == turn)


def asking(entries: Sequence[Entry], turn: TurnId) -> Ask:
    """The move that asked for a turn."""
    n = next(n for n, e in enumerate(entries) if isinstance(e, TurnAsked) and e.turn == turn)
    move = decide(Facts.of(entries[:n]))
    assert isinstance(move, Ask)
    return move


def verdict_of(entries: Sequence[Entry]) -> StancesResult:
    """What a debate of stances came to."""
    result = outcome(entries).result
    assert isinstance(result, StancesResult)
    return result


def count_of(entries: Sequence[Entry]) -> BallotResult:
    """What a ballot came to."""
    result = outcome(entries).result
    assert isinstance(result, BallotResult)
    return result


def tally(result: BallotResult) -> dict[str, int]:
    """The tally as a dictionary, as the reference has it."""
    return {counted.vote: counted.count for counted in result.vote_tally}


def stopped_after(turn: TurnId, by: str = "abort") -> Callable[[Facts], DebateStopped | None]:
    """Somebody stops the debate once a turn has spoken."""
    return lambda facts: DebateStopped(by, "enough") if turn in facts.said else None  # type: ignore[arg-type]
