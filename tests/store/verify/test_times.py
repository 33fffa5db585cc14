"""The times of a debate lie between two that witnesses signed. What lies elsewhere fails, whoever has the log's key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from service.audit.checkpoint import add_lines, cosign, parse_checkpoint
from service.audit.earlier_head import EarlierHead, parse_earlier_head
from service.audit.note import COSIGNATURE, NUMBER_MAX, SigningKey, parse_note
from service.cli.audit.verify import verification_lines
from service.verify.export import verify_export
from service.verify.steps import Trust, VerificationReport, VerificationStep, when
from tests.fixtures.bundles import (
    BEFORE,
    LOG_KEY,
    OTHER_KEY,
    PINNED,
    WITNESSES,
    Draft,
    Tree,
    earlier,
    export,
    failed,
    moved,
    rehashed,
    shifted,
    step,
    uncheckable,
    verify,
)
from tests.store.verify.test_bundle import _with_policy

Drafts = Mapping[str, Draft]
DAY = 86_400
FALSE_WITNESS = SigningKey.from_seed(WITNESSES[0].public.name, bytes([77]) * 32, COSIGNATURE)


def found_of(draft: Draft, tree: Tree | None = None, trust: Trust = PINNED) -> VerificationStep:
    """The step of a draft under a tree."""
    return step(verify(draft.bundle(tree), trust), "times")


def with_times(tree: Tree, **files: bytes | None) -> Tree:
    """The tree with other earlier heads; none where ``None`` is given."""
    own = {**tree.times, **{f"times/{name}.txt": body for name, body in files.items()}}
    return tree._replace(times={name: body for name, body in own.items() if body is not None})


def test_a_debate_is_recorded_between_two_signed_times_which_the_output_shows(drafts: Drafts) -> None:
    draft = drafts["plain"]
    (began, ended), name = draft.seconds, WITNESSES[0].public.name
    report = verify(draft.bundle())

    assert report.about["recorded"] == {
        "after": {"time": when(began - 1), "signer": name},
        "until": {"time": when(ended + 2), "signer": name},
    }
    assert step(report, "times").detail.startswith(f"recorded between {when(began - 1)} ({name}) and {when(ended + 2)}")
    second_line = list(verification_lines(report))[1]
    assert second_line.startswith(f"recorded between {when(began - 1)} ({name}) and {when(ended + 2)} ({name})")


def test_without_a_pinned_witness_no_time_but_the_writers_is_there_and_it_is_said(drafts: Drafts) -> None:
    trust = replace(PINNED, witnesses=(), allow_unchecked_lines=True)
    nobody, allowed = (verify(drafts["plain"].bundle(), one) for one in (trust, replace(trust, allow_unwitnessed=True)))

    assert (step(nobody, "times").state, nobody.code, allowed.code) == ("NOT CHECKABLE", 4, 0)
    assert step(nobody, "times").detail.startswith("UNWITNESSED: no time but the writer's own")
    assert nobody.about["recorded"] == {"after": None, "until": None}


@pytest.mark.parametrize(
    ("seconds", "state"),
    [(-200 * DAY, "FAILED"), (10 * DAY, "FAILED"), (-8.5, "FAILED"), (9.0, "FAILED"), (-5.5, "OK"), (6.5, "OK")],
)
def test_a_debate_that_is_dated_back_or_ahead_by_more_than_the_tolerance_fails(
    drafts: Drafts, seconds: float, state: str
) -> None:
    draft = drafts["plain"]

    found = found_of(moved(draft, seconds), moved(draft, seconds).tree(seconds=draft.seconds))

    assert found.state == state, found
    if state == "FAILED":
        assert found.record == (0 if seconds < 0 else len(draft.leaves) - 1)


def test_the_tolerance_is_what_the_debates_own_policy_says(drafts: Drafts) -> None:
    draft = _with_policy(drafts["plain"], lambda policy: policy["audit"].update(clockSkewS=60))

    states = [
        found_of(moved(draft, seconds), moved(draft, seconds).tree(seconds=draft.seconds)).state
        for seconds in (-58, 61, -63, 65)
    ]

    assert states == ["OK", "OK", "FAILED", "FAILED"]


OWN: dict[str, Callable[[int, dict[str, Any]], object]] = {
    "records that run backwards": lambda n, e: (
        n == 5 and e.update(recorded=shifted(e["recorded"], -3), occurred=shifted(e["occurred"], -9))
    ),
    "written before it occurred": lambda n, e: n == 5 and e.update(occurred=shifted(e["recorded"], 0.001)),
    "an id of another moment": lambda _, e: e.update(debate=f"{int(e['debate'][:8], 16) - 1:08x}{e['debate'][8:]}"),
    "an id of another version": lambda _, e: e.update(debate=f"{e['debate'][:14]}4{e['debate'][15:]}"),
}


@pytest.mark.parametrize("what", OWN)
def test_records_contradict_themselves_without_any_witness(drafts: Drafts, what: str) -> None:
    forged = drafts["plain"].copy().reseal(OWN[what])
    trust = replace(PINNED, witnesses=(), allow_unwitnessed=True)

    assert failed(verify(forged.bundle(), trust))[0] == "times"
    assert "chains" in failed(verify_export(iter(export([forged])), PINNED, every=True))


# The earlier heads.


def heads(draft: Draft) -> Mapping[str, Callable[[], Tree]]:
    """What becomes of the earlier heads, by what is done to them."""
    whole, (began, ended), count = draft.tree(), draft.seconds, len(draft.leaves)
    before, first = whole.times["times/before.txt"], whole.times["times/first.txt"]
    fork = moved(draft, 0.001).tree(seconds=draft.seconds)

    def head(size: int, at: int = began, key: SigningKey = LOG_KEY, witness: SigningKey = WITNESSES[0]) -> bytes:
        return earlier(whole, size, key, [witness], at)

    return {
        "in each other's place": lambda: with_times(whole, before=first, first=before),
        "a head with the beginning of the debate": lambda: with_times(whole, before=head(BEFORE + 1)),
        "a head without the end of the debate": lambda: with_times(whole, first=head(BEFORE + count - 1, ended)),
        "no head with the debate": lambda: with_times(whole, first=None),
        "heads of another tree": lambda: with_times(whole, before=fork.times["times/first.txt"], first=first),
        "a first head of another tree": lambda: with_times(whole, first=fork.times["times/first.txt"]),
        "a head of another log": lambda: with_times(whole, before=other_log(draft)),
        "a head by another key": lambda: with_times(whole, first=head(BEFORE + count, ended, OTHER_KEY)),
        "a head by a witness of the same name": lambda: with_times(whole, first=renamed(first, began)),
        "a later time under the witness's line": lambda: with_times(whole, first=redated(first)),
        "signed after it was seen whole": lambda: with_times(whole, before=head(BEFORE, ended + 60)),
        "a time that no calendar has": lambda: with_times(whole, before=head(BEFORE, NUMBER_MAX)),
        "another spelling": lambda: with_times(whole, first=first.replace(b"\n", b"\r\n", 1)),
        "a hash more": lambda: with_times(whole, first=first.replace(b"\n\n", b"\n" + b"A" * 43 + b"=\n\n", 1)),
        "words": lambda: with_times(whole, before=b"Recorded in May, says the board.\n"),
    }


def other_log(draft: Draft) -> bytes:
    """The earlier head of another log that has the same records of others."""
    other = draft.copy().reseal(lambda _, envelope: envelope.update(log="localhost/default/2"))
    return other.tree().times["times/before.txt"]


def renamed(file: bytes, at: int) -> bytes:
    """The head of a file with the line of a false witness instead of the genuine one."""
    opened = parse_earlier_head(file)
    text, own, _ = opened.checkpoint.decode().rpartition("\u2014 ")[0].rpartition("\n")
    head = parse_checkpoint(parse_note(opened.checkpoint).text)
    return EarlierHead(opened.path, add_lines(f"{text}{own}".encode(), [cosign(head, at, FALSE_WITNESS)])).encode()


def redated(file: bytes) -> bytes:
    """The witness's line with another time in it, as anybody can write."""
    note = parse_note(parse_earlier_head(file).checkpoint)
    line = note.signatures[-1]
    later = replace(line, value=(int.from_bytes(line.value[:8]) + 60).to_bytes(8) + line.value[8:])
    return file.replace(line.line().encode(), later.line().encode())


@pytest.mark.parametrize(
    "what",
    [
        *("in each other's place", "a head with the beginning of the debate", "a head without the end of the debate"),
        *("no head with the debate", "heads of another tree", "a first head of another tree", "a head of another log"),
        *("a head by another key", "a later time under the witness's line", "signed after it was seen whole"),
        *("a time that no calendar has", "another spelling", "a hash more", "words"),
    ],
)
def test_an_earlier_head_that_is_not_one_of_this_tree_and_place_fails(drafts: Drafts, what: str) -> None:
    draft = drafts["plain"]

    report = verify(draft.bundle(heads(draft)[what]()))

    assert step(report, "times").state == "FAILED", what
    assert set(failed(report)) <= {"times", "lines"}, what
    assert str(step(report, "times").file).startswith(("times/", "records/"))


def test_the_line_of_a_false_witness_dates_nothing(drafts: Drafts) -> None:
    draft = drafts["plain"]

    report = verify(draft.bundle(heads(draft)["a head by a witness of the same name"]()))

    assert (failed(report), uncheckable(report)) == ([], ["lines", "times"])
    assert report.about["recorded"]["until"] is None


def test_a_debate_without_a_head_before_it_is_a_gap_unless_it_began_its_log(drafts: Drafts) -> None:
    draft = drafts["plain"]
    dropped = draft.bundle(with_times(draft.tree(), before=None))
    report = verify(dropped)

    assert (report.code, uncheckable(report), failed(report)) == (4, ["times"], [])
    assert step(report, "times").detail.startswith("LOOSELY DATED: no head without the debate")
    assert verify(dropped, replace(PINNED, allow_loose_times=True)).code == 0
    assert found_of(draft, draft.tree(others=0)).detail.startswith("recorded as the first of its log and ")


@pytest.mark.parametrize(("late", "state"), [(3_600, "OK"), (3_602, "NOT CHECKABLE"), (200 * DAY, "NOT CHECKABLE")])
def test_a_debate_that_was_countersigned_long_after_it_ended_is_a_gap(drafts: Drafts, late: int, state: str) -> None:
    draft = drafts["plain"]
    began, ended = draft.seconds
    tree = with_times(
        draft.tree(seconds=(began, ended + late)),
        first=earlier(draft.tree(), BEFORE + len(draft.leaves), LOG_KEY, WITNESSES[:1], ended + late),
    )
    found = found_of(draft, tree)

    assert found.state == state
    if state != "OK":
        assert f"{late} seconds after its last record" in found.detail
        assert verify(draft.bundle(tree), replace(PINNED, allow_loose_times=True)).code == 0


def test_both_ends_are_by_as_many_witnesses_as_the_quorum_asks_for(drafts: Drafts) -> None:
    draft = drafts["plain"]
    (began, ended), whole = draft.seconds, draft.tree(LOG_KEY, WITNESSES)

    def seen(size: int, times: tuple[int, ...]) -> bytes:
        file = earlier(whole, size, LOG_KEY, (), 0)
        head = parse_checkpoint(parse_note(parse_earlier_head(file).checkpoint).text)
        return file + "".join(cosign(head, at, key) for at, key in zip(times, WITNESSES, strict=False)).encode()

    tree = with_times(
        whole,
        before=seen(BEFORE, (began - 30, began - 20, began - 10)),
        first=seen(BEFORE + len(draft.leaves), (ended + 1, ended + 2)),
    )
    found = {}
    for quorum in (1, 2, 3):
        trust = replace(PINNED, witnesses=tuple(key.public for key in WITNESSES), quorum=quorum)
        ends = verify(draft.bundle(tree), trust).about["recorded"]
        found[quorum] = tuple(end and end["time"] for end in ends.values())

    assert found == {
        1: (when(began - 10), when(ended + 1)),
        2: (when(began - 20), when(ended + 2)),
        3: (when(began - 30), None),
    }


def test_what_only_the_times_hold_is_read_without_a_witness_too(drafts: Drafts) -> None:
    draft = drafts["plain"]
    bundle = draft.bundle()
    trust = replace(PINNED, witnesses=(), allow_unwitnessed=True, allow_unchecked_lines=True)

    for path in ("times/before.txt", "times/first.txt"):
        report: VerificationReport = verify(
            rehashed(bundle, {**bundle.files, path: b"Approved by the board.\n"}), trust
        )
        assert (step(report, "times").state, step(report, "times").file) == ("FAILED", path)
