"""The options of a debate, each from the request or from policy, within the limits that policy sets.

What another format knows is refused, so that nobody believes to have asked for something that nobody heard.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, TypeVar

from service.classification import CLASSIFICATION
from service.debate.adversarial import SEATS
from service.debate.ballot import ABSTENTION, ESCALATE
from service.debate.folding import clashing, read
from service.debate.model import (
    ROUND_CEILING,
    AdversarialOptions,
    BallotOptions,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    Position,
    StancesOptions,
)
from service.debate.money import MICRO
from service.debate.options import role_of
from service.debate.replies.panel import QuestionType
from service.errors import InvalidCase
from service.intake.checks import between, key, said
from service.intake.request import OPTIONS_OF, CaseRequest, GateRequest, OptionsRequest
from service.policy import AUTO, Policy
from service.projection import check_schema
from service.prompts import Prompts

T = TypeVar("T")
Request = GateRequest | CaseRequest
POSITION_ID_MAX = 40
DEBATERS_MIN = 2
_WHOLE = 1_000


def resolve(request: Request, format_: str, policy: Policy) -> Options:
    """The options of a format by its name; raises `InvalidCase`. A panel's track records are added by who has them."""
    asked = request.options
    if foreign := [name for name in asked.given if name not in OPTIONS_OF[format_]]:
        formats = [name for name, options in OPTIONS_OF.items() if foreign[0] in options]
        auto = f" by the task type {said(request.task_type)}" if request.format == AUTO else ""
        raise InvalidCase(
            f"{foreign[0]} is an option of {', '.join(formats)}, and this debate is {format_}{auto}, which knows: "
            f"{', '.join(OPTIONS_OF[format_])}; leave it out, or ask for another format",
            pointers=tuple(f"/options/{name}" for name in foreign),
        )
    match format_:
        case "stances":
            return _stances(request, asked, policy)
        case "ballot":
            return _ballot(request, asked, policy)
        case "panel":
            return _panel(request, asked, policy)
        case "convergence":
            return _convergence(request, asked, policy)
    return _adversarial(request, asked, policy)


def known_prompts(options: Options, prompts: Prompts) -> None:
    """Refuse a prompt that is not among those which may stand in the place of a debater's own."""
    if not isinstance(options, StancesOptions | BallotOptions):
        return
    kind = "stances.debater" if isinstance(options, StancesOptions) else "ballot.debater"
    known = prompts.alternatives(kind)
    for i, debater in enumerate(options.debaters):
        if debater.prompt is not None and debater.prompt not in known:
            advice = f"use one of: {', '.join(known)}" if known else "there is none to choose; leave it out"
            raise InvalidCase(
                f"no pinned prompt {said(debater.prompt)} may stand in the place of {kind}; {advice}",
                pointers=(f"/options/debaters/{i}/prompt",),
            )


# The adversarial format.


def _adversarial(request: Request, asked: OptionsRequest, policy: Policy) -> AdversarialOptions:
    rules = policy.debate
    rounds = asked.max_rounds if asked.max_rounds is not None else _rounds(request, policy)
    between("maxRounds", rounds, 1, ROUND_CEILING)
    strength = _default(asked.min_challenge_strength, rules.min_challenge_strength)
    retry_below = _default(asked.require_critic_retry_below, rules.require_critic_retry_below)
    between("minChallengeStrength", strength, 1, 10)
    between("requireCriticRetryBelow", retry_below, 1, 10)
    for seat, persona in asked.personas.items():
        pointer = f"/options/personas/{key(seat)}"
        if seat not in SEATS:
            raise InvalidCase(f"unknown seat {said(seat)}; use one of: {', '.join(SEATS)}", pointers=(pointer,))
        if not persona.strip():
            raise InvalidCase(
                f"the persona of seat {seat!r} is empty; say who speaks, or leave it out", pointers=(pointer,)
            )
    _positions(asked.positions, policy)
    return AdversarialOptions(
        max_rounds=rounds,
        min_challenge_strength=strength,
        require_critic_retry_below=retry_below,
        human_review=_reviewed(request, policy),
        positions=asked.positions,
        personas=asked.personas,
        swapped=_swapped(request, policy),
    )


def _rounds(request: Request, policy: Policy) -> int:
    """One round; more where policy marks the case high-stakes, or where evidence is introduced later."""
    rules, downside = policy.debate, request.estimated_downside
    high = request.materiality in rules.high_stakes_materiality or (
        downside is not None and downside.is_finite() and downside * MICRO > rules.high_stakes_downside
    )
    evidence = max((d.round for d in request.documents), default=1) if isinstance(request, CaseRequest) else 1
    return max(rules.high_stakes_rounds if high else rules.rounds, min(evidence, ROUND_CEILING))


def _positions(positions: tuple[Position, ...], policy: Policy) -> None:
    ids = [p.id for p in positions]
    pointer = "/options/positions"
    if len(positions) == 1 or len(positions) > policy.limits.positions or len(set(ids)) != len(ids):
        limit = policy.limits.positions
        raise InvalidCase(
            f"expected two to {limit} positions with distinct ids, found {said(ids)}", pointers=(pointer,)
        )
    for i, position in enumerate(positions):
        plain = position.id.replace("-", "").isalnum() and position.id.isascii()
        if not plain or len(position.id) > POSITION_ID_MAX:
            raise InvalidCase(
                f"a position's id has at most {POSITION_ID_MAX} letters, digits and hyphens, found {said(position.id)}",
                pointers=(f"{pointer}/{i}/id",),
            )
        if not position.text.strip():
            raise InvalidCase("a position needs its text", pointers=(f"{pointer}/{i}/text",))


# The others.


def _stances(request: Request, asked: OptionsRequest, policy: Policy) -> StancesOptions:
    rules = policy.formats.stances
    debaters = _named(asked, None, rules.debaters_max)
    for i, debater in enumerate(debaters):
        if not _one_line(debater.stance):
            raise InvalidCase(
                f"debater {said(debater.name)} needs a stance of one line: the position that it argues to the end",
                pointers=(f"/options/debaters/{i}/stance",),
            )
    synthesizer = _default(asked.synthesizer, rules.synthesizer)
    _schema(asked, synthesizer=synthesizer)
    if synthesizer:
        _filled("synthesizer", policy, "/options/synthesizer", "send synthesizer false")
    return StancesOptions(
        debaters=debaters,
        max_rounds=_most(asked, rules.rounds, rules.rounds_max),
        human_review=_reviewed(request, policy),
        anonymize_transcript=_default(asked.anonymize_transcript, rules.anonymize_transcript),
        shuffle_for_judge=_default(asked.shuffle_for_judge, rules.shuffle_for_judge),
        synthesizer=synthesizer,
        output_schema=asked.output_schema,
        instructions=_spoken("instructions", asked.instructions),
        swapped=_swapped(request, policy),
    )


def _schema(asked: OptionsRequest, *, synthesizer: bool) -> None:
    """Refuse a schema that nobody would apply, or that cannot be checked."""
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


def _ballot(request: Request, asked: OptionsRequest, policy: Policy) -> BallotOptions:
    rules = policy.formats.ballot
    debaters = _named(asked, rules.debaters, rules.debaters_max)
    for i, debater in enumerate(debaters):
        if debater.stance:
            raise InvalidCase(
                f"debaters of a ballot take their own stances, found one for {said(debater.name)}; leave it out, or "
                "ask for the format stances",
                pointers=(f"/options/debaters/{i}/stance",),
            )
    needed = min(len(debaters), len(debaters) * rules.threshold_per_mille // _WHOLE + 1)
    threshold = _default(asked.consensus_threshold, needed)
    between("consensusThreshold", threshold, 1, len(debaters))
    return BallotOptions(
        debaters=debaters,
        max_rounds=_most(asked, rules.rounds, rules.rounds_max),
        votes=_votes(rules.votes if asked.votes is None else asked.votes, rules.votes_max),
        consensus_threshold=threshold,
        human_review=_reviewed(request, policy),
        instructions=_spoken("instructions", asked.instructions),
    )


def _votes(votes: Sequence[str], most: int) -> tuple[str, ...]:
    """The options that can be voted for, ``escalate`` always among them, in the caller's order."""
    spelled = tuple(read(vote, (ESCALATE,)) or vote for vote in votes)
    options = spelled if ESCALATE in spelled else (*spelled, ESCALATE)
    odd = next((i for i, vote in enumerate(options) if not vote.isprintable()), None)
    if odd is not None:
        raise InvalidCase("a vote is one line of printable characters", pointers=(f"/options/votes/{odd}",))
    if read(ABSTENTION, options) or clashing(options):
        raise InvalidCase(
            f"votes have to differ in more than case and punctuation, and none is {ABSTENTION!r}, which is what an "
            f"unreadable vote is counted as; found {said(list(votes))}",
            pointers=("/options/votes",),
        )
    if not DEBATERS_MIN <= len(options) <= most:
        raise InvalidCase(
            f"expected at least one option beside {ESCALATE!r} and at most {most} with it, found {len(options)}",
            pointers=("/options/votes",),
        )
    return options


def _panel(request: Request, asked: OptionsRequest, policy: Policy) -> PanelOptions:
    rules = policy.formats.panel
    debaters = _number(asked, rules.debaters, rules.debaters_max)
    adjudicator = _default(asked.adjudicator, rules.adjudicator)
    if adjudicator == "model":
        _filled("adjudicator", policy, "/options/adjudicator", "send adjudicator algorithmic")
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
        max_rounds=_most(asked, rules.rounds, rules.rounds_max),
        human_review=_reviewed(request, policy),
        question_type=by_rules,
        typed_by="caller" if asked.question_type else typed_by,
        thresholds=dict(rules.thresholds.items()),
        adjudicator=adjudicator,
        mode="manual" if chosen else _default(asked.mode, rules.mode),
        instructions=_spoken("instructions", asked.instructions),
        swapped=adjudicator == "model" and _swapped(request, policy),
    )


def _type_of(request: Request) -> QuestionType:
    """The type of the question by rules; a request for the gate alone has no question, and its type costs nothing."""
    return CLASSIFICATION(request.question).question_type if isinstance(request, CaseRequest) else "factual"


def _convergence(request: Request, asked: OptionsRequest, policy: Policy) -> ConvergenceOptions:
    rules = policy.formats.convergence
    debaters = _number(asked, rules.debaters, rules.debaters_max)
    judge = _default(asked.judge, rules.judge)
    if judge:
        _filled("judge", policy, "/options/judge", "send judge false")
    if asked.judge_instructions is not None and not judge:
        raise InvalidCase(
            "judgeInstructions are for a judge, and judge is false; leave out one of the two",
            pointers=("/options/judgeInstructions",),
        )
    similarity = asked.convergence_similarity
    return ConvergenceOptions(
        debaters=debaters,
        max_rounds=_most(asked, rules.rounds, rules.rounds_max),
        human_review=_reviewed(request, policy),
        judge=judge,
        convergence_check=_default(asked.convergence_check, rules.convergence_check),
        convergence_similarity=rules.similarity_per_mille if similarity is None else _per_mille(similarity),
        ties=_default(asked.ties, rules.ties),
        debater_instructions=_spoken("debaterInstructions", asked.debater_instructions),
        judge_instructions=_spoken("judgeInstructions", asked.judge_instructions),
        swapped=judge and _swapped(request, policy),
    )


def _per_mille(share: Decimal) -> int:
    if not share.is_finite() or not 0 <= share <= 1 or share * _WHOLE != int(share * _WHOLE):
        raise InvalidCase(
            f"convergenceSimilarity must be from 0 to 1 with at most three decimals, found {str(share)[:40]}",
            pointers=("/options/convergenceSimilarity",),
        )
    return int(share * _WHOLE)


# What several formats share.


def _named(asked: OptionsRequest, usual: int | None, most: int) -> tuple[Debater, ...]:
    """Debaters with names of their own, or ``usual`` ones; ``None`` where the caller has to say who debates."""
    pointer = "/options/debaters"
    found = asked.debaters
    if found is None and usual is not None:
        return tuple(Debater(f"debater-{n}") for n in range(1, usual + 1))
    if not isinstance(found, tuple):
        shape = 'a list such as [{"name": "a"}, {"name": "b"}]'
        if usual is None:
            shape = 'a list such as [{"name": "a", "stance": "yes"}, {"name": "b", "stance": "no"}]'
        what = "nothing" if found is None else "a number"
        raise InvalidCase(f"debaters must be {shape}, found {what}", pointers=(pointer,))
    if not DEBATERS_MIN <= len(found) <= most:
        raise InvalidCase(f"expected {DEBATERS_MIN} to {most} debaters, found {len(found)}", pointers=(pointer,))
    for i, debater in enumerate(found):
        if not (debater.name.strip() and debater.name.isprintable()):
            raise InvalidCase("a debater's name is one line of printable characters", pointers=(f"{pointer}/{i}/name",))
        if debater.role is not None and not debater.role.strip():
            raise InvalidCase(
                f"the role of {said(debater.name)} is empty; say who speaks, or leave it out",
                pointers=(f"{pointer}/{i}/role",),
            )
    if clashing([debater.name for debater in found]):
        names = said([debater.name for debater in found])
        raise InvalidCase(f"debaters need names that differ in more than case, found {names}", pointers=(pointer,))
    return found


def _number(asked: OptionsRequest, usual: int, most: int) -> int:
    """How many debaters without names sit at the table."""
    if isinstance(asked.debaters, tuple):
        raise InvalidCase(
            "debaters of this format are known by letters alone; send how many there are, as a number",
            pointers=("/options/debaters",),
        )
    count = _default(asked.debaters, usual)
    between("debaters", count, DEBATERS_MIN, most)
    return count


def _most(asked: OptionsRequest, usual: int, most: int) -> int:
    rounds = _default(asked.max_rounds, usual)
    between("maxRounds", rounds, 1, most)
    return rounds


def _spoken(name: str, text: str | None) -> str | None:
    if text is not None and not text.strip():
        raise InvalidCase(f"{name} is empty; say what to do, or leave it out", pointers=(f"/options/{name}",))
    return text


def _one_line(text: str) -> bool:
    """Whether a text says something, in one line."""
    return bool(text.strip()) and not any(unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs") for c in text)


def _filled(seat: str, policy: Policy, pointer: str, otherwise: str) -> None:
    """Refuse an option that needs a seat which policy does not fill."""
    if seat not in policy.seats:
        raise InvalidCase(
            f"this needs a seat that policy does not fill; add seats.{seat} to the policy, or {otherwise}",
            pointers=(pointer,),
        )


def _reviewed(request: Request, policy: Policy) -> bool:
    return request.task_type in policy.debate.human_review


def _swapped(request: Request, policy: Policy) -> bool:
    """Whether so much is at stake that the decider is asked twice."""
    stake, downside = policy.debate.swap_above, request.estimated_downside
    return stake is not None and downside is not None and downside.is_finite() and downside * MICRO > stake


def _default(asked: T | None, usual: T) -> T:
    return usual if asked is None else asked
