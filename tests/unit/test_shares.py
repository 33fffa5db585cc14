"""A share is told from 0 to 1, never per mille: in no word of the service, of its OpenAPI document or of the docs.

Records keep whole numbers per mille (docs/decisions/0052). Code that reads documents knows the word, since documents
have it, and so do comments, docstrings and names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import service
from service.debate.findings import ConsensusFound, ConvergenceFound, CritiqueFound
from service.report import build_result, markdown
from service.report.result.notices import summary
from service.web import openapi
from tests.fixtures import formats
from tests.fixtures.debates import World, start_of
from tests.unit.report.played import FORMATS, lines, stream

PROFILE = settings()
TOLD = re.compile(r"per[ -]?mille|per mil\b|per thousand|‰|in thousandths", re.IGNORECASE)
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


def test_no_word_of_the_openapi_document_does() -> None:
    assert TOLD.findall(openapi.encoded().decode()) == []


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

    everything = [one.summary for one in r.checks] + [one.detail for one in r.notices]
    everything += [str(event.data.get("detail", "")) for event in stream(told)]
    assert [text for text in (*everything, markdown(r)) if TOLD.search(text)] == []
    measured = (ConsensusFound, ConvergenceFound, CritiqueFound)
    for line in told:
        finding = getattr(line.entry, "finding", None)
        if isinstance(finding, measured):
            shares = NUMBER.findall(summary(finding))
            assert shares, summary(finding)
            assert all(0 <= float(share) <= 1 for share in shares), summary(finding)
