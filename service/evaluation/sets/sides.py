"""The two sides of a moderator's pair: judgements are balanced, and what code can see of a feature is there.

    length       the side with it has more characters, of theses, arguments, points, rebuttals and concessions
    citations    the side with it has more quotations; each of them is verified (`quotes`)
    family, confident    words and makers that code does not judge

Otherwise a moderator that leans to one side would look right, and a pull towards a feature would be found reversed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import get_args

from service.debate.replies.adversarial import Critique, Proposal, Rebuttal
from service.evaluation.sets.faults import Fault
from service.evaluation.sets.form import LABELS, Split
from service.evaluation.sets.items import Given, PairItem, numbered_of
from service.evaluation.sets.labels import Feature, PairLabel, Side
from service.evaluation.sets.parts import Parts, of_label

Measure = Callable[[Given], Mapping[Side, int]]


def characters(given: Given) -> Mapping[Side, int]:
    """The characters of each side's words; a rebuttal is the proposer's."""
    own = _words(given.proposal) + _words(given.rebuttal)
    return {
        "proposer": own + sum(len(one.text) for one in given.rebuttal.concessions),
        "critic": _words(given.critique),
    }


def quotations(given: Given) -> Mapping[Side, int]:
    """The citations of each side; a rebuttal's are the proposer's."""
    return {"proposer": _cited(given.proposal) + _cited(given.rebuttal), "critic": _cited(given.critique)}


MEASURED: Mapping[Feature, tuple[str, Measure]] = {
    "length": ("characters", characters),
    "citations": ("citations", quotations),
}
"""The features that code can see, each with its unit."""


def check_features(parts: Parts) -> Iterator[Fault]:
    """The side that a label favours has more of what the feature is, where code can see it."""
    items = {item.id: item for item in parts.items.values()}
    for line, label in parts.labels.items():
        item = items.get(label.id)
        if not isinstance(label, PairLabel) or not isinstance(item, PairItem) or label.feature not in MEASURED:
            continue
        unit, measure = MEASURED[label.feature]
        found = measure(item.given)
        other: Side = "critic" if label.favours == "proposer" else "proposer"
        if found[label.favours] <= found[other]:
            words = (
                f"the {label.favours} of {label.id} has {found[label.favours]} {unit} and the {other} {found[other]}; "
                f"the side with the feature {label.feature} has more of them"
            )
            yield of_label(line, "favours", words)


def check_judgements(parts: Parts) -> Iterator[Fault]:
    """Half of a split's pairs are to be upheld, within one pair."""
    labels = parts.label_of()
    pairs: dict[Split, dict[str, bool]] = defaultdict(dict)
    for _, item in parts.active():
        label = labels.get(item.id, (0, None))[1]
        if isinstance(item, PairItem) and isinstance(label, PairLabel):
            pairs[item.split][item.pair] = label.answer == "upheld"
    for split in get_args(Split):
        upheld, all_ = sum(pairs[split].values()), len(pairs[split])
        if all_ > 1 and (abs(2 * upheld - all_) > 2 or upheld in (0, all_)):
            words = (
                f"in the split {split} {upheld} of {all_} pairs are to be upheld; expected half of them, within one: "
                "otherwise a moderator that is right would seem to be pulled to a side"
            )
            yield Fault(LABELS, 0, "answer", words)


def _words(reply: Proposal | Critique | Rebuttal) -> int:
    return len(reply.thesis) + sum(len(one.text) for one in numbered_of(reply))


def _cited(reply: Proposal | Critique | Rebuttal) -> int:
    return sum(len(one.citations) for one in numbered_of(reply))
