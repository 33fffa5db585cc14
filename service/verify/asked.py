"""The options and the ceiling of a debate, as they follow from what the case asked for and from policy.

The code is the verifier's own and not that of intake, on purpose: an error in one of the two shows here. A panel's
track records are stated by the start, because they come from the tenant's other debates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeVar

from service.checks.question_type import CLASSIFICATIONS
from service.debate.amounts import MICRO, MicroUSD
from service.debate.ballot import ESCALATE
from service.debate.entries import CaseReceived
from service.debate.formats import FormatName, complete_formats
from service.debate.labels import read
from service.debate.model import (
    DEBATERS_MAX,
    ROUND_CEILING,
    AdversarialOptions,
    BallotOptions,
    Case,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    StancesOptions,
    TrackRecord,
)
from service.debate.options import AskedOptions, EvaluationTerms, debater_seats, role_of
from service.policy import FormatsPolicy, Policy, seating
from service.policy.rules import DEBATERS_MIN
from service.verify.opened_bundle import LegalDebate
from service.verify.steps import Differs, expect
from service.verify.versions import by

WHOLE = 1_000
"""Per mille of a whole."""
STRENGTHS = 1, 10
T = TypeVar("T")


class Given(NamedTuple):
    """What the options follow from. ``records`` are the track records of a panel that chooses by them."""

    debate: LegalDebate
    case: Case
    asked: AskedOptions
    rules: Policy
    rule: seating.Seating
    records: tuple[TrackRecord, ...] = ()

    @property
    def human_review(self) -> bool:
        """Whether policy has a person decide."""
        return self.rule.human_review(self.rules, self.case.task_type)

    @property
    def screened(self) -> bool:
        """Whether policy seats a screener."""
        return self.rule.screened(self.rules)

    @property
    def masked(self) -> bool:
        """Whether a decider is asked once more where passages of the case speak to a model."""
        return self.rule.asked_masked(self.rules, self.case.estimated_downside)

    @property
    def swapped(self) -> bool:
        """Whether a single decider is asked twice."""
        return _or(self.terms.swapped, self.rule.asked_twice(self.rules, self.case.estimated_downside))

    @property
    def terms(self) -> EvaluationTerms:
        """What only an evaluation asks for; the kernel refuses any in another case."""
        return _received(self.debate).terms or EvaluationTerms()


def asked_of(debate: LegalDebate) -> AskedOptions:
    """The options that the case asked for; raises `NotCheckable` without its record."""
    return _received(debate).asked or AskedOptions()


def _received(debate: LegalDebate) -> CaseReceived:
    case = debate.case
    first = debate.entries[0]
    return first if isinstance(first, CaseReceived) else CaseReceived(case, "")


def options_of(debate: LegalDebate, rules: Policy, name: FormatName, records: tuple[TrackRecord, ...] = ()) -> Options:
    """The options of a case in this format; raises `Differs` for what policy's bounds refuse."""
    rule, form = by(debate.decided, "seating", seating.SEATINGS), _FORMATS[name]
    options, most = (
        form.options(Given(debate, debate.case, asked_of(debate), rules, rule, records)),
        form.most(rules.formats),
    )
    count = len(debater_seats(options))
    fewest = 1 if isinstance(options, BallotOptions) and options.drafts else DEBATERS_MIN
    if most and not (1 <= options.max_rounds <= most[0] and fewest <= count <= most[1]):
        found = f"{options.max_rounds} rounds and {count} debaters"
        raise Differs("the size of the debate", f"at most {most[0]} rounds and {most[1]} debaters", found)
    return options


def check_ceiling(debate: LegalDebate, rules: Policy, ceiling: MicroUSD) -> None:
    """Check that a ceiling is the one that was asked for, or policy's; raises `Differs`."""
    asked = _received(debate).asked_ceiling
    expect("the ceiling", rules.debate.ceiling if asked is None else asked, ceiling)
    if not 0 < ceiling <= rules.debate.ceiling_max:
        raise Differs("the ceiling", f"at most {rules.debate.ceiling_max} micro-dollars", str(ceiling))


def _adversarial_rounds(given: Given) -> int:
    """One round; more where policy marks the case high-stakes, or where evidence is introduced later."""
    case, rules = given.case, given.rules.debate
    high = case.materiality in rules.high_stakes_materiality or (
        case.estimated_downside.is_finite() and case.estimated_downside * MICRO > rules.high_stakes_downside
    )
    evidence = max((d.round for d in case.documents), default=1)
    return max(rules.high_stakes_rounds if high else rules.rounds, min(evidence, ROUND_CEILING))


def _adversarial(given: Given) -> Options:
    asked, rules = given.asked, given.rules.debate
    strength = _or(asked.min_challenge_strength, rules.min_challenge_strength)
    retry_below = _or(asked.require_critic_retry_below, rules.require_critic_retry_below)
    usual = 1 if given.terms.until else _adversarial_rounds(given)
    return AdversarialOptions(
        max_rounds=_within("rounds", _or(asked.max_rounds, usual), 1, ROUND_CEILING),
        min_challenge_strength=_within("the least strength of a challenge", strength, *STRENGTHS),
        require_critic_retry_below=_within("the strength that ends a critic's turn", retry_below, *STRENGTHS),
        human_review=given.human_review,
        positions=asked.positions,
        personas=asked.personas,
        swapped=given.swapped,
        screened=given.screened,
        masked=given.masked,
        until=given.terms.until,
    )


def _stances(given: Given) -> Options:
    asked, rules = given.asked, given.rules.formats.stances
    return StancesOptions(
        debaters=_named(given, None),
        max_rounds=_or(asked.max_rounds, rules.rounds),
        human_review=given.human_review,
        anonymize_transcript=_or(asked.anonymize_transcript, rules.anonymize_transcript),
        shuffle_for_judge=_or(asked.shuffle_for_judge, rules.shuffle_for_judge),
        synthesizer=_or(asked.synthesizer, rules.synthesizer),
        output_schema=asked.output_schema,
        instructions=asked.instructions,
        swapped=given.swapped,
        screened=given.screened,
        masked=given.masked,
    )


def _ballot(given: Given) -> Options:
    asked, rules = given.asked, given.rules.formats.ballot
    debaters = _named(given, rules.debaters)
    votes = tuple(read(vote, (ESCALATE,)) or vote for vote in _or(asked.votes, rules.votes))
    drafts = given.terms.drafts
    most = 1 if drafts else min(len(debaters), len(debaters) * rules.threshold_per_mille // WHOLE + 1)
    return BallotOptions(
        debaters=debaters,
        max_rounds=_or(asked.max_rounds, 1 if drafts else rules.rounds),
        votes=votes if ESCALATE in votes else (*votes, ESCALATE),
        consensus_threshold=_within("votes that decide", _or(asked.consensus_threshold, most), 1, len(debaters)),
        human_review=given.human_review,
        instructions=asked.instructions,
        screened=given.screened,
        drafts=drafts,
    )


def _panel(given: Given) -> Options:
    asked, rules = given.asked, given.rules.formats.panel
    adjudicator = _or(asked.adjudicator, rules.adjudicator)
    mode: Literal["auto", "manual"] = _or(asked.mode, rules.mode)
    if any(role_of(seat) == "debater" for seat in asked.models):
        mode = "manual"
    question, typed_by = asked.question_type, "caller"
    if question is None:
        classify = by(given.debate.decided, "classification", CLASSIFICATIONS)
        question = classify(given.case.question).question_type
        typed_by = "classifier" if rules.classifier == "model" else "rules"
    return PanelOptions(
        debaters=_number(given, rules.debaters),
        max_rounds=_or(asked.max_rounds, rules.rounds),
        human_review=given.human_review,
        question_type=question,
        typed_by=typed_by,  # type: ignore[arg-type]
        thresholds=dict(rules.thresholds.items()),
        adjudicator=adjudicator,
        mode=mode,
        track_records=given.records if mode == "auto" else (),
        instructions=asked.instructions,
        swapped=adjudicator == "model" and given.swapped,
        screened=given.screened,
        masked=given.masked,
    )


def _convergence(given: Given) -> Options:
    asked, rules = given.asked, given.rules.formats.convergence
    judge, share = _or(asked.judge, rules.judge), asked.convergence_similarity
    similarity = rules.similarity_per_mille if share is None else int(share * WHOLE)
    named = isinstance(asked.debaters, tuple)
    return ConvergenceOptions(
        debaters=_named(given, None) if named else _number(given, rules.debaters),
        max_rounds=_or(asked.max_rounds, rules.rounds),
        human_review=given.human_review,
        judge=judge,
        convergence_check=_or(asked.convergence_check, rules.convergence_check),
        convergence_similarity=_within("the similarity of answers", similarity, 0, WHOLE),
        ties=_or(asked.ties, rules.ties),
        debater_instructions=asked.debater_instructions,
        judge_instructions=asked.judge_instructions,
        swapped=judge and given.swapped,
        screened=given.screened,
        masked=judge and given.masked,
    )


class _Format(NamedTuple):
    """The options of a format, and the most rounds and debaters that policy lets a case ask for.

    ``most`` is ``None`` for the adversarial format, which has limits of its own.
    """

    options: Callable[[Given], Options]
    most: Callable[[FormatsPolicy], tuple[int, int] | None]


_FORMATS: Mapping[FormatName, _Format] = complete_formats(
    {
        "adversarial": _Format(_adversarial, lambda _: None),
        "stances": _Format(_stances, lambda policy: (policy.stances.rounds_max, policy.stances.debaters_max)),
        "ballot": _Format(_ballot, lambda policy: (policy.ballot.rounds_max, policy.ballot.debaters_max)),
        "panel": _Format(_panel, lambda policy: (policy.panel.rounds_max, policy.panel.debaters_max)),
        "convergence": _Format(
            _convergence, lambda policy: (policy.convergence.rounds_max, policy.convergence.debaters_max)
        ),
    },
    "verify",
    __file__,
)


def _named(given: Given, usual: int | None) -> tuple[Debater, ...]:
    """The debaters that were asked for by name, or ``usual`` ones."""
    debaters = given.asked.debaters
    if debaters is None and usual is not None:
        return tuple(Debater(f"debater-{n}") for n in range(1, usual + 1))
    if not isinstance(debaters, tuple):
        raise Differs("the debaters that were asked for", "their names", "none", record=0)
    return debaters


def _number(given: Given, usual: int) -> int:
    debaters = given.asked.debaters
    if isinstance(debaters, tuple):
        raise Differs("the debaters that were asked for", "a number", "names", record=0)
    return _within("debaters", _or(debaters, usual), DEBATERS_MIN, DEBATERS_MAX)


def _or(asked: T | None, usual: T) -> T:
    return usual if asked is None else asked


def _within(what: str, value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise Differs(what, f"from {least} to {most}", str(value)[:40])
    return value
