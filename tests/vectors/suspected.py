"""Debates whose case holds passages that speak to a model: every way to tell of them, by rules and by a screener."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import get_args

from msgspec.structs import replace

from service.debate.entries import DebateStarted, Entry
from service.debate.facts import Facts
from service.debate.findings import Finding, NamedClaims, SynthesisFound
from service.debate.model import Check, Turn
from service.debate.replies import Reply, ScreenedPassage, Screening
from service.debate.suspicions import FAMILIES, CaseField, FoundBy, InjectionFound, Suspicion
from service.debate.turns import SCREENER
from service.report import suspicion_labels
from tests.fixtures.debates import a_start, canned, drive, found, start_of
from tests.fixtures.formats import plain
from tests.fixtures.masking import ORDER, SUSPICION, masking

_BY: tuple[FoundBy, ...] = get_args(FoundBy)
_PASSAGE = ScreenedPassage("document", "D1", ORDER, "verdict", "It orders the moderator's conclusion.")
_REPLIES = {
    "a screener that names a passage": Screening(suspicious=True, passages=(_PASSAGE,)),
    "a screener that names none": Screening(suspicious=False),
}


def suspected() -> Iterator[tuple[str, str, list[Entry]]]:
    """The format, the name and the entries of each."""
    yield "adversarial/1", "speaks to models", drive(a_start(), findings=_speaking)
    for name, screening in _REPLIES.items():
        yield "adversarial/1", name, drive(_screened(), partial(_screening, screening), findings=_named)
    yield "panel/1", "another synthesis without the flagged passages", drive(masking("panel/1"), findings=_excluding)


def _speaking(check: Check, facts: Facts) -> Finding:
    """The finding of a passage of each family, in each field, in each form, found by each."""
    if check.kind != "injection":
        return found(check, facts)
    most = range(max(len(FAMILIES), len(suspicion_labels.FIELD), len(suspicion_labels.HIDDEN)))
    fields, forms = get_args(CaseField), tuple(suspicion_labels.HIDDEN)
    return InjectionFound(
        tuple(
            Suspicion(
                fields[n % len(fields)],
                (n, n + 5),
                FAMILIES[n % len(FAMILIES)],
                "Words",
                "D1",
                forms[n % len(forms)],
                _BY[n % len(_BY)],
            )
            for n in most
        )
    )


def _screened() -> DebateStarted:
    return start_of(replace(plain("adversarial/1"), screened=True))


def _screening(screening: Screening, turn: Turn, facts: Facts) -> Reply:
    return screening if turn.id == SCREENER else canned(turn, facts)


def _named(check: Check, facts: Facts) -> Finding:
    """What the screener named, and a quotation of its that stands nowhere."""
    reply = facts.said.get(SCREENER)
    if check.kind != "injection" or not isinstance(reply, Screening) or not reply.suspects:
        return found(check, facts)
    return InjectionFound((replace(SUSPICION, by="screener"),), suspected=True, unlocated=1)


def _excluding(check: Check, facts: Facts) -> Finding:
    """A flagged passage, without which the synthesis excludes the first one."""
    if check.kind == "injection":
        return InjectionFound((SUSPICION,))
    if check.id.endswith("/masked"):
        first, again = check.over
        return SynthesisFound((NamedClaims((again, first), (0, 0)),))
    return found(check, facts)
