"""Members that this build does not know are a later build's where the decision seals later schemas, else a failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from service.verify.export import verify_export
from service.verify.steps import VerificationReport
from tests.fixtures.bundles import PINNED, Draft, export, failed, step, uncheckable, verify

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


def exported(draft: Draft, other: Draft) -> VerificationReport:
    """What is found of an export of the draft beside another debate."""
    return verify_export(export([other, draft]), PINNED)


@pytest.mark.parametrize("what", ADDED)
def test_a_member_of_later_schemas_is_not_checkable_by_their_name(drafts: Drafts, what: str) -> None:
    draft = sealed(added(drafts, what), "schemas/9")

    bundle, lines = verify(draft.bundle()), exported(draft, drafts["retried"])

    assert (bundle.code, failed(bundle), uncheckable(bundle)) == (4, [], ["records"])
    assert (lines.code, failed(lines), uncheckable(lines)) == (4, [], ["payloads", "sources"])
    for found in (step(bundle, "records"), step(lines, "payloads")):
        assert "recorded under schemas/9, and this build has schemas/1" in found.detail


@pytest.mark.parametrize(
    "schemas", ["schemas/1", "schemas/0", "schemas", "other/9", "schemas/9+words ", "schemas/99999"]
)
@pytest.mark.parametrize("what", ADDED)
def test_a_member_under_schemas_that_are_here_or_never_were_fails(drafts: Drafts, what: str, schemas: str) -> None:
    draft = sealed(added(drafts, what), schemas)

    assert failed(verify(draft.bundle())) == ["records"]
    assert failed(exported(draft, drafts["retried"])) == ["payloads"]


def test_a_member_fails_where_another_debate_alone_seals_later_schemas(drafts: Drafts) -> None:
    honest, strange = sealed(drafts["retried"], "schemas/9"), added(drafts, "to a case")

    assert failed(exported(strange, honest)) == ["payloads"]


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
