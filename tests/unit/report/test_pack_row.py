"""The row of a decision in a pack."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from service.audit.pack import PackedDecision, bundle_file
from service.audit.record import Actor, Envelope
from service.debate.entries import Arrival, CaseReceived, Entry, EvaluationItem
from service.report.pack_row import pack_row
from tests.fixtures.debates import a_start, drive

DEBATE, EVALUATION = "01890a5d-ac96-774b-bcce-b302099a8056", "01890a5d-ac96-774b-bcce-b302099a8057"
ITEM = EvaluationItem(id=EVALUATION, plan="ab" * 32, set="cd" * 32, item="q-17", arm="vote", repeat=1)
FIRST = Envelope(
    v=2,
    log="localhost/default/1",
    tenant="default",
    kind="case.received",
    schema=1,
    debate=DEBATE,
    n=0,
    prev="",
    occurred="2026-11-21T10:00:00Z",
    recorded="2026-11-21T10:00:00Z",
    actor=Actor("local", "person", "validator", "keyboard"),
    build="ab" * 32,
    policy="cd" * 32,
    context="ef" * 32,
    commitment="01" * 32,
)


def row(entries: Sequence[Entry]) -> dict[str, str]:
    last = replace(FIRST, n=len(entries) - 1, kind="debate.concluded")
    return pack_row(entries, PackedDecision(FIRST, last, 17, bundle_file(DEBATE), "23" * 32))


def test_a_row_names_the_evaluation_that_asked_for_its_debate() -> None:
    """An evaluation's debate decides nothing, and its money is of another budget: a month is counted without it."""
    decided = drive(a_start())
    received = decided[0]
    assert isinstance(received, CaseReceived)
    measured = [replace(received, arrival=Arrival(door="evaluation", evaluation=ITEM)), *decided[1:]]

    assert row(measured) == {**row(decided), "evaluation": EVALUATION}
    assert row(decided)["evaluation"] == ""
