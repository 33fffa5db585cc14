"""The summary of a result is a part of the whole: the same names, the same values, and small."""

from __future__ import annotations

from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate.model import Case
from service.report import build_result, build_summary, sent, summary_of
from service.web.openapi import document
from tests.fixtures import formats
from tests.fixtures.debates import World, start_of
from tests.unit.report.played import FORMATS, lines, told

MOST = 3_000
"""The most bytes of a summary of short replies."""


def part_of(part: Any, whole: Any, at: str = "") -> list[str]:
    """The places where a JSON value is not a part of another."""
    if isinstance(part, dict) and isinstance(whole, dict):
        missing = [f"{at}/{name}" for name in part.keys() - whole.keys()]
        both = part.keys() & whole.keys()
        return missing + [place for name in both for place in part_of(part[name], whole[name], f"{at}/{name}")]
    return [] if part == whole else [at]


def clauses(case: Case) -> dict[str, str]:
    """A text with clauses for each document of a case, of the length that the case says."""
    return {
        d.id: ("\n".join(f"{n}. Clause {n} holds." for n in range(1, d.characters + 2)))[: d.characters]
        for d in case.documents
    }


@pytest.mark.parametrize("form", FORMATS)
@given(seed=st.integers(0, 5_000), ceiling=st.sampled_from([13_000, 60_000, 10_000_000]), data=st.data())
def test_a_summary_is_a_part_of_the_whole_with_the_same_spelling(
    form: str, seed: int, ceiling: int, data: st.DataObject
) -> None:
    started = start_of(data.draw(formats.options(form)), ceiling=ceiling)
    entries = World(seed, failing=10, refusing=3).drive(started)
    told_ = lines(entries[: data.draw(st.integers(1, len(entries)))])
    r = build_result("d1", told_)

    summary, whole = (sent.as_json(found) for found in (summary_of(r), r))

    assert build_summary("d1", told_) == summary_of(r)
    assert summary_of(build_result("d1", told_, texts=clauses(r.case), last_record="ab" * 32)) == summary_of(r)
    assert part_of(summary, whole) == ["/view"]
    assert not [name for name, value in summary.items() if value is None]


@pytest.mark.parametrize("form", FORMATS)
def test_a_summary_is_small_and_begins_with_the_decision(form: str) -> None:
    summary = sent.encode(summary_of(told(form)))

    assert len(summary) < MOST
    assert summary.startswith(b'{"decision":{"outcome":"')


def test_labels_have_the_words_of_every_code() -> None:
    r = told("panel/1")

    assert r.flags
    assert list(r.labels.flags) == list(r.flags)
    assert set(r.labels.reasons) >= {cap.reason for cap in r.caps}
    assert all(words and words != code for code, words in r.labels.flags.items())


def test_each_view_is_described_by_its_own_schema() -> None:
    described = document()
    answer = described["paths"]["/v1/debates/{debate}"]["get"]["responses"]["200"]
    schema = answer["content"]["application/json"]["schema"]
    names = {view: ref.rpartition("/")[2] for view, ref in schema["discriminator"]["mapping"].items()}

    assert names == {"summary": "Summary", "full": "Result"}
    for form in FORMATS:
        r = told(form)
        for view, found in (("full", r), ("summary", summary_of(r))):
            encoded = sent.encode(found)
            reference = {"$ref": f"#/components/schemas/{names[view]}", "components": described["components"]}
            jsonschema.Draft202012Validator(reference).validate(msgspec.json.decode(encoded))
            assert described["components"]["schemas"][names[view]]["properties"]["view"]["enum"] == [view]
