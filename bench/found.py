"""A hundred thousand debates to be found, put into the database as superuser, with common and rare values.

Their first records are real ones; of their ends there is what the list reads. Seeded, so every run has the same.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, get_args
from uuid import UUID

import msgspec
import psycopg
from msgspec.structs import replace

from service.audit.record import RecordPlace
from service.debate.amounts import usd
from service.debate.entries import CaseReceived
from service.debate.model import Case, HumanReview
from service.debate.replies import ConfidenceLevel
from service.report.result.decision_types import Decision, DecisionCost, DecisionOutcome
from service.store.found_by import FoundBy, case_words
from service.store.sealing import seal_entry, times, uuid7
from tests.fixtures.running import a_writer

TENANT, LOG = "default", "localhost/default/1"
FIRST, SECONDS = 1_735_689_600.0, 60 * 86_400 * 11
"""The first debate is of January 2025, the last of October 2026."""
HELD, RUNNING, QUEUED = 200, 40, 60
"""Of the newest debates: ended and not under the signed head, running, queued."""
WORDS = 6_000
RARE, OLD, COMMON = "zirconium", "quadrennial", "liability"
"""A word of some twenty questions, one of a tenth of the oldest fifth, and one of two thirds of all."""
TASKS = ("contract", "security", "architecture", "investment", "compliance", "other")
FORMATS = ("adversarial", "stances", "ballot", "panel", "convergence")
STATUSES = ("completed", "declined", "truncated", "failed", "aborted")
LEVELS: tuple[ConfidenceLevel, ...] = get_args(ConfidenceLevel)
STEMS = ("con", "per", "dis", "sub", "tra", "mor", "vi", "lo", "men", "du")
OUTCOMES: dict[str, tuple[DecisionOutcome, ...]] = {
    "adversarial": ("modified", "upheld", "rejected", "ranked"),
    "stances": ("chosen", "split"),
    "ballot": ("chosen", "escalated"),
    "panel": ("agreed", "split", "ranked"),
    "convergence": ("agreed", "chosen", "split"),
}
FLAGS = (("softenedCritique", 0.2), ("orderSensitive", 0.05), ("inventedQuotation", 0.01), ("providerOverrun", 0.0005))
MODELS = tuple(f"{tree}-{size}" for tree in ("alder", "birch", "cedar", "maple") for size in ("large", "small", "mini"))


class Drawn(NamedTuple):
    """A debate: its id, its first record, and its rows."""

    debate: UUID
    record: Any
    row: FoundBy
    words: Any
    state: str
    decision: bytes | None


def fill(admin: str, debates: int) -> None:
    """Put so many debates into an empty database."""
    drawn = list(_debates(random.Random(18), debates))
    ended = [one for one in drawn if one.row.status is not None]
    with psycopg.connect(admin, autocommit=True, options="-c search_path=gainsay") as connection:
        for into, rows in _tables(drawn, ended).items():
            _copy(connection, into, rows)
        connection.execute("CREATE TEMP TABLE said (debate uuid, words text, metadata text[])")
        _copy(
            connection,
            "said (debate, words, metadata)",
            ((d.debate, d.words.words, [*d.words.metadata]) for d in drawn),
        )
        connection.execute(
            "INSERT INTO case_words (tenant, debate, words, metadata) "
            "SELECT %s, debate, to_tsvector('pg_catalog.english', words), metadata FROM said",
            [TENANT],
        )
        connection.execute(
            "INSERT INTO log_epoch (log, tenant, epoch, key) VALUES (%s, %s, 1, 'k') ON CONFLICT DO NOTHING",
            [LOG, TENANT],
        )
        connection.execute(
            "INSERT INTO checkpoint (log, size, root, note) VALUES (%s, %s, %s, 'x')",
            [LOG, len(ended) - HELD, bytes(32)],
        )
        connection.execute("VACUUM ANALYZE")  # what autovacuum would do meanwhile


def _tables(drawn: Sequence[Drawn], ended: Sequence[Drawn]) -> dict[str, Iterator[Sequence[Any]]]:
    """The rows of each table, by its columns."""
    columns = FoundBy.__struct_fields__
    return {
        "debate_head (debate, tenant, log, format, task_type, state, next_n, last_hash, ceiling, granted)": (
            (
                d.debate,
                TENANT,
                LOG,
                d.row.format,
                d.row.task_type,
                d.state,
                25 if d.row.status else 3,
                b"x",
                10**6,
                10**6,
            )
            for d in drawn
        ),
        "entry (debate, n, leaf)": ((d.debate, 0, d.record.leaf) for d in drawn),
        "payload (debate, n, salt, body)": ((d.debate, 0, d.record.salt, d.record.payload) for d in drawn),
        "decision (debate, tenant, body)": ((d.debate, TENANT, d.decision) for d in ended),
        "rests_on (tenant, what, value, debate)": (
            (TENANT, "model", model, d.debate) for d in drawn for model in d.row.models
        ),
        f"found_by (tenant, debate, {', '.join(columns)})": (
            (TENANT, d.debate, *(_plain(getattr(d.row, name)) for name in columns)) for d in drawn
        ),
        "leaf (log, idx, debate, n, hash)": ((LOG, i, d.debate, 24, bytes(32)) for i, d in enumerate(ended)),
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _copy(connection: psycopg.Connection[Any], into: str, rows: Iterable[Sequence[Any]]) -> None:
    with connection.cursor().copy(f"COPY {into} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


def _debates(draw: random.Random, debates: int) -> Iterator[Drawn]:
    vocabulary = [
        f"{a}{b}{chr(97 + n % 26)}{n // 26}" for a in STEMS for b in STEMS for n in range(WORDS // len(STEMS) ** 2)
    ]
    for nth in range(debates):
        yield drawn_debate(draw, nth, debates, vocabulary)


def drawn_debate(draw: random.Random, nth: int, debates: int, vocabulary: list[str]) -> Drawn:
    """One debate, the ``nth`` of so many."""
    at = FIRST + SECONDS * nth / debates + draw.random()
    place = RecordPlace(LOG, TENANT, uuid7(at), "", "")
    received = CaseReceived(_case(draw, nth, debates, vocabulary), "local")
    record = seal_entry(received, place=place, writer=a_writer("bench"), n=0, prev=b"", times=times(at))
    left = debates - nth
    state = "queued" if left <= QUEUED else "running" if left <= QUEUED + RUNNING else ""
    row, decision = _rows(draw, received.case, state)
    words = case_words([received], TENANT)
    return Drawn(UUID(place.debate), record, row, words, state or str(row.status), decision)


def _case(draw: random.Random, nth: int, debates: int, vocabulary: list[str]) -> Case:
    words = [vocabulary[int(draw.paretovariate(0.7) - 1) % len(vocabulary)] for _ in range(draw.randint(15, 60))]
    words += [COMMON] if draw.random() < 0.66 else []
    words += [RARE] if nth % 5_000 == 7 else []
    words += [OLD] if nth < debates / 5 and draw.random() < 0.1 else []
    draw.shuffle(words)
    environment, team = draw.choices(("prod", "test"), (95, 5))[0], f"t{int(draw.paretovariate(1))}"
    return Case(
        question=" ".join(words),
        task_type=draw.choices(TASKS, (40, 25, 15, 12, 7.9, 0.1))[0],
        documents=(),
        estimated_downside=Decimal(int(10 ** draw.uniform(3, 8))),
        use_case=f"use {min(int(draw.paretovariate(0.8)), 80)}",
        materiality=draw.choices(("high", "moderate", "low"), (20, 50, 30))[0],
        metadata={"ticket": f"MR-{nth}", "environment": environment, "team": team},
    )


def _rows(draw: random.Random, case: Case, state: str) -> tuple[FoundBy, bytes | None]:
    form = draw.choices(FORMATS, (70, 8, 7, 10, 5))[0]
    status = draw.choices(STATUSES, (88, 7, 3, 1.5, 0.5))[0]
    row = FoundBy(
        case.task_type,
        None if status == "declined" else form,
        case.use_case,
        case.materiality,
        str(case.estimated_downside),
        tuple(sorted(draw.sample(MODELS, 5))),
    )
    return (row, None) if state else _ended(draw, row, form, status)


def _ended(draw: random.Random, row: FoundBy, form: str, status: str) -> tuple[FoundBy, bytes]:
    decides = status in ("completed", "truncated")
    level: ConfidenceLevel | None = draw.choices(LEVELS, (30, 55, 15))[0] if decides else None
    spent = 0 if status == "declined" else draw.randint(20_000, 480_000)
    decision = Decision(
        outcome=draw.choice(OUTCOMES[form]) if decides else "declined" if status == "declined" else "none",
        answer="The proposition stands only in a narrower form.",
        confidence=level,
        human_review=HumanReview(level == "LOW" or draw.random() < 0.1),
        cost=DecisionCost(spent_usd=usd(spent)),
    )
    ended = replace(
        row,
        status=status,
        outcome=decision.outcome,
        confidence=level,
        human_review=decision.human_review.required,
        flags=tuple(flag for flag, share in FLAGS if draw.random() < share),
        spent=spent,
    )
    return ended, msgspec.json.encode(decision)
