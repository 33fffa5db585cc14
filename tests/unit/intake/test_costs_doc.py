"""The table of latency and cost in `docs/formats.md` holds what the shipped case costs by the shipped prices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec
import pytest
from msgspec.structs import replace

from service import samples
from service.debate.amounts import usd
from service.debate.entries import AttemptFailed, TurnAsked, TurnSpoke
from service.debate.facts import Facts
from service.debate.kernel import FORMATS
from service.debate.model import Options, Turn
from service.debate.options import format_of
from service.debate.replies import Moderation, Reply
from service.intake.quote import CaseQuote, quote
from service.intake.request import CaseRequest
from tests.fixtures.debates import canned, drive, start_of
from tests.fixtures.running import repository
from tests.unit.intake.test_quote import checked


class Row(NamedTuple):
    """The variant of the shipped case that a row is about, and the rounds of one that does not go by policy."""

    variant: str | None
    rounds: int | None = None


QUOTED: Mapping[str, Row] = {
    "`adversarial`, 1 round": Row(None, 1),
    "`adversarial`, 2 rounds": Row(None, 2),
    "`stances`": Row("stances"),
    "`ballot`": Row("ballot"),
    "`panel`": Row("panel"),
    "`convergence`": Row("convergence"),
}


def quoted(row: Row) -> CaseQuote:
    """The quote of the shipped contract under the shipped policy."""
    request = msgspec.convert(samples.load("contract", row.variant).case, CaseRequest)
    if row.rounds is not None:
        request = replace(request, options=replace(request.options, max_rounds=row.rounds))
    return quote(*checked(request))


def another_round(turn: Turn, facts: Facts) -> Reply:
    """Canned replies of which no moderation ends a debate early."""
    reply = canned(turn, facts)
    return replace(reply, recommend_another_round=True) if isinstance(reply, Moderation) else reply


def in_a_row(options: Options) -> int:
    """How many calls of a debate that runs to its last round wait for another."""
    waiting = open_ = 0
    for entry in drive(start_of(options, ceiling=10**12), another_round):
        if isinstance(entry, TurnAsked):
            waiting += not open_
            open_ += 1
        open_ -= isinstance(entry, TurnSpoke | AttemptFailed)
    return waiting


def figures(name: str) -> tuple[str, ...]:
    """The cells of a row: calls, calls in a row, expected cost, times one answer, most."""
    found = quoted(QUOTED[name])
    started = found.started
    calls = sum(FORMATS[started.format].table(started.options).usual.values())
    proposer = quoted(QUOTED["`adversarial`, 1 round"]).started
    one = proposer.expected_by_seat["proposer"]
    times = f"{started.expected_cost / one:.1f}"
    assert format_of(started.options) == name.split("`")[1]
    most = f"{found.asked_at_most / 1_000_000:.1f}"
    return str(calls), str(in_a_row(started.options)), usd(started.expected_cost), times, most


def told() -> dict[str, tuple[str, ...]]:
    """The rows of the table as they are written."""
    text = (repository() / "docs" / "formats.md").read_text(encoding="utf-8")
    section = text.partition("\n## Latency, cost and quality\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`\w+`(?:, \d rounds?)?) \| (\d.*) \|$", section, re.MULTILINE)
    return {name: tuple(cells.split(" | ")) for name, cells in rows}


@pytest.mark.parametrize("name", QUOTED)
def test_the_figures_of_the_table_are_those_of_a_quote(name: str) -> None:
    assert told()[name] == figures(name), "write what a quote gives"


def test_the_table_has_every_format() -> None:
    assert list(told()) == list(QUOTED)
    named = {name.split("`")[1] for name in QUOTED}
    assert named == {name.partition("/")[0] for name in FORMATS}, "add the format to QUOTED and to the table"


def page(name: str, title: str) -> str:
    """A part of a page of the documentation."""
    text = (repository() / "docs" / name).read_text(encoding="utf-8")
    assert f"\n## {title}\n" in text
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_what_is_known_of_the_quality_of_each_format_is_told_and_none_is_said_to_be_right() -> None:
    text = page("formats.md", "Latency, cost and quality")
    table = text.partition("| format | what is known | what it gives in any case |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)

    assert {row[0] for row in rows} == {name.partition("/")[0] for name in FORMATS}
    assert all(len(known) > 20 and len(given) > 20 for _, known, given in rows)
    assert "No format has been shown to\nraise accuracy there" in text


def test_the_trade_off_of_latency_is_that_of_the_table() -> None:
    in_a_row = [int(cells[1]) for cells in told().values()]

    assert f"the table above: {min(in_a_row)} to {max(in_a_row)} calls in a row" in page(
        "formats.md", "Latency, cost and quality"
    )


def test_each_paragraph_of_article_15_has_what_the_record_shows_and_what_it_does_not() -> None:
    text = page("audit.md", "What Article 15 of the EU AI Act asks for, and where it is")
    rows = [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in re.findall(r"^\|.*\(15\..*$", text, re.MULTILINE)
    ]

    assert {n for row in rows for n in re.findall(r"15\.\d", row[0])} == {"15.1", "15.3", "15.4", "15.5"}
    assert {re.split(r"[ :]", row[0])[0] for row in rows} == {
        "accuracy",
        "robustness",
        "redundancy",
        "feedback",
        "cybersecurity",
    }
    assert all(len(row) == 3 and all(len(cell) > 20 for cell in row[1:]) for row in rows)
    assert "is yours to assess" in text
