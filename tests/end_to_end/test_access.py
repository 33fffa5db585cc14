"""Who is let in, and what is said to those who are not: keys, 401, 403, 404, revocation, keys of others' cases."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from service.web.operations import OPERATIONS
from tests.fixtures.callers import KEYS, Known, Registers, identity_file
from tests.fixtures.identity_provider import claims, signed
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, Served, a_case, a_declined_case, served, slow_policy
from tests.fixtures.waiting import within

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOLDS_S = 5.0
"""Within so many seconds a revocation holds everywhere."""


class Door:
    """A service that knows identities, its registers, and some callers."""

    def __init__(self, site: Served, registers: Registers) -> None:
        self.site, self.registers, self.http = site, registers, site.http

    async def submitted(
        self, known: Known, case: JSON | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """The answer to a case of a caller."""
        sent = {**known.headers, **(headers or {})}
        return await self.http.post("/v1/debates", json=case or a_declined_case(), headers=sent)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def door(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Door]:
    folder = tmp_path_factory.mktemp("door")
    slow = str(slow_policy(folder, 3_000))
    async with served(module_database.service_url, GAINSAY_POLICY=slow, GAINSAY_IDENTITY=identity_file(folder)) as site:
        yield Door(site, Registers(module_database))


def told(answer: httpx.Response, status: int, code: str) -> JSON:
    """A problem document, of this status and code."""
    assert answer.status_code == status, answer.text
    problem: JSON = answer.json()
    assert (problem["code"], problem["status"]) == (code, status)
    return problem


async def test_leaves_of_all_cases_are_for_those_who_may_read_them_and_hashes_for_all(door: Door) -> None:
    asker, auditor = await door.registers.issue("requester"), await door.registers.issue("auditor")
    await door.submitted(asker)
    logs = (await door.http.get("/v1/audit/logs", headers=auditor.headers)).json()["logs"]

    async def asked(known: Known, kind: str) -> httpx.Response:
        return await door.http.get(f"{logs[-1]['href']}/tile/{kind}/000.p/1", headers=known.headers)

    assert "evidence.read" in told(await asked(asker, "entries"), 403, "forbidden")["detail"]
    assert (await asked(asker, "0")).status_code == 200
    assert (await asked(auditor, "0")).status_code == 200
    assert (await asked(auditor, "entries")).status_code == 200


async def test_a_probe_is_told_no_names_of_logs(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    async def troubles() -> list[str]:
        return ["the log localhost/acme/1 contradicts its checkpoints"]

    monkeypatch.setattr(type(door.site.app), "troubles", lambda _self: troubles())
    answer = await door.http.get("/readyz")

    assert "log" in told(answer, 503, "not_ready")["detail"]
    assert "acme" not in answer.text


async def test_without_a_credential_a_caller_learns_how_to_send_one(door: Door) -> None:
    answer = await door.http.get("/v1/debates")

    assert "Authorization: Bearer" in told(answer, 401, "unauthenticated")["detail"]
    assert answer.headers["www-authenticate"] == 'Bearer realm="gainsay"'
    assert "gainsay-checkpoint" not in answer.headers


@pytest.mark.parametrize(
    "given",
    [
        b"Bearer gainsay_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf3RhTzs",
        b"Bearer gainsay_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf3RhTzt",
        b"Bearer eyJhbGciOiJub25lIn0.e30.",
        b"Basic b3BlcmF0b3I6b3BlcmF0b3I=",
        b"Bearer",
        b"Bearer a b",
        b"Bearer \xff\xfe",
        b"",
        b"Bearer " + b"x" * 60_000,
    ],
)
async def test_a_credential_that_is_not_good_is_refused_by_the_words_of_rfc_6750(door: Door, given: bytes) -> None:
    answer = await door.http.get("/v1/debates", headers=[(b"authorization", given)])

    if answer.status_code != 400 or answer.headers["content-type"].startswith(
        "application/problem"
    ):  # or by the server
        told(answer, 401, "unauthenticated")
        assert answer.headers["www-authenticate"] == 'Bearer realm="gainsay", error="invalid_token"'
        assert len(given) < 10 or given.decode("latin-1").removeprefix("Bearer ") not in answer.text


async def test_two_credentials_are_none(door: Door) -> None:
    known = await door.registers.issue("auditor")
    twice = [(b"authorization", known.headers["authorization"].encode())] * 2

    told(await door.http.get("/v1/debates", headers=twice), 401, "unauthenticated")


async def test_a_key_in_the_address_is_no_credential(door: Door) -> None:
    known = await door.registers.issue("auditor")

    for name in ("access_token", "key", "token"):
        told(await door.http.get("/v1/debates", params={name: known.secret}), 401, "unauthenticated")


async def test_a_scope_that_is_missing_is_named_with_the_roles_that_have_it(door: Door) -> None:
    known = await door.registers.issue("auditor")

    answer = await door.submitted(known)

    detail = told(answer, 403, "forbidden")["detail"]
    assert "submitCase needs the scope case.submit, which the roles requester, operator have" in detail
    assert "this caller has auditor" in detail
    assert answer.headers["www-authenticate"] == (
        'Bearer realm="gainsay", error="insufficient_scope", scope="case.submit"'
    )


async def test_a_key_may_do_less_than_its_roles(door: Door) -> None:
    known = await door.registers.issue("requester", scopes=("case.read",))

    listed = await door.http.get("/v1/debates", headers=known.headers)
    refused = await door.submitted(known)

    assert listed.status_code == 200
    assert "its credential leaves that scope out" in told(refused, 403, "forbidden")["detail"]


async def test_a_body_is_not_read_of_a_caller_that_is_not_let_in(door: Door) -> None:
    """Only the head of the request is sent: the answer comes although the body never does."""
    url = httpx.URL(door.site.url)
    for authorization, status in (
        ("", b"401"),
        (f"{(await door.registers.issue('scrape', tenant=None)).secret}", b"403"),
    ):
        reader, writer = await asyncio.open_connection(url.host, url.port)
        head = ["POST /v1/debates HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 5000"]
        head += [f"Authorization: Bearer {authorization}"] if authorization else []
        writer.write("".join(f"{line}\r\n" for line in (*head, "")).encode())

        first = await within(5, reader.readline())

        writer.close()
        await writer.wait_closed()
        assert first.split()[1] == status


async def test_what_is_public_takes_no_notice_of_a_credential(door: Door) -> None:
    wrong = {"authorization": "Bearer gainsay_wrong"}
    public = [operation.path for operation in OPERATIONS if operation.scope == "public" and "{" not in operation.path]

    answers = {path: (await door.http.get(path, headers=wrong)).status_code for path in public}

    assert answers == dict.fromkeys(public, 200)
    assert len(public) >= 7


async def test_paths_and_methods_that_there_are_not_are_told_before_who_calls(door: Door) -> None:
    assert (await door.http.get("/v1/nothing")).status_code == 404
    assert (await door.http.put("/v1/debates")).status_code == 405
    options = await door.http.options("/v1/debates")
    assert (options.status_code, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")
    assert (await door.http.head("/v1/debates")).status_code == 401


async def test_a_checkpoint_is_named_to_callers_that_may_read_the_log_and_is_of_their_tenant(door: Door) -> None:
    await door.registers.add_tenant("second")
    auditor, second = await door.registers.issue("auditor"), await door.registers.issue("requester", tenant="second")
    scrape = await door.registers.issue("scrape", tenant=None)
    await door.submitted(await door.registers.issue("requester"))
    await door.submitted(second)

    named = {}
    for who, known, path in (("auditor", auditor, "/v1/debates"), ("second", second, "/v1/debates")):
        answer = await door.http.get(path, headers=known.headers)
        named[who] = answer.headers["gainsay-checkpoint"].split()[0]
    scraped = await door.http.get("/metrics", headers=scrape.headers)

    assert named == {"auditor": "localhost/default/1", "second": "localhost/second/1"}
    assert (scraped.status_code, "gainsay-checkpoint" in scraped.headers) == (200, False)
    assert "gainsay-checkpoint" not in (await door.http.get("/livez")).headers


async def test_a_record_names_the_caller_by_its_id_and_the_role_in_which_it_acted(door: Door) -> None:
    known = await door.registers.issue("requester", "auditor")
    debate = (await door.submitted(known)).json()["debateId"]

    (item,) = [
        each
        for each in (await door.http.get("/v1/debates", headers=known.headers)).json()["debates"]
        if each["debateId"] == debate
    ]

    assert item["caller"] == {"id": known.subject, "via": "apiKey"}


async def test_the_subject_that_ran_a_debate_reads_it_also_with_its_next_key(door: Door) -> None:
    first = await door.registers.issue("requester")
    debate = (await door.submitted(first)).json()["debateId"]
    second = await door.registers.issue("requester", of=first)
    await door.registers.revoke(first)
    other = await door.registers.issue("requester")

    with_second = await door.http.get(f"/v1/debates/{debate}", headers=second.headers)
    with_other = await door.http.get(f"/v1/debates/{debate}", headers=other.headers)
    of_none = await door.http.get("/v1/debates/01920000-0000-7000-8000-000000000000", headers=other.headers)

    assert with_second.status_code == 200
    refusals = [told(answer, 404, "not_found")["detail"].replace(debate, "X") for answer in (with_other, of_none)]
    assert refusals[0] == refusals[1].replace("01920000-0000-7000-8000-000000000000", "X"), "one cannot tell them apart"


async def test_a_key_of_another_subjects_case_is_refused_and_shows_nothing_of_it(door: Door) -> None:
    """Keys are the tenant's. The same case under the same key is no way to another's debate, nor to whether it is the
    same."""
    first, other, auditor = [await door.registers.issue(*roles) for roles in (["requester"], ["operator"], ["auditor"])]
    key = {"idempotency-key": "monday-1"}
    debate = (await door.submitted(first, headers=key)).json()["debateId"]

    again = await door.submitted(first, headers=key)
    same = await door.submitted(other, headers=key)
    different = await door.submitted(other, a_declined_case() | {"question": "Is another thing so?"}, headers=key)

    assert (again.json()["debateId"], again.headers["idempotency-replayed"]) == (debate, "true")
    problems = [told(answer, 422, "idempotency_key_reused") for answer in (same, different)]
    assert problems[0]["detail"] == problems[1]["detail"]
    for answer in (same, different):
        assert debate not in answer.text + str(answer.headers)
    told(await door.submitted(auditor, headers=key), 403, "forbidden")


OF_A_PROVIDER_THAT_IS_AWAY = """
[[oidc]]
name = "bank"
issuer = "http://127.0.0.1:9"
audience = "gainsay"
tenant_claim = "gainsay_tenant"
role_claim = "gainsay_roles"
"""


async def test_while_an_identity_provider_is_away_its_tokens_are_to_be_sent_again_and_keys_work(
    door: Door, module_database: Database, tmp_path: Path
) -> None:
    known = await door.registers.issue("auditor")
    now = int(time.time())
    token = signed(claims(iss="http://127.0.0.1:9", iat=now, exp=now + 300)).decode()
    identity = identity_file(tmp_path, KEYS + OF_A_PROVIDER_THAT_IS_AWAY)
    async with served(module_database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=identity) as site:
        refused = await site.http.get("/v1/debates", headers={"authorization": f"Bearer {token}"})
        by_key = await site.http.get("/v1/debates", headers=known.headers)

    told(refused, 503, "identity_unavailable")
    assert int(refused.headers["retry-after"]) > 0
    assert by_key.status_code == 200


async def test_a_revoked_key_is_refused_within_five_seconds_on_every_process(
    door: Door, module_database: Database, tmp_path: Path
) -> None:
    known, kept = await door.registers.issue("auditor"), await door.registers.issue("auditor")
    identity = identity_file(tmp_path)
    async with served(module_database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=identity) as second:
        for site in (door.site, second):
            assert (await site.http.get("/v1/debates", headers=known.headers)).status_code == 200

        await door.registers.revoke(known)
        revoked_at = time.monotonic()
        refused = [await _refused(site, known, revoked_at) for site in (door.site, second)]

        assert max(refused) < HOLDS_S
        assert (await second.http.get("/v1/debates", headers=kept.headers)).status_code == 200


async def _refused(site: Served, known: Known, since: float) -> float:
    """How long after a time a caller is refused."""
    while (await site.http.get("/v1/debates", headers=known.headers)).status_code != 401:
        assert time.monotonic() - since < HOLDS_S
        await asyncio.sleep(0.05)
    return time.monotonic() - since


async def test_streams_and_waits_end_within_five_seconds_of_a_revocation(door: Door) -> None:
    """The debate goes on for longer than that. The stream says why it ends, and is refused when it comes again."""
    known, kept = await door.registers.issue("requester"), await door.registers.issue("auditor")
    waiting = asyncio.create_task(door.submitted(known, a_case(), {"prefer": "wait=60"}))
    debate = (await door.submitted(known, a_case())).json()["debateId"]
    begun = [asyncio.Event(), asyncio.Event()]
    streams = [
        asyncio.create_task(_stream(door, debate, who, at)) for who, at in zip((known, kept), begun, strict=True)
    ]
    for at in begun:
        await within(10, at.wait())

    await door.registers.revoke_subject(known)
    since = time.monotonic()
    text = await within(HOLDS_S, streams[0])
    answer = await within(HOLDS_S - (time.monotonic() - since), waiting)

    assert text.rstrip().splitlines()[-1].startswith(": ended, because the credential of this request")
    assert "event: final" not in text
    told(answer, 401, "unauthenticated")
    told(await door.http.get(f"/v1/debates/{debate}/events", headers=known.headers), 401, "unauthenticated")
    assert not streams[1].done(), "the stream of another caller goes on"
    streams[1].cancel()
    await asyncio.gather(streams[1], return_exceptions=True)


async def _stream(door: Door, debate: str, known: Known, begun: asyncio.Event) -> str:
    """The text of a stream until its end."""
    text = ""
    async with door.http.stream("GET", f"/v1/debates/{debate}/events", headers=known.headers) as answer:
        async for piece in answer.aiter_text():
            text += piece
            if "event: gate" in text:
                begun.set()
    return text
