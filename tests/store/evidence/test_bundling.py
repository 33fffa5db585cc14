"""A bundle holds all that a decision rests on, byte for byte, says what it lacks, and is handed out on record alone."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest
from jsonschema import Draft202012Validator

from service import samples
from service.audit.bundle import Bundle, decode_index, pack, unpack
from service.audit.bundle_texts import SCHEMAS
from service.audit.checkpoint import cosign, open_checkpoint
from service.audit.log_events import AuditRead
from service.audit.record import commit, leaf_hash, open_leaf
from service.audit.tree import verify_inclusion
from service.debate.versions import newest
from service.errors import AuditUnavailable, EvidenceDamaged, NotFound, NotProvable
from service.identity.caller import Caller
from service.policy import encode_policy
from service.prompts import DIRECTORY
from service.reviews.evidence import NotOver, bundle_files, stored_parts
from service.reviews.evidence.bundle_files import OtherBuild, compose_files, schemas
from service.reviews.evidence.covering_head import covering_head
from service.reviews.evidence.stored_parts import read_parts
from service.store.proofs import LogDamaged, latest_checkpoint, proven
from service.store.rotation import next_log, open_next
from service.store.sealing import write_event
from service.store.stored_debate import read_head
from service.verify.bundle import verify_bundle
from service.verify.steps import Trust
from tests.fixtures.bundles import TOOLS
from tests.fixtures.growing import WITNESS
from tests.fixtures.running import CALLER, TEXT
from tests.fixtures.sequencing import KEY, LOG
from tests.store.evidence.conftest import EXAMINER, TRUST, House, verified, wrong

HOSTILE = [
    {"id": "../../etc/passwd", "title": "", "text": TEXT},
    {"id": "договор ☃/2", "title": "=HYPERLINK(1)", "text": "Unrelated — but \u2028 long.\r\nTwo lines."},
    {"id": "D1", "title": "records/0000.leaf.json", "text": TEXT},
]


PARTS = {
    *("README.txt", "report.md", "report.html", "schema", "records", "context.json", "context.salt", "policy.json"),
    *("proofs", "checkpoints"),
}
"""What every bundle has."""


def parts(bundle: Bundle) -> set[str]:
    """The files and folders of a bundle."""
    return {path.partition("/")[0] for path in bundle.files}


async def test_the_bundle_of_a_debate_proves_itself_and_lacks_nothing_but_what_never_was(house: House) -> None:
    data = await house.bundle(await house.debated())
    found = unpack(data)

    assert wrong(verified(data)) == {}
    assert parts(found) == {*PARTS, "configuration.json", "documents", "prompts"}
    assert found.manifest.status == "completed"
    assert found.manifest.logs == (LOG,)


@pytest.mark.parametrize("name", samples.names())
async def test_the_bundle_of_every_sample_proves_itself(house: House, name: str) -> None:
    case: dict[str, Any] = {**samples.load(name).case, "options": {"format": "adversarial", "maxRounds": 1}}

    data = await house.bundle(await house.debated(**case))

    assert wrong(verified(data)) == {}
    assert len(decode_index(unpack(data).files["documents/index.json"])) == len(case["documents"])


async def test_documents_keep_their_bytes_under_plain_names_whatever_they_are_called(house: House) -> None:
    data = await house.bundle(await house.debated(documents=HOSTILE))
    found = unpack(data)
    index = decode_index(found.files["documents/index.json"])

    assert wrong(verified(data)) == {}
    assert [(d.id, d.title, d.file) for d in index] == [
        (given["id"], given["title"] or given["id"], f"documents/{n:04d}.txt") for n, given in enumerate(HOSTILE, 1)
    ]
    assert [found.files[str(d.file)].decode() for d in index] == [given["text"] for given in HOSTILE]


async def test_the_bundle_of_a_declined_case_says_why_it_has_no_debate(house: House) -> None:
    data = await house.bundle(await house.declined())
    found = unpack(data)

    assert wrong(verified(data)) == {}
    assert found.manifest.status == "declined"
    assert found.manifest.records == 2
    assert parts(found) == {*PARTS, "documents"}
    assert b"declined" in found.files["report.md"]


async def test_records_prompts_policy_and_configuration_are_the_bytes_that_were_stored(house: House) -> None:
    debate = await house.debated()
    found = await house.opened(debate)
    stored = house.rows(
        "SELECT n, leaf, salt, body FROM entry JOIN payload USING (debate, n) WHERE debate = %s ORDER BY n", debate
    )

    assert found.manifest.records == len(stored) > 10
    for n, leaf, salt, body in stored:
        part = f"records/{n:04d}"
        assert [found.files[f"{part}.{of}"] for of in ("leaf.json", "payload.json", "salt")] == [
            *(leaf, body, salt.hex().encode())
        ]
    assert found.files["policy.json"] == encode_policy(house.desk.policy)
    assert found.files["configuration.json"] == house.desk.deployment.configuration
    assert {name: found.files[f"prompts/{name}"] for name in ("manifest.json", "critic.v1.md", "layout.v1.json")} == {
        name: (DIRECTORY / name).read_bytes() for name in ("manifest.json", "critic.v1.md", "layout.v1.json")
    }
    context = found.files["context.json"], bytes.fromhex(found.files["context.salt"].decode())
    assert open_leaf(stored[0][1]).context == commit(context[1], context[0])


async def test_every_file_of_a_bundle_is_as_the_schemas_in_it_say(house: House) -> None:
    files = (await house.opened(await house.debated())).files

    def valid(path: str, name: str) -> None:
        Draft202012Validator(json.loads(files[f"schema/{name}.json"])).validate(json.loads(files[path]))

    for path in (path for path in files if path.startswith("records/") and path.endswith(".leaf.json")):
        leaf = open_leaf(files[path])
        valid(path, f"leaf.v{leaf.v}")
        valid(path.replace(".leaf.", ".payload."), f"payload.{leaf.kind}.v{leaf.schema}")
    valid("documents/index.json", "documents.v1")
    valid("context.json", "context.v1")
    assert set(schemas(newest(SCHEMAS))) < set(files)


async def test_the_same_evidence_gives_the_same_bytes(house: House) -> None:
    debate = await house.debated()
    head, place = (
        await read_head(house.desk.database, debate, "default"),
        await proven(house.desk.database, "default", debate, 18),
    )
    assert place is not None
    database, covering = house.desk.database, await covering_head(house.desk.database, "default", debate, place)

    made = [pack(compose_files(await read_parts(database, debate, head, place, covering))) for _ in range(2)]

    assert made[0] == made[1]
    assert pack(unpack(made[0])) == made[0]


async def test_that_somebody_is_handed_a_bundle_is_a_record_of_the_log(house: House) -> None:
    debate = await house.debated()

    await house.bundle(debate)
    await house.sequencer.catch_up()

    ((leaf, body, log),) = house.rows(
        "SELECT leaf, body, log FROM leaf JOIN entry USING (debate, n) JOIN payload USING (debate, n) "
        "WHERE position('audit.read' IN convert_from(leaf, 'UTF8')) > 0"
    )
    assert json.loads(body) == {"kind": "audit.read", "what": "bundle", "debate": debate}
    assert open_leaf(leaf).actor == EXAMINER.actor
    assert log == LOG


async def test_nobody_is_handed_a_bundle_when_that_cannot_be_recorded(house: House) -> None:
    debate = await house.debated()
    house.tamper("REVOKE INSERT ON pending FROM gainsay_writer")

    with pytest.raises(AuditUnavailable):
        await house.bundle(debate)


async def test_a_debate_that_goes_on_or_is_not_provable_yet_has_no_bundle(house: House) -> None:
    going_on = await house.desk.submit()
    with pytest.raises(NotOver) as early:
        await house.bundle(going_on)
    assert (early.value.status, early.value.retry_after) == (409, 5)

    assert await house.desk.claim() == going_on
    await (await house.desk.runner(going_on)).run()
    with pytest.raises(NotProvable) as held:
        await house.bundle(going_on)
    assert (held.value.status, held.value.retry_after) == (503, 1)

    await house.sequencer.catch_up()
    assert wrong(verified(await house.bundle(going_on))) == {}


@pytest.mark.parametrize("spelt", [str.upper, lambda debate: f"{{{debate}}}", lambda debate: f"urn:uuid:{debate}"])
async def test_a_debate_is_named_as_it_is_recorded_however_it_was_asked_for(house: House, spelt: Any) -> None:
    debate = await house.declined()

    data = await house.bundle(spelt(debate))

    assert unpack(data).manifest.debate == debate
    assert wrong(verified(data)) == {}


async def test_another_tenants_debate_and_one_that_is_none_are_not_found(house: House) -> None:
    debate = await house.declined()

    for asked, caller in ((debate, Caller(tenant="other")), (str(uuid4()), CALLER), ("../../etc", CALLER)):
        with pytest.raises(NotFound):
            await house.bundle(asked, caller)
    assert house.rows("SELECT count(*) FROM pending") == [(0,)]


@pytest.mark.no_replay
@pytest.mark.parametrize(
    ("statement", "place"),
    [
        ("DELETE FROM payload WHERE n = 5", "record 5 has no payload any more"),
        ("UPDATE payload SET body = '\\xff00' WHERE n = 0", "record 0 has a payload that it does not commit to"),
        ("DELETE FROM entry WHERE n = 5", "record 5 is not stored"),
        ("UPDATE leaf SET hash = sha256(hash) WHERE n = 5", "record 5 is not the one that was logged"),
        ("DELETE FROM document", "document 1 of the case is not stored"),
        ("DELETE FROM context", "the context is not stored"),
        (
            "DELETE FROM content WHERE sha256 = '\\x{critic}'",
            "at the step parts .* prompts/critic.v1.md, found nothing",
        ),
        ("DELETE FROM content", "at the step parts does not agree with the log"),
        (
            "UPDATE checkpoint SET note = convert_to(translate(convert_from(note, 'UTF8'), 'AEIOU', 'EIOUA'), 'UTF8')",
            "at the step signature",
        ),
        ("UPDATE log_epoch SET key = 'nonsense'", "the key of the log localhost/default/1 is not a verifier key"),
        ("UPDATE debate_head SET state = 'failed'", "the head row says that the debate is failed"),
    ],
)
async def test_a_bundle_of_damaged_evidence_does_not_leave(house: House, statement: str, place: str) -> None:
    debate = await house.debated()
    critic = sha256((DIRECTORY / "critic.v1.md").read_bytes()).hexdigest()
    house.tamper(statement.format(critic=critic))

    with pytest.raises(EvidenceDamaged, match=place):
        await house.bundle(debate)

    of_log = "signature" in place or place.startswith("the key of the log")
    assert house.rows("SELECT subject FROM damage") == [("log" if of_log else "debate",)]


@pytest.mark.no_replay
async def test_nothing_is_handed_out_as_proven_where_the_log_has_lost_a_record(house: House) -> None:
    debate = await house.debated()
    house.tamper("DELETE FROM leaf WHERE n = 5")

    with pytest.raises(LogDamaged):
        await house.bundle(debate)

    assert house.rows("SELECT subject, place FROM damage") == [("log", "the tree of the log localhost/default/1")]


async def test_a_debate_in_a_later_log_carries_the_records_that_opened_it(house: House) -> None:
    store = house.desk.database
    first = await house.debated()
    for _ in range(2):
        await open_next(store, await next_log(store, "default", "localhost"), KEY.public, EXAMINER)
        await house.sequencer.catch_up()
    house.desk.reviews._recorder._logs = house.logs

    later = await house.debated()
    data = await house.bundle(later)
    found = unpack(data)

    assert wrong(verified(data)) == {}
    assert found.manifest.logs == ("localhost/default/3", "localhost/default/2")
    assert [open_leaf(found.files[f"heads/{n:04d}.leaf.json"]).log for n in (1, 2)] == [
        *("localhost/default/2", "localhost/default/3")
    ]
    assert [open_checkpoint(found.files[f"checkpoints/{n:04d}.txt"], [KEY.public])[0].origin for n in (1, 2)] == list(
        found.manifest.logs
    )
    assert unpack(await house.bundle(first)).manifest.logs == (LOG,)


async def test_what_opened_the_debates_own_log_is_proven_under_the_bundles_head_also_when_a_newer_one_is_there(
    house: House,
) -> None:
    store, log = house.desk.database, "localhost/default/2"
    await house.declined()
    await open_next(store, await next_log(store, "default", "localhost"), KEY.public, EXAMINER)
    await house.sequencer.catch_up()
    older = await latest_checkpoint(store, "default", log)
    assert older is not None
    await write_event(store, AuditRead("recall"), log, "default", EXAMINER)
    await house.sequencer.catch_up()

    (opened,) = await stored_parts._opening_records(store, "default", older)

    assert opened.head == older != await latest_checkpoint(store, "default", log)
    verify_inclusion(leaf_hash(opened.record.leaf), opened.record.index, older.size, opened.path, older.root)


async def test_the_checkpoint_carries_what_witnesses_countersigned(house: House) -> None:
    debate = await house.debated()
    ((note, size),) = house.rows("SELECT note, size FROM checkpoint ORDER BY size DESC LIMIT 1")
    head, _ = open_checkpoint(note, [KEY.public])
    line = cosign(head, 1_795_000_000, WITNESS)
    house.rows("INSERT INTO cosignature VALUES (%s, %s, %s, %s) RETURNING 1", LOG, size, WITNESS.public.name, line)

    report = verify_bundle(await house.bundle(debate), Trust(TRUST.keys, (WITNESS.public,)), TOOLS)

    assert {step.name: step.state for step in report.steps}["witnesses"] == "OK"


@pytest.mark.parametrize("table", ["REPORTS", "READMES", "SCHEMAS"])
async def test_what_only_another_build_can_write_is_not_handed_out_without_it(
    house: House, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    monkeypatch.setattr(bundle_files, table, {"other/9": None})

    with pytest.raises(OtherBuild, match="this build has other/9") as refused:
        await house.bundle(await house.declined())
    assert refused.value.status == 503
