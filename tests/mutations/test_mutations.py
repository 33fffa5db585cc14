"""No edit of a recorded bundle verifies but those that docs/verification.md lists, without a key and with the log's."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from service.cli.audit.verify import tools
from service.verify.bundle import verify_bundle
from service.verify.steps import FAILED, GAPS, VERIFIED
from tests.mutations import listed
from tests.mutations.edits import DRAWS, LISTED, opened
from tests.mutations.harness import FOLDER, NAMES, judge, mutate, pinned
from tests.mutations.resealed import Original, Sealed, forged

SEED = int(os.environ.get("GAINSAY_TEST_MUTATIONS_SEED", "17"))


def test_200_edits_without_a_key_come_to_what_the_document_says() -> None:
    wrong = [
        (nth, name, edit.what, why) for nth, name, edit, report in mutate(200, SEED) if (why := judge(edit, report))
    ]

    assert wrong == [], f"GAINSAY_TEST_MUTATIONS_SEED={SEED}"


@pytest.mark.parametrize("draw", DRAWS, ids=lambda draw: draw.__name__)
def test_each_kind_of_edit_is_found(draw: object) -> None:
    stored = [(FOLDER / f"{name}.zip").read_bytes() for name in NAMES]
    one, random = opened(stored[-1], tuple(stored[:-1])), Random(SEED)
    edits = [edit for edit in (draw(one, random) for _ in range(5)) if edit.data != one.data]  # type: ignore[operator]
    trust = pinned(NAMES[-1])

    assert edits
    assert [why for edit in edits if (why := judge(edit, verify_bundle(edit.data, trust, tools())))] == []


def test_what_was_not_edited_verifies() -> None:
    stored = {name: (FOLDER / f"{name}.zip").read_bytes() for name in NAMES}

    assert {verify_bundle(data, pinned(name), tools()).code for name, data in stored.items()} == {0}


def test_the_document_lists_what_is_no_failure_and_nothing_else(root: Path) -> None:
    text = (root / "docs" / "verification.md").read_text("utf-8")
    section = text.partition("### What an edit without a key comes to\n")[2].partition("\n###")[0]
    rows = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")][1:]

    assert len(rows) == len(LISTED)
    assert all(row.replace("`", "").startswith(what) for row, what in zip(rows, LISTED, strict=True))


# With the log's key.


@pytest.fixture(scope="module")
def bundles() -> dict[str, Original]:
    return listed.recorded()


def test_40_edits_with_the_logs_key_fail_or_are_in_the_list(bundles: dict[str, Original]) -> None:
    rows = listed.rows()
    wrong = [
        f"{came.bundle}, {came.edit.what}: {why}"
        for came in listed.mutate(bundles, 40, SEED)
        if (why := listed.judge(came, rows))
    ]

    assert wrong == [], f"GAINSAY_TEST_MUTATIONS_SEED={SEED}"


def test_a_row_of_the_list_is_what_an_edit_comes_to(bundles: dict[str, Original]) -> None:
    for row in Random(SEED).sample(listed.rows(), 6):
        assert listed.witness(bundles, row, SEED) is not None, (row, f"GAINSAY_TEST_MUTATIONS_SEED={SEED}")


def test_what_the_list_does_not_have_is_reported(bundles: dict[str, Original]) -> None:
    edits = [one for one in listed.mutate(bundles, 60, SEED) if one.report.code != FAILED]

    assert edits
    assert all(listed.judge(one, []) for one in edits)


def test_each_row_of_the_list_has_members_and_an_exit() -> None:
    rows = listed.rows()

    assert len(rows) > 10
    assert all(row.members and row.code in (VERIFIED, GAPS) for row in rows)
    assert {"salt", "prompt", "order", "title"} <= {name for row in rows for name in row.members}


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_that_is_only_sealed_again_verifies(bundles: dict[str, Original], name: str) -> None:
    untouched = Sealed("nothing", "sealed again", bundles[name].draft)

    assert forged(untouched, listed.stolen(), tools()).code == VERIFIED
