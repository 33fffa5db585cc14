"""An abort makes no further model calls and is idempotent.

Calls in flight still end, and are charged. If no worker has the debate and no call is in flight, the same append also
records the outcome, so the debate ends without a worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec import Struct

from service.audit.record import Writer
from service.debate.amounts import MicroUSD
from service.debate.entries import CaseReceived, DebateConcluded, DebateStopped, Entry, is_end
from service.debate.facts import Facts
from service.debate.kernel import FORMATS, decide
from service.debate.model import Conclude, Status
from service.errors import AuditUnavailable, Fenced
from service.money import Ledger
from service.policy import Budgets
from service.running.metrics import count_entries
from service.running.traces import DebateTrace
from service.store.hub import EventHub
from service.store.log import DebateLog
from service.store.pool import Database
from service.store.stored_debate import read_head

TRIES = 20
"""How often an abort is tried: each entry of a running debate may come before it."""


class Aborted(Struct, frozen=True):
    """What an abort found, in micro-dollars. ``calls`` in flight have no charge yet: ``held`` is the most they cost."""

    debate: str
    status: Status
    spent: MicroUSD
    held: MicroUSD
    calls: int = 0


class StopWritten(NamedTuple):
    """What an abort did, and the number of the debate's last entry if the debate had ended before."""

    found: Aborted
    ended: int | None = None


async def stop(database: Database, hub: EventHub, debate: str, tenant: str, writer: Writer, why: str) -> StopWritten:
    """Record that a debate of a tenant is aborted; a second or late abort changes nothing.

    Raises `NotFound`, and `AuditUnavailable` if the abort cannot be recorded.
    """
    for _ in range(TRIES):
        head = await read_head(database, debate, tenant)
        log = DebateLog(database, debate, head, writer, None, Budgets())
        entries = await log.new_entries()
        facts = Facts.of(entries)
        if facts.started is None or facts.stopped or facts.concluded:
            ended = len(entries) - 1 if is_end(entries[-1]) else None
            return StopWritten(_unchanged(debate, facts, log.ledger), ended)
        said = _abort_entries(facts, DebateStopped("abort", why), leased=head["leased"])
        with suppress(Fenced):
            await log.append(said)
            count_entries(facts, log.ledger, said, course=log)
            _trace(debate, tenant, entries).ended(*log.written)
            hub.entries_recorded(debate, said, log.next_n)
            hub.work_queued()
            return StopWritten(_abort_answer(debate, "aborted", log.ledger))
    raise AuditUnavailable(
        f"the debate recorded other entries before the abort {TRIES} times in a row; try again", retry_after=1
    )


def _trace(debate: str, tenant: str, entries: Sequence[Entry]) -> DebateTrace:
    """The trace of a debate whose end an abort writes. Its spans have no words: no worker has its policy here."""
    return DebateTrace(debate, tenant, next((e.arrival for e in entries if isinstance(e, CaseReceived)), None))


def _abort_entries(facts: Facts, stopped: DebateStopped, *, leased: bool) -> list[Entry]:
    """The entries of an abort: the outcome too, if there is no worker and no call to wait for.

    A worker that claims the debate in this moment raises its epoch, and the abort's append writes nothing.
    """
    entries: list[Entry] = [stopped]
    facts.add(stopped)
    if leased or facts.open or facts.started is None or facts.started.format not in FORMATS:
        return entries
    move = decide(facts)
    if isinstance(move, Conclude):
        entries.append(DebateConcluded(move.outcome))
        facts.add(entries[-1])
    return entries


def _unchanged(debate: str, facts: Facts, ledger: Ledger) -> Aborted:
    """The result of an abort that found the debate declined, stopped or ended, and so did not end it.

    A stopped debate of a format that this build does not know counts as aborted; another worker concludes it.
    """
    if facts.started is not None and facts.started.format not in FORMATS and facts.concluded is None:
        return _abort_answer(debate, "aborted", ledger)
    move = decide(facts)
    return _abort_answer(debate, move.outcome.status if isinstance(move, Conclude) else "aborted", ledger)


def _abort_answer(debate: str, status: Status, ledger: Ledger) -> Aborted:
    return Aborted(debate, status, ledger.spent + ledger.excess, sum(ledger.held.values()), len(ledger.held))
