"""The example of `docs/calling.md` on quoted words is one that the service could give."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from service.checks.texts.compare import ENGINE
from service.report.marks import place
from service.report.result.passage_types import PassageDetail, TurnPassages

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
