"""A panel's scores of what nothing could be compared with: in no result, event, report or page."""

from __future__ import annotations

import io
from typing import Any, Literal

import pytest
from msgspec.structs import replace
from rich.console import Console

from service.cli.display import page, summaries
from service.debate.facts import Facts
from service.debate.findings import CitationsFound, ConsensusFound, Finding
from service.debate.model import Check, seat_of
from service.debate.options import PanelOptions
from service.report import Line, build_result, markdown, sent
from tests.fixtures import formats
from tests.fixtures.debates import a_case, found, start_of
from tests.fixtures.debates import drive as driven
from tests.unit.report.played import lines, stream

JSON = dict[str, Any]


def panel(by: Literal["algorithmic", "model"], *unchecked: str, documents: bool = True) -> list[Line]:
    """A panel in which the citations of some debaters, or without documents of all, were compared with nothing."""

    def findings(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        if isinstance(finding, ConsensusFound) and not documents:
            return replace(finding, dimensions={**finding.dimensions, "empirical_overlap": None})
        if isinstance(finding, CitationsFound) and (seat_of(check.over[0]) in unchecked or not documents):
            return CitationsFound(
                tuple(
                    replace(a, verdicts=tuple(replace(v, verdict="unchecked") for v in a.verdicts))
                    for a in finding.arguments
                )
            )
        return finding

    options = formats.plain("panel/1")
    assert isinstance(options, PanelOptions)
    case = a_case() if documents else replace(a_case(), documents=())
    return lines(driven(start_of(replace(options, adjudicator=by)), findings=findings, case=case))


def events_of(given: list[Line], name: str) -> list[JSON]:
    return [event.data for event in stream(given) if event.name == name]


@pytest.mark.parametrize("by", ["algorithmic", "model"])
def test_a_debater_without_a_citation_that_was_compared_has_no_factual_accuracy(by: Any) -> None:
    given = panel(by, "debater-1")
    r = build_result("d1", given)
    (event,) = events_of(given, "accuracy")
    told = {one["seat"]: one for one in sent.as_json(r)["result"]["accuracy"]}

    assert [seat for seat, one in told.items() if "factualAccuracy" not in one] == ["debater-1"]
    assert all("logicalConsistency" in one for one in told.values())
    (without,) = event["gainsay"]["unchecked"]
    assert [name for name, one in event["scores"].items() if "factual_accuracy" not in one] == [without]
    assert summaries.accuracy(event).count("unchecked") == 1
    assert markdown(r).count("| unchecked |") == 1
    out = io.StringIO()
    page.show(Console(file=out, width=200), r)
    assert out.getvalue().count("unchecked") == 1


def test_a_debater_whose_citations_were_compared_has_one_and_nothing_says_unchecked() -> None:
    (event,) = events_of(panel("algorithmic"), "accuracy")

    assert all(len(one) == 4 for one in event["scores"].values())
    assert "unchecked" not in event["gainsay"]


@pytest.mark.parametrize("by", ["algorithmic", "model"])
def test_without_documents_no_event_has_an_empirical_overlap(by: Any) -> None:
    given = panel(by, documents=False)

    told = [*events_of(given, "consensus"), *events_of(given, "adjudication")]

    assert told
    for data in told:
        assert set(data["scores"]) == {"stance_alignment", "framework_agreement", "confidence_convergence"}
    assert "evidence undefined" in summaries.consensus({**told[0], **told[0]["gainsay"]})
    assert all(
        "empirical_overlap" not in one["dimensions"]
        for one in sent.as_json(build_result("d1", given))["result"]["consensus"]
    )
