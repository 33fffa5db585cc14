"""Compares the rows that are computed from records with the records: what lists, search, recall and limits read.

    a debate           head row, context and documents (`read_debate`), what it rests on and is found by, its models'
                       scores, its decision, its charges and its money; texts that its records name by hash
    a manifest         the prompts that it is found by
    issued reports     each record has its row, and each row the record that it names
    evaluations        each entry has its row, and each row its record; name, held sets, scores, end and result
    cosignatures       are not fewer than at the last comparison, nor are time stamps of heads
    time stamps        open with the text of their head, and say what their row says
    the limits         tranches, charges and limits of each tenant agree

The decision of a debate that another build recorded is not compared: builds may word one differently. Nor is which
scores of its models were checked, which a version before did not note, nor what a debate is found by as far as another
build has recorded it. `gainsay rebuild` makes what differs anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec

from service.audit.log_events import KINDS
from service.audit.note import parse_note
from service.audit.record import open_leaf
from service.audit.stored_record import HEAD_ROW, Mismatch
from service.audit.timestamp import open_time_stamp
from service.debate.entries import AttemptFailed, DebateStarted, Entry, TurnSpoke
from service.errors import EvidenceDamaged, GainsayError
from service.money import Ledger
from service.store import contents, derived, spend
from service.store.damage import note_damage
from service.store.evaluation_rows import KINDS as EVALUATION_KINDS
from service.store.evaluation_rows import compare_entry, compare_evaluations
from service.store.found_by import END, as_record, case_words, found_by, opening_of
from service.store.issued import ROW, issued_key, read_issued
from service.store.pool import Database, Row
from service.store.rebuild import ISSUED, rows_in_steps
from service.store.sealing import decided, decision_body
from service.store.stored_debate import StoredDebate, read_debate

STAMPS = 256
"""Time stamps that are read at once."""
TRIES = 3
"""How often a debate that moves while it is read is read; after that it is left to the next round."""


async def compare_debate(database: Database, row: Row, build: str) -> int:
    """Compare one debate, or a chain that may be none; return how many differences were noted.

    ``row`` is one of `rows_from`. Raises `StoreUnavailable`.
    """
    debate = str(row["debate"])
    tenant, log = row["tenant"], row["log"]
    if tenant is None:
        found = _without_head(row["leaf"])
        if found is None:
            return await _compare_event(database, row)
        tenant, log = found
        return await _note(database, [Mismatch(HEAD_ROW, "is not stored")], tenant, log, debate)
    try:
        differences = await _differences(database, row["debate"], tenant, build)
    except EvidenceDamaged:  # an incident of the debate by now
        return 1
    return await _note(database, differences, tenant, log, debate)


async def compare_shared(database: Database) -> int:
    """Compare what debates share, the manifests and the tenants' limits; return how many differences were noted."""
    noted = 0
    async for row in rows_in_steps(database, "manifests"):
        noted += await _note(database, await _of_manifest(database, bytes(row["body"])), "", "", None)
    async for row in rows_in_steps(database, "issued_rows"):
        event = read_issued(row)
        if event is None or issued_key(event) != {name: row[name] for name in issued_key(event)}:
            noted += await _note(
                database, [Mismatch(ROW, "names a record that does not say so")], "", "", str(row["of"])
            )
    async for tenant, differs in compare_evaluations(database):
        noted += await _note(database, [differs], tenant, "", None)
    for counted, whose in (
        ("count_cosignatures", "the cosignatures"),
        ("count_time_stamps", "the time stamps of heads"),
    ):
        (count,) = await database.query(counted)
        if count["now"] < (count["before"] or 0):
            lost = Mismatch(whose, f"are {count['now']}, and {count['before']} were stored before")
            await note_damage(database, "log", lost, tenant="", log="")
            noted += 1
    noted += await _compare_time_stamps(database)
    accounts = await spend.balance(database)
    for period in accounts.periods:
        if not period.exact:
            what = Mismatch(
                f"the limit of the {period.period} from {period.starts}", "is not what was drawn and charged"
            )
            noted += await _note(database, [what], period.tenant, "", None)
    for account in accounts.batches:
        if not account.exact:
            what = Mismatch(f"the limit of batch {account.batch}", "is not what was drawn and charged")
            noted += await _note(database, [what], account.tenant, "", None)
    for debate in accounts.astray:
        what = Mismatch("the account", "does not agree with its tranches and charges")
        noted += await _note(database, [what], "", "", debate)
    return noted


async def _compare_time_stamps(database: Database) -> int:
    """Open each time stamp again, with the text of the head beside it; return how many are not what their row says."""
    noted = 0
    for row in await database.query("stamped_logs"):
        above, log = -1, {"tenant": row["tenant"], "log": row["log"]}
        while stamps := await database.query("time_stamps_of", {"log": row["log"], "above": above, "limit": STAMPS}):
            for stamp in stamps:
                above = stamp["size"]
                if (what := await asyncio.to_thread(_wrong_time_stamp, stamp)) is not None:
                    await note_damage(database, "log", Mismatch(f"the time stamp of the head of {above}", what), **log)
                    noted += 1
    return noted


def _wrong_time_stamp(row: Row) -> str | None:
    """How a stored time stamp differs from its row and its head; ``None`` where it does not."""
    try:
        found = open_time_stamp(bytes(row["token"]), parse_note(bytes(row["note"])).text)
    except GainsayError as error:
        return f"cannot be opened: {error.detail}"
    if (found.seconds, found.authority) != (row["stamped"], bytes(row["authority"])):
        return "says another time or authority than its row"
    return None


async def _compare_event(database: Database, row: Row) -> int:
    """Compare the record of an issued report, or of an evaluation, with its row; no other event has one."""
    envelope = open_leaf(row["leaf"])
    if envelope.kind != ISSUED and envelope.kind not in EVALUATION_KINDS:
        return 0
    chain = await database.query("chain", {"debate": row["debate"]})
    if envelope.kind in EVALUATION_KINDS:
        differs = await compare_entry(database, row["debate"], chain)
        return await _note(database, [differs] if differs else [], envelope.tenant, envelope.log, None)
    place = f"the record {row['debate']} of an issued report"
    event = read_issued({**chain[0], "record": row["debate"]}) if len(chain) == 1 else None
    if event is None:
        lost = Mismatch(place, "is not stored as it was sealed")
        return await _note(database, [lost], envelope.tenant, envelope.log, None)
    known = await database.query("issued_report", {**issued_key(event), "tenant": envelope.tenant})
    if known and known[0]["record"] <= row["debate"]:  # of two records of one report the earlier has the row
        return 0
    return await _note(database, [Mismatch(place, "has no row")], envelope.tenant, envelope.log, event.debate)


async def _note(database: Database, found: Sequence[Mismatch], tenant: str, log: str, debate: str | None) -> int:
    for each in found:
        await note_damage(database, "row", each, tenant=tenant, log=log, debate=debate)
    return len(found)


def _without_head(leaf: bytes | None) -> tuple[str, str] | None:
    """Tenant and log of a debate that lacks its head row; ``None`` for an event of a log, which has none."""
    try:
        envelope = open_leaf(leaf or b"")
    except ValueError:
        return "", ""
    return None if envelope.kind in KINDS else (envelope.tenant, envelope.log)


async def _differences(database: Database, debate: UUID, tenant: str, build: str) -> list[Mismatch]:
    for _ in range(TRIES):
        stored = await read_debate(database, str(debate), tenant, documents=True)
        said = case_words(_entries(stored), stored.head["tenant"])
        rows = await database.query("projected", {"debate": debate, "words": said.words if said else None})
        if rows and rows[0]["next_n"] == stored.head["next_n"]:
            found = await asyncio.to_thread(lambda: list(_compared(stored, rows[0], build)))  # noqa: B023 - awaited here
            return [*found, *await _lost_texts(database, stored)]
    return []


def _compared(stored: StoredDebate, row: Row, build: str) -> Iterator[Mismatch]:
    """The rows of one debate that are not what its records say."""
    entries, tenant = _entries(stored), stored.head["tenant"]
    grounds = {*derived.grounds(entries), *derived.documents({k: t.encode() for k, t in stored.texts.items()})}
    if {tuple(each) for each in row["rests"]} != {(tenant, what, value) for what, value in grounds}:
        yield Mismatch("what recall reads", "is not what the records rest on")
    if not _are_tracked(stored, entries, row, build):
        yield Mismatch("the models' track records", "are not those of the records")
    if sorted(row["charges"]) != sorted(_charges(entries)):
        yield Mismatch("the charges", "are not those of the records")
    ledger = Ledger.of(entries)
    if (row["spent"], row["held"], row["excess"]) != (ledger.spent, sum(ledger.held.values()), ledger.excess):
        yield Mismatch("the money in the head row", "is not that of the records")
    if row["format"] != next((entry.format for entry in entries if isinstance(entry, DebateStarted)), None):
        yield Mismatch("the format in the head row", "is not that of the records")
    if row["decision"] is not None and not _is_decision(stored, entries, row, build):
        yield Mismatch("the decision in lists", "is not that of the records")
    if not _is_found(stored, entries, row, build):
        yield Mismatch("what lists find it by", "is not what the records say")
    if not _is_worded(stored, entries, row, build):
        yield Mismatch("the words that lists find it by", "are not those of the case")


def _entries(stored: StoredDebate) -> list[Entry]:
    return [record.entry for record in stored.records]


def _are_tracked(stored: StoredDebate, entries: Sequence[Entry], row: Row, build: str) -> bool:
    """Whether the models' scores are those of the records. Which of them were checked is compared where this build
    recorded the end: a version before did not write it."""
    tenant, found = stored.head["tenant"], derived.performances(entries)
    members = None if open_leaf(stored.records[-1].leaf).build == build else -1
    expected = {(tenant, *msgspec.structs.astuple(score))[:members] for score in found}
    return {tuple(each)[:members] for each in row["tracked"]} == expected


def _is_decision(stored: StoredDebate, entries: Sequence[Entry], row: Row, build: str) -> bool:
    """Whether a stored decision is the tenant's and, where this build recorded the end, word for word what it says."""
    if row["decided_for"] != stored.head["tenant"]:
        return False
    if open_leaf(stored.records[-1].leaf).build != build:
        return True
    return bytes(row["decision"]) == decision_body(decided(entries, Ledger.of(entries)))


def _is_found(stored: StoredDebate, entries: Sequence[Entry], row: Row, build: str) -> bool:
    """Whether the row of what a debate is found by is that of the records.

    It is compared as far as this build has recorded the debate: from the first record on, and up to the end. Only
    another build may have left it out.
    """
    tenant, debate = stored.head["tenant"], str(row["debate"])
    ledger = Ledger.of(entries)
    facts = found_by(entries, decided(entries, ledger), ledger)
    rows = row["found_by"] or []
    if facts is None or not rows:
        return facts is None or open_leaf(stored.records[0].leaf).build != build
    expected, found = msgspec.json.decode(as_record(facts, tenant, debate)), rows[0]
    if open_leaf(stored.records[0].leaf).build != build:
        expected = {**found, **{name: expected[name] for name in ("tenant", *END)}}
    if open_leaf(stored.records[-1].leaf).build != build:
        expected, found = opening_of(expected), opening_of(found)
    return len(rows) == 1 and expected == found


def _is_worded(stored: StoredDebate, entries: Sequence[Entry], row: Row, build: str) -> bool:
    """Whether the words that a case is found by are its own; only another build may have left them out."""
    tenant = stored.head["tenant"]
    said = case_words(entries, tenant)
    if said is None or not row["words"]:
        return said is None or open_leaf(stored.records[0].leaf).build != build
    return bool(row["words"] == [[tenant, list(said.metadata), True]])


def _charges(entries: Sequence[Entry]) -> Iterator[list[Any]]:
    for n, entry in enumerate(entries):
        if isinstance(entry, TurnSpoke | AttemptFailed):
            charge = entry.charge
            yield [n, entry.turn, entry.attempt, charge.basis, charge.amount, charge.excess]


async def _lost_texts(database: Database, stored: StoredDebate) -> list[Mismatch]:
    """The texts that the records name by hash and that are not stored any more."""
    started = next((e for e in (r.entry for r in stored.records[:8]) if isinstance(e, DebateStarted)), None)
    named = {"the policy": stored.head["policy"]}
    if started is not None:
        named |= {"the manifest of prompts": started.pin, "the configuration": started.configuration_hash}
    wanted = {what: digest for what, digest in named.items() if digest}
    kept = await contents.stored(database, wanted.values())
    return [Mismatch(what, "is not stored any more") for what, digest in wanted.items() if digest not in kept]


async def _of_manifest(database: Database, body: bytes) -> list[Mismatch]:
    """What differs of one manifest; a text that only begins like one has nothing to compare."""
    try:
        given = derived.prompts(body)
    except ValueError:
        return []
    digest, found = sha256(body).hexdigest(), []
    rows = await database.query("manifest_prompts", {"manifest": digest})
    if {(row["prompt"], row["sha256"]) for row in rows} != set(given.items()):
        found.append(Mismatch(f"the prompts of manifest {digest}", "are not those that it lists"))
    texts = contents.listed(body)
    kept = await contents.stored(database, texts.values())
    found += [
        Mismatch(f"the text {path} of manifest {digest}", "is not stored any more")
        for path, text in texts.items()
        if text not in kept
    ]
    return found
