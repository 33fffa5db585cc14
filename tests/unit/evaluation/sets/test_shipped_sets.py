"""The shipped sets: each is a set without a fault, all of them have what is asked of them, and none was changed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from service.evaluation.sets import files
from service.evaluation.sets.coverage import FAMILY_MIN, coverage, family_counts, shortfalls
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.labels import FAMILIES
from service.evaluation.sets.register import differences
from tests.fixtures.golden_sets import CRITIC, QUESTIONS, files_of, read

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


def test_each_task_type_has_its_questions_and_its_pairs_and_all_together_each_family_twelve_times() -> None:
    """Of the types whose sets are there; the register says which have to be."""
    sets = [loaded(folder) for folder in FOLDERS]
    types = sorted({golden.manifest.task_type for golden in sets})
    critics = [golden for golden in sets if golden.manifest.kind == "critic"]

    missing = list(shortfalls(sets, types))

    if len(critics) < len(TYPES):
        missing = [words for words in missing if "family" not in words]
    assert missing == []


def test_the_register_has_the_shipped_sets_as_they_are() -> None:
    assert list(differences(files.shipped_register(), [loaded(folder) for folder in FOLDERS])) == []


def test_coverage_counts_what_is_there() -> None:
    critic, questions = coverage(read(files_of(CRITIC))), coverage(read(files_of(QUESTIONS)))

    assert (critic.items, critic.pairs, critic.documents, critic.groups, critic.retired) == (4, 2, 3, 2, 0)
    assert critic.splits == {"open": 2, "held": 2}
    assert {family: n for family, n in critic.families.items() if n} == {"dutyAgainstRight": 1, "supersededVersion": 1}
    assert (questions.items, questions.pairs, questions.families) == (4, 0, {})
    assert critic.shared_groups == ()


def test_what_is_missing_is_said_with_its_number() -> None:
    sets = [read(files_of(CRITIC)), read(files_of(QUESTIONS))]

    missing = list(shortfalls(sets, ["contract", "security"]))

    assert missing[:3] == [
        "contract: expected at least 20 questions, found 4; add 16",
        "contract: expected at least 10 documents of questions, found 3; add 7",
        "contract: expected at least 22 pairs of proposals, found 2; add 20",
    ]
    assert missing[3:6] == [
        "security: expected at least 20 questions, found 0; add 20",
        "security: expected at least 10 documents of questions, found 0; add 10",
        "security: expected at least 22 pairs of proposals, found 0; add 22",
    ]
    assert len(missing) == 6 + len(FAMILIES)
    assert family_counts(sets)["dutyAgainstRight"] == 1
    assert (
        f"all task types: expected at least {FAMILY_MIN} pairs of the family dutyAgainstRight, found 1; add 11"
        in missing
    )
