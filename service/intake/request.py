"""Requests: the bodies of ``POST /v1/debates`` and ``POST /v1/gate``."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import fields

from service.debate.model import Force, OnDisconnect
from service.debate.options import AskedOptions


class DocumentRequest(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A source document: its text, and the first round whose seats read it."""

    text: str
    id: str | None = None
    title: str | None = None
    round: int = 1


class OptionsRequest(AskedOptions, frozen=True, forbid_unknown_fields=True, omit_defaults=False):
    """The options of all formats. Policy sets those left out; an option of another format is refused.

    ``debaters`` is a list where a format's debaters have names, and a number where they have none. ``models`` names a
    model by seat or, for all debaters at once, by ``debater``. `service.intake.formats` says which format has which.
    """

    @property
    def recorded(self) -> AskedOptions | None:
        """These options as the record of the case holds them; ``None`` where they say nothing."""
        if not self.given:
            return None
        return AskedOptions(**{name: getattr(self, name) for name in AskedOptions.__struct_fields__})

    @property
    def given(self) -> tuple[str, ...]:
        """The options that say something, by their names in JSON."""
        return tuple(f.encode_name for f in fields(self) if getattr(self, f.name) not in (None, (), {}))


class CaseRequest(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The body of ``POST /v1/debates``. Amounts are US dollars, as numbers or decimal strings.

    ``documents`` may be empty in the formats stances, ballot, panel and convergence: such a case is argued on
    reasoning, its confidence is at most MODERATE, and a person has to decide. The adversarial format refuses it unless
    policy allows it.
    """

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
    format: str | None = None
    options: OptionsRequest = OptionsRequest()
    cost_ceiling_usd: Decimal | None = msgspec.field(default=None, name="costCeilingUSD")
    deadline: str | None = None
    force: Force | None = None
    metadata: dict[str, str] = {}
    on_disconnect: OnDisconnect = "continue"


class GateRequest(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The body of ``POST /v1/gate``: only the members that the decision needs."""

    task_type: str
    estimated_downside: Decimal | None = None
    confidence_score: Decimal | None = None
    contested: bool | None = None
    single_agent_answer: str | None = None
    format: str | None = None
    options: OptionsRequest = OptionsRequest()
    materiality: Literal["high", "moderate", "low"] | None = None
    force: Force | None = None


def document_ids(request: CaseRequest) -> tuple[str, ...]:
    """The documents' ids in order: as given, or D1, D2, ...; two that are the same are refused with the case."""
    return tuple(d.id or f"D{i}" for i, d in enumerate(request.documents, start=1))
