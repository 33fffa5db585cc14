"""The real answers that the OpenAPI document has as examples: ``python -m tests.vectors.answers`` records them anew.

A debate of the sample contract is run by the simulated models, and each operation is asked once. Ids, times and hashes
differ from run to run, so a test compares the members and not the values (`tests/end_to_end/test_answer_examples.py`).
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec

from service import samples
from service.delivering.signing import shown
from service.identity.api_keys import PATTERN, write_key
from service.web.openapi import document
from tests.fixtures.evaluating import a_plan, give_sets
from tests.fixtures.managing import known
from tests.fixtures.serving import JSON, Served, a_case, a_declined_case

FOLDER = Path(__file__).parents[2] / "service" / "web" / "answers"
WRITE = "GAINSAY_TEST_WRITE_ANSWERS"
"""The variable of the environment with which the test writes what it records."""
LINES = 12
ITEMS = 2
TENANT = {"name": "bank"}
RECEIVER, NO_SECRET = "8.8.8.8", shown(bytes(range(32)))
NO_KEY = write_key(bytes(range(32)))
"""A key that no service accepts, in the place of each that was issued."""


class Recorded(NamedTuple):
    """An example: the name of its file, and what is in it."""

    file: str
    content: bytes


async def recorded(site: Served) -> AsyncIterator[Recorded]:
    """Every example, from a service that has run nothing yet."""
    http, case = site.http, a_case()
    yield _json("submitCase.200.finished", await http.post("/v1/debates", json=case, headers={"prefer": "wait=60"}))
    debate = (await http.get("/v1/debates")).json()["debates"][0]["debateId"]
    here = f"/v1/debates/{debate}"
    yield _json("submitCase.200.declined", await http.post("/v1/debates", json=a_declined_case()))
    yield _json("submitCase.202.queued", queued := await http.post("/v1/debates", json=samples.load("security").case))
    await http.get(f"{queued.headers['location']}/events")
    yield _json("listDebates.200.page", await http.get("/v1/debates?limit=2"))
    yield _json("listDebates.200.counted", await http.get("/v1/debates?limit=1&facets=outcome"))
    yield _json("readDebate.200.summary", await http.get(here))
    yield _json("listDocuments.200.documents", listed := await http.get(f"{here}/documents"))
    text = await http.get(listed.json()["documents"][0]["href"])
    yield Recorded("readDocument.200.beginning.txt", _beginning(text.text))
    yield Recorded("followDebate.200.beginning.events", _events((await http.get(f"{here}/events")).text))
    yield _json("abortDebate.200.over", await http.post(f"{here}/abort"))
    report = await http.get(f"{here}/report", headers={"accept": "text/markdown"})
    yield Recorded("readReport.200.beginning.md", _beginning(report.text))
    async for one in _of_the_log(http, debate):
        yield one
    async for one in _of_the_registers(site, debate):
        yield one
    async for one in _of_webhooks(http):
        yield one
    gate = {name: case[name] for name in ("taskType", "estimatedDownside", "confidenceScore")}
    yield _json("decide.200.debate", await http.post("/v1/gate", json=gate))
    yield _json("quoteCase.200.quote", await http.post("/v1/quotes", json=case))
    yield _json("checkCitations.200.altered", await http.post("/v1/citations/check", json=_body("/v1/citations/check")))
    yield _json("listPrompts.200.beginning", await http.get("/v1/prompts"), "prompts")
    yield _json("listModels.200.beginning", await http.get("/v1/models"), "models")
    yield _json("readPolicy.200.policy", await http.get("/v1/policy"))
    yield _json("readBudget.200.limited", await http.get("/v1/budget"))
    chat = await http.post("/v1/chat/completions", json=_body("/v1/chat/completions"))
    yield _json("createChatCompletion.200.decision", chat)
    yield _json("readChatModel.200.format", await http.get("/v1/models/gainsay/adversarial"))
    as_json = {"accept": "application/json"}
    yield _json("listProblems.200.beginning", await http.get("/problems", headers=as_json), "problems")
    yield _json("readProblem.200.problem", await http.get("/problems/queue_full", headers=as_json))
    yield Recorded("landing.200.line.txt", (await http.get("/")).content)
    yield _json("alive.200.alive", await http.get("/livez"))
    yield _json("ready.200.ready", await http.get("/readyz"))
    yield Recorded("metrics.200.beginning.txt", _beginning((await http.get("/metrics")).text))
    async for one in _of_a_batch(http, case):
        yield one
    async for one in _of_an_evaluation(site):
        yield one


async def _of_a_batch(http: httpx.AsyncClient, case: JSON) -> AsyncIterator[Recorded]:
    """A batch of a case that is debated and one that the gate declines."""
    lines = [{"key": "contract 4711", "case": case}, {"key": "contract 4712", "case": a_declined_case()}]
    made = await http.post(
        "/v1/batches?ceilingUSD=25.00&name=third%20quarter",
        content="".join(f"{json.dumps(line)}\n" for line in lines),
        headers={"content-type": "application/jsonl"},
    )
    yield _json("createBatch.202.stored", made)
    here = made.headers["location"]
    read = await http.get(here)
    for _ in range(600):
        if read.json()["status"] == "ended":
            break
        await asyncio.sleep(0.1)
        read = await http.get(here)
    yield _json("readBatch.200.ended", read)
    yield _json("listBatches.200.page", await http.get("/v1/batches?limit=1"))
    results = await http.get(f"{here}/results")
    yield Recorded("batchResults.200.lines.jsonl", results.content)
    table = await http.get(f"{here}/results", headers={"accept": "text/csv"})
    yield Recorded("batchResults.200.table.csv", table.content)
    yield _json("abortBatch.200.over", await http.post(f"{here}/abort"))


async def _of_an_evaluation(site: Served) -> AsyncIterator[Recorded]:
    """An evaluation of a tiny set of critics."""
    http = site.http
    give_sets(site.app)
    made = await http.post("/v1/evaluations", json={"plan": a_plan("critic")})
    yield _json("registerEvaluation.202.registered", made)
    here = made.headers["location"]
    events = (await http.get(f"{here}/events", timeout=120)).text  # to its end
    yield Recorded("followEvaluation.200.beginning.events", _events(events))
    yield _json("readEvaluation.200.concluded", await http.get(here))
    yield _json("listEvaluations.200.page", await http.get("/v1/evaluations?limit=1"))
    yield _json("listEvaluationSets.200.beginning", await http.get("/v1/evaluation-sets"), "sets")
    yield _json("stopEvaluation.200.over", await http.post(f"{here}/stop"))
    report = await http.get(f"{here}/report", headers={"accept": "text/markdown"})
    yield Recorded("readEvaluationReport.200.beginning.md", _beginning(report.text))
    rows = await http.get(f"{here}/audit")
    yield Recorded("exportEvaluation.200.beginning.jsonl", _beginning(rows.text, ITEMS))


async def _of_the_registers(site: Served, debate: str) -> AsyncIterator[Recorded]:
    """What a service with identities answers on the same database to an administrator, and to a tenant's operator."""
    operator = {"name": "Ada Lovelace", "kind": "person", "days": 90, "roles": ["requester", "auditor", "operator"]}
    async with known(site) as http:
        yield _json("createTenant.201.bank", await http.post("/v1/tenants", json=TENANT | {"firstOperator": operator}))
        yield _json("listTenants.200.tenants", await http.get("/v1/tenants"))
        wanted = operator | {"tenant": "default"}
        first = (await http.post("/v1/keys", json=wanted)).json()["secret"]
        http.headers["authorization"] = f"Bearer {first}"
        yield _json("readCaller.200.operator", await http.get("/v1/caller"))
        yield _json("issueApiKey.201.requester", made := await http.post("/v1/keys", json=_body("/v1/keys")))
        here, of = made.headers["location"], made.json()["issued"]["subject"]
        yield _json("listApiKeys.200.page", await http.get(f"/v1/keys?subject={of}"))
        yield _json("readApiKey.200.valid", await http.get(here))
        yield _json("rotateApiKey.201.both", await http.post(f"{here}/rotate", json={"days": 90, "keepDays": 7}))
        yield _json("revokeApiKey.200.revoked", await http.post(f"{here}/revoke"))
        yield _json("listSubjects.200.page", await http.get(f"/v1/subjects?subject={of}"))
        yield _json("readSubject.200.good", await http.get(f"/v1/subjects/{of}"))
        reviewers = f"/v1/debates/{debate}/reviewers"
        yield _json("assignReviewer.200.assigned", await http.post(reviewers, json={"subject": of}))
        yield _json("listReviewers.200.one", await http.get(reviewers))
        yield _json("removeReviewer.200.none", await http.post(f"{reviewers}/{of}/remove"))
        yield _json("revokeSubject.200.revoked", await http.post(f"/v1/subjects/{of}/revoke"))


async def _of_webhooks(http: httpx.AsyncClient) -> AsyncIterator[Recorded]:
    """An endpoint at an address that needs no look-up, which stands as a name in the examples. Nothing is sent."""
    made = await http.post("/v1/webhooks", json={"url": f"https://{RECEIVER}/gainsay"})
    yield _json("createWebhook.201.endpoint", made)
    here = made.headers["location"]
    yield _json("listWebhooks.200.page", await http.get("/v1/webhooks"))
    yield _json("readWebhook.200.active", await http.get(here))
    yield _json("rotateWebhook.201.both", await http.post(f"{here}/rotate"))
    yield _json("testWebhook.202.waiting", sent := await http.post(f"{here}/test"))
    yield _json("listWebhookDeliveries.200.page", await http.get(f"{here}/deliveries"))
    again = await http.post(f"{here}/deliveries/{sent.json()['delivery']}/redeliver")
    yield _json("redeliverWebhook.202.waiting", again)
    yield _json("disableWebhook.200.disabled", await http.post(f"{here}/disable"))
    yield _json("enableWebhook.200.active", await http.post(f"{here}/enable"))


async def _of_the_log(http: httpx.AsyncClient, debate: str) -> AsyncIterator[Recorded]:
    (log,) = (await http.get("/v1/audit/logs")).json()["logs"]
    here = log["href"]
    yield _json("listKeys.200.keys", await http.get("/v1/audit/keys"))
    yield _json("listLogs.200.logs", await http.get("/v1/audit/logs"))
    for file, path in (
        ("readCheckpoint.200.note", "checkpoint"),
        ("proveRecord.200.proof", f"proof/{debate}.2"),
        ("proveConsistency.200.proof", "consistency?from=1"),
    ):
        yield Recorded(f"{file}.txt", (await http.get(f"{here}/{path}")).content)
    rows = await http.get(f"{here}/records?format=csv")
    yield Recorded("exportRecords.200.beginning.csv", _beginning(rows.text, ITEMS))
    yield _json("recall.200.page", await http.get("/v1/audit/recall?model=alder-large&limit=2"))


def _body(path: str) -> JSON:
    """The first example of a body in the document."""
    content = document()["paths"][path]["post"]["requestBody"]["content"]["application/json"]
    found: JSON = next(iter(content["examples"].values()))["value"]
    return found


def _json(name: str, answer: httpx.Response, cut: str = "") -> Recorded:
    """The answer as a file; of the list ``cut`` only its first items."""
    assert answer.is_success, answer.text
    text = re.sub(PATTERN, NO_KEY, answer.text)
    told: dict[str, Any] = json.loads(re.sub(r"whsec_[^\"]+", NO_SECRET, text).replace(RECEIVER, "hooks.bank.example"))
    if cut:
        told[cut] = told[cut][:ITEMS]
    return Recorded(f"{name}.json", msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n")


def _events(stream: str) -> bytes:
    """The first events, with the lines before them."""
    return ("\n\n".join(islice(stream.split("\n\n"), 4)) + "\n\n").encode()


def _beginning(text: str, lines: int = LINES) -> bytes:
    return "".join(islice(text.splitlines(keepends=True), lines)).encode()


def write(found: list[Recorded]) -> None:
    """Put these examples in the place of those that are there."""
    for old in FOLDER.iterdir():
        old.unlink()
    for one in found:
        (FOLDER / one.file).write_bytes(one.content)


if __name__ == "__main__":
    sys.exit(
        subprocess.call(
            [sys.executable, "-m", "pytest", "--quiet", "--no-header", "tests/end_to_end/test_answer_examples.py"],
            env={**os.environ, WRITE: "1"},
        )
    )
