"""What a calling system does over HTTP: submit, follow, read, list, report. A real server, a real database."""

from __future__ import annotations

import asyncio
import json
from uuid import UUID

import pytest
import pytest_asyncio
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open
from prometheus_client.parser import text_string_to_metric_families as read_plain

from service.audit.bundle import unpack
from service.observing import labelled
from tests.fixtures.serving import JSON, Served, a_case, a_declined_case, events_of, ids_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def finished(site: Served) -> JSON:
    return await site.finished()


async def test_a_submitted_case_is_accepted_and_its_debate_ends_with_the_result_that_is_read(site: Served) -> None:
    accepted = await site.http.post("/v1/debates", json=a_case())
    told = accepted.json()
    events = await site.events(told["debateId"])
    read = await site.http.get(accepted.headers["location"])

    assert accepted.status_code == 202
    assert (told["status"], told["gate"]["debate"]) == ("queued", True)
    assert accepted.headers["location"] == told["links"]["self"] == f"/v1/debates/{told['debateId']}"
    assert int(accepted.headers["retry-after"]) >= 1
    assert UUID(told["debateId"]).version == 7
    assert (events[0].name, events[-1].name) == ("gate", "final")
    assert events[-1].text.startswith(read.text[:-1] + ',"n":'), "what was streamed is what is read, byte for byte"
    assert read.json()["status"] == "completed"
    assert read.json()["view"] == "summary"
    assert len(read.content) < 4_000
    whole = await site.http.get(read.json()["links"]["full"])
    assert whole.json()["view"] == "full"
    assert whole.json()["hashes"]["lastRecord"]
    assert whole.headers["etag"] != read.headers["etag"], "each view has a tag of its own"


async def test_the_ids_of_events_are_the_entry_numbers_without_a_gap(site: Served, finished: JSON) -> None:
    told = (await site.http.get(f"/v1/debates/{finished['debateId']}/events")).text
    events = list(events_of(told))

    assert ids_of(told) == list(range(1, finished["entries"]))
    assert set(ids_of(told)) > {event.id for event in events}, "a check that found nothing has an id and no event"
    assert [event.data["n"] for event in events] == [event.id for event in events]
    assert {event.name for event in events} >= {"gate", "started", "asked", "round", "citations", "synthesis", "final"}


async def test_a_stream_resumed_after_any_event_is_the_tail_of_the_whole(site: Served, finished: JSON) -> None:
    debate = finished["debateId"]
    whole = await site.events(debate)

    for seen in range(whole[-1].id):
        assert await site.events(debate, after=seen) == [event for event in whole if event.id > seen], seen


async def test_the_last_event_may_be_named_in_the_address_and_the_header_counts_first(
    site: Served, finished: JSON
) -> None:
    path = f"/v1/debates/{finished['debateId']}/events?lastEventId=3"

    by_address = await site.http.get(path)
    by_header = await site.http.get(path, headers={"last-event-id": "5"})

    assert by_address.text.split("\n\n")[1].startswith("id: 4\n")
    assert by_header.text.split("\n\n")[1].startswith("id: 6\n")


async def test_a_listener_that_has_seen_the_end_is_told_to_stop(site: Served, finished: JSON) -> None:
    path = f"/v1/debates/{finished['debateId']}/events"

    for seen in (finished["entries"] - 1, finished["entries"] + 1_000):
        answer = await site.http.get(path, headers={"last-event-id": str(seen)})

        assert (answer.status_code, answer.content) == (204, b"")


async def test_two_listeners_see_the_same(site: Served) -> None:
    debate = (await site.submit())["debateId"]

    one, other = await asyncio.gather(site.events(debate), site.events(debate))

    assert one == other
    assert one[-1].name == "final"


async def test_a_declined_case_is_answered_at_once_with_every_rule(site: Served) -> None:
    answer = await site.http.post("/v1/debates", json=a_declined_case())
    told = answer.json()
    events = await site.events(told["debateId"])
    after = await site.http.get(told["links"]["events"], headers={"last-event-id": "1"})

    assert answer.status_code == 200
    assert (told["status"], told["gate"]["debate"], told["gate"]["decidedBy"]) == ("declined", False, "worthIt")
    rules = [rule["rule"] for rule in told["gate"]["rules"]]
    assert rules == ["valid", "forced", "policy", "risk", "contested", "worthIt", "uncertain"]
    way = told["gate"]["wouldChange"][0]
    assert "estimatedDownside" in {change["field"] for change in way["fields"]}
    assert way["sentence"].startswith("a downside above ")
    assert "abort" not in told["links"]
    assert [(event.id, event.name, event.data["status"]) for event in events] == [
        (0, "gate", "declined"),
        (1, "final", "declined"),
    ]
    assert after.status_code == 204
    read = await site.http.get(told["links"]["self"])
    assert read.json()["status"] == "declined"
    assert events[-1].text.startswith(read.text[:-1] + ',"n":'), "what was streamed is what is read, byte for byte"


async def test_a_caller_that_prefers_to_wait_gets_the_result(site: Served) -> None:
    answer = await site.http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=30"})

    assert answer.status_code == 200
    assert answer.headers["preference-applied"] == "wait=30"
    assert answer.headers["content-location"] == f"/v1/debates/{answer.json()['debateId']}"
    assert answer.json() == (await site.http.get(answer.headers["content-location"])).json()


@pytest.mark.parametrize(
    ("prefer", "status", "applied"),
    [
        (["wait=0"], 202, "wait=0"),
        (["respond-async, wait=20"], 200, "wait=20"),
        (['WAIT="20"; foo=bar'], 200, "wait=20"),
        (["wait=900"], 200, "wait=60"),
        ([f"wait={'9' * 5_000}"], 200, "wait=60"),
        ([f"wait={'0' * 5_000}20"], 200, "wait=20"),
        (["handling=strict", "wait=20"], 200, "wait=20"),
        (["wait=20, wait=0"], 200, "wait=20"),
        (["wait=soon"], 202, None),
        (["wait"], 202, None),
        (["wait=-1"], 202, None),
        (["=;,,"], 202, None),
    ],
)
async def test_preferences_are_read_as_the_rfc_says_and_ignored_when_malformed(
    site: Served, prefer: list[str], status: int, applied: str | None
) -> None:
    answer = await site.http.post("/v1/debates", json=a_case(), headers=[("prefer", value) for value in prefer])

    assert (answer.status_code, answer.headers.get("preference-applied")) == (status, applied)


async def test_a_declined_case_keeps_nobody_waiting(site: Served) -> None:
    answer = await site.http.post("/v1/debates", json=a_declined_case(), headers={"prefer": "wait=60"})

    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["stopReason"]) == ("declined", "declined")
    assert answer.elapsed.total_seconds() < 5


async def test_a_result_is_not_sent_again_to_who_has_it(site: Served, finished: JSON) -> None:
    path = f"/v1/debates/{finished['debateId']}"
    tag = (await site.http.get(path)).headers["etag"]

    same = await site.http.get(path, headers={"if-none-match": tag})
    weak = await site.http.get(path, headers={"if-none-match": f'"other", W/{tag}'})
    other = await site.http.get(path, headers={"if-none-match": '"1-00000000"'})

    assert [(a.status_code, bool(a.content)) for a in (same, weak, other)] == [(304, False), (304, False), (200, True)]
    assert same.headers["etag"] == tag


async def test_debates_are_listed_newest_first_and_every_one_once(site: Served) -> None:
    submitted = [(await site.submit(case))["debateId"] for case in (a_case(), a_declined_case(), a_case())]

    found, path = [], "/v1/debates?limit=2"
    while path:
        page = await site.http.get(path)
        assert len(page.json()["debates"]) <= 2
        found += page.json()["debates"]
        path = page.links["next"]["url"] if "next" in page.json() else ""

    ids = [debate["debateId"] for debate in found]
    assert ids[:3] == submitted[::-1]
    assert ids == sorted(set(ids), reverse=True)
    assert found[1]["status"] == "declined"
    assert "format" not in found[1]
    assert found[1]["decision"]["outcome"] == "declined"
    for debate in found[:3]:
        assert debate["createdAt"] == (await site.http.get(debate["href"])).json()["createdAt"]
    assert len((await site.http.get("/v1/debates")).json()["debates"]) <= 20


async def test_a_debate_was_created_at_one_instant_wherever_it_is_told(site: Served, finished: JSON) -> None:
    debate, at = finished["debateId"], finished["createdAt"]
    (listed,) = [
        one for one in (await site.http.get("/v1/debates?limit=100")).json()["debates"] if one["debateId"] == debate
    ]
    full = (await site.http.get(finished["links"]["full"])).json()
    events = await site.events(debate)
    files = unpack((await site.http.get(f"/v1/debates/{debate}/audit")).content).files
    first, gate, started = (json.loads(files[f"records/{n:04d}.leaf.json"]) for n in range(3))

    assert {listed["createdAt"], full["createdAt"], events[-1].data["createdAt"], first["occurred"]} == {at}
    assert [(event.name, event.data["at"]) for event in events[:2]] == [
        ("gate", gate["occurred"]),
        ("started", started["occurred"]),
    ]


async def test_the_gate_decides_without_storing_anything(site: Served) -> None:
    before = (await site.http.get("/v1/debates?limit=1")).json()["debates"][0]["debateId"]
    asked = {"taskType": "security", "estimatedDownside": "250000.00", "confidenceScore": 0.55}

    debate = await site.http.post("/v1/gate", json=asked)
    decline = await site.http.post("/v1/gate", json={**asked, "estimatedDownside": 0.000001})

    assert (debate.status_code, debate.json()["debate"], debate.json()["decidedBy"]) == (200, True, "merits")
    assert (decline.status_code, decline.json()["debate"], decline.json()["decidedBy"]) == (200, False, "worthIt")
    assert (await site.http.get("/v1/debates?limit=1")).json()["debates"][0]["debateId"] == before


async def test_an_unknown_task_type_is_declined_recorded_and_counted_under_no_label_of_its_own(site: Served) -> None:
    answer = await site.http.post("/v1/debates", json={**a_declined_case(), "taskType": "marketing"})
    told = answer.json()
    result = (await site.http.get(told["links"]["self"])).json()
    counted = (await site.http.get("/metrics")).text

    assert (answer.status_code, told["status"], told["gate"]["decidedBy"]) == (200, "declined", "risk")
    assert "it knows: contract, security" in told["gate"]["rules"][3]["observed"]
    assert (result["taskType"], result["status"]) == ("marketing", "declined")
    assert 'gainsay_unknown_task_types_total{outcome="declined"} 1.0' in counted
    assert 'gainsay_gate_decisions_total{decided_by="risk",result="decline",task_type="other"}' in counted
    assert "marketing" not in counted


async def test_amounts_are_decimals_to_the_last_digit(site: Served) -> None:
    exact = b"250000.000000000000000000001"
    body = b'{"taskType":"security","estimatedDownside":%s,"confidenceScore":0.1000000000000000000001}' % exact

    answer = await site.http.post("/v1/gate", content=body, headers={"content-type": "application/json"})

    assert exact.decode() in answer.json()["rules"][0]["observed"]
    assert "0.1000000000000000000001" in answer.json()["rules"][0]["observed"]


async def test_what_runs_is_told_with_the_hashes_that_a_debate_records(site: Served, finished: JSON) -> None:
    prompts = (await site.http.get("/v1/prompts")).json()
    models = (await site.http.get("/v1/models")).json()
    policy = (await site.http.get("/v1/policy")).json()

    current = {p["id"]: f"v{p['version']}:{p['sha256']}" for p in prompts["prompts"] if p["current"]}
    assert prompts["pin"] == finished["hashes"]["promptsPin"]
    pins = finished["hashes"]["pins"]
    assert pins.items() <= current.items()
    assert {"house", "critic", "schema.critic", "repair", "template.layout"} <= set(pins)
    assert not [id_ for id_ in pins if id_.startswith(("panel.", "schema.panel."))], "another format's"
    assert models["priceHash"] == finished["hashes"]["priceHash"]
    assert policy["hash"] == finished["hashes"]["policyHash"] == finished["gate"]["policyHash"]
    assert len(models["models"]) >= 6
    assert all(model["simulated"] and model["prices"] for model in models["models"])
    assert {seat for model in models["models"] for seat in model["seats"]} == set(policy["seats"])
    pool = [model["alias"] for model in models["models"] if "debater" in model["seats"]]
    assert sorted(pool) == sorted(policy["seats"]["debater"]["choices"])
    assert all(model["choosable"] and "trackRecords" not in model for model in models["models"])
    assert models["debaterOrder"]["factual"] == policy["seats"]["debater"]["choices"]
    assert policy["formats"] == ["adversarial", "stances", "ballot", "panel", "convergence"]
    assert (policy["formatRules"]["panel"]["roundsMax"], policy["debate"]["swapAboveUSD"]) == (10, "25000000.00")
    assert policy["formatRules"]["panel"]["thresholds"]["factual"] == 0.85
    assert policy["formatRules"]["convergence"]["similarity"] == 0.85
    assert policy["calls"]["usageFloor"] == 0.5


@pytest.mark.parametrize(
    ("accept", "media_type", "start"),
    [
        (None, "text/html", b"<!doctype html>"),
        ("*/*", "text/html", b"<!doctype html>"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html", b"<!doctype html>"),
        ("text/markdown", "text/markdown", b"# "),
        ("text/html;q=0.2, text/markdown;q=0.9", "text/markdown", b"# "),
        ("text/html;q=0, text/*", "text/markdown", b"# "),
        ("application/pdf", "application/pdf", b"%PDF-"),
    ],
)
async def test_a_report_comes_in_the_form_that_is_accepted(
    site: Served, finished: JSON, accept: str | None, media_type: str, start: bytes
) -> None:
    path = f"/v1/debates/{finished['debateId']}/report"

    answer = await site.http.get(path, headers={"accept": accept} if accept else {"accept": ""})

    assert answer.status_code == 200
    charset = "; charset=utf-8" if media_type.startswith("text/") else ""
    assert answer.headers["content-type"] == media_type + charset
    assert answer.headers["vary"] == "Accept, Accept-Encoding"
    assert answer.content.lower().startswith(start.lower())


async def test_a_report_is_laid_out_for_the_paper_that_is_asked_for(site: Served, finished: JSON) -> None:
    path = f"/v1/debates/{finished['debateId']}/report"

    a4, letter = [(await site.http.get(path, params={"paper": paper})).text for paper in ("a4", "letter")]
    pdf = await site.http.get(path, params={"paper": "letter"}, headers={"accept": "application/pdf"})
    refused = await site.http.get(path, params={"paper": "a5"})

    assert (await site.http.get(path)).text == a4 != letter
    assert b"/MediaBox[0 0 612 792]" in pdf.content
    assert refused.status_code == 400
    assert "paper must be one of a4" in refused.json()["detail"]


async def test_probes_say_that_the_process_lives_and_is_ready(site: Served) -> None:
    live, ready = await site.http.get("/livez"), await site.http.get("/readyz")

    assert (live.status_code, live.json()) == (200, {"status": "alive"})
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})


async def test_requests_are_counted_by_route_and_never_by_id(site: Served, finished: JSON) -> None:
    labels = {"method": "GET", "route": "/v1/debates/{debate}", "status": "200"}
    before = labelled.REGISTRY.get_sample_value("gainsay_http_requests_total", labels) or 0

    await site.http.get(f"/v1/debates/{finished['debateId']}")
    await site.http.get(f"/{finished['debateId']}")
    scraped = await site.http.get("/metrics")

    assert labelled.REGISTRY.get_sample_value("gainsay_http_requests_total", labels) == before + 1
    assert 'route="other"' in scraped.text
    assert finished["debateId"] not in scraped.text


async def test_the_time_of_a_request_has_its_trace_as_an_example_in_openmetrics_alone(site: Served) -> None:
    trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    for end in ('01"}', "01"):  # the first is none, so its request begins a trace of its own
        await site.http.get("/v1/prompts", headers={"traceparent": f"00-{trace}-{span}-{end}"})

    plain = (await site.http.get("/metrics", headers={"accept": "text/plain"})).text
    opened = (await site.http.get("/metrics", headers={"accept": "application/openmetrics-text"})).text

    examples = [
        sample.exemplar
        for family in read_open(opened)  # type: ignore[no-untyped-call]
        for sample in family.samples
        if family.name == "gainsay_http_request_seconds" and sample.labels["route"] == "/v1/prompts" and sample.exemplar
    ]
    assert trace in [example.labels["trace_id"] for example in examples]
    for example in examples:
        assert example.labels.keys() == {"trace_id"}
        assert sum(len(name) + len(value) for name, value in example.labels.items()) <= 128
    assert trace not in plain
    assert " # {" not in plain


PLAIN, OPEN = "text/plain; version=0.0.4; charset=utf-8", "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
    "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("*/*", PLAIN),
        ("text/plain", PLAIN),
        (PROMETHEUS_2, OPEN),
        (PROMETHEUS_3, OPEN),
        ("text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1", PLAIN),
        ("application/openmetrics-text;version=99.0", OPEN),
        ("application/openmetrics-text;version=banana", OPEN),
        ("text/html", PLAIN),
    ],
)
async def test_metrics_come_as_what_is_accepted_and_say_what_is_written(
    site: Served, accept: str, expected: str
) -> None:
    scraped = await site.http.get("/metrics", headers={"accept": accept})

    read = read_open if expected == OPEN else read_plain
    assert scraped.headers.get_list("content-type") == [expected]
    names = {family.name.removesuffix("_info") for family in read(scraped.text)}
    assert {"gainsay_build", "process_resident_memory_bytes"} <= names
    assert "_created" not in scraped.text


async def test_a_stream_and_a_wait_that_was_asked_for_say_nothing_of_how_fast_the_service_is(
    site: Served, finished: JSON
) -> None:
    def counted() -> list[float | None]:
        routes = (("GET", "/v1/debates/{debate}/events"), ("POST", "/v1/debates"))
        name = "gainsay_http_request_seconds_count"
        return [labelled.REGISTRY.get_sample_value(name, {"method": m, "route": r}) for m, r in routes]

    before = counted()
    await site.events(finished["debateId"])
    await site.finished()

    assert counted() == before


async def test_a_debate_moves_the_series_of_its_task_type(site: Served) -> None:
    def now(name: str, **labels: str) -> float:
        return labelled.REGISTRY.get_sample_value(name, labels) or 0.0

    ended = {"format": "adversarial/1", "status": "completed"}
    names: dict[str, JSON] = {
        "gainsay_debate_explicit_uncertainties_count": {},
        "gainsay_debate_cost_to_estimate_ratio_count": {},
        "gainsay_debates_started_total": {"format": "adversarial/1"},
    }
    before = {name: now(name, task_type="security", **labels) for name, labels in names.items()}
    cost = {
        (model, seat): now("gainsay_debate_cost_usd_total", task_type="security", seat=seat, model=model)
        for model, seat in [("birch-large", "critic"), ("cedar-large", "moderator")]
    }
    verified = now("gainsay_citations_checked_total", task_type="security", verdict="verified")

    result = await site.finished({**a_case(), "taskType": "security"})

    for name, labels in names.items():
        assert now(name, task_type="security", **labels) == before[name] + 1, name
    reason = result["stopReason"]
    assert now("gainsay_debates_concluded_total", task_type="security", stop_reason=reason, **ended) >= 1
    for (model, seat), was in cost.items():
        grown = now("gainsay_debate_cost_usd_total", task_type="security", seat=seat, model=model) - was
        assert grown == pytest.approx(float(result["overallCost"]["bySeat"][seat]["amountUSD"]))
    events = await site.events(result["debateId"])
    told = sum(event.data["verified"] for event in events if event.name == "citations")
    assert now("gainsay_citations_checked_total", task_type="security", verdict="verified") == verified + told > 0


async def test_whatever_can_be_got_its_headers_can_be_had_alone(site: Served, finished: JSON) -> None:
    for path in ("/livez", f"/v1/debates/{finished['debateId']}", f"/v1/debates/{finished['debateId']}/events"):
        answer = await site.http.head(path)

        assert (answer.status_code, answer.content) == (200, b""), path


async def test_an_answer_names_its_request(site: Served) -> None:
    own = await site.http.get("/livez", headers={"request-id": "order-4711/a"})
    none = await site.http.get("/livez")
    bad = await site.http.get("/livez", headers={"request-id": 'x" onload=1 {}'})

    assert own.headers["request-id"] == "order-4711/a"
    assert none.headers["request-id"].startswith("req_")
    assert bad.headers["request-id"].startswith("req_")
    assert none.headers["request-id"] != bad.headers["request-id"]
    assert "server" not in own.headers


async def test_fifty_cases_at_once_are_fifty_debates_that_all_end(site: Served) -> None:
    answers = await asyncio.gather(*(site.finished() for _ in range(50)))

    assert len({answer["debateId"] for answer in answers}) == 50
    assert {answer["status"] for answer in answers} == {"completed"}
    assert len({answer["synthesis"] for answer in answers}) >= 1
    assert all(answer["overallCost"]["heldUSD"] == "0.00" for answer in answers)
