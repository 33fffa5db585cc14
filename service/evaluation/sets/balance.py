"""Answers are of the closed list, labels rest on one basis, and half of a split's propositions state the right answer.

Otherwise a debate that leans towards `upheld` would look accurate.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import get_args

from service.errors import did_you_mean
from service.evaluation.sets.faults import Fault, said
from service.evaluation.sets.form import ITEMS, Split
from service.evaluation.sets.items import QuestionItem
from service.evaluation.sets.labels import QuestionLabel
from service.evaluation.sets.parts import Parts, of_item, of_label


def check_answers(parts: Parts) -> Iterator[Fault]:
    """Answers, raters' answers and what propositions state are of the closed list; a rater answers once."""
    closed = parts.outline.answers
    if not closed:
        return
    for line, item in parts.items.items():
        if isinstance(item, QuestionItem) and item.states not in closed:
            yield of_item(line, "states", _outside(item.states, closed))
    for line, label in parts.labels.items():
        if not isinstance(label, QuestionLabel):
            continue
        if label.answer not in closed:
            yield of_label(line, "answer", _outside(label.answer, closed))
        for i, rating in enumerate(label.raters):
            if rating.answer not in closed:
                yield of_label(line, f"raters[{i}].answer", _outside(rating.answer, closed))
        for rater, times in Counter(rating.rater for rating in label.raters).items():
            if times > 1:
                yield of_label(line, "raters", f"the rater {said(rater)} answers {times} times; keep one answer")
        if label.kappa is not None and len(label.raters) < 2:
            yield of_label(line, "kappa", "agreement needs two raters or more; list them, or remove it")


def check_bases(parts: Parts) -> Iterator[Fault]:
    """Every label rests on what the set says that its labels rest on: no mixture passes as the work of experts."""
    basis = parts.outline.basis
    for line, label in parts.labels.items():
        if basis is not None and label.basis != basis:
            words = f"{label.basis} is not the basis of set.toml, {basis}; put these labels into a set of their own"
            yield of_label(line, "basis", words)


def _outside(answer: str, closed: tuple[str, ...]) -> str:
    listed = ", ".join(map(said, closed[:12])) + (", ..." if len(closed) > 12 else "")
    return f"{said(answer)} is not in the closed list of set.toml ({listed}){did_you_mean(answer, closed)}"


def check_propositions(parts: Parts) -> Iterator[Fault]:
    """Propositions are two-sided within each split: half of them state the right answer, within one."""
    labels = parts.label_of()
    right: dict[Split, list[bool]] = defaultdict(list)
    for _, item in parts.active():
        if isinstance(item, QuestionItem) and item.id in labels:
            right[item.split].append(labels[item.id][1].answer == item.states)
    for split in get_args(Split):
        sides = right[split]
        true, all_ = sum(sides), len(sides)
        if all_ > 1 and (abs(2 * true - all_) > 2 or true in (0, all_)):
            words = (
                f"in the split {split} {true} of {all_} propositions state the right answer; expected half of them, "
                "within one: otherwise leaning towards `upheld` would look like accuracy"
            )
            yield Fault(ITEMS, 0, "states", words)
