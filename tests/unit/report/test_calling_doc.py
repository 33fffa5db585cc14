"""`docs/calling.md`: its examples are ones that the service could give, and its filters those that the list takes."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from service.checks.texts.compare import ENGINE
from service.debate.entries import FieldChange
from service.report.marks import place
from service.report.result.passage_types import PassageDetail, TurnPassages
from service.report.result.would_change import GateChange, sentence
from service.reviews.query_parameters import FILTERS

ROWS = re.compile(r"^\| `(\w+)` \| ", re.MULTILINE)


def test_the_example_has_every_member_its_spans_find_the_words_and_its_mark_stands_in_place(root: Path) -> None:
    part = (root / "docs/calling.md").read_text().partition("\n## Read what a text quotes\n")[2].partition("\n## ")[0]
    (text, shown), (example,) = (
        re.findall(r"```text\n(.*)\n```", part),
        re.findall(r"```json\n(.*?)```", part, re.DOTALL),
    )

    found = msgspec.json.decode(example, type=TurnPassages)

    assert msgspec.json.decode(msgspec.json.encode(found)) == msgspec.json.decode(example)
    assert found.engine == ENGINE
    assert [text[slice(*one.span)] for one in found.passages] == ["clause 9.2", "the Customer waives every claim"]
    assert place(text, [(one.span, one.mark) for one in found.passages if one.mark]) == shown
    members = {*TurnPassages.__struct_encode_fields__, *PassageDetail.__struct_encode_fields__}
    assert set(ROWS.findall(part)) <= members


def test_the_example_of_what_would_change_a_decision_has_the_sentence_of_its_fields(root: Path) -> None:
    part = (root / "docs/calling.md").read_text().partition("\n## What would have changed a decision\n")[2]

    found = msgspec.json.decode(re.findall(r"```json\n(.*?)```", part, re.DOTALL)[0], type=GateChange)

    assert found.fields
    assert sentence(found.fields) == found.sentence


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([FieldChange("estimatedDownside", "above", ("1000000.00",))], "a downside above 1,000,000 USD"),
        ([FieldChange("estimatedDownside", "atMost", ("11.6325",))], "a downside of at most 11.6325 USD"),
        ([FieldChange("taskType", "in", ("contract",))], "the task type contract"),
        ([FieldChange("taskType", "in", ("a", "b", "c"))], "the task type a, b or c"),
        ([FieldChange("contested", "in", ("false",))], "a matter that is declared not contested"),
        ([FieldChange("contested", "in", ("true",))], "a matter that is declared contested"),
        (
            [FieldChange("confidenceScore", "atLeast", ("0.9",)), FieldChange("materiality", "notIn", ("high",))],
            "a confidence of at least 0.9; and a materiality other than high",
        ),
        ([FieldChange("materiality", "in", ("high",))], "a materiality of high"),
        ([FieldChange("force", "leftOut", ())], "no forced decision"),
        ([FieldChange("singleAgentAnswer", "hedging", ())], "a single agent's answer that hedges"),
    ],
)
def test_a_way_to_another_decision_is_said_as_people_write_it(changes: list[FieldChange], said: str) -> None:
    assert sentence(tuple(changes)) == said


def test_each_filter_of_the_list_of_debates_has_its_row(root: Path) -> None:
    page = (root / "docs" / "calling.md").read_text("utf-8")
    _, table = page.split("| parameter | finds debates |\n|---|---|\n")
    found = [row.split("|")[1] for row in table.partition("\n\n")[0].splitlines()]

    assert sorted(re.findall(r"`(\w+)`", " ".join(found))) == sorted([*FILTERS, "sort"])
