"""Every route by every role, over HTTP with real keys: who is let in is what the table of roles says, and nothing else.

A route without a row in `REQUESTS` fails. The expected answer of a cell follows from `service/identity/roles.py` and
from the operation's scope; the answer of the server is what came over the wire.

    caller     each role, one without a role, and those without a valid key: none, unknown, revoked, expired
    webhook    its own, one of another subject of its tenant, one of another tenant
    evaluation of its own tenant, of another
    case       its own, one that is assigned to it, one of another subject of its tenant, one of another tenant
    log        of its own tenant, of another
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal

import httpx
import pytest
import pytest_asyncio

from service.identity.roles import EVERY_CALLER, GRANTS, ROLES, SERVICE_WIDE, Reach, Role
from service.web.api import HANDLERS
from service.web.docs import docs_version
from service.web.middleware import route_of
from service.web.operation import Answer, Operation
from service.web.operations import OPERATIONS
from tests.fixtures.callers import Known, Registers, identity_file
from tests.fixtures.evaluating import a_plan, give_sets
from tests.fixtures.postgres import Database
from tests.fixtures.serving import Served, a_case, a_declined_case, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

Whose = Literal["own", "assigned", "foreign", "other"]
"""A case of the caller, one assigned to it, one of another subject of its tenant, one of another tenant."""
WHOSE: tuple[Whose, ...] = ("own", "assigned", "foreign", "other")
STRANGERS = ("none", "unknown", "revoked", "expired")
UNKNOWN = "gainsay_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf3RhTzs"
CITATIONS = {"sources": [{"id": "A", "text": "no more than 30 days of fees"}], "citations": []}
KEY = {"name": "of the matrix", "days": 1}
CHAT = {
    "model": "gainsay/ballot",
    "messages": [{"role": "user", "content": "Does the limit hold?"}],
    "metadata": {"taskType": "contract", "estimatedDownside": "1", "confidenceScore": "0.99"},
}
"""A chat request that the gate declines."""
PLAN = a_plan("critic")
"""A plan that asks a tiny set of critics."""
GATE = {"taskType": "contract", "estimatedDownside": 100_000, "confidenceScore": 0.7}


@dataclass(frozen=True)
class Request:
    """A request that the service answers to a caller that may send it. ``of`` has the body of single callers.

    ``lines`` is a body of JSON Lines.
    """

    json: Any = None
    lines: str | None = None
    query: str = ""
    of: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)


REQUESTS: Mapping[str, Request] = {
    "submitCase": Request(json=a_declined_case()),
    "listDebates": Request(),
    "readDebate": Request(),
    "followDebate": Request(),
    "abortDebate": Request(),
    "readReport": Request(),
    "listDocuments": Request(),
    "createBatch": Request(lines=json.dumps(a_declined_case()), query="?ceilingUSD=1"),
    "listBatches": Request(),
    "readBatch": Request(),
    "batchResults": Request(),
    "abortBatch": Request(),
    "registerEvaluation": Request(json={"plan": PLAN}),
    "listEvaluations": Request(),
    "listEvaluationSets": Request(),
    "readEvaluation": Request(),
    "followEvaluation": Request(),
    "stopEvaluation": Request(),
    "readEvaluationReport": Request(),
    "exportEvaluation": Request(),
    "readDocument": Request(parts={"document": a_case()["documents"][0]["id"]}),
    "readBundle": Request(),
    "listKeys": Request(),
    "listLogs": Request(),
    "readCheckpoint": Request(),
    "proveRecord": Request(parts={"record": "0"}),
    "proveConsistency": Request(query="?from=1"),
    "readTile": Request(parts={"path": "0/000.p/1"}),
    "exportRecords": Request(query="?format=csv"),
    "recall": Request(query="?model=alder-large"),
    "decide": Request(json=GATE),
    "quoteCase": Request(json=a_case()),
    "checkCitations": Request(json=CITATIONS),
    "listPrompts": Request(),
    "listModels": Request(),
    "createChatCompletion": Request(json=CHAT),
    "readChatModel": Request(parts={"model": "gainsay/auto"}),
    "readPolicy": Request(),
    "readBudget": Request(),
    "readCaller": Request(),
    "issueApiKey": Request(json=KEY | {"roles": ["operator"]}, of={"administrator": KEY | {"roles": ["scrape"]}}),
    "listApiKeys": Request(),
    "readApiKey": Request(),
    "rotateApiKey": Request(json={"days": 1}),
    "revokeApiKey": Request(),
    "listSubjects": Request(),
    "readSubject": Request(),
    "revokeSubject": Request(),
    "createTenant": Request(json={"name": "made", "firstOperator": {"name": "Ada", "days": 1}}),
    "listTenants": Request(),
    "listReviewers": Request(),
    "assignReviewer": Request(),
    "removeReviewer": Request(),
    "createWebhook": Request(json={"url": "https://8.8.8.8/hook"}),
    "listWebhooks": Request(),
    "readWebhook": Request(),
    "rotateWebhook": Request(),
    "disableWebhook": Request(),
    "enableWebhook": Request(),
    "testWebhook": Request(),
    "listWebhookDeliveries": Request(),
    "redeliverWebhook": Request(),
    "landing": Request(),
    "listProblems": Request(),
    "readProblem": Request(parts={"code": "forbidden"}),
    "docs": Request(),
    "docsFile": Request(parts={"version": docs_version(), "name": "page.css"}),
    "alive": Request(),
    "ready": Request(),
    "metrics": Request(),
    "openapi": Request(),
    "openapi30": Request(),
}
"""A row for each route. An operation that is added needs one."""


@dataclass(frozen=True)
class Cell:
    """A request of a caller: its operation, and whose case or log it names, if it names one."""

    operation: Operation
    caller: str
    whose: Whose | None

    def __str__(self) -> str:
        return f"{self.operation.id} by {self.caller}{f', {self.whose}' if self.whose else ''}"


@dataclass
class Stage:
    """The service, the callers by name, and the debates: those of all, and each caller's own."""

    site: Served
    callers: dict[str, Known | None]
    debates: dict[Whose, str]
    own: dict[str, str]
    named: dict[str, Known]
    endpoints: dict[str, dict[str, str]]
    evaluations: dict[str, str]
    """An evaluation of the tenant, ``own``, and one of the ``other``."""
    batches: dict[str, str]
    """The batches of submitters, and of callers, by their names."""

    def path(self, cell: Cell) -> str | None:
        """The address of a cell; ``None`` for the own case of a caller that may submit none."""
        request = REQUESTS[cell.operation.id]
        parts = dict(request.parts)
        if "{debate}" in cell.operation.path:
            assert cell.whose is not None
            debate = self.own.get(cell.caller) if cell.whose == "own" else self.debates[cell.whose]
            if debate is None:
                return None
            parts["debate"] = debate
        if "{webhook}" in cell.operation.path:
            endpoint = self.endpoints.get(cell.caller if cell.whose == "own" else str(cell.whose))
            if endpoint is None:
                return None
            parts |= endpoint
        if "{batch}" in cell.operation.path:
            batch = self.batches.get(cell.caller if cell.whose == "own" else str(cell.whose))
            if batch is None:
                return None
            parts["batch"] = batch
        if "{evaluation}" in cell.operation.path:
            parts["evaluation"] = self.evaluations[str(cell.whose)]
        of = self.named["wide" if cell.caller in SERVICE_WIDE else "tenant's"]
        parts |= {"key": of.key, "subject": of.subject}
        if "{debate}" in cell.operation.path:
            parts["subject"] = self.named["reviewer"].subject
        if "{tenant}" in cell.operation.path:
            parts |= {"host": "localhost", "tenant": "other" if cell.whose == "other" else "default", "epoch": "1"}
        return cell.operation.path.format(**parts) + request.query


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    identity = identity_file(tmp_path_factory.mktemp("identity"))
    async with served(module_database.service_url, GAINSAY_IDENTITY=identity) as site:
        registers = Registers(module_database)
        await registers.add_tenant("other")
        callers: dict[str, Known | None] = {"none": None}
        for role in ROLES:
            callers[role] = await registers.issue(role, tenant=None if role in SERVICE_WIDE else "default")
        callers["no role"] = await registers.issue("retired")  # a role of another version grants nothing
        callers["revoked"] = await registers.issue(*ROLES[:5])
        callers["expired"] = await registers.issue(*ROLES[:5], seconds=-1)
        revoked = callers["revoked"]
        assert revoked is not None
        await registers.revoke(revoked)
        submitters = {
            "foreign": await registers.issue("requester"),
            "assigned": await registers.issue("requester"),
            "other": await registers.issue("requester", tenant="other"),
        }
        debates: dict[Whose, str] = {}
        own: dict[str, str] = {}
        batches: dict[str, str] = {}
        for whose, known in submitters.items():
            debates[whose] = await _finished(site, known)  # type: ignore[index]
            batches[whose] = await _brought(site, known)
        for role in ROLES:
            holder = callers[role]
            assert holder is not None
            if "case.submit" in GRANTS[role]:
                own[role] = await _finished(site, holder)
                batches[role] = await _brought(site, holder)
            if holder.tenant:
                await registers.assign(debates["assigned"], holder)
        named = {
            "wide": await registers.issue("scrape", tenant=None),
            "tenant's": await registers.issue("operator"),
            "reviewer": await registers.issue("reviewer"),
        }
        managing = {role: callers[role] for role in ROLES if "webhook.manage" in GRANTS[role]}
        endpoints = {
            name: await _endpoint(site, holder)
            for name, holder in [*managing.items(), *submitters.items()]
            if holder is not None
        }
        give_sets(site.app)
        validators = {"own": callers["validator"], "other": await registers.issue("validator", tenant="other")}
        evaluations = {whose: await _evaluated(site, known) for whose, known in validators.items() if known}
        yield Stage(site, callers, debates, own, named, endpoints, evaluations, batches)


async def _endpoint(site: Served, known: Known) -> dict[str, str]:
    """An endpoint of a caller's with a message."""
    answer = await site.http.post("/v1/webhooks", json={"url": "https://8.8.8.8/hook"}, headers=known.headers)
    assert answer.status_code == 201, answer.text
    made = await site.http.post(f"{answer.headers['location']}/test", headers=known.headers)
    return {"webhook": answer.json()["webhook"]["webhook"], "delivery": made.json()["delivery"]}


async def _finished(site: Served, known: Known) -> str:
    answer = await site.http.post(
        "/v1/debates", json=a_case(), headers={"prefer": "wait=30", **known.headers}, timeout=60
    )
    assert answer.status_code == 200, answer.text
    return str(answer.json()["debateId"])


async def _brought(site: Served, known: Known) -> str:
    answer = await site.http.post(
        "/v1/batches?ceilingUSD=1",
        content=json.dumps(a_declined_case()),
        headers={"content-type": "application/jsonl", **known.headers},
    )
    assert answer.status_code == 202, answer.text
    return str(answer.json()["batchId"])


async def _evaluated(site: Served, known: Known) -> str:
    """An evaluation that has come to its end."""
    answer = await site.http.post("/v1/evaluations", json={"plan": PLAN}, headers=known.headers)
    assert answer.status_code == 202, answer.text
    stream = await site.http.get(f"{answer.headers['location']}/events", headers=known.headers, timeout=120)
    assert "event: evaluation.concluded" in stream.text
    return str(answer.json()["evaluationId"])


def cells(stage: Stage) -> Iterator[Cell]:
    """Every cell of the matrix."""
    for operation, caller in product(OPERATIONS, [*stage.callers, "unknown"]):
        if "{debate}" in operation.path:
            yield from (Cell(operation, caller, whose) for whose in WHOSE)
        elif "{webhook}" in operation.path:
            yield from (Cell(operation, caller, whose) for whose in ("own", "foreign", "other"))
        elif "{batch}" in operation.path:
            yield from (Cell(operation, caller, whose) for whose in WHOSE if whose != "assigned")
        elif "{tenant}" in operation.path or "{evaluation}" in operation.path:
            yield from (Cell(operation, caller, whose) for whose in ("own", "other"))
        else:
            yield Cell(operation, caller, None)


def expected(cell: Cell) -> int:
    """What the table says: success, 401, 403 or 404."""
    scope, success = cell.operation.scope, min(cell.operation.answers)
    if scope == "public":
        return success
    if cell.caller in STRANGERS:
        return 401
    far: Reach | None = {**EVERY_CALLER, **GRANTS.get(cell.caller, {})}.get(scope)  # type: ignore[call-overload]
    if far is None or (cell.operation.whole and far != "tenant"):
        return 403
    if cell.whose == "other":
        return 404
    if cell.whose and "{tenant}" not in cell.operation.path and far != "tenant":
        return success if cell.whose == far else 404
    return success


async def test_every_route_has_an_operation_and_every_operation_a_row() -> None:
    routes = {
        (str(method), route_of(path))
        for handler in HANDLERS
        for path in handler.paths
        for method in handler.http_methods
    }

    assert routes == {(operation.method.upper(), operation.path) for operation in OPERATIONS}
    assert set(REQUESTS) == {operation.id for operation in OPERATIONS}


async def test_every_route_lets_in_whom_the_table_lets_in_and_no_other(stage: Stage) -> None:
    counts: Counter[int] = Counter()
    wrong = []
    for cell in cells(stage):
        if (path := stage.path(cell)) is None:
            continue
        answer = await _asked(stage, cell, path)
        counts[expected(cell)] += 1
        if answer.status_code != expected(cell):
            wrong.append(f"{cell}: expected {expected(cell)}, found {answer.status_code} {answer.text[:200]}")
        wrong += [f"{cell}: {fault}" for fault in unsafe(answer)]
        if answer.status_code in (401, 403, 404):
            told = answer.json()
            told = told.get("error", told)
            assert told["code"] in ("unauthenticated", "forbidden", "not_found"), str(cell)
            assert ("www-authenticate" in answer.headers) == (answer.status_code != 404), str(cell)
            assert "Supplier" not in answer.text, f"{cell}: says something of the case"

    let_in = counts[200] + counts[201] + counts[202]
    refused = counts[401] + counts[403] + counts[404]
    print(  # noqa: T201 - the counts are what is shown
        f"\n{len(OPERATIONS)} routes, {len(ROLES)} roles and {len(STRANGERS) + 1} callers without one: "
        f"{counts.total()} cells, {let_in} let in, {refused} refused "
        f"({counts[401]} by 401, {counts[403]} by 403, {counts[404]} by 404), {len(wrong)} not as the table has them"
    )
    assert wrong == []
    assert min(counts[status] for status in (200, 401, 403, 404)) > 20


def unsafe(answer: httpx.Response) -> Iterator[str]:
    """What an answer lacks of the headers that keep it from being sniffed, kept, framed or loaded by others."""
    headers = answer.headers
    fixed = {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
    }
    yield from (f"no {name}: {value}" for name, value in fixed.items() if headers.get(name) != value)
    kept = headers.get("cache-control", "")
    own = kept == "no-store" or (kept.startswith("private") and "Authorization" in headers.get("vary", ""))
    if answer.request.url.path.startswith("/v1/") and not own:
        yield f"a shared cache, or the next caller, may keep it: {kept}, {headers.get('vary')}"
    if any(name.startswith("access-control-") for name in headers):
        yield "other origins may read it"
    if headers.get("content-type", "").startswith("text/html"):
        policy = headers.get("content-security-policy", "")
        strict = ("default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'")
        yield from (f"no {part} in {policy}" for part in strict if part not in policy)
        yield from (f"{part} in {policy}" for part in ("unsafe", "*", "http") if part in policy)


async def test_pages_of_html_are_among_what_is_walked(stage: Stage) -> None:
    auditor = stage.callers["auditor"]
    assert auditor is not None
    pages = [
        operation.path for operation in OPERATIONS if "text/html" in operation.answers.get(200, Answer("")).content
    ]
    found = {}
    for path in pages:
        address = path.format(debate=stage.debates["foreign"], code="forbidden", evaluation=stage.evaluations["own"])
        answer = await stage.site.http.get(address, headers=auditor.headers | {"accept": "text/html"})
        assert answer.headers["content-type"].startswith("text/html"), path
        found[path] = [*unsafe(answer)]

    reports = ("/v1/debates/{debate}/report", "/v1/evaluations/{evaluation}/report")
    assert found == {path: [] for path in (*reports, "/problems", "/problems/{code}", "/docs")}


async def _asked(stage: Stage, cell: Cell, path: str) -> httpx.Response:
    known = stage.callers.get(cell.caller)
    headers = known.headers if known else {"authorization": f"Bearer {UNKNOWN}"} if cell.caller == "unknown" else {}
    request = REQUESTS[cell.operation.id]
    if request.lines is not None:
        typed = {**headers, "content-type": "application/jsonl"}
        return await stage.site.http.post(path, content=request.lines, headers=typed)
    sent = request.of.get(cell.caller, request.json)
    if cell.operation.id == "assignReviewer":
        sent = {"subject": stage.named["reviewer"].subject}
    return await stage.site.http.request(cell.operation.method.upper(), path, json=sent, headers=headers)


@pytest.mark.parametrize("role", [role for role in ROLES if "case.read" in GRANTS[role]])
async def test_a_list_has_the_cases_that_its_caller_reaches_and_counts_no_others(stage: Stage, role: Role) -> None:
    known, far = stage.callers[role], GRANTS[role]["case.read"]
    assert known is not None
    within: dict[Reach, set[str]] = {
        "own": {stage.own[role]} if role in stage.own else set(),
        "assigned": {stage.debates["assigned"]},
        "tenant": {stage.debates["foreign"], stage.debates["assigned"], *stage.own.values()},
    }
    for query in ("", "&taskType=contract", "&q=uncapped", "&sort=-spentUSD", "&status=completed"):
        asked = f"/v1/debates?limit=100&purpose=decision&facets=taskType{query}"
        answer = await stage.site.http.get(asked, headers=known.headers)
        told = answer.json()
        found = {item["debateId"] for item in told["debates"] if item["status"] != "declined"}

        assert found == within[far], (query, told)
        assert told["total"]["count"] == len(told["debates"]), (query, told["total"])
        assert stage.debates["other"] not in answer.text
