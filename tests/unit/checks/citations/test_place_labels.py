"""The labelled quotations beside the checkout: what the rules accept and refuse of them.

False accepts must be none, and false rejects are none. The rules were built from what the set's README says is
tolerated; what they do on documents and cases that they were not built on is measured in docs/citations.md.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from service.checks.citations import Sources, check
from service.debate.findings import Citation, CitationVerdict

_TRUE = ("verbatim", "formatting_variant", "minor_typo")


@dataclass(frozen=True)
class Case:
    """One labelled quotation, and what was made of it."""

    label: str
    expected: str
    also_ok: tuple[str, ...]
    spans: tuple[tuple[str, int, int], ...]
    verdict: CitationVerdict


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[Case]:
    return list(_cases(shared / "data" / "citations"))


def _cases(folder: Path) -> Iterator[Case]:
    texts = {
        m["id"]: (folder / m["file"]).read_text("utf-8") for m in json.loads((folder / "manifest.json").read_bytes())
    }
    contexts = json.loads((folder / "contexts.json").read_bytes())
    sources = {name: Sources({i: texts[i] for i in ids}) for name, ids in contexts.items()}
    labels = {label["id"]: label for label in map(json.loads, _lines(folder / "labels.jsonl"))}
    for case in map(json.loads, _lines(folder / "cases.jsonl")):
        given, label = case["citation"], labels[case["id"]]
        hint = given["location"] and f"chars {given['location']['char_start']}"
        citation = Citation(quote=given["quote"], source_id=given["source_id"], location=hint)
        yield Case(
            label=label["label"],
            expected=label["expected"],
            also_ok=tuple(label["also_ok"]),
            spans=tuple((s, a, b) for s, a, b in label["spans"]),
            verdict=check(citation, sources[case["context"]]),
        )


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def _overlap(case: Case) -> float:
    """Intersection over union of the span found with the nearest of those labelled."""
    if case.verdict.span is None:
        return 0.0
    start, end = case.verdict.span
    return max(
        max(0, min(end, b) - max(start, a)) / (max(end, b) - min(start, a))
        for s, a, b in case.spans
        if s == case.verdict.source_id
    )


def test_no_bad_quotation_is_verified(cases: list[Case]) -> None:
    bad = [case for case in cases if case.label not in _TRUE]

    accepted = [case for case in bad if case.verdict.verdict == "verified"]

    assert len(bad) == 220
    assert accepted == []


def test_every_bad_quotation_gets_a_verdict_that_its_label_allows(cases: list[Case]) -> None:
    wrong = [
        case for case in cases if case.label not in _TRUE and case.verdict.verdict not in (case.expected, *case.also_ok)
    ]

    assert wrong == []


def test_no_true_quotation_is_refused(cases: list[Case]) -> None:
    assert [case for case in cases if case.label in _TRUE and case.verdict.verdict != "verified"] == []


def test_what_was_changed_is_told_and_nothing_material_is_verified(cases: list[Case]) -> None:
    for case in cases:
        material = [edit for edit in case.verdict.edits if edit.material]
        assert bool(material) is (case.verdict.verdict == "altered")


def test_spans_lie_where_the_labels_say(cases: list[Case]) -> None:
    overlaps = defaultdict(list)
    for case in cases:
        if case.spans and case.verdict.verdict == "verified":
            overlaps["verified"].append(_overlap(case))
        if case.label == "material_change" and case.verdict.verdict == "altered":
            overlaps["altered"].append(_overlap(case))

    means = {kind: sum(found) / len(found) for kind, found in overlaps.items()}

    assert means["verified"] >= 0.98
    assert means["altered"] >= 0.97


def test_the_exact_quotes_of_recorded_debates_are_verified(shared: Path) -> None:
    folder = shared / "data" / "transcripts"
    stories = {s["story_id"]: s["text"] for s in map(json.loads, _lines(folder / "stories.jsonl"))}
    sources, outcomes = Sources(stories), Counter[tuple[str, str | None]]()

    for debate in map(json.loads, _lines(folder / "debates.jsonl")):
        for turn in debate["turns"] if debate["story_id"] in stories else ():
            for quote in turn.get("quotes") or ():
                found = check(Citation(quote=quote["text"], source_id=debate["story_id"]), sources)
                outcomes[found.verdict, found.reason] += 1

    assert outcomes == {("verified", None): 411, ("too_short", "too_short"): 32}
