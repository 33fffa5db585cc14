"""The options of each format, fully resolved: replay reads no default from anywhere else. Shares are per mille."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any, Literal

from msgspec import Struct

from service.debate.formats import FormatName, name_of
from service.debate.replies.panel import QuestionType

ROUND_CEILING = 3
"""The hard maximum of rounds of the adversarial format (EAAPL-MAG005, 6.1 and 9)."""
DEBATERS_MAX = 10
"""The most debaters of any format (the panel's reference)."""
Until = Literal["critic"]
"""The seats after whose standing reply an evaluation may end an adversarial debate."""
DEFAULT_OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "decision": {
            "type": "string",
            "description": "What follows from the verdict for the question, in one sentence.",
        },
        "rationale": {"type": "string", "description": "Why: the arguments that carried it, on which evidence."},
        "conditions": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What has to hold or be done for the decision to stand. Empty if nothing.",
        },
        "openQuestions": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What the debate left open. Empty if nothing.",
        },
    },
    "required": ["decision", "rationale", "conditions", "openQuestions"],
    "additionalProperties": False,
}
"""The shape of a projection if the caller gives no schema."""


class Position(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One of several options that a case is to decide between (reference 14.1)."""

    id: str
    """The id of the position: letters, digits and hyphens."""
    text: str
    """The position, as it is put to the debate."""


class AdversarialOptions(
    Struct, frozen=True, rename="camel", tag="adversarial/1", tag_field="format", omit_defaults=True
):
    """The adversarial format's options. ``swapped`` asks the closing moderator again in the reverse order, ``masked``
    once more with the flagged passages masked."""

    max_rounds: int
    min_challenge_strength: int
    require_critic_retry_below: int
    human_review: bool
    """Whether policy wants a person to decide, whatever the outcome is."""
    positions: tuple[Position, ...] = ()
    personas: dict[str, str] = {}
    swapped: bool = False
    """Whether the closing seat is asked twice, the second time in the reverse order."""
    screened: bool = False
    """Whether the screener of policy reads the case before the debate."""
    masked: bool = False
    """Whether the closing seat is asked once more with the passages masked that the check of the case flagged."""
    until: Until | None = None
    """The seat after whose standing reply the debate ends. Only an evaluation ends one so."""


class Debater(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """A debater: the caller's name for it, and its stance if the format assigns one.

    ``role`` is a persona in the caller's words, which reaches the model fenced; ``prompt`` names another pinned prompt
    of the manifest in the place of the format's own.
    """

    name: str
    """The debater's name, on one line, distinct among the debaters."""
    stance: str = ""
    """The stance that the debater has to argue. Absent in formats that assign none."""
    role: str | None = None
    """The debater's persona, in the caller's words."""
    prompt: str | None = None
    """The id of a pinned prompt that replaces the format's own."""


class StancesOptions(Struct, frozen=True, rename="camel", tag="stances/1", tag_field="format", omit_defaults=True):
    """The options of stances. ``output_schema`` is the caller's JSON Schema, ``None`` for the default one."""

    debaters: tuple[Debater, ...]
    max_rounds: int
    human_review: bool
    """Whether policy wants a person to decide, whatever the outcome is."""
    anonymize_transcript: bool = True
    shuffle_for_judge: bool = True
    synthesizer: bool = True
    output_schema: dict[str, Any] | None = None
    instructions: str | None = None
    swapped: bool = False
    """Whether the judge is asked twice, the second time in the reverse order."""
    screened: bool = False
    """Whether the screener of policy reads the case before the debate."""
    masked: bool = False
    """Whether the judge is asked once more with the passages masked that the check of the case flagged."""


class BallotOptions(Struct, frozen=True, rename="camel", tag="ballot/1", tag_field="format", omit_defaults=True):
    """The options of a ballot: who votes in which order, on what, and how many votes decide.

    ``votes`` are the options; ``escalate`` may always be voted for and is one of them.
    """

    debaters: tuple[Debater, ...]
    max_rounds: int
    votes: tuple[str, ...]
    consensus_threshold: int
    human_review: bool
    """Whether policy wants a person to decide, whatever the outcome is."""
    instructions: str | None = None
    screened: bool = False
    """Whether the screener of policy reads the case before the debate."""
    drafts: bool = False
    """Whether the ballot ends after one blind draft of each debater. Only an evaluation asks for that."""


class TrackRecord(Struct, frozen=True, rename="camel"):
    """A model's track record on questions of one type, in the tenant's own concluded debates.

    ``debates`` is their number, ``score`` the mean of its four scores in per mille, shrunk towards the middle if there
    are few debates; a model without a record has the middle itself.
    """

    model: str
    """The alias of the model."""
    debates: int
    """The number of concluded debates of the tenant that count."""
    score: int


class PanelOptions(Struct, frozen=True, rename="camel", tag="panel/1", tag_field="format", omit_defaults=True):
    """The options of a panel.

    ``max_rounds`` counts the blind round. ``question_type`` is known before the debate; ``typed_by`` names its source.
    If the source is ``classifier``, a recorded turn may still change the type. ``thresholds`` are by question type, per
    mille; ``track_records`` are the basis of an automatic choice of models.
    """

    debaters: int
    max_rounds: int
    human_review: bool
    """Whether policy wants a person to decide, whatever the outcome is."""
    question_type: QuestionType
    """The type of the question as it was known before the debate."""
    typed_by: Literal["rules", "caller", "classifier"]
    """Where the type comes from: code's rules, the caller, or a model that may still change it."""
    thresholds: dict[str, int]
    adjudicator: Literal["algorithmic", "model"] = "algorithmic"
    mode: Literal["auto", "manual"] = "auto"
    track_records: tuple[TrackRecord, ...] = ()
    instructions: str | None = None
    swapped: bool = False
    """Whether the seats that score and close are asked twice, the second time in the reverse order."""
    screened: bool = False
    """Whether the screener of policy reads the case before the debate."""
    masked: bool = False
    """Whether the synthesizer is asked once more with the passages masked that the check of the case flagged."""


class ConvergenceOptions(
    Struct, frozen=True, rename="camel", tag="convergence/1", tag_field="format", omit_defaults=True
):
    """The options of convergence. ``max_rounds`` counts the rounds after the independent round 0.

    ``debaters`` are those that the caller has named, or a number of debaters without names. ``convergence_similarity``
    is per mille: 850 is what a request writes as 0.85.
    """

    debaters: tuple[Debater, ...] | int
    max_rounds: int
    human_review: bool
    """Whether policy wants a person to decide, whatever the outcome is."""
    judge: bool = True
    convergence_check: bool = True
    convergence_similarity: int = 850
    ties: Literal["lowestDebater", "noAnswer"] = "lowestDebater"
    debater_instructions: str | None = None
    judge_instructions: str | None = None
    swapped: bool = False
    """Whether the judge is asked twice, the second time in the reverse order."""
    screened: bool = False
    """Whether the screener of policy reads the case before the debate."""
    masked: bool = False
    """Whether the judge is asked once more with the passages masked that the check of the case flagged."""


class AskedOptions(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The options of all formats as a request names them. Policy gives those that it leaves out.

    ``debaters`` is a list where a format's debaters have names, and a number where they have none. ``models`` names a
    model by seat or, for all debaters at once, by ``debater``. `service.intake.formats` says which format has which.
    """

    max_rounds: int | None = None
    """The most rounds of the debate, which may end earlier. A panel counts its blind round, convergence does not count
    its independent round 0."""
    min_challenge_strength: int | None = None
    """The least strength, from 1 to 10, of an effective challenge."""
    require_critic_retry_below: int | None = None
    """Below this strength, from 1 to 10, the critic is asked once more."""
    positions: tuple[Position, ...] = ()
    """The positions to decide between, with distinct ids: at least two, or none for a single proposition."""
    personas: dict[str, str] = {}
    """A persona in the caller's words for each named seat."""
    models: dict[str, str] = {}
    """The alias of a model by seat. The seat debater stands for all debaters."""
    debaters: tuple[Debater, ...] | int | None = None
    """The debaters by name, or how many there are, as the format has it."""
    instructions: str | None = None
    """The caller's instructions for every seat that argues, judges or writes the answer. They do not reach the seat
    that measures a panel, nor a debater with its own prompt."""
    anonymize_transcript: bool | None = None
    """Whether the judge and the synthesizer read the stances without the debaters' names."""
    shuffle_for_judge: bool | None = None
    """Whether the judge reads each round in an order derived from the debate's seed."""
    synthesizer: bool | None = None
    """Whether the synthesizer writes the verdict into the JSON Schema of the case at the end."""
    output_schema: dict[str, Any] | None = None
    """The JSON Schema of the projection. Left out, it is the service's own. It requires the synthesizer."""
    votes: tuple[str, ...] | None = None
    """The options of the vote. The service adds escalate if it is missing, and it counts as one of them."""
    consensus_threshold: int | None = None
    """The number of votes that decide, at most the number of debaters. Default: more than half."""
    question_type: QuestionType | None = None
    """The type of the question. Left out, the service classifies it."""
    adjudicator: Literal["algorithmic", "model"] | None = None
    """What measures consensus: rules, or a model."""
    mode: Literal["auto", "manual"] | None = None
    """How debaters are chosen: by their track records (auto), or by policy and the option models (manual)."""
    judge: bool | None = None
    """Whether a judge decides. Otherwise the majority of the last answers decides."""
    convergence_check: bool | None = None
    """Whether answers that agree end the debate early."""
    convergence_similarity: Decimal | None = None
    """The overlap of words that ends the debate: a share from 0 to 1 with at most three decimals. In a request it is a
    number or a decimal string."""
    ties: Literal["lowestDebater", "noAnswer"] | None = None
    """The result of a tie: the answer of the first debater, or none."""
    debater_instructions: str | None = None
    """Instructions for the debaters, in the caller's words."""
    judge_instructions: str | None = None
    """Instructions for the judge, in the caller's words. They require the judge."""


class EvaluationTerms(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The options that only an evaluation asks for, beside those of every case."""

    until: Until | None = None
    """The seat after whose standing reply an adversarial debate ends."""
    drafts: bool = False
    """Whether a ballot ends after one blind draft of each debater."""
    swapped: bool | None = None
    """Whether a single decider is asked twice. Left out, policy says it, by what is at stake."""


Options = AdversarialOptions | StancesOptions | BallotOptions | PanelOptions | ConvergenceOptions


def format_of(options: Options) -> FormatName:
    """The name of these options' format."""
    return name_of(str(options.__struct_config__.tag))


def output_schema_of(options: Options) -> dict[str, Any]:
    """The schema that a projection has to fit: the caller's, or the default one."""
    match options:
        case StancesOptions():
            return DEFAULT_OUTPUT_SCHEMA if options.output_schema is None else options.output_schema
        case AdversarialOptions() | BallotOptions() | PanelOptions() | ConvergenceOptions():
            return DEFAULT_OUTPUT_SCHEMA


def positions_of(options: Options) -> tuple[Position, ...]:
    """The positions between which a debate decides; empty for one proposition and for other formats."""
    match options:
        case AdversarialOptions():
            return options.positions
        case StancesOptions() | BallotOptions() | PanelOptions() | ConvergenceOptions():
            return ()


def personas_of(options: Options) -> dict[str, str]:
    """The personas in the caller's words, by seat; none for a debater with a prompt of its own."""
    if isinstance(options, AdversarialOptions):
        return options.personas
    return {debater_seat(i): d.role for i, d in enumerate(debaters_of(options), start=1) if d.role and not d.prompt}


def debaters_of(options: Options) -> tuple[Debater, ...]:
    """The debaters that the caller has named, in their order; empty where debaters have no names."""
    match options:
        case StancesOptions() | BallotOptions():
            return options.debaters
        case ConvergenceOptions():
            return options.debaters if isinstance(options.debaters, tuple) else ()
        case AdversarialOptions() | PanelOptions():
            return ()


def unclear_names(options: Options) -> list[str]:
    """The names of the debaters that the caller has named, if two are the same or one is blank."""
    names = [debater.name for debater in debaters_of(options)]
    return names if len({name.strip() for name in names} - {""}) != len(names) else []


def prompt_of(options: Options, seat: str) -> str:
    """The pinned prompt that the debater in a seat has in the place of the format's own; empty without one."""
    named = dict(zip(debater_seats(options), debaters_of(options), strict=False))
    return named[seat].prompt or "" if seat in named else ""


def votes_of(options: Options) -> tuple[str, ...]:
    """The options that a ballot votes on; empty in other formats."""
    match options:
        case BallotOptions():
            return options.votes
        case AdversarialOptions() | StancesOptions() | PanelOptions() | ConvergenceOptions():
            return ()


def evaluated_of(options: Options) -> bool:
    """Whether a debate ends as only an evaluation has it end: after its critic, or after blind drafts."""
    if isinstance(options, AdversarialOptions):
        return options.until is not None
    return isinstance(options, BallotOptions) and options.drafts


def swapped_of(options: Options) -> bool:
    """Whether the decider is asked twice; never in a ballot, which has none."""
    match options:
        case AdversarialOptions() | StancesOptions() | PanelOptions() | ConvergenceOptions():
            return options.swapped
        case BallotOptions():
            return False


def masked_of(options: Options) -> bool:
    """Whether the decider is asked once more where the check flagged a passage; never in a ballot, which has none."""
    match options:
        case AdversarialOptions() | StancesOptions() | PanelOptions() | ConvergenceOptions():
            return options.masked
        case BallotOptions():
            return False


def instructions_of(options: Options, seat: str) -> str | None:
    """The caller's instructions to a seat.

    ``None`` for a debater with a prompt of its own, for a panel's classifier and adjudicator, and for a screener, which
    reads them as data.
    """
    if seat == "screener":
        return None
    if seat in {debater_seat(i) for i, d in enumerate(debaters_of(options), start=1) if d.prompt}:
        return None
    match options:
        case ConvergenceOptions():
            return (options.judge_instructions if seat == "judge" else options.debater_instructions) or None
        case StancesOptions() | BallotOptions():
            return options.instructions or None
        case PanelOptions():
            return (options.instructions or None) if seat not in ("classifier", "adjudicator") else None
        case AdversarialOptions():
            return None


def debater_seat(number: int) -> str:
    """The seat of the debater with this number, from 1: ``debater-1``."""
    return f"debater-{number}"


def debater_seats(options: Options) -> tuple[str, ...]:
    """The debaters' seats in their declared order; none in the adversarial format."""
    return _seats(_count(options))


@cache
def _seats(count: int) -> tuple[str, ...]:
    return tuple(debater_seat(number) for number in range(1, count + 1))


def _count(options: Options) -> int:
    match options:
        case AdversarialOptions():
            return 0
        case StancesOptions() | BallotOptions():
            return len(options.debaters)
        case ConvergenceOptions():
            return len(options.debaters) if isinstance(options.debaters, tuple) else options.debaters
        case PanelOptions():
            return options.debaters


def role_of(seat: str) -> str:
    """The policy's seat from which a seat is filled: ``debater-3`` is a ``debater``."""
    return "debater" if seat.startswith("debater-") else seat
