"""A debate as a stream: which entry becomes which event, and what it carries."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.debate.entries import CaseReceived, DebateStopped, Entry, TurnSpoke
from service.debate.facts import Facts
from service.debate.model import Turn, labels
from service.debate.replies import Reply
from service.errors import IllegalEntry
from service.report import Event, build_result, events, sent, summary_of
from service.report.events.formats import PLAIN
from service.report.result.history import History
from tests.fixtures.debates import DECLINED, World, a_case, a_start, canned, drive, moderation
from tests.unit.report.played import found_nothing, lines, played
from tests.unit.report.played import stream as streamed

NAMES = {"gate", "started", "asked", "round", "synthesis", "citations", "passages", "notice", "final"}


def stream(entries: Sequence[Entry]) -> list[Event]:
    return streamed(lines(entries))


def test_a_debate_is_streamed_as_the_table_says() -> None:
    names = [name for name, _ in stream(drive(a_start()))]

    spoken = ["asked", "round", "citations", "passages"]
    assert names == [
        *("gate", "started", "asked", "round", "passages"),
        *spoken,
        *spoken,
        *spoken,
        *("asked", "synthesis", "passages", "final"),
    ]


@given(st.integers(0, 5_000), st.sampled_from([(), ("adopt-x", "defer")]), st.sampled_from([12_000, 1_000_000]))
def test_every_entry_but_the_case_and_checks_that_found_nothing_has_one_event_that_names_the_debate(
    seed: int, positions: Sequence[str], ceiling: int
) -> None:
    entries = World(seed, failing=20, refusing=3).drive(a_start(2, positions=positions, ceiling=ceiling))

    events = stream(entries)

    silent = {n for n, entry in enumerate(entries) if found_nothing(entry)}
    told = [n for n in range(1, len(entries)) if n not in silent]
    assert {name for name, _ in events} <= NAMES
    assert all(data["debateId"] == "d1" for _, data in events)
    assert [data["n"] for _, data in events] == told
    assert events[-1][0] == "final"
    assert all(msgspec.json.encode(data) for _, data in events)


def test_the_final_event_is_the_result_that_is_answered_without_a_stream_with_number_and_time() -> None:
    told = lines(drive(a_start()))

    (final,) = events(told[-1], "d1", told[:-1], last_record="ab" * 32)

    read = sent.as_json(summary_of(build_result("d1", told)))
    assert final.data == read | {"n": told[-1].n, "at": told[-1].at}


def test_the_gate_event_carries_the_question_and_a_declined_case_ends_with_a_final_event_too() -> None:
    told = lines([CaseReceived(a_case(), "local"), DECLINED])

    gate, final = stream([line.entry for line in told])

    assert (gate.name, gate.data["status"], gate.data["question"]) == ("gate", "declined", a_case().question)
    assert gate.data["gate"]["debateCostThresholdUSD"] == "0.01"
    assert (final.name, final.data["status"], final.data["n"], final.data["at"]) == ("final", "declined", 1, told[1].at)
    assert final.data == sent.as_json(summary_of(build_result("d1", told))) | {"n": 1, "at": told[1].at}


def test_the_synthesis_event_names_seats_and_no_labels() -> None:
    worth = {"proposer": 2, "critic": 6, "rebuttal": 9}

    def scored(turn: Turn, facts: Facts) -> Reply:
        hidden = {label: who for who, label in labels(turn).items()}
        return (
            moderation(turn, scores=lambda label: worth[hidden[label]])
            if turn.seat == "moderator"
            else canned(turn, facts)
        )

    (data,) = [data for name, data in stream(drive(a_start(seed="77" * 32), scored)) if name == "synthesis"]

    assert data["moderatorEvaluation"]["argumentQualityScore"] == worth
    assert data["conclusion"] == "modified"
    assert not {"proposerPosition", "label", "name"} & set(data), "a moderator has no letter"


def test_money_held_and_left_is_told_with_every_question_and_every_reply() -> None:
    events = stream(drive(a_start(ceiling=100_000)))

    first_asked = next(data for name, data in events if name == "asked")
    first_spoken = next(data for name, data in events if name == "round")
    assert (first_asked["heldUSD"], first_asked["leftUSD"]) == ("0.00325", "0.09675")
    assert (first_spoken["chargedUSD"], first_spoken["spentUSD"], first_spoken["leftUSD"]) == (
        "0.003",
        "0.003",
        "0.097",
    )
    assert first_spoken["tokens"] == 1_500


def test_verdicts_follow_the_reply_that_they_are_about() -> None:
    events = stream(World(3, unverified=100).drive(a_start()))

    spoken = next(data for name, data in events if data.get("turn") == "1.proposer.1" and name == "round")
    checked = next(data for name, data in events if data.get("turn") == "1.proposer.1" and name == "citations")
    assert "verdict" not in spoken["proposerPosition"]["evidence_cited"][0]
    assert checked["arguments"][0]["citations"][0]["verdict"] == "not_found"
    assert (checked["notFound"], checked["struck"]) == (1, (1, 2))


def test_a_stop_is_noticed_with_who_and_why() -> None:
    events = stream(drive(a_start(), stops=lambda f: DebateStopped("deadline", "too late") if f.said else None))

    stopped = [data for name, data in events if name == "notice" and data["notice"] == "stopped"]
    assert [(data["reason"], data["detail"]) for data in stopped] == [("deadline", "too late")]


def test_an_event_without_the_lines_before_it_is_refused() -> None:
    told = lines(drive(a_start()))

    with pytest.raises(IllegalEntry):
        events(told[1], "d1", [])


def test_a_reply_of_a_seat_that_decides_needs_an_event_of_its_format() -> None:
    told = played("stances/1")
    n = next(n for n, line in enumerate(told) if isinstance(line.entry, TurnSpoke) and line.entry.turn == "2.judge.1")
    entry = told[n].entry
    assert isinstance(entry, TurnSpoke)

    with pytest.raises(
        IllegalEntry, match=re.escape("of 2.judge.1, found none; give its seat one in service/report/events/formats.py")
    ):
        PLAIN.said(told[n], entry, "d1", History(told[: n + 1]))
