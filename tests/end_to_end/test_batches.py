"""Batches over HTTP: a file whole or not at all, every fault by its line, progress, results, and other tenants."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import AsyncIterator
from io import StringIO
from typing import Any

import httpx
import pytest
import pytest_asyncio

from service.observing import labelled
from service.web import admission
from tests.fixtures.callers import Registers, identity_file
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, Served, a_case, a_declined_case, served, slow_policy
from tests.fixtures.spending import rows

pytestmark = pytest.mark.asyncio(loop_scope="module")
JSONL = {"content-type": "application/jsonl"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(module_database: Database) -> AsyncIterator[Served]:
    async with served(module_database.service_url) as made:
        yield made


def line(key: str | None = None, **changes: Any) -> str:
    case = a_declined_case() | changes
    return json.dumps(case if key is None else {"key": key, "case": case})


async def bring(site: Served, text: str | bytes, query: str = "?ceilingUSD=5", **headers: str) -> httpx.Response:
    return await site.http.post(f"/v1/batches{query}", content=text, headers={**JSONL, **headers})


async def ended(site: Served, answer: httpx.Response) -> JSON:
    assert answer.status_code == 202, answer.text
    found = answer
    for _ in range(600):
        found = await site.http.get(answer.headers["location"])
        if found.json()["status"] == "ended":
            told: JSON = found.json()
            return told
        assert found.headers["retry-after"] == "1"
        await asyncio.sleep(0.05)
    raise AssertionError(f"the batch did not end: {found.text}")


async def results(site: Served, told: JSON) -> list[JSON]:
    answer = await site.http.get(told["links"]["results"])
    assert answer.headers["content-type"].startswith("application/jsonl"), answer.text
    return [json.loads(row) for row in answer.text.splitlines()]


def refused(limit: str) -> float:
    return labelled.REGISTRY.get_sample_value("gainsay_submissions_refused_total", {"limit": limit}) or 0.0


def stored(database: Database) -> tuple[Any, ...]:
    return rows(
        database,
        "SELECT (SELECT count(*) FROM gainsay.case_batch), (SELECT count(*) FROM gainsay.batch_line), "
        "(SELECT count(*) FROM gainsay.batch_limit)",
    )[0]


async def test_a_file_becomes_debates_with_results_as_lines_and_as_a_table(site: Served) -> None:
    text = "\n".join([line("a"), json.dumps({"key": "b", "case": a_case()}), line()])
    answer = await bring(site, text, "?ceilingUSD=2.5&name=the%20third%20quarter")

    assert answer.headers["location"] == answer.json()["links"]["self"]
    told = await ended(site, answer)
    assert (told["name"], told["ceilingUSD"], told["cases"], told["endedBy"]) == (
        "the third quarter",
        "2.50",
        3,
        "completed",
    )
    assert {name: n for name, n in told["counts"].items() if n} == {"completed": 1, "declined": 2}
    found = await results(site, told)
    assert [(row["line"], row.get("key"), row["status"]) for row in found] == [
        (1, "a", "declined"),
        (2, "b", "completed"),
        (3, None, "declined"),
    ]
    one = (await site.http.get(found[1]["href"])).json()
    assert found[1]["decision"] == one["decision"]
    assert told["spentUSD"] == found[1]["spentUSD"] == one["decision"]["cost"]["spentUSD"]

    table = await site.http.get(told["links"]["results"], headers={"accept": "text/csv"})
    (first, second, third) = csv.DictReader(StringIO(table.text))
    assert [row["line"] for row in (first, second, third)] == ["1", "2", "3"]
    assert second["debateId"] == found[1]["debateId"]
    assert second["outcome"] == one["decision"]["outcome"]
    assert table.headers["content-disposition"].endswith('.csv"')


async def test_every_fault_is_named_by_its_line_and_nothing_is_stored(site: Served, module_database: Database) -> None:
    before = stored(module_database)
    text = "\n".join(
        [
            line("same"),
            "",
            '{"question": "Is it so?"',
            line("other", qestion="Is it so?"),
            json.dumps({"key": "x", "case": a_case(taskType=7, costCeilingUSD="-1")}),
            line("same"),
            json.dumps({"key": "", "case": a_declined_case()}),
            json.dumps({"key": "y"}),
            '{"key": "z", "key": "z2", "case": {}}',
        ]
    )
    answer = await bring(site, text)

    assert answer.status_code == 422, answer.text
    found = {(fault["pointer"]): fault["detail"] for fault in answer.json()["errors"]}
    assert set(found) == {
        "/3",
        "/4/case/qestion",
        "/5/case/taskType",
        "/6/key",
        "/7/key",
        "/8/case",
        "/9/key",
    }, answer.text
    assert found["/6/key"].startswith("line 6: line 1 has the same key")
    assert "did you mean" in found["/4/case/qestion"]
    assert found["/3"].endswith("column 1 (byte 0); a case stands whole on one line")
    assert stored(module_database) == before


async def test_a_file_of_nothing_but_faults_lists_fifty(site: Served) -> None:
    answer = await bring(site, "nothing\n" * 5_000)

    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 50
    assert len(answer.content) < 40_000


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{line()}\n", [1]),
        (f"{line()}\r\n{line()}", [1, 2]),
        (f"\n \t\n{line()}\n\n\n{line()}\r\n\r\n", [3, 6]),
        (f"\ufeff{line()}\n{line()}", [1, 2]),
        (line("k", question="Zürich? \u2028 \u0085") + "\n", [1]),
    ],
    ids=["LF", "CRLF", "blank lines", "BOM", "separators of Unicode"],
)
async def test_lines_are_found_whatever_ends_them(site: Served, text: str, lines: list[int]) -> None:
    told = await ended(site, await bring(site, text.encode()))

    assert [row["line"] for row in await results(site, told)] == lines


@pytest.mark.parametrize(
    ("body", "status", "code", "words"),
    [
        (b"", 400, "bad_request", "found no line with one"),
        (b"\n\n \r\n", 400, "bad_request", "found no line with one"),
        (b"[]", 422, "wrong_shape", "line 1"),
        (b'"text"', 422, "wrong_shape", "line 1"),
        (line().encode("utf-16"), 400, "bad_request", "UTF-16"),
        (line().encode()[:-1] + b', "useCase": "\xff"}', 422, "invalid_case", "0xff"),
        (b"[" * 100_000, 422, "invalid_case", "nested too deeply"),
        (f"[{line()},\n{line()}]".encode(), 422, "invalid_case", "line 1"),
    ],
    ids=["empty", "blank", "list", "text", "UTF-16", "no UTF-8", "deep", "a JSON array"],
)
async def test_a_body_that_is_no_file_of_cases_is_refused(
    site: Served, body: bytes, status: int, code: str, words: str
) -> None:
    answer = await bring(site, body)

    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert words in answer.json()["detail"]


async def test_a_line_of_six_megabytes_is_refused_by_its_number_and_one_within_the_limit_is_taken(
    site: Served,
) -> None:
    most = site.app.settings.policy.limits
    long = "x" * 6_000_000
    refused = await bring(site, f"{line()}\n{line('k', documents=[{'text': long}])}")
    assert refused.status_code == 413, refused.text
    assert "line 2" in refused.json()["detail"]
    fits = line("k", documents=[{"text": "word " * (most.document_characters // 5 - 10)}])
    told = await ended(site, await bring(site, fits))
    assert told["cases"] == 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "ceilingUSD"),
        ("?ceilingUSD=0", "above 0"),
        ("?ceilingUSD=-1", "above 0"),
        ("?ceilingUSD=NaN", "above 0"),
        ("?ceilingUSD=1e99", "above 0"),
        ("?ceilingUSD=0.0000001", "above 0"),
        ("?ceilingUSD=1&ceilingUSD=2", "once"),
        ("?ceilingUSD=1&deadline=tomorrow", "RFC 3339"),
        ("?ceilingUSD=1&deadline=2020-01-01T00:00:00Z", "has passed"),
        ("?ceilingUSD=1&name=%00", "printable"),
        (f"?ceilingUSD=1&name={'n' * 201}", "printable"),
        ("?ceilingUsd=1", "ceilingUSD"),
    ],
)
async def test_a_parameter_that_is_none_is_refused(site: Served, query: str, words: str) -> None:
    answer = await bring(site, line(), query)

    assert answer.status_code == 400, answer.text
    assert words in answer.json()["detail"]


async def test_other_media_types_are_refused_with_those_that_are_taken(site: Served) -> None:
    answer = await site.http.post("/v1/batches?ceilingUSD=1", json=a_case())
    assert answer.status_code == 415
    assert answer.headers["accept"] == "application/jsonl, application/x-ndjson"
    packed = await bring(site, line(), **{"content-encoding": "gzip"})
    assert packed.status_code == 415


async def test_a_batch_is_stored_once_under_its_key(site: Served, module_database: Database) -> None:
    text, key = f"{line()}\n{line()}", {"idempotency-key": '"once"'}
    before = stored(module_database)
    answers = await asyncio.gather(*(bring(site, text, **key) for _ in range(2)))

    assert {answer.json()["batchId"] for answer in answers} == {answers[0].json()["batchId"]}
    again = await bring(site, text, **key)
    assert again.headers["idempotency-replayed"] == "true"
    assert stored(module_database)[0] == before[0] + 1
    other = await bring(site, line(), **key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    dearer = await bring(site, text, "?ceilingUSD=6", **key)
    assert dearer.status_code == 422
    await ended(site, again)


async def test_the_same_file_twice_without_keys_is_two_batches_of_two_debates(site: Served) -> None:
    first, second = [await ended(site, await bring(site, line())) for _ in range(2)]

    (one,), (other,) = await results(site, first), await results(site, second)
    assert one["debateId"] != other["debateId"]
    assert second["joined"] == 0


async def test_the_same_file_twice_under_its_keys_joins(site: Served) -> None:
    text = f"{line('join-1')}\n{line('join-2')}"
    first, second = [await ended(site, await bring(site, text)) for _ in range(2)]

    assert (first["joined"], second["joined"]) == (0, 2)
    debates = [[row["debateId"] for row in await results(site, told)] for told in (first, second)]
    assert debates[0] == debates[1]


async def test_progress_has_a_tag_and_a_list_shows_the_newest_first(site: Served) -> None:
    told = await ended(site, await bring(site, line()))
    here = told["links"]["self"]
    answer = await site.http.get(here)
    same = await site.http.get(here, headers={"if-none-match": answer.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    page = (await site.http.get("/v1/batches?limit=1")).json()
    assert [batch["batchId"] for batch in page["batches"]] == [told["batchId"]]
    following = (await site.http.get(f"/v1/batches?limit=1&after={page['next']}")).json()
    assert following["batches"][0]["batchId"] < told["batchId"]


async def test_an_unknown_batch_is_not_found(site: Served) -> None:
    for name in ("nothing", "01920000-0000-7000-8000-000000000000", "%00"):
        for path in (f"/v1/batches/{name}", f"/v1/batches/{name}/results"):
            assert (await site.http.get(path)).status_code == 404, path
        assert (await site.http.post(f"/v1/batches/{name}/abort")).status_code == 404


async def test_results_come_in_no_other_form(site: Served) -> None:
    told = await ended(site, await bring(site, line()))
    answer = await site.http.get(told["links"]["results"], headers={"accept": "application/pdf"})
    assert answer.status_code == 406


async def test_cells_of_the_table_run_nowhere(site: Served) -> None:
    told = await ended(site, await bring(site, line("=1+1")))
    table = await site.http.get(told["links"]["results"], headers={"accept": "text/csv"})
    assert "'=1+1" in table.text


@pytest.mark.parametrize("key", ["a\nb", "a\u202eb", "\0", "a" * 201])
async def test_a_key_of_unseen_characters_or_too_many_is_refused(site: Served, key: str) -> None:
    answer = await bring(site, line(key))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/1/key"


async def test_more_cases_than_policy_allows_are_refused(tmp_path: Any, database: Database) -> None:
    policy = slow_policy(tmp_path, 0)
    policy.write_text(
        policy.read_text() + "\n[batches]\ncases = 3\nmegabytes = 1\nper_tenant = 1\nceiling_usd = '1.00'\n"
    )
    async with served(database.service_url, work=False, GAINSAY_POLICY=str(policy)) as site:
        many = await bring(site, f"{line()}\n" * 4, "")
        assert (many.status_code, many.json()["errors"][0]["pointer"]) == (413, "/4")
        large = await bring(site, " " * 1_000_001, "")
        assert large.status_code == 413
        first = await bring(site, f"{line()}\n" * 3, "")
        assert first.json()["ceilingUSD"] == "1.00"
        second = await bring(site, line(), "")
        assert (second.status_code, second.json()["code"]) == (503, "queue_full")
        await site.http.post(f"{first.json()['links']['abort']}", json={"reason": "the wrong file"})
        stopped = (await site.http.get(first.json()["links"]["self"])).json()
        assert stopped["stopped"] == "the wrong file"


async def test_slow_files_of_one_tenant_leave_a_place_for_the_others(
    tmp_path: Any, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "LINE_S", 0.3)
    registers, go_on, before = Registers(database), asyncio.Event(), refused("requests")
    await registers.add_tenant("rival")
    slow, other = await registers.issue("requester"), await registers.issue("requester", tenant="rival")

    async def trickling() -> AsyncIterator[bytes]:
        yield line().encode()
        await go_on.wait()

    async with served(database.service_url, work=False, GAINSAY_IDENTITY=identity_file(tmp_path)) as site:
        url = "/v1/batches?ceilingUSD=5"
        held = [
            asyncio.create_task(site.http.post(url, content=trickling(), headers={**JSONL, **slow.headers}))
            for _ in range(3)
        ]
        await asyncio.sleep(0.1)
        taken = await bring(site, line(), **other.headers)
        for _ in range(600):  # the client reads no answer before its file is sent
            if refused("requests") >= before + 2:
                break
            await asyncio.sleep(0.05)
        go_on.set()
        answers = await asyncio.gather(*held)
    assert taken.status_code == 202, taken.text
    assert sorted(answer.status_code for answer in answers) == [202, 503, 503]
    away = next(answer for answer in answers if answer.status_code == 503)
    assert (away.json()["code"], away.headers["retry-after"]) == ("overloaded", "1")
