"""What every answer says, whatever it is: the request, its trace, the version, and what is left of the caller's rate.

Headers are read by a reader of structured fields of these tests (RFC 9651) and by the words of
draft-ietf-httpapi-ratelimit-headers-11, RFC 9745, RFC 8594 and W3C Trace Context.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import pytest_asyncio
from msgspec.structs import replace

import service
from service.web import api, openapi
from service.web.deprecations import Deprecation
from service.web.limits import LIMITS
from service.web.operations import OPERATIONS
from service.web.server import listening
from service.web.versions import API_VERSION
from tests.end_to_end.test_backpressure import SMALL
from tests.end_to_end.test_connection_bounds import QUICK, a_site, answered
from tests.end_to_end.test_rates import rated
from tests.fixtures.callers import Known, Registers, identity_file
from tests.fixtures.postgres import Database
from tests.fixtures.serving import NO_TLS, Served, a_case, served
from tests.fixtures.structured_fields import Date, Token, read_item, read_list

pytestmark = pytest.mark.asyncio(loop_scope="module")

SPAN = "00f067aa0ba902b7"
TRACERESPONSE = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-(0[0-3])")
GATE = {"taskType": "contract", "estimatedDownside": 100_000, "confidenceScore": 0.7}
_ids = count(1)


class Asked:
    """A request's own ids, and a check of what an answer says of them."""

    def __init__(self) -> None:
        self.id = f"manners-{next(_ids)}"
        self.trace = uuid4().hex

    @property
    def headers(self) -> dict[str, str]:
        """What it sends."""
        return {"request-id": self.id, "traceparent": f"00-{self.trace}-{SPAN}-01", "tracestate": "rojo=1"}

    def expect(self, answer: httpx.Response) -> None:
        """The answer names the request, its trace under a new span, and the version."""
        assert answer.headers.get_list("request-id") == [self.id]
        found = TRACERESPONSE.fullmatch(answer.headers["traceresponse"])
        assert found, answer.headers["traceresponse"]
        assert (found[1], found[3]) == (self.trace, "01")
        assert found[2] != SPAN
        assert answer.headers.get_list("gainsay-version") == [API_VERSION]
        assert "tracestate" not in answer.headers
        if answer.headers.get("content-type") == "application/problem+json" and answer.content:
            assert answer.json()["requestId"] == self.id


def expect_rate(answer: httpx.Response, class_: str) -> None:
    """The words of the draft: a list of one string, q and w of its policy, r and t of its state."""
    (policy,) = read_list(answer.headers["ratelimit-policy"])
    (state,) = read_list(answer.headers["ratelimit"])
    assert policy.value == state.value == class_
    assert not isinstance(policy.value, Token), "the value MUST be a String"
    assert policy.parameters.keys() == {"q", "w"}
    q, w, r = policy.parameters["q"], policy.parameters["w"], state.parameters["r"]
    assert type(q) is type(w) is type(r) is int
    assert 0 <= r <= q
    assert w == 60
    assert state.parameters.keys() - {"r", "t"} == set()
    t, after = state.parameters.get("t"), answer.headers.get("retry-after")
    assert t is None or (type(t) is int and 0 < t <= w)
    assert t is not None or after is not None, "a window is left out for a Retry-After alone"
    if after is not None and t is not None:
        assert int(after) >= t, "a Retry-After that ends before the window"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def known(
    module_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[tuple[Served, Known, Known]]:
    """A service with identities, an operator, and an auditor."""
    folder = tmp_path_factory.mktemp("manners")
    policy, identity = rated(folder, evidence_per_minute=2, listeners=1), identity_file(folder)
    async with served(module_database.service_url, GAINSAY_POLICY=policy, GAINSAY_IDENTITY=identity) as site:
        registers = Registers(module_database)
        yield site, await registers.issue("operator"), await registers.issue("auditor")


class Desk:
    """Asks a service, and checks what each answer says of itself."""

    def __init__(self, site: Served, caller: Known) -> None:
        self.site, self.caller = site, caller

    async def ask(self, method: str, path: str, status: int, rate: str = "", **more: Any) -> httpx.Response:
        """An answer of this status; with ``rate`` one to a known caller that counts in this class."""
        asked = Asked()
        caller: Known | None = more.pop("caller", self.caller)
        headers = {**asked.headers, **(caller.headers if caller else {}), **more.pop("headers", {})}
        answer = await self.site.http.request(method, path, headers=headers, **more)
        assert answer.status_code == status, (method, path, answer.text)
        asked.expect(answer)
        if rate:
            expect_rate(answer, rate)
            assert answer.headers["gainsay-release"] == service.__version__
        else:
            assert "ratelimit" not in answer.headers
        return answer


async def test_every_kind_of_answer_of_a_debate_says_what_it_answers(known: tuple[Served, Known, Known]) -> None:
    site, operator, _ = known
    ask = Desk(site, operator).ask
    key = {"idempotency-key": "manners"}

    queued = await ask("POST", "/v1/debates", 202, "submit", json=SMALL, headers=key)
    assert "t" not in read_list(queued.headers["ratelimit"])[0].parameters
    path = queued.headers["location"]
    await ask("POST", "/v1/debates", 422, "submit", json=a_case(), headers=key)
    result = await ask("POST", "/v1/debates", 200, "submit", json=SMALL, headers={"prefer": "wait=60"})
    events = await ask("GET", f"{path}/events", 200, "read")
    assert events.headers["content-type"].startswith("text/event-stream")
    assert "event: final" in events.text
    await ask("HEAD", f"{path}/events", 200, "read")
    await ask("GET", f"{path}/events?lastEventId=999999999", 204, "read")
    tag = (await ask("GET", result.headers["content-location"], 200, "read")).headers["etag"]
    await ask("GET", result.headers["location"], 304, "read", headers={"if-none-match": tag})
    await ask("HEAD", result.headers["location"], 200, "read")
    await ask("GET", f"{path}/events", 406, "read", headers={"accept": "text/html"})
    for _ in range(2):
        await ask("GET", f"{path}/report", 200, "evidence")
    refused = await ask("GET", f"{path}/report", 429, "evidence")
    assert read_list(refused.headers["ratelimit"])[0].parameters["r"] == 0
    assert read_list(refused.headers["ratelimit"])[0].parameters["t"]
    await ask("POST", f"{path}/abort", 200)


async def test_so_does_every_refusal_and_every_open_page(known: tuple[Served, Known, Known]) -> None:
    site, operator, auditor = known
    ask = Desk(site, operator).ask

    await ask("POST", "/v1/gate", 200, "check", json=GATE)
    await ask("POST", "/v1/gate", 400, "check", content=b"{", headers={"content-type": "application/json"})
    await ask("POST", "/v1/gate", 415, "check", content=b"{}")
    await ask("POST", "/v1/gate", 422, "check", json={"taskTyp": 1})
    await ask("GET", f"/v1/debates/{uuid4()}", 404, "read")
    await ask("GET", "/v1/debates", 401, caller=None)
    await ask("GET", "/v1/debates", 401, caller=None, headers={"authorization": "Bearer gainsay_0"})
    await ask("POST", "/v1/debates", 403, caller=auditor, json=SMALL)
    await ask("GET", "/nothing", 404)
    await ask("DELETE", "/v1/debates", 405)
    await ask("OPTIONS", "/v1/debates", 204)
    for path in ("/", "/livez", "/readyz", "/docs", "/openapi.json", "/openapi-3.0.json", "/problems/too_large"):
        await ask("GET", path, 200)
    tag = (await ask("GET", "/openapi.json", 200)).headers["etag"]
    await ask("GET", "/openapi.json", 304, headers={"if-none-match": tag})


async def test_a_stranger_learns_the_version_of_the_api_and_not_the_release(known: tuple[Served, Known, Known]) -> None:
    site, operator, _ = known
    for path in ("/", "/livez", "/readyz", "/docs", "/openapi.json", "/openapi-3.0.json", "/problems", "/v1/caller"):
        answer = await site.http.get(path)
        assert answer.headers["gainsay-version"] == API_VERSION
        said = f"{answer.headers} {answer.text if path != '/docs' else ''}"
        assert service.__version__ not in said, path
    assert (await site.http.get("/v1/caller", headers=operator.headers)).headers["gainsay-release"]


async def test_a_stream_beyond_the_caller_s_share_may_be_opened_before_its_minute_ends(
    database: Database, tmp_path: Path
) -> None:
    async with served(database.service_url, work=False, GAINSAY_POLICY=rated(tmp_path, listeners=1)) as site:
        path = f"/v1/debates/{(await site.submit(SMALL))['debateId']}/events"
        async with site.http.stream("GET", path) as first:
            assert first.status_code == 200
            expect_rate(first, "read")
            second = await site.http.get(path)

    assert second.status_code == 429
    expect_rate(second, "read")
    left = read_list(second.headers["ratelimit"])[0].parameters
    assert left["r"], "requests are left: it is a stream too many, and no request"


# -- connections that no endpoint sees


RAW = b"GET / HTTP/1.1\r\nhost: a\r\n"


def raw(answer: bytes) -> httpx.Response:
    """The answer of a connection as one of a client."""
    head, _, body = answer.partition(b"\r\n\r\n")
    line, *lines = head.split(b"\r\n")
    fields = [(name, value) for name, _, value in (each.partition(b": ") for each in lines)]
    return httpx.Response(int(line.split()[1]), headers=fields, content=body)


async def test_a_connection_that_is_refused_is_answered_alike() -> None:
    asked = Asked()
    given = "".join(f"{name}: {value}\r\n" for name, value in asked.headers.items()).encode()
    async with a_site(QUICK) as site:
        unread = raw(await answered(site, b"no http at all\r\n\r\n"))
        large = raw(await answered(site, RAW + given + b"x: " + b"a" * 70_000 + b"\r\n\r\n"))
        slow_head = raw(await answered(site, RAW + given))
        slow_body = raw(await answered(site, b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n" + given + b"\r\n"))

    assert [each.status_code for each in (unread, large, slow_head, slow_body)] == [400, 431, 408, 408]
    for each in (unread, large, slow_head):
        assert each.headers["request-id"] == each.json()["requestId"]
        assert each.headers["request-id"].startswith("req_")
        found = TRACERESPONSE.fullmatch(each.headers["traceresponse"])
        assert found
        assert found[1] != asked.trace, "a head that has not come whole may still name another trace"
        assert found[3] == "02"
    asked.expect(slow_body)
    for each in (unread, large, slow_head, slow_body):
        assert each.headers["gainsay-version"] == API_VERSION
        assert (each.headers["cache-control"], each.headers["x-content-type-options"]) == ("no-store", "nosniff")
        assert "gainsay-release" not in each.headers


# -- traces


async def test_a_trace_is_recorded_with_the_case_and_shown_to_who_reads_it(site: Served) -> None:
    asked, other = Asked(), Asked()
    under = {"idempotency-key": f'"{uuid4()}"', "prefer": "wait=60"}

    first = await site.http.post("/v1/debates?view=full", json=SMALL, headers={**under, **asked.headers})
    again = await site.http.post("/v1/debates?view=full", json=SMALL, headers={**under, **other.headers})
    report = await site.http.get(f"{first.headers['location']}/report", headers={"accept": "text/markdown"})
    records = await site.http.get("/v1/audit/logs/localhost/default/1/records?format=jsonl")

    assert first.json()["arrival"] == {"trace": asked.trace}
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json()["arrival"] == {"trace": asked.trace}, "the trace in which the case was recorded"
    other.expect(again)
    assert asked.trace in report.text
    assert records.text.count(asked.trace) == 1
    assert other.trace not in records.text


async def test_a_trace_that_began_here_is_in_answer_and_log_and_in_no_record(
    site: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="gainsay"):
        for bad in ({}, {"traceparent": f"00-{'0' * 32}-{SPAN}-01", "tracestate": "a=1"}):
            answer = await site.http.post("/v1/debates?view=full", json=SMALL, headers={"prefer": "wait=60", **bad})
            found = TRACERESPONSE.fullmatch(answer.headers["traceresponse"])
            assert found
            assert "arrival" not in answer.json()
            assert found[3] == "02"
            line = [each for each in caplog.records if each.__dict__.get("event") == "http.request"][-1].__dict__
            assert (line["trace_id"], line["request"]) == (found[1], answer.headers["request-id"])


async def test_two_headers_are_none_and_names_ignore_case(site: Served) -> None:
    one, two = Asked(), Asked()
    twice = [("traceparent", each.headers["traceparent"]) for each in (one, two)]

    doubled = await site.http.get("/livez", headers=twice)
    shouted = await site.http.get("/livez", headers={"TRACEPARENT": one.headers["traceparent"]})

    assert one.trace not in doubled.headers["traceresponse"]
    assert two.trace not in doubled.headers["traceresponse"]
    assert one.trace in shouted.headers["traceresponse"]


async def test_no_metric_has_a_trace_and_a_hostile_one_adds_nothing_to_the_log(
    site: Served, caplog: pytest.LogCaptureFixture
) -> None:
    asked = Asked()
    hostile = [b"00-" + b"\xe2\x80\xae" * 11 + b"-1-1", b"00-" + b"9" * 20_000, b"x trace=evil", b'"\tstatus=200"']
    with caplog.at_level(logging.DEBUG):
        await site.http.get("/livez", headers=asked.headers)
        for value in hostile:
            answer = await site.http.get("/v1/policy", headers=[(b"traceparent", value), (b"tracestate", value)])
            assert answer.status_code == 200
    lines = [record.__dict__ for record in caplog.records if record.__dict__.get("event") == "http.request"]

    assert asked.trace not in (await site.http.get("/metrics")).text
    assert len(lines) >= len(hostile)
    assert all(re.fullmatch("[0-9a-f]{32}", line["trace_id"]) for line in lines)


# -- versions


@pytest.mark.parametrize("said", ["1", "1.0"])
async def test_a_version_that_this_service_has_is_answered(site: Served, said: str) -> None:
    assert (await site.http.get("/v1/policy", headers={"gainsay-version": said})).status_code == 200


@pytest.mark.parametrize("said", ["2", "1.1", "0", "0.9", "v1", "latest", "1.0.0", "01", "1.0, 1.0", "", "9" * 400])
async def test_another_version_is_refused_before_anything_is_done(site: Served, said: str) -> None:
    before = (await site.http.get("/v1/debates?limit=1&facets=status")).json()["total"]

    answer = await site.http.post("/v1/debates", json=SMALL, headers={"gainsay-version": said})

    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
    assert f"this service has version {API_VERSION} of the API" in answer.json()["detail"]
    assert len(answer.json()["detail"]) < 300
    assert (await site.http.get("/v1/debates?limit=1&facets=status")).json()["total"] == before


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deprecation]:
    """An operation that is on its way out. None is today."""
    end = Deprecation(since=date(2027, 3, 1), sunset=date(2028, 3, 1), replacement="/v2/models")
    changed = tuple(replace(each, deprecated=end) if each.id == "listModels" else each for each in OPERATIONS)
    monkeypatch.setattr(api, "OPERATIONS", changed)
    monkeypatch.setattr(openapi, "OPERATIONS", changed)
    openapi.encoded.cache_clear()
    yield end
    openapi.encoded.cache_clear()


async def test_a_deprecated_operation_says_since_when_until_when_and_what_to_use(
    site: Served, toy: Deprecation
) -> None:
    async with listening(site.app) as address, httpx.AsyncClient(base_url=address, verify=NO_TLS) as http:
        answers = [await http.get("/v1/models"), await http.head("/v1/models"), await http.get("/v1/models?x=1")]
        others = [await http.get("/v1/policy"), await http.options("/v1/models")]
        document = (await http.get("/openapi.json")).json()

    assert [answer.status_code for answer in answers] == [200, 200, 400]
    for answer in answers:
        since = read_item(answer.headers["deprecation"]).value
        assert isinstance(since, Date)
        assert datetime.fromtimestamp(since, UTC) == datetime(2027, 3, 1, tzinfo=UTC)
        assert parsedate_to_datetime(answer.headers["sunset"]) == datetime(2028, 3, 1, tzinfo=UTC)
        links = answer.headers["link"]
        assert '</docs#/what%20runs/listModels>; rel="deprecation"; type="text/html"' in links
        assert '</v2/models>; rel="successor-version"' in links
    for answer in others:
        assert not {"deprecation", "sunset", "link"} & set(answer.headers)
    described = document["paths"]["/v1/models"]["get"]
    assert described["deprecated"] is True
    assert described["description"].endswith(toy.words)
    assert toy.words == "Deprecated since 2027-03-01, answered until 2028-03-01; use /v2/models."
    for answered_ in described["responses"].values():
        assert {"Deprecation", "Sunset", "Link"} <= answered_["headers"].keys()
    assert not [path for path, each in document["paths"].items() for one in each.values() if "deprecated" in one][1:]


async def test_an_end_that_comes_sooner_than_is_promised_does_not_start() -> None:
    with pytest.raises(ValueError, match="at least 12 months"):
        Deprecation(since=date(2027, 3, 2), sunset=date(2028, 3, 1))
    assert not [operation.id for operation in OPERATIONS if operation.deprecated], "add it to CHANGELOG too"


async def test_every_header_of_an_answer_is_described(site: Served) -> None:
    document = (await site.http.get("/openapi.json")).json()
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                named = answer.get("headers", {})
                assert {"Request-Id", "traceresponse", "Gainsay-Version"} <= named.keys(), (path, status)
                has_rate = LIMITS[operation["operationId"]].rate is not None
                assert ("RateLimit" in named) == (has_rate), (path, status)


# -- the description is asked for again


@pytest.mark.parametrize("path", ["/openapi.json", "/openapi-3.0.json"])
async def test_a_description_is_sent_once_to_who_keeps_it(site: Served, path: str) -> None:
    first = await site.http.get(path)
    tag = first.headers["etag"]
    again = await site.http.get(path, headers={"if-none-match": tag})
    head = await site.http.head(path)
    plain = await site.http.get(path, headers={"accept-encoding": "identity"})
    other = await site.http.get(path, headers={"if-none-match": '"another"'})

    assert (first.status_code, first.headers["cache-control"]) == (200, "no-cache")
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == tag
    assert again.headers["cache-control"] == "no-cache"
    assert (head.headers["etag"], other.status_code) == (tag, 200)
    assert plain.headers["etag"] != tag, "another coding has another tag"
    assert plain.content == first.content


async def test_no_answer_lets_another_origin_read_it(site: Served) -> None:
    page = {"origin": "http://localhost:3000", "access-control-request-method": "GET"}
    for answer in (
        await site.http.options("/v1/debates", headers=page),
        await site.http.get("/openapi.json", headers={"origin": "http://localhost:3000"}),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
