"""How a debate was set up, as terms and values: the options of each format in words."""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.options import (
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Options,
    PanelOptions,
    StancesOptions,
)
from service.report.courses import thousandths
from service.report.outline import Fact
from service.report.wording import QUESTION, SCORED, TYPED, say

_TIES = {"lowestDebater": "goes to the debater that was declared first", "noAnswer": "gives no answer"}


def parameters(options: Options) -> Iterator[Fact]:
    """Every option that shaped the debate."""
    yield Fact("Rounds at most", str(options.max_rounds))
    match options:
        case AdversarialOptions():
            below = options.require_critic_retry_below, options.min_challenge_strength
            yield Fact("Critique asked again below", f"{below[0]} of 10, by its own rating")
            yield Fact("Critique weak below", f"{below[1]} of 10, by its own rating")
        case StancesOptions():
            yield from _stances(options)
        case BallotOptions():
            yield from _ballot(options)
        case PanelOptions():
            yield from _panel(options)
        case ConvergenceOptions():
            yield from _convergence(options)
    if not isinstance(options, BallotOptions) and options.swapped:
        yield Fact("Decider asked twice", "yes, the second time with the order turned round")


def _stances(options: StancesOptions) -> Iterator[Fact]:
    yield from _named(options)
    yield Fact("Names hidden from the judge", _yes(options.anonymize_transcript))
    yield Fact("Order shuffled for the judge", f"{_yes(options.shuffle_for_judge)}, by the seed below")
    projected = "to the caller's own shape" if options.output_schema is not None else "to the usual shape"
    yield Fact("Projection", projected if options.synthesizer else "switched off")
    yield from _instructed("Instructions to all", options.instructions)


def _ballot(options: BallotOptions) -> Iterator[Fact]:
    yield from _named(options)
    yield Fact("Options of the vote", ", ".join(options.votes))
    yield Fact("Votes needed", f"{options.consensus_threshold} of {len(options.debaters)}")
    yield from _instructed("Instructions to all", options.instructions)


def _panel(options: PanelOptions) -> Iterator[Fact]:
    yield Fact("Debaters", str(options.debaters))
    yield Fact("Type before the debate", f"{say(QUESTION, options.question_type)}, {say(TYPED, options.typed_by)}")
    wanted = options.thresholds.get(options.question_type)
    if wanted is not None:
        yield Fact("Consensus wanted for that type", thousandths(wanted))
    yield Fact("Consensus scored by", say(SCORED, options.adjudicator))
    yield Fact(
        "Models chosen", "by their track record and for different families" if options.mode == "auto" else "by hand"
    )
    for record in options.track_records:
        yield Fact(f"Track record of {record.model}", f"{thousandths(record.score)} in {record.debates} debates")
    yield from _instructed("Instructions to all", options.instructions)


def _convergence(options: ConvergenceOptions) -> Iterator[Fact]:
    yield Fact("Debaters", str(options.debaters))
    looked = f"from a word overlap of {thousandths(options.convergence_similarity)} on"
    yield Fact("Ends early when converged", looked if options.convergence_check else "no")
    yield Fact("Decided by", "a judge" if options.judge else "the majority of the last whole round")
    if not options.judge:
        yield Fact("A tie", _TIES[options.ties])
    yield from _instructed("Instructions to debaters", options.debater_instructions)
    yield from _instructed("Instructions to the judge", options.judge_instructions)


def _named(options: StancesOptions | BallotOptions) -> Iterator[Fact]:
    for number, debater in enumerate(options.debaters, start=1):
        stance = f": {debater.stance}" if debater.stance else ""
        prompt = f" (prompt {debater.prompt})" if debater.prompt else ""
        yield Fact(f"Debater {number}", f"{debater.name}{stance}{prompt}")


def _instructed(term: str, instructions: str | None) -> Iterator[Fact]:
    if instructions:
        yield Fact(term, instructions)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
