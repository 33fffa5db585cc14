"""The part of a report about what was held against the decision to the end, in the formats where it is one of several.

Struck arguments are no challenge: later seats were not shown them, and they stand in the transcript with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.answers import folded
from service.debate.results import BallotResult, ConvergenceResult, PanelResult, StancesResult
from service.report.exchange import argued
from service.report.outline import Block, Heading, Part, Text
from service.report.people import latest, who
from service.report.shape import Result, Spoken


def unmoved(r: Result) -> Iterator[Block]:
    """Every debater whose last word is not the decision, or every debater where nothing is decided, with its case."""
    if isinstance(r.result, PanelResult) or not r.transcript or r.result is None:
        return
    against = _against(r)
    if against is None:
        yield Part("dissent", "Where everybody stood at the end")
    else:
        yield Part("dissent", "What was held against it to the end, and by whom")
    if against == []:
        yield Text("Nobody: every debater's last word was for it.")
    titles = {d.id: d.title for d in r.case.documents}
    for one in latest(r) if against is None else against:
        yield from _case(r, one, titles)


def _case(r: Result, one: Spoken, titles: dict[str, str]) -> Iterator[Block]:
    yield Heading(3, who(r, one), _last_word(one))
    standing = [argument for argument in one.arguments if not argument.struck]
    for argument in standing:
        yield argued(f"Argument {argument.n} of round {one.round}", argument, titles)
    if not standing:
        yield Text("Everything that it argued last was struck.")


def _against(r: Result) -> list[Spoken] | None:
    """Who was against the decision; ``None`` where there is no decision that one could be against."""
    match r.result:
        case StancesResult(winner_stance=str(stance)):
            return [one for one in latest(r) if one.stance != stance]
        case BallotResult(decision_rule="threshold_vote", decision=decision):
            return [one for one in latest(r) if one.vote != decision]
        case ConvergenceResult(final_answer=str(answer), votes=votes):
            given = {seat for one in votes if folded(one.answer) == folded(answer) for seat in one.seats}
            return [one for one in latest(r) if one.seat not in given]
    return None


def _last_word(one: Spoken) -> str:
    if one.phase:
        return f"votes {one.vote}" if one.vote else "abstains"
    return one.answer or ""
