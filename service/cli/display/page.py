"""The result of a debate on one page: the decision first, then the arguments, then the cost and the models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from service.checks.coverage.sentences import brief
from service.cli.display import exchange, outcome
from service.cli.display.console import counted, dollars, joined, row, text
from service.cli.display.first_takes import first_takes
from service.cli.display.speakers import speaker
from service.cli.display.suspected import passages
from service.debate.amounts import micro, usd
from service.report import Result
from service.report.amounts import grouped
from service.report.decision_labels import OUTCOMES
from service.report.document import first_screen, quoted, suspected
from service.report.document.decision import untested
from service.report.document.undocumented import NO_COVERAGE
from service.report.labels import (
    DECIDED,
    EFFECT,
    FLAG,
    MARKED,
    REASON,
    RULE,
    SIMULATED,
    STATUS,
    STOP,
    label_of,
)
from service.report.result import shares
from service.report.result.bill import OverallCost
from service.report.result.decision_types import Decision
from service.report.shown import shown

MOST_PARTS = 6
"""The most uncited parts of a document that the page names; the report has all."""
_COLOURS = {"HIGH": "green", "MODERATE": "yellow", "LOW": "red"}


def show(console: Console, result: Result) -> None:
    """Print the page of a result, in any state of its debate."""
    result = shown(result)
    exchanged = (outcome.said, first_takes, exchange.open_points, exchange.left_out)
    for part in (_measures, _head, _decision, _gate, *exchanged, _coverage, _cost, _provenance):
        for block in part(result):
            console.print(block, soft_wrap=isinstance(block, Text) and bool(block.no_wrap))


def show_brief(console: Console, result: Result) -> None:
    """Print the decision, what was struck, repeated and left out, and open points: the page without the exchange."""
    result = shown(result)
    below = [block for part in (exchange.caught, exchange.left_out, exchange.uncertainties) for block in part(result)]
    if below and isinstance(below[0], Padding) and not outcome.why(result):
        below[0] = below[0].renderable  # the box has a blank line below it
    for block in (*_measures(result), *_decision(result), *below):
        console.print(block)
    if below or outcome.why(result):
        console.print()


def _measures(r: Result) -> Iterator[RenderableType]:
    """Before everything else, that an item of an evaluation decides nothing."""
    if words := first_screen.measures(r):
        body = text(" ".join(words))
        yield Panel(body, title="EVALUATION", title_align="left", border_style="yellow", box=box.ROUNDED)


def _head(r: Result) -> Iterator[RenderableType]:
    if r.simulated:
        yield Panel(text(SIMULATED), title="SIMULATED", title_align="left", border_style="yellow", box=box.ROUNDED)
    yield Padding(text(r.question, "bold"), (1, 0, 1, 0))
    if not r.case.documents:
        none = "none" if r.status == "declined" else "none: nothing that was said could be checked"
        yield row(text("Documents", "dim"), text(none, "yellow"))
    for document in r.case.documents:
        later = f", from round {document.round}" if document.round > 1 else ""
        yield row(text(document.id, "dim"), text(f"{document.title} ({document.characters:,} characters{later})"))
        yield from passages(suspected.of_document(r, document.id))
    yield from passages(suspected.elsewhere(r))
    if r.framing:
        yield Padding(row(text("Argued as", "dim"), text(r.framing.thesis)), (1, 0, 0, 0))


def _decision(r: Result) -> Iterator[RenderableType]:
    lines = [row(text(term, "dim"), body, lead_width=14) for term, body in _outcome(r)]
    yield Padding(Panel(Group(*lines), title=_headline(r), title_align="left", box=box.HEAVY), (1, 0))
    if found := outcome.why(r):
        term, words = found
        yield row(text(term, "dim"), text(words))


def _headline(r: Result) -> Text:
    if r.decision is None:
        return text(r.status.upper(), "bold yellow")
    if r.decision.outcome == "declined":
        return text("NO DEBATE", "bold yellow")
    words = ([] if r.status == "completed" else [r.status]) + [label_of(OUTCOMES, r.decision.outcome)]
    return text(" · ".join(words).upper(), f"bold {_colour(r.decision)}")


def _colour(decision: Decision) -> str:
    return _COLOURS.get(decision.confidence or "", "red")


def _outcome(r: Result) -> Iterator[tuple[str, Text]]:
    """The lines of the decision: term and words."""
    if r.decision:
        yield from _decided(r, r.decision)
    if r.format_reason:
        yield "Format", text(f"{(r.format or '').partition('/')[0]}: {r.format_reason}")
    yield from outcome.lines(r)
    yield "Ended", text("; ".join(_ended(r)))
    for fact in first_screen.asked(r):
        yield fact.term, text(fact.value)
    if why := untested(r):
        yield "Challenge", text(f"NONE was heard: {why}, so the conclusion has not been tested", "bold yellow")
    for flag in r.flags:
        yield "Flag", text(f"{flag}: {label_of(FLAG, flag)}", "yellow")
    for pair in r.differing:
        yield "Two replies", text(pair.sentence, "yellow")
    for fact in quoted.compared(r):
        yield fact.term, text(fact.value, "bold yellow" if fact.term == quoted.MARKED_TERM else "")
    if quoted.has_marks(r):
        yield "Key", text(MARKED)


def _ended(r: Result) -> list[str]:
    """How a debate ended; of a declined case the decision says why there was none."""
    if r.status == "declined":
        return [label_of(STATUS, r.status)]
    words = [label_of(STATUS, r.status), label_of(STOP, r.stop_reason) if r.stop_reason else "", r.detail or ""]
    return [word for word in words if word]


def _decided(r: Result, decision: Decision) -> Iterator[tuple[str, Text]]:
    """The lines that every format has."""
    yield "Decision", text(decision.answer, "bold")
    if decision.confidence:
        yield "Confidence", _confidence(r, decision)
    if decision.human_review.required:
        reasons = dict.fromkeys(label_of(REASON, reason) for reason in decision.human_review.reasons)
        yield "Human review", text("REQUIRED, because " + "; ".join(reasons), "bold yellow")
    elif r.status != "declined":
        yield "Human review", text("required by no rule; the decision stays with a person all the same")
    if decision.dissent:
        yield "Dissent", text(decision.dissent.text)
    if decision.cost.ceiling_usd:
        yield "Cost", text(f"{_amount(decision.cost.spent_usd)} of {dollars(decision.cost.ceiling_usd, 2)}")


def _confidence(r: Result, decision: Decision) -> Text:
    found = text(decision.confidence or "", f"bold {_colour(decision)}")
    said = r.moderator_confidence_level or r.closing_confidence_level
    if said and said != decision.confidence:
        why = "; ".join(label_of(REASON, cap.reason) for cap in r.caps)
        return joined(found, text(f"({outcome.decider(r)} said {said}; lowered because {why})"))
    return found


def _gate(r: Result) -> Iterator[RenderableType]:
    """Every rule if the gate declined; otherwise one line."""
    if r.gate is None:
        return
    if r.gate.debate:
        above = 1 if outcome.why(r) else 0  # the box has a blank line below it
        yield Padding(row(text("Gate", "dim"), text(label_of(DECIDED, r.gate.decided_by))), (above, 0, 0, 0))
        return
    for rule in r.gate.rules:
        words = f"{grouped(rule.observed)} ({label_of(EFFECT, rule.effect)})"
        yield row(text(label_of(RULE, rule.rule), "dim"), text(words), lead_width=18)
    for change in r.gate.would_change:
        yield row(text("Would change it", "dim"), text(change.sentence), lead_width=18)


def _coverage(r: Result) -> Iterator[RenderableType]:
    """The cited and uncited parts of each document; documents without a citation come first."""
    if r.coverage_absent == "noDocuments" and r.status != "declined":
        yield Rule(text("Not cited"), align="left", style="dim")
        yield text(NO_COVERAGE)
        yield ""
    if not r.coverage:
        return
    yield Rule(text("Not cited"), align="left", style="dim")
    for c in r.coverage:
        yield row(text(c.document_id, "dim"), text(brief(c, MOST_PARTS)))
    yield ""


def _cost(r: Result) -> Iterator[RenderableType]:
    money = r.overall_cost
    if money.ceiling_usd is None:
        return
    yield Rule(text("Cost"), align="left", style="dim")
    share = f" (a share of {shares.shown(micro(money.spent_usd) / max(1, micro(money.ceiling_usd)))})"
    untold, over = money.by_basis.reserved.attempts, micro(money.excess_usd)
    yield text(
        f"Spent {dollars(money.spent_usd)} of {dollars(money.ceiling_usd, 2)}{share}; "
        f"expected before {dollars(money.expected_usd or '0')}"
        + (f"; {counted(untold, 'attempt')} charged as reserved" if untold else "")
        + (f"; still reserved {dollars(money.held_usd)}" if micro(money.held_usd) else "")
        + (f"; billed above reservations {dollars(money.excess_usd)}, {_in_all(money)} in all" if over else "")
    )
    yield _accounts(r)
    yield text(f"By round: {', '.join(_by_round(money))}" if money.by_round else "No model was asked.", "dim")


def _by_round(money: OverallCost) -> Iterator[str]:
    for number, a in money.by_round.items():
        held = f" and {_amount(a.held_usd)} held" if micro(a.held_usd) else ""
        yield f"{_amount(a.amount_usd)}{held} {'before round 1' if number == '0' else f'in round {number}'}"


def _in_all(money: OverallCost) -> str:
    return dollars(usd(micro(money.spent_usd) + micro(money.excess_usd)))


def _accounts(r: Result) -> Table:
    """A row for each seat: its model, the number of its attempts, and its cost against the estimate."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("seat", "model", "attempts", "estimate", "actual"):
        table.add_column(name, justify="left" if name in ("seat", "model") else "right", no_wrap=name != "model")
    own = {seat.seat: seat.alias for seat in r.seats}
    for seat, a in r.overall_cost.by_seat.items():
        asked = dict.fromkeys(attempt.model for attempt in r.attempts if attempt.seat == seat)
        failed = f" ({a.failed_attempts} failed)" if a.failed_attempts else ""
        table.add_row(
            text(speaker(r.options, seat)),
            text(", then ".join(asked) or own.get(seat, "")),
            f"{a.attempts}{failed}",
            _amount(a.expected_usd) if a.expected_usd else "-",
            _amount(a.amount_usd),
        )
    return table


def _amount(amount: str) -> str:
    return dollars(amount).removesuffix(" USD")


def _provenance(r: Result) -> Iterator[RenderableType]:
    yield Rule(text("Record"), align="left", style="dim")
    approved = "configuration not approved" if r.approved_by in (None, "unapproved") else r.approved_by
    facts: Iterable[tuple[str, str | None]] = (
        ("Debate", r.debate_id),
        ("Entries", f"{counted(r.entries, 'entry', 'entries')}; {approved}" if r.status != "declined" else None),
        ("Last record", r.hashes.last_record),
        ("Prompts", r.hashes.prompts_pin),
        ("Policy", r.hashes.policy_hash),
        ("Build", r.hashes.build_hash),
    )
    for term, value in facts:
        if value:
            yield row(text(term, "dim"), text(value))
    yield ""
    if r.decision:
        yield text(r.decision.answer)
    yield _summary(r)


def _summary(r: Result) -> Text:
    """The decision once more, at the end of the page, where a terminal stops."""
    if r.decision is None or r.decision.outcome == "declined":
        return text(label_of(STATUS, r.status), "bold")
    decided = label_of(OUTCOMES, r.decision.outcome)
    review = "human review REQUIRED" if r.decision.human_review.required else "no rule requires human review"
    ended = "" if r.status == "completed" else f"{r.status.upper()} · "
    simulated = " (simulated)" if r.simulated else ""
    unchallenged = ", NOT CHALLENGED" if untested(r) else ""
    level = f", confidence {r.decision.confidence}" if r.decision.confidence else ""
    return text(f"{ended}{decided.upper()}{unchallenged}{level}; {review}{simulated}", "bold")
