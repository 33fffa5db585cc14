"""How much a set has: items by split, documents, groups, families, features; and what the shipped sets have to have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

from service.evaluation.sets.form import Split
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.items import CriticItem, PairItem
from service.evaluation.sets.labels import FAMILIES, FEATURES, CriticLabel, Family, Feature, PairLabel

QUESTIONS_MIN, DOCUMENTS_MIN, PAIRS_MIN, FAMILY_MIN = 20, 10, 22, 12
"""What each task type has at least, and how often each family of flaws stands in the sets of all types."""
CROSSED_MIN, CROSSED_DOCUMENTS_MIN, FEATURE_MIN = 12, 6, 12
"""The same of pairs for moderators, and how often each feature stands in the held splits of all types: each pair is two
cases, and of fewer than 23 an audit says nothing."""
WRITTEN: tuple[Feature, ...] = ("length", "confident", "citations")
"""The features that a text has by itself. Which family wrote a text is no matter of its words."""


class Coverage(NamedTuple):
    """What a set has; retired items are counted in ``retired`` alone."""

    items: int
    retired: int
    documents: int
    groups: int
    pairs: int
    splits: Mapping[Split, int]
    families: Mapping[Family, int]
    """Pairs by the family of their planted flaw; all of them for a critic's set, none for another."""
    features: Mapping[Feature, Mapping[Split, int]]
    """Pairs by their feature and split; all of them for a set of pairs, none for another."""
    shared_groups: tuple[str, ...]
    """Groups with items in both splits: work on `open` may show in what `held` measures."""


def coverage(golden: GoldenSet) -> Coverage:
    """What a set has. It counts labels and shows none."""
    active = golden.asked.active()
    splits: dict[str, set[Split]] = defaultdict(set)
    for item in active:
        splits[item.group].add(item.split)
    flawed = [
        label
        for item in active
        if isinstance(label := golden.sealed[item.id], CriticLabel) and label.answer == "flawed"
    ]
    families = Counter(label.family for label in flawed)
    crossed = {
        (item.pair, label.feature, item.split)
        for item in active
        if isinstance(item, PairItem) and isinstance(label := golden.sealed[item.id], PairLabel)
    }
    features = Counter((feature, split) for _, feature, split in crossed)

    def by_split(feature: Feature) -> dict[Split, int]:
        return {split: features[feature, split] for split in get_args(Split)}

    critic, pairs = (golden.manifest.kind == kind for kind in ("critic", "pairs"))
    return Coverage(
        items=len(active),
        retired=len(golden.asked.items) - len(active),
        documents=len({document.sha256 for item in active for document in item.documents}),
        groups=len(splits),
        pairs=len({item.pair for item in active if isinstance(item, CriticItem | PairItem)}),
        splits={split: sum(item.split == split for item in active) for split in get_args(Split)},
        families={family: families[family] for family in FAMILIES} if critic else {},
        features={name: by_split(name) for name in FEATURES} if pairs else {},
        shared_groups=tuple(sorted(group for group, found in splits.items() if len(found) > 1)),
    )


def family_counts(sets: Sequence[GoldenSet]) -> dict[Family, int]:
    """Pairs of all sets by the family of their planted flaw."""
    counted: Counter[Family] = Counter()
    for golden in sets:
        counted.update(coverage(golden).families)
    return {family: counted[family] for family in FAMILIES}


def held_features(sets: Sequence[GoldenSet]) -> dict[Feature, int]:
    """Pairs in the held splits of all sets by their feature."""
    found = [coverage(golden).features for golden in sets]
    return {name: sum(one[name]["held"] for one in found if one) for name in FEATURES}


def shortfalls(sets: Sequence[GoldenSet], task_types: Sequence[str]) -> Iterator[str]:
    """What these sets lack of what is asked of the shipped ones, a sentence each."""
    for task_type in task_types:
        mine = [golden for golden in sets if golden.manifest.task_type == task_type]
        questions = [coverage(golden) for golden in mine if golden.manifest.kind == "questions"]
        critics = [coverage(golden) for golden in mine if golden.manifest.kind == "critic"]
        crossed = [coverage(golden) for golden in mine if golden.manifest.kind == "pairs"]
        yield from _short(task_type, "questions", sum(one.items for one in questions), QUESTIONS_MIN)
        yield from _short(task_type, "documents of questions", sum(one.documents for one in questions), DOCUMENTS_MIN)
        yield from _short(task_type, "pairs of proposals", sum(one.pairs for one in critics), PAIRS_MIN)
        yield from _short(task_type, "crossed pairs", sum(one.pairs for one in crossed), CROSSED_MIN)
        documents = sum(one.documents for one in crossed)
        yield from _short(task_type, "documents of crossed pairs", documents, CROSSED_DOCUMENTS_MIN)
    for family, found in family_counts(sets).items():
        yield from _short("all task types", f"pairs of the family {family}", found, FAMILY_MIN)
    for feature, found in held_features(sets).items():
        if feature in WRITTEN:
            yield from _short("all task types", f"held pairs with the feature {feature}", found, FEATURE_MIN)


def _short(where: str, what: str, found: int, least: int) -> Iterator[str]:
    if found < least:
        yield f"{where}: expected at least {least} {what}, found {found}; add {least - found}"
