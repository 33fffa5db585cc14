"""Debates of every format, played over lists and told as lines, for tests of results, events and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from service.debate import kernel
from service.debate.entries import DebateStarted, Entry, GateDecided, Rule
from service.debate.facts import Facts
from service.debate.findings import CritiqueFound, SynthesisFound, VoicesFound
from service.debate.model import Options, Turn, seat_of
from service.debate.replies import Reply
from service.debate.suspicions import InjectionFound
from service.prompts import Prompts
from service.report import Event, Line, Result, build_result, events
from tests.fixtures import formats
from tests.fixtures.debates import Replies, canned, drive, start_of

FORMATS = tuple(kernel.FORMATS)
BETWEEN_DEBATERS = FORMATS[1:]
PINS = Prompts.load().pins()
RULE = Rule("valid", holds=True, observed="amounts are valid", threshold="finite", effect="informs")


def lines(entries: Sequence[Entry]) -> list[Line]:
    """Entries as they stand in a record, a second apart."""
    return [Line(n, f"2026-11-21T10:{n // 60:02d}:{n % 60:02d}Z", entry) for n, entry in enumerate(entries)]


def ruled(entries: Sequence[Entry]) -> list[Line]:
    """The entries as they are recorded: with the rule that a gate always has, and with the pins of every text."""
    found: list[Entry] = []
    for entry in entries:
        match entry:
            case GateDecided():
                found.append(replace(entry, decision=replace(entry.decision, rules=(RULE,))))
            case DebateStarted():
                found.append(replace(entry, pins=PINS))
            case _:
                found.append(entry)
    return lines(found)


def played(options: Options | str, replies: Replies = canned, **others: Any) -> list[Line]:
    """A debate of these options, or of the plain ones of a format, to its end."""
    given = formats.plain(options) if isinstance(options, str) else options
    return lines(drive(start_of(given), replies, **others))


def told(options: Options | str, replies: Replies = canned, **others: Any) -> Result:
    """Its result."""
    return build_result("d1", played(options, replies, **others))


def stream(given: Sequence[Line]) -> list[Event]:
    """All events of a debate."""
    return [event for n, line in enumerate(given) for event in events(line, "d1", given[:n])]


def found_nothing(entry: Entry) -> bool:
    """Whether an entry is a check of a kind that only notices tell of, and has nothing to note."""
    match getattr(entry, "finding", None):
        case CritiqueFound() as found:
            return not (found.weak or found.soft)
        case InjectionFound(suspicions):
            return not suspicions
        case SynthesisFound(opposed):
            return not opposed
        case VoicesFound(voices) as found:
            return {seat_of(voice.turn) for voice in voices} == {seat_of(turn) for turn in found.argued()}
        case _:
            return False


def answering(**by_kind: Any) -> Replies:
    """Canned replies, but for turns whose id is given with underscores: ``t_1_judge_1`` answers ``1.judge.1``."""
    given = {name.removeprefix("t_").replace("_", "."): reply for name, reply in by_kind.items()}

    def reply(turn: Turn, facts: Facts) -> Reply:
        return given.get(turn.id.replace("-", ".")) or canned(turn, facts)

    return reply
