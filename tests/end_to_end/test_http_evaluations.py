"""Evaluations over HTTP: a plan whole or not at all, its run, stream, report and records, and other tenants."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from io import BytesIO

import httpx
import pytest
import pytest_asyncio

from service.cli.audit.verify import tools
from service.evaluation.scoring.result import result_hash, result_of
from service.evaluation.sets import files
from service.reviews.evaluation_sets import GoldenShelf
from service.verify import export
from service.verify.evaluation_bundle import verify_evaluation
from service.verify.evaluations import Evaluations
from service.verify.steps import Trust
from tests.fixtures.callers import Known, Registers, identity_file
from tests.fixtures.evaluating import GOLDEN, a_plan, give_sets
from tests.fixtures.postgres import Database
from tests.fixtures.readings import kinds
from tests.fixtures.serving import JSON, SIGNING_KEY, Served, events_of, ids_of, served
from tests.fixtures.spending import rows

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.long]
NOWHERE = "/v1/evaluations/01890a5d-ac96-774b-bcce-b302099a8057"
HELD = a_plan("critic").replace('split = "open"', 'split = "held"')


class Stage:
    """A service with identities that has the tiny sets, and its callers by name."""

    def __init__(self, site: Served, callers: dict[str, Known]) -> None:
        self.site, self.callers = site, callers

    async def get(self, path: str, by: str = "validator", **headers: str) -> httpx.Response:
        return await self.site.http.get(path, headers={**self.callers[by].headers, **headers})

    async def post(self, path: str, by: str = "validator", json: JSON | None = None, **headers: str) -> httpx.Response:
        return await self.site.http.post(path, json=json, headers={**self.callers[by].headers, **headers})

    async def ended(self, path: str) -> JSON:
        for _ in range(1200):
            found = await self.get(path)
            assert found.status_code == 200, found.text
            told: JSON = found.json()
            if "retry-after" not in found.headers:  # a stopped one is still to be concluded
                assert told["status"] != "running"
                return told
            assert found.headers["retry-after"] == "1"
            await asyncio.sleep(0.05)
        raise AssertionError(f"the evaluation did not end: {path}")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("identity")
    async with served(module_database.service_url, GAINSAY_IDENTITY=identity_file(folder)) as site:
        give_sets(site.app)
        registers = Registers(module_database)
        await registers.add_tenant("other")
        callers = {role: await registers.issue(role) for role in ("validator", "operator", "auditor", "requester")}
        callers["second"] = await registers.issue("validator")
        callers["other"] = await registers.issue("validator", tenant="other")
        yield Stage(site, callers)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def run(stage: Stage) -> JSON:
    """A plan that was registered and came to its end."""
    answer = await stage.post("/v1/evaluations", json={"plan": a_plan("critic")})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == answer.json()["links"]["self"]
    return await stage.ended(answer.headers["location"])


async def test_a_plan_is_registered_and_comes_to_its_recorded_result(stage: Stage, run: JSON) -> None:
    assert (run["status"], run["planned"], run["asked"], run["scored"]) == ("concluded", 2, 2, 2)
    assert (run["caller"], run["plan"]["seed"]) == (stage.callers["validator"].subject, "tiny")
    assert (run["plan"]["alpha"], run["plan"]["ceilingUSD"]) == (0.05, run["ceilingUSD"]), "as a plan file says them"
    assert [(asked["id"], asked["split"], asked["items"]) for asked in run["sets"]] == [("tiny-critic", "open", 2)]

    report = await stage.get(run["links"]["report"], accept="application/json")
    found = result_of(report.content)
    assert result_hash(found) == run["resultHash"]
    assert json.loads(report.content) == run["result"]
    assert run["finding"] in {finding.outcome for finding in found.findings} | {"inconclusive"}

    tagged = await stage.get(run["links"]["self"])
    known = await stage.get(run["links"]["self"], **{"if-none-match": tagged.headers["etag"]})
    assert (known.status_code, known.content) == (304, b"")


async def test_a_stream_gives_each_entry_and_goes_on_from_any_of_them(stage: Stage, run: JSON) -> None:
    path = run["links"]["events"]
    whole = await stage.get(path)
    events = list(events_of(whole.text))

    assert whole.headers["content-type"].startswith("text/event-stream")
    assert ids_of(whole.text) == list(range(7))
    assert [event.name for event in events] == [event.data["kind"] for event in events]
    assert [events[0].name, events[-1].name] == ["evaluation.registered", "evaluation.concluded"]
    assert (events[1].name, events[1].data["proof"].startswith("c2sp.org/tlog-proof@v1\n")) == (
        "evaluation.proven",
        True,
    )
    assert sorted(event.name for event in events[2:-1]) == ["item.asked"] * 2 + ["item.scored"] * 2
    assert (events[0].data["planHash"], events[-1].data["resultHash"]) == (run["planHash"], run["resultHash"])
    for seen in range(6):
        rest = await stage.get(path, **{"last-event-id": str(seen)})
        assert list(events_of(rest.text)) == events[seen + 1 :], seen
    assert list(events_of((await stage.get(f"{path}?lastEventId=3")).text)) == events[4:]
    over = await stage.get(path, **{"last-event-id": "6"})
    assert (over.status_code, over.content) == (204, b"")
    assert (await stage.get(path, accept="application/json")).status_code == 406


async def test_a_listener_that_came_before_the_end_is_sent_what_one_is_sent_afterwards(stage: Stage) -> None:
    answer = await stage.post("/v1/evaluations", json={"plan": a_plan("pairs")})
    path = answer.json()["links"]["events"]
    first, headers = b"", stage.callers["validator"].headers
    async with stage.site.http.stream("GET", path, headers=headers) as live:
        async for chunk in live.aiter_bytes():
            first += chunk
            if b"id: 1\n" in first:  # cut off in the middle
                break
    whole, _, _ = first.decode().rpartition("\n\n")
    seen = list(events_of(whole))
    rest = await stage.get(path, **{"last-event-id": str(seen[-1].id)})
    afterwards = await stage.get(path)

    assert [*seen, *events_of(rest.text)] == list(events_of(afterwards.text))
    assert afterwards.text.count("event: evaluation.concluded") == 1


async def test_a_report_comes_as_a_page_with_plots_and_as_text(stage: Stage, run: JSON) -> None:
    page = await stage.get(run["links"]["report"], accept="text/html")
    text = await stage.get(run["links"]["report"], accept="text/markdown")

    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert "<svg" in page.text
    for words in ("Simulated models", "Does the measuring work?"):
        assert words in page.text
        assert words in text.text
    assert (await stage.get(run["links"]["report"], accept="image/png")).status_code == 406


async def test_a_report_comes_as_a_pdf_on_the_paper_that_is_asked_for(stage: Stage, run: JSON) -> None:
    path, boxes = run["links"]["report"], set[bytes]()
    for paper in ("a4", "letter"):
        answer = await stage.get(f"{path}?paper={paper}", accept="application/pdf")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf"), answer.text
        assert answer.headers["cache-control"] == "no-store"
        assert answer.content.startswith(b"%PDF-")
        boxes |= set(re.findall(rb"/MediaBox\s*\[[^\]]*\]", answer.content))
    wrong = await stage.get(f"{path}?paper=a3", accept="application/pdf")

    assert len(boxes) == 2, boxes
    assert (wrong.status_code, wrong.json()["code"]) == (400, "bad_request"), wrong.text


async def test_the_records_verify_offline_with_the_set_and_a_changed_score_does_not(stage: Stage, run: JSON) -> None:
    answer = await stage.get(run["links"]["audit"])
    assert answer.status_code == 200, answer.text
    lines = answer.content.splitlines(keepends=True)
    golden = files.load(GOLDEN / "tiny-critic", datetime.now(UTC).date())
    trust = Trust((SIGNING_KEY.public,), allow_unwitnessed=True, records_only=True)
    report = export.verify_export(iter(lines), trust, evaluations=Evaluations({"tiny-critic": golden}))

    states = {step.name: step.state for step in report.steps}
    assert "FAILED" not in states.values(), report.steps
    assert states["evaluations"] == "OK", report.steps
    kinds = Counter(json.loads(json.loads(line)["leaf"])["kind"] for line in lines[1:-1])
    assert [kinds[kind] for kind in ("evaluation.registered", "item.scored", "case.received")] == [1, 2, 2]
    at = next(i for i, line in enumerate(lines) if b"item.scored" in line and b"flawed" in line)
    lines[at] = lines[at].replace(rb"\"points\":", rb"\"points\":1", 1)
    spoilt = export.verify_export(iter(lines), trust, evaluations=Evaluations({"tiny-critic": golden}))
    assert "FAILED" in {step.state for step in spoilt.steps}


async def test_the_bundle_verifies_by_itself_and_has_labels_for_those_who_may_read_them(
    stage: Stage, run: JSON
) -> None:
    trust = Trust((SIGNING_KEY.public,), allow_unwitnessed=True)
    for role, code, left in (("validator", 0, ()), ("auditor", 0, ()), ("operator", 4, ("evaluations",))):
        answer = await stage.get(run["links"]["audit"], role, accept="application/zip")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip"), answer.text
        assert answer.headers["content-disposition"].endswith('.zip"')
        report = verify_evaluation(BytesIO(answer.content), trust, tools())
        assert (report.code, tuple(gap.name for gap in report.gaps)) == (code, left), report.steps
    refused = await stage.get(run["links"]["audit"], "requester", accept="application/zip")
    assert refused.status_code == 403


async def test_head_gives_out_no_evidence_of_an_evaluation_and_records_none(
    stage: Stage, run: JSON, module_database: Database
) -> None:
    asked = (
        (run["links"]["audit"], "application/jsonl"),
        (run["links"]["audit"], "application/zip"),
        (run["links"]["events"], "text/event-stream"),
    )
    before = kinds(module_database)
    heads = [
        await stage.site.http.head(path, headers={**stage.callers["validator"].headers, "accept": accept})
        for path, accept in asked
    ]

    assert kinds(module_database) == before
    for head, (path, accept) in zip(heads, asked, strict=True):
        assert (head.status_code, head.content) == (200, b""), path
        assert ("content-length" in head.headers) == (accept == "application/zip"), "a stream has none, as to GET"
        assert head.headers["content-type"].partition(";")[0] == accept
    await stage.get(run["links"]["audit"], accept="application/zip")
    assert kinds(module_database)["audit.read"] > before["audit.read"]


async def test_every_fault_of_a_plan_is_named_by_its_line_and_nothing_is_recorded(
    stage: Stage, module_database: Database
) -> None:
    before = recorded(module_database)
    text = a_plan().replace("repeats = 1", "repeats = 2").replace("drafts = 3", "drafts = 99").replace("margin", "mar")
    lines = {words: text.splitlines().index(words) + 1 for words in ("repeats = 2", "drafts = 99")}

    answer = await stage.post("/v1/evaluations", json={"plan": text})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_plan"), answer.text
    found = {fault["pointer"]: fault["detail"] for fault in answer.json()["errors"]}
    assert {"/plan/plan/repeats", "/plan/arms/1/drafts", "/plan/plan/mar", "/plan/plan/margin"} <= set(found), found
    assert found["/plan/plan/repeats"].startswith(f"line {lines['repeats = 2']}: plan.repeats: expected an odd number")
    assert found["/plan/arms/1/drafts"].startswith(f"line {lines['drafts = 99']}: arms.2.drafts")
    no_toml = await stage.post("/v1/evaluations", json={"plan": "[plan"})
    assert no_toml.status_code == 422, no_toml.text
    unknown = await stage.post("/v1/evaluations", json={"plan": a_plan(), "sets": []})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "wrong_shape")
    absent = await stage.post(
        "/v1/evaluations", json={"plan": a_plan("critic").replace("tiny-critic", "set-of-a-folder")}
    )
    assert "there is no set 'set-of-a-folder'" in absent.text
    assert recorded(module_database) == before


async def test_a_plan_sent_again_under_its_key_is_no_second_evaluation(stage: Stage, module_database: Database) -> None:
    key = {"idempotency-key": '"one plan"'}
    sent = {"plan": a_plan("critic").replace('seed = "tiny"', 'seed = "keyed"')}
    first, *others = await asyncio.gather(*(stage.post("/v1/evaluations", json=sent, **key) for _ in range(4)))
    before = recorded(module_database)

    assert {answer.status_code for answer in (first, *others)} == {202}, [answer.text for answer in others]
    assert {answer.headers["location"] for answer in (first, *others)} == {first.headers["location"]}
    assert sum("idempotency-replayed" in answer.headers for answer in (first, *others)) == 3
    other = await stage.post("/v1/evaluations", json={"plan": a_plan("critic")}, **key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    foreign = await stage.post("/v1/evaluations", "second", json=sent, **key)
    assert (foreign.status_code, foreign.json()["code"]) == (422, "idempotency_key_reused")
    assert first.json()["evaluationId"] not in foreign.text
    assert recorded(module_database) == before


async def test_a_stop_is_recorded_once_and_what_was_asked_is_concluded(stage: Stage) -> None:
    plan = a_plan("questions").replace('seed = "tiny"', 'seed = "stopped"')
    path = (await stage.post("/v1/evaluations", json={"plan": plan})).headers["location"]

    stopped = await stage.post(f"{path}/stop", json={"reason": "the wrong model"})
    again = await stage.post(f"{path}/stop", "operator")
    told = await stage.ended(path)

    assert stopped.json()["stopped"] == again.json()["stopped"] == {"by": "person", "why": "the wrong model"}
    assert told["status"] == "concluded"
    assert told["asked"] == told["scored"] < told["planned"]
    names = [event.name for event in events_of((await stage.get(f"{path}/events")).text)]
    assert names.count("evaluation.stopped") == 1
    over = await stage.post(f"{path}/stop", json={"reason": "too late"})
    assert over.json()["stopped"]["why"] == "the wrong model"


async def test_there_is_no_report_before_the_end(stage: Stage) -> None:
    plan = a_plan("critic").replace('seed = "tiny"', 'seed = "waits"')
    desk, feeder = stage.site.app.evaluations, stage.site.app.evaluating
    shelf, feeder.desk.shelf = feeder.desk.shelf, GoldenShelf()  # the feeder was not given the set, so it waits
    path = (await stage.post("/v1/evaluations", json={"plan": plan})).headers["location"]
    refused = await stage.get(f"{path}/report")
    feeder.desk.shelf = shelf

    assert (refused.status_code, refused.json()["code"]) == (409, "not_concluded"), refused.text
    assert desk.shelf is shelf
    await stage.ended(path)
    assert (await stage.get(f"{path}/report")).status_code == 200


async def test_another_tenant_sees_nothing_of_an_evaluation(stage: Stage, run: JSON) -> None:
    here = run["links"]["self"]
    for path in (here, NOWHERE):
        for answer in (
            *[await stage.get(f"{path}{rest}", "other") for rest in ("", "/events", "/report", "/audit")],
            await stage.post(f"{path}/stop", "other"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), answer.text
    assert (await stage.get("/v1/evaluations", "other")).json() == {"evaluations": []}


async def test_pages_of_the_list_have_each_evaluation_once(stage: Stage, run: JSON) -> None:
    whole = (await stage.get("/v1/evaluations?limit=100")).json()["evaluations"]
    found, after = list[str](), ""
    while True:
        page = await stage.get(f"/v1/evaluations?limit=1{after}", "auditor")
        found += [one["evaluationId"] for one in page.json()["evaluations"]]
        if "next" not in page.json():
            break
        after = f"&after={page.json()['next']}"
        assert page.headers["link"] == f'</v1/evaluations?limit=1{after}>; rel="next"'

    assert found == [one["evaluationId"] for one in whole]
    assert found == sorted(found, reverse=True)
    assert run["evaluationId"] in found


async def test_the_sets_at_hand_are_listed_with_looks_and_without_items_and_labels(stage: Stage) -> None:
    listed = {found["id"]: found for found in (await stage.get("/v1/evaluation-sets")).json()["sets"]}
    tiny, golden = listed["tiny-critic"], files.load(GOLDEN / "tiny-critic", datetime.now(UTC).date())

    assert {id for id, found in listed.items() if found["shipped"]} == files.shipped_ids()
    assert list(listed) == sorted(listed)
    assert (tiny["sha256"], tiny["version"], tiny["kind"]) == (golden.hash, golden.manifest.version, "critic")
    splits = {split: len(golden.asked.active(split)) for split in ("open", "held")}
    assert (tiny["splits"], tiny["shipped"], tiny["retired"]) == (splits, False, len(golden.manifest.retired))
    assert tiny["provenance"].startswith("labels by construction, by ")
    text = (await stage.get("/v1/evaluation-sets", "auditor")).text
    for item in golden.asked.items:
        label = golden.sealed[item.id]
        assert not [words for words in (f'"{item.id}"', item.question, label.note) if words and words in text]
    assert (await stage.get("/v1/evaluation-sets", "requester")).status_code == 403
    assert (await stage.get("/v1/evaluation-sets?split=held")).status_code == 400


async def test_each_look_at_a_held_split_is_counted_for_its_tenant_until_the_set_is_worn(
    stage: Stage, module_database: Database
) -> None:
    async def seen(by: str) -> tuple[int, bool]:
        listed = (await stage.get("/v1/evaluation-sets", by)).json()["sets"]
        (found,) = [each for each in listed if each["id"] == "tiny-pairs"]
        return found["looks"], found["worn"]

    copied = (
        "INSERT INTO gainsay.evaluation (evaluation, tenant, name, subject, role, kind, via, roles, credential, held, "
        "scored, ended) SELECT gen_random_uuid(), 'default', 'n', 's', 'r', 'k', 'v', '{}', '', '{tiny-pairs}', "
        "n <= %s, now() FROM generate_series(1, 12) n RETURNING 1"
    )
    before = await seen("validator")
    rows(module_database, copied, 8)
    eight = await seen("validator")
    rows(module_database, copied, 1)

    assert (before, eight) == ((0, False), (8, False)), "one that has scored nothing has not looked"
    assert await seen("validator") == (9, True), "the tenth look supports no claim"
    assert await seen("other") == (0, False)


async def test_a_held_split_is_a_validators(stage: Stage, module_database: Database) -> None:
    before = recorded(module_database)
    refused = await stage.post("/v1/evaluations", "operator", json={"plan": HELD})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_plan"), refused.text
    assert "the role validator" in refused.text
    for caller in ("requester", "auditor"):
        answer = await stage.post("/v1/evaluations", caller, json={"plan": a_plan("critic")})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), answer.text
    assert recorded(module_database) == before
    held = await stage.post("/v1/evaluations", json={"plan": HELD})
    assert held.status_code == 202, held.text

    path = held.headers["location"]
    assert (await stage.get(path, "operator")).json()["sets"][0]["split"] == "held"
    for part in ("events", "audit"):
        forbidden = await stage.get(f"{path}/{part}", "operator")
        assert (forbidden.status_code, forbidden.json()["code"]) == (403, "forbidden"), forbidden.text
        assert "labels.read" in forbidden.headers["www-authenticate"]
        assert (await stage.get(path + f"/{part}", "requester")).status_code == 403


def recorded(database: Database) -> int:
    """How many evaluations there are."""
    (found,) = rows(database, "SELECT count(*) FROM gainsay.evaluation")[0]
    return int(found)
