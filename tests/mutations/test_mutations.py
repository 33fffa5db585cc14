"""No edit of a recorded bundle that needs no key verifies; what is no failure stands in docs/verification.md."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from service.cli.audit.verify import tools
from service.verify.bundle import verify_bundle
from tests.mutations.edits import DRAWS, LISTED, opened
from tests.mutations.harness import FOLDER, NAMES, judge, mutate, pinned

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
