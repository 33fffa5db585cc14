"""The shipped sets: each is a set without a fault, all of them have what is asked of them, and none was changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.evaluation.plan.power import FEWEST
from service.evaluation.sets import files
from service.evaluation.sets.coverage import (
    CROSSED_MIN,
    FAMILY_MIN,
    FEATURE_MIN,
    WRITTEN,
    coverage,
    family_counts,
    held_features,
    shortfalls,
)
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.items import Given, PairItem
from service.evaluation.sets.labels import FAMILIES, PairLabel, Side
from service.evaluation.sets.register import differences
from service.evaluation.sets.sides import characters, quotations
from tests.fixtures.golden_sets import CRITIC, PAIRS, QUESTIONS, files_of, read

FOLDERS = files.shipped()
TYPES = ("architecture", "compliance", "contract", "investment", "security")


@cache
def loaded(folder: Path) -> GoldenSet:
    return files.load_shipped(folder)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_shipped_set_has_no_fault_the_name_of_its_folder_and_labels_by_construction(folder: Path) -> None:
    manifest = loaded(folder).manifest

    assert manifest.id == folder.name == f"{manifest.task_type}-{manifest.kind}"
    assert manifest.task_type in TYPES
    assert manifest.provenance.startswith("labels by construction, by the authors")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_group_of_a_shipped_set_is_in_both_splits(folder: Path) -> None:
    counted = coverage(loaded(folder))

    assert counted.shared_groups == ()
    assert all(n > 0 for n in counted.splits.values())


def test_each_task_type_has_its_questions_and_its_pairs_and_all_together_each_family_and_feature_twelve_times() -> None:
    sets = [loaded(folder) for folder in FOLDERS]

    assert len(sets) == 3 * len(TYPES)
    assert list(shortfalls(sets, TYPES)) == []


def test_the_held_pairs_of_each_feature_are_enough_for_an_audit_to_say_something() -> None:
    held = held_features([loaded(folder) for folder in FOLDERS])

    assert 2 * FEATURE_MIN >= FEWEST
    assert {name: n for name, n in held.items() if n} == {"length": 13, "confident": 14, "citations": 13}
    assert set(WRITTEN) == {name for name, n in held.items() if n}


# The pairs of moderators.


Twins = tuple[PairItem, PairItem]
"""The two items of a pair: the feature is on the proposer's side, and on the critic's."""


def crossed(folders: list[Path] | tuple[Path, ...] = FOLDERS) -> Iterator[tuple[Twins, PairLabel]]:
    """Each shipped pair with the label of its first item."""
    for folder in folders:
        golden, sides = loaded(folder), dict[str, dict[str, PairItem]]()
        for item in golden.asked.items:
            label = golden.sealed[item.id]
            if isinstance(item, PairItem) and isinstance(label, PairLabel):
                sides.setdefault(item.pair, {})[label.favours] = item
        for found in sides.values():
            label = golden.sealed[found["proposer"].id]
            assert isinstance(label, PairLabel)
            yield (found["proposer"], found["critic"]), label


def texts(value: Any) -> Any:
    """A reply without its quotations."""
    if isinstance(value, Mapping):
        return {name: texts(one) for name, one in value.items() if name != "citations"}
    return [texts(one) for one in value] if isinstance(value, list) else value


def words(value: Any, at: str = "") -> dict[str, str]:
    """Every text of a reply by its place."""
    if isinstance(value, Mapping):
        return {place: text for name, one in value.items() for place, text in words(one, f"{at}.{name}").items()}
    if isinstance(value, list):
        return {place: text for i, one in enumerate(value) for place, text in words(one, f"{at}.{i}").items()}
    return {at: str(value)}


PAIR_FOLDERS = [folder for folder in FOLDERS if folder.name.endswith("-pairs")]


@pytest.mark.parametrize("folder", PAIR_FOLDERS, ids=lambda folder: folder.name)
def test_half_of_a_sets_pairs_are_upheld_within_each_feature_and_each_document_has_two(folder: Path) -> None:
    found = list(crossed([folder]))
    judged = Counter((label.feature, label.answer) for _, label in found)

    assert len(found) == CROSSED_MIN
    assert judged == {(feature, answer): 2 for feature in WRITTEN for answer in ("upheld", "rejected")}
    assert set(Counter(twins[0].group for twins, _ in found).values()) == {2}
    assert all(len(one.documents) == 1 for twins, _ in found for one in twins)


def test_twins_differ_in_their_feature_alone() -> None:
    """A longer side says more and cites the same, a more cited one says the same, a surer one says it otherwise."""
    for twins, label in crossed():
        proposer, critic = (msgspec.json.decode(msgspec.json.encode(one.given)) for one in twins)
        if label.feature == "citations":
            assert texts(proposer) == texts(critic), twins[0].pair
            continue
        assert [quotations(one.given) for one in twins] == [quotations(twins[0].given)] * 2, twins[0].pair
        if label.feature == "length":
            mine, other = words(proposer), words(critic)
            assert mine.keys() == other.keys()
            assert all(mine[at].startswith(other[at]) or other[at].startswith(mine[at]) for at in mine)


def test_where_length_is_not_crossed_one_side_is_longer_in_both_twins_and_the_critics_in_half_of_the_pairs() -> None:
    """Otherwise a pull to the longer side would be taken for another one, or for a pull to the proposition's side."""
    longer = Counter[str]()
    for twins, label in crossed():
        sides = [max(found, key=lambda side, n=found: n[side]) for found in (characters(one.given) for one in twins)]  # type: ignore[misc]
        if label.feature == "length":
            assert sides == ["proposer", "critic"], twins[0].pair
        else:
            assert sides[0] == sides[1], twins[0].pair
            longer[sides[0]] += 1

    assert longer == {"proposer": 20, "critic": 20}


COUNTS: Mapping[str, Callable[[Given], int]] = {
    "the proposer's lead in characters": lambda given: _lead(characters(given)),
    "the proposer's lead in citations": lambda given: _lead(quotations(given)),
    "the critic's points": lambda given: len(given.critique.points),
    "rebuttals without a citation": lambda given: sum(not one.citations for one in given.rebuttal.rebuttals),
    "the critic's rating of itself": lambda given: given.critique.challenge_strength,
}


def _lead(sides: Mapping[Side, int]) -> int:
    return sides["proposer"] - sides["critic"]


@pytest.mark.parametrize("counted", COUNTS)
def test_no_count_of_a_given_argument_tells_which_side_is_right(counted: str) -> None:
    """The best border of a count is right in less than two of three cases: who does not read is mostly lost."""
    cases = [
        (COUNTS[counted](one.given), label.answer == "upheld")
        for twins, label in crossed(PAIR_FOLDERS)
        for one in twins
    ]

    right = [sum((n >= border) == upheld for n, upheld in cases) for border, _ in cases]

    best = max(*right, len(cases) - min(right))
    assert best / len(cases) < 2 / 3


def test_the_register_has_the_shipped_sets_as_they_are() -> None:
    assert list(differences(files.shipped_register(), [loaded(folder) for folder in FOLDERS])) == []


def test_coverage_counts_what_is_there() -> None:
    critic, questions = coverage(read(files_of(CRITIC))), coverage(read(files_of(QUESTIONS)))

    assert (critic.items, critic.pairs, critic.documents, critic.groups, critic.retired) == (4, 2, 3, 2, 0)
    assert critic.splits == {"open": 2, "held": 2}
    assert {family: n for family, n in critic.families.items() if n} == {"dutyAgainstRight": 1, "supersededVersion": 1}
    assert (questions.items, questions.pairs, questions.families) == (4, 0, {})
    assert critic.shared_groups == ()
    pairs = coverage(read(files_of(PAIRS)))
    assert (pairs.items, pairs.pairs, pairs.families, critic.features) == (2, 1, {}, {})
    assert pairs.features["length"] == {"open": 1, "held": 0}
    assert not any(n for feature, of in pairs.features.items() for n in of.values() if feature != "length")


def test_what_is_missing_is_said_with_its_number() -> None:
    sets = [read(files_of(CRITIC)), read(files_of(QUESTIONS)), read(files_of(PAIRS))]

    missing = list(shortfalls(sets, ["contract", "security"]))

    assert missing[:5] == [
        "contract: expected at least 20 questions, found 4; add 16",
        "contract: expected at least 10 documents of questions, found 3; add 7",
        "contract: expected at least 22 pairs of proposals, found 2; add 20",
        "contract: expected at least 12 crossed pairs, found 1; add 11",
        "contract: expected at least 6 documents of crossed pairs, found 2; add 4",
    ]
    assert missing[5:8] == [
        "security: expected at least 20 questions, found 0; add 20",
        "security: expected at least 10 documents of questions, found 0; add 10",
        "security: expected at least 22 pairs of proposals, found 0; add 22",
    ]
    assert len(missing) == 10 + len(FAMILIES) + len(WRITTEN)
    assert missing[-1] == "all task types: expected at least 12 held pairs with the feature citations, found 0; add 12"
    assert family_counts(sets)["dutyAgainstRight"] == 1
    assert (
        f"all task types: expected at least {FAMILY_MIN} pairs of the family dutyAgainstRight, found 1; add 11"
        in missing
    )
