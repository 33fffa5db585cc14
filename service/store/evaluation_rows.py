"""The rows of evaluations, compared with their records and made anew from them.

    evaluation_entry   each entry that is recorded has its row: tenant, evaluation and number; each row has its record
    evaluation         name, sets whose held split is asked, whether a score is recorded, whether it is over, the result

Records do not say which of a caller's rights a registration was made with beyond its role, nor under which key. A row
that is lost altogether is made without them. A result is made by the golden sets, which are not here: one that is not
what was recorded is named, and stays.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from service.audit import log_events
from service.audit.evaluation_events import EvaluationEntry
from service.audit.record import Envelope, commit, open_leaf
from service.audit.stored_record import Mismatch
from service.errors import GainsayError, IllegalEntry
from service.evaluation.run.progress import Progress
from service.evaluation.scoring.result import result_hash, result_of
from service.store.pool import Database, Row

KINDS = frozenset(kind for kind in log_events.KINDS if kind.startswith(("evaluation.", "item.")))
"""The kinds of an evaluation's entries."""
STEP = 100
"""How many ids one query reads."""
RESULT = "its result is not the one that was recorded; restore its row from a backup, or read it in its bundle"


class _Read(NamedTuple):
    """An entry as it is recorded, with its record."""

    envelope: Envelope
    entry: EvaluationEntry


class _State(NamedTuple):
    """The rows of an evaluation, and its entries as far as they follow each other; else what is wrong with them."""

    rows: Sequence[Row]
    read: Sequence[_Read]
    progress: Progress | None
    wrong: Mismatch | None


class Corrected(NamedTuple):
    """What was corrected of an evaluation, and what could not be."""

    added: int
    removed: int
    trouble: str | None


def read_entry(row: Row) -> _Read | None:
    """The entry of a record by its ``leaf``, ``salt`` and ``body``; ``None`` where it is not as it was sealed."""
    if row["leaf"] is None or row["body"] is None:
        return None
    try:
        envelope = open_leaf(bytes(row["leaf"]))
        entry = log_events.decode_evaluation(bytes(row["body"]))
    except ValueError:
        return None
    agrees = commit(bytes(row["salt"]), bytes(row["body"])) == envelope.commitment
    return _Read(envelope, entry) if agrees and envelope.debate == str(row["record"]) else None


async def compare_entry(database: Database, record: UUID, chain: Sequence[Row]) -> Mismatch | None:
    """Compare the record of an entry with its row; ``None`` where the row says what the record does."""
    place = f"the record {record} of an evaluation"
    found = read_entry({**chain[0], "record": record}) if len(chain) == 1 else None
    if found is None:
        return Mismatch(place, "is not stored as it was sealed")
    (seen,) = await database.query("evaluation_entry_of", {"record": record, **_key(found)})
    if not (seen["present"] or seen["earlier"]):  # of two records of one number the earlier has the row
        return Mismatch(place, "has no row")
    return None


async def compare_evaluations(database: Database) -> AsyncIterator[tuple[str, Mismatch]]:
    """What differs of each evaluation's rows, with its tenant; raises `StoreUnavailable`."""
    async for evaluation in _each(database):
        state = await _state(database, evaluation)
        row = state.rows[0]
        tenant = row["tenant"] or row["entry_tenant"] or ""
        if state.wrong is not None or state.progress is None:
            if state.wrong is not None:
                yield tenant, state.wrong
            continue
        expected = _facts(state.read[0].envelope.tenant, state.progress)
        differs = [words for name, words in _COMPARED.items() if row[name] != expected[name]]
        differs += [] if _is_result(state) else ["has another result than was recorded"]
        if differs:
            what = "is not stored" if row["tenant"] is None else ", and ".join(differs)
            yield tenant, Mismatch(f"the row of evaluation {evaluation}", what)


async def rebuild_entry(database: Database, record: UUID, row: Row) -> Sequence[Row]:
    """Make the row of an entry anew from its record; the counts of rows that were added and removed."""
    found = read_entry({**row, "record": record})
    if found is None:
        return ()
    return await database.query("project_evaluation_entry", {"record": record, **_key(found)})


async def rebuild_evaluations(database: Database) -> AsyncIterator[Corrected]:
    """Make the row of each evaluation anew from its entries, whose rows are right by then."""
    async for evaluation in _each(database):
        state = await _state(database, evaluation)
        if state.wrong is not None or state.progress is None:
            what = f"{state.wrong.place} {state.wrong.what}" if state.wrong else "it has no registration"
            yield Corrected(0, 0, f"evaluation {evaluation}: {what}; its row stays as it is")
            continue
        row, facts = state.rows[0], _facts(state.read[0].envelope.tenant, state.progress)
        params = {
            "evaluation": UUID(evaluation),
            **facts,
            "until": state.read[-1].envelope.recorded,
            "since": state.read[0].envelope.recorded,
            **{name: getattr(state.read[0].envelope.actor, name) for name in ("kind", "role", "via")},
            "subject": state.read[0].envelope.actor.id,
            "was_scored": row["scored"],
            "was_ended": row["ended"],
        }
        (counts,) = await database.query("project_evaluation", params)
        wrong = None if _is_result(state) else f"evaluation {evaluation}: {RESULT}"
        yield Corrected(counts["added"], counts["removed"], wrong)


_COMPARED = {
    "tenant": "is of another tenant than its records",
    "name": "has another name than its plan",
    "held": "names other sets whose held split is asked than its plan",
    "scored": "says otherwise than the records whether labels were looked at",
    "ended": "says otherwise than the records whether it is over",
}


def _facts(tenant: str, progress: Progress) -> dict[str, Any]:
    """What the row of an evaluation has to say by its records."""
    stopped = progress.stopped
    return {
        "tenant": tenant,
        "name": str(progress.registered.plan.get("name", "")),
        "held": [asked.id for asked in progress.registered.sets if asked.split == "held"],
        "scored": bool(progress.scored),
        "ended": progress.concluded is not None or (stopped is not None and stopped.by == "set"),
    }


def _is_result(state: _State) -> bool:
    """Whether the stored result is the recorded one, or there is none and none was recorded."""
    concluded = state.progress.concluded if state.progress else None
    stored = state.rows[0]["result"]
    if concluded is None or stored is None:
        return concluded is None and stored is None
    try:
        return result_hash(result_of(bytes(stored))) == concluded.result
    except (GainsayError, ValueError):
        return False


async def _state(database: Database, evaluation: str) -> _State:
    rows = await database.query("evaluation_state", {"evaluation": UUID(evaluation)})
    read, progress = list[_Read](), None
    for n, row in enumerate(rows):
        place = f"entry {n} of evaluation {evaluation}"
        if row["n"] is None:
            return _State(rows, read, None, Mismatch(f"the row of evaluation {evaluation}", "has no registration"))
        found = read_entry(row)
        if found is None or (row["entry_tenant"], UUID(found.entry.evaluation), found.entry.n, row["n"]) != (
            found.envelope.tenant,
            UUID(evaluation),
            n,
            n,
        ):
            return _State(rows, read, None, Mismatch(place, "is not what its record says, or is missing"))
        read.append(found)
        try:
            if progress is None:
                progress = Progress(found.entry)
            else:
                progress.take(found.entry)
        except IllegalEntry as error:
            return _State(rows, read, None, Mismatch(place, f"does not follow: {error.detail}"))
    return _State(rows, read, progress, None)


async def _each(database: Database) -> AsyncIterator[str]:
    """The ids of the evaluations that have a row of any kind."""
    after: UUID | None = None
    while rows := await database.query("evaluation_ids", {"after": after, "limit": STEP}):
        for row in rows:
            yield str(row["at"])
        after = rows[-1]["at"]


def _key(found: _Read) -> dict[str, Any]:
    entry = found.entry
    return {"tenant": found.envelope.tenant, "evaluation": UUID(entry.evaluation), "n": entry.n}
