"""Convergence in results and reports: the answers by round, their similarity, and the decider."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import asdict

from service.debate.answer_keys import folded
from service.debate.convergence import labels
from service.debate.model import Case, Outcome, Turn, TurnId
from service.debate.options import ConvergenceOptions, debater_seats, debaters_of, prompt_of
from service.debate.replies import Closing, Position, Reply, Ruling
from service.debate.results import AnswerVotes, ConvergenceResult
from service.debate.script import Script
from service.debate.turns import round_of, seat_of, turn_id
from service.report.document.blocks import (
    Bar,
    Block,
    Chart,
    Fact,
    HeadingBlock,
    ReportPart,
    Segment,
    Sparkline,
    TableBlock,
    Text,
)
from service.report.document.sparkline import thousandths
from service.report.document.speakers import by_round, latest, speaker_possessive
from service.report.formats import debaters
from service.report.formats.aspects import Given, Telling
from service.report.formats.debaters import lettered
from service.report.marks import without_marks
from service.report.remarks import AGREEMENT, OVERLAP
from service.report.result.history import Folded, History
from service.report.result.shares import per_mille, per_mille_or_none, share_or_none, shown
from service.report.result.shown_options import ShownConvergenceOptions
from service.report.result.terms import ConvergenceTerms
from service.report.result.types import Result, Spoken

_MOST_COLUMNS = 4
APART = "the answers differ, an argument negates what others do not, or a debater is missing"
"""The obstacles between answers that share enough words."""
_TIES = {"lowestDebater": "goes to the debater that was declared first", "noAnswer": "gives no answer"}


def _label(h: Folded, who: str) -> str:
    """A letter, in the order that the seed gives."""
    return labels(Script(h.facts.started, h.facts))[who] if h.facts.started else who


def _blind(turn: TurnId) -> bool:
    return round_of(turn) == 0


def _first_draft(h: History) -> tuple[TurnId, ...]:
    return tuple(turn for turn in debaters.turns(h) if _blind(turn))


def _given(h: History, turn: TurnId, reply: Reply) -> Given:
    name = debaters.named(h, seat_of(turn)).name or None
    return Given(name=name, answer=reply.final_answer if isinstance(reply, Position) else None)


def _synthesis(outcome: Outcome, reply: Closing | None) -> str | None:
    found = outcome.result
    answer = found.final_answer if isinstance(found, ConvergenceResult) else None
    return f"{answer}\n\n{reply.justification}" if answer is not None and isinstance(reply, Ruling) else None


def _terms(_: Folded, outcome: Outcome, __: tuple[Spoken, ...]) -> ConvergenceTerms | None:
    """The result with shares in the place of the record's per mille."""
    found = outcome.result
    if not isinstance(found, ConvergenceResult):
        return None
    kept = asdict(found) | {"similarities": tuple(share_or_none(value) for value in found.similarities)}
    return ConvergenceTerms(**kept)


def _facts(r: Result) -> Iterator[Fact]:
    if not isinstance(r.result, ConvergenceTerms):
        return
    found = r.result
    converged = "no" if found.converged_in is None else f"yes, in round {found.converged_in}"
    if isinstance(r.options, ShownConvergenceOptions) and not r.options.convergence_check:
        converged = "not looked for"
    yield Fact("Rounds", f"{found.rounds} after the independent one")
    yield Fact("All answers converged", converged)
    if found.tied:
        yield Fact("Level with each other", "; ".join(found.tied))
    yield from debaters.missing(r, found.missing, lettered)


def _parameters(options: ShownConvergenceOptions) -> Iterator[Fact]:
    named = debaters_of(options)
    yield from debaters.seated(named) if named else [Fact("Debaters", str(len(debater_seats(options))))]
    looked = f"from a word overlap of {shown(options.convergence_similarity)} on"
    yield Fact("Ends early when converged", looked if options.convergence_check else "no")
    yield Fact("Decided by", "a judge" if options.judge else "the majority of the last whole round")
    if not options.judge:
        yield Fact("A tie", _TIES[options.ties])
    yield from debaters.instructed("Instructions to debaters", options.debater_instructions or None)
    yield from debaters.instructed("Instructions to the judge", options.judge_instructions or None)


def _measured(r: Result) -> Iterator[Block]:
    """Final answers by round, word overlap by round, and the number of debaters for each answer."""
    if not isinstance(r.result, ConvergenceTerms) or not isinstance(r.options, ShownConvergenceOptions):
        return
    found = r.result
    yield ReportPart("answers", "Answers by round")
    yield Text(AGREEMENT, "note")
    yield _matrix(r)
    yield from _course(r.options, found)
    yield _votes(r, "Answers of the last whole round", found.votes)
    yield _votes(r, "Answers of the independent round, before anybody had seen another's", found.blind_answers)


def _matrix(r: Result) -> TableBlock:
    rounds = dict(by_round(r))
    if len(rounds) > _MOST_COLUMNS:
        rows = [(str(n), lettered(one), one.answer or "") for n, turns in rounds.items() for one in turns]
        return TableBlock("Who answered what", ("Round", "Debater", "Answer"), tuple(rows), numeric=(0,))
    given = {(one.seat, one.round): one.answer or "" for one in r.transcript}
    head = ("Debater", *("Round 0, independent" if n == 0 else f"Round {n}" for n in rounds))
    lines = ((lettered(one), *(given.get((one.seat, n), "missing") for n in rounds)) for one in latest(r))
    return TableBlock("Who answered what", head, tuple(lines))


def _course(options: ShownConvergenceOptions, found: ConvergenceTerms) -> Iterator[Block]:
    if not found.similarities:
        yield Text("Whether answers converged was not looked at, as the caller chose.", "note")
        return
    values = ", ".join(f"round {n}: {shown(value)}" for n, value in enumerate(found.similarities))
    wanted = per_mille(options.convergence_similarity)
    yield Sparkline(
        name="overlap-course",
        title="Word overlap of the two answers that share least, after each round",
        places=tuple(f"Round {n}" for n in range(len(found.similarities))),
        values=tuple(map(per_mille_or_none, found.similarities)),
        wanted=wanted,
        shown=f"{values[:1].upper()}{values[1:]}; {thousandths(wanted)} was wanted.",
    )
    yield Text(OVERLAP, "note")
    if apart := kept_apart(options, found):
        rounds = ", ".join(map(str, apart))
        yield Text(f"Words enough were shared, and yet the debate went on, after round {rounds}: {APART}.", "note")


def kept_apart(options: ShownConvergenceOptions, found: ConvergenceTerms) -> tuple[int, ...]:
    """The rounds after which enough words were shared and the answers had not converged all the same."""
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
            f"{len(one.seats)} of {seats}: {', '.join(speaker_possessive(r, seat, lettered) for seat in one.seats)}",
        )
        for one in given
    )
    return Chart(title, tuple(bars))


def _argued(r: Result) -> Iterator[Block]:
    def blocks_of(spoken: Sequence[Spoken]) -> Iterator[Block]:
        yield debaters.drafted(spoken)
        for one in spoken:
            yield HeadingBlock(3, lettered(one))
            yield Text(one.answer or "", "lead")
            yield from debaters.reasons(r, one)

    yield from debaters.rounds(r, lambda number: f"Round {number}" if number else "Round 0: independent", blocks_of)


def _against(r: Result) -> Iterator[Block]:
    """The debaters that gave another answer."""
    if not isinstance(r.result, ConvergenceTerms) or not r.transcript:
        return
    against, answer = None, r.result.final_answer
    if answer is not None:
        wanted = folded(without_marks(answer))
        given = {seat for one in r.result.votes if folded(without_marks(one.answer)) == wanted for seat in one.seats}
        against = [one for one in latest(r) if one.seat not in given]
    yield from debaters.dissent_standing(r, against, lettered, lambda one: one.answer or "")


def _further(options: ConvergenceOptions, _: Case) -> Iterator[Turn]:
    """The rounds after the independent one."""
    for seat in debater_seats(options):
        fragments = ("convergence.debate",)
        yield Turn(turn_id(1, seat), seat, (), fragments, "convergence.debater", prompt_of(options, seat))


TELLING = Telling(
    label=_label,
    blind=_blind,
    first_draft=_first_draft,
    given=_given,
    closing=debaters.closing,
    synthesis=_synthesis,
    own=debaters.own,
    terms=_terms,
    title=debaters.TITLE,
    by_rounds=False,
    decider="judge",
    diversity=debaters.DIVERSITY,
    saw=lambda _: debaters.SAW_LABELS,
    facts=_facts,
    untested=debaters.unheard,
    parameters=_parameters,
    who=lettered,
    measured=_measured,
    argued=_argued,
    cited=partial(debaters.cited, who=lettered),
    against=_against,
    further=_further,
)
