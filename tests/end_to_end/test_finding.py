"""A debate is found again over HTTP: by each filter, in each order, page by page, counted, and with its documents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from hashlib import sha256
from itertools import pairwise
from typing import Any, Literal
from unicodedata import normalize

import psycopg
import pytest
import pytest_asyncio

from service import samples
from service.reviews.query_parameters import CLOSED
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, Served, a_case, a_declined_case

pytestmark = pytest.mark.asyncio(loop_scope="module")

FORMATS = ("stances", "ballot", "panel", "convergence")
CASES: tuple[JSON, ...] = (
    a_case(
        question="Does clause 12.2 cap the Supplier's liabilities, or is the indemnity outside it?",
        metadata={"ticket": "MR-1", "team": "model risk", "a=b": "c"},
        useCase="Vendor onboarding",
        materiality="high",
        estimatedDownside="250000.50",
    ),
    a_case(
        question="May the Bank terminate for convenience? zirconium 100% _under_score_",
        metadata={"ticket": "MR-2", "team": "legal", "formula": "=1+1"},
        useCase="Vendor exit\nsecond line",
        materiality="low",
        estimatedDownside="900000",
    ),
    *(samples.load("contract", form).case for form in FORMATS),
    {**a_declined_case(), "question": "Is a small matter of liability worth it?", "metadata": {"ticket": "MR-1"}},
)
HELD = "SELECT count(*) FROM gainsay.debate_head WHERE state IN ('queued', 'running')"
Values = Callable[[JSON], Sequence[str]]


def decided(item: JSON, name: str) -> list[str]:
    found = item["decision"].get(name)
    return [] if found is None else [found]


VALUES: Mapping[str, Values] = {
    "taskType": lambda item: [item["taskType"]],
    "status": lambda item: [item["status"]],
    "format": lambda item: [item["format"].partition("/")[0]] if "format" in item else [],
    "outcome": lambda item: decided(item, "outcome"),
    "confidence": lambda item: decided(item, "confidence"),
    "flag": lambda item: item.get("flags", []),
    "humanReview": lambda item: [str(item["decision"]["humanReview"]["required"]).lower()],
    "useCase": lambda item: [item["useCase"]] if "useCase" in item else [],
    "materiality": lambda item: [item["materiality"]] if "materiality" in item else [],
}
"""What of an item a filter is about."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def items(site: Served) -> list[JSON]:
    """One debate of each case, over and provable, newest first."""
    for case in CASES:
        await site.finished(case)
    found: list[JSON] = (await site.http.get("/v1/debates?limit=100")).json()["debates"]
    assert len(found) == len(CASES)
    return found


async def ids(site: Served, params: Any) -> list[str]:
    answer = await site.http.get("/v1/debates", params=params)
    assert answer.is_success, answer.text
    return [item["debateId"] for item in answer.json()["debates"]]


def those(items: list[JSON], passes: Callable[[JSON], bool]) -> list[str]:
    return [item["debateId"] for item in items if passes(item)]


async def test_an_item_says_what_a_work_list_needs(site: Served, items: list[JSON]) -> None:
    by_question = {item["question"]: item for item in items}
    for case in CASES:
        item = by_question[case["question"]]
        result = (await site.http.get(item["href"], params={"view": "full"})).json()
        assert item["decision"] == result["decision"]
        assert item.get("flags", []) == result.get("flags", [])
        assert (item["createdAt"], item["taskType"]) == (result["createdAt"], result["taskType"])
        assert item["caller"] == {"id": "local", "via": "none"}
        assert item.get("metadata", {}) == case.get("metadata", {})
        assert (item.get("useCase"), item.get("materiality")) == (case.get("useCase"), case.get("materiality"))
        assert Decimal(item["estimatedDownsideUSD"]) == Decimal(str(case["estimatedDownside"]))
    assert any(item.get("flags") for item in items)


@pytest.mark.parametrize("name", VALUES)
async def test_a_filter_finds_those_that_show_the_value_and_no_other(
    site: Served, items: list[JSON], name: str
) -> None:
    seen = sorted({value for item in items for value in VALUES[name](item)})
    assert seen, "a filter that nothing passes shows nothing"
    for value in {*seen, *CLOSED.get(name, ())[:3]}:
        assert await ids(site, {name: value}) == those(items, lambda i, v=value: v in VALUES[name](i)), value  # type: ignore[misc]
    if name != "humanReview":
        assert await ids(site, [(name, value) for value in seen]) == those(items, lambda i: bool(VALUES[name](i)))


async def test_debates_are_found_by_the_models_that_they_rest_on(site: Served, items: list[JSON]) -> None:
    results = [(await site.http.get(item["href"], params={"view": "full"})).json() for item in items]
    resting = {
        r["debateId"]: {s[name] for s in r.get("seats", []) for name in ("alias", "fallback") if name in s}
        for r in results
    }
    names = set().union(*resting.values())
    assert len(names) > 1
    for name in names:
        assert await ids(site, {"model": name}) == those(items, lambda i, n=name: n in resting[i["debateId"]]), name  # type: ignore[misc]
    served = next(name for r in results for seat in r.get("seats", []) for name in seat["servedModels"])
    assert await ids(site, {"model": served})
    assert await ids(site, {"model": "nothing-of-this-name"}) == []


async def test_debates_are_found_by_the_time_of_their_creation(site: Served, items: list[JSON]) -> None:
    for older, newer in zip(items[1:], items, strict=False):
        at = newer["createdAt"]
        assert older["createdAt"] < at
        assert await ids(site, {"since": at}) == those(items, lambda i, at=at: i["createdAt"] >= at)  # type: ignore[misc]
        assert await ids(site, {"until": at}) == those(items, lambda i, at=at: i["createdAt"] < at)  # type: ignore[misc]
    first, last = items[-1]["createdAt"], items[0]["createdAt"]
    assert await ids(site, {"since": first, "until": last}) == those(items, lambda i: i["createdAt"] < last)
    microsecond_after = f"{last[:-1]}001Z"
    assert await ids(site, {"since": microsecond_after}) == []
    assert await ids(site, {"until": microsecond_after}) == those(items, lambda _: True)
    assert await ids(site, {"since": "2020-01-01", "until": "2020-01-02"}) == []
    assert await ids(site, {"since": last.replace("Z", "+00:00")}) == [items[0]["debateId"]]


async def test_debates_are_found_by_the_metadata_of_their_case(site: Served, items: list[JSON]) -> None:
    def of(ticket: str) -> list[str]:
        return those(items, lambda i: i.get("metadata", {}).get("ticket") == ticket)

    assert len(of("MR-1")) == 2
    assert await ids(site, {"metadata": "ticket=MR-1"}) == of("MR-1")
    assert await ids(site, {"metadata": "ticket"}) == those(items, lambda i: "ticket" in i.get("metadata", {}))
    assert await ids(site, [("metadata", "ticket=MR-1"), ("metadata", "team=model risk")]) == of("MR-1")[1:]
    assert await ids(site, [("metadata", "ticket=MR-1"), ("metadata", "ticket=MR-2")]) == []
    assert await ids(site, {"metadata": "formula==1+1"}) == of("MR-2")
    for other in ("ticket=mr-1", "ticket=MR", "ticket=MR-%", "ticket=", "MR-1", "Ticket", "a=b"):
        assert await ids(site, {"metadata": other}) == [], other


async def test_debates_are_found_by_words_of_the_question(site: Served, items: list[JSON]) -> None:
    def with_words(*words: str) -> list[str]:
        return those(items, lambda i: all(word in i["question"].lower() for word in words))

    liable = those(items, lambda i: "liabilit" in i["question"].lower())
    assert 1 < len(liable) < len(items)
    assert await ids(site, {"q": "liability"}) == liable
    assert await ids(site, {"q": "LIABILITIES"}) == liable, "in any form that has the same stem"
    assert await ids(site, {"q": "zirconium"}) == with_words("zirconium")
    assert await ids(site, {"q": "terminate zirconium"}) == with_words("zirconium")
    assert await ids(site, {"q": "indemnity zirconium"}) == []
    assert set(await ids(site, {"q": "indemnity or zirconium"})) == {*with_words("indemnity"), *with_words("zirconium")}
    assert await ids(site, {"q": '"small matter"'}) == with_words("small matter")
    assert await ids(site, {"q": '"matter small"'}) == []
    assert await ids(site, {"q": "liability -clause"}) == [i for i in liable if i not in with_words("clause")]
    for nothing in ("zirc%", "zirc_nium", "zirc:*", "zirconium -zirconium", "1' OR '1'='1"):
        assert await ids(site, {"q": nothing}) == [], nothing


async def test_filters_of_different_names_must_all_pass(site: Served, items: list[JSON]) -> None:
    asked = {"q": "liability", "metadata": "ticket=MR-1", "outcome": "declined", "humanReview": "false"}
    found = those(
        items,
        lambda i: i["decision"]["outcome"] == "declined" and not i["decision"]["humanReview"]["required"],
    )
    assert await ids(site, asked) == found
    assert await ids(site, {**asked, "confidence": "HIGH"}) == []


SORTED: Mapping[str, Callable[[JSON], Any]] = {
    "createdAt": lambda item: item["debateId"],
    "spentUSD": lambda item: (Decimal(item["decision"]["cost"]["spentUSD"]), item["debateId"]),
    "estimatedDownsideUSD": lambda item: (Decimal(item["estimatedDownsideUSD"]), item["debateId"]),
}


@pytest.mark.parametrize("descends", [False, True])
@pytest.mark.parametrize("sort", SORTED)
@pytest.mark.parametrize("params", [{}, {"status": "completed"}], ids=["all", "filtered"])
async def test_every_order_comes_page_by_page_with_each_debate_once(
    site: Served, items: list[JSON], sort: str, descends: bool, params: dict[str, str]
) -> None:
    passing = [item for item in items if not params or item["status"] == "completed"]
    expected = [item["debateId"] for item in sorted(passing, key=SORTED[sort], reverse=descends)]
    for limit in (1, 2, len(items)):
        found: list[str] = []
        asked = {**params, "sort": f"-{sort}" if descends else sort, "limit": str(limit)}
        answer = await site.http.get("/v1/debates", params=asked)
        while True:
            page = answer.json()
            found += [item["debateId"] for item in page["debates"]]
            assert ("next" in page) == ("link" in answer.headers)
            if "next" not in page:
                break
            assert len(page["debates"]) == limit
            answer = await site.http.get(answer.links["next"]["url"])
        assert found == expected


async def test_the_link_has_every_parameter(site: Served, items: list[JSON]) -> None:
    asked: Any = [
        ("taskType", "contract"),
        ("metadata", "ticket"),
        ("limit", "1"),
        ("status", "declined"),
        ("facets", "flag"),
    ]
    asked += [("status", "completed"), ("q", "liability or zirconium & ü")]
    answer = await site.http.get("/v1/debates", params=asked)
    following = answer.links["next"]["url"]
    again = await site.http.get(following)

    assert dict.fromkeys(name for name, _ in asked) | {"after": None} == dict.fromkeys(
        part.partition("=")[0] for part in following.partition("?")[2].split("&")
    )
    assert following.count("status=") == 2
    assert again.json()["facets"] == answer.json()["facets"]
    assert again.json()["debates"] != answer.json()["debates"]


@pytest.mark.parametrize(
    "params", [{}, {"status": "completed"}, {"q": "liability"}, {"flag": "one that is there"}], ids=str
)
async def test_counts_are_of_all_that_pass_the_other_filters(
    site: Served, items: list[JSON], params: dict[str, str]
) -> None:
    if "flag" in params:
        params = {"flag": next(flag for item in items for flag in item.get("flags", []))}
    names = [*VALUES, "model"]
    answer = await site.http.get(
        "/v1/debates", params=[*params.items(), ("limit", "1"), *(("facets", n) for n in names)]
    )
    page = answer.json()
    passing = set(await ids(site, {**params, "limit": "100"}))
    counted = {facet["facet"]: {v["value"]: v["count"] for v in facet["values"]} for facet in page["facets"]}

    assert page["total"] == {"count": len(passing)}
    assert set(counted) == set(names)
    assert "atLeast" not in answer.text
    for name in VALUES:  # each without its own filter
        of = [i for i in items if name in params or i["debateId"] in passing]
        expected = {v: sum(v in VALUES[name](i) for i in of) for i in of for v in VALUES[name](i)}
        assert counted[name] == expected, name
    for facet in page["facets"]:
        order = [(-value["count"], value["value"]) for value in facet["values"]]
        assert order == sorted(order)
    for model, count in list(counted["model"].items())[:1]:
        assert len(await ids(site, {**params, "model": model})) == count


REFUSED: tuple[tuple[Any, str], ...] = (
    ([("x", "1")], "unknown query parameters ['x']"),
    ([("limit", "0")], "limit must be a whole number from 1 to 100"),
    ([("sort", "status")], "sort must be one of -createdAt, createdAt"),
    ([("sort", "createdAt"), ("sort", "createdAt")], "expected sort once, found it 2 times"),
    ([("since", "yesterday")], "since must be a day or a time with its zone"),
    ([("since", "2026-01-02"), ("until", "2026-01-01")], "since must be before until"),
    ([("since", "2026-01-02"), ("since", "2026-01-03")], "expected since once"),
    ([("until", "9999-12-31T23:59:59-23:59")], "until must be a day or a time"),
    ([("status", "done")], "status must be one of declined, queued"),
    ([("status", "completed,failed")], "status must be one of"),
    ([("format", "adversarial/1")], "format must be one of adversarial"),
    ([("outcome", "UPHELD")], "outcome must be one of"),
    ([("confidence", "medium")], "confidence must be one of HIGH"),
    ([("flag", "anything")], "flag must be one of"),
    ([("materiality", "")], "materiality must be one of"),
    ([("humanReview", "yes")], "humanReview must be one of true, false"),
    ([("facets", "tenant")], "facets must be one of taskType"),
    ([("metadata", "=value")], "found no key before the first ="),
    ([("metadata", "==")], "found no key before the first ="),
    ([("metadata", "")], "metadata must be a text"),
    ([("metadata", "k\0=v")], "metadata must be a text"),
    ([("metadata", "k=" + "v" * 2000)], "metadata must be a text of 1 to 2000 characters"),
    ([("taskType", " ")], "taskType must be a text"),
    ([("taskType", "a\nb")], "taskType must be one line"),
    ([("taskType", "t" * 101)], "taskType must be a text of 1 to 100 characters"),
    ([("taskType", f"t{n}") for n in range(51)], "expected taskType at most 50 times, found it 51 times"),
    ([("useCase", "\0")], "useCase must be a text"),
    ([("model", "a\tb")], "model must be a name"),
    ([("q", "")], "q must be a text"),
    ([("q", "w" * 201)], "q must be a text of 1 to 200 characters"),
    ([("q", "a\0b")], "q must be a text"),
    ([("q", "the is of")], "q has no word that is searched for"),
    ([("q", "!!! ...")], "q has no word that is searched for"),
    ([("after", "yesterday")], "after must be the value of next"),
    ([("after", "")], "after must be the value of next"),
    ([("after", "A" * 5000)], "after must be the value of next"),
    ([("after", "00000000-0000-7000-8000-000000000000")], "after must be the value of next"),
)


@pytest.mark.parametrize(("params", "detail"), REFUSED, ids=[detail[:40] for _, detail in REFUSED])
async def test_what_can_match_nothing_is_refused(site: Served, params: Any, detail: str) -> None:
    answer = await site.http.get("/v1/debates", params=params)

    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request"), answer.text
    assert detail in answer.json()["detail"]


async def test_all_faults_are_told_at_once(site: Served) -> None:
    params: Any = [("status", "x"), ("limit", "0"), ("colour", "red"), ("metadata", "="), ("since", "now")]
    detail = (await site.http.get("/v1/debates", params=params)).json()["detail"]

    assert detail.startswith("5 faults: (1) unknown query parameters ['colour']")
    for part in ("status must be", "limit must be", "metadata must be", "since must be"):
        assert part in detail


async def test_a_cursor_belongs_to_one_list(site: Served, items: list[JSON]) -> None:
    asked = {"taskType": "contract", "limit": "1"}
    token = (await site.http.get("/v1/debates", params=asked)).json()["next"]

    async def used(params: Any) -> str:
        answer = await site.http.get("/v1/debates", params=params)
        return "" if answer.is_success else str(answer.json()["detail"])

    assert await used({**asked, "after": token}) == ""
    assert await used({**asked, "after": token, "limit": "2", "facets": "status"}) == "", "pages may differ in size"
    other = "after belongs to a list with other filters or another sort"
    for changed in (
        {"limit": "1"},
        {**asked, "sort": "createdAt"},
        {**asked, "q": "liability"},
        {**asked, "taskType": "security"},
        {**asked, "humanReview": "true"},
        {**asked, "since": "2020-01-01"},
    ):
        assert (await used({**changed, "after": token})).startswith(other), changed
    damaged = "after must be the value of next"
    for at in range(0, len(token), 7):
        spoiled = token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]
        assert (await used({**asked, "after": spoiled})).startswith(damaged), at
    for spoiled in (token[:-1], f"{token}=", f"{token}A", token.swapcase(), f" {token}", "ü"):
        assert (await used({**asked, "after": spoiled})).startswith(damaged), spoiled
    assert (await used([*asked.items(), ("after", token), ("after", token)])).startswith("expected after once")


async def test_the_documents_of_a_case_are_listed_and_read(site: Served, items: list[JSON]) -> None:
    case = a_case(
        documents=[
            {"id": "D1", "title": "Agreement", "text": "12.1 The Supplier shall indemnify the Bank. Größe: 5 \u2009m"},
            {"id": "../a b/<x>", "text": "<script>alert(1)</script> clause of another kind"},
            {"text": "A third one, which has no name of its own."},
            {"id": f"sha256:{sha256(b'A text in a name that needs quoting.').hexdigest()}", "text": "In its place."},
            {"id": "a name", "text": "A text in a name that needs quoting."},
        ]
    )
    debate = (await site.finished(case))["debateId"]
    listed = (await site.http.get(f"/v1/debates/{debate}/documents")).json()["documents"]

    assert [d.get("title") for d in listed] == ["Agreement", "../a b/<x>", "D3", case["documents"][3]["id"], "a name"]
    assert listed[1]["id"] == "../a b/<x>"
    for given, found in zip(case["documents"], listed, strict=True):
        text = given["text"].encode()
        answer = await site.http.get(found["href"])
        assert (answer.status_code, answer.content) == (200, text)
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert found["sha256"] == sha256(text).hexdigest()
        assert (found["bytes"], found["characters"]) == (len(text), len(given["text"]))
        assert answer.headers["etag"] == f'"{found["sha256"]}"'
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "<" not in answer.headers["content-disposition"]
        assert ".." not in found["href"]
        again = await site.http.get(found["href"], headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        head = await site.http.head(found["href"])
        assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", answer.headers["etag"])
    for missing in ("D9", "sha256:" + "0" * 64, "%00", "..%2F..%2Fetc%2Fpasswd"):
        answer = await site.http.get(f"/v1/debates/{debate}/documents/{missing}")
        assert answer.status_code == 404, missing
    unheard = (await site.http.get(f"/v1/debates/{debate}/documents/D9")).json()
    assert "has no document of this name; it has D1, ../a b/<x>, D3, " in unheard["detail"]
    for path in ("documents?x=1", "documents/D1?x=1"):
        assert (await site.http.get(f"/v1/debates/{debate}/{path}")).status_code == 400
    unknown = "00000000-0000-7000-8000-000000000000"
    assert (await site.http.get(f"/v1/debates/{unknown}/documents")).status_code == 404


async def test_a_page_read_while_debates_come_in_has_each_debate_once_and_loses_none(
    site: Served, items: list[JSON]
) -> None:
    there = await ids(site, {"limit": "100"})
    found, answer, coming = [], await site.http.get("/v1/debates?limit=1"), []
    while True:
        found += [item["debateId"] for item in answer.json()["debates"]]
        coming.append(asyncio.create_task(site.submit(a_declined_case())))
        if "next" not in answer.links:
            break
        answer = await site.http.get(answer.links["next"]["url"])
    added = {told["debateId"] for told in await asyncio.gather(*coming)}

    assert found == there
    assert not added & set(found), "they came in before the first page's end"
    assert set(await ids(site, {"limit": "100"})) == {*there, *added}
    assert all(newer > older for newer, older in pairwise(found))
    assert items


async def test_a_damaged_document_is_not_served(site: Served, module_database: Database) -> None:
    debate = (await site.finished(a_case(documents=[{"id": "D1", "text": "A clause that will be changed."}])))[
        "debateId"
    ]
    with psycopg.connect(module_database.admin_url, autocommit=True, options="-c search_path=gainsay") as admin:
        admin.execute("ALTER TABLE document DISABLE TRIGGER USER")
        admin.execute("UPDATE document SET body = 'A clause that was changed.' WHERE debate = %s", [debate])
        admin.execute("ALTER TABLE document ENABLE ALWAYS TRIGGER refuse_change")
        admin.execute("ALTER TABLE document ENABLE ALWAYS TRIGGER refuse_truncate")
    for path in ("documents", "documents/D1"):
        answer = await site.http.get(f"/v1/debates/{debate}/{path}")
        assert (answer.status_code, answer.json()["code"]) == (500, "evidence_damaged")
        assert "A clause" not in answer.text


async def test_a_word_is_found_whether_its_accents_are_letters_of_their_own_or_not(site: Served) -> None:
    question = "Is the Zürich branch liable under سؤال 7?"
    forms: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")
    found = [await site.finished(a_declined_case() | {"question": normalize(form, question)}) for form in forms]

    for word in ("zürich", "سؤال"):
        for form in forms:
            assert {*await ids(site, {"q": normalize(form, word)})} == {each["debateId"] for each in found}, form
    assert await ids(site, {"q": "rich"}) == [], "a word is not cut at an accent"
