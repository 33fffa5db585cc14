"""The check of what came with a case: passages that speak to a model as if they were its instructions.

    fields      every text of a case that came from outside, with the name of its field
    rules       which passages of them are suspicious, and what each does
    unseen      of which texts models are not shown every character

The table has the versions by the name that is recorded with a finding. `docs/how-to/change-a-rule.md` lists the places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from service.checks.injection.fields import FieldText
from service.checks.injection.rules import check_injection
from service.checks.injection.unseen import neutralised
from service.debate.findings import InjectionFound


def read_case(texts: Sequence[FieldText]) -> InjectionFound:
    """What the rules find in these texts, and which of them models are not shown whole."""
    return replace(check_injection(texts), neutralised=tuple(neutralised(texts)))


INJECTIONS: Mapping[str, Callable[[Sequence[FieldText]], InjectionFound]] = {"injection/1": read_case}

__all__ = ["INJECTIONS", "FieldText", "check_injection", "read_case"]
