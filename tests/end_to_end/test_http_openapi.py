"""What the service answers is what its OpenAPI document says: every endpoint, every status, every event."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, get_args

import httpx
import jsonschema
import pytest
import pytest_asyncio
from jsonschema.protocols import Validator

from service import samples
from service.intake.formats import OPTIONS_OF
from service.report.events.types import EventName
from service.web import openapi
from service.web.api import HANDLERS
from service.web.docs import docs_version
from service.web.middleware import route_of
from tests.fixtures.emptiness import empty
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, Served, a_case, a_declined_case, events_of, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNKNOWN = "00000000-0000-7000-8000-000000000000"
DRAFT = "https://json-schema.org/draft/2020-12/schema"

VARIANTS = tuple(form for form in OPTIONS_OF if form != "adversarial")
"""The formats of which the sample contract has a case of its own."""
CHECKED = {
    "sources": [{"id": "A", "text": "The Supplier shall not be liable for more than 30 days of fees."}],
    "citations": [{"id": "1", "quote": "shall not be liable for more than 60 days", "sourceId": "A"}],
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def document(site: Served) -> JSON:
    told: JSON = (await site.http.get("/openapi.json")).json()
    return told


def validator(document: JSON, schema: JSON) -> Validator:
    """A schema of the document, which may refer to its components."""
    whole = {"$schema": DRAFT, "components": document["components"], "allOf": [schema]}
    return jsonschema.Draft202012Validator(whole)


def inner(value: Any) -> Iterator[Any]:
    """A JSON value and everything in it."""
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from inner(part)


def conforms(document: JSON, path: str, answer: httpx.Response) -> None:
    """An answer is one that its operation knows: status, media type, body, and the headers that it names."""
    operation = document["paths"][path][answer.request.method.lower()]
    known = operation["responses"].get(str(answer.status_code))
    assert known, f"{path} does not know {answer.status_code}: {answer.text[:300]}"
    media = answer.headers.get("content-type", "").partition(";")[0]
    if "content" not in known:
        assert not answer.content
        return
    assert media in known["content"], (path, answer.status_code, media)
    if media.endswith("json"):
        validator(document, known["content"][media]["schema"]).validate(answer.json())
        assert path.startswith("/openapi") or [*empty(answer.json())] == [], path
    named = {name.lower() for name in known["headers"]}
    own = {"location", "content-location", "retry-after", "etag", "link", "preference-applied", "request-id"}
    own |= {"gainsay-checkpoint", "idempotency-replayed", "gainsay-version", "gainsay-release", "traceresponse"}
    own |= {"ratelimit", "ratelimit-policy", "deprecation", "sunset", "www-authenticate"}
    assert own & set(answer.headers) <= named, (path, answer.status_code, dict(answer.headers))
    assert {"request-id", "traceresponse", "gainsay-version"} <= set(answer.headers)


async def test_every_endpoint_is_described_and_nothing_else(document: JSON) -> None:
    served_routes = {
        (method.lower(), route_of(path))
        for handler in HANDLERS
        for path in handler.paths
        for method in handler.http_methods
    }
    described = {(method, path) for path, operations in document["paths"].items() for method in operations}

    assert described == served_routes


async def test_the_document_is_whole(document: JSON) -> None:
    """Every reference leads somewhere, every schema is one, every name of an operation is its own."""
    found = [value["$ref"] for value in inner(document) if isinstance(value, dict) and "$ref" in value]
    ids = [op["operationId"] for operations in document["paths"].values() for op in operations.values()]

    assert document["openapi"] == "3.1.0"
    assert found
    for reference in found:
        _, _, kind, name = reference.split("/")
        assert name in document["components"][kind], reference
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert len(set(ids)) == len(ids) <= 80
    for operations in document["paths"].values():
        for operation in operations.values():
            assert operation["summary"].endswith(".")
            assert "500" in operation["responses"]
    for path, operations in document["paths"].items():
        named = {p["name"] for op in operations.values() for p in op["parameters"] if p["in"] == "path"}
        assert named == set(re.findall(r"\{(\w+)\}", path))


async def test_the_event_loop_goes_on_while_the_document_is_made(site: Served) -> None:
    """It takes a second, in which probes must be answered and streams go on."""
    openapi.encoded.cache_clear()
    asking = asyncio.create_task(site.http.get("/openapi.json"))
    turns = 0
    while not asking.done():
        await asyncio.sleep(0.001)
        turns += 1

    assert (await asking).is_success
    assert turns > 20


async def test_the_document_and_the_service_refer_to_no_other_host(site: Served, document: JSON) -> None:
    texts = {value for value in inner(document) if isinstance(value, str) and "://" in value}

    ours = ("https://json-schema.org/", "https://hooks.bank.example/")  # the second is an example of a caller's own
    assert {text for text in texts if not text.startswith(ours)} == set()
    for page in ("/schema", "/schema/openapi.json", "/swagger", "/redoc"):
        assert (await site.http.get(page)).status_code == 404
    landing = (await site.http.get("/")).text
    assert "://" not in landing
    assert "/openapi.json" in landing


async def test_the_examples_are_cases_that_the_service_takes(site: Served, document: JSON) -> None:
    for path in ("/v1/debates", "/v1/gate", "/v1/quotes"):
        content = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        assert set(content["examples"]) == set(samples.names())
        for name, example in content["examples"].items():
            validator(document, content["schema"]).validate(example["value"])
            answer = await site.http.post(path, json=example["value"])
            assert answer.is_success, (path, name, answer.text)
            conforms(document, path, answer)


CAST = [{"name": "a", "stance": "yes"}, {"name": "b", "stance": "no"}]


@pytest.mark.parametrize(
    ("format_", "within", "beyond"),
    [
        ("adversarial", {"maxRounds": 3}, {"maxRounds": 4}),
        ("adversarial", {"minChallengeStrength": 10}, {"minChallengeStrength": 11}),
        ("adversarial", {"requireCriticRetryBelow": 1}, {"requireCriticRetryBelow": 0}),
        ("adversarial", {"personas": {"critic": "A judge."}}, {"personas": {"critic": ""}}),
        ("adversarial", {"personas": {}}, {"personas": {"jury": "Twelve."}}),
        (
            "adversarial",
            {"positions": [{"id": "a-1", "text": "one"}, {"id": "b", "text": "two"}]},
            {"positions": [{"id": "a b", "text": "one"}, {"id": "b", "text": "two"}]},
        ),
        ("stances", {"debaters": CAST}, {"debaters": CAST[:1]}),
        ("stances", {"debaters": CAST, "maxRounds": 1}, {"debaters": CAST, "maxRounds": 11}),
        ("stances", {"debaters": CAST}, {"debaters": [{"name": "a", "stance": ""}, CAST[1]]}),
        ("stances", {"debaters": CAST}, {"debaters": [{"name": "a" * 101, "stance": "yes"}, CAST[1]]}),
        ("stances", {"debaters": CAST}, {"debaters": [{**CAST[0], "role": ""}, CAST[1]]}),
        ("ballot", {"debaters": [{"name": "a"}, {"name": "b"}]}, {"debaters": CAST}),
        ("ballot", {"votes": ["sign"]}, {"votes": []}),
        ("ballot", {"votes": ["sign"]}, {"votes": [""]}),
        ("ballot", {"votes": ["s" * 200]}, {"votes": ["s" * 201]}),
        ("ballot", {"consensusThreshold": 1}, {"consensusThreshold": 0}),
        ("ballot", {"instructions": "Be brief."}, {"instructions": ""}),
        ("panel", {"debaters": 2}, {"debaters": 1}),
        ("panel", {"debaters": 4}, {"debaters": 11}),
        ("convergence", {"convergenceSimilarity": 1}, {"convergenceSimilarity": 1.1}),
        ("convergence", {"convergenceSimilarity": 0}, {"convergenceSimilarity": -0.1}),
        ("convergence", {"judgeInstructions": "Be brief."}, {"judgeInstructions": ""}),
    ],
)
async def test_the_bounds_that_the_document_gives_an_option_are_those_of_the_service(
    site: Served, document: JSON, format_: str, within: JSON, beyond: JSON
) -> None:
    schema = validator(document, {"$ref": "#/components/schemas/CaseRequest"})
    good, bad = (a_case(options={"format": format_, **options}) for options in (within, beyond))

    assert schema.is_valid(good)
    assert not schema.is_valid(bad)
    assert (await site.http.post("/v1/gate", json=deciding(good))).status_code == 200
    assert (await site.http.post("/v1/gate", json=deciding(bad))).status_code in (413, 422)


def deciding(case: JSON) -> JSON:
    """The part of a case that the gate is asked with."""
    return {name: case[name] for name in ("taskType", "estimatedDownside", "options")}


async def test_every_option_of_a_format_is_described_by_names_that_a_request_has(document: JSON) -> None:
    schemas = document["components"]["schemas"]
    options = {name: schemas[f"{name.capitalize()}Request"]["properties"] for name in OPTIONS_OF}
    known = {member for schema in schemas.values() for member in schema.get("properties", {})}
    plain = {member.lower() for member in known}
    named = {
        name for schema in schemas.values() for name in re.findall(r"``(\w+_\w+)``", schema.get("description", ""))
    }

    assert all(member["description"].endswith(".") for members in options.values() for member in members.values())
    assert "``maxRounds``" in schemas["PanelOptions"]["description"]
    assert [name for name in named - known if name.replace("_", "") in plain] == []


async def test_problems_of_the_document_are_problems(document: JSON) -> None:
    schema = validator(document, {"$ref": "#/components/schemas/Problem"})
    examples = [
        response["content"]["application/problem+json"]["example"]
        for operations in document["paths"].values()
        for operation in operations.values()
        for response in operation["responses"].values()
        if "application/problem+json" in response.get("content", {})
    ]

    assert examples
    for example in examples:
        schema.validate(example)


async def test_every_operation_names_an_error_of_the_callers(site: Served, document: JSON) -> None:
    """An operation without parameters has none of its own: what is no request is refused before."""
    reader, writer = await asyncio.open_connection(site.http.base_url.host, site.http.base_url.port)
    writer.write(b"GET /livez\x01\r\n\r\n")
    refused = (await reader.read()).decode()
    writer.close()
    found = {op["operationId"]: op["responses"] for of in document["paths"].values() for op in of.values()}
    unreadable = {
        name: answers["400"]["content"]["application/problem+json"]["example"]
        for name, answers in found.items()
        if "cannot read the request as HTTP" in answers.get("400", {}).get("description", "")
    }

    assert all(any(status.startswith("4") for status in answers) for answers in found.values())
    assert refused.startswith("HTTP/1.1 400 ")
    assert "content-type: application/problem+json" in refused
    assert unreadable.keys() == {"landing", "alive", "ready", "openapi", "openapi30"}
    told = json.loads(refused.partition("\r\n\r\n")[2])
    assert all(
        told | {"requestId": "req_4f2a", "traceId": "4bf92f3577b34da6a3ce929d0e0e4736"} == example
        for example in unreadable.values()
    )


async def test_the_stream_is_tied_to_its_events(document: JSON) -> None:
    operation = document["paths"]["/v1/debates/{debate}/events"]["get"]
    schemas = document["components"]["schemas"]

    content = operation["responses"]["200"]["content"]["text/event-stream"]["schema"]
    event = schemas[content["contentSchema"]["$ref"].rpartition("/")[2]]
    of = {
        name: schemas[ref.rpartition("/")[2]]["properties"] for name, ref in event["discriminator"]["mapping"].items()
    }

    assert content["contentMediaType"] == "text/event-stream"
    assert [part["$ref"] for part in event["oneOf"]] == [*event["discriminator"]["mapping"].values()]
    assert of.keys() == operation["x-event-data"].keys() == set(get_args(EventName))
    for name, members in of.items():
        assert members["event"]["const"] == name
        data = {key: part for key, part in members["data"].items() if key != "description"}
        assert data == operation["x-event-data"][name]


async def test_every_answer_is_one_that_the_document_knows(site: Served, document: JSON) -> None:
    done = (await site.finished())["debateId"]
    declined = (await site.submit(a_declined_case()))["debateId"]
    queries: list[tuple[str, str, str, dict[str, Any]]] = [
        ("POST", "/v1/debates", "/v1/debates", {"json": a_case()}),
        ("POST", "/v1/debates", "/v1/debates", {"json": a_declined_case()}),
        ("POST", "/v1/debates", "/v1/debates", {"json": a_case(), "headers": {"prefer": "wait=30"}}),
        ("POST", "/v1/debates", "/v1/debates", {"json": a_declined_case(), "headers": {"prefer": "wait=30"}}),
        *keyed(),
        ("POST", "/v1/debates", "/v1/debates", {"json": {"question": 1}}),
        ("POST", "/v1/debates", "/v1/debates", {"json": a_case(taskType="Contract")}),
        ("POST", "/v1/debates", "/v1/debates", {"json": a_case(question="q" * 9_000)}),
        ("POST", "/v1/debates", "/v1/debates", {"content": b"a=b"}),
        ("GET", "/v1/debates", "/v1/debates?limit=1", {}),
        ("GET", "/v1/debates", "/v1/debates?limit=x", {}),
        ("GET", "/v1/debates", "/v1/debates?status=completed&facets=status&facets=flag&facets=model&limit=1", {}),
        ("POST", "/v1/gate", "/v1/gate", {"json": {"taskType": "other", "estimatedDownside": 5}}),
        ("POST", "/v1/gate", "/v1/gate", {"json": {}}),
        ("POST", "/v1/quotes", "/v1/quotes", {"json": a_case()}),
        ("POST", "/v1/quotes", "/v1/quotes", {"json": a_declined_case()}),
        *(("POST", "/v1/quotes", "/v1/quotes", {"json": samples.load("contract", form).case}) for form in VARIANTS),
        ("POST", "/v1/quotes", "/v1/quotes", {"json": a_case(costCeilingUSD="0.01")}),
        ("POST", "/v1/quotes", "/v1/quotes", {"json": a_case(taskType="Contract")}),
        ("POST", "/v1/quotes", "/v1/quotes", {"json": a_case(question="q" * 9_000)}),
        ("POST", "/v1/quotes", "/v1/quotes", {"json": {}}),
        ("POST", "/v1/quotes", "/v1/quotes?x=y", {"json": a_case()}),
        ("POST", "/v1/quotes", "/v1/quotes", {"content": b"a=b"}),
        ("POST", "/v1/citations/check", "/v1/citations/check", {"json": CHECKED}),
        ("POST", "/v1/citations/check", "/v1/citations/check", {"json": {**CHECKED, "citations": []}}),
        ("POST", "/v1/citations/check", "/v1/citations/check", {"json": {}}),
        ("GET", "/v1/prompts", "/v1/prompts", {}),
        ("GET", "/v1/models", "/v1/models", {}),
        ("GET", "/v1/models", "/v1/models?limit=2", {}),
        ("GET", "/v1/policy", "/v1/policy", {}),
        ("GET", "/v1/policy", "/v1/policy?x=y", {}),
        ("GET", "/", "/", {}),
        ("GET", "/livez", "/livez", {}),
        ("GET", "/readyz", "/readyz", {}),
        ("GET", "/metrics", "/metrics", {}),
        ("GET", "/openapi.json", "/openapi.json", {}),
        ("GET", "/openapi-3.0.json", "/openapi-3.0.json", {}),
        *pages(),
    ]
    at = "/v1/debates/{debate}"
    for debate in (done, declined, UNKNOWN):
        queries += [
            ("GET", at, f"/v1/debates/{debate}", {}),
            ("GET", at, f"/v1/debates/{debate}?view=full", {}),
            ("GET", f"{at}/events", f"/v1/debates/{debate}/events", {}),
            ("GET", f"{at}/events", f"/v1/debates/{debate}/events?lastEventId=999", {}),
            ("GET", f"{at}/events", f"/v1/debates/{debate}/events", {"headers": {"accept": "text/html"}}),
            ("GET", f"{at}/report", f"/v1/debates/{debate}/report", {}),
            ("GET", f"{at}/documents", f"/v1/debates/{debate}/documents", {}),
            ("GET", f"{at}/documents/{{document}}", f"/v1/debates/{debate}/documents/D1", {}),
            ("GET", f"{at}/documents/{{document}}", f"/v1/debates/{debate}/documents/none", {}),
            ("GET", f"{at}/report", f"/v1/debates/{debate}/report", {"headers": {"accept": "image/png"}}),
            ("POST", f"{at}/abort", f"/v1/debates/{debate}/abort", {}),
            ("POST", f"{at}/abort", f"/v1/debates/{debate}/abort", {"json": {"reason": "enough"}}),
            ("POST", f"{at}/abort", f"/v1/debates/{debate}/abort", {"json": {"because": 1}}),
        ]

    queries += audited(done, declined)
    for method, path, url, given in queries:
        conforms(document, path, await site.http.request(method, url, **given))
    tag = (await site.http.get(f"/v1/debates/{done}")).headers["etag"]
    conforms(document, at, await site.http.get(f"/v1/debates/{done}", headers={"if-none-match": tag}))


def keyed() -> list[tuple[str, str, str, dict[str, Any]]]:
    """Cases that come again under their keys: under way or over, declined, and another case."""

    def sent(key: str, case: JSON, **headers: str) -> tuple[str, str, str, dict[str, Any]]:
        return ("POST", "/v1/debates", "/v1/debates", {"json": case, "headers": {"idempotency-key": key, **headers}})

    first = [sent("a", a_case()), sent("a", a_case()), sent("a", a_case(), prefer="wait=0")]
    over = [sent("a", a_case(), prefer="wait=30"), sent("a", a_case())]
    declined = [sent("b", a_declined_case()), sent("b", a_declined_case())]
    waited = sent("b", a_declined_case(), prefer="wait=1")
    return [*first, *over, *declined, waited, sent("a", a_declined_case()), sent('"', a_case())]


def pages() -> list[tuple[str, str, str, dict[str, Any]]]:
    """Requests to the service's own pages, in each of their forms."""
    forms: list[dict[str, Any]] = [
        {"headers": {"accept": form}} for form in ("text/html", "text/markdown", "application/json", "image/png")
    ]
    one, file = "/problems/{code}", "/docs/{version}/{name}"
    return [
        *(("GET", "/problems", "/problems", form) for form in forms),
        *(("GET", one, "/problems/too_large", form) for form in forms),
        ("GET", "/problems", "/problems?x=y", {}),
        ("GET", one, "/problems/toolarge", {}),
        ("GET", one, "/problems/too_large?x=y", {}),
        ("GET", "/problems", "/problems", {"headers": {"if-none-match": "*"}}),
        ("GET", "/docs", "/docs", {}),
        ("GET", "/docs", "/docs?url=x", {}),
        ("GET", "/docs", "/docs", {"headers": {"if-none-match": "*"}}),
        *(("GET", file, f"/docs/{docs_version()}/{name}", {}) for name in ("page.css", "start.js", "LICENSE", "x")),
    ]


def audited(done: str, declined: str) -> list[tuple[str, str, str, dict[str, Any]]]:
    """Requests to the endpoints of the audit log, of a debate that is over and of a case that was declined."""
    under, here = "/v1/audit/logs/{host}/{tenant}/{epoch}", "/v1/audit/logs/localhost/default/1"
    beside = "/v1/audit/logs/localhost/other/1"
    asked = [
        *((f"{under}/checkpoint", f"{log}/checkpoint{query}") for log in (here, beside) for query in ("", "?x=y")),
        *((f"{under}/proof/{{record}}", f"{log}/proof/0") for log in (here, beside)),
        *((f"{under}/proof/{{record}}", f"{here}/proof/{record}") for record in (f"{done}.2", "0?size=x", "9" * 12)),
        *((f"{under}/consistency", f"{log}/consistency?from=1") for log in (here, beside)),
        *((f"{under}/consistency", f"{here}/consistency{query}") for query in ("", "?from=1&to=9999999")),
        *((f"{under}/tile/{{path}}", f"{log}/tile/0/000.p/1") for log in (here, beside)),
        *((f"{under}/tile/{{path}}", f"{here}/tile/{tile}") for tile in ("entries/000.p/2", "0/0", "0/000?x=y")),
        *((f"{under}/records", f"{log}/records") for log in (here, beside)),
        *((f"{under}/records", f"{here}/records?{query}") for query in ("format=csv", "format=xml", "model=offline")),
        ("/v1/audit/logs", "/v1/audit/logs"),
        ("/v1/audit/logs", "/v1/audit/logs?x=y"),
        *(
            ("/v1/audit/recall", f"/v1/audit/recall{query}")
            for query in ("", "?model=offline&limit=1", "?prompt=x", "?model=nobody")
        ),
        *(("/v1/debates/{debate}/audit", f"/v1/debates/{debate}/audit") for debate in (done, declined, UNKNOWN)),
        ("/v1/debates/{debate}/audit", f"/v1/debates/{done}/audit?x=y"),
    ]
    refused = ("GET", f"{under}/records", f"{here}/records", {"headers": {"accept": "image/png"}})
    return [*(("GET", path, url, {}) for path, url in asked), refused]


@pytest.mark.parametrize(
    "variant",
    [
        *(("contract", None), ("contract", "personas"), ("architecture", "positions"), ("investment", "evidence")),
        *(("contract", form) for form in ("stances", "ballot", "panel", "convergence")),
    ],
)
async def test_every_event_has_the_data_that_the_document_says(
    site: Served, document: JSON, variant: tuple[str, str | None]
) -> None:
    types = document["paths"]["/v1/debates/{debate}/events"]["get"]["x-event-data"]
    debate = (await site.submit(samples.load(*variant).case))["debateId"]

    events = events_of((await site.http.get(f"/v1/debates/{debate}/events")).text)

    for event in events:
        validator(document, types[event.name]).validate(event.data)
        assert event.data.get("debateId", event.data.get("debate_id")) == debate
        assert [*empty(event.data)] == [], event.name
    assert events[-1].data["status"] == "completed"
    assert all(a.id or a.members["n"] == b.members["n"] for a, b in pairwise(events)), "only the last has an id"


async def test_a_result_at_every_point_of_a_debate_is_one_that_the_document_knows(
    database: Database, document: JSON
) -> None:
    """Queued, with nothing recorded but what was asked, a debate is read as one that is over is."""
    async with served(database.service_url, work=False) as idle:
        debate = (await idle.submit())["debateId"]

        answer = await idle.http.get(f"/v1/debates/{debate}")
        aborted = await idle.http.post(f"/v1/debates/{debate}/abort")

    conforms(document, "/v1/debates/{debate}", answer)
    conforms(document, "/v1/debates/{debate}/abort", aborted)
    assert answer.headers["retry-after"] == "1"
    assert json.loads(aborted.text)["spentUSD"] == "0.00"
