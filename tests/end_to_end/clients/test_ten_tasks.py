"""The ten tasks of `docs/calling.md`: each block is run as a program, and what it did is held against the service."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_asyncio

from service import samples
from tests.fixtures.calling_page import ADDRESS, Task, anchor_of, counted, table, tasks
from tests.fixtures.client_drivers import npm_tools
from tests.fixtures.hostile_servers import Cutting, Fault, cutting
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, SIGNING_KEY, Served, a_case, events_of, ids_of, served

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.long]

Working = Callable[[], AbstractAsyncContextManager[Served]]
ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "calling.md"
TASKS = {task.number: task for task in tasks(PAGE)}
CASE = a_case(metadata={"ticket": "LEGAL-31"})
TSC = (
    *("--strict", "--noUncheckedIndexedAccess", "--skipLibCheck", "--target", "es2022", "--types", "node"),
    *("--lib", "es2022,dom,dom.asynciterable", "--module", "nodenext"),
)
PATIENCE_S = 30
LOST = Fault("cutBeforeAnswer")
BUSY = Fault("busy", 0)


class Ran(NamedTuple):
    """A program that has ended: what it printed, and the folder in which it ran."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def words(self) -> str:
        """What it printed, with single blanks in the place of lines and columns."""
        return " ".join(self.out.split())


class Ways:
    """Runs the blocks of a task in some of the ways, side by side, each in a folder of its own."""

    def __init__(self, names: Sequence[str], folder: Path, compiled: Path | None) -> None:
        self.names, self._folder, self._compiled = names, folder, compiled

    async def run(
        self, number: int, addresses: dict[str, str], debates: dict[str, str] | str = "", case: JSON = CASE
    ) -> dict[str, Ran]:
        """What each way did, at its address and with the id of its debate."""
        given = {way: debates if isinstance(debates, str) else debates[way] for way in self.names}
        ran = [self._run(TASKS[number], way, addresses[way], given[way], case) for way in self.names]
        return dict(zip(self.names, await asyncio.gather(*ran), strict=True))

    def folder(self, number: int, way: str) -> Path:
        """Where a block of a task runs, each time."""
        return self._folder / f"{number}-{way}"

    async def _run(self, task: Task, way: str, address: str, debate: str, case: JSON) -> Ran:
        folder = self.folder(task.number, way)
        folder.mkdir(exist_ok=True)
        (folder / "case.json").write_text(json.dumps(case))
        (folder / "log-key.txt").write_text(f"{SIGNING_KEY.public.encode()}\n")
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "GAINSAY_DATA_DIR": str(self._folder / "data"),
            "debate": debate,
        }
        process = await asyncio.create_subprocess_exec(
            *self._program(task, way, address, folder),
            *(() if way in ("curl", "terminal") else (debate,)),
            cwd=folder,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(60):
                out, err = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        return Ran(process.returncode or 0, out.decode(), err.decode(), folder)

    def _program(self, task: Task, way: str, address: str, folder: Path) -> tuple[str, ...]:
        if way == "TypeScript":
            assert self._compiled
            if not (folder / "node_modules").exists():
                (folder / "node_modules").symlink_to(self._compiled / "node_modules")
            text = (self._compiled / f"task-{task.number}.mjs").read_text()
            (folder / "task.mjs").write_text(text.replace(ADDRESS, address))
            return (shutil.which("node") or "node", "task.mjs")
        text = task.blocks[way].replace(ADDRESS, address)
        (folder / f"task.{'py' if way == 'Python' else 'sh'}").write_text(text)
        return (sys.executable, "-W", "error", "task.py") if way == "Python" else ("sh", "task.sh")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(module_database: Database) -> AsyncIterator[Served]:
    """A service whose debates wait for a worker."""
    async with served(module_database.service_url, work=False) as running:
        yield running


@pytest.fixture(scope="module")
def working(module_database: Database) -> Working:
    """A worker for a while: that of another process of the service."""
    return lambda: served(module_database.service_url, sequence=False)


@pytest.fixture(scope="module")
def compiled(node_program: Path, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The blocks in TypeScript, checked strictly and compiled at once; skipped without node."""
    tools, folder = npm_tools(pytestconfig) / "node_modules", tmp_path_factory.mktemp("tasks")
    modules = folder / "node_modules"
    (modules / "@types").mkdir(parents=True)
    (modules / "gainsay-client").symlink_to(node_program.parent / "node_modules" / "gainsay-client")
    for name in ("@types/node", "undici-types"):
        (modules / name).symlink_to(tools / name)
    files = [folder / f"task-{task.number}.mts" for task in TASKS.values()]
    for file, task in zip(files, TASKS.values(), strict=True):
        file.write_text(task.blocks["TypeScript"])
    done = subprocess.run(
        [tools / ".bin" / "tsc", *TSC, *files], cwd=folder, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture(scope="module", params=[("Python", "curl", "terminal"), ("TypeScript",)], ids="-".join)
def ways(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ways:
    """The ways that need no node, and the one that does."""
    typed = request.param == ("TypeScript",)
    if not typed and (missing := [name for name in ("sh", "curl") if not shutil.which(name)]):
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    return Ways(request.param, tmp_path_factory.mktemp("ways"), request.getfixturevalue("compiled") if typed else None)


@asynccontextmanager
async def before(site: Served, names: Sequence[str], *faults: Fault, only: str) -> AsyncIterator[dict[str, Cutting]]:
    """A proxy for each way, whose faults hit the requests with these words in their target."""
    async with AsyncExitStack() as stack:
        found = {name: await stack.enter_async_context(cutting(site.url)) for name in names}
        for proxy in found.values():
            proxy.faults, proxy.only = list(faults), lambda asked: only in f"{asked.method} {asked.target}"
        yield found


def urls(proxies: dict[str, Cutting]) -> dict[str, str]:
    return {name: proxy.url for name, proxy in proxies.items()}


def straight(site: Served, ways: Ways) -> dict[str, str]:
    return dict.fromkeys(ways.names, site.url)


def succeeded(ran: dict[str, Ran]) -> None:
    for way, each in ran.items():
        assert each.code == 0, (way, each.out, each.err)


async def until(holds: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < ends
        await asyncio.sleep(0.02)


async def listed(site: Served, **query: str) -> list[dict[str, Any]]:
    page = (await site.http.get("/v1/debates", params={"limit": 100, **query})).json()
    assert "next" not in page
    debates: list[dict[str, Any]] = page["debates"]
    return debates


async def ids(site: Served) -> set[str]:
    """All debates, which is what is billed."""
    return {each["debateId"] for each in await listed(site)}


async def over(site: Served, debate: str) -> dict[str, Any]:
    ends = time.monotonic() + PATIENCE_S
    while True:
        answer = await site.http.get(f"/v1/debates/{debate}", params={"view": "full"})
        found: dict[str, Any] = answer.json()
        if "decision" in found:
            return found
        assert answer.status_code in (200, 503), answer.text
        assert time.monotonic() < ends, found
        await asyncio.sleep(0.02)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def finished(site: Served, working: Working) -> dict[str, Any]:
    """A whole result. Another one of the same question needs a person, for it has no documents."""
    unfounded = {**samples.load("contract", "convergence").case, "question": CASE["question"], "documents": []}
    async with working():
        found, doubtful = [await over(site, (await site.submit(case))["debateId"]) for case in (CASE, unfounded)]
    assert doubtful["decision"]["humanReview"]["required"]
    return found


async def test_the_table_counts_the_lines_of_the_blocks() -> None:
    told = [(row.number, row.title, row.anchor, row.lines) for row in table(PAGE)]

    counts = [{way: counted(block) for way, block in task.blocks.items()} for task in TASKS.values()]
    assert told == [
        (number, task.title, anchor_of(task), lines)
        for (number, task), lines in zip(TASKS.items(), counts, strict=True)
    ]
    assert list(TASKS) == list(range(1, 11))


async def test_a_case_is_priced_and_nothing_is_recorded(site: Served, ways: Ways) -> None:
    recorded = await listed(site)
    quote = (await site.http.post("/v1/quotes", json=CASE)).json()

    ran = await ways.run(1, straight(site, ways))

    succeeded(ran)
    expected = {
        "Python": f"True {quote['expectedUSD']} {quote['worstUSD']}",
        "TypeScript": f"true {quote['expectedUSD']} {quote['worstUSD']}",
        "curl": f'"debate":true "worstUSD":"{quote["worstUSD"]}"',
        "terminal": f"At most {float(quote['worstUSD']):.4f} USD",
    }
    assert {way: each.words for way, each in ran.items() if expected[way] not in each.words} == {}
    assert await listed(site) == recorded


async def test_a_case_is_one_debate_and_one_bill_though_answers_are_lost(
    site: Served, ways: Ways, working: Working
) -> None:
    known = await ids(site)
    async with before(site, ways.names, LOST, BUSY, LOST, only="POST /v1/debates") as proxies, working():
        ran = await ways.run(2, urls(proxies))

    succeeded(ran)
    assert {tuple(proxy.hit) for proxy in proxies.values()} == {("cutBeforeAnswer", "busy", "cutBeforeAnswer")}
    debate = await recorded_under("LEGAL-31", site)
    assert await ids(site) == known | {debate}
    decision = (await over(site, debate))["decision"]
    shown = {way: each for way, each in ran.items() if way != "curl"}
    assert {way for way, each in ran.items() if decision["outcome"] not in each.out.lower()} == set()
    assert {way for way, each in shown.items() if " ".join(decision["answer"].split()) not in each.words} == set()
    if "curl" in ran:
        assert json.loads((ran["curl"].folder / "answer.json").read_text())["decision"] == decision


async def recorded_under(key: str, site: Served) -> str:
    """The debate of the case under a key, as the case that is sent once more shows."""
    told = await site.http.post("/v1/debates", json=CASE, headers={"idempotency-key": key, "prefer": "wait=30"})
    assert told.headers["idempotency-replayed"] == "true", told.text
    debate: str = told.json()["debateId"]
    return debate


async def test_a_case_is_submitted_and_its_result_read_later(site: Served, ways: Ways, working: Working) -> None:
    def asked(proxy: Cutting) -> list[dict[str, str]]:
        return [each.headers for each in proxy.seen if each.method == "GET" and each.path.startswith("/v1/debates/")]

    known = await ids(site)
    async with before(site, ways.names, LOST, only="POST /v1/debates") as proxies:
        running = asyncio.create_task(ways.run(3, urls(proxies)))
        fewest = {way: 1 if way == "terminal" else 2 for way in ways.names}  # a stream stays, others ask again
        await until(lambda: running.done() or all(len(asked(proxies[way])) >= n for way, n in fewest.items()))
        async with working():
            ran = await running

    succeeded(ran)
    debate = await recorded_under("LEGAL-32", site)
    assert await ids(site) == known | {debate}
    decision = (await over(site, debate))["decision"]
    assert {way for way, each in ran.items() if decision["outcome"] not in each.out.lower()} == set()
    assert {way for way, each in ran.items() if way in ("Python", "TypeScript") and debate not in each.out} == set()
    polling = {way: asked(proxy) for way, proxy in proxies.items() if way != "terminal"}
    assert {
        way for way, requests in polling.items() if any("if-none-match" not in one for one in requests[1:])
    } == set()


@pytest.mark.parametrize(("number", "key"), [(2, "LEGAL-31"), (3, "LEGAL-32")])
async def test_another_case_under_a_used_key_is_refused_with_the_reason(
    site: Served, ways: Ways, number: int, key: str
) -> None:
    taken = (await site.http.post("/v1/debates", json=CASE, headers={"idempotency-key": key})).json()["debateId"]
    known = await ids(site)

    ran = await ways.run(number, straight(site, ways), case={**CASE, "useCase": "another matter"})

    assert {way for way, each in ran.items() if each.code == 0} == set()
    assert {
        way for way, each in ran.items() if f"the key belongs to debate {taken}" not in each.out + each.err
    } == set()
    assert await ids(site) == known


async def test_a_debate_is_followed_across_connections_that_break(site: Served, ways: Ways, working: Working) -> None:
    debate = (await site.submit(CASE))["debateId"]
    cuts = (Fault("cutAnswer", 2_000), Fault("refuse"), Fault("cutAnswer", 9_000))
    async with before(site, ways.names, *cuts, only="/events") as proxies:
        following = asyncio.create_task(ways.run(4, urls(proxies), debate))
        await until(lambda: following.done() or all(proxy.seen for proxy in proxies.values()))
        async with working():
            ran = await following

    succeeded(ran)
    assert {len(proxy.hit) for proxy in proxies.values()} == {len(cuts)}
    whole = (await site.http.get(f"/v1/debates/{debate}/events")).text
    events = numbered(whole)
    for way in {"Python", "TypeScript"} & set(ran):
        assert [tuple(line.split()) for line in ran[way].out.splitlines()] == events, way
    if "curl" in ran:
        kept = (ran["curl"].folder / "events.txt").read_text()
        assert events_of(kept) == events_of(ran["curl"].out) == events_of(whole)
        assert ids_of(kept) == ids_of(whole)
    if "terminal" in ran:
        assert "Completed" in ran["terminal"].err


def numbered(stream: str) -> list[tuple[str, str]]:
    """The events with the id of their entry, which the last event of an entry has."""
    found, last = [], 0
    for each in reversed(events_of(stream)):
        last = each.id or last
        found.append((str(last), each.name))
    return found[::-1]


async def test_the_arguments_are_read_with_what_code_found_of_their_quotations(
    site: Served, ways: Ways, finished: dict[str, Any]
) -> None:
    ran = await ways.run(5, straight(site, ways), finished["debateId"])

    succeeded(ran)
    turns = [each.data for each in await site.events(finished["debateId"]) if each.name == "citations"]
    argued = [(turn["seat"], argument) for turn in turns for argument in turn["arguments"]]
    verdicts = [cited["verdict"] for _, argument in argued for cited in argument.get("citations", ())]
    assert len(verdicts) == sum(finished["citationCounts"][kind] for kind in ("verified", "altered", "notFound")) > 5
    for way in {"Python", "TypeScript"} & set(ran):
        lines = ran[way].words
        assert [
            seat for seat, argument in argued if f"{seat} {' '.join(argument['text'].split())} [" not in lines
        ] == []
        assert lines.count("'verified'") - (way == "Python") == verdicts.count("verified")
    if "curl" in ran:
        folder = ran["curl"].folder
        assert [json.loads(line) for line in (folder / "arguments.jsonl").read_text().splitlines()] == turns
        assert json.loads((folder / "whole.json").read_text()) == finished
    if "terminal" in ran:
        assert [
            seat for seat, argument in argued if " ".join(argument["text"].split()) not in ran["terminal"].words
        ] == []


async def test_a_decision_is_found_again_by_what_is_known_of_it(
    site: Served, ways: Ways, finished: dict[str, Any]
) -> None:
    other = (await site.submit(a_case(question="Is the renewal automatic?", metadata={"ticket": "LEGAL-7"})))[
        "debateId"
    ]
    wanted = [{"metadata": "ticket=LEGAL-31"}, {"q": "uncapped liability"}, {"humanReview": "true"}]
    await site.http.post(f"/v1/debates/{other}/abort")
    await site.http.get(f"/v1/debates/{other}/events")  # until its end is provable: then it is for a person, too
    by_ticket, by_words, for_person = found = [[one["debateId"] for one in await listed(site, **by)] for by in wanted]

    ran = await ways.run(6, straight(site, ways))

    succeeded(ran)
    assert finished["debateId"] in by_ticket
    assert finished["debateId"] not in for_person
    assert set(by_words) & set(for_person), "one without documents"
    assert other not in by_ticket + by_words
    if "Python" in ran:
        *lines, words, person = ran["Python"].out.splitlines()
        assert [line.split()[0] for line in lines] == by_ticket
        assert (words, person) == (f"{len(by_words)} with these words", f"{len(for_person)} for a person")
    if "TypeScript" in ran:
        both = [one for one in by_words if one in for_person]
        assert [line.split()[0] for line in ran["TypeScript"].out.splitlines()] == by_ticket + both
    if "curl" in ran:
        files = ("by-ticket.json", "by-words.json", "for-a-person.json")
        pages = [json.loads((ran["curl"].folder / file).read_text())["debates"] for file in files]
        assert [[one["debateId"] for one in page] for page in pages] == found
    if "terminal" in ran:
        shown = [one[:13] for each in found for one in each]
        assert {one: ran["terminal"].out.count(one) for one in shown} == Counter(shown)


async def test_a_document_and_the_report_are_fetched(site: Served, ways: Ways, finished: dict[str, Any]) -> None:
    ran = await ways.run(7, straight(site, ways), finished["debateId"])

    succeeded(ran)
    for way, each in ran.items():
        assert (each.folder / "agreement.txt").read_text("utf-8") == CASE["documents"][0]["text"], way
        assert (each.folder / "report.pdf").read_bytes().startswith(b"%PDF-"), way


async def test_the_evidence_is_verified_with_a_pinned_key_alone(
    site: Served, ways: Ways, finished: dict[str, Any]
) -> None:
    ran = await ways.run(8, straight(site, ways), finished["debateId"])

    succeeded(ran)
    assert {way: each.out.splitlines()[-1] for way, each in ran.items()} == dict.fromkeys(ran, "VERIFIED, UNWITNESSED")
    assert {way for way, each in ran.items() if finished["debateId"] not in each.out} == set()


async def test_a_debate_is_aborted_before_it_costs_more(site: Served, ways: Ways) -> None:
    debates = {way: (await site.submit(CASE))["debateId"] for way in ways.names}

    ran = await ways.run(9, straight(site, ways), debates)

    succeeded(ran)
    assert {way for way, each in ran.items() if "aborted" not in each.out} == set()
    for debate in debates.values():
        ended = await over(site, debate)
        assert (ended["status"], ended["detail"]) == ("aborted", "the contract was withdrawn")
        assert ended["overallCost"]["spentUSD"] == "0.00"


HEADS = {"Python": "heads.json", "TypeScript": "heads.txt", "curl": "head.txt", "terminal": "head.txt"}
"""What each way keeps of the log."""
ROOT_OF_HEAD = re.compile(r"[A-Za-z0-9+/]{43}=")
REFUSED = {
    "Python": "LogForked",
    "TypeScript": "LogForked",
    "curl": "gainsay: contradicted:",
    "terminal": "gainsay: contradicted:",
}


async def test_a_log_that_contradicts_the_head_that_was_kept_is_noticed(
    site: Served, ways: Ways, finished: dict[str, Any]
) -> None:
    succeeded(await ways.run(10, straight(site, ways)))
    for way in ways.names:
        kept = ways.folder(10, way) / HEADS[way]
        forged, changed = ROOT_OF_HEAD.subn(f"{'A' * 43}=", kept.read_text(), count=1)
        assert changed == 1
        kept.write_text(forged)

    ran = await ways.run(10, straight(site, ways))

    assert {way for way, each in ran.items() if each.code == 0} == set()
    assert {way for way, each in ran.items() if REFUSED[way] not in each.err} == set()
