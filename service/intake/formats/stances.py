"""The options of stances."""

from __future__ import annotations

from service.checks.output_schema import check_schema
from service.debate.model import StancesOptions
from service.debate.replies import Argument, Judgement, Projection
from service.errors import InvalidCase
from service.intake.formats.shared import (
    SAID,
    Reading,
    Request,
    default,
    filled,
    masked,
    most,
    named,
    one_line,
    reviewed,
    screened,
    spoken,
    swapped,
)
from service.intake.request import OptionsRequest
from service.intake.validation import check_text
from service.policy import Policy


def _read(request: Request, asked: OptionsRequest, policy: Policy) -> StancesOptions:
    rules = policy.formats.stances
    debaters = named(asked, None, rules.debaters_max)
    for i, debater in enumerate(debaters):
        if not one_line(debater.stance):
            raise InvalidCase(
                f"debater {check_text(debater.name)} needs a stance of one line: the position that it argues to"
                " the end",
                pointers=(f"/options/debaters/{i}/stance",),
            )
    synthesizer = default(asked.synthesizer, rules.synthesizer)
    _schema(asked, synthesizer=synthesizer)
    if synthesizer:
        filled("synthesizer", policy, "/options/synthesizer", "send synthesizer false")
    return StancesOptions(
        debaters=debaters,
        max_rounds=most(asked, rules.rounds, rules.rounds_max),
        human_review=reviewed(request, policy),
        anonymize_transcript=default(asked.anonymize_transcript, rules.anonymize_transcript),
        shuffle_for_judge=default(asked.shuffle_for_judge, rules.shuffle_for_judge),
        synthesizer=synthesizer,
        output_schema=asked.output_schema,
        instructions=spoken("instructions", asked.instructions),
        swapped=swapped(request, policy),
        screened=screened(policy),
        masked=masked(request, policy),
    )


def _schema(asked: OptionsRequest, *, synthesizer: bool) -> None:
    """Refuse a schema without a synthesizer to apply it, or one that cannot be checked."""
    if asked.output_schema is None:
        return
    pointers = ("/options/outputSchema",)
    if not synthesizer:
        raise InvalidCase(
            "outputSchema needs a synthesizer to apply it to, and synthesizer is false; leave out one of the two",
            pointers=pointers,
        )
    if why := check_schema(asked.output_schema):
        raise InvalidCase(why, pointers=pointers)


READING = Reading(
    options=(
        "debaters",
        "maxRounds",
        "anonymizeTranscript",
        "shuffleForJudge",
        "synthesizer",
        "outputSchema",
        "instructions",
        "models",
    ),
    read=_read,
    replies={
        "stances.debater": Argument((SAID,)),
        "stances.judge": Judgement("-", None, "-", "LOW", ("-",)),
        "stances.synthesizer": Projection("{}"),
    },
    draws=None,
    replaceable="stances.debater",
)
