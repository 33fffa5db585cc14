"""The panel in results and reports: consensus round by round, marks on claims, ideas and scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import get_args

from msgspec.structs import asdict, replace

from service.debate.findings import DIMENSIONS
from service.debate.model import Case, Outcome, Turn, TurnId
from service.debate.options import PanelOptions, debater_seats
from service.debate.panel import table
from service.debate.panel_answers import DEVIL_FROM
from service.debate.panel_answers import PHASE as ANSWERING
from service.debate.panel_standing import dimensions_used, labels_of
from service.debate.replies import BlindAnswer, Closing, ObjectionAnswers, Reply, RevisedAnswer
from service.debate.replies.panel import QuestionType
from service.debate.results import ConsensusRound, PanelResult
from service.debate.script import Script
from service.debate.turns import round_of, turn_id
from service.errors import IllegalEntry
from service.report.document.arguments import argued, titles_of
from service.report.document.blocks import (
    Block,
    Bullets,
    Fact,
    FactList,
    HeadingBlock,
    ReportPart,
    Sparkline,
    TableBlock,
    Text,
)
from service.report.document.sparkline import thousandths
from service.report.document.speakers import by_label, latest, speaker_possessive
from service.report.formats import debaters
from service.report.formats.aspects import Given, Telling
from service.report.formats.debaters import lettered
from service.report.labels import DIMENSION, OBJECTION, QUESTION, SCORED, TYPED, label_of
from service.report.remarks import AGREEMENT
from service.report.result.history import Folded, History
from service.report.result.panel_findings import (
    UNCHECKED,
    shown_dimensions,
    shown_notes,
    shown_scores,
    shown_vetoes,
)
from service.report.result.shares import per_mille, share, share_or_none, shown
from service.report.result.shown_options import ShownPanelOptions
from service.report.result.terms import ConsensusStanding, PanelTerms
from service.report.result.types import Result, Spoken
from service.report.shown import reply_of

Claimed = tuple[str, int]


def _label(h: Folded, who: str) -> str:
    """A letter, in the order that the seed gives."""
    return labels_of(Script(h.facts.started, h.facts))[who] if h.facts.started else who


def _blind(turn: TurnId) -> bool:
    return round_of(turn) == 1


def _first_draft(h: History) -> tuple[TurnId, ...]:
    return tuple(turn for turn in debaters.turns(h) if _blind(turn))


def _given(_: History, __: TurnId, reply: Reply) -> Given:
    if not isinstance(reply, BlindAnswer | RevisedAnswer):
        return Given()
    return Given(stance=reply.stance, answer=reply.answer, confidence=reply.overall_confidence)


def _synthesis(outcome: Outcome, _: Closing | None) -> str | None:
    return outcome.result.synthesis if isinstance(outcome.result, PanelResult) else None


def _terms(h: Folded, outcome: Outcome, __: tuple[Spoken, ...]) -> PanelTerms | None:
    """The result with shares in the place of the record's per mille and per cent."""
    found = outcome.result
    if not isinstance(found, PanelResult):
        return None
    kept = asdict(found) | {
        "consensus": tuple(_standing(h, one) for one in found.consensus),
        "accuracy": shown_scores(h, found.accuracy),
        "final_score": share_or_none(found.final_score),
        "overall_confidence": share_or_none(found.overall_confidence, of=100),
        "accuracy_by": found.accuracy_by if found.accuracy else None,
    }
    return PanelTerms(**kept)


def _standing(h: Folded, one: ConsensusRound) -> ConsensusStanding:
    kept = asdict(one) | {
        "notes": shown_notes(one.notes, one.by, one.vetoes),
        "vetoes": shown_vetoes(one.vetoes),
        "dimensions": {name: share(value) for name, value in shown_dimensions(h, one.dimensions).items()},
        "overall": share(one.overall),
        "threshold": share(one.threshold),
    }
    return ConsensusStanding(**kept)


def _facts(r: Result) -> Iterator[Fact]:
    if not isinstance(r.result, PanelTerms):
        return
    found = r.result
    yield Fact("Type of the question", f"{label_of(QUESTION, found.question_type)}; consensus is {found.trigger}")
    yield Fact("Rounds", f"{found.rounds_completed}, the first of them blind")
    if found.consensus:
        last = found.consensus[-1]
        yield Fact("Consensus score", f"{shown(last.overall)} of 1, {shown(last.threshold)} wanted")
    if found.overall_confidence is not None:
        yield Fact("Debaters' own confidence", f"{shown(found.overall_confidence)} of 1 in the mean")
    yield from debaters.missing(r, found.missing, lettered)


def _parameters(options: ShownPanelOptions) -> Iterator[Fact]:
    yield Fact("Debaters", str(options.debaters))
    yield Fact(
        "Type before the debate", f"{label_of(QUESTION, options.question_type)}, {label_of(TYPED, options.typed_by)}"
    )
    wanted = options.thresholds.get(options.question_type)
    if wanted is not None:
        yield Fact("Consensus wanted for that type", shown(wanted))
    yield Fact("Consensus scored by", label_of(SCORED, options.adjudicator))
    yield Fact(
        "Models chosen", "by their track record and for different families" if options.mode == "auto" else "by hand"
    )
    for record in options.track_records:
        yield Fact(f"Track record of {record.model}", f"{shown(record.score)} in {record.debates} debates")
    yield from debaters.instructed("Instructions to all", options.instructions)


def _measured(r: Result) -> Iterator[Block]:
    """The standing of the panel after each round, with the reasons against consensus."""
    if not isinstance(r.result, PanelTerms):
        return
    found = r.result
    yield ReportPart("consensus", "Consensus by round")
    yield Text(AGREEMENT, "note")
    if found.consensus:
        yield _course(found)
        yield _table(found)
        used = dimensions_used(found.question_type, documented=bool(r.case.documents))
        shown = ", ".join(DIMENSION[name] for name in DIMENSIONS if name not in used)
        because = "this type of question" if r.case.documents else "this type of question, and without documents"
        yield Text(f"Not in the mean, for {because}: {shown}. An undefined dimension is left out.", "note")
        yield Bullets(tuple(_noted(one) for one in found.consensus))
    yield from _seats(r, found)
    yield from _ideas(r, found)
    yield from _accuracy(r, found)


def _course(found: PanelTerms) -> Sparkline:
    rounds = found.consensus
    scores = ", ".join(f"round {one.round}: {shown(one.overall)}" for one in rounds)
    wanted = per_mille(rounds[-1].threshold)
    return Sparkline(
        name="consensus-course",
        title="Consensus score after each round",
        places=tuple(f"Round {one.round}" for one in rounds),
        values=tuple(per_mille(one.overall) for one in rounds),
        wanted=wanted,
        shown=f"{scores[:1].upper()}{scores[1:]}; {thousandths(wanted)} was wanted.",
    )


def _table(found: PanelTerms) -> TableBlock:
    rows = (
        (
            f"{one.round}, blind" if one.blind else str(one.round),
            *(shown(one.dimensions.get(dimension)) for dimension in DIMENSIONS),
            shown(one.overall),
            "yes" if one.terminated else "no",
            label_of(SCORED, one.by),
            str(one.unanswered_objections),
        )
        for one in found.consensus
    )
    head = ("Round", "Stance", "Empirical", "Framework", "Confidence", "Overall", "Reached", "Scored by", "Objections")
    caption = f"{', '.join(DIMENSION.values())} and their mean, from 0 to 1; objections are strong ones left unanswered"
    return TableBlock(caption, head, tuple(rows), numeric=(1, 2, 3, 4, 5, 8))


def _noted(one: ConsensusStanding) -> str:
    lagging = ", ".join(label_of(DIMENSION, dimension).lower() for dimension in one.lagging)
    return f"Round {one.round}: {f'lagging were {lagging}' if lagging else 'nothing lagged'}. {one.notes}"


def _seats(r: Result, found: PanelTerms) -> Iterator[Block]:
    aliases = {one.seat: (one.alias, one.family) for one in r.seats}
    rows = tuple(
        (label, seat, *aliases.get(seat, ("not told", "not told")), "given up" if seat in found.missing else "stayed")
        for seat, label in sorted(found.labels.items(), key=lambda item: item[1])
    )
    yield TableBlock("Who was behind the letters", ("Letter", "Seat", "Model", "Family", "To the end"), rows, code=(1,))


def _ideas(r: Result, found: PanelTerms) -> Iterator[Block]:
    rows = tuple(
        (
            str(idea.rank),
            idea.idea,
            str(len(idea.endorsed_by)),
            ", ".join(by_label(r, who, lettered) for who in idea.endorsed_by),
        )
        for idea in found.ideas
    )
    yield TableBlock(
        "Ideas, by how many debaters surfaced or endorsed them", ("Rank", "Idea", "Debaters", "Who"), rows, (0, 2)
    )


def _accuracy(r: Result, found: PanelTerms) -> Iterator[Block]:
    rows = tuple(
        (
            speaker_possessive(r, one.seat, lettered),
            UNCHECKED if one.factual_accuracy is None else str(one.factual_accuracy),
            *map(str, (one.logical_consistency, one.evidence_quality, one.trajectory_score)),
        )
        for one in found.accuracy
    )
    head = ("Debater", "Factual accuracy", "Logical consistency", "Evidence quality", "Trajectory")
    yield TableBlock(
        f"How each debater did, from 0 to 100, scored by {label_of(SCORED, found.accuracy_by or '')}",
        head,
        rows,
        (1, 2, 3, 4),
    )
    if rows:
        yield Text("These scores are about conduct in the debate. They do not show who was right.", "note")


def _against(r: Result) -> Iterator[Block]:
    """The marks on each debater's claims with their authors, and the standing objections at the end."""
    if not isinstance(r.result, PanelTerms) or not r.transcript:
        return
    yield ReportPart("dissent", "What was challenged, and by whom")
    marked = _marked(r)
    rows = tuple(
        (
            by_label(r, label, lettered),
            str(n),
            _claim(r, label, n),
            *(", ".join(marks.get(mark, ())) or "-" for mark in _MARKS),
        )
        for (label, n), marks in sorted(marked.items())
    )
    head = ("Claim of", "Number", "Claim", "Accepted by", "Rejected by", "Unsure")
    yield TableBlock("What the last round makes of the others' claims", head, rows, numeric=(1,))
    held = [
        Fact(lettered(one), _challenged(r, reply))
        for one in _last_round(r)
        if isinstance(reply := _reply(r, one), RevisedAnswer) and reply.still_challenges
    ]
    if held:
        yield Text("Still challenged in the last round:", "note")
        yield FactList(tuple(held))
    if not rows and not held:
        yield Text("Nobody saw another's answer, so nothing was challenged.")


_MARKS = ("accept", "reject", "unsure")


def _marked(r: Result) -> dict[Claimed, dict[str, list[str]]]:
    """Claim -> mark -> its authors, in the last round: marks of an earlier one were on other words."""
    found: dict[Claimed, dict[str, list[str]]] = {}
    for one in _last_round(r):
        reply = _reply(r, one)
        for mark in reply.marks if isinstance(reply, RevisedAnswer) else ():
            found.setdefault((mark.label, mark.n), {}).setdefault(mark.mark, []).append(lettered(one))
    return found


def _last_round(r: Result) -> tuple[Spoken, ...]:
    last = max((one.round for one in r.transcript), default=0)
    return tuple(one for one in latest(r) if one.round == last)


def _claim(r: Result, label: str, n: int) -> str:
    """The words of a claim in the answer to which the last round's marks refer: the one before that round."""
    last = max((one.round for one in r.transcript), default=0)
    before = [one for one in r.transcript if one.label == label and one.round < last and one.arguments]
    reply = _reply(r, before[-1]) if before else None
    return next((claim.text for claim in reply.claims if claim.n == n), "") if reply else ""


def _reply(r: Result, one: Spoken) -> BlindAnswer | RevisedAnswer:
    reply = reply_of(r, one)
    if not isinstance(reply, BlindAnswer | RevisedAnswer):
        raise IllegalEntry(f"expected the answer of a panel's debater in turn {one.turn}, found {type(reply).__name__}")
    return reply


def _sure(value: int) -> str:
    """A confidence or probability as a share, in words: a model gives it in whole per cent."""
    return shown(share(value, of=100))


def _argued(r: Result) -> Iterator[Block]:
    def blocks_of(spoken: Sequence[Spoken]) -> Iterator[Block]:
        yield debaters.drafted(spoken)
        for one in spoken:
            yield from _answered(r, one) if one.arguments else _to_objections(r, one)

    yield from debaters.rounds(r, lambda number: "Round 1: blind" if number == 1 else f"Round {number}", blocks_of)


def _answered(r: Result, one: Spoken) -> Iterator[Block]:
    """A panel's answer with its claims and its marks on the others' claims."""
    reply = _reply(r, one)
    sure = {claim.n: claim.confidence for claim in reply.claims}
    yield HeadingBlock(
        3,
        lettered(one),
        f"{reply.stance}, framework {_spaced(reply.framework)}, confidence {_sure(reply.overall_confidence)}",
    )
    yield Text(reply.answer, "lead")
    for argument in one.arguments:
        yield argued(f"Claim {argument.n}, confidence {_sure(sure[argument.n])}", argument, titles_of(r))
    if reply.probability:
        low, high = _sure(reply.probability.low), _sure(reply.probability.high)
        yield Text(f"Probability: {low} to {high}.", "note")
    if reply.assumptions:
        yield Text("It assumes:", "note")
        yield Bullets(reply.assumptions)
    if isinstance(reply, RevisedAnswer):
        yield FactList(tuple(_exchanged(r, reply)))


def _to_objections(r: Result, one: Spoken) -> Iterator[Block]:
    """A debater's answers to the strong objections that stood after the last round."""
    reply = reply_of(r, one)
    if not isinstance(reply, ObjectionAnswers):
        raise IllegalEntry(f"expected answers to objections in turn {one.turn}, found {type(reply).__name__}")
    yield HeadingBlock(3, lettered(one), "answers the objections that stand after the last round")
    yield FactList(
        tuple(
            Fact(f"{by_label(r, answer.label, lettered)}: {label_of(OBJECTION, answer.verdict)}", answer.text)
            for answer in reply.answers
        )
    )


def _challenged(r: Result, reply: RevisedAnswer) -> str:
    return " ".join(f"Claim {c.n} of {by_label(r, c.label, lettered)}: {c.text}" for c in reply.still_challenges)


def _open(r: Result, reply: RevisedAnswer) -> str:
    return " ".join(
        f"{', '.join(f'claim {c.n} of {by_label(r, c.label, lettered)}' for c in point.claims)}: {point.text}"
        for point in reply.unresolved
    )


def _exchanged(r: Result, reply: RevisedAnswer) -> Iterator[Fact]:
    for term, said in (
        ("Learned from others", reply.learned_from_others),
        ("Corrected in its own", reply.corrections),
        ("Still challenges", _challenged(r, reply)),
        ("Leaves open", _open(r, reply)),
    ):
        yield Fact(term, said or "nothing")
    rejected = [f"{by_label(r, mark.label, lettered)} {mark.n}" for mark in reply.marks if mark.mark == "reject"]
    unsure = [f"{by_label(r, mark.label, lettered)} {mark.n}" for mark in reply.marks if mark.mark == "unsure"]
    yield Fact("Claims it rejects", ", ".join(rejected) or "none of those that it was shown")
    if unsure:
        yield Fact("Claims it is unsure of", ", ".join(unsure))
    if reply.objection:
        against = f"against claim {reply.objection.n} of {by_label(r, reply.objection.label, lettered)}"
        yield Fact("As devil's advocate", f"{reply.objection.flaw} ({reply.objection.severity}, {against})")
    for answer in reply.answers_to_objections:
        yield Fact(f"Answers the objection of {by_label(r, answer.label, lettered)}", answer.text)


def _spaced(code: str) -> str:
    """``rightsAndDuties`` in words."""
    return "".join(f" {c.lower()}" if c.isupper() else c for c in code)


def _further(options: PanelOptions, _: Case) -> Iterator[Turn]:
    """Later rounds, the scores, and every type of question if a model is to type this one."""
    types = get_args(QuestionType) if options.typed_by == "classifier" else (options.question_type,)
    for of_type in types:
        yield from table(replace(options, question_type=of_type)).seats.values()
    first = debater_seats(options)[0]
    if options.max_rounds > 1:
        yield Turn(turn_id(2, first), first, kind="panel.deliberation")
    if options.max_rounds >= DEVIL_FROM:
        yield Turn(turn_id(DEVIL_FROM, first), first, fragments=("panel.devil",), kind="panel.deliberation")
        yield Turn(turn_id(options.max_rounds, first, ANSWERING), first, kind="panel.answer")
    if options.adjudicator == "model":
        yield Turn(turn_id(1, "adjudicator", "accuracy"), "adjudicator", kind="panel.accuracy")


TELLING = Telling(
    label=_label,
    blind=_blind,
    first_draft=_first_draft,
    given=_given,
    closing=debaters.closing,
    synthesis=_synthesis,
    own=debaters.own,
    terms=_terms,
    title=debaters.TITLE,
    by_rounds=False,
    decider="synthesizer",
    diversity=debaters.DIVERSITY,
    saw=lambda _: debaters.SAW_LABELS,
    facts=_facts,
    untested=debaters.unheard,
    parameters=_parameters,
    who=lettered,
    measured=_measured,
    argued=_argued,
    cited=partial(debaters.cited, who=lettered),
    against=_against,
    further=_further,
)
