"""The spans of a debate that two workers ran, as a golden file: `python -m tests.vectors.traces` writes it anew."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from service.debate.entries import Arrival, CaseReceived, CheckFound, DebateConcluded, DebateStarted, Entry
from service.debate.turns import TurnId
from service.observing.span import Span
from service.report.trace import Moment, spans
from tests.fixtures.debates import a_start, drive, weak_first

GOLDEN = Path(__file__).with_name("traces.json")
DEBATE = "0190a5f0-1111-7000-8000-000000000001"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED = Arrival(trace=TRACE, span=SPAN, sampled=True)
FIRST, SECOND = "process-first", "process-second"


def debate(arrival: Arrival | None = SAMPLED) -> list[Entry]:
    """An adversarial debate: a critique that is asked for again, a vendor that was busy once, a call that was lost."""

    def busy(turn: TurnId, nth: int) -> bool:
        return turn.startswith("1.critic") and nth == 1

    whole = drive(a_start(), weak_first, fails=busy)
    cut = next(n for n, entry in enumerate(whole) if isinstance(entry, CheckFound)) + 2
    entries = drive(a_start(), weak_first, entries=whole[:cut], fails=busy)
    received = entries[0]
    assert isinstance(received, CaseReceived)
    return [replace(received, arrival=arrival), *entries[1:]]


def moments(entries: Sequence[Entry], *, second_from: int | None = None) -> list[Moment]:
    """A tenth of a second for each entry; what is found is recorded together with what comes next."""
    found, at = list[Moment](), 0
    second = len(entries) // 2 if second_from is None else second_from
    for n, entry in enumerate(entries):
        writer = "process-api" if n < 3 else FIRST if n < second else SECOND
        recorded = n + 1 if isinstance(entry, CheckFound) and n + 1 < len(entries) else n
        at = max(at, recorded)
        stored = (1_700_000_000_000 + at * 100 + 5) * 1_000 if writer == SECOND else None
        found.append(Moment(_time(n), _time(at), writer, stored))
    return found


def _time(tenths: int) -> str:
    return f"2023-11-14T22:13:{20 + tenths // 10:02d}.{tenths % 10}00Z"


def made(arrival: Arrival | None = SAMPLED) -> list[Span]:
    """The spans of that debate."""
    entries = debate(arrival)
    assert isinstance(entries[-1], DebateConcluded)
    assert isinstance(entries[2], DebateStarted)
    return spans(DEBATE, "acme", entries, moments(entries))


def golden() -> str:
    """The file."""
    return msgspec.json.format(msgspec.json.encode(made(), order="sorted"), indent=1).decode() + "\n"


if __name__ == "__main__":
    GOLDEN.write_text(golden(), "utf-8")
