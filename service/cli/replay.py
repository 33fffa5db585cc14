"""Replay of a recorded debate: each record follows from those before it, and the money agrees.

chain    each record names the hash of the one before it, and commits to the payload that is stored beside it; who reads
         a debate compares this (`service.store.stored_debate`)
replay   each entry is legal after the entries before it, by the function that ran the debate
money    the ledger folded from the entries equals the head row
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from msgspec import Struct

from service.app import open_app
from service.cli import startup
from service.cli.access.in_process import InProcess
from service.cli.debate_ids import debate_of
from service.debate.amounts import MicroUSD, usd
from service.debate.entries import CaseReceived, Entry
from service.debate.kernel import replay
from service.errors import GainsayError, IllegalEntry
from service.money import Ledger
from service.policy.settings import Settings
from service.store.pool import Database
from service.store.startup import DatabaseAddresses
from service.store.stored_debate import read_debate


class RecordsDisagree(GainsayError):
    """The stored records of a debate do not fit together."""

    code = "records_disagree"
    title = "The records of a debate do not fit together"


class Replayed(Struct, frozen=True):
    """A replay that found no difference. ``spent`` is in micro-dollars."""

    entries: int
    spent: MicroUSD
    last_record: str


async def replay_debate(database: Database, debate: str, tenant: str) -> Replayed:
    """Replay a debate from the database.

    Raises `NotFound`, `EvidenceDamaged`, `RecordsDisagree` or `IllegalEntry`.
    """
    stored = await read_debate(database, debate, tenant)
    entries = [record.entry for record in stored.records]
    _legal(entries)
    spent = _money(stored.head, Ledger.of(entries))
    return Replayed(len(entries), spent, stored.last_hash.hex())


async def replay_recorded(settings: Settings, where: DatabaseAddresses, debate: str) -> Replayed:
    """Replay a debate from the database of these settings, as a person names it.

    Raises what `replay_debate` and `debate_of` raise.
    """
    async with AsyncExitStack() as stack:
        whole = await debate_of(InProcess(settings, where, stack), debate)
    async with open_app(settings, where, pool=2, asks=False) as app:
        return await replay_debate(app.database, whole, startup.LOCAL.tenant)


def _legal(entries: Sequence[Entry]) -> None:
    if not entries or not isinstance(entries[0], CaseReceived):
        raise IllegalEntry("expected a case as entry 0 of a debate, found something else or nothing")
    replay(entries[0].case, entries)


def _money(head: Mapping[str, Any], ledger: Ledger) -> MicroUSD:
    folded = (ledger.spent, sum(ledger.held.values()), ledger.excess)
    stored = (head["spent"], head["held"], head["excess"])
    if folded != stored:
        sums = [", ".join(usd(amount) for amount in amounts) for amounts in (stored, folded)]
        raise RecordsDisagree(f"spent, held and excess are {sums[0]} USD in the head row, {sums[1]} USD by the entries")
    return ledger.spent
