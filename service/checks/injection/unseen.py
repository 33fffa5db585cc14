"""Which texts of a case are not shown to models in every character: what no reader sees is kept from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.checks import kept
from service.checks.injection.fields import FieldText
from service.checks.injection.rules import LONG
from service.debate.neutral import taken
from service.debate.suspicions import CaseField, Neutralised

_READ_BY_PEOPLE: frozenset[CaseField] = frozenset({"metadata", "context"})
"""The fields that no model reads."""


def neutralised(texts: Sequence[FieldText]) -> Iterator[Neutralised]:
    """Each text from which something is taken, with its characters of each kind, in the order of the texts."""
    for field, name, text in texts:
        if field in _READ_BY_PEOPLE:
            continue
        if kinds := kept.once("taken", taken, text) if len(text) >= LONG else taken(text):
            yield Neutralised(field, kinds, name)
