"""Members that this build does not know are a later build's where the decision seals later schemas, else a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from service.audit.export import Footer, encode_footer
from service.audit.record import commit
from service.verify.export import verify_export
from service.verify.steps import Tools, VerificationReport
from tests.fixtures.bundles import PINNED, TOOLS, Draft, export, failed, rehashed, step, uncheckable, verify

Drafts = Mapping[str, Draft]

ADDED: Mapping[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "to a case": ("case.received", lambda entry: entry["case"].update(businessUnit="Cards")),
    "to a decision": ("gate.decided", lambda entry: entry["decision"].update(weight=3)),
    "to a rule of a decision": ("gate.decided", lambda entry: entry["decision"]["rules"][0].update(source="policy")),
    "to a turn": ("turn.spoke", lambda entry: entry.update(region="eu")),
    "to a charge": ("turn.spoke", lambda entry: entry["charge"].update(batchTokens=0)),
    "to an outcome": ("debate.concluded", lambda entry: entry["outcome"].update(reviewedBy=["a", "b"])),
}


def sealed(draft: Draft, schemas: str) -> Draft:
    """The draft whose decision names these schemas."""
    return draft.change(1, lambda entry: entry["versions"].update(schemas=schemas))


def added(drafts: Drafts, what: str) -> Draft:
    """A debate with a member that this build does not know, sealed again. A declined case has no seed that follows."""
    kind, edit = ADDED[what]
    draft = drafts["declined" if what == "to a case" else "plain"]
    return draft.change(draft.find(kind), edit)


LATER = ("parts", "gate", "report")
"""The steps that need the schemas that the decision names."""


def exported(draft: Draft, other: Draft) -> VerificationReport:
    """What is found of an export of the draft beside another debate."""
    return verify_export(export([other, draft]), PINNED, every=True)


@pytest.mark.parametrize("what", ADDED)
def test_a_member_of_later_schemas_is_not_checkable_by_their_name(drafts: Drafts, what: str) -> None:
    draft = sealed(added(drafts, what), "schemas/9")

    bundle, lines = verify(draft.bundle()), exported(draft, drafts["retried"])

    assert (bundle.code, failed(bundle), uncheckable(bundle)) == (4, [], ["records", *LATER])
    assert (lines.code, failed(lines), uncheckable(lines)) == (4, [], ["payloads", "sources"])
    for found in (step(bundle, "records"), step(lines, "payloads")):
        assert "recorded under schemas/9, and this build has schemas/1" in found.detail


@pytest.mark.parametrize(
    "schemas", ["schemas/1", "schemas/0", "schemas", "other/9", "schemas/9+words ", "schemas/99999"]
)
@pytest.mark.parametrize("what", ADDED)
def test_a_member_under_schemas_that_are_here_or_never_were_fails(drafts: Drafts, what: str, schemas: str) -> None:
    draft = sealed(added(drafts, what), schemas)

    assert failed(verify(draft.bundle())) == ["records", *(["gate"] if schemas != "schemas/1" else [])]
    assert failed(exported(draft, drafts["retried"])) == ["payloads"]


def test_a_member_fails_where_another_debate_alone_seals_later_schemas(drafts: Drafts) -> None:
    honest, strange = sealed(drafts["retried"], "schemas/9"), added(drafts, "to a case")

    assert failed(exported(strange, honest)) == ["payloads"]


def filtered(draft: Draft, first: int, end: int | None = None) -> VerificationReport:
    """What is found of an export with these records of the draft alone, as a filter by time leaves them."""
    lines = export([draft], complete=False)
    kept = lines[1:-1][first:end]
    return verify_export([lines[0], *kept, encode_footer(Footer(len(kept)))], PINNED)


@pytest.mark.parametrize("what", ["to a turn", "to a charge", "to an outcome"])
@pytest.mark.parametrize("first", [2, 3])
def test_a_member_in_an_export_without_the_decision_is_not_checkable(drafts: Drafts, what: str, first: int) -> None:
    report = filtered(sealed(added(drafts, what), "schemas/9"), first)

    assert (report.code, failed(report), uncheckable(report)) == (4, [], ["payloads", "sources"])
    assert "the decision that names its schemas is not in this export" in step(report, "payloads").detail


@pytest.mark.parametrize("first", [0, 1])
def test_a_member_in_a_filtered_export_with_the_decision_is_judged_by_it(drafts: Drafts, first: int) -> None:
    strange = added(drafts, "to a turn")

    later, known = filtered(sealed(strange, "schemas/9"), first), filtered(strange, first)

    assert (failed(later), failed(known)) == ([], ["payloads"])
    assert "recorded under schemas/9" in step(later, "payloads").detail


def test_a_case_that_a_filter_parts_from_its_decision_is_not_checkable(drafts: Drafts) -> None:
    report = filtered(sealed(described(drafts), "schemas/9"), 0, 1)

    assert (report.code, failed(report)) == (4, [])
    assert uncheckable(report) == ["records", "payloads", "moves", "sources"]


# The context.


def described(drafts: Drafts, name: str = "declined") -> Draft:
    """A debate whose case and context have a member that this build does not know, as the how-to adds a field."""
    draft = drafts[name].copy()
    body = msgspec.json.decode(draft.context[1])
    draft = with_context(draft, msgspec.json.encode({**body, "businessUnit": "Cards"}, order="sorted"))
    return draft.change(0, lambda entry: entry["case"].update(businessUnit="Cards"))


def with_context(draft: Draft, body: bytes) -> Draft:
    """The draft with another context, sealed again."""
    changed = draft.copy()
    changed.context = (draft.context[0], body)
    digest = commit(*changed.context)
    return changed.reseal(lambda _, envelope: envelope.update(context=digest))


@pytest.mark.parametrize("unit", [True, False], ids=["in case and context", "in the context alone"])
def test_a_member_of_a_context_under_later_schemas_is_not_checkable(drafts: Drafts, unit: bool) -> None:
    draft = sealed(described(drafts), "schemas/9")
    if not unit:
        draft = draft.change(0, lambda entry: entry["case"].pop("businessUnit"))

    bundle, lines = verify(draft.bundle()), exported(draft, drafts["retried"])

    assert (bundle.code, failed(bundle)) == (4, [])
    assert uncheckable(bundle) == [*(["records"] if unit else []), "context", *LATER]
    assert (lines.code, failed(lines)) == (4, [])
    assert uncheckable(lines) == ["records", "payloads", "moves", "sources"]
    for found in (step(bundle, "context"), step(lines, "records"), step(lines, "moves")):
        assert "recorded under schemas/9, and this build has schemas/1" in found.detail


@pytest.mark.parametrize("schemas", ["schemas/1", "schemas/0", "other/9"])
def test_a_member_of_a_context_under_schemas_that_are_here_or_never_were_fails(drafts: Drafts, schemas: str) -> None:
    draft = sealed(described(drafts), schemas)

    assert {"records", "context"} <= set(failed(verify(draft.bundle())))
    assert {"records", "payloads"} <= set(failed(exported(draft, drafts["retried"])))


def test_a_member_of_a_context_is_judged_by_the_decision_of_its_own_debate(drafts: Drafts) -> None:
    honest, strange = sealed(described(drafts), "schemas/9"), described(drafts)
    strange.reseal(lambda _, envelope: envelope.update(debate="0199c0de-0000-7000-8000-000000000001"))

    report = exported(strange, honest)

    assert "records" in failed(report)
    assert step(report, "records").record == 1


CONTEXTS: Mapping[str, Callable[[bytes], bytes]] = {
    "a blank": lambda body: body.replace(b":", b": ", 1),
    "members out of order": lambda body: body.replace(b'"businessUnit":"Cards",', b"")[:-1] + b',"businessUnit":"x"}',
    "another task type": lambda body: body.replace(b'"taskType":"', b'"taskType":"x'),
    "another type": lambda body: body.replace(b'"downside":"', b'"downside":7,"was":"'),
}


@pytest.mark.parametrize("what", CONTEXTS)
def test_later_schemas_excuse_no_other_context(drafts: Drafts, what: str) -> None:
    honest = sealed(described(drafts), "schemas/9")
    body = CONTEXTS[what](honest.context[1])
    assert body != honest.context[1]
    draft = with_context(honest, body)

    assert failed(verify(draft.bundle())) == ["context"]
    assert {"records", "moves"} & set(failed(exported(draft, drafts["retried"])))


# The report.


def reporting(draft: Draft, report: bytes) -> VerificationReport:
    """What is found of the draft with this report, where its records lead to ``told``."""
    bundle = draft.bundle()
    tools = Tools(TOOLS.ready, {"report/1": lambda *_: b"told"}, TOOLS.schemas)
    return verify(rehashed(bundle, {**bundle.files, "report.md": report}), tools=tools)


def test_a_report_that_may_show_a_member_that_is_not_known_is_not_checkable(drafts: Drafts) -> None:
    later, known = sealed(added(drafts, "to a case"), "schemas/9"), sealed(drafts["declined"], "schemas/9")

    for report in (b"told", b"told, by Cards"):
        found = reporting(later, report)
        assert step(found, "report").state == "NOT CHECKABLE"
        assert ("report.md" in found.words) == (report != b"told")
    assert step(reporting(known, b"told, by Cards"), "report").state == "FAILED"
    assert step(reporting(added(drafts, "to a case"), b"told, by Cards"), "report").state == "FAILED"


def test_a_member_of_a_case_whose_decision_is_not_in_the_export_fails(drafts: Drafts) -> None:
    strange = added(drafts, "to a case")
    for part in (strange.leaves, strange.payloads, strange.salts):
        del part[1:]

    report = exported(strange, drafts["retried"])

    assert failed(report) == ["payloads"]
    assert step(report, "payloads").record == 1
    assert step(report, "moves").state == "NOT CHECKABLE"


FORGED: Mapping[str, Callable[[bytes], bytes]] = {
    "a blank": lambda payload: payload.replace(b":", b": ", 1),
    "a member twice": lambda payload: payload.replace(b'"attempt":1', b'"attempt":1,"attempt":1', 1),
    "members out of order": lambda payload: (
        b'{"kind":"turn.spoke",' + payload[1:].replace(b'"kind":"turn.spoke",', b"", 1)
    ),
    "a number of another type": lambda payload: payload.replace(b'"attempt":1', b'"attempt":1.0', 1),
}


@pytest.mark.parametrize("what", FORGED)
def test_later_schemas_excuse_no_other_spelling(drafts: Drafts, what: str) -> None:
    draft = sealed(added(drafts, "to a turn"), "schemas/9")
    n = draft.find("turn.spoke")
    changed = FORGED[what](draft.payloads[n])
    assert changed != draft.payloads[n]
    draft.payloads[n] = changed
    draft.reseal()

    assert "records" in failed(verify(draft.bundle()))
    assert "payloads" in failed(exported(draft, drafts["retried"]))


def test_later_schemas_excuse_nothing_that_is_recomputed(drafts: Drafts) -> None:
    draft = sealed(added(drafts, "to a charge"), "schemas/9")
    draft = draft.change(draft.find("turn.spoke"), lambda entry: entry["charge"].update(amount=1))

    assert "charges" in failed(verify(draft.bundle()))
    assert "charges" in failed(exported(draft, drafts["retried"]))
