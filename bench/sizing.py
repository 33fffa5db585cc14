"""What so many debates an hour need, by arithmetic from what one debate was measured to cost.

Every figure of docs/scale.md is made here from docs/scale.json, which `make scale` writes; a test makes them again.
A debate waits for models most of its time. So processes are counted twice: by their CPU, and by how many debates a
worker holds at once while it waits (Little's law: held = arrivals a second x seconds a debate takes).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.figures import rewritten, shown

DOCS = Path(__file__).resolve().parent.parent / "docs"
DOCUMENT, KEPT = DOCS / "scale.md", DOCS / "scale.json"
BEGIN = "<!-- Written by `make scale`, from scale.json -->"
RATES = (10, 1_000, 100_000)
"""Debates an hour."""
BUSY = 0.5
"""How much of a core a process may use on average, so that it stands twice the load for a while."""
AT_LEAST = 2
"""Processes of a kind that serves or runs debates: one may be replaced while the other works."""
DEBATE_S = 120.0
"""Seconds that a debate of a real deployment is taken to wait for models; nothing here can measure it."""
CROWDED = 500
"""Debates that a worker holds at once where `running_per_worker` is set so high: half of what the bench has tried."""
DOCUMENTS = 100_000
"""Characters of the documents of a case that storage is counted for: forty pages."""
_HOUR, _YEAR_H = 3_600.0, 24 * 365


class Cost(NamedTuple):
    """What one debate costs: CPU in milliseconds by process, PostgreSQL's CPU, its statements, bytes.

    ``stored_per_character`` is what each further character of a document adds to what stays on disk.
    """

    api_ms: float
    worker_ms: float
    sequencer_ms: float
    postgres_ms: float
    statements: float
    transactions: float
    wal: float
    stored: float
    stored_per_character: float
    characters: int

    def kept(self, characters: int) -> float:
        """The bytes on disk of a debate over documents of so many characters, indexes included."""
        return self.stored + self.stored_per_character * max(characters - self.characters, 0)


class Connections(NamedTuple):
    """The connections to PostgreSQL that were open at most: of each worker, and of one API and one sequencer."""

    worker: float
    others: float


class Need(NamedTuple):
    """What so many debates an hour need. Bytes a day and a year; the busy share of one core for PostgreSQL."""

    rate: int
    apis: int
    workers: int
    workers_by_cpu: int
    held: float
    sequencer_busy: float
    postgres_busy: float
    connections: int
    wal_a_second: float
    day: float
    year: float


def need(rate: int, cost: Cost, each: Connections, at_once: int, debate_s: float = DEBATE_S) -> Need:
    """What ``rate`` debates an hour need, where a worker holds ``at_once`` and a debate takes so many seconds."""
    a_second = rate / _HOUR
    held = a_second * debate_s
    by_cpu = math.ceil(a_second * cost.worker_ms / 1_000 / BUSY)
    workers = max(AT_LEAST, by_cpu, math.ceil(held / at_once))
    apis = max(AT_LEAST, math.ceil(a_second * cost.api_ms / 1_000 / BUSY))
    year = rate * _YEAR_H * cost.kept(DOCUMENTS)
    return Need(
        rate=rate,
        apis=apis,
        workers=workers,
        workers_by_cpu=by_cpu,
        held=held,
        sequencer_busy=a_second * cost.sequencer_ms / 1_000,
        postgres_busy=a_second * cost.postgres_ms / 1_000,
        connections=math.ceil(workers * each.worker + apis * each.others),
        wal_a_second=a_second * cost.wal,
        day=year / 365,
        year=year,
    )


def most_an_hour(cost_ms: float) -> float:
    """How many debates an hour one core does that spends so many milliseconds on each."""
    return _HOUR * 1_000 / cost_ms


def saturates(rates: Sequence[float], gained: float = 0.1) -> int | None:
    """The place of the first step that brought less than a tenth more; ``None`` where every step brought more."""
    for place in range(1, len(rates)):
        if rates[place] < rates[place - 1] * (1 + gained):
            return place
    return None


def culprit(step: Mapping[str, Any]) -> str:
    """What had no room left in a step: the machine's cores, a worker's one thread, a lock, or the disk."""
    if step["machine"] >= 0.9:
        return "the cores of the machine"
    if step["worker"] >= 0.9:
        return "the one thread of each worker"
    if step["waits"]:
        name, share = max(step["waits"].items(), key=lambda item: item[1])
        return f"PostgreSQL, where {shown(share)} backends wait for {name}"
    return "none of what is watched"


def amount(count: float) -> str:
    """Bytes in the largest unit of ten that leaves a number of at least one."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{shown(count / size)} {unit}"
    return f"{shown(count)} bytes"


def tables(kept: Mapping[str, Any]) -> str:
    """What stands between the marks of the document."""
    return "\n".join([*_cost(kept), "", *_needs(kept), "", *_steps(kept), "", *_first(kept), ""])


def _cost(kept: Mapping[str, Any]) -> Iterator[str]:
    cost, about = Cost(**kept["cost"]), kept["machine"]
    yield "### What a debate costs"
    yield ""
    yield (
        f"Five calls, a document of {cost.characters:,} characters. {about['measured']} at {about['commit']}, "
        f"{about['machine']}, load {about['load before']} before, {kept['debates']} debates."
    )
    yield ""
    yield "| of a debate | measured | so one core does at most, an hour |"
    yield "|---|---|---|"
    for what, ms in (
        ("the API's CPU for the submission", cost.api_ms),
        ("the worker's CPU, with its process of checks", cost.worker_ms),
        ("the sequencer's CPU", cost.sequencer_ms),
        ("PostgreSQL's CPU, for all of them", cost.postgres_ms),
    ):
        yield f"| {what} | {shown(ms)} ms | {most_an_hour(ms):,.0f} |"
    yield f"| statements of API and worker | {shown(cost.statements)} | |"
    yield f"| transactions of all of them, the sequencer's among them | {shown(cost.transactions)} | |"
    yield f"| WAL | {amount(cost.wal)} | |"
    yield f"| kept on disk, with indexes | {amount(cost.stored)} | |"
    yield f"| and for each further character of a document | {shown(cost.stored_per_character)} bytes | |"
    yield f"| kept on disk over {DOCUMENTS:,} characters | {amount(cost.kept(DOCUMENTS))} | |"


def _needs(kept: Mapping[str, Any]) -> Iterator[str]:
    cost, each, at_once = Cost(**kept["cost"]), Connections(**kept["connections"]), kept["at_once"]
    found = [need(rate, cost, each, at_once) for rate in RATES]
    yield "### What so many debates an hour need"
    yield ""
    yield (
        f"For debates that take {DEBATE_S:g} s, over documents of {DOCUMENTS:,} characters, {at_once} at once in a "
        f"worker, and processes that use {BUSY:.0%} of a core on average."
    )
    yield ""
    yield f"| debates an hour | {' | '.join(f'{one.rate:,}' for one in found)} |"
    yield f"|---|{'---|' * len(found)}"
    for what, cells in (
        ("API processes", [f"{one.apis}" for one in found]),
        ("debates under way", [shown(one.held) for one in found]),
        ("workers", [f"{one.workers}" for one in found]),
        (f"workers, if each holds {CROWDED}", [f"{need(r, cost, each, CROWDED).workers}" for r in RATES]),
        ("workers that their CPU alone asks for", [f"{one.workers_by_cpu}" for one in found]),
        ("the sequencer, of one core", [f"{shown(100 * one.sequencer_busy)} %" for one in found]),
        ("PostgreSQL, cores", [shown(one.postgres_busy) for one in found]),
        ("connections to PostgreSQL, at most", [f"{one.connections}" for one in found]),
        ("WAL a second", [amount(one.wal_a_second) for one in found]),
        ("disk a day", [amount(one.day) for one in found]),
        ("disk a year", [amount(one.year) for one in found]),
    ):
        yield f"| {what} | {' | '.join(cells)} |"


def _steps(kept: Mapping[str, Any]) -> Iterator[str]:
    steps = kept["steps"]
    yield "### Workers against one database"
    yield ""
    yield "Models answer at once here, so that nothing but this machine is waited for; all processes share its cores."
    yield ""
    yield "| workers | debates a second | of the machine's cores | of a core, each worker | backends that wait |"
    yield "|---|---|---|---|---|"
    for step in steps:
        waits = ", ".join(f"{name} {shown(share)}" for name, share in sorted(step["waits"].items())) or "none"
        yield (
            f"| {step['workers']} | {shown(step['rate'])} | {step['machine']:.0%} | {step['worker']:.0%} | {waits} |"
        )
    yield ""
    place = saturates([step["rate"] for step in steps])
    if place is None:
        yield f"Nothing was saturated by {steps[-1]['workers']} workers."
    else:
        yield f"Saturated at {steps[place - 1]['workers']} workers. What had no room left: {culprit(steps[place - 1])}."


def _first(kept: Mapping[str, Any]) -> Iterator[str]:
    waiting = kept["waiting"]
    could = waiting["at_once"] / waiting["shortest_s"]
    yield "### Debates that wait"
    yield ""
    yield (
        f"One worker, {waiting['at_once']} debates at once, {waiting['latency_ms']:g} ms a call: a debate took "
        f"{shown(waiting['shortest_s'])} s at least, so {shown(could)} a second are what waiting alone allows. "
        f"{shown(waiting['rate'])} a second were done ({waiting['rate'] / could:.0%}), with "
        f"{waiting['worker']:.0%} of a core."
    )


def write(kept: Mapping[str, Any]) -> None:
    """Keep what was measured, and write the document's figures."""
    KEPT.write_text(f"{json.dumps(kept, indent=1)}\n", "utf-8")
    DOCUMENT.write_text(rewritten(DOCUMENT.read_text("utf-8"), BEGIN, tables(kept)), "utf-8")


if __name__ == "__main__":
    write(json.loads(KEPT.read_text("utf-8")))
