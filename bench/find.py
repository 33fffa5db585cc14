"""How long the list of debates takes among 100,000 of them, by each filter and order, on a server of the bench's own.

Each row has the CPU that a list takes, of the server and of this process, and the median and 95th percentile of the
time that passes: as HTTP asks for it, without the connection. CPU is held against 50 ms, because the machine of a bench
may have other work; on an idle one no more time passes than that. The last rows say what the projection adds to
recording a case and the end of a debate.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, LiteralString

import msgspec
import psycopg
import uvloop

from bench.figures import Measured, Turn
from bench.found import COMMON, OLD, RARE, TENANT, Drawn, drawn_debate, fill
from bench.servers import server
from service.debate.entries import CaseReceived
from service.money import Ledger
from service.report.sent import encode
from service.reviews.finding import DebateFinder, Page
from service.reviews.query_parameters import read_query
from service.store.found_by import END, FoundBy, as_record
from service.store.pool import Database
from service.store.sealing import found_columns
from service.web.list_types import DebateList

DEBATES, ROUNDS = 100_000, 40
WRITTEN = 500
PIDS = b"-- pids --\nSELECT pid FROM pg_stat_activity WHERE usename = current_user"
OPENED: LiteralString = "INSERT INTO found_by SELECT * FROM jsonb_populate_record(NULL::found_by, %s::jsonb)"
SAID: LiteralString = """
INSERT INTO case_words (tenant, debate, words, metadata)
VALUES (%s, %s, to_tsvector('pg_catalog.english', %s), %s)
"""
ENDED: LiteralString = """
UPDATE found_by f SET status = e.status, outcome = e.outcome, confidence = e.confidence, human_review = e.human_review,
    flags = e.flags, spent = e.spent
FROM jsonb_populate_record(NULL::found_by, %s::jsonb) AS e WHERE f.tenant = e.tenant AND f.debate = e.debate
"""
Asked = Mapping[str, Sequence[str]]

LISTS: Mapping[str, Asked] = {
    "no filter": {},
    "limit 100": {"limit": ["100"]},
    "a month": {"since": ["2025-06-01"], "until": ["2025-07-01"]},
    "taskType, common": {"taskType": ["contract"]},
    "taskType, 1 in 1000": {"taskType": ["other"]},
    "taskType, two": {"taskType": ["security", "other"]},
    "status completed": {"status": ["completed"]},
    "status aborted": {"status": ["aborted"]},
    "status running": {"status": ["running"]},
    "status queued, failed": {"status": ["queued", "failed"]},
    "format adversarial": {"format": ["adversarial"]},
    "format convergence": {"format": ["convergence"]},
    "outcome modified": {"outcome": ["modified"]},
    "outcome escalated, none": {"outcome": ["escalated", "none"]},
    "confidence LOW": {"confidence": ["LOW"]},
    "flag, 1 in 5": {"flag": ["softenedCritique"]},
    "flag, 1 in 2000": {"flag": ["providerOverrun"]},
    "flag, any of two": {"flag": ["inventedQuotation", "providerOverrun"]},
    "humanReview true": {"humanReview": ["true"]},
    "useCase, common": {"useCase": ["use 1"]},
    "useCase, rare": {"useCase": ["use 79"]},
    "materiality high": {"materiality": ["high"]},
    "model": {"model": ["alder-large"]},
    "metadata, one ticket": {"metadata": ["ticket=MR-50000"]},
    "metadata, 19 in 20": {"metadata": ["environment=prod"]},
    "metadata, a key": {"metadata": ["team"]},
    "metadata, nothing": {"metadata": ["ticket=none"]},
    "q, two in three": {"q": [COMMON]},
    "q, 20 in all": {"q": [RARE]},
    "q, only long ago": {"q": [OLD]},
    "q, a phrase": {"q": ['"conconc0 conconb0"']},
    "q, common and not": {"q": [f"{COMMON} -{OLD}"]},
    "q, rare, and a filter": {"q": [RARE], "outcome": ["modified"]},
    "q, long ago, and a filter": {"q": [OLD], "humanReview": ["true"], "taskType": ["contract"]},
    "work list": {"humanReview": ["true"], "materiality": ["high"], "status": ["completed"], "since": ["2026-01-01"]},
    "rare in every way": {"flag": ["providerOverrun"], "outcome": ["rejected"], "taskType": ["compliance"]},
    "all filters": {
        "since": ["2025-02-01"],
        "until": ["2026-06-01"],
        "taskType": ["contract"],
        "status": ["completed"],
        "format": ["adversarial"],
        "outcome": ["modified", "upheld"],
        "confidence": ["MODERATE"],
        "humanReview": ["false"],
        "useCase": ["use 1"],
        "materiality": ["moderate"],
        "model": ["alder-large"],
        "metadata": ["environment=prod"],
        "q": [COMMON],
    },
    **{f"sort {sort}": {"sort": [sort]} for sort in ("createdAt", "-spentUSD", "spentUSD", "-estimatedDownsideUSD")},
    "sort -spentUSD, filter": {"sort": ["-spentUSD"], "humanReview": ["true"], "outcome": ["rejected"]},
    "sort downside, q": {"sort": ["estimatedDownsideUSD"], "q": [COMMON]},
}
DEEP: Mapping[str, Asked] = {
    "no filter": {},
    "outcome modified": {"outcome": ["modified"]},
    "sort -spentUSD": {"sort": ["-spentUSD"]},
    "q, two in three": {"q": [COMMON]},
}
PAGES = 100
"""The page that counts as deep, in pages of 100."""
EVERY = (
    *("taskType", "status", "format", "outcome", "confidence"),
    *("flag", "humanReview", "useCase", "materiality", "model"),
)
COUNTS: Mapping[str, Asked] = {
    "status": {"facets": ["status"], "limit": ["1"]},
    "all ten": {"facets": list(EVERY), "limit": ["1"]},
    "all ten, work list": {"facets": list(EVERY), "limit": ["1"], "humanReview": ["true"], "materiality": ["high"]},
    "all ten, q": {"facets": list(EVERY), "limit": ["1"], "q": [COMMON]},
}


def measure() -> Turn:
    """The slowest of the lists and of the counts, and what is written; each list is printed. Takes two minutes."""
    with server() as here:
        fill(here.admin, DEBATES)
        return {**uvloop.run(_measured(here.service)), **_written(here.admin)}


async def _measured(url: str) -> Turn:
    async with Database.open(url, size=2) as database:
        finder = DebateFinder(database, held=True)
        lists = [await _row(finder, what, asked) for what, asked in LISTS.items()]
        for what, asked in DEEP.items():
            deep = {**asked, "limit": ["100"], "after": [await _deep(finder, asked)]}
            lists.append(await _row(finder, f"{what}, page {PAGES}", deep))
        counts = [await _row(finder, f"counts, {what}", asked) for what, asked in COUNTS.items()]
    return {"list": max(lists), "count": max(counts)}


def _written(admin: str) -> Turn:
    """What recording a case, and the end of a debate, takes longer for the projection."""
    draw = random.Random(7)
    words = [f"word{n}" for n in range(2_000)]
    later = [drawn_debate(draw, nth, 10, words) for nth in range(WRITTEN)]
    with psycopg.connect(admin) as connection:  # rolled back in the end
        for one in later:
            row = (one.debate, 0, one.record.salt, one.record.payload)
            connection.execute("INSERT INTO payload (debate, n, salt, body) VALUES (%s, %s, %s, %s)", row)
        opened = _each(connection, OPENED, [(as_record(_opening(d), TENANT, str(d.debate)),) for d in later])
        said = [(TENANT, d.debate, d.words.words, [*d.words.metadata]) for d in later]
        opened += _each(connection, SAID, said)
        ended = _each(connection, ENDED, [(as_record(d.row, TENANT, str(d.debate)),) for d in later])
        connection.rollback()
    entries = [[CaseReceived(msgspec.json.decode(d.record.payload, type=CaseReceived).case, "local")] for d in later]
    begun = time.process_time()
    for each in entries:
        found_columns(each, None, Ledger.of(each), TENANT, str(later[0].debate))
    cpu = (time.process_time() - begun) / WRITTEN * 1_000
    return {"opened": Measured(opened), "ended": Measured(ended), "ours": Measured(cpu)}


def _opening(one: Drawn) -> FoundBy:
    return msgspec.structs.replace(one.row, **dict.fromkeys(END))


def _each(connection: psycopg.Connection[Any], statement: LiteralString, rows: Sequence[Sequence[Any]]) -> float:
    """Milliseconds of CPU that a statement takes in the server, the mean over these rows."""
    begun = _server_cpu(connection.info.backend_pid)
    for row in rows:
        connection.execute(statement, row, prepare=True)
    return (_server_cpu(connection.info.backend_pid) - begun) / len(rows) * 1_000


def _server_cpu(pid: int) -> float:
    """Seconds of CPU that a process of the server has used."""
    stat = Path(f"/proc/{pid}/stat").read_text("ascii")
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def _deep(finder: DebateFinder, asked: Asked) -> str:
    after = ""
    for _ in range(PAGES):
        page = await _page(finder, {**asked, "limit": ["100"], **({"after": [after]} if after else {})})
        assert page.next is not None
        after = page.next
    return after


async def _row(finder: DebateFinder, what: str, asked: Asked) -> Measured:
    """The CPU that one list takes, of the server and ours together, and its time meanwhile."""
    await _page(finder, asked)  # a first time does not count
    pids = await finder._database.read("pids", PIDS, {})
    cpu, taken, count = _cpu(pids), [], 0
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        query = read_query(asked)
        page = await finder.find(query, TENANT)
        encode(DebateList.of(page, query.facets))
        taken.append((time.perf_counter() - begun) * 1_000)
        count = len(page.debates)
    each = (_cpu(pids) - cpu) / ROUNDS * 1_000
    p50, p95 = sorted(taken)[ROUNDS // 2], sorted(taken)[ROUNDS * 95 // 100]
    note = f"{what}: p50 {p50:.1f}, p95 {p95:.1f} ms by the clock, {count} on the page"
    print(f"  {each:5.1f} ms of CPU  {note}", flush=True)
    return Measured(each, None, note)


def _cpu(rows: Sequence[Mapping[str, Any]]) -> float:
    return time.process_time() + sum(_server_cpu(row["pid"]) for row in rows)


async def _page(finder: DebateFinder, asked: Asked) -> Page:
    return await finder.find(read_query(asked), TENANT)
