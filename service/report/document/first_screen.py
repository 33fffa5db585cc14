"""What an officer files: the decision, who asked and when, what was not cited, and how to verify it, on one page.

Everything on it follows from sealed records, so a verifier writes the same bytes again. Signed times come later than
the records; the command on the page prints them.
"""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.purpose import evaluation_of
from service.report.decision_labels import DECIDERS, OUTCOMES
from service.report.document import quoted
from service.report.document.blocks import Banner, Block, Fact, FactList, ReportPart, Text, Tone, Verbatim
from service.report.document.decision import untested
from service.report.document.uncited import never_cited
from service.report.first_screen_labels import (
    APPROVER_KEY,
    AUTHENTICATED,
    KEYS,
    KIND_OF_ACTOR,
    MEASURES,
    NO_DISSENT,
    NO_HUMAN_DECISION,
    SETTLED,
    SIGNED_TIMES,
    VERIFY,
    VIA,
)
from service.report.labels import REASON, SIMULATED, STATUS, STOP, label_of
from service.report.result.terms import AdversarialTerms
from service.report.result.types import Acted, Result
from service.report.shortened import short

QUESTION_MAX, REASONS_MAX = 160, 360
COMMAND = "gainsay audit verify BUNDLE --report FILE --key LOG_KEY --witness WITNESS_KEY"


def first_screen(r: Result) -> Iterator[Block]:
    """The first screen of a report, and the first page on paper."""
    if r.simulated:
        yield Banner("warn", "Simulated", (SIMULATED,))
    if words := measures(r):
        yield Banner("warn", "Item of an evaluation", words)
    yield ReportPart("decision", "Decision")
    yield Banner(_tone(r), r.decision.answer if r.decision else label_of(STATUS, r.status), tuple(_in_short(r)))
    if why := untested(r):
        yield Banner("warn", "Not challenged", (f"No seat has tested what was decided: {why}.",))
    yield from _human_review(r)
    yield FactList(tuple(_circumstances(r)))
    if r.decision is not None:
        yield from _verification(r)


def measures(r: Result) -> tuple[str, ...]:
    """That a debate is an item of an evaluation, and of which; nothing for one that was brought to decide."""
    item = evaluation_of(r.arrival)
    if item is None:
        return ()
    return MEASURES, f"It is {item.item} in the arm {item.arm}, run {item.repeat}, of the evaluation {item.id}."


def _circumstances(r: Result) -> Iterator[Fact]:
    """Who asked what, when, what was never cited, and what a person has decided."""
    yield Fact("Question", short(r.question, QUESTION_MAX))
    yield from never_cited(r)
    yield from asked(r)
    if r.decision is not None:
        yield Fact("Signed times", SIGNED_TIMES)
    if r.hashes.log:
        yield Fact("Log", r.hashes.log.log, code=True)


def asked(r: Result) -> Iterator[Fact]:
    """Who asked, when, and what a person has decided since."""
    yield Fact("Asked by", who(r.asked_by))
    if r.aborted_by is not None:
        yield Fact("Aborted by", who(r.aborted_by))
    ended = f"ended {r.concluded_at}" if r.concluded_at else "not ended yet"
    yield Fact("Recorded", f"received {r.created_at}; {ended}")
    yield Fact("Human decision", NO_HUMAN_DECISION)


def who(found: Acted) -> str:
    """An opaque id, and how it was authenticated; kind and role only where a caller was."""
    known = label_of(VIA, found.via)
    if found.via in AUTHENTICATED:
        known = f"{label_of(KIND_OF_ACTOR, found.kind)}, {known}, as {found.role}"
    return f"{found.subject} ({known})"


def _verification(r: Result) -> Iterator[Block]:
    yield Text(VERIFY, "note")
    yield Verbatim((COMMAND,))
    approved = r.approved_by not in (None, "unapproved")
    yield Text(f"{KEYS} {APPROVER_KEY}" if approved else KEYS, "note")


def _tone(r: Result) -> Tone:
    if r.status in ("queued", "running", "declined"):
        return "info"
    if r.decision is None or r.decision.confidence in (None, "LOW"):
        return "bad"
    sure = r.decision.confidence == "HIGH" and not r.decision.human_review.required
    return "good" if sure and not untested(r) else "warn"


def _in_short(r: Result) -> Iterator[str]:
    """The lines under the answer: what came of it, who asked, the confidence, the review, dissent and cost."""
    if r.decision is None or r.status == "declined":  # the answer and the title say all of it
        return
    by = f", by {label_of(DECIDERS, r.decision.by)}" if r.decision.by else ""
    yield f"{label_of(OUTCOMES, r.decision.outcome)}{by}."
    if r.decision.confidence:
        yield f"Confidence: {r.decision.confidence}"
    if r.stop_reason:
        yield f"{label_of(STATUS, r.status)}; {label_of(STOP, r.stop_reason)}."
    if r.decision.dissent:
        yield f"Dissent: {r.decision.dissent.text}"
    elif r.decision.outcome in SETTLED:
        yield NO_DISSENT
    if r.decision.cost.ceiling_usd:
        yield f"Cost: {r.decision.cost.spent_usd} of at most {r.decision.cost.ceiling_usd} USD."
    yield from quoted.in_short(r)


def _human_review(r: Result) -> Iterator[Block]:
    if r.decision is None or r.status == "declined":
        return
    if r.decision.human_review.required:
        reasons = "; ".join(label_of(REASON, reason) for reason in r.decision.human_review.reasons)
        yield Banner("warn", "Human review is required", (f"Because {short(reasons, REASONS_MAX).rstrip('.')}.",))
    else:
        ends = "Effective challenge" if isinstance(r.result, AdversarialTerms) else "A decision"
        yield Banner("info", "No rule requires human review", (f"{ends} ends with a person all the same.",))
