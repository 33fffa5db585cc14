"""No step fails by a record that a later build wrote, none claims what it may have said, and it hides no difference."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.export import Footer, Header, Row, decode_header, encode_footer, encode_header, encode_row, read
from service.audit.note import parse_note
from service.audit.record import commit, leaf_hash
from service.audit.tree import root_of
from service.reviews import evidence
from service.simulated.provider import OfflineProvider
from service.store.current_log import CurrentLogs
from service.verify.evaluations import Evaluations
from service.verify.export import check_line, verify_export
from service.verify.log_records import LogRecords
from service.verify.looks import Looks
from service.verify.opened_bundle import read_leaf
from service.verify.steps import Differs, Trust
from service.verify.tilts import Tilts
from service.verify.unread_leaves import UnreadLeaves
from tests.fixtures.bundles import step
from tests.fixtures.evaluating import CALLER, a_desk, a_feeder, concluded, evaluating, registered_held
from tests.fixtures.postgres import Database
from tests.fixtures.running import a_writer, bench
from tests.fixtures.sequencing import KEY, LOG, a_sequencer
from tests.store.verify.test_evaluations import sets
from tests.store.workers import a_worker

pytestmark = [pytest.mark.no_replay, pytest.mark.long]
TRUST = Trust((KEY.public,), allow_unwitnessed=True, records_only=True)
CLAIMS = (
    *("records", "chains", "payloads", "logs", "moves", "charges", "money", "outcome", "plans", "looks"),
    "evaluations",
)
"""Steps that say something of every record, and so nothing where a leaf may be of any chain."""


@pytest.fixture
async def lines(database: Database) -> list[bytes]:
    """The lines of a log with an evaluation of a held split that was concluded, and another registration of it."""
    async with bench(database.service_url, OfflineProvider()) as service, a_sequencer(database) as sequencer:
        desk = a_desk(service)
        evaluation = await registered_held(desk)
        await sequencer.catch_up()
        async with a_worker(service, build="00" * 32), evaluating(a_feeder(service, desk)):
            await concluded(desk, evaluation, sequencer)
        await registered_held(desk)
        await sequencer.catch_up()
        logs = CurrentLogs(service.database, "localhost")
        chunks = await evidence.export(
            service.database, logs, LOG, evidence.Filters.of({}), CALLER, a_writer("examiner"), form="jsonl"
        )
        return b"".join([chunk async for chunk in chunks]).splitlines(keepends=True)


def sealed_again(lines: list[bytes], place: int, **changes: Any) -> list[bytes]:
    """The lines with members of one envelope changed, as a later build would have sealed and signed them."""
    header, rows = decode_header(lines[0]), list(read(iter(lines))[1])
    leaves = [json.loads(row.leaf) for row in rows]
    of_chain, before = leaves[place]["debate"], ""
    leaves[place].update(changes)
    written = []
    for row, leaf in zip(rows, leaves, strict=True):
        text = row.leaf
        if leaf["debate"] == of_chain:
            leaf["prev"] = before
            text = msgspec.json.encode(leaf).decode()
            before = leaf_hash(text.encode()).hex()
        written.append(msgspec.structs.replace(row, leaf=text))
    return signed(header, written)


def signed(header: Header, rows: Sequence[Row]) -> list[bytes]:
    """The lines of a whole log of these records."""
    placed = [msgspec.structs.replace(row, index=index) for index, row in enumerate(rows)]
    root = root_of([leaf_hash(row.leaf.encode()) for row in placed])
    note = sign_checkpoint(Checkpoint(header.log, len(placed), root), KEY).decode()
    first = encode_header(msgspec.structs.replace(header, checkpoint=note, size=len(placed)))
    return [first, *map(encode_row, placed), encode_footer(Footer(len(placed)))]


def without(lines: list[bytes], *places: int) -> list[bytes]:
    """The log without these records, signed again."""
    header, rows = read(iter(lines))
    return signed(header, [row for place, row in enumerate(rows) if place not in places])


def beside(lines: list[bytes], place: int, leaf: str) -> list[bytes]:
    """The log with this leaf in front of a record, signed again."""
    header, rows = read(iter(lines))
    written = list(rows)
    written.insert(place, Row(0, leaf, None, None, None, None, None))
    return signed(header, written)


def turns(lines: list[bytes]) -> list[int]:
    """The places of records 4, 5, … of the first debate."""
    debates = [json.loads(row.leaf)["debate"] for row in read(iter(lines))[1]]
    first = debates[kinds(lines).index("turn.spoke")]
    return [place for place, debate in enumerate(debates) if debate == first][4:]


def failed(lines: list[bytes]) -> list[str]:
    """The steps over single records and their chains that fail."""
    report = verify_export(iter(lines), TRUST, every=True, evaluations=Evaluations(sets()))
    return [one.name for one in report.failed if one.name in ("records", "chains", "payloads")]


def forged(lines: list[bytes], place: int, **changes: Any) -> list[bytes]:
    """The log with members of one payload changed, sealed again."""
    row = list(read(iter(lines))[1])[place]
    payload = msgspec.json.encode({**json.loads(row.payload or ""), **changes}, order="sorted").decode()
    other = [*lines]
    other[place + 1] = encode_row(msgspec.structs.replace(row, payload=payload))
    return sealed_again(other, place, commitment=commit(bytes.fromhex(row.salt or ""), payload.encode()))


def kinds(lines: list[bytes]) -> list[str]:
    return [json.loads(row.leaf)["kind"] for row in read(iter(lines))[1]]


def states(lines: list[bytes]) -> dict[str, str]:
    report = verify_export(iter(lines), TRUST, every=True, evaluations=Evaluations(sets()))
    assert report.failed == ()
    assert {"logs", "looks", "evaluations"} <= {one.name for one in report.steps}
    return {one.name: one.state for one in report.steps}


async def test_a_leaf_of_a_later_version_fails_no_step_and_is_claimed_by_none(lines: list[bytes]) -> None:
    assert {state for name, state in states(lines).items() if name not in ("witnesses", "sources")} == {"OK"}
    for place, kind in enumerate(kinds(lines)):
        later = sealed_again(lines, place, v=3)
        found = states(later)
        claimed = [name for name in CLAIMS if found.get(name) == "OK"]
        assert claimed == [], f"record {place}, {kind}"
        said = step(verify_export(iter(later), TRUST), "logs").detail
        assert said == "an envelope of version 3 is not known to this build"


async def test_a_payload_of_a_later_schema_fails_no_step(lines: list[bytes]) -> None:
    for place, kind in enumerate(kinds(lines)):
        found = states(sealed_again(lines, place, schema=99))
        assert found["records"] == "NOT CHECKABLE", f"record {place}, {kind}"
        if kind.startswith(("evaluation.", "item.", "case.")):
            claimed = [name for name in ("logs", "plans", "evaluations") if found.get(name) == "OK"]
            assert claimed == [], f"record {place}, {kind}"


async def test_a_kind_of_a_later_build_fails_no_step_and_may_be_an_event(lines: list[bytes]) -> None:
    for place, kind in enumerate(kinds(lines)):
        if kind.startswith(("evaluation.", "item.")):
            row = list(read(iter(lines))[1])[place]
            payload = json.dumps({"kind": "evaluation.paused", "n": 1}, separators=(",", ":"))
            other = [*lines]
            other[place + 1] = encode_row(msgspec.structs.replace(row, payload=payload))
            commitment = commit(bytes.fromhex(row.salt or ""), payload.encode())
            found = states(sealed_again(other, place, kind="evaluation.paused", commitment=commitment))
            claimed = [name for name in ("logs", "payloads", *CLAIMS[-3:]) if found.get(name) == "OK"]
            assert claimed == [], f"record {place}, {kind}"


# What a later build's records do not excuse.

LATER = '{"v":3}'


async def test_an_unread_leaf_excuses_no_record_but_itself(lines: list[bytes]) -> None:
    one, two, three, *_ = turns(lines)
    cut = without(lines, one)
    assert failed(cut) == failed(beside(cut, 0, LATER)) == ["chains", "payloads"]
    assert failed(beside(cut, one, LATER)) == ["chains", "payloads"]  # at its place, and named by none

    later = sealed_again(lines, two, v=3)
    assert failed(later) == []
    assert failed(without(later, one)) == failed(without(later, three)) == ["chains", "payloads"]
    assert failed(without(later, two)) == ["chains", "payloads"]
    assert failed(beside(without(later, one), 0, LATER)) == ["chains", "payloads"]  # in front of the gap

    both = sealed_again(later, one, v=3)
    assert failed(both) == []
    assert failed(sealed_again(both, three, v=3)) == []
    assert failed(without(both, one)) == failed(without(both, two)) == ["chains", "payloads"]


def test_an_unread_leaf_stands_for_one_record() -> None:
    def met(count: int) -> UnreadLeaves:
        leaves = UnreadLeaves()
        for n in range(1, count + 1):
            leaves.add(bytes([n]), "later")
        return leaves

    assert met(1).fill(1, 0, "01")
    assert met(3).fill(3, 0, "03")
    assert met(3).fill(2, 1, "03")
    for count, missing, since, named in (
        (0, 1, 0, ""),
        (2, 1, 0, "03"),
        (2, 2, 0, "01"),
        (3, 3, 1, "03"),
        (2, 1, 2, "02"),
    ):
        assert not met(count).fill(missing, since, named)
    assert not met(2).fill(0, 0, "02")
    twice, spent = met(2), met(2)
    assert twice.fill(1, 0, "02")
    assert not twice.fill(1, 0, "02")
    assert spent.fill(2, 0, "02")
    assert not spent.fill(1, 0, "01")


NEVER = (
    *('{"v":0}', '{"v":-7}', '{"v":1}', '{"v":2}', '{"v":2,"v":3}', '{"v":3,"v":3}', '{"v":3,"n":{"a":1,"a":2}}'),
    *('{"v":"3"}', '{"v":3.0}', '{"v":true}', '{"v":null}', '{"V":3}', "[3]", '{"v":3}}', '{"v":3,"n":NaN}', ""),
)


@pytest.mark.parametrize("leaf", NEVER)
def test_a_version_that_never_was_is_no_later_one(leaf: str) -> None:
    assert read_leaf(leaf.encode()) == (None, "")


@pytest.mark.parametrize("version", [3, 4, 10**30])
def test_a_version_above_the_one_that_is_written_is_a_later_one(version: int) -> None:
    found = read_leaf(b'{"kind":"x","v":%d}' % version)
    assert found == (None, f"an envelope of version {version} is not known to this build")


async def test_a_leaf_of_no_version_fails_and_excuses_nothing(lines: list[bytes]) -> None:
    for leaf in ('{"v":0}', '{"v":-7}', '{"v":2,"v":3}'):
        assert failed(beside(lines, len(lines) - 2, leaf)) == ["records"], leaf
        place = turns(lines)[0]
        assert failed(beside(without(lines, place), place, leaf)) == ["records", "chains", "payloads"], leaf


async def test_unread_records_excuse_no_member_of_a_debate_whose_decision_was_read(lines: list[bytes]) -> None:
    place, found = turns(lines)[0], kinds(lines)
    debates = [json.loads(row.leaf)["debate"] for row in read(iter(lines))[1]]
    decisions = [n for n, kind in enumerate(found) if kind == "gate.decided"]
    own = next(n for n in decisions if debates[n] == debates[place])
    strange = forged(lines, place, zz=1)
    assert failed(strange) == ["payloads"]
    for at in (0, own, place, len(found)):
        assert "payloads" in failed(beside(strange, at, LATER)), at
    for other in decisions:
        assert failed(sealed_again(strange, other, schema=99)) == ([] if other == own else ["payloads"]), other
    later = sealed_again(strange, own, schema=99)
    report = verify_export(iter(later), TRUST, every=True)
    assert step(report, "payloads").detail == "schema 99 of 'gate.decided' is not known to this build"


async def test_a_case_waits_for_leaves_behind_it_alone(lines: list[bytes]) -> None:
    place = kinds(lines).index("case.received")
    only = without(forged(lines, place, zz=1), *range(place + 1, len(lines) - 2))
    assert "payloads" in failed(only)
    assert "payloads" in failed(beside(only, place, LATER))
    assert "payloads" not in failed(beside(only, place + 1, LATER))


async def test_what_the_envelope_of_a_later_payload_says_is_compared(lines: list[bytes]) -> None:
    other, place = "0" * 64, turns(lines)[0]
    for changes in (
        {"commitment": other},
        {"log": "localhost/elsewhere/1", "tenant": "elsewhere"},
        {"tenant": "elsewhere"},
        {"build": "none"},
        {"policy": ""},
    ):
        assert "records" in failed(sealed_again(lines, place, schema=99, **changes)), changes
    event = kinds(lines).index("evaluation.registered")
    for member in ("policy", "context"):
        assert "records" in failed(sealed_again(lines, event, kind="evaluation.paused", **{member: "junk"}))
    assert failed(sealed_again(lines, event, kind="evaluation.paused", policy=other)) == []


async def test_what_differs_in_an_evaluation_fails_beside_an_unread_leaf(lines: list[bytes]) -> None:
    found = kinds(lines)
    scored = found.index("item.scored")
    score = json.loads(list(read(iter(lines))[1])[scored].payload or "")["score"]
    strange = forged(lines, scored, score={**score, "zz": 1})
    result = forged(lines, found.index("evaluation.concluded"), result="0" * 64)
    unproven = sealed_again(lines, found.index("evaluation.registered"), build="11" * 32)
    for name, log in (("evaluations", strange), ("evaluations", result), ("plans", unproven)):
        for behind, state in ((len(found), "FAILED"), (0, "NOT CHECKABLE")):
            report = verify_export(iter(log), TRUST, every=True, evaluations=Evaluations(sets()))
            assert step(report, name).state == "FAILED"
            later = verify_export(iter(beside(log, behind, LATER)), TRUST, every=True, evaluations=Evaluations(sets()))
            if behind or name == "evaluations":  # in front of all, no registration was read
                assert step(later, name).state == state


async def test_a_tilt_that_differs_fails_beside_an_unread_case_of_an_evaluation(lines: list[bytes]) -> None:
    class Named(Tilts):
        def end(self) -> str:
            raise Differs("a finding that a start names")

    header, rows = read(iter(lines))
    evaluations, head = Evaluations(), parse_note(header.checkpoint.encode())
    happened = LogRecords(head, TRUST, evaluations, Named(LOG), Looks(LOG, whole=True))
    case = check_line(next(row for row in rows if json.loads(row.leaf)["kind"] == "case.received"))
    assert case.envelope is not None
    happened.take(msgspec.structs.replace(case.envelope, schema=99), case.payload, case.row.index, case.hash, "")
    assert evaluations.unread
    with pytest.raises(Differs):
        happened.end()


async def test_entries_in_front_of_an_unread_leaf_of_their_debate_are_recomputed(lines: list[bytes]) -> None:
    places = turns(lines)
    found = kinds(lines)
    spoke = [place for place in places if found[place] == "turn.spoke"][1]
    charge = json.loads(list(read(iter(lines))[1])[spoke].payload or "")["charge"]
    dear = forged(lines, spoke, charge={**charge, "amount": charge["amount"] + 1})
    behind = places[places.index(spoke) + 2]
    later = sealed_again(dear, behind, v=3)
    report = verify_export(iter(later), TRUST, every=True)
    assert (step(report, "charges").state, step(report, "charges").record) == ("FAILED", spoke)
    before = verify_export(iter(sealed_again(dear, places[places.index(spoke) - 1], v=3)), TRUST, every=True)
    assert step(before, "charges").state == "NOT CHECKABLE"


async def test_envelopes_of_a_debate_are_compared_across_an_unread_leaf(lines: list[bytes]) -> None:
    first, second, third, *_ = turns(lines)
    for unread, changed in ((first, second), (first, third)):
        later = sealed_again(sealed_again(lines, unread, v=3), changed, policy="11" * 32)
        report = verify_export(iter(later), TRUST, every=True)
        assert (step(report, "payloads").state, step(report, "payloads").record) == ("FAILED", changed)
