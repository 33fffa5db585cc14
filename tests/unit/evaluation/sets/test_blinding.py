"""What is asked does not depend on what is right."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import msgspec
import pytest

from service.errors import Forbidden
from service.evaluation.sets import files, items, labels
from service.evaluation.sets.form import LABELS
from service.evaluation.sets.items import ITEM_TYPES
from service.evaluation.sets.labels import MEMBERS
from service.evaluation.sets.shape import read_shape
from tests.fixtures.golden_sets import (
    CRITIC,
    FOLDER,
    ITEM_FILES,
    PAIRS,
    QUESTIONS,
    Row,
    faults_of,
    files_of,
    read,
    rows,
    with_rows,
)

SETS = [FOLDER / name for name in (QUESTIONS, CRITIC, PAIRS)] + list(files.shipped())


def asked(folder: Path, label_rows: list[Row] | None) -> bytes:
    """Every byte that a request about an item may be made of: all that `items` has of a set but its hash.

    The labels are those given, whatever their faults: what is asked is made before labels are looked at.
    """
    found, _ = files.read_folder(folder)
    golden = files.load_shipped(folder)
    changed = found if label_rows is None else with_rows(found, LABELS, label_rows)
    read_items = [
        read_shape(json.loads(line), ITEM_TYPES[golden.manifest.kind], {})[0]
        for line in changed["items.jsonl"].splitlines()
    ]
    kind = items.ItemSet(golden.manifest, "", tuple(one for one in read_items if one), golden.asked.texts)
    whole = [[one, kind.documents(one)] for one in kind.items]
    return msgspec.json.encode(whole)


@pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)
def test_permuting_all_labels_changes_no_byte_of_what_is_asked(folder: Path) -> None:
    golden = files.load_shipped(folder)
    before = msgspec.json.encode([[one, golden.asked.documents(one)] for one in golden.asked.items])
    found, _ = files.read_folder(folder)
    mine = rows(found, LABELS)
    turned = [{**other, "id": one["id"]} for one, other in zip(mine, [*mine[1:], mine[0]], strict=True)]

    assert turned != mine
    assert asked(folder, turned) == before
    assert asked(folder, []) == before


def test_no_member_of_a_label_is_a_member_of_an_item() -> None:
    for kind in ITEM_TYPES.values():
        assert MEMBERS.isdisjoint(kind.__struct_encode_fields__)
    assert {"answer", "note", "family", "span", "argument", "value", "basis", "favours"} <= MEMBERS


def test_what_is_asked_imports_no_label() -> None:
    """The import contract holds it for all that it imports in turn; here it is said of the module itself."""
    assert "labels" not in vars(items)
    assert not [name for name, value in vars(items).items() if getattr(value, "__module__", "") == labels.__name__]


def test_the_import_contract_names_what_renders_and_asks() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[4] / "pyproject.toml").read_text("utf-8"))
    (contract,) = (
        contract
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["name"] == "what renders a request never reads a label"
    )

    assert contract["forbidden_modules"] == [labels.__name__]
    assert {items.__name__, "service.prompts", "service.providers", "service.debate"} <= {*contract["source_modules"]}
    assert contract["type"] == "forbidden"
    assert contract.keys() == {"name", "type", "source_modules", "forbidden_modules"}, "also by way of other modules"


@pytest.mark.parametrize("name", [QUESTIONS, CRITIC, PAIRS])
def test_labels_of_held_need_a_word_of_their_own(name: str) -> None:
    golden = read(files_of(name))
    held = {item.id for item in golden.asked.active("held")}

    assert golden.labels("open").keys() == {item.id for item in golden.asked.active("open")}
    with pytest.raises(Forbidden, match="each look at them is counted"):
        golden.labels("held")
    assert golden.labels("held", allow_held=True).keys() == held


def pairs(n: int, flawed_first: int, *, by_line: bool) -> dict[str, bytes]:
    """A critic's set of pairs of which so many have the flawed twin first, by the order of lines or of ids."""
    found = files_of(CRITIC)
    items_, labels_ = rows(found, "items.jsonl")[:2], rows(found, LABELS)[:2]
    more_items, more_labels = [], []
    for i in range(n):
        flawed, sound = (f"p{i:02}a", f"p{i:02}b") if i < flawed_first else (f"p{i:02}b", f"p{i:02}a")
        if by_line:
            flawed, sound = (f"x{i:02}a", f"x{i:02}b") if i % 2 else (f"x{i:02}b", f"x{i:02}a")
        twins = [(flawed, 0), (sound, 1)] if (i < flawed_first or not by_line) else [(sound, 1), (flawed, 0)]
        if not by_line and i % 2:
            twins.reverse()
        more_items += [{**items_[which], "id": id, "pair": f"p{i}"} for id, which in twins]
        more_labels += [{**labels_[which], "id": id} for id, which in twins]
    used = {document["sha256"] for item in more_items for document in item["documents"]}
    kept = {path: raw for path, raw in found.items() if path in ITEM_FILES or path[10:74] in used}
    return with_rows(with_rows(kept, "items.jsonl", more_items), LABELS, more_labels)


@pytest.mark.parametrize(("first", "tells"), [(0, True), (1, True), (2, False), (5, False), (8, False), (9, True)])
@pytest.mark.parametrize("by_line", [True, False])
def test_no_order_tells_which_twin_is_flawed(first: int, *, tells: bool, by_line: bool) -> None:
    found = faults_of(pairs(10, first, by_line=by_line))

    what = "lines" if by_line else "ids, sorted,"
    expected = (
        f"items.jsonl: id: the order of the {what} tells which twin is flawed: it comes first in {first} of 10 pairs"
    )
    assert [fault.startswith(expected) for fault in found] == [True] * tells


def test_of_few_pairs_an_order_says_nothing() -> None:
    assert faults_of(pairs(7, 0, by_line=True)) == []


def test_a_short_sentence_of_a_note_and_words_of_another_order_are_no_fault() -> None:
    found = files_of(CRITIC)
    for note in ("The lease makes landlords.", "care the landlord makes lease The so roof for the"):
        changed = rows(found, LABELS)
        changed[0]["note"] = note
        assert faults_of(with_rows(found, LABELS, changed)) == []
