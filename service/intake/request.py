"""Requests: the bodies of ``POST /v1/debates`` and ``POST /v1/gate``."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import ClassVar, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields

from service.debate.model import Force, OnDisconnect
from service.debate.options import AskedOptions


class DocumentRequest(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A source document: its text, and the first round whose seats read it."""

    text: str
    id: str | None = None
    title: str | None = None
    round: int = 1


class OptionsRequest(AskedOptions, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=False):
    """The format of a debate, or ``auto``, and its options. Policy sets those left out.

    An option of another format is refused. A request without options has no ``format`` here, and policy's own is taken.
    ``debaters`` is a list where a format's debaters have names, and a number where they have none. ``models`` names a
    model by seat or, for all debaters at once, by ``debater``. `service.intake.formats` says which format has which.
    """

    format: str | UnsetType

    @property
    def recorded(self) -> AskedOptions | None:
        """These options as the record of the case holds them; ``None`` where they say nothing."""
        if not self.given:
            return None
        return AskedOptions(**{name: getattr(self, name) for name in AskedOptions.__struct_fields__})

    @property
    def given(self) -> tuple[str, ...]:
        """The options that say something, by their names in JSON."""
        options = (f for f in fields(self) if f.name != "format")
        return tuple(f.encode_name for f in options if getattr(self, f.name) not in (None, (), {}))


USUAL = OptionsRequest(format=UNSET)
"""The options of a request that has none."""
_FORMAT_BELONGS = 'send "options": {"format": ...}, with the options of that format beside it'
BELONGS: Mapping[str, str] = {
    "format": f"format belongs into options: {_FORMAT_BELONGS}",
    **{
        f.encode_name: f"{f.encode_name} belongs into options, beside the format whose option it is"
        for f in fields(AskedOptions)
    },
}
"""Where a member belongs that stands beside ``options`` in a request, by its name in JSON."""


class CaseRequest(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The body of ``POST /v1/debates``. Amounts are US dollars, as numbers or decimal strings.

    ``documents`` may be empty in the formats stances, ballot, panel and convergence: such a case is argued on
    reasoning, its confidence is at most MODERATE, and a person has to decide. The adversarial format refuses it unless
    policy allows it.
    """

    belongs: ClassVar = BELONGS

    question: str
    task_type: str
    estimated_downside: Decimal | None = None
    documents: tuple[DocumentRequest, ...] = ()
    confidence_score: Decimal | None = None
    downside_basis: str | None = None
    single_agent_answer: str | None = None
    contested: bool | None = None
    use_case: str | None = None
    intended_use: str | None = None
    materiality: Literal["high", "moderate", "low"] | None = None
    options: OptionsRequest = USUAL
    cost_ceiling_usd: Decimal | None = msgspec.field(default=None, name="costCeilingUSD")
    deadline: str | None = None
    force: Force | None = None
    metadata: dict[str, str] = {}
    on_disconnect: OnDisconnect = "continue"

    @property
    def format(self) -> str | None:
        """The format that is asked for, or ``auto``; ``None`` leaves it to policy."""
        return None if self.options.format is UNSET else self.options.format


class GateRequest(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The body of ``POST /v1/gate``: only the members that the decision needs."""

    belongs: ClassVar = BELONGS

    task_type: str
    estimated_downside: Decimal | None = None
    confidence_score: Decimal | None = None
    contested: bool | None = None
    single_agent_answer: str | None = None
    options: OptionsRequest = USUAL
    materiality: Literal["high", "moderate", "low"] | None = None
    force: Force | None = None

    @property
    def format(self) -> str | None:
        """The format that is asked for, or ``auto``; ``None`` leaves it to policy."""
        return None if self.options.format is UNSET else self.options.format


def document_ids(request: CaseRequest) -> tuple[str, ...]:
    """The documents' ids in order: as given, or D1, D2, ...; two that are the same are refused with the case."""
    return tuple(d.id or f"D{i}" for i, d in enumerate(request.documents, start=1))
