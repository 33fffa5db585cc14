"""One item, its label and what was observed of its debate: one score. Pure, and the same for the same three."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.evaluation.scoring.answers import answer_of
from service.evaluation.scoring.observed_types import Observed
from service.evaluation.scoring.planted import Planted, says_yes
from service.evaluation.scoring.scores import CriticScore, PairScore, QuestionScore, Run, Score
from service.evaluation.sets.items import CriticItem, Item, ItemSet, PairItem, QuestionItem
from service.evaluation.sets.labels import CriticLabel, Label, PairLabel, QuestionLabel


def score(asked: ItemSet, item: Item, label: Label, observed: Observed) -> Score:
    """The score of a debate about an item of this set; raises `TypeError` where item and label are of two kinds."""
    match item, label:
        case QuestionItem(), QuestionLabel():
            return score_question(item, label, observed, asked.manifest.answers or ())
        case CriticItem(), CriticLabel():
            return score_critic(label, observed, {one.id: one.text for one in asked.documents(item)})
        case PairItem(), PairLabel():
            return score_pair(label, observed)
        case _:
            raise TypeError(f"expected an item and a label of one kind, found those of {item.id} and {label.id}")


def score_question(
    item: QuestionItem, label: QuestionLabel, observed: Observed, answers: Sequence[str]
) -> QuestionScore:
    """Whether the answer is the label's; ``answers`` is the set's closed list."""
    answer, why_none = answer_of(observed, answers, item.states)
    right = answer is not None and answer == label.answer
    return QuestionScore(right, answer, why_none, observed.said, run_of(observed))


def score_critic(label: CriticLabel, observed: Observed, texts: Mapping[str, str]) -> CriticScore:
    """Whether the critique says yes, by the one rule for both twins; ``texts`` are the documents by their ids."""
    flawed, run = label.answer == "flawed", run_of(observed)
    by_code, made = label.argument in observed.struck_by_code, observed.critique
    if made is None:
        return CriticScore(flawed, None, by_code, run, conclusion=observed.conclusion)
    planted = Planted(label.argument, label.span.document, label.span.quote, label.value)
    return CriticScore(
        flawed=flawed,
        yes=says_yes(made, planted, texts),
        by_code=by_code,
        run=run,
        own_rating=made.own_rating,
        retries=made.retries,
        weak=made.weak,
        soft=made.soft,
        points=len(made.points),
        conclusion=observed.conclusion,
    )


def score_pair(label: PairLabel, observed: Observed) -> PairScore:
    """Whether the moderator's first conclusion is the label's, and what it concluded in the reverse order."""
    first, second = observed.moderation, observed.swapped
    return PairScore(
        right=first is not None and first.conclusion == label.answer,
        conclusion=first.conclusion if first else None,
        swapped=second.conclusion if second else None,
        run=run_of(observed),
        slot=first.slot if first else None,
        swapped_slot=second.slot if second else None,
        confidence=first.confidence if first else None,
    )


def run_of(observed: Observed) -> Run:
    """What a debate took."""
    return Run(
        status=observed.status,
        attempts=observed.attempts,
        unusable=observed.unusable,
        charge=observed.charge,
        seats=observed.seats,
        prompts=observed.prompts,
        simulated=observed.simulated,
        fallbacks=observed.fallbacks,
        lost=observed.lost,
    )
