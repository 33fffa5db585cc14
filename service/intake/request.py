"""Requests: the bodies of ``POST /v1/debates`` and ``POST /v1/gate``."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import ClassVar, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields

from service.debate.entries import EvaluationItem
from service.debate.model import Force, OnDisconnect
from service.debate.options import AskedOptions, EvaluationTerms
from service.debate.replies import Reply
from service.debate.turns import TurnId


class DocumentRequest(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A source document: its text, and the first round whose seats read it."""

    text: str
    """The whole text of the document. Spans in answers count its Unicode code points."""
    id: str | None = None
    """The id by which citations name the document, distinct in the case. Left out, documents are `D1`, `D2`, ... in
    order."""
    title: str | None = None
    """The title that people read. Left out, it is the id."""
    round: int = 1
    """The first round whose seats read it. Only the adversarial format brings documents in later rounds."""


class OptionsRequest(AskedOptions, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=False):
    """The format of a debate, or ``auto``, and its options. Policy sets those left out.

    An option of another format is refused. A request without options has no ``format`` here, and policy's own is taken.
    ``debaters`` is a list where a format's debaters have names, and a number where they have none. ``models`` names a
    model by seat or, for all debaters at once, by ``debater``. `service.intake.formats` says which format has which.
    """

    format: str | UnsetType
    """The format, or `auto`, by which policy chooses one."""

    @property
    def recorded(self) -> AskedOptions | None:
        """These options as the record of the case holds them; ``None`` where they say nothing."""
        if not self.given:
            return None
        return AskedOptions(**{name: getattr(self, name) for name in AskedOptions.__struct_fields__})

    @property
    def given(self) -> tuple[str, ...]:
        """The options that say something, by their names in JSON."""
        return tuple(encoded for name, encoded in _OPTIONS if getattr(self, name) not in (None, (), {}))


_OPTIONS = tuple((f.name, f.encode_name) for f in fields(OptionsRequest) if f.name != "format")
"""Each option, with its name in JSON: msgspec reads a type's annotations anew whenever it is asked."""
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
    """The question that is to be decided, in your words."""
    task_type: str
    """The task type, on one line. GET /v1/policy lists those that policy knows. A type that is close to a known one is
    refused as a slip."""
    estimated_downside: Decimal | None = None
    """US dollars that a wrong answer may cost, from 0. The gate compares it with what a debate costs."""
    documents: tuple[DocumentRequest, ...] = ()
    """The source documents. Seats may cite nothing else, and without any the confidence is at most MODERATE."""
    confidence_score: Decimal | None = None
    """Your confidence in the answer that you have, from 0 to 1. Left out, it counts as uncertain."""
    downside_basis: str | None = None
    """How you estimated the downside, for the record."""
    single_agent_answer: str | None = None
    """The answer of a single agent, if you have one. Seats read it as the answer under review, and hedging in it counts
    as uncertainty."""
    contested: bool | None = None
    """Whether the matter is contested. Left out, it counts as contested; false is for facts that can be looked up."""
    use_case: str | None = None
    """The use case in your inventory, for the record."""
    intended_use: str | None = None
    """What the answer is used for, for the record."""
    materiality: Literal["high", "moderate", "low"] | None = None
    """How material the use is. `high` makes the case high-stakes where policy says so."""
    options: OptionsRequest = USUAL
    """The format and its options. Left out, policy chooses the format and all options."""
    cost_ceiling_usd: Decimal | None = msgspec.field(default=None, name="costCeilingUSD")
    """US dollars that the debate may cost at most, above 0. Left out, it is policy's ceiling, and it may not exceed
    policy's highest."""
    deadline: str | None = None
    """When the debate has to end: RFC 3339 with an offset, in the future, such as 2027-01-31T17:00:00Z."""
    force: Force | None = None
    """An order to the gate, for roles that policy allows to give one."""
    metadata: dict[str, str] = {}
    """Your own keys and values, such as a ticket number. They are recorded and never sent to a model."""
    on_disconnect: OnDisconnect = "continue"
    """What happens when the last listener has gone: the debate continues, or is aborted."""

    @property
    def format(self) -> str | None:
        """The format that is asked for, or ``auto``; ``None`` leaves it to policy."""
        return None if self.options.format is UNSET else self.options.format


class ItemRequest(CaseRequest, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """A case that is an item of an evaluation, with what only an evaluation may ask for.

    No door of callers decodes it: they read a `CaseRequest`. ``given`` are replies in the place of models', by turn.
    """

    evaluation: EvaluationItem
    terms: EvaluationTerms = EvaluationTerms()
    given: dict[TurnId, Reply] = {}


class GateRequest(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The body of ``POST /v1/gate``: only the members that the decision needs."""

    belongs: ClassVar = BELONGS

    task_type: str
    """The task type, on one line. GET /v1/policy lists those that policy knows. A type that is close to a known one is
    refused as a slip."""
    estimated_downside: Decimal | None = None
    """US dollars that a wrong answer may cost, from 0. The gate compares it with what a debate costs."""
    confidence_score: Decimal | None = None
    """Your confidence in the answer that you have, from 0 to 1. Left out, it counts as uncertain."""
    contested: bool | None = None
    """Whether the matter is contested. Left out, it counts as contested; false is for facts that can be looked up."""
    single_agent_answer: str | None = None
    """The answer of a single agent, if you have one. Hedging in it counts as uncertainty."""
    options: OptionsRequest = USUAL
    """The format and its options, whose expected cost the downside is compared with."""
    materiality: Literal["high", "moderate", "low"] | None = None
    """How material the use is. With `high`, certainty is no excuse."""
    force: Force | None = None
    """An order to the gate, for roles that policy allows to give one."""

    @property
    def format(self) -> str | None:
        """The format that is asked for, or ``auto``; ``None`` leaves it to policy."""
        return None if self.options.format is UNSET else self.options.format


def terms_of(request: CaseRequest | GateRequest) -> EvaluationTerms:
    """What only an evaluation asks for; nothing in any other request."""
    return request.terms if isinstance(request, ItemRequest) else EvaluationTerms()


def document_ids(request: CaseRequest) -> tuple[str, ...]:
    """The documents' ids in order: as given, or D1, D2, ...; two that are the same are refused with the case."""
    return tuple(d.id or f"D{i}" for i, d in enumerate(request.documents, start=1))


def characters(request: CaseRequest) -> int:
    """How much text a case has: its parts that may be long, and a hundred characters more for each document.

    Policy bounds the other parts to a few thousand.
    """
    answer = request.single_agent_answer or ""
    return sum(len(d.text) + 100 for d in request.documents) + len(request.question) + len(answer)
