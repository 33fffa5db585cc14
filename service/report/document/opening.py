"""The first parts of a report: the outcome in detail, the question, the gate and the proposition."""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.entries import Arrival
from service.debate.options import positions_of
from service.report.amounts import grouped
from service.report.document import quoted, suspected
from service.report.document.blocks import Block, Bullets, Fact, FactList, ReportPart, TableBlock, Text
from service.report.document.decision import decider, facts
from service.report.first_screen_labels import DOOR
from service.report.labels import (
    DECIDED,
    EFFECT,
    FLAG,
    REASON,
    RULE,
    STATUS,
    label_of,
    seat_name,
)
from service.report.result.terms import AdversarialTerms
from service.report.result.types import Result

_SYNTHESIS = {
    "moderator": "The moderator's synthesis:",
    "judge": "The judge's verdict:",
    "synthesizer": "The synthesis, as an answer to the question:",
}


def question(r: Result) -> Iterator[Block]:
    """The question, its purpose and its documents."""
    yield ReportPart("question", "Question")
    yield Text(r.question, "lead")
    yield FactList(tuple(_circumstances(r)))
    if r.case.single_agent_answer:
        yield Text("Answer under review:", "note")
        yield Text(r.case.single_agent_answer)
    if r.case.documents:
        yield TableBlock(
            "Documents that were given",
            ("Id", "Title", "Characters", "From round"),
            tuple((d.id, d.title, f"{d.characters:,}", str(d.round)) for d in r.case.documents),
            numeric=(2, 3),
        )
    else:
        yield Text("No documents were given.")
    yield from suspected.passages(r)


def _circumstances(r: Result) -> Iterator[Fact]:
    case = r.case
    asked = r.case.asked_task_type
    yield Fact("Task type", r.task_type if asked is None else f"{r.task_type}, in the place of {asked}")
    for term, value in (
        ("Use case", case.use_case),
        ("Intended use", case.intended_use),
        ("Materiality", case.materiality),
    ):
        if value:
            yield Fact(term, value)
    yield Fact("Estimated downside", f"USD {case.estimated_downside:,f}")
    if case.downside_basis:
        yield Fact("Basis of the estimate", case.downside_basis)
    confidence = "not given" if case.confidence_score is None else f"{case.confidence_score:f}"
    yield Fact("Confidence before review", confidence)
    yield from _arrived(r.arrival or Arrival())
    for key, value in sorted(case.metadata.items()):
        yield Fact(f"Caller's {key}", value)


def _arrived(arrival: Arrival) -> Iterator[Fact]:
    """How the case came, as far as that says anything."""
    run = arrival.evaluation
    for term, value in (
        ("Came in by", arrival.door and DOOR[arrival.door]),
        ("Batch", arrival.batch),
        ("Evaluation", run and run.id),
        ("Item of the evaluation", run and f"{run.item}, arm {run.arm}, run {run.repeat}"),
        ("Plan of the evaluation", run and run.plan),
        ("Golden set of the item", run and run.set),
        ("Trace", arrival.trace),
    ):
        if value:
            yield Fact(term, value)


def outcome(r: Result) -> Iterator[Block]:
    """The outcome and its limits, with the words of who decided."""
    yield ReportPart("outcome", "Outcome in detail")
    yield FactList(tuple(_outcome(r)))
    yield from quoted.key(r)
    ranking = r.result.ranking if isinstance(r.result, AdversarialTerms) else ()
    if ranking:
        texts = {p.id: p.text for p in positions_of(r.options)} if r.options else {}
        yield TableBlock(
            "Positions in the moderator's order",
            ("Rank", "Position", "In words", "Score of 10"),
            tuple((str(p.rank), p.position, texts.get(p.position, ""), str(p.score)) for p in ranking),
            numeric=(0, 3),
        )
    if r.synthesis:
        yield Text(_SYNTHESIS[decider(r)], "note")
        for paragraph in filter(str.strip, r.synthesis.split("\n\n")):
            yield Text(paragraph)
    if r.flags:
        yield Text("Flags:", "note")
        yield Bullets(tuple(f"{flag}: {label_of(FLAG, flag)}" for flag in r.flags))


def _outcome(r: Result) -> Iterator[Fact]:
    yield Fact("Status", label_of(STATUS, r.status))
    if r.detail and r.status != "declined":  # there the decision's answer says why
        yield Fact("In detail", r.detail)
    if said := r.moderator_confidence_level or r.closing_confidence_level:
        yield Fact(f"{seat_name(decider(r))}'s confidence", said)
    if r.decision and r.decision.confidence:
        yield Fact("Confidence after the rules", f"{r.decision.confidence} (not a probability)")
    for cap in r.caps:
        yield Fact(f"At most {cap.at_most}", f"because {label_of(REASON, cap.reason)}")
    agreed = r.result.agrees_with_first_proposal if isinstance(r.result, AdversarialTerms) else None
    if agreed is not None:
        agrees = "yes: the same conclusion" if agreed else "no: the debate changed the conclusion"
        yield Fact("Agrees with the first proposal", agrees)
    if r.concluded_at and r.status != "declined":
        failures = str(len(r.critical_validation_failures))
        none = "nothing was checked, because no document was given"
        yield Fact("Critical validation failures", failures if r.case.documents else none)
    yield from facts(r)
    yield from quoted.compared(r)
    for pair in r.differing:
        yield Fact("Two replies that differ", pair.sentence)


def gate(r: Result) -> Iterator[Block]:
    """The gate's decision, with every rule."""
    if r.gate is None:
        return
    yield ReportPart("gate", "Why it was debated" if r.gate.debate else "Why it was not debated")
    decided = DECIDED.get(r.gate.decided_by, f"The rule “{label_of(RULE, r.gate.decided_by)}” does not hold.")
    yield Text(f"{'A debate was decided on.' if r.gate.debate else 'A debate was declined.'} {decided}")
    rows = tuple(
        (
            label_of(RULE, rule.rule),
            grouped(rule.observed),
            grouped(rule.threshold),
            "holds" if rule.holds else "does not hold",
            label_of(EFFECT, rule.effect),
        )
        for rule in r.gate.rules
    )
    yield TableBlock("Rules of the gate, in order", ("Rule", "Observed", "Compared with", "Result", "Effect"), rows)
    if r.gate.would_change:
        yield Text("What would have changed the decision, each on its own:", "note")
        yield Bullets(tuple(change.sentence for change in r.gate.would_change))
    yield Text(
        f"Policy {r.gate.policy_version}; a debate has to be outweighed {r.gate.factor} times by the downside, at an "
        f"expected cost of USD {r.gate.debate_cost_threshold_usd}.",
        "note",
    )


def proposition(r: Result) -> Iterator[Block]:
    """The question in the form that was argued."""
    if r.framing is None:
        return
    yield ReportPart("proposition", "Proposition")
    yield Text(r.framing.thesis, "lead")
    yield FactList((Fact("Scope", r.framing.scope),))
    if r.framing.criteria:
        yield Text("A good answer has to pass these tests:", "note")
        yield Bullets(r.framing.criteria)
    if r.framing.key_documents:
        yield Text("The question turns on:", "note")
        yield Bullets(tuple(f"{d.source_id}: {d.why}" for d in r.framing.key_documents))
