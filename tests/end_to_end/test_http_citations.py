"""POST /v1/citations/check: the verifier alone, over HTTP."""

from typing import Any

from service.checks import kept
from service.checks.citations import ENGINE
from service.web.citations import MOST_CITATIONS
from tests.fixtures.postgres import Database
from tests.fixtures.running import CALLER
from tests.fixtures.serving import served

SOURCES = [
    {"id": "A", "text": "The Supplier shall not be liable for more than 30 days of fees, whatever the cause."},
    {"id": "B", "text": "The Bank may terminate for convenience on ninety days' written notice to the Supplier."},
]


def asked(*citations: dict[str, Any]) -> dict[str, Any]:
    return {"sources": SOURCES, "citations": [{"id": str(n), **c} for n, c in enumerate(citations)]}


async def test_every_citation_gets_its_verdict_in_order(database: Database) -> None:
    body = asked(
        {"quote": "shall not be liable for more than 30 days", "sourceId": "A"},
        {"quote": "shall not be liable for more than 60 days", "sourceId": "A"},
        {"quote": "terminate for convenience on ninety days", "sourceId": "A"},
        {"quote": "SHALL  NOT be li-\nable", "location": {"charStart": 13}},
        {"quote": "liable", "sourceId": "A"},
    )
    async with served(database.service_url, work=False) as site:
        answer = await site.http.post("/v1/citations/check", json=body)

    told = answer.json()
    assert (answer.status_code, told["engine"]) == (200, ENGINE)
    verdicts = told["verdicts"]
    assert [v["id"] for v in verdicts] == ["0", "1", "2", "3", "4"]
    assert [v["verdict"] for v in verdicts] == ["verified", "altered", "not_found", "verified", "too_short"]
    start, end = verdicts[0]["span"]
    assert SOURCES[0]["text"][start:end] == verdicts[0]["text"] == "shall not be liable for more than 30 days"
    assert [(e["from"], e["to"], e["material"]) for e in verdicts[1]["edits"]] == [("30", "60", True)]
    assert verdicts[2]["foundIn"] == "B"
    assert verdicts[3]["sourceId"] == "A"
    assert verdicts[4]["reason"] == "too_short"
    assert "quote more of the sentence" in verdicts[4]["note"]


async def test_what_is_read_of_a_source_is_kept_for_its_tenant_alone(database: Database) -> None:
    kept.drop()
    async with served(database.service_url, work=False) as site:
        answer = await site.http.post("/v1/citations/check", json=asked({"quote": "for more than 30 days"}))

    assert answer.status_code == 200
    assert {key.tenant for key in kept._kept} == {CALLER.tenant}


async def test_what_is_no_request_is_refused_with_the_place_named(database: Database) -> None:
    one = {"quote": "shall not be liable"}
    async with served(database.service_url, work=False) as site:
        twice = await site.http.post("/v1/citations/check", json={**asked(one), "sources": [SOURCES[0], SOURCES[0]]})
        odd = await site.http.post("/v1/citations/check", json={**asked(one), "threshold": 90})
        many = await site.http.post("/v1/citations/check", json=asked(*[one] * (MOST_CITATIONS + 1)))

    assert [answer.status_code for answer in (twice, odd, many)] == [422, 422, 422]
    assert "distinct ids" in twice.json()["detail"]
    assert "threshold" in odd.text
    assert "/citations" in many.text
