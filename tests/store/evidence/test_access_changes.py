"""A change of access is a record without a secret or a name, and no other form of it is written or verified."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from service.audit.export import Footer, Header, Row, encode_footer, encode_header, encode_row
from service.audit.log_events import AccessChanged, Change, ContentRead, encode, kind
from service.audit.record import Actor, Link, RecordPlace, Times, Writer, open_leaf, seal
from service.store.access_changes import record_change
from service.verify.export import verify_export
from service.verify.steps import VerificationReport
from tests.fixtures.bundles import LOG_KEY, tree
from tests.store.evidence.conftest import TRUST, House, examined, wrong

ADMINISTRATOR = Writer(Actor("sub_0z9y8x7w6v5t4s3r2q1p0n9m8k", "person", "operator", "oidc"), "00" * 32)
SUBJECT, KEY = "sub_7z9y8x7w6v5t4s3r2q1p0n9m8k", "key_0a1b2c3d4e5f6g7h8j9k0m1n2p"
SECRET = "gsk_4Zc2mQ8vX1nB7tR5yL0wK3sJ6hF9dG2aP4eU8iO"
DEBATE = "0199c0de-0000-7000-8000-000000000001"
EXPIRES = "2027-11-24T09:00:00.000Z"
PAYLOADS = Path(__file__).resolve().parents[2] / "vectors" / "payloads"
ISSUED = {
    "kind": "access.changed",
    "what": "keyIssued",
    "subject": SUBJECT,
    "key": KEY,
    "roles": ["requester"],
    "expires": EXPIRES,
    "tenant": "default",
}
READ = {
    "subject": SUBJECT,
    "role": "auditor",
    "via": "apiKey",
    "what": "result",
    "debate": DEBATE,
    "times": 1,
    "first": EXPIRES,
    "last": EXPIRES,
}


def kept(name: str) -> list[dict[str, Any]]:
    """The payloads of a kind that are kept."""
    return [json.loads(line) for line in (PAYLOADS / f"payload.{name}.v1.jsonl").read_bytes().splitlines()]


def verified(payload: object, of: str) -> VerificationReport:
    """What the verifier says of a log with one record, sealed around any payload."""
    body = json.dumps(payload, separators=(",", ":"), sort_keys=True).encode()
    log, at = "localhost/default/1", "2025-10-07T22:49:58.528Z"
    sealed = seal(
        body,
        bytes(32),
        of,
        place=RecordPlace(log, "default", "0199c0de-0000-7000-8000-000000000009"),
        writer=ADMINISTRATOR,
        link=Link(0, b""),
        times=Times(at, at),
    )
    head = tree([sealed.leaf], log, LOG_KEY, ()).note.decode()
    header = Header(log=log, key=LOG_KEY.public.encode(), size=1, checkpoint=head, filters={}, complete=True)
    row = Row.of(0, sealed.leaf, payload=(sealed.salt, body), context=None, path=None)
    lines = [encode_header(header), encode_row(row), encode_footer(Footer(1))]
    return verify_export(lines, msgspec.structs.replace(TRUST, keys=(LOG_KEY.public,)))


async def test_each_change_is_in_its_tenants_log_with_who_made_it_and_verifies(house: House) -> None:
    changes = [msgspec.convert(each, AccessChanged) for each in kept("access.changed")]
    for changed in changes:
        await record_change(house.desk.database, house.logs, changed, "default", ADMINISTRATOR)
    await record_change(house.desk.database, house.logs, changes[0], "north", ADMINISTRATOR)
    await house.sequencer.catch_up()

    rows = house.rows("SELECT e.leaf, p.body FROM entry e JOIN payload p USING (debate, n) ORDER BY e.debate")
    leaves = [open_leaf(bytes(leaf)) for leaf, _ in rows]
    assert {changed.what for changed in changes} == set(get_args(Change))
    assert sorted(leaf.log for leaf in leaves) == [*["localhost/default/1"] * len(changes), "localhost/north/1"]
    assert {(leaf.kind, leaf.actor) for leaf in leaves} == {("access.changed", ADMINISTRATOR.actor)}
    assert sorted(str(json.loads(body)) for _, body in rows) == sorted(
        map(str, [*kept("access.changed"), kept("access.changed")[0]])
    )
    assert wrong(examined(await house.export())) == {}


@pytest.mark.parametrize(
    "changed",
    [
        AccessChanged("keyRevoked", key=SECRET, subject=SUBJECT),
        AccessChanged("keyRevoked", key=KEY, subject="Jane Doe"),
        AccessChanged("keyIssued", key=KEY, subject=SUBJECT, roles=(SECRET,), expires=EXPIRES),
        AccessChanged("keyIssued", key=KEY, subject=SUBJECT, roles=("jane@bank.example",), expires=EXPIRES),
        AccessChanged("keyIssued", key=KEY, subject=SUBJECT, roles=("requester",), expires="in a year"),
        AccessChanged("tenantCreated", tenant="Jane Doe"),
        AccessChanged("caseAssigned", subject=SUBJECT, debate="the case of Jane Doe"),
    ],
    ids=["a secret", "a name", "a secret as a role", "an address", "another time", "a name of a tenant", "a text"],
)
async def test_what_has_no_room_in_the_record_is_not_recorded(house: House, changed: AccessChanged) -> None:
    with pytest.raises(ValueError, match="Expected"):
        await record_change(house.desk.database, house.logs, changed, "default", ADMINISTRATOR)

    assert house.rows("SELECT 1 FROM entry") == []


@pytest.mark.parametrize("of", ["access.changed", "content.read"])
def test_the_payloads_that_are_kept_verify(of: str) -> None:
    for payload in kept(of):
        assert wrong(verified(payload, of)) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"what": "keyLent"},
        {"what": "tenantCreated"},
        {"roles": []},
        {"subject": None},
        {"expires": None},
        {"key": SECRET},
        {"subject": "Jane Doe"},
        {"debate": DEBATE},
        {"replaced": KEY},
        {"name": "Jane Doe"},
        {"hash": "ab" * 32},
        {"tenant": "a tenant/of many words"},
    ],
    ids=lambda change: next(iter(change)) + " " + str(next(iter(change.values())))[:9],
)
def test_a_change_in_another_form_fails_the_verifier(change: dict[str, Any]) -> None:
    assert wrong(verified(ISSUED, "access.changed")) == {}
    payload = {name: value for name, value in {**ISSUED, **change}.items() if value is not None}

    assert "logs" in wrong(verified(payload, "access.changed"))


@pytest.mark.parametrize(
    "change",
    [
        {"debate": None},
        {"what": "list"},
        {"what": "thought"},
        {"times": 0},
        {"last": "2027-11-24T08:59:59.000Z"},
        {"via": "trust"},
        {"credential": SECRET},
        {"name": "Jane Doe"},
        {"role": ""},
        {"subject": ""},
    ],
    ids=lambda change: next(iter(change)) + " " + str(next(iter(change.values())))[:9],
)
def test_a_reading_in_another_form_fails_the_verifier(change: dict[str, Any]) -> None:
    assert wrong(verified({"kind": "content.read", "readings": [READ]}, "content.read")) == {}
    reading = {name: value for name, value in {**READ, **change}.items() if value is not None}

    for readings in ([reading], [READ, reading], [], [READ] * 257):
        assert "logs" in wrong(verified({"kind": "content.read", "readings": readings}, "content.read"))


def test_a_record_of_readings_is_written_as_it_is_kept() -> None:
    (payload,) = kept("content.read")
    event = msgspec.convert(payload, ContentRead)

    assert (kind(event), json.loads(encode(event))) == ("content.read", payload)
