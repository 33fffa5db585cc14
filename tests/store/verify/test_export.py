"""An export verifies as far as records alone reach, line by line; whatever was done to its lines is found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.audit import log_events
from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.export import Footer, Header, Row, decode_row, encode_footer, encode_header, encode_row
from service.audit.log_events import AuditRead, LogOpened
from service.audit.note import SigningKey
from service.audit.record import Actor, Link, RecordPlace, Times, Writer, commit, seal
from service.audit.tree import EMPTY_ROOT
from service.verify.export import verify_export
from service.verify.steps import Trust, VerificationReport
from tests.fixtures.bundles import LOG_KEY, OTHER_KEY, PINNED, Draft, export, failed, step, tree, uncheckable

Drafts = Mapping[str, Draft]
NAMES = ("plain", "retried", "declined", "failed")
LOG = "localhost/default/1"


@pytest.fixture(scope="session")
def lines(drafts: Drafts) -> list[bytes]:
    """A complete export of four debates."""
    return export([drafts[name] for name in NAMES])


@pytest.fixture(scope="session")
def filtered(drafts: Drafts) -> list[bytes]:
    """Two debates of a log that has four."""
    return export([drafts["plain"], drafts["declined"]], complete=False, others=[drafts["retried"], drafts["failed"]])


def check(lines: Iterable[bytes], trust: Trust = PINNED) -> VerificationReport:
    return verify_export(lines, trust, every=True)


def test_a_complete_export_verifies_but_for_what_is_not_part_of_one(lines: list[bytes]) -> None:
    report = check(lines)

    assert (report.code, failed(report), uncheckable(report)) == (4, [], ["sources"])
    assert "not part of an export" in step(report, "sources").detail
    assert step(report, "file").detail == f"all {len(lines) - 2} records of {LOG}"
    assert step(report, "moves").detail == "debates recomputed: 3 concluded, 1 declined"


def test_a_filtered_export_verifies_each_record_by_its_own_path(filtered: list[bytes]) -> None:
    report = check(filtered)

    assert (report.code, failed(report), uncheckable(report)) == (4, [], ["sources"])
    assert "which ones is the exporter's word" in step(report, "file").detail
    assert f"{len(filtered) - 2} paths lead to the root" in step(report, "tree").detail


def test_a_refusal_by_the_ceiling_needs_the_requests(drafts: Drafts) -> None:
    report = check(export([drafts["truncated"]]))

    assert (failed(report), uncheckable(report)) == ([], ["money", "sources"])


def test_an_export_is_read_line_by_line(lines: list[bytes]) -> None:
    read = 0

    def told() -> Iterator[bytes]:
        nonlocal read
        for line in lines:
            read += 1
            yield line

    assert failed(check(told())) == []
    assert read == len(lines)


def test_an_export_of_an_empty_log_has_nothing_to_check() -> None:
    head = Checkpoint(LOG, 0, EMPTY_ROOT)
    note = sign_checkpoint(head, LOG_KEY).decode()
    header = Header(log=LOG, key=LOG_KEY.public.encode(), size=0, checkpoint=note, filters={}, complete=True)

    report = check([encode_header(header), encode_footer(Footer(0))], replace(PINNED, witnesses=()))

    assert failed(report) == []


# Lines that were changed.


@given(data=st.data())
def test_a_byte_flipped_in_any_line_fails(lines: list[bytes], filtered: list[bytes], data: Any) -> None:
    given_ = data.draw(st.sampled_from([lines, filtered]))
    n = data.draw(st.integers(0, len(given_) - 1))
    line, at, mask = given_[n], data.draw(st.integers(0, len(given_[n]) - 1)), data.draw(st.integers(1, 255))
    flipped = line[:at] + bytes([line[at] ^ mask]) + line[at + 1 :]

    report = check(b"".join([*given_[:n], flipped, *given_[n + 1 :]]).splitlines(keepends=True))

    assert report.code == 1 or _filters(flipped), (n, at, mask)


def _filters(line: bytes) -> bool:
    """The words by which an export was narrowed: the exporter's own, as is which records it hands out."""
    return line.startswith(b'{"format"') and b'"filters":{"taskType":"contract"}' not in line


def test_an_export_that_is_cut_fails_wherever(lines: list[bytes], filtered: list[bytes]) -> None:
    for given_ in (lines, filtered):
        for end in range(len(given_)):
            assert check(given_[:end]).code == 1, end
        half = given_[-2][: len(given_[-2]) // 2]
        assert check([*given_[:-2], half]).code == 1


def test_a_cut_export_says_of_every_other_step_that_it_saw_only_a_part(lines: list[bytes]) -> None:
    report = check(lines[:-1])

    assert failed(report) == ["file"]
    assert {"records", "chains", "tree", "moves", "outcome"} <= set(uncheckable(report))


def test_a_record_that_was_left_out_swapped_or_put_in_fails_in_a_complete_export(lines: list[bytes]) -> None:
    for n in range(1, len(lines) - 1, 5):
        assert check([*lines[:n], *lines[n + 1 :]]).code == 1
        assert check([*lines[:n], lines[n], *lines[n:]]).code == 1
        assert check([*lines[:n], *lines[n : n + 2][::-1], *lines[n + 2 :]]).code == 1


def test_a_record_that_was_left_out_with_indexes_and_count_made_right_fails_at_the_root(lines: list[bytes]) -> None:
    rows = [decode_row(line) for line in lines[1:-1]]
    for left_out in range(0, len(rows), 7):
        kept = [replace(row, index=i) for i, row in enumerate([*rows[:left_out], *rows[left_out + 1 :]])]
        header = lines[0].replace(f'"size":{len(rows)}'.encode(), f'"size":{len(kept)}'.encode())

        report = check([header, *map(encode_row, kept), encode_footer(Footer(len(kept)))])

        assert {"file", "tree"} <= set(failed(report))


@pytest.mark.parametrize("name", ["plain", "declined"])
def test_a_record_behind_the_end_of_its_debate_fails(drafts: Mapping[str, Draft], name: str) -> None:
    draft = drafts[name].copy()
    for part in (draft.leaves, draft.payloads, draft.salts):
        part.append(part[-1])

    report = check(export([draft.reseal()]))

    assert failed(report) == ["chains", "payloads"]
    assert step(report, "chains").record == step(report, "payloads").record == len(draft.leaves) - 1


@pytest.mark.parametrize("member", ["policy", "context"])
def test_an_envelope_that_differs_from_the_others_of_its_debate_fails(drafts: Mapping[str, Draft], member: str) -> None:
    draft = drafts["plain"].copy()
    draft.reseal(lambda n, envelope: envelope.update({member: "00" * 32}) if n == 3 else None)

    report = check(export([draft]))

    assert "payloads" in failed(report)
    assert step(report, "payloads").record == 3


def test_a_filtered_export_that_calls_itself_complete_fails(filtered: list[bytes]) -> None:
    header = filtered[0].replace(b'"complete":false', b'"complete":true')

    assert "file" in failed(check([header, *filtered[1:]]))


def test_a_record_of_another_log_fails(drafts: Drafts) -> None:
    other = drafts["retried"].copy().reseal(lambda _, envelope: envelope.update(log="localhost/other/1"))

    report = check(export([drafts["plain"], other]))

    assert failed(report)[0] == "records"
    assert step(report, "records").record == 1


ROWS: dict[str, tuple[Callable[[Row], Row], str]] = {
    "no payload": (lambda row: replace(row, payload=None, salt=None), "records"),
    "another payload": (lambda row: replace(row, payload=f"{row.payload} "), "records"),
    "another salt": (lambda row: replace(row, salt="00" * 32), "records"),
    "a salt in capitals": (lambda row: replace(row, salt=(row.salt or "").upper()), "records"),
    "no context": (lambda row: replace(row, context=None, context_salt=None), "records"),
    "another context": (lambda row: replace(row, context=(row.context or "").replace("contract", "other")), "records"),
    "another spelling of the leaf": (lambda row: replace(row, leaf=row.leaf.replace('{"v":2', '{ "v":2')), "records"),
    "a path": (lambda row: replace(row, path=()), "tree"),
}


@pytest.mark.parametrize("what", ROWS)
def test_a_record_that_was_changed_is_named(lines: list[bytes], what: str) -> None:
    edit, where = ROWS[what]
    changed = [*lines]
    changed[6] = encode_row(edit(decode_row(lines[6])))

    report = check(changed)

    assert where in failed(report)
    assert step(report, where).record == 5


# Whoever has the log's key.


FORGED: dict[str, tuple[str, int, Callable[[dict[str, Any]], object], str]] = {
    "a charge": ("turn.spoke", 2, lambda e: e["charge"].update(amount=1), "charges"),
    "what was held": ("turn.asked", 1, lambda e: e.update(held=e["held"] - 1), "charges"),
    "a ceiling": ("debate.started", 0, lambda e: e.update(ceiling=25_000), "money"),
    "an outcome": ("debate.concluded", 0, lambda e: e["outcome"].update(confidenceLevel="HIGH"), "outcome"),
    "a model": ("turn.asked", 1, lambda e: e.update(model="oak"), "moves"),
    "the seed": ("debate.started", 0, lambda e: e.update(seed="00" * 32), "moves"),
    "a downside": ("case.received", 0, lambda e: e["case"].update(estimatedDownside="250001"), "moves"),
    "a member more": ("turn.spoke", 2, lambda e: e.update(extra=1), "payloads"),
}


@pytest.mark.parametrize("what", FORGED)
def test_what_does_not_follow_is_found_though_everything_is_sealed_and_signed_again(drafts: Drafts, what: str) -> None:
    kind, nth, edit, where = FORGED[what]
    draft = drafts["plain"]

    report = check(export([drafts["retried"], draft.change(draft.find(kind, nth), edit)]))

    assert where in failed(report)
    assert not {"file", "records", "chains", "tree", "signature"} & set(failed(report))
    assert step(report, where).record is not None


def test_a_case_that_its_context_does_not_tell_fails(drafts: Drafts) -> None:
    declined = drafts["declined"].change(0, lambda e: e["case"].update(estimatedDownside="11"))

    report = check(export([drafts["plain"], declined]))

    assert failed(report) == ["moves"]
    assert "what the case is about" in step(report, "moves").detail


def test_envelopes_that_do_not_name_the_record_before_or_the_kind_fail(drafts: Drafts) -> None:
    loose = drafts["plain"].copy().reseal(lambda n, envelope: envelope.update(prev="00" * 32) if n == 7 else None)
    strange = drafts["plain"].copy()
    strange.leaves[-1] = strange.leaves[-1].replace(b'"kind":"debate.concluded"', b'"kind":"debate.stopped"')

    unchained, misnamed = check(export([loose])), check(export([strange]))

    assert (failed(unchained), step(unchained, "chains").record) == (["chains"], 7)
    assert failed(misnamed) == ["payloads"]


def test_a_header_with_a_key_that_did_not_sign_the_head_fails(lines: list[bytes]) -> None:
    header = lines[0].replace(LOG_KEY.public.encode().encode(), OTHER_KEY.public.encode().encode())

    assert failed(check([header, *lines[1:]])) == ["file"]


def test_indexes_are_named_where_one_is_missing_or_beyond_the_size(lines: list[bytes], filtered: list[bytes]) -> None:
    last = decode_row(filtered[-2])
    beyond = encode_row(replace(last, index=10_000))

    gap, far = check([*lines[:9], *lines[10:]]), check([*filtered[:-2], beyond, filtered[-1]])

    assert step(gap, "file").detail.endswith("expected 8, found 9")
    assert step(far, "file").detail.startswith("the index of a record: expected below")


def test_another_key_of_the_same_name_is_not_believed(drafts: Drafts) -> None:
    report = check(export([drafts["plain"]], key=OTHER_KEY))

    assert failed(report) == ["signature"]


def test_without_pinned_keys_an_export_is_unsigned_and_unwitnessed(lines: list[bytes]) -> None:
    nobody = check(lines, Trust())
    allowed = check(lines, Trust(allow_unsigned=True, allow_unwitnessed=True))

    assert uncheckable(nobody) == ["signature", "witnesses", "lines", "sources"]
    assert [gap.name for gap in allowed.gaps] == ["sources"]


def test_a_quorum_of_two_is_not_met_by_one(lines: list[bytes], drafts: Drafts) -> None:
    assert failed(check(lines, replace(PINNED, quorum=2))) == ["witnesses"]


def test_a_debate_that_is_under_way_is_recomputed_as_far_as_it_has_come(drafts: Drafts) -> None:
    for end in range(1, len(drafts["plain"].leaves)):
        draft = drafts["plain"].copy()
        for part in (draft.leaves, draft.payloads, draft.salts):
            del part[end:]

        report = check(export([draft]))

        assert (end, failed(report), uncheckable(report)) == (end, [], ["sources"])
        assert step(report, "moves").detail == "debates recomputed: 1 under way"


def test_a_debate_whose_beginning_was_left_out_is_counted_and_not_replayed(filtered: list[bytes]) -> None:
    (first,) = [n for n, line in enumerate(filtered) if b'"index":0,' in line]
    rest = [line for n, line in enumerate(filtered[1:-1], start=1) if n != first]

    report = check([filtered[0], *rest, encode_footer(Footer(len(rest)))])

    assert failed(report) == []
    assert "1 are not there from their beginning" in step(report, "moves").detail


def test_a_debate_of_a_format_that_has_no_rules_here_says_so(drafts: Drafts) -> None:
    def older(entry: dict[str, Any]) -> None:
        entry["format"] = entry["options"]["format"] = "adversarial/0"

    report = check(export([drafts["plain"].change(2, older), drafts["retried"]]))

    assert (report.code, failed(report)) == (4, [])
    assert {"payloads", "moves", "charges", "money", "outcome"} <= set(uncheckable(report))


# What happened to the log itself.


def _event(event: log_events.Event, log: str = "localhost/default/2") -> Row:
    place = RecordPlace(log, "default", "0199c0de-0000-7000-8000-000000000009")
    writer = Writer(Actor("op", "person", "operator", "keyboard"), "00" * 32)
    at = "2025-10-07T22:49:58.528Z"  # the moment of the id
    record = seal(
        log_events.encode(event),
        bytes(32),
        log_events.kind(event),
        place=place,
        writer=writer,
        link=Link(0, b""),
        times=Times(at, at),
    )
    return Row.of(0, record.leaf, payload=(record.salt, record.payload), context=None, path=None)


def _alone(row: Row, log: str = "localhost/default/2") -> list[bytes]:
    found = tree([row.leaf.encode()], log, LOG_KEY, ())
    note, key = found.note.decode(), LOG_KEY.public.encode()
    header = Header(log=log, key=key, size=1, checkpoint=note, filters={}, complete=True)
    return [encode_header(header), encode_row(row), encode_footer(Footer(1))]


def _opened(origin: str = LOG, key: SigningKey = LOG_KEY, **changes: Any) -> LogOpened:
    head = sign_checkpoint(Checkpoint(origin, 7, bytes(32)), key).decode()
    opened = LogOpened("localhost/default/2", 2, LOG_KEY.public.encode(), head)
    return replace(opened, **changes)


def test_a_log_that_was_opened_says_where_the_one_before_ended() -> None:
    report = check(_alone(_event(_opened())), replace(PINNED, witnesses=()))

    assert failed(report) == []
    assert "localhost/default/1 ended at size 7, signed by localhost+" in step(report, "logs").detail


@pytest.mark.parametrize(
    "opened",
    [
        _opened("localhost/default/3"),
        _opened("localhost/other/1"),
        _opened(epoch=3),
        _opened(log="localhost/default/4", epoch=4),
        _opened(previous="nothing\n"),
        _opened(previous=None),
        replace(_opened(), key=OTHER_KEY.public.encode()),
        replace(_opened(), key="a key"),
    ],
    ids=[
        *("a later one", "another tenant's", "another epoch", "another log", "no head", "nothing"),
        *("under another key", "under no key"),
    ],
)
def test_a_log_that_was_opened_after_anything_else_fails(opened: LogOpened) -> None:
    assert failed(check(_alone(_event(opened)), replace(PINNED, witnesses=()))) == ["logs"]


def test_the_head_of_an_earlier_log_by_a_key_that_is_not_pinned_is_the_next_logs_word() -> None:
    report = check(_alone(_event(_opened(key=OTHER_KEY))), replace(PINNED, witnesses=()))

    assert failed(report) == []
    assert "by the word of the next log" in step(report, "logs").detail


def test_events_are_counted_and_none_may_be_spelt_otherwise() -> None:
    row = _event(AuditRead("records", asked={"model": "oak"}))
    log = "localhost/default/2"

    assert step(check(_alone(row), replace(PINNED, witnesses=())), "logs").detail == "1 audit.read"
    strange = _event(AuditRead("records"))
    payload = msgspec.json.encode({"kind": "audit.read", "what": "records", "more": 1})
    place = RecordPlace(log, "default", "0199c0de-0000-7000-8000-000000000009")
    at = "2025-10-07T22:49:58.528Z"  # the moment of the id
    writer = Writer(Actor("op", "person", "operator", "keyboard"), "00" * 32)
    sealed = seal(payload, bytes(32), "audit.read", place=place, writer=writer, link=Link(0, b""), times=Times(at, at))
    strange = Row.of(0, sealed.leaf, payload=(sealed.salt, payload), context=None, path=None)
    assert failed(check(_alone(strange), replace(PINNED, witnesses=()))) == ["logs"]


# Files that are no export.


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"{}\n", b"[" * 100_000, b'{"format":"gainsay-export/2"}\n', b"\xff\xfe\n", b"index,debate,n\n"],
    ids=["nothing", "a line", "an object", "deep", "another version", "no text", "a CSV"],
)
def test_what_is_no_export_fails_at_the_first_step(content: bytes) -> None:
    report = check(content.splitlines(keepends=True))

    assert [(one.number, one.name, one.state) for one in report.steps] == [(1, "file", "FAILED")]


def test_lines_that_are_no_records_fail_and_raise_nothing(lines: list[bytes]) -> None:
    for strange in (b"", b"\n", b"7\n", b"[" * 100_000 + b"\n", b'{"index":0}\n', b"\xff\n", lines[0]):
        assert "file" in failed(check([*lines[:3], strange, *lines[3:]]))


def test_hashes_alone_can_be_checked_without_a_replay(lines: list[bytes]) -> None:
    report = verify_export(lines, PINNED, replay=False, every=True)

    assert [one.name for one in report.steps] == [
        *("file", "signature", "witnesses", "lines"),
        *("records", "chains", "tree", "sources"),
    ]
    assert failed(report) == []


@pytest.mark.parametrize(
    ("schema", "state", "why"),
    [
        (2, "NOT CHECKABLE", "schema 2 of 'turn.spoke' is not known to this build"),
        (0, "FAILED", "from 1 to 1, found 0"),
    ],
)
def test_a_payload_is_read_by_the_version_that_its_envelope_says(
    drafts: Drafts, schema: int, state: str, why: str
) -> None:
    draft = drafts["plain"].copy()
    n = draft.find("turn.spoke")

    report = check(export([draft.reseal(lambda at, envelope: envelope.update(schema=schema) if at == n else None)]))

    found = step(report, "records")
    assert (found.state, why in found.detail) == (state, True), found
    assert state == "FAILED" or (failed(report) == [] and step(report, "payloads").state == "NOT CHECKABLE")


def test_a_context_of_a_later_version_cannot_be_checked(drafts: Drafts) -> None:
    draft = drafts["declined"].copy()
    salt, content = draft.context[0], draft.context[1][:-1] + b',"v":2}'
    draft.context = (salt, content)

    report = check(export([draft.reseal(lambda _, envelope: envelope.update(context=commit(salt, content)))]))

    assert failed(report) == []
    for name in ("records", "moves"):
        assert "a context of version 2 is not known to this build" in step(report, name).detail
