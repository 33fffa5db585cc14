"""The part of a report about answers that may converge: who answered what in which round, and how alike they were."""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.options import ConvergenceOptions
from service.debate.results import AnswerVotes, ConvergenceResult
from service.report.courses import thousandths
from service.report.outline import Bar, Block, Chart, Course, Part, Segment, Table, Text
from service.report.people import by_round, latest, who, whose
from service.report.shape import Result
from service.report.wording import AGREEMENT, OVERLAP

_MOST_COLUMNS = 4
APART = "the answers differ, one has a negation that another has not, or a debater is missing"
"""What keeps answers apart that share words enough."""


def answers(r: Result) -> Iterator[Block]:
    """Final answers by round, word overlap by round, and how many gave which answer."""
    if not isinstance(r.result, ConvergenceResult) or not isinstance(r.options, ConvergenceOptions):
        return
    found = r.result
    yield Part("answers", "Answers by round")
    yield Text(AGREEMENT, "note")
    yield _matrix(r)
    yield from _course(r.options, found)
    yield _votes(r, "Answers of the last whole round", found.votes)
    yield _votes(r, "Answers of the independent round, before anybody had seen another's", found.blind_answers)


def _matrix(r: Result) -> Table:
    rounds = dict(by_round(r))
    if len(rounds) > _MOST_COLUMNS:
        rows = [(str(n), who(r, one), one.answer or "") for n, turns in rounds.items() for one in turns]
        return Table("Who answered what", ("Round", "Debater", "Answer"), tuple(rows), numeric=(0,))
    given = {(one.seat, one.round): one.answer or "" for one in r.transcript}
    head = ("Debater", *("Round 0, independent" if n == 0 else f"Round {n}" for n in rounds))
    lines = ((who(r, one), *(given.get((one.seat, n), "missing") for n in rounds)) for one in latest(r))
    return Table("Who answered what", head, tuple(lines))


def _course(options: ConvergenceOptions, found: ConvergenceResult) -> Iterator[Block]:
    if not found.similarities:
        yield Text("Whether answers converged was not looked at, as the caller chose.", "note")
        return
    told = ", ".join(f"round {n}: {thousandths(value)}" for n, value in enumerate(found.similarities))
    wanted = options.convergence_similarity
    yield Course(
        name="overlap-course",
        title="Word overlap of the two answers that share least, after each round",
        places=tuple(f"Round {n}" for n in range(len(found.similarities))),
        values=found.similarities,
        wanted=wanted,
        shown=f"{told[:1].upper()}{told[1:]}; {thousandths(wanted)} was wanted.",
    )
    yield Text(OVERLAP, "note")
    if apart := kept_apart(options, found):
        rounds = ", ".join(map(str, apart))
        yield Text(f"Words enough were shared, and yet the debate went on, after round {rounds}: {APART}.", "note")


def kept_apart(options: ConvergenceOptions, found: ConvergenceResult) -> tuple[int, ...]:
    """The rounds after which words enough were shared and answers had not converged all the same."""
    return tuple(
        n
        for n, shared in enumerate(found.similarities)
        if shared is not None and shared >= options.convergence_similarity and n != found.converged_in
    )


def _votes(r: Result, title: str, given: tuple[AnswerVotes, ...]) -> Chart:
    seats = sum(len(one.seats) for one in given)
    bars = (
        Bar(
            one.answer,
            (Segment("answers", len(one.seats), "info"),),
            seats,
            f"{len(one.seats)} of {seats}: {', '.join(whose(r, seat) for seat in one.seats)}",
        )
        for one in given
    )
    return Chart(title, tuple(bars))
