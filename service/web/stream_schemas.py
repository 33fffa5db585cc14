"""The events of a stream in OpenAPI: the types of each one's data, and a schema of every event as a client reads it.

OpenAPI 3.1 has no schema for the items of a stream. So the answer is a text whose ``contentSchema`` says what an event
of it is once a client has read it. Generators take it for a text, and make types of the events beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from service.report.events.convergence import ConvergenceEvent
from service.report.events.panel_types import (
    AdjudicationEvent,
    AnswersEvent,
    ClassificationEvent,
    MeasuredEvent,
    PanelAccuracy,
    PanelAccuracyReview,
    PanelBlind,
    PanelConsensus,
    PanelDeliberation,
    PanelFinal,
    PanelSynthesis,
    WholePanelFinal,
)
from service.report.events.replies import ProjectionEvent, RulingEvent, ScreeningEvent, VerdictEvent
from service.report.events.types import (
    ArguedEvent,
    AskedEvent,
    CitationsEvent,
    DebaterEvent,
    EventName,
    FinalEvent,
    GateEvent,
    ModeratedEvent,
    NoticeEvent,
    PassagesEvent,
    RoundStartedEvent,
    StartedEvent,
    WholeFinalEvent,
)
from service.web.operation import EVENT_ID, Schema

STREAM_EVENT = "StreamEvent"
"""The component of any event."""


class Sent(NamedTuple):
    """An event as it is sent: what it says, and the types that its data may have."""

    words: str
    data: tuple[type, ...]


EVENTS: Mapping[EventName, Sent] = {
    "gate": Sent("The case is recorded and the gate has decided. The first event of every stream.", (GateEvent,)),
    "started": Sent("The debate has begun: all that is fixed before its first turn.", (StartedEvent,)),
    "asked": Sent("A model is called for a turn, and its money is reserved.", (AskedEvent,)),
    "round": Sent(
        "A seat has replied: one of the adversarial format, or a debater.",
        (ArguedEvent, DebaterEvent, PanelBlind, PanelDeliberation),
    ),
    "swapped": Sent(
        "A seat that decides or scores, asked again in the reverse order, has replied.",
        (ModeratedEvent, VerdictEvent, RulingEvent, AdjudicationEvent),
    ),
    "masked": Sent(
        "A seat that decides, asked again with the passages masked that speak to a model, has replied.",
        (ModeratedEvent, VerdictEvent, RulingEvent, PanelSynthesis),
    ),
    "verdict": Sent("The judge of stances has decided.", (VerdictEvent,)),
    "synthesis": Sent(
        "The seat that closes has written the answer.",
        (ModeratedEvent, ProjectionEvent, RulingEvent, PanelSynthesis),
    ),
    "citations": Sent("Code has compared the citations of a turn with the documents.", (CitationsEvent,)),
    "passages": Sent("Code has looked for what the texts of a reply quote or report.", (PassagesEvent,)),
    "screening": Sent("The screener has read the case, before the debate.", (ScreeningEvent,)),
    "notice": Sent("A remark, such as a failed attempt, a silent seat or a stop.", (NoticeEvent,)),
    "classification": Sent("A model has read the type of a panel's question.", (ClassificationEvent,)),
    "adjudication": Sent("A model has scored a round of a panel.", (AdjudicationEvent,)),
    "measured": Sent("Code has measured a round of a panel, and the debate goes by something else.", (MeasuredEvent,)),
    "consensus": Sent("Where a panel stands after a round.", (PanelConsensus,)),
    "answers": Sent("A debater of a panel has answered the objections that stood.", (AnswersEvent,)),
    "accuracy": Sent("The debaters of a panel are scored.", (PanelAccuracy, PanelAccuracyReview)),
    "debate.round_started": Sent("A round of convergence begins.", (RoundStartedEvent,)),
    "debate.response": Sent("A debater of convergence has answered.", (DebaterEvent,)),
    "debate.converged": Sent("The answers of a round are near enough to end the debate.", (ConvergenceEvent,)),
    "convergence": Sent("The answers of a round are not near enough.", (ConvergenceEvent,)),
    "final": Sent(
        "The end of the debate, or of a declined case: its result. The last event of every stream.",
        (FinalEvent, WholeFinalEvent, PanelFinal, WholePanelFinal),
    ),
}
"""Every event; of the types of its data those that only panels have come last."""


def stream_components(data: Mapping[EventName, Schema], ref_template: str) -> dict[str, Schema]:
    """A component for each event, and `STREAM_EVENT` for any; ``data`` has the schemas of the events' data."""
    events = {_component(name): _event(name, data[name]) for name in EVENTS}
    refs = {name: ref_template.format(name=_component(name)) for name in EVENTS}
    return {
        **events,
        STREAM_EVENT: {
            "title": STREAM_EVENT,
            "description": "An event of a stream, as a client of server-sent events reads it.",
            "oneOf": [{"$ref": ref} for ref in refs.values()],
            "discriminator": {"propertyName": "event", "mapping": refs},
        },
    }


def _component(name: EventName) -> str:
    """``debate.round_started`` is ``StreamDebateRoundStarted``."""
    return "Stream" + "".join(part.capitalize() for part in name.replace(".", "_").split("_"))


def _event(name: EventName, data: Schema) -> Schema:
    return {
        "title": _component(name),
        "description": EVENTS[name].words,
        "type": "object",
        "properties": {
            "id": {
                **EVENT_ID,
                "description": "The number of the entry, for Last-Event-ID. Absent where more of its entry follows.",
            },
            "event": {"type": "string", "const": name, "description": "The name of the event."},
            "data": {**data, "description": "The data, which is sent as one line of JSON."},
        },
        "required": ["event", "data"],
    }


def stream(ref_template: str) -> Schema:
    """The schema of a stream."""
    return {
        "type": "string",
        "description": "Server-sent events in UTF-8, each with the lines id, event and data, and an empty line after.",
        "contentMediaType": "text/event-stream",
        "contentSchema": {"$ref": ref_template.format(name=STREAM_EVENT)},
    }


def chunked(chunk: Schema) -> Schema:
    """The schema of a stream of chunks, which have no other line than their data."""
    return {
        "type": "string",
        "description": "Server-sent events in UTF-8: data lines with a chunk each, and data: [DONE] as the last one.",
        "contentMediaType": "text/event-stream",
        "contentSchema": chunk,
    }
