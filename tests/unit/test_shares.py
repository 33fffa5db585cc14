"""A share is told from 0 to 1, never per mille or per cent: in no word of the service, of its OpenAPI document, of the
docs, and of no text that is told of a debate.

Records keep whole numbers per mille (docs/decisions/0052). Code that reads documents knows the word, since documents
have it, and so do comments, docstrings and names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import service
from service.cli.display import page
from service.debate.findings import ConsensusFound, ConvergenceFound, CritiqueFound, Veto
from service.report import Result, build_result, markdown
from service.report.result.notices import summary
from service.report.result.panel_findings import shown_notes
from service.report.result.shares import in_shares
from service.report.sent import as_json
from service.web import openapi
from tests.fixtures import formats
from tests.fixtures.debates import World, start_of
from tests.unit.report.played import FORMATS, lines, stream

PROFILE = settings()
TOLD = re.compile(r"per[ -]?mille|per mil\b|per thousand|‰|in thousandths", re.IGNORECASE)
PERCENT = re.compile(r"\d ?%|per ?cent|more than \d+ points", re.IGNORECASE)
"""What no text of ours says of a debate whose seats, caller and documents say nothing of the kind."""
READ = {
    "checks/consensus/vocabulary.py",
    "checks/consensus/measures.py",
    "checks/citations/text/tokens.py",
    "checks/citations/text/word_bounds.py",
    "debate/answer_keys.py",
}
"""Modules that know the word because documents and answers have it."""
RECORDS = {
    "coverage.md": 1,
    "decisions/0046-claims-exclude-each-other-by-what-code-reads.md": 2,
    "decisions/0052-one-language-in-the-stream.md": 1,
    "format/engines.md": 4,
    "format/gate.md": 1,
    "format/money.md": 4,
    "format/records.md": 1,
    "format/moves.md": 3,
    "formats.md": 1,
}
"""Pages that say what a record keeps, what a document may say or how a strip is drawn, and how often."""
WHERE = Path(service.__file__).parent
NUMBER = re.compile(r"(?:score|of|overlap|novelty|\() ?(-?\d[\d.]*)")


def words(path: Path) -> Iterator[str]:
    """Every text that a module may say: its string constants without docstrings and names of members."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.value


def test_no_word_of_the_service_tells_a_share_per_mille() -> None:
    texts = {str(path.relative_to(WHERE)): [*words(path)] for path in WHERE.rglob("*.py")}
    told = {name: found for name, of in texts.items() if (found := [text for text in of if TOLD.search(text)])}

    assert set(told) == READ, {name: told[name] for name in set(told) - READ}


def texts(value: Any) -> Iterator[str]:
    """Every text of a JSON value."""
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ():
        yield from texts(part)


def screen(r: Result) -> str:
    """What a terminal shows of a debate."""
    out = StringIO()
    page.show(Console(file=out, width=400), r)
    return out.getvalue()


def test_no_word_of_the_openapi_document_does() -> None:
    assert TOLD.findall(openapi.encoded().decode()) == []
    described = {name: one.get("description", "") for name, one in openapi.document()["components"]["schemas"].items()}
    assert {name: text for name, text in described.items() if PERCENT.search(text)} == {}


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ("Model A says 40 to 60 % and Model B says nothing", "Model A says 0.4 to 0.6 and Model B says nothing"),
        ("Model A is 5 % sure and Model B 100 %", "Model A is 0.05 sure and Model B 1"),
        ("Together the intervals of probability span more than 40 points.", "span more than 0.4."),
        ("Model A rejects 2 of 3 claims", "Model A rejects 2 of 3 claims"),
    ],
)
def test_what_code_recorded_in_per_cent_is_told_in_shares(recorded: str, said: str) -> None:
    assert in_shares(recorded).endswith(said)


def test_what_an_adjudicator_says_in_per_cent_stays_its_own() -> None:
    vetoes = (Veto("probabilitiesApart", "Together the intervals of probability span more than 40 points."),)
    notes = f"Half of them, 50 %, agree. {vetoes[0].text}"

    assert shown_notes(notes, "model", vetoes).startswith("Half of them, 50 %, agree. ")
    assert shown_notes(notes, "model", vetoes).endswith("span more than 0.4.")


def test_no_page_does_but_of_records_and_of_what_documents_say(root: Path) -> None:
    pages = {str(path.relative_to(root / "docs")): path.read_text("utf-8") for path in (root / "docs").rglob("*.md")}
    found = {name: len(TOLD.findall(text)) for name, text in pages.items() if TOLD.search(text)}

    assert found == RECORDS
    assert not TOLD.search((root / "README.md").read_text("utf-8"))


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=max(PROFILE.max_examples // 15, 2))
@given(seed=st.integers(0, 5_000), data=st.data())
def test_what_is_told_of_any_debate_has_shares_from_0_to_1(form: str, seed: int, data: st.DataObject) -> None:
    told = lines(World(seed, failing=8).drive(start_of(data.draw(formats.options(form)))))

    r = build_result("d1", told)

    sent = (text for value in (as_json(r), *(event.data for event in stream(told))) for text in texts(value))
    everything = [*sent, *markdown(r).splitlines(), *screen(r).splitlines()]
    assert [text for text in everything if TOLD.search(text) or PERCENT.search(text)] == []
    measured = (ConsensusFound, ConvergenceFound, CritiqueFound)
    for line in told:
        finding = getattr(line.entry, "finding", None)
        if isinstance(finding, measured):
            shares = NUMBER.findall(summary(finding))
            assert shares, summary(finding)
            assert all(0 <= float(share) <= 1 for share in shares), summary(finding)
