"""What is recomputed has a sealed version, its row beside its successors, and goldens that the list names."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import get_args

import pytest

from service import money
from service.checks import given
from service.cli.audit.verify import tools
from service.debate.versions import Part
from service.policy import FORMS, seating
from service.verify.bundle import verify_bundle
from service.verify.checks import ENGINES
from tests.unit.verify.test_recorded_bundles import BUNDLES, TRUST, data, draft, forged
from tests.vectors.goldens import FOLDER, stored

DOC = "docs/verification.md"
TICKED = re.compile(r"`([^`]+)`")


def rows(root: Path) -> list[list[str]]:
    """The rows of the list: steps, what is recomputed, its version, and the files that hold it."""
    section = (root / DOC).read_text().partition("## What is recomputed, and what holds it")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def test_the_list_has_every_step_of_a_bundle(root: Path) -> None:
    named = {step for row in rows(root) for step in row[0].split(", ")}

    assert named - {"none"} == {step.name for step in verify_bundle(data("declined"), TRUST, tools(), shown=b"").steps}


def test_the_list_has_every_part_and_engine(root: Path) -> None:
    named = {name for row in rows(root) for name in TICKED.findall(row[2])}
    engines = {name.partition("/")[0] for names in ENGINES.values() for name in names}

    assert {*get_args(Part), *engines} - named == set()


def test_every_file_of_the_list_is_there_and_every_golden_is_in_it(root: Path) -> None:
    patterns = {pattern for row in rows(root) for pattern in TICKED.findall(row[3])}
    own = {pattern for pattern in patterns if not pattern.startswith(("tests/", "service/"))}

    assert [p for p in patterns if not list((FOLDER if p in own else root).glob(p))] == []
    assert [name for name in stored() if not any(fnmatch(name, pattern) for pattern in own)] == []


def seal(name: str, part: str) -> dict[str, str]:
    """The states of the steps over a bundle whose decision seals the second version of a part, where not OK."""
    changed = draft(name).change(1, lambda entry: entry.update(versions={part: f"{part}/2"}))
    return {step.name: step.state for step in forged(changed).steps if step.state != "OK"}


def test_tokens_of_a_later_version_are_not_checkable_and_the_hashes_still_are() -> None:
    def edit(entry: dict[str, object]) -> None:
        entry["requestHash"] = "00" * 32

    changed = draft("adversarial").change(1, lambda entry: entry.update(versions={"usage": "usage/2"}))
    asked = next(n for n in range(len(changed.payloads)) if changed.entry(n)["kind"] == "turn.asked")
    honest, other = (
        next(step for step in forged(one).steps if step.name == "requests")
        for one in (changed, changed.change(asked, edit))
    )

    assert honest.state == "NOT CHECKABLE"
    assert "requests have their hash, but their tokens are not counted: recorded under usage/2" in honest.detail
    assert (other.state, other.record) == ("FAILED", asked)


@pytest.mark.parametrize("part", ["usage", "seating", "policy"])
def test_an_old_bundle_is_recomputed_by_the_old_row_and_a_new_one_by_the_new(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage, table, form = money.USAGES["usage/1"], seating.SEATINGS["seating/1"], FORMS["policy/1"]
    later = {
        "usage": (money.USAGES, usage._replace(request_tokens=lambda *given: usage.request_tokens(*given) + 1)),
        "seating": (seating.SEATINGS, table._replace(human_review=lambda *given: not table.human_review(*given))),
        "policy": (FORMS, form._replace(prices=lambda policy: form.prices(policy)[::-1])),
    }
    failing = {"usage": "requests", "seating": "seats", "policy": "policy"}

    rows, row = later[part]
    monkeypatch.setitem(rows, f"{part}/2", row)

    assert [verify_bundle(data(name), TRUST, tools()).code for name in BUNDLES] == [0] * len(BUNDLES)
    assert seal("adversarial", part) == {
        failing[part]: "FAILED",
        "witnesses": "NOT CHECKABLE",
        "times": "NOT CHECKABLE",
    }


def test_an_old_finding_is_made_again_from_what_its_engine_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for table in (given.CITATIONS, given.CRITIQUES, given.INJECTIONS, given.OVERLAPS, given.AGREEMENTS):
        family = next(iter(table)).partition("/")[0]
        monkeypatch.setitem(table, f"{family}/999", pytest.fail)

    assert [verify_bundle(data(name), TRUST, tools()).code for name in BUNDLES] == [0] * len(BUNDLES)
