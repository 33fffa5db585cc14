"""One run of an evaluation's item, as the case that is recorded for it.

    key         evaluation, item, arm and run: a run is recorded once, however often it is asked for
    gate        forced, with the evaluation as the reason: the caller's role has to be one that policy lets force
    models      those that the options name, also where policy lets no case choose models
    seed        that of the registered plan (`EvaluationItem.seed`)

Only this module makes an `ItemRequest`. No door of callers reads one, so none can ask for what it alone may have.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from msgspec import Struct

from service.debate.amounts import MICRO, MicroUSD
from service.debate.entries import EvaluationItem
from service.debate.model import Force, TurnId
from service.debate.options import EvaluationTerms
from service.debate.replies import Reply
from service.intake.request import USUAL, DocumentRequest, ItemRequest, OptionsRequest


class EvaluationCase(Struct, frozen=True, kw_only=True):
    """What an evaluation asks of one run of an item.

    ``options`` name the format, its options and the models by seat. ``terms`` are what only an evaluation may ask for,
    and ``given`` the replies in the place of models', by turn (``1.proposer.1``). ``ceiling`` is the most that the
    debate may cost, in micro-dollars; without one it is policy's. ``reserve`` is the most that it does cost unless a
    call is lost with a worker: the budget of evaluations has to have it when the debate is opened. ``downside`` is in
    US dollars: by it policy says what is asked of a case of that weight, such as a flagged passage masked.
    """

    evaluation: EvaluationItem
    question: str
    task_type: str
    documents: tuple[DocumentRequest, ...] = ()
    options: OptionsRequest = USUAL
    terms: EvaluationTerms = EvaluationTerms()
    given: Mapping[TurnId, Reply] = {}
    ceiling: MicroUSD | None = None
    reserve: MicroUSD = 0
    downside: Decimal = Decimal(0)

    @property
    def key(self) -> str:
        """The key under which the run is recorded. It begins with a character that no Idempotency-Key can have."""
        run = self.evaluation
        return f"\0evaluation\0{run.id}\0{run.item}\0{run.arm}\0{run.repeat}"

    @property
    def request(self) -> ItemRequest:
        """The case, as intake reads it."""
        return ItemRequest(
            question=self.question,
            task_type=self.task_type,
            estimated_downside=self.downside,
            documents=self.documents,
            options=self.options,
            cost_ceiling_usd=None if self.ceiling is None else Decimal(self.ceiling) / MICRO,
            force=Force(debate=True, reason=f"an item of evaluation {self.evaluation.id}"),
            evaluation=self.evaluation,
            terms=self.terms,
            given=dict(self.given),
        )
