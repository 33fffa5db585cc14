"""A record is recomputed by the versions that it seals: those of this build, one beside another, and no other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from service import gate, money
from service.audit.record import leaf_hash
from service.checks import judgement, question_type
from service.checks.judgement import check_critique
from service.debate.entries import GateDecision
from service.debate.findings import CritiqueFound
from service.debate.versions import FIRST, Part
from service.money import Reckoning
from service.policy import seating
from service.report.versions import REPORTS
from service.running import versions
from service.verify import gate as verified_gate
from service.verify import versions as verified_versions
from service.verify.export import verify_export
from tests.fixtures.bundles import PINNED, TOOLS, Draft, export, failed, step, uncheckable, verify

Drafts = Mapping[str, Draft]

STEPS: Mapping[Part, tuple[str, ...]] = {
    "gate": ("gate",),
    "seating": ("seats",),
    "usage": ("requests", "charges", "money"),
    "classification": ("seats",),
}
"""Where each part is recomputed."""
UNJUDGED = ("requests",)
"""A step that needs a part and leaves the judgement of its name to another; it still compares hashes without it."""


def stopped(part: Part, *, without: tuple[str, ...] = ()) -> list[str]:
    """The steps that need the version of a part, but for those; the gate's needs that of every part."""
    steps = [name for name in STEPS[part] if name not in without]
    return list(dict.fromkeys(("seats", "gate") if steps == ["seats"] else ("gate", *steps)))


def sealed(draft: Draft, **versions: str) -> Draft:
    """The draft with these versions sealed with its decision, and no others."""
    return draft.change(1, lambda entry: entry.update(versions=versions))


def test_a_new_case_seals_the_version_of_every_part(drafts: Drafts) -> None:
    assert {*drafts["plain"].entry(1)["versions"]} == {*FIRST} == {*drafts["declined"].entry(1)["versions"]}


@pytest.mark.parametrize("name", ["plain", "declined", "contract-panel", "truncated"])
def test_a_record_that_seals_no_versions_is_verified_by_the_first(drafts: Drafts, name: str) -> None:
    old = drafts[name].change(1, lambda entry: entry.pop("versions"))

    assert verify(old.bundle()).code == 0


@pytest.mark.parametrize("part", STEPS)
def test_a_later_version_is_not_checkable_by_its_name_and_no_failure(drafts: Drafts, part: Part) -> None:
    report = verify(sealed(drafts["typed"], **{part: f"{part}/7"}).bundle())

    assert (report.code, failed(report)) == (4, [])
    assert uncheckable(report) == stopped(part)
    assert all(f"recorded under {part}/7" in step(report, name).detail for name in stopped(part))


@pytest.mark.parametrize("version", ["{}/0", "other/1", "{}", "{}/1+words", ""])
@pytest.mark.parametrize("part", STEPS)
def test_a_version_that_no_build_ever_had_fails(drafts: Drafts, part: Part, version: str) -> None:
    report = verify(sealed(drafts["typed"], **{part: version.format(part)}).bundle())

    assert (report.code, failed(report)) == (1, stopped(part, without=UNJUDGED))


UNUSED: Mapping[str, Mapping[str, str]] = {
    "declined": {part: f"{part}/7" for part in FIRST if part not in ("gate", "seating", "policy")},
    "plain": {"readme": "readme/9", "schemas": "schemas/9", "classification": "classification/9"},
}
"""Parts that no step of such a debate recomputes, in versions of a later build."""


NEEDED: Mapping[str, list[str]] = {
    "schemas": ["parts", "gate", "report"],
    "readme": ["gate", "report"],
    "report": ["gate", "report"],
}
"""The steps that need the version of a text."""


@pytest.mark.parametrize(("name", "part"), [(name, part) for name, parts in UNUSED.items() for part in parts])
def test_a_later_version_that_no_step_needs_is_not_checkable(drafts: Drafts, name: str, part: str) -> None:
    version = UNUSED[name][part]
    draft = sealed(drafts[name], **{part: version})

    report = verify(draft.bundle())
    lines = verify_export(export([draft, drafts["retried"]]), PINNED, reports=TOOLS.reports)

    assert (report.code, failed(report), uncheckable(report)) == (4, [], NEEDED.get(part, ["gate"]))
    assert f"recorded under {version}, and this build has {part}/1" in step(report, "gate").detail
    assert (lines.code, failed(lines)) == (4, [])
    assert version in step(lines, "payloads").detail


@pytest.mark.parametrize("version", ["nothing at all", "{}/0", "evil"])
@pytest.mark.parametrize(("name", "part"), [(name, part) for name, parts in UNUSED.items() for part in parts])
def test_a_version_that_no_build_had_fails_where_no_step_needs_it(
    drafts: Drafts, name: str, part: str, version: str
) -> None:
    draft = sealed(drafts[name], **{part: version.format(part)})

    report = verify(draft.bundle())
    lines = verify_export(export([drafts["retried"], draft]), PINNED)

    steps = [name for name in NEEDED.get(part, ["gate"]) if part != "schemas" or name == "gate"]
    assert (report.code, failed(report)) == (1, steps)
    assert step(report, "gate").detail.startswith(f"the version of {part}: ")
    assert failed(lines) == ["payloads"]
    assert step(lines, "payloads").record == 3


@pytest.mark.parametrize("name", ["plain", "declined"])
@pytest.mark.parametrize("versions", [{"nonsense": "nonsense/1"}, {"options": "options/2", "": ""}])
def test_a_part_that_a_later_build_may_have_is_not_checkable(
    drafts: Drafts, name: str, versions: dict[str, str]
) -> None:
    draft = sealed(drafts[name], **versions)

    report = verify(draft.bundle())
    lines = verify_export(export([draft]), PINNED)

    assert (report.code, failed(report), uncheckable(report)) == (4, [], ["gate"])
    for found in (step(report, "gate"), step(lines, "payloads")):
        assert all(f"{version!r} of {part!r}" in found.detail for part, version in versions.items())
    assert (lines.code, failed(lines), uncheckable(lines)) == (4, [], ["payloads", "sources"])


def test_a_forged_decision_fails_beside_versions_that_are_not_known(drafts: Drafts) -> None:
    draft = sealed(drafts["plain"], nonsense="nonsense/1")

    assert failed(verify(draft.change(1, lambda e: e["decision"].update(factor=1)).bundle())) == ["gate"]


def with_unread_leaf(draft: Draft, place: int, edits: Mapping[int, Mapping[str, Any]]) -> Draft:
    """The draft with a leaf of a later version, and with members of other envelopes changed; the chain is whole."""
    changed, prev = draft.copy(), ""
    for n, leaf in enumerate(changed.leaves):
        members = {**json.loads(leaf), "prev": prev, **edits.get(n, {})}
        if n == place:
            members["v"] = 3
        changed.leaves[n] = msgspec.json.encode(members)
        prev = leaf_hash(changed.leaves[n]).hex()
    return changed


def test_what_the_other_envelopes_say_differs_beside_an_unread_leaf(drafts: Drafts) -> None:
    def found(edits: Mapping[int, Mapping[str, Any]]) -> set[tuple[str, int | None]]:
        report = verify(with_unread_leaf(drafts["plain"], 4, edits).bundle())
        return {(one.name, one.record) for one in report.failed}

    assert found({}) == set()
    assert found({8: {"prev": "0" * 64}}) == {("chain", 8)}
    assert found({8: {"n": 9}}) == {("chain", 8)}
    assert found({5: {"prev": "0" * 64}}) == {("chain", 5)}  # the hash of a leaf needs no reading of it
    assert found({8: {"policy": "11" * 32}}) == {("complete", 8)}
    assert found({8: {"recorded": "2026-01-01T00:00:00.000000Z", "occurred": "2026-01-01T00:00:00.000000Z"}}) == {
        ("times", 8)
    }


def test_a_verifier_and_a_writer_know_the_same_versions() -> None:
    assert {**verified_versions.KNOWN, "report": REPORTS} == versions.KNOWN


def test_a_critique_is_judged_again_by_the_version_that_it_names(
    drafts: Drafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def strict(*given: Any) -> CritiqueFound:
        return check_critique(*given).__class__(0, 0, 0, 0, 0, 0, 0, (), ("noPoint",), ())

    monkeypatch.setitem(judgement.CRITIQUES, "judgement/2", strict)
    plain = drafts["plain"]
    n = next(n for n in range(len(plain.payloads)) if plain.entry(n).get("check") == "1.critic.1/critique")

    assert verify(plain.bundle()).code == 0
    report = verify(plain.change(n, lambda entry: entry.update(engine="judgement/2")).bundle())

    assert failed(report) == ["checks"]
    assert "the finding of 1.critic.1/critique" in step(report, "checks").detail


def test_a_gate_decides_again_by_the_version_that_is_sealed(drafts: Drafts, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> GateDecision:
        return GateDecision(False, "never", (), 0, 0, "", "")

    monkeypatch.setitem(gate.GATES, "gate/2", never)
    monkeypatch.setitem(verified_gate.EXPECTED, "gate/2", verified_gate.EXPECTED["gate/1"])

    assert verify(drafts["plain"].bundle()).code == 0
    assert failed(verify(sealed(drafts["plain"], gate="gate/2").bundle())) == ["gate"]


def test_an_expected_cost_is_computed_again_by_the_version_that_is_sealed(
    drafts: Drafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(gate.GATES, "gate/2", gate.GATES["gate/1"])
    monkeypatch.setitem(verified_gate.EXPECTED, "gate/2", lambda *_: {})

    report = verify(sealed(drafts["plain"], gate="gate/2").bundle())

    assert failed(report) == ["gate"]
    assert "expected to cost" in step(report, "gate").detail


def test_usage_is_read_again_by_the_version_that_is_sealed(drafts: Drafts, monkeypatch: pytest.MonkeyPatch) -> None:
    first = money.USAGES["usage/1"]
    doubled: Mapping[str, Reckoning] = {
        "charges": first._replace(worst_case=lambda tokens, plan: 2 * first.worst_case(tokens, plan)),
        "money": first._replace(closing_cost=lambda *given: 2 * first.closing_cost(*given)),
        "requests": first._replace(request_tokens=lambda *given: 2 * first.request_tokens(*given)),
    }
    for name, rules in doubled.items():
        monkeypatch.setitem(money.USAGES, "usage/2", rules)

        assert verify(drafts["truncated"].bundle()).code == 0
        assert name in failed(verify(sealed(drafts["truncated"], usage="usage/2").bundle()))


def test_seats_are_chosen_again_by_the_version_that_is_sealed(drafts: Drafts, monkeypatch: pytest.MonkeyPatch) -> None:
    first = seating.SEATINGS["seating/1"]
    monkeypatch.setitem(seating.SEATINGS, "seating/2", first._replace(seats=lambda *_: ()))

    assert failed(verify(sealed(drafts["contract-panel"], seating="seating/2").bundle())) == ["seats"]


def test_a_question_is_typed_again_by_the_version_that_is_sealed(
    drafts: Drafts, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = question_type.Classified("belief", "whatever is asked")
    monkeypatch.setitem(question_type.CLASSIFICATIONS, "classification/2", lambda _: other)
    panel = drafts["typed"]
    assert panel.entry(2)["options"]["typedBy"] == "rules"
    assert verify(panel.bundle()).code == 0

    report = verify(sealed(panel, classification="classification/2").bundle())

    assert failed(report) == ["seats"]
    assert "expected belief" in step(report, "seats").detail
