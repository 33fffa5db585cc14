"""The audit log over HTTP: followed by somebody who trusts nothing, and handed out to whoever may have it."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import re
import socket
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import pytest_asyncio

from service.audit.bundle import unpack
from service.audit.note import decode_base64
from service.audit.proof import check_proof, parse_proof
from service.audit.record import leaf_hash, open_leaf
from service.audit.tiles import decode_entries, tile_path
from service.audit.tree import ProofError, root_of, verify_consistency
from service.cli.audit.verify import tools
from service.verify.bundle import verify_bundle
from service.verify.export import verify_export
from service.verify.steps import Trust
from tests.fixtures.following import Follower
from tests.fixtures.growing import KEY, LOG, Growing
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, SIGNING_KEY, Served, a_case, a_declined_case, served, slow_policy

pytestmark = pytest.mark.asyncio(loop_scope="module")

AT = f"/v1/audit/logs/{LOG}"
OTHERS = "localhost/other/1"
SIZE = 66_000
UNKNOWN = "00000000-0000-7000-8000-000000000000"
TRUST = Trust(keys=(SIGNING_KEY.public,), allow_unwitnessed=True)


@pytest.fixture(scope="module")
def large(cluster: Any, template: Database) -> Iterator[tuple[Database, Growing]]:
    """A database with a log of three levels of tiles, and a log of another tenant."""
    with cluster.lend(template.name) as database:
        log, others = Growing(database.admin_url), Growing(database.admin_url, OTHERS, "other", epoch=2)
        log.add([sha256(b"%d" % n).digest() for n in range(SIZE - 300)])
        log.grow([b"leaf %d" % n for n in range(300)])
        others.grow([b"theirs"])
        yield database, log
        log.close()
        others.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf(large: tuple[Database, Growing]) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the service over that database."""
    async with served(large[0].service_url, work=False, sequence=False) as site:
        yield site.http


def problem_in(answer: httpx.Response, status: int, code: str) -> JSON:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    told: JSON = answer.json()
    assert told["code"] == code, told
    return told


async def readings(site: Served) -> list[JSON]:
    """The records of readings that the log holds, as an export gives them, itself included or not."""
    follower = Follower(site.http, LOG, SIGNING_KEY.public)
    await follower.follow()
    kinds = [json.loads(leaf) for leaf in follower.leaves]
    return [leaf for leaf in kinds if leaf["kind"] == "audit.read"]


async def test_a_follower_is_shown_that_the_log_only_grows_and_holds_each_record(site: Served) -> None:
    follower = Follower(site.http, LOG, SIGNING_KEY.public)
    sizes = []
    for case in (a_case(), a_declined_case(), a_case()):
        told = await site.submit(case, prefer="wait=30")
        debate, last = told["debateId"], (told["entries"] - 1 if "entries" in told else 1)

        index = await follower.prove(f"{debate}.{last}")

        assert follower.head
        sizes.append(follower.head.size)
        files = unpack((await site.http.get(f"/v1/debates/{debate}/audit")).content).files
        assert files[f"records/{last:04d}.leaf.json"] == follower.leaves[index]
        assert await follower.prove(str(index)) == index
    assert sizes == sorted(set(sizes))


async def test_a_bundle_and_an_export_that_are_handed_out_prove_themselves(site: Served) -> None:
    debate = (await site.finished())["debateId"]

    bundle = await site.http.get(f"/v1/debates/{debate}/audit")
    whole = await site.http.get(f"{AT}/records")
    some = await site.http.get(f"{AT}/records?format=jsonl&taskType=contract&status=completed")

    assert bundle.headers["content-type"] == "application/zip"
    assert bundle.headers["content-disposition"] == f'attachment; filename="{debate}.zip"'
    assert (bundle.headers["content-encoding"], bundle.headers["vary"]) == ("gzip", "Accept, Accept-Encoding")
    plain = await site.http.get(f"/v1/debates/{debate}/audit", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    octets = await site.http.get(f"/v1/debates/{debate}/audit", headers={"Accept": "application/octet-stream"})
    assert octets.headers["content-type"] == "application/octet-stream"
    assert verify_bundle(octets.content, TRUST, tools()).failed == ()
    assert verify_bundle(plain.content, TRUST, tools()).failed == ()
    assert verify_bundle(bundle.content, TRUST, tools()).failed == ()
    for export, complete in ((whole, True), (some, False)):
        lines = export.content.splitlines(keepends=True)
        assert export.headers["content-type"] == "application/jsonl"
        assert json.loads(lines[0])["complete"] == complete
        assert verify_export(lines, TRUST).failed == ()


async def test_a_record_that_was_rewritten_is_noticed(database: Database) -> None:
    async with served(database.service_url) as site:
        told = await site.finished()
        follower = Follower(site.http, LOG, SIGNING_KEY.public)
        await follower.follow()
        with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as owner:
            owner.execute("ALTER TABLE entry DISABLE TRIGGER USER")
            owner.execute("UPDATE entry SET leaf = overlay(leaf PLACING '3' FROM 6) WHERE n = 0")
        anew = Follower(site.http, LOG, SIGNING_KEY.public)

        with pytest.raises(ProofError):
            await anew.follow()
        proof = parse_proof((await site.http.get(f"{AT}/proof/{told['debateId']}.0")).content)

    check_proof(proof, leaf_hash(follower.leaves[proof.index]), [SIGNING_KEY.public], [], 0, origin=LOG)


@pytest.mark.no_replay
async def test_nothing_that_is_asked_of_a_damaged_debate_is_answered_with_its_words(database: Database) -> None:
    async with served(database.service_url) as site:
        told, other = await site.finished(), await site.finished()
        with psycopg.connect(database.admin_url, options="-c search_path=gainsay") as owner:
            owner.execute("ALTER TABLE payload DISABLE TRIGGER USER")
            owner.execute(
                "UPDATE payload SET body = convert_to(replace(convert_from(body, 'UTF8'), 'the', 'THE'), 'UTF8') "
                "WHERE debate = %s AND n > 3",
                [told["debateId"]],
            )
        debate = f"/v1/debates/{told['debateId']}"

        for path in ("", "?view=full", "/report", "/events", "/audit"):
            refused = problem_in(await site.http.get(f"{debate}{path}"), 500, "evidence_damaged")
            assert re.search(r"is damaged: record \d+ has a payload that it does not commit to", refused["detail"])
        problem_in(await site.http.post(f"{debate}/abort"), 500, "evidence_damaged")

        ready, sound = await site.http.get("/readyz"), await site.http.get(f"/v1/debates/{other['debateId']}/audit")
        listed = (await site.http.get("/v1/debates")).json()["debates"]
    assert (ready.status_code, sound.status_code) == (200, 200)
    assert {each["debateId"] for each in listed} == {told["debateId"], other["debateId"]}


async def test_a_log_that_is_made_anew_and_signed_again_is_noticed_by_whoever_kept_a_head(database: Database) -> None:
    """The owner has the key and the database; what it has not is the head that somebody kept."""
    leaves = [b"leaf %d" % n for n in range(600)]
    log = Growing(database.admin_url)
    log.grow(leaves[:400])
    async with served(database.service_url, work=False, sequence=False) as site:
        follower = Follower(site.http, LOG, KEY.public)
        kept = await follower.follow()
        for table in ("entry", "leaf", "batch", "tile", "cosignature", "checkpoint", "log_epoch"):
            log.tamper(f"DELETE FROM {table}")
        log.close()
        other = Growing(database.admin_url)
        other.grow([b"another", *leaves[1:400]])
        newcomer = Follower(site.http, LOG, KEY.public)

        assert (await newcomer.follow()).root != kept.root, "nothing is wrong with it for whoever comes new"
        with pytest.raises(ProofError, match="different roots"):
            await follower.follow()
        other.grow(leaves[400:])
        with pytest.raises(ProofError, match="another root of size 400"):
            await follower.follow()
        assert (await newcomer.follow()).size == 600
        other.close()


async def test_every_answer_names_a_head_that_the_log_is_held_to(site: Served) -> None:
    debate = (await site.finished())["debateId"]
    heads = []
    for path in ("/livez", "/v1/debates", f"/v1/debates/{debate}", f"/v1/debates/{UNKNOWN}", "/nowhere", "/metrics"):
        origin, size, root = (await site.http.get(path)).headers["gainsay-checkpoint"].split(" ")
        heads.append((origin, int(size), decode_base64(root) or b""))
    follower = Follower(site.http, LOG, SIGNING_KEY.public)
    latest = await follower.follow()

    for log, old, before in heads:
        assert log == LOG
        assert before == root_of(map(leaf_hash, follower.leaves[:old]))
        lines = (await site.http.get(f"{AT}/consistency?from={old}&to={latest.size}")).text.split()
        path_ = [decode_base64(line) or b"" for line in lines]
        verify_consistency(old, latest.size, path_, before, latest.root)
    assert [size for _, size, _ in heads] == sorted(size for _, size, _ in heads)


async def test_answers_of_a_service_without_a_signed_head_name_none(database: Database) -> None:
    async with served(database.service_url, work=False, sequence=False) as site:
        answers = [await site.http.get(path) for path in ("/livez", "/v1/debates", "/v1/audit/logs")]

        assert all("gainsay-checkpoint" not in answer.headers for answer in answers)
        assert answers[-1].json() == {"logs": []}
        problem_in(await site.http.get(f"{AT}/checkpoint"), 404, "not_found")
        Growing(database.admin_url).close()
        problem_in(await site.http.get(f"{AT}/checkpoint"), 503, "not_provable")
        (log,) = (await site.http.get("/v1/audit/logs")).json()["logs"]
        assert not {"size", "root"} & set(log)


async def test_the_logs_are_the_callers_with_their_keys_and_heads(
    shelf: httpx.AsyncClient, large: tuple[Database, Growing]
) -> None:
    told = (await shelf.get("/v1/audit/logs")).json()

    root = large[1].roots[SIZE].hex()
    assert told == {
        "logs": [{"log": LOG, "epoch": 1, "key": KEY.public.encode(), "size": SIZE, "root": root, "href": AT}]
    }


PLACES = {
    (0, 0): 256,
    (0, 257): 208,
    (0, 258): 0,
    (1, 0): 256,
    (1, 1): 1,
    (2, 0): 1,
    (3, 0): 0,
}
"""Tiles of a log of 66,000 leaves, and how wide each may be asked for."""


@pytest.mark.parametrize("place", PLACES)
async def test_tiles_are_there_at_the_widths_that_the_head_allows_and_at_no_other(
    shelf: httpx.AsyncClient, large: tuple[Database, Growing], place: tuple[int, int]
) -> None:
    level, index = place
    span = 256**level
    for width in sorted({1, 2, 207, 208, 209, 255, 256, max(1, PLACES[place])}):
        answer = await shelf.get(f"{AT}/{tile_path(level, index, width)}")

        if width > PLACES[place]:
            problem_in(answer, 404, "not_found")
            continue
        hashes = large[1].hashes
        first = index * 256
        expected = [root_of(hashes[n * span : (n + 1) * span]) for n in range(first, first + width)]
        assert answer.content == b"".join(expected)
        assert answer.headers["content-type"] == "application/octet-stream"
        kept = "private, max-age=31536000, immutable" if width == 256 else "private, no-cache"
        assert answer.headers["cache-control"] == kept


async def test_bundles_of_leaves_are_there_as_tiles_are(shelf: httpx.AsyncClient) -> None:
    last = await shelf.get(f"{AT}/tile/entries/257.p/208")
    full = await shelf.get(f"{AT}/tile/entries/257")

    assert decode_entries(last.content) == [b"leaf %d" % n for n in range(92, 300)]
    problem_in(full, 404, "not_found")


@pytest.mark.parametrize(
    "path",
    [
        "0/0",
        "0/000.p/0",
        "0/000.p/256",
        "00/000",
        "0/x000/000",
        "entries/x000/000",
        "64/000",
        "entries/0",
        "0/000.p/01",
    ],
)
async def test_a_tile_has_one_path(shelf: httpx.AsyncClient, path: str) -> None:
    problem_in(await shelf.get(f"{AT}/tile/{path}"), 404, "not_found")


async def test_proofs_are_given_under_every_head_that_was_signed(
    shelf: httpx.AsyncClient, large: tuple[Database, Growing]
) -> None:
    log = large[1]
    old = SIZE - 300
    for size, index in ((old, 0), (old, old - 1), (SIZE, 0), (SIZE, SIZE - 1)):
        answer = await shelf.get(f"{AT}/proof/{index}?size={size}")

        head = check_proof(parse_proof(answer.content), log.hashes[index], [KEY.public], [], 0, origin=LOG)
        assert head.size == size
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    latest = parse_proof((await shelf.get(f"{AT}/proof/5")).content)
    assert latest.checkpoint == (await shelf.get(f"{AT}/checkpoint")).content
    for old_, new in ((0, SIZE), (1, old), (old, SIZE), (SIZE, SIZE), (65_536, SIZE)):
        lines = (await shelf.get(f"{AT}/consistency?from={old_}&to={new}")).text.splitlines()
        path = [decode_base64(line) or b"" for line in lines]
        verify_consistency(old_, new, path, root_of(log.hashes[:old_]), log.roots[new])


REFUSED: dict[str, tuple[str, int, str]] = {
    "a log of another tenant": (f"/v1/audit/logs/{OTHERS}/checkpoint", 404, "not_found"),
    "a proof of another tenant": (f"/v1/audit/logs/{OTHERS}/proof/0", 404, "not_found"),
    "consistency of another tenant": (f"/v1/audit/logs/{OTHERS}/consistency?from=1", 404, "not_found"),
    "a tile of another tenant": (f"/v1/audit/logs/{OTHERS}/tile/0/000.p/1", 404, "not_found"),
    "leaves of another tenant": (f"/v1/audit/logs/{OTHERS}/tile/entries/000.p/1", 404, "not_found"),
    "records of another tenant": (f"/v1/audit/logs/{OTHERS}/records", 404, "not_found"),
    "no such log": ("/v1/audit/logs/localhost/default/01/checkpoint", 404, "not_found"),
    "a log with a NUL in its name": ("/v1/audit/logs/%00/%00/1/records", 404, "not_found"),
    "no such record": (f"{AT}/proof/{SIZE}", 404, "not_found"),
    "a record by no name": (f"{AT}/proof/first", 404, "not_found"),
    "a record by another spelling": (f"{AT}/proof/01", 404, "not_found"),
    "a record of no debate": (f"{AT}/proof/{UNKNOWN}.0", 404, "not_found"),
    "a record later than the head": (f"{AT}/proof/{SIZE - 300}?size={SIZE - 300}", 404, "not_found"),
    "a head that was not signed": (f"{AT}/proof/0?size=7", 404, "not_found"),
    "a size that is none": (f"{AT}/proof/0?size=-1", 400, "bad_request"),
    "a size twice": (f"{AT}/proof/0?size=7&size={SIZE}", 400, "bad_request"),
    "no older size": (f"{AT}/consistency", 400, "bad_request"),
    "an older size above the newer": (f"{AT}/consistency?from={SIZE + 1}", 400, "bad_request"),
    "a newer size that was not signed": (f"{AT}/consistency?from=1&to=7", 404, "not_found"),
    "a parameter that does nothing": (f"{AT}/checkpoint?size=7", 400, "bad_request"),
    "a filter that does nothing": (f"{AT}/records?seat=critic", 400, "bad_request"),
    "a filter twice": (f"{AT}/records?model=a&model=b", 400, "bad_request"),
    "a filter by no hash": (f"{AT}/records?prompt=critic", 400, "bad_request"),
    "a time without a zone": (f"{AT}/records?since=2026-01-01T00:00:00", 400, "bad_request"),
    "a form that is not to be had": (f"{AT}/records?format=xml", 400, "bad_request"),
    "no such debate": (f"/v1/debates/{UNKNOWN}/audit", 404, "not_found"),
    "a debate by no id": ("/v1/debates/contract/audit", 404, "not_found"),
    "a recall of nothing": ("/v1/audit/recall", 400, "bad_request"),
    "a recall of two": ("/v1/audit/recall?model=a&engine=b", 400, "bad_request"),
    "a recall by no hash": ("/v1/audit/recall?document=contract.txt", 400, "bad_request"),
    "a recall by what is not kept": ("/v1/audit/recall?seat=critic", 400, "bad_request"),
    "a recall of no page": ("/v1/audit/recall?model=a&limit=0", 400, "bad_request"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_cannot_be_had_is_refused_and_says_so(shelf: httpx.AsyncClient, name: str) -> None:
    path, status, code = REFUSED[name]

    problem_in(await shelf.get(path), status, code)


async def test_records_come_in_the_form_that_is_asked_for(site: Served) -> None:
    await site.submit(a_declined_case())
    forms = {
        "?format=csv": {},
        "?format=jsonl": {"accept": "text/csv"},
        "": {"accept": "text/csv, application/jsonl;q=0.5"},
        "?status=declined": {"accept": "application/x-ndjson"},
    }
    answers = [await site.http.get(f"{AT}/records{query}", headers=given) for query, given in forms.items()]
    refused = await site.http.get(f"{AT}/records", headers={"accept": "application/pdf"})

    types = [answer.headers["content-type"].partition(";")[0] for answer in answers]
    assert types == ["text/csv", "application/jsonl", "text/csv", "application/x-ndjson"]
    rows = list(csv.DictReader(io.StringIO(answers[0].text)))
    assert [row["index"] for row in rows] == [str(n) for n in range(len(rows))]
    assert answers[0].headers["content-disposition"] == 'attachment; filename="localhost-default-1.csv"'
    problem_in(refused, 406, "not_acceptable")


async def test_whoever_is_handed_evidence_is_recorded_before(site: Served) -> None:
    debate = (await site.finished())["debateId"]
    before = len(await readings(site))
    paths = (f"/v1/debates/{debate}/audit", f"{AT}/records?model=offline", "/v1/audit/recall?model=offline")
    for path in paths:
        assert (await site.http.get(path)).is_success

    found: list[JSON] = []
    for _ in range(600):  # they join the tree some milliseconds later
        found = (await readings(site))[before:]
        if len(found) >= len(paths):
            break
        await asyncio.sleep(0.05)

    assert [leaf["actor"] for leaf in found] == [
        {"id": "local", "kind": "unknown", "role": "operator", "via": "none"}
    ] * len(paths)
    lines = [json.loads(line) for line in (await site.http.get(f"{AT}/records")).text.splitlines()[1:-1]]
    told = [json.loads(line["payload"]) for line in lines if '"kind":"audit.read"' in line["leaf"]][before:]
    assert [(payload["what"], payload.get("debate"), payload.get("asked")) for payload in told] == [
        ("bundle", debate, None),
        ("records", None, {"log": LOG, "form": "jsonl", "model": "offline"}),
        ("recall", None, {"model": "offline"}),
    ]


async def test_no_record_names_the_machine_which_could_never_be_erased(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(database.service_url) as site:
        with caplog.at_level("INFO", "gainsay"):
            await site.finished()
        of_log = {"tenant": "default", "log": LOG}
        rows = await site.app.database.query("export_all", {**of_log, "first": 0, "below": 1_000, "most": 1_000})
    actors = {open_leaf(bytes(row["leaf"])).actor.id for row in rows}

    (taken,) = [vars(record) for record in caplog.records if record.msg == "claiming debates"]
    assert (taken["worker"] in actors, taken["host"]) == (True, socket.gethostname())
    assert all(re.fullmatch(r"local|process-[0-9a-f]{12}", actor) for actor in actors), actors
    assert socket.gethostname() not in str(actors)


async def test_decisions_are_found_by_what_they_rest_on(site: Served) -> None:
    text = "A document of its own: the cap is 30 days of fees."
    told = await site.finished(a_case(documents=[{"id": "D1", "text": text}]))
    again = await site.finished(a_case(documents=[{"id": "D2", "text": text}]))
    path = f"/v1/audit/recall?document={sha256(text.encode()).hexdigest()}"

    whole = (await site.http.get(path)).json()
    first = await site.http.get(f"{path}&limit=1")
    rest = await site.http.get(first.headers["link"].partition(">")[0].removeprefix("<"))

    assert [row["debateId"] for row in whole["debates"]] == [again["debateId"], told["debateId"]]
    row = whole["debates"][1]
    assert (row["taskType"], row["status"], row["log"]) == ("contract", "completed", LOG)
    assert row["index"] == told["hashes"]["log"]["index"]
    assert row["href"] == f"/v1/debates/{told['debateId']}"
    assert first.json()["next"] == again["debateId"]
    assert [row["debateId"] for row in rest.json()["debates"]] == [told["debateId"]]
    assert "next" not in rest.json()
    for asked, value in (("prompt", told["hashes"]["pins"]["critic"].partition(":")[2]), ("model", "offline")):
        assert (await site.http.get(f"/v1/audit/recall?{asked}={value}")).is_success


async def test_the_bundle_of_a_debate_that_goes_on_is_not_whole_yet(database: Database, tmp_path: Path) -> None:
    policy = str(slow_policy(tmp_path, latency_ms=2_000))
    async with served(database.service_url, GAINSAY_POLICY=policy, GAINSAY_GRACE_S="0") as site:
        debate = (await site.submit())["debateId"]

        answer = await site.http.get(f"/v1/debates/{debate}/audit")

    problem_in(answer, 409, "not_over")
    assert int(answer.headers["retry-after"]) >= 1


async def test_what_is_recorded_and_not_provable_yet_is_held(database: Database) -> None:
    async with served(database.service_url, work=False) as site:
        await site.submit(a_declined_case())
    async with served(database.service_url, work=False, sequence=False) as site:
        answer = await site.http.post("/v1/debates", json=a_declined_case())
        (newest, *_) = (await site.http.get("/v1/debates")).json()["debates"]
        bundle = await site.http.get(f"/v1/debates/{newest['debateId']}/audit")
        proof = await site.http.get(f"{AT}/proof/{newest['debateId']}.0")
        beyond = await site.http.get(f"{AT}/proof/{newest['debateId']}.9")

    problem_in(answer, 503, "not_provable")
    for held in (bundle, proof):
        problem_in(held, 503, "not_provable")
        assert held.headers["retry-after"] == "1"
    problem_in(beyond, 404, "not_found")


async def test_a_tree_that_was_changed_proves_nothing_and_is_an_error_of_ours(database: Database) -> None:
    log = Growing(database.admin_url)
    log.grow([b"leaf %d" % n for n in range(300)])
    log.tamper("UPDATE leaf SET hash = %s WHERE idx = 299", bytes(32))
    async with served(database.service_url, work=False, sequence=False) as site:
        for path in ("proof/0", "consistency?from=5"):
            problem_in(await site.http.get(f"{AT}/{path}"), 500, "log_damaged")
        changed = await site.http.get(f"{AT}/tile/0/001.p/44")
        log.tamper("DELETE FROM entry WHERE debate IN (SELECT debate FROM leaf WHERE idx = 299)")
        gone = await site.http.get(f"{AT}/tile/entries/001.p/44")
    log.close()

    assert changed.content[-32:] == bytes(32), "what is stored is what is served, so that it shows"
    problem_in(gone, 500, "log_damaged")


async def test_an_export_that_cannot_go_on_breaks_off_and_does_not_end(database: Database) -> None:
    log = Growing(database.admin_url)
    log.grow([b"leaf %d" % n for n in range(600)])
    log.tamper("DELETE FROM entry WHERE debate IN (SELECT debate FROM leaf WHERE idx = 599)")
    log.close()
    async with served(database.service_url, work=False, sequence=False) as site:
        with pytest.raises(httpx.RemoteProtocolError):
            await site.http.get(f"{AT}/records")
        alive = await site.http.get("/livez")

    assert alive.status_code == 200
