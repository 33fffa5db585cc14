"""The adversarial format in results and reports: the rounds of proposer, critic, rebuttal and moderator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from service.debate.adversarial import SEATS
from service.debate.model import Case, Outcome, Turn, TurnId
from service.debate.options import AdversarialOptions
from service.debate.replies import Closing, Moderation, Objection, Reply
from service.debate.turns import round_of, seat_of, split_party, turn_id
from service.report.document.arguments import argued, titles_of
from service.report.document.blocks import (
    Argued,
    Bar,
    Block,
    Bullets,
    Chart,
    Fact,
    HeadingBlock,
    ReportPart,
    Segment,
    Text,
)
from service.report.formats.aspects import Given, Own, Telling
from service.report.labels import ASKED_AGAIN, CONCLUSION, DIVERSITY, MAINTAINED, SIGN, label_of, seat_name
from service.report.result.argument_types import Argument
from service.report.result.decision import ORDER
from service.report.result.dissent import dissent
from service.report.result.history import Folded, History
from service.report.result.round_types import (
    CriticPosition,
    MaskedModeration,
    ModeratorEvaluation,
    PositionDetail,
    ProposerPosition,
    RebuttalPosition,
    RoundDetail,
    RoundRecord,
    SwappedModeration,
)
from service.report.result.rounds import detail as detail_of
from service.report.result.rounds import record as record_of
from service.report.result.terms import AdversarialTerms
from service.report.result.types import Result, Spoken

TURNED = "asked again with the order turned round"
HIDDEN = "asked again with the flagged passages masked"


def _label(_: Folded, who: str) -> str:
    return who


def _first_draft(h: History) -> tuple[TurnId, ...]:
    return tuple(turn for turn in h.facts.said if seat_of(turn) == "proposer" and round_of(turn) == 1)


def _given(_: History, __: TurnId, ___: Reply) -> Given:
    return Given()


def _closing(h: Folded, outcome: Outcome) -> Closing | None:
    final = h.facts.said.get(outcome.final_turn) if outcome.final_turn else None
    return final if isinstance(final, Moderation) else None


def _synthesis(outcome: Outcome, reply: Closing | None) -> str | None:
    return reply.synthesis if isinstance(reply, Moderation) and ORDER not in outcome.flags else None


def _own(h: History, debate_id: str) -> Own:
    return Own(
        rounds=tuple(record_of(h, debate_id, r) for r in h.rounds),
        round_details=tuple(detail_of(h, r) for r in h.rounds),
    )


def _terms(h: Folded, outcome: Outcome, _: tuple[Spoken, ...]) -> AdversarialTerms:
    return AdversarialTerms(
        conclusion=outcome.conclusion,
        agrees_with_first_proposal=outcome.agrees_with_first_proposal,
        ranking=outcome.ranking,
        dissent=dissent(h),
    )


def _facts(_: Result) -> Iterator[Fact]:
    yield from ()


def _untested(r: Result) -> str | None:
    concluded = isinstance(r.result, AdversarialTerms) and r.result.conclusion is not None
    heard = any(record.critic_position for record in r.rounds)
    return "no critic spoke" if concluded and not heard else None


def _parameters(options: AdversarialOptions) -> Iterator[Fact]:
    below = options.require_critic_retry_below, options.min_challenge_strength
    yield Fact("Critique asked again below", f"{below[0]} of 10, by its own rating")
    yield Fact("Critique weak below", f"{below[1]} of 10, by its own rating")
    if options.until:
        yield Fact("Ends after", f"the standing critique, without a decision ({options.until})")


def _who(one: Spoken) -> str:
    return seat_name(one.seat)


def _measured(_: Result) -> Iterator[Block]:
    yield from ()


def _argued(r: Result) -> Iterator[Block]:
    """Every round, in the order in which the seats spoke."""
    titles = titles_of(r)
    for record, detail in zip(r.rounds, r.round_details, strict=True):
        yield ReportPart(f"round-{record.round_number}", f"Round {record.round_number}")
        if detail.new_documents:
            yield Text(f"Introduced in this round: {', '.join(detail.new_documents)}.", "note")
        yield from _proposals(record, detail, titles)
        if detail.critic_first_take:
            yield from _first_take(detail, titles)
        if record.critic_position:
            beside = f"rates its own challenge {record.critic_position.challenge_strength} of 10"
            yield from _critique("Critic", record.critic_position, beside, titles)
            yield from _signs(detail)
        yield from _rebuttals(record, detail, titles)
        yield from _first_moderations(detail)
        if record.moderator_evaluation:
            yield from _evaluation(r, record.moderator_evaluation, detail)
        if detail.swapped_moderation:
            yield from _beside(TURNED, detail.swapped_moderation, detail)
        if detail.masked_moderation:
            yield from _beside(HIDDEN, detail.masked_moderation, detail)


def _proposals(record: RoundRecord, detail: RoundDetail, titles: dict[str, str]) -> Iterator[Block]:
    for position in detail.positions:
        if position.proposer_position:
            yield HeadingBlock(3, f"Proposer of {position.id}", _ranked(position))
            yield Text(position.text, "note")
            yield from _proposal(position.proposer_position, position.objections, titles)
    if not detail.positions and record.proposer_position:
        yield HeadingBlock(3, "Proposer", label_of(CONCLUSION, detail.conclusions.proposer or ""))
        yield from _proposal(record.proposer_position, detail.objections, titles)


def _ranked(position: PositionDetail) -> str:
    return f"ranked {position.rank} by the moderator, score {position.proposer_score}" if position.rank else ""


def _proposal(given: ProposerPosition, objections: tuple[Objection, ...], titles: dict[str, str]) -> Iterator[Block]:
    yield Text(given.thesis, "lead")
    for argument in given.supporting_arguments:
        yield argued(f"Argument {argument.n}", argument, titles)
    if objections:
        yield Text("Objections that the proposer answered in advance:", "note")
        yield Bullets(tuple(f"{o.text} — {o.answer}" for o in objections))


def _critique(title: str, given: CriticPosition, beside: str, titles: dict[str, str]) -> Iterator[Block]:
    yield HeadingBlock(3, title, beside)
    yield Text(given.thesis, "lead")
    for argument in given.counter_arguments:
        yield argued(f"Point {argument.n}", argument, titles)


def _first_take(detail: RoundDetail, titles: dict[str, str]) -> Iterator[Block]:
    first = detail.critic_first_take
    if first is None:
        return
    why = "; ".join(label_of(SIGN, reason) for reason in first.reasons) or "it was weak"
    ended = (
        "It was replaced by the critique that follows." if first.replaced else "No second critique came, so it stands."
    )
    yield HeadingBlock(3, "Critic, first take", f"rates its own challenge {first.position.challenge_strength} of 10")
    yield Text(f"This critique was asked for again because {why}. {ended}", "note")
    if first.replaced:
        yield Text(first.position.thesis, "lead")
        for argument in first.position.counter_arguments:
            yield argued(f"Point {argument.n} of the first take", argument, titles)


def _signs(detail: RoundDetail) -> Iterator[Block]:
    if detail.critique_signs is None:
        return
    hard = [label_of(SIGN, sign) for sign in detail.critique_signs.weak]
    soft = [label_of(SIGN, sign) for sign in detail.critique_signs.soft]
    if hard or soft:
        yield Text(f"Code found of this critique: {'; '.join([*hard, *soft])}.", "note")


def _rebuttals(record: RoundRecord, detail: RoundDetail, titles: dict[str, str]) -> Iterator[Block]:
    for position in detail.positions:
        if position.rebuttal_position:
            score = f"score {position.rebuttal_score}" if position.rebuttal_score else ""
            yield HeadingBlock(3, f"Rebuttal for {position.id}", score)
            yield from _rebuttal(position.rebuttal_position, titles)
    if not detail.positions and record.rebuttal_position:
        yield HeadingBlock(3, "Rebuttal", label_of(CONCLUSION, detail.conclusions.rebuttal or ""))
        yield from _rebuttal(record.rebuttal_position, titles)


def _rebuttal(given: RebuttalPosition, titles: dict[str, str]) -> Iterator[Block]:
    yield Text(given.thesis, "lead")
    for argument in given.rebuttals:
        yield argued(f"Answer to point {argument.n}", argument, titles)
    for concession in given.concessions:
        yield Argued(f"Point {concession.n} is granted", "concession", concession.text)


def _evaluation(r: Result, given: ModeratorEvaluation, detail: RoundDetail) -> Iterator[Block]:
    """The moderator's evaluation: it saw neutral labels, and the scores are read back as seats.

    What stands under the decision, or in the part about uncertainties, is not repeated.
    """
    decided = given.synthesis == r.synthesis
    yield HeadingBlock(3, "Moderator", f"confidence {given.confidence_level}")
    yield Text("Its synthesis stands under Decision.", "note") if decided else Text(given.synthesis)
    yield _scores(given, detail)
    yield from _points(given, uncertain=given.explicit_uncertainties != r.explicit_uncertainties)
    further = "recommended" if given.recommend_another_round else "did not recommend"
    yield Text(f"The moderator {further} another round. {_labels(detail.labels)}", "note")


def _first_moderations(detail: RoundDetail) -> Iterator[Block]:
    """Moderations that were asked for again because of what they quote, with their marks."""
    for first in detail.moderator_first_takes:
        title = f"Moderator, {TURNED}, first take" if first.swapped else "Moderator, first take"
        yield HeadingBlock(3, title, f"confidence {first.evaluation.confidence_level}")
        yield Text(ASKED_AGAIN, "note")
        yield Text(f"{label_of(CONCLUSION, first.conclusion)}.")
        yield Text(first.evaluation.synthesis)
        yield _scores(first.evaluation, detail)
        yield from _points(first.evaluation, uncertain=True)


def _points(given: ModeratorEvaluation, *, uncertain: bool) -> Iterator[Block]:
    for term, points in (
        ("Resolved:", given.resolved_points),
        ("Still contested:", given.unresolved_points),
        ("It was uncertain of:", given.explicit_uncertainties if uncertain else ()),
    ):
        if points:
            yield Text(term, "note")
            yield Bullets(points)


def _beside(asked: str, given: SwappedModeration | MaskedModeration, detail: RoundDetail) -> Iterator[Block]:
    """A further moderation, beside the first one, in agreement or not."""
    yield HeadingBlock(3, f"Moderator, {asked}", f"confidence {given.evaluation.confidence_level}")
    came = "the same" if given.agrees else "something else, so nothing is concluded and a person has to decide"
    yield Text(f"It came to {came}. {label_of(CONCLUSION, given.conclusion)}.")
    yield Text(given.evaluation.synthesis)
    if given.ranking:
        yield Text(f"It ranked the positions: {', '.join(given.ranking)}.")
    else:
        yield _scores(given.evaluation, detail)
    yield Text(_labels(given.labels), "note")


def _labels(labels: dict[str, str]) -> str:
    """The seats behind the neutral labels, because a moderator's words may name labels."""
    parties = {label: split_party(party) for party, label in labels.items()}
    order = ", ".join(
        f"{label} was the {seat_name(seat).lower()}" + (f" of {position}" if position else "")
        for label, (seat, position) in parties.items()
    )
    return f"It saw no names: {order}."


def _scores(given: ModeratorEvaluation, detail: RoundDetail) -> Chart:
    score = given.argument_quality_score
    seats: list[tuple[str, int | None]]
    if detail.positions:
        seats = [(f"Proposer of {p.id}", p.proposer_score) for p in detail.positions]
        seats += [("Critic", score.critic)]
        seats += [(f"Rebuttal for {p.id}", p.rebuttal_score) for p in detail.positions]
    else:
        seats = [("Proposer", score.proposer), ("Critic", score.critic), ("Rebuttal", score.rebuttal)]
    bars = tuple(
        Bar(name, (Segment("score", value, "info"),), 10, f"{value} of 10")
        for name, value in seats
        if value is not None
    )
    return Chart("Quality of the arguments, as the moderator scored it", bars)


def _arguments_by_party(record: RoundRecord, detail: RoundDetail) -> dict[str, list[Argument]]:
    """All arguments of a round, by their seats."""
    first = detail.critic_first_take
    proposals = [p.proposer_position for p in detail.positions] or [record.proposer_position]
    rebuttals = [p.rebuttal_position for p in detail.positions] or [record.rebuttal_position]
    return {
        "Proposer": [a for p in proposals if p for a in p.supporting_arguments],
        "Critic, first take": list(first.position.counter_arguments) if first and first.replaced else [],
        "Critic": list(record.critic_position.counter_arguments) if record.critic_position else [],
        "Rebuttal": [a for p in rebuttals if p for a in p.rebuttals],
    }


def _against(r: Result) -> Iterator[Block]:
    """The standing objections against the proposition."""
    given = r.result.dissent if isinstance(r.result, AdversarialTerms) else None
    if given is None:
        return
    titles = titles_of(r)
    yield ReportPart("dissent", "Dissent")
    yield Text(given.thesis, "lead")
    yield Text(f"The critic's conclusion: {label_of(CONCLUSION, given.conclusion)}.", "note")
    if given.unresolved_points:
        yield Text("Points that the moderator left open:", "note")
        yield Bullets(given.unresolved_points)
        last = next(detail for detail in reversed(r.round_details) if detail.labels)
        yield Text(f"These are the moderator's words. {_labels(last.labels)}", "note")
    for one in given.maintained:
        yield argued(f"Round {one.round}, point {one.point.n}: {label_of(MAINTAINED, one.why)}", one.point, titles)
    if not given.maintained:
        yield Text("Every point of the critic that stands was granted or answered.")


def _cited(r: Result) -> Mapping[str, Sequence[Argument]]:
    """All arguments; a critique that was replaced counts too, under its own name."""
    found: dict[str, list[Argument]] = {}
    for record, detail in zip(r.rounds, r.round_details, strict=True):
        for name, arguments in _arguments_by_party(record, detail).items():
            found.setdefault(name, []).extend(arguments)
    return found


_OF_POSITIONS = {
    "proposer": "proposer.position",
    "critic": "critic.positions",
    "rebuttal": "rebuttal.position",
    "moderator": "moderator.positions",
}


def _further(options: AdversarialOptions, case: Case) -> Iterator[Turn]:
    """What a seat may be shown beside its prompt, and the critic's second take."""
    introduced = any(1 < document.round <= options.max_rounds for document in case.documents)
    for seat in SEATS:
        persona = ("persona",) if seat in options.personas else ()
        position = (_OF_POSITIONS[seat],) if options.positions and seat in _OF_POSITIONS else ()
        evidence = ("evidence",) if introduced and seat in ("proposer", "critic", "rebuttal") else ()
        retry = ("critic.retry",) if seat == "critic" else ()
        yield Turn(turn_id(1, seat), seat, fragments=(*position, *persona, *evidence, *retry))


TELLING = Telling(
    label=_label,
    blind=lambda _: False,
    first_draft=_first_draft,
    given=_given,
    closing=_closing,
    synthesis=_synthesis,
    own=_own,
    terms=_terms,
    title="Record of effective challenge",
    by_rounds=True,
    decider="moderator",
    diversity=DIVERSITY,
    saw=lambda _: "",
    facts=_facts,
    untested=_untested,
    parameters=_parameters,
    who=_who,
    measured=_measured,
    argued=_argued,
    cited=_cited,
    against=_against,
    further=_further,
)
