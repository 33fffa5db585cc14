"""The options of a panel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from service.checks.question_type import CLASSIFICATION
from service.debate.model import Options, PanelOptions
from service.debate.options import role_of
from service.debate.replies import (
    Adjudication,
    BlindAnswer,
    Claim,
    Classification,
    ObjectionAnswers,
    RevisedAnswer,
    Synthesis,
)
from service.debate.replies.panel import ObjectionReply, QuestionType
from service.errors import InvalidCase
from service.intake.formats.shared import (
    Drawn,
    Reading,
    Request,
    default,
    filled,
    masked,
    most,
    number,
    reviewed,
    screened,
    spoken,
    swapped,
)
from service.intake.model_ranking import Standing, rank_models, track_records
from service.intake.request import CaseRequest, OptionsRequest
from service.policy import Policy

_CLAIM = Claim(1, "-", 0, basis="reasoning")


def _read(request: Request, asked: OptionsRequest, policy: Policy) -> PanelOptions:
    rules = policy.formats.panel
    debaters = number(asked, rules.debaters, rules.debaters_max)
    adjudicator = default(asked.adjudicator, rules.adjudicator)
    if adjudicator == "model":
        filled("adjudicator", policy, "/options/adjudicator", "send adjudicator algorithmic")
    chosen = any(role_of(seat) == "debater" for seat in asked.models)
    if chosen and asked.mode == "auto":
        raise InvalidCase(
            "mode auto leaves the choice of debaters to their track records, and models names some; leave out one of "
            "the two",
            pointers=("/options/mode",),
        )
    by_rules = asked.question_type or _type_of(request)
    typed_by: Literal["classifier", "rules"] = "classifier" if rules.classifier == "model" else "rules"
    return PanelOptions(
        debaters=debaters,
        max_rounds=most(asked, rules.rounds, rules.rounds_max),
        human_review=reviewed(request, policy),
        question_type=by_rules,
        typed_by="caller" if asked.question_type else typed_by,
        thresholds=dict(rules.thresholds.items()),
        adjudicator=adjudicator,
        mode="manual" if chosen else default(asked.mode, rules.mode),
        instructions=spoken("instructions", asked.instructions),
        swapped=adjudicator == "model" and swapped(request, policy),
        screened=screened(policy),
        masked=masked(request, policy),
    )


def _type_of(request: Request) -> QuestionType:
    """The type of the question by rules; a request for the gate alone has no question, and its type costs nothing."""
    return CLASSIFICATION(request.question).question_type if isinstance(request, CaseRequest) else "factual"


def _draws(options: Options, policy: Policy, standings: Sequence[Standing]) -> Drawn:
    """The debaters by their track records in mode auto; in manual mode policy or the caller has chosen them."""
    if not isinstance(options, PanelOptions) or options.mode != "auto":
        return Drawn(options, None)
    pool, weight = policy.seats["debater"], policy.formats.panel.track_record_debates
    records = track_records((pool.model, *pool.alternatives), standings, options.question_type, weight)
    return Drawn(replace(options, track_records=records), rank_models(records))


READING = Reading(
    options=("debaters", "maxRounds", "questionType", "adjudicator", "mode", "instructions", "models"),
    read=_read,
    replies={
        "panel.classifier": Classification("belief", "-"),
        "panel.blind": BlindAnswer("-", "open", "other", (_CLAIM,), 0, ()),
        "panel.deliberation": RevisedAnswer("-", "open", "other", (_CLAIM,), 0, (), "", "", (), (), ()),
        "panel.answer": ObjectionAnswers((ObjectionReply("-", "holds", "-"),)),
        "panel.adjudicator": Adjudication(0, 0, 0, 0, "-"),
        "panel.synthesizer": Synthesis("-", "LOW", ("-",)),
    },
    draws=_draws,
    replaceable=None,
)
