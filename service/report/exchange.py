"""The middle parts of a report: what was argued on which evidence, what was struck, and what remains open."""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.replies import Objection
from service.debate.turns import split_party
from service.report.outline import (
    Argued,
    Bar,
    Block,
    Bullets,
    Chart,
    Heading,
    Part,
    Quotation,
    Segment,
    Table,
    Text,
    Tone,
)
from service.report.people import who, whose
from service.report.shape import (
    Argument,
    Citation,
    CriticPosition,
    ModeratorEvaluation,
    PositionDetail,
    ProposerPosition,
    RebuttalPosition,
    Result,
    RoundDetail,
    RoundRecord,
    SwappedModeration,
)
from service.report.wording import CONCLUSION, MAINTAINED, MOVEMENT, REFUSED, SIGN, STRUCK, VERDICT, say, seat_name

_TONES: dict[str, Tone] = {"verified": "good", "altered": "warn", "not_found": "bad"}


def rounds(r: Result) -> Iterator[Block]:
    """Every round, in the order in which the seats spoke."""
    titles = {d.id: d.title for d in r.case.documents}
    for record, detail in zip(r.rounds, r.round_details, strict=True):
        yield Part(f"round-{record.round_number}", f"Round {record.round_number}")
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
        if record.moderator_evaluation:
            yield from _evaluation(record.moderator_evaluation, detail, r.synthesis)
        if detail.swapped_moderation:
            yield from _swapped(detail.swapped_moderation, detail)


def _proposals(record: RoundRecord, detail: RoundDetail, titles: dict[str, str]) -> Iterator[Block]:
    for position in detail.positions:
        if position.proposer_position:
            yield Heading(3, f"Proposer of {position.id}", _ranked(position))
            yield Text(position.text, "note")
            yield from _proposal(position.proposer_position, position.objections, titles)
    if not detail.positions and record.proposer_position:
        yield Heading(3, "Proposer", say(CONCLUSION, detail.conclusions.proposer or ""))
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
    yield Heading(3, title, beside)
    yield Text(given.thesis, "lead")
    for argument in given.counter_arguments:
        yield argued(f"Point {argument.n}", argument, titles)


def _first_take(detail: RoundDetail, titles: dict[str, str]) -> Iterator[Block]:
    first = detail.critic_first_take
    if first is None:
        return
    why = "; ".join(say(SIGN, reason) for reason in first.reasons) or "it was weak"
    ended = (
        "It was replaced by the critique that follows." if first.replaced else "No second critique came, so it stands."
    )
    yield Heading(3, "Critic, first take", f"rates its own challenge {first.position.challenge_strength} of 10")
    yield Text(f"This critique was asked for again because {why}. {ended}", "note")
    if first.replaced:
        yield Text(first.position.thesis, "lead")
        for argument in first.position.counter_arguments:
            yield argued(f"Point {argument.n} of the first take", argument, titles)


def _signs(detail: RoundDetail) -> Iterator[Block]:
    if detail.critique_signs is None:
        return
    hard = [say(SIGN, sign) for sign in detail.critique_signs.weak]
    soft = [say(SIGN, sign) for sign in detail.critique_signs.soft]
    if hard or soft:
        yield Text(f"Code found of this critique: {'; '.join([*hard, *soft])}.", "note")


def _rebuttals(record: RoundRecord, detail: RoundDetail, titles: dict[str, str]) -> Iterator[Block]:
    for position in detail.positions:
        if position.rebuttal_position:
            score = f"score {position.rebuttal_score}" if position.rebuttal_score else ""
            yield Heading(3, f"Rebuttal for {position.id}", score)
            yield from _rebuttal(position.rebuttal_position, titles)
    if not detail.positions and record.rebuttal_position:
        yield Heading(3, "Rebuttal", say(CONCLUSION, detail.conclusions.rebuttal or ""))
        yield from _rebuttal(record.rebuttal_position, titles)


def _rebuttal(given: RebuttalPosition, titles: dict[str, str]) -> Iterator[Block]:
    yield Text(given.thesis, "lead")
    for argument in given.rebuttals:
        yield argued(f"Answer to point {argument.n}", argument, titles)
    for concession in given.concessions:
        yield Argued(f"Point {concession.n} is granted", "concession", concession.text)


def _evaluation(given: ModeratorEvaluation, detail: RoundDetail, final: str | None) -> Iterator[Block]:
    """What the moderator weighed: it saw neutral labels, the scores are read back as seats."""
    yield Heading(3, "Moderator", f"confidence {given.confidence_level}")
    yield Text("Its synthesis stands under Decision.", "note") if given.synthesis == final else Text(given.synthesis)
    yield _scores(given, detail)
    for title, points in (("Resolved:", given.resolved_points), ("Still contested:", given.unresolved_points)):
        if points:
            yield Text(title, "note")
            yield Bullets(points)
    further = "recommended" if given.recommend_another_round else "did not recommend"
    yield Text(f"The moderator {further} another round. {_labels(detail.labels)}", "note")


def _swapped(given: SwappedModeration, detail: RoundDetail) -> Iterator[Block]:
    """The moderation that was asked for again: beside the first one, whatever it says."""
    yield Heading(
        3, "Moderator, asked again with the order turned round", f"confidence {given.evaluation.confidence_level}"
    )
    came = "the same" if given.agrees else "something else, so nothing is concluded and a person has to decide"
    yield Text(f"It came to {came}. {say(CONCLUSION, given.conclusion)}.")
    yield Text(given.evaluation.synthesis)
    if given.ranking:
        yield Text(f"It ranked the positions: {', '.join(given.ranking)}.")
    else:
        yield _scores(given.evaluation, detail)
    yield Text(_labels(given.labels), "note")


def _labels(labels: dict[str, str]) -> str:
    """Who was behind the neutral labels: a moderator's words may name them."""
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


def argued(label: str, argument: Argument, titles: dict[str, str]) -> Argued:
    """An argument as a block, with the verdict on each of its citations."""
    beside = [f"rests on {argument.basis}"]
    if argument.attacks:
        beside.append(f"against argument{'s' if len(argument.attacks) > 1 else ''} {_listed(argument.attacks)}")
    if argument.position:
        beside.append(f"of {argument.position}")
    struck = f"Struck: {say(STRUCK, argument.struck)}. Later seats were not shown it." if argument.struck else ""
    quotations = tuple(_quotation(citation, titles) for citation in argument.citations)
    return Argued(label, ", ".join(beside), argument.text, struck, quotations)


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def _quotation(citation: Citation, titles: dict[str, str]) -> Quotation:
    verdict = citation.verdict or "unchecked"
    source = citation.source_id or "no source named"
    where = [f"{source}, {titles[source]}" if source in titles else source]
    where += [citation.location] if citation.location else []
    where += [f"characters {citation.span[0]:,} to {citation.span[1]:,}"] if citation.span else []
    return Quotation(
        _TONES.get(verdict, "plain"), say(VERDICT, verdict), citation.quote, ", ".join(where), tuple(_notes(citation))
    )


def _notes(citation: Citation) -> Iterator[str]:
    if citation.verdict == "altered" and citation.text:
        yield f"The source says: “{citation.text}”"
    for edit in citation.edits:
        yield f"{edit.kind}: the source has “{edit.from_}”, the quotation “{edit.to}”"
    if citation.found_in:
        yield f"It stands in {citation.found_in} instead."
    if citation.reason and citation.verdict != "verified":
        yield f"Why it is not verified: {say(REFUSED, citation.reason)}."


def struck(r: Result) -> Iterator[Block]:
    """Evidence that failed, and the arguments that were struck for it."""
    if not r.rounds and not r.transcript:
        return
    titles = {d.id: d.title for d in r.case.documents}
    yield Part("evidence", "Evidence and what was struck")
    yield _verdicts(r)
    if not r.struck:
        yield Text("No argument was struck.")
    for one in r.struck:
        seat = whose(r, one.seat) + (f" of {one.position}" if one.position else "")
        yield argued(f"{seat}, round {one.round}, number {one.argument.n}", one.argument, titles)
    if r.critical_validation_failures:
        yield Table(
            "Critical validation failures",
            ("Turn", "Number", "Failure", "Quotation", "Source named"),
            tuple(
                (f.turn, str(f.n), f.reason.replace("_", " "), f.quote or "none cited", f.source_id or "none")
                for f in r.critical_validation_failures
            ),
            numeric=(1,),
            code=(0,),
        )


def _verdicts(r: Result) -> Chart:
    """Citations by verdict and seat; a critique that was replaced counts too, under its own name."""
    rows: dict[str, list[str]] = {name: [] for name in ("Proposer", "Critic, first take", "Critic", "Rebuttal")}
    for record, detail in zip(r.rounds, r.round_details, strict=True):
        for name, arguments in _told(record, detail).items():
            rows[name] += [c.verdict or "unchecked" for a in arguments for c in a.citations]
    for one in r.transcript:
        found = [c.verdict or "unchecked" for a in one.arguments for c in a.citations]
        rows.setdefault(who(r, one), []).extend(found)
    most = max((len(found) for found in rows.values()), default=1)
    bars = tuple(_verdict_bar(name, found, most) for name, found in rows.items() if found)
    return Chart("Citations by verdict", bars)


def _told(record: RoundRecord, detail: RoundDetail) -> dict[str, list[Argument]]:
    """Everything that was argued in a round, by who argued it."""
    first = detail.critic_first_take
    proposals = [p.proposer_position for p in detail.positions] or [record.proposer_position]
    rebuttals = [p.rebuttal_position for p in detail.positions] or [record.rebuttal_position]
    return {
        "Proposer": [a for p in proposals if p for a in p.supporting_arguments],
        "Critic, first take": list(first.position.counter_arguments) if first and first.replaced else [],
        "Critic": list(record.critic_position.counter_arguments) if record.critic_position else [],
        "Rebuttal": [a for p in rebuttals if p for a in p.rebuttals],
    }


def _verdict_bar(name: str, found: list[str], most: int) -> Bar:
    counts = {verdict: found.count(verdict) for verdict in VERDICT if verdict in found}
    segments = tuple(Segment(say(VERDICT, v), count, _TONES.get(v, "plain")) for v, count in counts.items())
    shown = ", ".join(f"{count} {say(VERDICT, v).lower()}" for v, count in counts.items())
    return Bar(name, segments, most, shown)


def dissent(r: Result) -> Iterator[Block]:
    """What was held against the proposition to the end."""
    if r.dissent is None:
        return
    titles = {d.id: d.title for d in r.case.documents}
    yield Part("dissent", "Dissent")
    yield Text(r.dissent.thesis, "lead")
    yield Text(f"The critic's conclusion: {say(CONCLUSION, r.dissent.conclusion)}.", "note")
    if r.dissent.unresolved_points:
        yield Text("Points that the moderator left open:", "note")
        yield Bullets(r.dissent.unresolved_points)
        last = next(detail for detail in reversed(r.round_details) if detail.labels)
        yield Text(f"These are the moderator's words. {_labels(last.labels)}", "note")
    for one in r.dissent.maintained:
        yield argued(f"Round {one.round}, point {one.point.n}: {say(MAINTAINED, one.why)}", one.point, titles)
    if not r.dissent.maintained:
        yield Text("Every point of the critic that stands was granted or answered.")


def uncertainties(r: Result) -> Iterator[Block]:
    """What could make the conclusion wrong, and how new evidence moved the seats."""
    if r.explicit_uncertainties:
        yield Part("uncertainties", "Explicit uncertainties")
        yield Bullets(r.explicit_uncertainties)
    if r.shifts:
        yield Part("shifts", "How new evidence moved the seats")
        yield Table(
            "Each seat compared with what it said in the round before",
            ("Round", "Seat", "Documents", "Moved", "Because"),
            tuple(
                (
                    str(s.round),
                    seat_name(s.seat) + (f" of {s.position}" if s.position else ""),
                    ", ".join(s.documents),
                    say(MOVEMENT, s.movement),
                    s.because,
                )
                for s in r.shifts
            ),
            numeric=(0,),
        )
