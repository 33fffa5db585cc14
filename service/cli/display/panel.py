"""A panel: consensus round by round, the last answers with the others' marks on each claim, and accuracy."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from service.cli.display.arguments import arguments, bullets, heading, indented, numbered
from service.cli.display.aspects import Page, decided, in_rounds
from service.cli.display.console import counted, joined, row, text
from service.cli.display.convergence import digits
from service.cli.display.speakers import last_turns, rule, seated, speaker
from service.debate.findings import DIMENSIONS
from service.report import Result
from service.report.labels import OBJECTION, label_of
from service.report.marks import without_marks
from service.report.result.panel_findings import UNCHECKED
from service.report.result.terms import ConsensusStanding, PanelTerms
from service.report.result.types import Spoken
from service.report.shown import reply_json

_DIMENSIONS = ("stance", "evidence", "framework", "confidence")
"""The four dimensions in their order, as columns."""
_SCORES = ("factual", "consistent", "evidence", "trajectory")
_MARKS = {"accept": ("✓", "green"), "reject": ("✗", "red"), "unsure": ("?", "yellow")}
FIRST_IDEAS = 3
"""The most ideas of a brainstorm in the decision; all are listed below it."""
Marks = dict[tuple[str, int], list[tuple[str, str]]]
"""By label and number of a claim: the authors of marks, with their marks."""


def lines(r: Result) -> Iterator[tuple[str, Text]]:
    """The question's type, the panel's agreement, and its qualifications."""
    found = r.result
    if not isinstance(found, PanelTerms):
        return
    yield "Question", text(f"{found.question_type}; consensus means {found.trigger}")
    if found.consensus:
        last = found.consensus[-1]
        reached = "reached" if last.terminated else "not reached"
        where = f"{reached} in {counted(found.rounds_completed, 'round')}"
        yield "Consensus", text(f"{where}: {digits(last.overall)}, where {digits(last.threshold)} ends it")
    if found.masked_synthesis:
        yield "Masked", text(f"without the flagged passages the synthesizer answers: {found.masked_synthesis}")
    if found.overall_confidence is not None:
        yield "Debaters", text(f"sure to {digits(found.overall_confidence)} of 1 in the mean, by their own account")
    if found.missing:
        yield "Missing", text(", ".join(speaker(r.options, seat) for seat in found.missing), "yellow")
    for idea in found.ideas[:FIRST_IDEAS]:
        yield f"Idea {idea.rank}", text(f"{idea.idea} ({counted(len(idea.endorsed_by), 'debater')})")
    if len(found.ideas) > FIRST_IDEAS:
        yield "", text(f"and {len(found.ideas) - FIRST_IDEAS} more", "dim")


def why(r: Result) -> tuple[str, str] | None:
    """The synthesis, unless the decision says it whole."""
    return ("Answer", r.synthesis) if r.synthesis and not decided(r, r.synthesis) else None


def exchange(r: Result) -> Iterator[RenderableType]:
    """Consensus by round, the last answers with their claims and marks, and the scores of every debater."""
    found = r.result if isinstance(r.result, PanelTerms) else None
    if found and found.consensus:
        yield rule("Consensus by round", "* lags behind")
        yield _consensus(found)
        for stood in found.consensus:
            yield row(text(f"Round {stood.round}", "dim"), text(_notes(stood)), lead_width=9)
    if found and found.ideas:
        yield rule("Ideas", "by how many debaters surfaced or endorsed them")
        for idea in found.ideas:
            yield numbered(str(idea.rank), text(f"{idea.idea} ({', '.join(idea.endorsed_by)})"), 2)
    marks = _marks(r)
    if r.transcript:
        yield rule("Last answers", "marks: ✓ accept, ✗ reject, ? unsure")
    for one in last_turns(r):
        yield from _answer(r, one, marks)
    yield from _to_objections(r)
    if found and found.accuracy:
        yield rule("Accuracy", f"of 100, scored by {'a model' if found.accuracy_by == 'model' else 'rules'}")
        yield _accuracy(r, found)


def _consensus(found: PanelTerms) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("round", *_DIMENSIONS, "overall", "ends at"):
        table.add_column(name, justify="right")
    for one in found.consensus:
        cells = [_share(one.dimensions.get(dimension), dimension in one.lagging) for dimension in DIMENSIONS]
        overall = text(digits(one.overall), "green" if one.terminated else "")
        table.add_row(str(one.round), *cells, overall, digits(one.threshold))
    return Padding(table, (0, 0, 0, 2))


def _share(value: float | None, lagging: bool) -> Text:
    """One dimension; a star where it lags behind."""
    if value is None:
        return text("undefined", "yellow")
    return text(f"{digits(value)}{'*' if lagging else ''}", "yellow" if lagging else "")


def _notes(one: ConsensusStanding) -> str:
    """The result of the round, in words."""
    open_ = one.unanswered_objections
    unanswered = f"{counted(open_, 'strong objection')} unanswered" if open_ else ""
    return "; ".join(filter(None, ("scored by a model" if one.by == "model" else "", unanswered, one.notes)))


def _answer(r: Result, one: Spoken, marks: Marks) -> Iterator[RenderableType]:
    """A debater's last answer: its conclusion, its claims with their quotations, and the others' marks."""
    sure = f", {digits(one.confidence)} sure" if one.confidence is not None else ""
    name = f"{one.label}, {seated(r, one.seat)}" if one.label else seated(r, one.seat)
    yield heading(name, f"round {one.round}: {one.stance or 'open'}{sure}", one.answer or "")
    for claim in one.arguments:
        yield from arguments((claim,))
        if given := marks.get((one.label or "", claim.n)):
            marked = (joined(text(*_MARKS.get(mark, ("?", ""))), text(whose, "dim")) for whose, mark in sorted(given))
            yield Padding(joined(text("marks", "dim"), *marked, by="  "), (0, 0, 0, 5))
    reply = reply_json(r, one)
    if said := reply.get("objection"):
        against = f"claim {said['n']} of {said['label']} ({said['severity']})"
        yield indented(f"devil's advocate, against {against}: {said['flaw']}", "yellow")
    yield from bullets(
        f"{title}: {words}"
        for title, member in (("learned", "learnedFromOthers"), ("corrected", "corrections"))
        if (words := reply.get(member))
    )
    yield from bullets(
        f"{title}: {said['text']}"
        for title, member in (("challenges", "stillChallenges"), ("open", "unresolved"))
        for said in reply.get(member, ())
    )


def _to_objections(r: Result) -> Iterator[RenderableType]:
    """The answers to the strong objections that stood after the last round."""
    said = [one for one in r.transcript if not one.arguments and "answers" in one.reply]
    if said:
        yield rule("Answers to objections", "strong ones that stood after the last round")
    for one in said:
        yield from bullets(
            f"{one.label} on {answer['label']}: {label_of(OBJECTION, answer['verdict'])}. {answer['text']}"
            for answer in reply_json(r, one)["answers"]
        )


def _marks(r: Result) -> Marks:
    """The debaters' marks on each other's claims in the last round.

    They marked the answers of the round before. A mark stands under a claim of the last answer only if the claim is the
    same, word by word. A claim that was changed since has no marks, because they would be about other words.
    """
    last = max((one.round for one in r.transcript), default=0)
    now, before = _claims(r, last), _claims(r, last - 1)
    found: Marks = {}
    for one in r.transcript:
        for mark in one.reply.get("marks", ()) if one.round == last else ():
            claim = (mark["label"], mark["n"])
            if claim in before and now.get(claim, before[claim]) == before[claim]:
                found.setdefault(claim, []).append((one.label or one.seat, mark["mark"]))
    return found


def _claims(r: Result, number: int) -> dict[tuple[str, int], str]:
    """The claims of a round as they were written, by label and number."""
    turns = (one for one in r.transcript if one.round == number)
    return {(one.label, c.n): without_marks(c.text) for one in turns for c in one.arguments}


def _accuracy(r: Result, found: PanelTerms) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("debater")
    for name in _SCORES:
        table.add_column(name, justify="right")
    for one in found.accuracy:
        factual = UNCHECKED if one.factual_accuracy is None else one.factual_accuracy
        scores = (factual, one.logical_consistency, one.evidence_quality, one.trajectory_score)
        label = found.labels.get(one.seat, "")
        table.add_row(text(f"{label}, {seated(r, one.seat)}" if label else seated(r, one.seat)), *map(str, scores))
    return Padding(table, (0, 0, 0, 2))


PAGE = Page(lines=lines, why=why, exchange=exchange, decider="the synthesizer", course=in_rounds)
