"""What a debate came to, for the first lines of its report: a headline, and what stands under it, format by format.

No headline says that an answer is right: it says who decided, and on what count.
"""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.model import ConvergenceOptions
from service.debate.results import BallotResult, ConvergenceResult, PanelResult, StancesResult
from service.report.courses import thousandths
from service.report.outline import Fact
from service.report.people import whose
from service.report.shape import Result
from service.report.wording import CONCLUSION, QUESTION, RULE_OF_VOTES, say

ORDER = "orderSensitive"
BY_ORDER = "No decision: the decider, asked again with the order turned round, decided otherwise"


def headline(r: Result) -> str | None:
    """The decision in one line; ``None`` where there is none."""
    if ORDER in r.flags and not isinstance(r.result, PanelResult):
        return BY_ORDER
    match r.result:
        case StancesResult(verdict=verdict) if verdict:
            return f"The judge's winner: {verdict.winner}" if verdict.winner else "The judge combined several stances"
        case BallotResult() as found:
            return _voted(found)
        case PanelResult() as found if found.synthesis:
            after = f"after {_count(found.rounds_completed, 'round')}"
            best = "the synthesis is the best answer there was"
            return f"Consensus {after}" if found.consensus_reached else f"No consensus {after}; {best}"
        case ConvergenceResult(final_answer=str(answer)) as found:
            return f"Answer of {'the judge' if found.decided_by == 'judge' else 'the majority'}: {answer}"
    return say(CONCLUSION, r.conclusion) if r.conclusion else None


def _voted(found: BallotResult) -> str:
    if found.decision_rule == "threshold_vote":
        counts = {tally.vote: tally.count for tally in found.vote_tally}
        return f"Decided by {counts.get(found.decision, 0)} of {_count(found.seats, 'vote')}: {found.decision}"
    return f"Not decided, for a person to decide: {found.decision}"


def decider(r: Result) -> str:
    """Whoever the debate's confidence is from, before rules lower it."""
    match r.result:
        case StancesResult() | ConvergenceResult():
            return "judge"
        case PanelResult():
            return "synthesizer"
    return "moderator"


def untested(r: Result) -> str | None:
    """Why what was decided has not been tested by anybody; ``None`` where it has, or where nothing was decided."""
    if r.result is None:
        heard = r.conclusion is None or any(record.critic_position for record in r.rounds)
        return None if heard else "no critic spoke"
    if r.status not in ("completed", "truncated"):
        return None
    if isinstance(r.result, StancesResult):
        return None if len({one.seat for one in r.transcript}) > 1 else "a single stance was argued"
    saw_others = any(not one.blind for one in r.transcript)
    return None if saw_others else "it ended before anybody had read another's answer"


def facts(r: Result) -> Iterator[Fact]:
    """What stands under the headline, in the terms of the format."""
    if r.format_reason:
        yield Fact("Why this format", r.format_reason)
    match r.result:
        case StancesResult() as found:
            yield from _stances(found)
        case BallotResult() as found:
            yield from _ballot(found)
        case PanelResult() as found:
            yield from _panel(r, found)
        case ConvergenceResult() as found:
            yield from _convergence(r, found)
    yield from _order(r)


def _stances(found: StancesResult) -> Iterator[Fact]:
    if found.verdict:
        yield Fact("Winner", found.verdict.winner or "none: the verdict combines several stances")
        if found.verdict.winner and found.winner_stance is None:
            yield Fact("Assigned to", "nobody: the judge named a position that no debater was given")
    yield Fact("Rounds", str(found.rounds))


def _ballot(found: BallotResult) -> Iterator[Fact]:
    yield Fact("Decided because", say(RULE_OF_VOTES, found.decision_rule))
    yield Fact("Votes that name an option", f"{found.votes_cast} of {found.seats}")
    yield Fact("Votes needed", str(found.consensus_threshold))
    if found.tied:
        yield Fact("Level with each other", ", ".join(found.tied))
    yield Fact("Behind the seats", f"{_count(found.models, 'model')}, {_count(found.families, 'family', 'families')}")


def _panel(r: Result, found: PanelResult) -> Iterator[Fact]:
    yield Fact("Type of the question", f"{say(QUESTION, found.question_type)}; consensus is {found.trigger}")
    yield Fact("Rounds", f"{found.rounds_completed}, the first of them blind")
    if found.consensus:
        last = found.consensus[-1]
        yield Fact("Consensus score", f"{thousandths(last.overall)} of 1, {thousandths(last.threshold)} wanted")
    if found.overall_confidence is not None:
        yield Fact("Debaters' own confidence", f"{found.overall_confidence} % in the mean")
    yield from _missing(r, found.missing)


def _convergence(r: Result, found: ConvergenceResult) -> Iterator[Fact]:
    converged = "no" if found.converged_in is None else f"yes, in round {found.converged_in}"
    if isinstance(r.options, ConvergenceOptions) and not r.options.convergence_check:
        converged = "not looked for"
    yield Fact("Rounds", f"{found.rounds} after the independent one")
    yield Fact("All answers converged", converged)
    if found.tied:
        yield Fact("Level with each other", "; ".join(found.tied))
    yield from _missing(r, found.missing)


def _missing(r: Result, seats: tuple[str, ...]) -> Iterator[Fact]:
    if seats:
        yield Fact("Missing", f"{', '.join(whose(r, seat) for seat in seats)}: given up, and not counted as agreement")


def _order(r: Result) -> Iterator[Fact]:
    """What came of asking the decider again with the order turned round."""
    if r.options is None or not getattr(r.options, "swapped", False):
        return
    if ORDER in r.flags:
        yield Fact("Asked again in the other order", "decided otherwise, so nothing stands")
    elif "orderUnchecked" in r.flags:
        yield Fact("Asked again in the other order", "could not be, so nobody knows whether the order decided")
    elif any(one.swapped for one in r.weighed) or any(d.swapped_moderation for d in r.round_details):
        yield Fact("Asked again in the other order", "decided the same")


def _count(number: int, what: str, many: str = "") -> str:
    return f"{number} {what if number == 1 else many or what + 's'}"
