"""A debate that ends when all answers are the same: the answers of each round, their overlap, and the decider."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.text import Text

from service.cli.display.arguments import arguments, heading
from service.cli.display.aspects import Page, decided
from service.cli.display.console import counted, row, text
from service.cli.display.speakers import by_round, last_turns, lettered, rule, seated
from service.debate.model import ConvergenceOptions
from service.debate.options import debater_seats
from service.debate.results import AnswerVotes
from service.report import Result
from service.report.formats.convergence import APART, kept_apart
from service.report.result.shown_options import ShownConvergenceOptions
from service.report.result.terms import ConvergenceTerms

_WIDE = 24
_BY = {"judge": "a judge", "majority": "the majority of the last answers", "nobody": "nobody"}


def lines(r: Result) -> Iterator[tuple[str, Text]]:
    """The answer, its decider, and its qualifications."""
    found = r.result
    if not isinstance(found, ConvergenceTerms):
        return
    if not found.final_answer:
        yield "Answer", text("none stands", "bold yellow")
    elif not decided(r, found.final_answer):
        yield "Answer", text(found.final_answer)
    yield "Decided by", text(f"{_BY[found.decided_by]}{_judge(r) if found.decided_by == 'judge' else ''}")
    if found.swapped_answer:
        yield "Other order", text(f"shown the same in another order, the judge answers: {found.swapped_answer}")
    if found.masked_answer:
        yield "Masked", text(f"shown the case without the flagged passages, the judge answers: {found.masked_answer}")
    if isinstance(r.options, ShownConvergenceOptions) and not r.options.convergence_check:
        yield "Converged", text("not looked for: the case asked for every round")
    elif found.converged_in is None:
        yield "Converged", text(f"never, in {counted(found.rounds, 'round')}")
    else:
        yield "Converged", text(f"in round {found.converged_in}: all say the same in nearly the same words")
    for group in found.votes:
        yield "Vote", text(_group(r, group))
    if found.tied:
        yield "Tied", text("; ".join(found.tied), "yellow")
    for group in found.blind_answers:
        yield "At first", text(_group(r, group))
    if found.missing:
        yield "Missing", text(", ".join(lettered(r, seat) for seat in found.missing), "yellow")


def why(r: Result) -> tuple[str, str] | None:
    """The judge's reasons, without the answer that stands before them in the synthesis and above in the decision."""
    answer = r.result.final_answer if isinstance(r.result, ConvergenceTerms) else None
    reasons = (r.synthesis or "").removeprefix(answer or "").strip()
    return ("Why", reasons) if reasons else None


def exchange(r: Result) -> Iterator[RenderableType]:
    """The answers of every round with their word overlap, then the last arguments of every debater."""
    for number, turns in by_round(r):
        yield rule(f"Answers of round {number}", "" if number else "each on its own")
        for one in turns:
            yield row(text(_seated(r, one.seat), "dim"), text(one.answer or ""), lead_width=_WIDE)
        if words := _overlap(r, number):
            yield row(text("Word overlap", "dim"), text(words), lead_width=_WIDE)
    for one in last_turns(r):
        yield heading(_seated(r, one.seat), f"round {one.round}", one.answer or "")
        yield from arguments(one.arguments)


def _seated(r: Result, seat: str) -> str:
    return seated(r, seat, lettered(r, seat))


def course(options: ConvergenceOptions) -> str:
    """All turns that the options allow, in words."""
    rounds = counted(options.max_rounds, "round")
    return f"{counted(len(debater_seats(options)), 'debater')} in {rounds} after the independent one"


def digits(value: float) -> str:
    """A share as ``0.850``: with all digits, because an answer may miss the threshold by one."""
    return f"{value:.3f}"


def _overlap(r: Result, number: int) -> str:
    """The word overlap of the two least similar answers after a round."""
    found, options = r.result, r.options
    if not isinstance(found, ConvergenceTerms) or not isinstance(options, ShownConvergenceOptions):
        return ""
    if number >= len(found.similarities):
        return ""
    least = found.similarities[number]
    overlap = f"{digits(least)} of the least alike pair" if least is not None else "undefined: an answer has no words"
    if options.convergence_check:
        overlap += f"; {digits(options.convergence_similarity)} ends the debate"
        overlap += f", but not here: {APART}" if number in kept_apart(options, found) else ""
    return overlap


def _judge(r: Result) -> str:
    """The model that judged, in brackets."""
    model = next((one.model for one in r.weighed if one.seat == "judge" and not one.swapped and not one.masked), None)
    return f" ({model})" if model else ""


def _group(r: Result, group: AnswerVotes) -> str:
    return f"{len(group.seats)} for “{group.answer}” ({_names(r, group.seats)})"


def _names(r: Result, seats: Iterable[str]) -> str:
    return ", ".join(lettered(r, seat) for seat in seats)


PAGE = Page(lines=lines, why=why, exchange=exchange, decider="the judge", course=course)
