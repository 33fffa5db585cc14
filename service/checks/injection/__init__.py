"""The check of what came with a case: passages that speak to a model as if they were its instructions.

    fields      every text of a case that came from outside, with the name of its field
    rules       which passages of them are suspicious, and what each does
    screening   what a screener names, joined with what the rules find
    unseen      of which texts models are not shown every character

The table has the versions by the name that is recorded with a finding. `docs/how-to/change-a-rule.md` lists the places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from service.checks.injection.fields import FieldText
from service.checks.injection.rules import check_injection
from service.checks.injection.screening import merge
from service.checks.injection.unseen import neutralised
from service.debate.replies import Screening
from service.debate.suspicions import InjectionFound


class InjectionCheck(Protocol):
    """Finds the passages of a case that speak to a model, by rules and by what a screener has named."""

    def __call__(self, texts: Sequence[FieldText], screening: Screening | None = None, /) -> InjectionFound:
        """The finding over these texts, with which of them models are not shown whole."""
        ...


def read_case(texts: Sequence[FieldText], screening: Screening | None = None, /) -> InjectionFound:
    """What the rules find in these texts and a screener names, and which of them models are not shown whole."""
    return replace(merge(check_injection(texts), texts, screening), neutralised=tuple(neutralised(texts)))


INJECTIONS: Mapping[str, InjectionCheck] = {"injection/1": read_case}

__all__ = ["INJECTIONS", "FieldText", "InjectionCheck", "check_injection", "read_case"]
