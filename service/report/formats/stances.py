"""Stances in results and reports: assigned positions argued in turn, then a judge's verdict and its projection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import msgspec
from msgspec.structs import asdict

from service.debate.model import Outcome, TurnId
from service.debate.options import StancesOptions
from service.debate.replies import Closing, Reply
from service.debate.results import StancesResult
from service.debate.turns import seat_of, turn_id
from service.report.document.blocks import Block, Fact, HeadingBlock
from service.report.document.speakers import latest
from service.report.formats import debaters
from service.report.formats.aspects import Given, Telling
from service.report.result.history import Folded, History
from service.report.result.terms import StancesTerms
from service.report.result.types import Result, Spoken

SAW_NAMES = "They took no part in the debate, and saw the debaters' names, as the caller chose."


def _label(h: Folded, who: str) -> str:
    """The debater's assigned stance."""
    return debaters.named(h, who).stance


def _first_draft(h: History) -> tuple[TurnId, ...]:
    return tuple(turn for turn in h.facts.said if turn == turn_id(1, "debater-1"))


def _given(h: History, turn: TurnId, _: Reply) -> Given:
    debater = debaters.named(h, seat_of(turn))
    return Given(name=debater.name, stance=debater.stance or None)


def _synthesis(outcome: Outcome, _: Closing | None) -> str | None:
    found = outcome.result
    return found.verdict.verdict if isinstance(found, StancesResult) and found.verdict else None


def _terms(h: Folded, outcome: Outcome, spoken: tuple[Spoken, ...]) -> StancesTerms | None:
    """The verdict with the reference's output, whose statements are those that stand; its verdict null if none does."""
    found = outcome.result
    if not isinstance(found, StancesResult):
        return None
    return StancesTerms(
        **asdict(found),
        raw={
            "rounds": found.rounds,
            "question": h.case.question,
            "transcript": [
                {
                    "round": one.round,
                    "agentName": one.name,
                    "stance": one.stance,
                    "text": "\n\n".join(argument.text for argument in one.arguments if not argument.struck),
                }
                for one in spoken
            ],
            "verdict": msgspec.to_builtins(found.verdict),
        },
    )


def _saw(options: StancesOptions) -> str:
    return debaters.SAW_LABELS if options.anonymize_transcript else SAW_NAMES


def _facts(r: Result) -> Iterator[Fact]:
    if not isinstance(r.result, StancesTerms):
        return
    found = r.result
    if found.verdict:
        yield Fact("Winner", found.verdict.winner or "none: the verdict combines several stances")
        if found.verdict.winner and found.winner_stance is None:
            yield Fact("Assigned to", "nobody: the judge named a position that no debater was given")
    yield Fact("Rounds", str(found.rounds))


def _untested(r: Result) -> str | None:
    if r.result is None or r.status not in ("completed", "truncated"):
        return None
    return None if len({one.seat for one in r.transcript}) > 1 else "a single stance was argued"


def _parameters(options: StancesOptions) -> Iterator[Fact]:
    yield from debaters.seated(options.debaters)
    yield Fact("Names hidden from the judge", _yes(options.anonymize_transcript))
    yield Fact("Order shuffled for the judge", f"{_yes(options.shuffle_for_judge)}, by the seed below")
    projected = "to the caller's own shape" if options.output_schema is not None else "to the usual shape"
    yield Fact("Projection", projected if options.synthesizer else "switched off")
    yield from debaters.instructed("Instructions to all", options.instructions)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _who(one: Spoken) -> str:
    """``Ursula [sign it]``."""
    return f"{one.name} [{one.stance}]"


def _measured(_: Result) -> Iterator[Block]:
    yield from ()


def _argued(r: Result) -> Iterator[Block]:
    def blocks_of(spoken: Sequence[Spoken]) -> Iterator[Block]:
        for one in spoken:
            yield HeadingBlock(3, one.stance or "", one.name or "")
            yield from debaters.reasons(r, one)

    yield from debaters.rounds(r, lambda number: f"Round {number}", blocks_of)


def _against(r: Result) -> Iterator[Block]:
    """The debaters with another stance than the winner's."""
    if not isinstance(r.result, StancesTerms) or not r.transcript:
        return
    stance = r.result.winner_stance
    against = None if stance is None else [one for one in latest(r) if one.stance != stance]
    yield from debaters.dissent_standing(r, against, _who, lambda _: "")


TELLING = Telling(
    label=_label,
    blind=lambda _: False,
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
    saw=_saw,
    facts=_facts,
    untested=_untested,
    parameters=_parameters,
    who=_who,
    measured=_measured,
    argued=_argued,
    cited=partial(debaters.cited, who=_who),
    against=_against,
)
