"""How fast the audit log takes records, proves them, and is verified, on a PostgreSQL of the bench's own.

Two processes of writers append what real debates append, eight debates at once in each, while a third process
sequences and signs. Beside stand plain INSERTs of the same bytes by as many writers, run in turns with ours, and what
the disk gives by PostgreSQL's own pg_test_fsync. The better of two turns counts on each side.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import uvloop
from psycopg.conninfo import make_conninfo

from bench.appending import Done
from bench.logs import a_log_of_hashes, a_log_of_records
from service.app import sequencing_at
from service.audit.note import PublicKey
from service.audit.tree import leaf_hash, verify_inclusion
from service.identity.caller import Caller
from service.policy.settings import Settings, read_settings
from service.proving.self_check import SelfCheck
from service.reviews.evidence import Filters, export
from service.store.current_log import CurrentLogs
from service.store.embedded.data_dir import find_programs
from service.store.embedded.server import shared_server
from service.store.pool import Database
from service.store.proofs import inclusion, latest_checkpoint
from service.store.startup import addresses
from service.verify.export import verify_export
from service.verify.steps import Trust
from tests.fixtures.running import a_writer

ROOT = Path(__file__).resolve().parent.parent
PROCESSES, AT_ONCE, DEBATES, TURNS = 2, 8, 400, 2
RECORDS, LEAVES, PROOFS = 100_000, 1_000_000, 2_000
Told = tuple[str, str, str, str]


class Server(NamedTuple):
    """A server of the bench's own: its settings, and the ways in of the service, the sequencer and the superuser."""

    settings: Settings
    service: str
    sequencer: str
    admin: str


class Turn(NamedTuple):
    """What two processes of writers did in the time in which both wrote."""

    entries_s: float
    appends_s: float
    durable: list[float]
    provable: list[float]


def measure() -> list[Told]:
    """Every row of the audit log; takes about two minutes."""
    with server() as here:
        return [*uvloop.run(_appending(here)), *uvloop.run(_verifying(here)), *uvloop.run(_proving(here))]


@contextmanager
def server() -> Iterator[Server]:
    """A server of the bench's own, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="gainsay-bench-") as folder:
        Path(folder).chmod(0o755)
        settings = read_settings({"GAINSAY_DATA_DIR": folder, "GAINSAY_WARM_S": "0", "HOME": folder})
        with addresses(settings) as where, shared_server(settings.data_dir / "postgres") as running:
            admin = make_conninfo(running.url("postgres"), dbname="gainsay", options="-c search_path=gainsay")
            yield Server(settings, where.service, str(where.sequencer), admin)


# -- appending


async def _appending(server: Server) -> list[Told]:
    with psycopg.connect(server.admin, autocommit=True) as admin:
        admin.execute(
            "CREATE TABLE bench_plain (debate uuid, n int, leaf bytea, salt bytea, body bytea, PRIMARY KEY (debate, n))"
        )
        admin.execute("GRANT INSERT ON bench_plain TO gainsay_writer")
    ours, plain = [], []
    for _ in range(TURNS):
        ours.append(await _ours(server))
        plain.append(_turn(await _written("plain", server.service)))
    best, peer, disk = max(ours), max(plain), _fdatasyncs(server.settings.data_dir)
    late, slow = _percentile(best.provable, 0.99), _percentile(best.durable, 0.99)
    mix = f"{best.entries_s / best.appends_s:.1f} entries a commit"
    return [
        (
            f"append: {PROCESSES} processes of {AT_ONCE} debates, {mix}",
            f"{best.entries_s:,.0f} entries/s",
            f"limit 10,000; plain INSERT of the same bytes {peer.entries_s:,.0f}/s",
            f"{best.entries_s / 10_000:.2f}",
        ),
        (
            "append: commits/s in that",
            f"{best.appends_s:,.0f}",
            f"fdatasync of 8 kB one after the other {disk}/s" if disk else "pg_test_fsync is not there",
            f"{best.appends_s / disk:.2f}" if disk else "-",
        ),
        (
            "append: until durable, p50 and p99",
            f"{_percentile(best.durable, 0.5):.1f} and {slow:.1f} ms",
            f"limit 15 ms; plain {_percentile(peer.durable, 0.5):.1f} and {_percentile(peer.durable, 0.99):.1f} ms",
            f"{slow / 15:.2f}",
        ),
        (
            "append: from durable to provable, p50 and p99",
            f"{_percentile(best.provable, 0.5):.0f} and {late:.0f} ms",
            "limit 100 ms",
            f"{late / 100:.2f}",
        ),
    ]


async def _ours(server: Server) -> Turn:
    """One turn through the log; a record is provable when the head over it is signed and stored."""
    heads: list[tuple[int, float]] = []

    def signed(_log: str, size: int, _root: bytes) -> None:
        heads.append((size, time.monotonic()))

    async with sequencing_at(server.sequencer, server.settings, signed):
        told = await _written("ours", server.service)
        place = await _places(server, {(debate, last) for one in told for debate, last, *_ in one}, heads)
    sizes = [size for size, _ in heads]
    done = [each for one in told for each in one]
    provable = [heads[bisect_right(sizes, place[debate, last])][1] - durable for debate, last, *_, durable in done]
    return _turn(told)._replace(provable=[1_000 * wait for wait in provable])


async def _places(
    server: Server, wanted: set[tuple[str, int]], heads: Sequence[tuple[int, float]]
) -> dict[tuple[str, int], int]:
    """The indexes of the leaves of these records, once signed heads cover them all."""
    with psycopg.connect(server.admin, autocommit=True) as admin:
        while True:
            rows = admin.execute("SELECT debate::text, n, idx FROM leaf").fetchall()
            found = {(debate, n): idx for debate, n, idx in rows if (debate, n) in wanted}
            if len(found) == len(wanted) and heads[-1][0] > max(found.values()):
                return found
            await asyncio.sleep(0.1)


async def _written(which: str, url: str) -> list[list[Done]]:
    """What each process of writers did; they begin together when all have made themselves ready."""
    words = [sys.executable, "-m", "bench.appending", which, url, str(DEBATES), str(AT_ONCE)]
    pipes: dict[str, Any] = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    writers = [await asyncio.create_subprocess_exec(*words, **pipes, cwd=ROOT, limit=1 << 28) for _ in range(PROCESSES)]
    for line in await asyncio.gather(*(writer.stdout.readline() for writer in writers if writer.stdout)):
        if line != b"ready\n":
            raise RuntimeError(f"expected a process of writers to make itself ready, found that it said {line!r}")
    for writer in writers:
        if writer.stdin:
            writer.stdin.write(b"go\n")
    told = await asyncio.gather(*(writer.communicate() for writer in writers))
    return [json.loads(out) for out, _ in told]


def _turn(told: list[list[Done]]) -> Turn:
    """What was done while all of them wrote."""
    begun = max(min(done[3] for done in each) for each in told)
    ended = min(max(done[4] for done in each) for each in told)
    within = [done for each in told for done in each if done[3] >= begun and done[4] <= ended]
    seconds = ended - begun
    durable = [1_000 * (done[4] - done[3]) for done in within]
    return Turn(sum(done[2] for done in within) / seconds, len(within) / seconds, durable, [])


def _fdatasyncs(folder: Path) -> int | None:
    """How often a second the data's disk takes 8 kB and says that it has them, by PostgreSQL's own program."""
    path = find_programs() / "pg_test_fsync"
    if not path.is_file():
        return None
    with subprocess.Popen(
        [str(path), "-s", "1", "-f", str(folder / "fsync")], stdout=subprocess.PIPE, text=True
    ) as program:
        try:
            for line in program.stdout or ():
                if line.split()[:1] == ["fdatasync"]:
                    return round(float(line.split()[1]))
        finally:
            program.kill()
    return None


# -- verifying


async def _verifying(server: Server) -> list[Told]:
    """A complete log of real debates' records, written down by the exporter and verified as an examiner would."""
    async with Database.open(server.service) as database:
        log, key = await a_log_of_records(database, server.admin, RECORDS)
        path, logs = server.settings.data_dir / "export.jsonl", CurrentLogs(database, "localhost")
        begun = time.perf_counter()
        reader = Caller(tenant=log.split("/")[1])
        with path.open("wb") as file:
            async for chunk in await export(database, logs, log, Filters(), reader, a_writer("bench")):
                file.write(chunk)
        exported = time.perf_counter() - begun
        begun = time.perf_counter()
        checked = await SelfCheck(database, logs, a_writer("bench"), 0).check(log)
        recomputed = time.perf_counter() - begun
    if checked is None or checked.findings:
        raise RuntimeError(f"expected a log without a finding, found {checked}")
    count, hashes, replay = checked.size, _verified(path, key, replay=False), _verified(path, key, replay=True)
    about = f"{count:,} exported records of {path.stat().st_size / count:,.0f} bytes"
    path.unlink()
    rate = count / hashes
    return [
        (f"verify: {about}, hashes to tree", f"{rate:,.0f}/s", "limit 50,000/s", f"{rate / 50_000:.2f}"),
        _beside("verify: the same, with moves, charges and outcomes", count / replay, "hashes alone", rate),
        _beside("verify: the self-check, from the database", count / recomputed, "hashes alone", rate),
        _beside("verify: writing that export", count / exported, "verifying it", rate),
    ]


def _beside(what: str, rate: float, peer: str, theirs: float) -> Told:
    return what, f"{rate:,.0f}/s", f"{peer} {theirs:,.0f}/s", f"{rate / theirs:.2f}"


def _verified(path: Path, key: PublicKey, *, replay: bool) -> float:
    """CPU seconds of the verifier over a file that holds."""
    begun = time.process_time()
    with path.open("rb") as lines:
        report = verify_export(lines, Trust((key,), allow_unwitnessed=True), replay=replay)
    taken = time.process_time() - begun
    if report.failed:
        raise RuntimeError(f"expected an export that verifies, found {report.failed[0]}")
    return taken


# -- proving


async def _proving(server: Server) -> list[Told]:
    """Inclusion proofs out of a log of a million leaves, of leaves drawn at random."""
    begun = time.perf_counter()
    log = a_log_of_hashes(server.admin, LEAVES)
    made = time.perf_counter() - begun
    drawn = random.Random(5).choices(range(LEAVES), k=PROOFS)
    waits, paths = [], []
    async with Database.open(server.service) as database:
        head = await latest_checkpoint(database, "hashes", log)
        if head is None:
            raise RuntimeError(f"expected a checkpoint of the log {log} that was made, found none")
        for index in drawn:
            begun = time.perf_counter()
            paths.append(await inclusion(database, "hashes", log, index, LEAVES))
            waits.append(1_000 * (time.perf_counter() - begun))
    begun = time.perf_counter()
    for index, path in zip(drawn, paths, strict=True):
        verify_inclusion(leaf_hash(index.to_bytes(8, "big")), index, LEAVES, path, head.root)
    each = (time.perf_counter() - begun) / PROOFS * 1e6
    slow = _percentile(waits, 0.99)
    return [
        (
            f"proof: in {LEAVES:,} leaves (made in {made:.0f} s), p50 and p99",
            f"{_percentile(waits, 0.5):.2f} and {slow:.2f} ms",
            "limit 5 ms",
            f"{slow / 5:.2f}",
        ),
        (
            "proof: one verified",
            f"{each:.0f} us",
            f"made and read in {1_000 * _percentile(waits, 0.5):.0f} us",
            f"{each / (1_000 * _percentile(waits, 0.5)):.3f}",
        ),
    ]


def _percentile(values: Sequence[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


if __name__ == "__main__":
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for row in measure():
        print("  |  ".join(row))
