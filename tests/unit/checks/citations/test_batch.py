"""One request for verdicts alone: what a caller is told beside the verdict."""

import json

import pytest
from click.testing import CliRunner

from service.checks.citations.batch import explained
from service.cli.citations import check
from service.debate.findings import CitationVerdict

SOURCES = [{"id": "A", "text": "The Supplier shall not be liable for more than 30 days of fees."}]


def told(*citations: dict[str, str]) -> list[dict[str, str]]:
    asked = {"sources": SOURCES, "citations": [{"id": str(n), **c} for n, c in enumerate(citations)]}
    done = CliRunner().invoke(check, input=json.dumps(asked))
    return [json.loads(line) for line in done.output.splitlines()]


def test_the_command_says_in_words_why_a_citation_was_refused_and_keeps_the_code() -> None:
    short, unknown, altered = told(
        {"quote": "liable"},
        {"quote": "shall not be liable for more", "sourceId": "B"},
        {"quote": "shall not be liable for more than 60 days"},
    )

    assert short["reason"] == "too_short"
    assert short["note"].startswith("not verified: it has fewer than 12 letters and digits")
    assert unknown["reason"] == "unknown_source"
    assert unknown["note"].startswith("not verified: it names a source that is not among the documents given")
    assert (altered["verdict"], "reason" in altered, "note" in altered) == ("altered", False, False)


@pytest.mark.parametrize(
    "verdict",
    [
        CitationVerdict("verified", source_id="A", note="stands 2 times in this document"),
        CitationVerdict("not_found"),
        CitationVerdict("not_found", reason="of_another_engine"),
    ],
)
def test_a_verdict_without_a_rule_that_has_words_is_told_as_it_is(verdict: CitationVerdict) -> None:
    assert explained(verdict, {"too_short": "quote more"}) == verdict
