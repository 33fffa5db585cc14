"""A debate as a stream of events: one recorded entry, its events, the last of which carries the entry's number as id.

    case.received                  none: part of `gate`
    gate.decided                   gate; after it final, if the case is declined
    debate.started                 started
    turn.asked                     asked; before it debate.round_started, with the first debater of a round of
                                   convergence
    turn.spoke                     round: a debater, or a seat of the adversarial format that argues
                                   debate.response: a debater of convergence
                                   verdict: the judge of stances
                                   synthesis: the seat that closes, a moderator, a synthesizer, a judge of convergence
                                   answers: a debater of a panel, to objections that stand after the last round
                                   classification, adjudication, accuracy: a model that typed a panel's question,
                                   scored its consensus, scored its debaters
                                   swapped: a decider, asked again in the reverse order
                                   masked: a decider, asked again with the flagged passages masked
                                   screening: the screener, before the debate, in any format
    attempt.failed, turn.silent    notice
    check.found                    citations; passages; accuracy; debate.converged, or convergence if answers have not;
                                   measured, if a model scores a panel's consensus after it; notice for a critique, for
                                   documents, for a synthesis and for who argued, if there is something to note
    budget.refused                 notice
    debate.stopped                 notice
    debate.concluded               final: the result in the view of the request, a summary by default, the same as the
                                   answer without a stream; a panel's has it under ``gainsay.result``, beside the
                                   members of its reference

An entry that settles the standing of a panel after a round (a check, a model's adjudication or its silence) has
`consensus` as its last event. `events` gives all events of an entry in their order. Only the last has an id, so a
listener that resumes after an id has all events of its entry. A panel's `round`, `consensus`, `synthesis`, `accuracy`
and `final` have the shapes of its reference (`service.report.events.panel_types`), with our own members in ``gainsay``;
every other event has its members at the top (`service.report.events.types`). Every stream ends with `final`, that of a
declined case too. A reply has no verdicts yet, because the check comes after it; the `citations` and `passages` that
follow name the same turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.debate.entries import CaseReceived, CheckFound, is_end
from service.errors import IllegalEntry
from service.report.events.entry_events import entry_events, settled_events
from service.report.events.formats import stream_of
from service.report.events.types import Event, EventName
from service.report.result.build import build_result
from service.report.result.summary import View, viewed
from service.report.result.types import Line, Result
from service.report.sent import as_json

__all__ = ["Event", "EventName", "events", "final"]


def events(
    line: Line,
    debate_id: str,
    before: Sequence[Line],
    *,
    concluded: Result | None = None,
    last_record: str | None = None,
    view: View = "summary",
) -> tuple[Event, ...]:
    """The events of an entry in their order; empty for the case and for a check with nothing to note.

    ``before`` are all lines before this one, from the first: remaining amounts and the seats behind neutral labels
    follow from them. ``concluded`` is the result that `final` carries in this ``view``; it is built from the lines if
    it is not given, and then has ``last_record``. Raises `IllegalEntry` if ``before`` does not begin with the case.
    """
    if isinstance(line.entry, CaseReceived):
        return ()
    named = [*entry_events(line, debate_id, before), *settled_events(line, debate_id, before)]
    rendered = [Event(name, as_json(data)) for name, data in named]
    if is_end(line.entry):
        ended = concluded or build_result(debate_id, [*before, line], last_record=last_record)
        rendered.append(final(line, ended, view))
    if not rendered and not isinstance(line.entry, CheckFound):
        raise IllegalEntry(f"entry {line.n} has no event; expected an entry of a known kind")
    return tuple(rendered)


def final(line: Line, concluded: Result, view: View = "summary") -> Event:
    """The last event of a debate or of a declined case, from its last line and its result, of which it has a view."""
    own = stream_of(concluded.options).final(line, concluded, view)
    if own is not None:
        return Event("final", as_json(own))
    return Event("final", as_json(viewed(concluded, view)) | {"n": line.n, "at": line.at})
