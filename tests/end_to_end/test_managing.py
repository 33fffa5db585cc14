"""Keys, subjects, tenants and assignments over HTTP: who may what, what is recorded, and where a key never stands."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from service.cli import main
from service.identity.api_keys import read_key
from tests.fixtures.callers import Registers, identity_file
from tests.fixtures.managing import administrator
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, Served, a_case, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVERYTHING = ["requester", "reviewer", "auditor", "validator", "operator"]
NO_KEY = "gainsay_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf3RhTzs"


@dataclass(frozen=True)
class Holder:
    """Who holds a key of the service."""

    site: Served
    secret: str
    key: str
    subject: str

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.secret}"}

    async def get(self, path: str) -> Any:
        return await self.site.http.get(path, headers=self.headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return await self.site.http.post(path, json=body, headers=self.headers | headers)

    async def issue(self, *roles: str, **more: Any) -> Holder:
        """The holder of a key that this one issues."""
        body = {"roles": roles, "name": f"holder of {roles[0]}", "days": 9, **more}
        return self.holding(await self.post("/v1/keys", body))

    def holding(self, answer: Any) -> Holder:
        assert answer.status_code == 201, answer.text
        assert answer.headers["cache-control"] == "no-store"
        told = answer.json()
        told = told.get("firstOperator", told)
        read_key(told["secret"].encode())
        return Holder(self.site, told["secret"], told["issued"]["key"], told["issued"]["subject"])


@dataclass(frozen=True)
class Stage:
    """A service with identities, its administrator, and the first operators of two tenants."""

    site: Served
    database: Database
    admin: Holder
    bank: Holder
    shop: Holder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    identity = identity_file(tmp_path_factory.mktemp("identity"))
    async with served(module_database.service_url, GAINSAY_IDENTITY=identity) as site:
        first = await administrator(module_database.service_url)
        admin = Holder(site, first.secret, first.row.id, first.row.subject)
        bank, shop = [await a_tenant(admin, name) for name in ("bank", "shop")]
        yield Stage(site, module_database, admin, bank, shop)


async def a_tenant(admin: Holder, name: str, *roles: str) -> Holder:
    """The first operator of a new tenant."""
    operator = {"name": "Grace Hopper", "days": 9, "roles": roles or EVERYTHING}
    return admin.holding(await admin.post("/v1/tenants", {"name": name, "firstOperator": operator}))


async def test_a_caller_learns_who_it_is(stage: Stage) -> None:
    narrow = await stage.bank.issue("requester", "auditor", scopes=["case.read", "log.read"])
    told = (await narrow.get("/v1/caller")).json()

    assert told.pop("expiresAt").startswith("20")
    assert told == {
        "tenant": "bank",
        "subject": narrow.subject,
        "kind": "service",
        "via": "apiKey",
        "roles": ["requester", "auditor"],
        "scopes": ["case.read", "log.read", "self.read"],
        "credential": narrow.key,
    }
    assert (await stage.admin.get("/v1/caller")).json()["tenant"] == "gainsay"
    assert (await stage.admin.get("/v1/caller")).json()["expiresAt"] > "2026"


@dataclass(frozen=True)
class Attempt:
    """A key that is asked for, by whom, and what comes of it."""

    by: str
    roles: tuple[str, ...]
    status: int
    said: str
    more: Mapping[str, Any]


def attempt(by: str, roles: str, status: int, said: str = "", **more: Any) -> Attempt:
    return Attempt(by, tuple(roles.split()), status, said, more)


ATTEMPTS = (
    attempt("requester", "requester", 403, "identity.manage"),
    attempt("auditor", "auditor", 403, "identity.manage"),
    attempt("lean", "operator", 201),
    attempt("lean", "auditor", 403, "lacks auditor"),
    attempt("lean", "operator requester", 403, "lacks requester"),
    attempt("bank", "administrator", 422, "belong to none"),
    attempt("bank", "administrator requester", 422, "belong to none"),
    attempt("bank", "scrape", 422, "belong to none"),
    attempt("bank", "requester", 403, "its own tenant", tenant="shop"),
    attempt("bank", "requester", 403, "its own tenant", tenant="nowhere"),
    attempt("bank", "requester", 403, "its own tenant", tenant="gainsay"),
    attempt("bank", "requester", 201, tenant="bank"),
    attempt("narrow", "operator", 403, "leaves out"),
    attempt("narrow", "operator", 403, "leaves out", scopes=["identity.manage", "log.read"]),
    attempt("narrow", "operator", 201, scopes=["identity.read"]),
    attempt("no manager", "operator", 403, "identity.manage"),
    attempt("admin", "requester", 422, "without a tenant"),
    attempt("admin", "requester", 403, "first operator alone", tenant="bank"),
    attempt("admin", "operator", 409, "has an operator", tenant="bank"),
    attempt("admin", "operator requester", 409, "has an operator", tenant="bank"),
    attempt("admin", "administrator", 201),
    attempt("admin", "scrape", 201),
    attempt("admin", "operator", 404, "no 'nowhere'", tenant="nowhere"),
    attempt("narrow admin", "administrator", 403, "an administrator issues"),
    attempt("scrape", "scrape", 403, "identity.manage"),
    attempt("bank", "requester", 422, "1 to 366 days", days=367),
    attempt("bank", "requester", 422, "", days=0),
    attempt("bank", "requester", 422, "a name of", name=" padded"),
    attempt("bank", "requester", 422, "a name of", name="two\nlines"),
    attempt("bank", "requester", 422, "a name of", name="nul \0 here"),
    attempt("bank", "requester", 422, "some of the scopes", scopes=["metrics.read"]),
    attempt("bank", "king", 422, ""),
    attempt("bank", "", 422, ""),
    attempt("bank", "requester", 422, "unknown", admin=True),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def holders(stage: Stage) -> dict[str, Holder]:
    narrowed = ["identity.manage", "identity.read"]
    return {
        "bank": stage.bank,
        "admin": stage.admin,
        "requester": await stage.bank.issue("requester"),
        "auditor": await stage.bank.issue("auditor"),
        "lean": await stage.bank.issue("operator"),
        "narrow": await stage.bank.issue("operator", scopes=narrowed),
        "no manager": await stage.bank.issue("operator", scopes=["identity.read"]),
        "scrape": await stage.admin.issue("scrape"),
        "narrow admin": await stage.admin.issue("administrator", scopes=narrowed),
    }


async def test_nobody_issues_what_it_does_not_hold(stage: Stage, holders: dict[str, Holder]) -> None:
    wrong = []
    for each in ATTEMPTS:
        body = {"roles": list(each.roles), "name": "of an attempt", "days": 9, **each.more}
        answer = await holders[each.by].post("/v1/keys", body)
        if answer.status_code != each.status or each.said not in answer.text:
            wrong.append(f"{each}: {answer.status_code} {answer.text}")
        if answer.status_code == 201:
            made = stage.admin.holding(answer)
            told = (await made.get("/v1/caller")).json()
            assert told["roles"] == list(each.roles), each
            assert set(each.more.get("scopes", told["scopes"])) | {"self.read"} == set(told["scopes"]), each

    assert wrong == []


async def test_a_tenant_sees_its_own_registers_alone(stage: Stage, holders: dict[str, Holder]) -> None:
    shop = (await stage.shop.get("/v1/keys")).json()["keys"]
    bank = (await holders["auditor"].get("/v1/keys?limit=100")).json()["keys"]
    wide = (await stage.admin.get("/v1/keys?limit=100")).json()["keys"]

    assert {row["tenant"] for row in bank} == {"bank"}
    assert {row["tenant"] for row in shop} == {"shop"}
    assert not any("tenant" in row for row in wide)
    assert stage.admin.key in {row["key"] for row in wide}
    for path in (f"/v1/keys/{stage.bank.key}", f"/v1/subjects/{stage.bank.subject}"):
        assert (await holders["auditor"].get(path)).json()["name"] == "Grace Hopper"
        for stranger in (stage.shop, stage.admin):
            refused = await stranger.get(path)
            assert (refused.status_code, "Grace" in refused.text) == (404, False), path
            for change in ("revoke", "rotate")[: 1 if "subjects" in path else 2]:
                body = {"days": 9} if change == "rotate" else {}
                refused = await stranger.post(f"{path}/{change}", body)
                assert refused.status_code in (403, 404), refused.text
    assert (await stage.bank.get("/v1/caller")).status_code == 200
    found = await stage.shop.get(f"/v1/subjects?subject={stage.bank.subject}&subject={stage.shop.subject}")
    assert [row["subject"] for row in found.json()["subjects"]] == [stage.shop.subject]
    assert (await stage.shop.get(f"/v1/keys?subject={stage.bank.subject}")).json() == {"keys": []}
    assert {"bank", "shop", "default", "gainsay"} <= {
        row["name"] for row in (await stage.admin.get("/v1/tenants?limit=100")).json()["tenants"]
    }


async def test_lists_come_in_pages_that_a_link_joins(stage: Stage, holders: dict[str, Holder]) -> None:
    for path, members, id_, holder in (
        ("/v1/keys", "keys", "key", holders["auditor"]),
        ("/v1/subjects", "subjects", "subject", stage.bank),
        ("/v1/tenants", "tenants", "name", stage.admin),
    ):
        whole = [row[id_] for row in (await holder.get(f"{path}?limit=100")).json()[members]]
        found, at = [], f"{path}?limit=2"
        while at:
            page = await holder.get(at)
            assert len(page.json()[members]) <= 2
            found += [row[id_] for row in page.json()[members]]
            at = page.links["next"]["url"] if "next" in page.links else ""

        assert found == sorted(whole) == whole
        assert len(found) > 2


async def test_a_key_is_replaced_and_revoked(stage: Stage) -> None:
    old = await stage.bank.issue("requester", "auditor", scopes=["case.read"])
    answer = await stage.bank.post(f"/v1/keys/{old.key}/rotate", {"days": 9, "keepDays": 1})
    new = stage.bank.holding(answer)
    third = await stage.bank.post(f"/v1/keys/{old.key}/rotate", {"days": 9})

    assert (new.subject, new.secret == old.secret) == (old.subject, False)
    assert answer.json()["replaced"]["key"] == old.key
    assert answer.headers["location"] == f"/v1/keys/{new.key}"
    assert (third.status_code, third.json()["code"]) == (409, "identity_conflict")
    assert (await new.get("/v1/caller")).json()["scopes"] == ["case.read", "self.read"]
    assert (await old.get("/v1/caller")).status_code == 200

    first, again = [await stage.bank.post(f"/v1/keys/{old.key}/revoke") for _ in range(2)]
    assert (first.json()["state"], again.json()) == ("revoked", first.json())
    await until_refused(old)
    assert (await new.get("/v1/caller")).status_code == 200
    assert (await stage.bank.post(f"/v1/subjects/{old.subject}/revoke")).json()["state"] == "revoked"
    await until_refused(new)


async def until_refused(holder: Holder) -> None:
    async with asyncio.timeout(5):
        while (await holder.get("/v1/caller")).status_code != 401:  # noqa: ASYNC110 - a client learns it by asking
            await asyncio.sleep(0.1)


async def test_the_last_operator_stays_unless_that_is_meant(stage: Stage) -> None:
    only = await a_tenant(stage.admin, "alone")
    refused = [
        await only.post(f"/v1/keys/{only.key}/revoke"),
        await only.post(f"/v1/subjects/{only.subject}/revoke", {}),
        await only.post(f"/v1/keys/{only.key}/revoke", {"lastOperator": False}),
    ]
    assert [answer.json()["code"] for answer in refused] == ["identity_conflict"] * 3
    assert "lastOperator" in refused[0].json()["detail"]

    other = await only.issue("operator")
    assert (await other.post(f"/v1/keys/{only.key}/revoke")).json()["state"] == "revoked"
    assert (await other.post(f"/v1/keys/{other.key}/revoke", {"lastOperator": True})).json()["state"] == "revoked"
    wanted = {"tenant": "alone", "roles": ["operator", "auditor"], "name": "a new first", "days": 9}
    assert (await stage.admin.holding(await stage.admin.post("/v1/keys", wanted)).get("/v1/keys")).status_code == 200


async def test_a_reviewer_reads_the_cases_that_are_assigned_to_it_and_no_others(stage: Stage) -> None:
    requester, reviewer = await stage.bank.issue("requester"), await stage.bank.issue("reviewer")
    mine, other = [await submitted(requester) for _ in range(2)]
    theirs = await submitted(await stage.shop.issue("requester"))
    at = f"/v1/debates/{mine}/reviewers"

    assert await reached(reviewer, mine, other, theirs) == []
    assert (await stage.bank.get(at)).json() == {"reviewers": []}
    first, again = [await stage.bank.post(at, {"subject": reviewer.subject}) for _ in range(2)]
    assert first.json() == again.json()
    assert [row["assignedBy"] for row in first.json()["reviewers"]] == [stage.bank.subject]
    assert await reached(reviewer, mine, other, theirs) == [mine]
    assert (await reviewer.post(f"/v1/debates/{mine}/abort")).status_code == 403
    assert (await reviewer.get(at)).status_code == 403

    for _ in range(2):
        assert (await stage.bank.post(f"{at}/{reviewer.subject}/remove")).json() == {"reviewers": []}
    assert await reached(reviewer, mine, other, theirs) == []

    for subject, status in ((stage.shop.subject, 422), (stage.admin.subject, 422), (stage.bank.secret, 422)):
        refused = await stage.bank.post(at, {"subject": subject})
        assert (refused.status_code, subject in refused.text) == (status, False), refused.text
    for path in (f"/v1/debates/{theirs}/reviewers", "/v1/debates/none/reviewers"):
        assert (await stage.bank.get(path)).status_code == 404
        assert (await stage.bank.post(path, {"subject": reviewer.subject})).status_code == 404
        assert (await stage.bank.post(f"{path}/{reviewer.subject}/remove")).status_code == 404
    await stage.bank.post(f"/v1/subjects/{reviewer.subject}/revoke")
    assert (await stage.bank.post(at, {"subject": reviewer.subject})).json()["code"] == "identity_conflict"
    found = await changes(stage.bank, reviewer.subject, "subjectRevoked")
    kinds = [(row["what"], row.get("debate")) for row in found]
    assert kinds[1:] == [("caseAssigned", mine), ("caseUnassigned", mine), ("subjectRevoked", None)]


async def submitted(requester: Holder) -> str:
    answer = await requester.post("/v1/debates", a_case(), prefer="wait=30")
    assert answer.status_code == 200, answer.text
    return str(answer.json()["debateId"])


async def reached(reviewer: Holder, *debates: str) -> list[str]:
    """The debates that a holder reads, by themselves and by its list."""
    single = [debate for debate in debates if (await reviewer.get(f"/v1/debates/{debate}")).status_code == 200]
    listed = [row["debateId"] for row in (await reviewer.get("/v1/debates")).json()["debates"]]
    assert sorted(single) == sorted(listed)
    return single


async def own_log(auditor: Holder) -> JSON:
    """The log of the holder's tenant, once a sequencer has opened it and signed a checkpoint."""
    async with asyncio.timeout(10):
        while True:
            logs: list[JSON] = (await auditor.get("/v1/audit/logs")).json()["logs"]
            if logs and logs[0].get("size"):
                return logs[0]
            await asyncio.sleep(0.05)


async def exported(auditor: Holder) -> bytes:
    """The records of the holder's log, once all of them are provable."""
    log = await own_log(auditor)
    answer = await auditor.get(f"{log['href']}/records")
    assert answer.status_code == 200, answer.text
    return bytes(answer.content)


async def changes(auditor: Holder, of: str, last: str) -> list[JSON]:
    """What was changed of a subject, or in a tenant, in the order of the holder's log; the last of it is provable."""
    found: list[JSON] = []
    async with asyncio.timeout(10):
        while not found or found[-1]["what"] != last:
            rows = [json.loads(text) for text in (await exported(auditor)).decode().splitlines()]
            payloads = [json.loads(row["payload"]) for row in rows if row.get("payload")]
            changed = [payload for payload in payloads if payload["kind"] == "access.changed"]
            found = [payload for payload in changed if of in (payload.get("subject"), payload.get("tenant"))]
    return found


async def test_each_change_is_in_the_log_of_its_tenant(
    stage: Stage, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    operator = await a_tenant(stage.admin, "books")
    made = await operator.issue("requester", name="Mary Secretperson")
    stage.admin.holding(await operator.post(f"/v1/keys/{made.key}/rotate", {"days": 3}))
    await operator.post(f"/v1/keys/{made.key}/revoke")
    await operator.post(f"/v1/subjects/{made.subject}/revoke")
    found = await changes(operator, "books", "subjectRevoked")

    assert [row["what"] for row in found] == [
        *("tenantCreated", "keyIssued", "keyIssued", "keyRotated", "keyRevoked", "subjectRevoked"),
    ]
    assert found[2] | {"expires": ""} == {
        "kind": "access.changed",
        "what": "keyIssued",
        "tenant": "books",
        "subject": made.subject,
        "key": made.key,
        "roles": ["requester"],
        "expires": "",
    }
    records = await exported(operator)
    assert b"Secretperson" not in records
    assert b"gainsay_" not in records
    assert found[1]["key"].encode() not in await exported(stage.bank)
    file = tmp_path / "books.jsonl"
    file.write_bytes(records)
    key = (await operator.get("/v1/audit/keys")).json()["keys"][0]["key"]
    words = ["audit", "verify", str(file), "--key", key, "--allow-unwitnessed", "--scope", "records"]
    assert await asyncio.to_thread(main, words) == 0, capfd.readouterr()


async def test_a_key_stands_in_its_one_answer_alone(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    made = await stage.bank.issue("auditor")
    told = [
        await stage.bank.get("/v1/keys?limit=100"),
        await stage.bank.get(f"/v1/keys/{made.key}"),
        await stage.bank.get("/v1/subjects?limit=100"),
        await made.get("/v1/caller"),
        await stage.bank.get(f"/v1/keys?after={made.secret}"),
        await stage.bank.get(f"/v1/keys?subject={made.secret}"),
        await stage.bank.get(f"/v1/subjects/{made.secret}"),
        await stage.bank.post("/v1/keys", {"roles": [made.secret], "name": "x", "days": 1}),
    ]
    assert [answer.status_code for answer in told][4:7] == [400, 400, 404]
    with psycopg.connect(stage.database.admin_url) as admin:
        tables = admin.execute(
            "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables "
            "WHERE schemaname LIKE 'gainsay%'"
        ).fetchall()
        stored = [str(admin.execute(f"SELECT t::text FROM {name} t").fetchall()) for (name,) in tables]

    logged = [record.getMessage() for record in caplog.records if record.name.startswith("gainsay")]

    assert any("/v1/keys" in line for line in logged)
    assert len(stored) > 20
    for place in ([answer.text for answer in told[:6]], [told[6].json()["detail"]], stored, logged):
        assert not any(made.secret in text for text in place)
        assert not any(made.secret.encode().hex() in text for text in place)


async def test_a_key_is_not_answered_twice(stage: Stage) -> None:
    body = {"roles": ["requester"], "name": "lost", "days": 9}
    count = len((await stage.bank.get("/v1/keys?limit=100")).json()["keys"])
    refused = [
        await stage.bank.post("/v1/keys", body, **{"idempotency-key": "k-1"}),
        await stage.bank.post(f"/v1/keys/{stage.bank.key}/rotate", {"days": 9}, **{"idempotency-key": "k-1"}),
        await stage.admin.post("/v1/tenants", {"name": "lost"}, **{"idempotency-key": "k-1"}),
    ]

    assert [answer.status_code for answer in refused] == [400] * 3
    assert all("revoke the key" in answer.json()["detail"] for answer in refused)
    assert len((await stage.bank.get("/v1/keys?limit=100")).json()["keys"]) == count


async def test_a_tenant_that_cannot_be_is_not_half_made(stage: Stage) -> None:
    bad = [
        ({"name": "bank"}, 409),
        ({"name": "The Bank"}, 422),
        ({"name": "half", "firstOperator": {"name": "x", "days": 367}}, 422),
        ({"name": "half", "firstOperator": {"name": "x", "days": 9, "roles": ["requester"]}}, 422),
        ({"name": "half", "firstOperator": {"name": "x", "days": 9, "roles": ["operator", "administrator"]}}, 422),
        ({"name": "half", "firstOperator": {"name": "", "days": 9}}, 422),
    ]
    for body, status in bad:
        answer = await stage.admin.post("/v1/tenants", body)
        assert answer.status_code == status, answer.text
        pointers = [fault["pointer"] for fault in answer.json().get("errors", [])]
        assert all(pointer.startswith("/firstOperator/") for pointer in pointers if pointer != "/name"), answer.text
    names = {row["name"] for row in (await stage.admin.get("/v1/tenants?limit=100")).json()["tenants"]}
    assert "half" not in names
    assert (await stage.bank.post("/v1/tenants", {"name": "mine"})).status_code == 403


async def test_an_expired_key_is_refused_and_shown_as_such(stage: Stage) -> None:
    gone = await Registers(stage.database).issue("requester", tenant="bank", seconds=-1)
    assert (await stage.site.http.get("/v1/caller", headers=gone.headers)).status_code == 401
    assert (await stage.bank.get(f"/v1/keys/{gone.key}")).json()["state"] == "expired"


async def test_a_service_without_identities_manages_none(database: Database) -> None:
    async with served(database.service_url, work=False, sequence=False) as site:
        told = (await site.http.get("/v1/caller")).json()
        assert (told["subject"], told["via"], told["tenant"]) == ("local", "none", "default")
        key = {"roles": ["operator"], "name": "planted", "days": 9}
        refused = [
            await site.http.post("/v1/keys", json=key),
            await site.http.post("/v1/tenants", json={"name": "planted"}),
            await site.http.get("/v1/keys"),
            await site.http.get("/v1/subjects"),
        ]

    assert [answer.json()["code"] for answer in refused] == ["identity_conflict"] * 4
    assert all("gainsay keys create" in answer.json()["detail"] for answer in refused)


async def test_keys_that_would_let_nobody_in_are_not_issued(database: Database, tmp_path: Path) -> None:
    proxy = '[proxy]\nfrom = ["127.0.0.1/32"]\nheader = "Gainsay-Subject"\ntenant = "default"\nroles = ["operator"]\n'
    identity = identity_file(tmp_path, proxy)
    async with served(database.service_url, work=False, sequence=False, GAINSAY_IDENTITY=identity) as site:
        headers = {"gainsay-subject": "ada"}
        key = {"roles": ["operator"], "name": "of no use", "days": 9}
        refused = await site.http.post("/v1/keys", json=key, headers=headers)
        listed = await site.http.get("/v1/subjects", headers=headers)

    assert (refused.status_code, "accepts no API keys" in refused.text) == (409, True)
    assert [row["external"] for row in listed.json()["subjects"]] == ["ada"]
