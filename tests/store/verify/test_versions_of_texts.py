"""The version that a debate is recomputed by follows from its records: it is here, a later one, or none ever was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from service.policy import decode_policy, encode_configuration
from service.prompts.layout_pin import LAYOUT
from service.running import versions
from service.verify.steps import Tools, VerificationReport
from tests.fixtures.bundles import TOOLS, Draft, failed, rehashed, step, uncheckable, verify

Drafts = Mapping[str, Draft]
STARTED = 2


def sealed(draft: Draft, **named: str) -> Draft:
    """The draft whose decision names these versions beside those that it does."""
    return draft.change(1, lambda entry: entry["versions"].update(named))


def reporting(draft: Draft, report: bytes, tools: Tools = TOOLS) -> VerificationReport:
    """What is found of the draft with this report beside it."""
    bundle = draft.bundle()
    return verify(rehashed(bundle, {**bundle.files, "report.md": report, "report.html": report}), tools=tools)


def test_a_debate_names_the_versions_that_this_build_writes(drafts: Drafts) -> None:
    named = drafts["plain"].entry(1)["versions"]

    assert named == versions.CURRENT
    assert drafts["declined"].entry(1)["versions"] == named


def test_a_debate_that_names_no_versions_is_one_of_the_first(drafts: Drafts) -> None:
    unnamed = drafts["plain"].change(1, lambda entry: entry.pop("versions"))

    assert (verify(unnamed.bundle()).code, failed(verify(unnamed.bundle()))) == (0, [])
    assert failed(reporting(unnamed, b"in the first words")) == []


# The layout of requests.


def test_requests_of_a_later_layout_are_not_checkable_by_name(drafts: Drafts) -> None:
    later = promising(drafts["plain"], {LAYOUT: ("layout.v2.json", b"{}")})
    report = verify(sealed(later, layout="layout/2").bundle())

    assert (report.code, failed(report)) == (4, [])
    assert uncheckable(report) == ["gate", "requests"]
    told = "recorded under layout/2, and this build has layout/1; verify with a build that has it"
    assert step(report, "requests").detail == told


@pytest.mark.parametrize("name", ["layout/0", "render/1", "layout/1+ab", ""])
def test_a_layout_that_no_build_had_fails(drafts: Drafts, name: str) -> None:
    report = verify(sealed(drafts["plain"], layout=name).bundle())

    assert failed(report) == ["prompts", "gate"]
    assert (step(report, "prompts").record, step(report, "prompts").expected) == (1, "layout/1")


def test_a_later_layout_that_the_pins_contradict_fails(drafts: Drafts) -> None:
    report = verify(sealed(drafts["plain"], layout="layout/7").bundle())

    assert failed(report) == ["prompts"]
    found = step(report, "prompts")
    assert (found.record, found.expected, found.found) == (2, "layout/7", "layout/1")


def test_a_later_layout_that_is_pinned_in_a_way_unknown_here_is_not_checkable(drafts: Drafts) -> None:
    later = promising(drafts["plain"], {"template.later": ("later.v1.json", b"{}")})
    report = verify(sealed(later, layout="layout/2").bundle())

    assert (report.code, failed(report), uncheckable(report)) == (4, [], ["gate", "requests"])


def promising(draft: Draft, layout: dict[str, tuple[str, bytes]]) -> Draft:
    """The draft whose debate pins these templates (id -> file and bytes), every hash made right again."""
    changed = draft.copy()
    manifest = msgspec.json.decode(changed.prompts["manifest.json"])
    manifest["entries"] = [entry for entry in manifest["entries"] if entry["kind"] != "template"]
    pins: dict[str, str] = {}
    for id_, (file, content) in layout.items():
        digest, version = sha256(content).hexdigest(), 2 if ".v2." in file else 1
        manifest["entries"].append(
            {"id": id_, "version": version, "kind": "template", "file": file, "sha256": digest, "current": True}
        )
        changed.prompts[file], pins[id_] = content, f"v{version}:{digest}"
    del changed.prompts["layout.v1.json"]
    changed.prompts["manifest.json"] = msgspec.json.encode(manifest)
    pin = sha256(changed.prompts["manifest.json"]).hexdigest()
    changed.configuration = encode_configuration(decode_policy(changed.policy), pin)

    def edit(entry: dict[str, Any]) -> None:
        entry.update(pin=pin, configurationHash=sha256(changed.configuration).hexdigest())
        entry["pins"] = {**{i: mark for i, mark in entry["pins"].items() if i != LAYOUT}, **pins}

    return changed.change(STARTED, edit)


@pytest.mark.parametrize(
    "layout",
    [
        {LAYOUT: ("layout.v2.json", b"{}")},
        {"template.render": ("render.py", b"# another\n")},
        {},
    ],
    ids=["another version", "other sources", "nothing"],
)
def test_pins_that_promise_another_layout_than_the_decision_names_fail(
    drafts: Drafts, layout: dict[str, tuple[str, bytes]]
) -> None:
    report = verify(promising(drafts["plain"], layout).bundle())

    assert failed(report) == ["prompts"]
    assert (step(report, "prompts").record, step(report, "prompts").expected) == (2, "layout/1")
    assert "requests" in uncheckable(report)


# The form of the policy.


def test_a_policy_of_a_later_form_is_not_checkable_by_name(drafts: Drafts) -> None:
    report = verify(sealed(drafts["plain"], policy="policy/2").bundle())

    assert (report.code, failed(report)) == (4, [])
    assert {"policy", "seats", "gate"} <= set(uncheckable(report))
    told = "recorded under policy/2, and this build has policy/1; verify with a build that has it"
    assert step(report, "policy").detail == told


def test_a_policy_of_a_form_that_no_build_had_fails(drafts: Drafts) -> None:
    report = verify(sealed(drafts["plain"], policy="policies/1").bundle())

    assert failed(report) == ["policy", "gate"]
    assert step(report, "policy").record == 1


@pytest.mark.parametrize(
    "edit",
    [
        lambda policy: policy.update(mood="stern"),
        lambda policy: policy["debate"].pop("swapAbove"),
        lambda policy: policy.pop("seats"),
    ],
    ids=["a key more", "a key less", "no policy"],
)
def test_a_policy_that_is_not_of_the_form_that_its_record_names_fails(drafts: Drafts, edit: Any) -> None:
    draft = drafts["plain"].copy()
    content = msgspec.json.decode(draft.policy)
    edit(content)
    draft.policy = msgspec.json.encode(content, order="sorted")
    digest = sha256(draft.policy).hexdigest()
    draft = draft.change(1, lambda entry: entry["decision"].update(policyHash=digest))
    draft = draft.reseal(lambda _, envelope: envelope.update(policy=digest))

    report = verify(draft.change(STARTED, lambda entry: entry.update(policyHash=digest)).bundle())

    assert "policy" in failed(report)
    assert "policy/1" in step(report, "policy").detail


# The words of the report.


def test_a_report_in_other_words_than_those_of_its_version_fails(drafts: Drafts) -> None:
    assert failed(reporting(drafts["plain"], b"in the first words")) == []
    report = reporting(drafts["plain"], b"in other words")

    assert failed(report) == ["report"]
    assert "report/1" in step(report, "report").detail


def test_a_report_in_later_words_is_not_checkable_by_name(drafts: Drafts) -> None:
    report = reporting(sealed(drafts["plain"], report="report/2"), b"in other words")

    assert (report.code, failed(report)) == (4, [])
    assert uncheckable(report) == ["gate", "report"]
    told = "recorded under report/2, and this build has report/1; verify with a build that has it"
    assert step(report, "report").detail == told


def test_a_report_in_words_that_no_build_had_fails(drafts: Drafts) -> None:
    report = reporting(sealed(drafts["plain"], report="report/0"), b"in the first words")

    assert failed(report) == ["gate", "report"]
    assert step(report, "report").record == 1


def test_each_report_is_compared_in_its_own_words_where_there_are_two(drafts: Drafts) -> None:
    both = Tools(TOOLS.ready, {**TOOLS.reports, "report/2": lambda *_: b"in other words"}, TOOLS.schemas)
    old, new = drafts["plain"], sealed(drafts["plain"], report="report/2")

    assert failed(reporting(old, b"in the first words", both)) == []
    assert failed(reporting(new, b"in other words", both)) == []
    assert failed(reporting(new, b"in the first words", both)) == ["report"]
    assert failed(reporting(old, b"in other words", both)) == ["report"]


# The words of README.txt.


def with_readme(draft: Draft, edit: Callable[[bytes], bytes]) -> VerificationReport:
    """What is found of the draft with another README.txt."""
    bundle = draft.bundle()
    return verify(rehashed(bundle, {**bundle.files, "README.txt": edit(bundle.files["README.txt"])}))


@pytest.mark.parametrize("name", ["plain", "declined"])
def test_a_readme_in_other_words_than_those_of_its_version_fails(drafts: Drafts, name: str) -> None:
    told = with_readme(drafts[name], lambda text: text)
    forged = with_readme(drafts[name], lambda text: text.replace(b"--key VKEY", b"--key OURS"))

    assert "README.txt has the words of readme/1" in step(told, "report").detail
    assert failed(forged) == ["report"]
    assert (step(forged, "report").file, forged.code) == ("README.txt", 1)


def test_a_readme_of_another_debate_or_log_fails(drafts: Drafts) -> None:
    other = drafts["retried"].bundle().files["README.txt"]

    assert failed(with_readme(drafts["plain"], lambda _: other)) == ["report"]


def test_a_readme_in_later_words_is_not_checkable_by_name(drafts: Drafts) -> None:
    report = with_readme(sealed(drafts["plain"], readme="readme/2"), lambda _: b"in other words")

    assert (report.code, failed(report), uncheckable(report)) == (4, [], ["gate", "report"])
    told = "recorded under readme/2, and this build has readme/1; verify with a build that has it"
    assert step(report, "report").detail == told
