"""The part of a report about the seats that weigh and do not debate. A second reply never replaces the first."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from service.debate import projection
from service.debate.replies import (
    AccuracyReview,
    Adjudication,
    Argument,
    Ballot,
    BlindAnswer,
    Classification,
    Critique,
    Framing,
    Judgement,
    Moderation,
    ObjectionAnswers,
    Position,
    Projection,
    Proposal,
    Rebuttal,
    RevisedAnswer,
    Ruling,
    Screening,
    Synthesis,
)
from service.report.document.blocks import Block, Bullets, Fact, FactList, HeadingBlock, ReportPart, Text
from service.report.formats import telling_of
from service.report.labels import ASKED_AGAIN, DIMENSION, QUESTION, label_of, seat_name
from service.report.result.seat_types import Weighed
from service.report.result.types import Result
from service.report.shown import reply_of

TURNED = "asked again with the order turned round"
HIDDEN = "asked again with the flagged passages masked"


def deciders(r: Result) -> Iterator[Block]:
    """The replies of a judge, a synthesizer, an adjudicator, a classifier."""
    blocks = [block for one in r.weighed for block in _said(r, one)]
    telling = telling_of(r.options)
    if blocks and telling:
        yield ReportPart("deciders", "Those who weighed it")
        yield Text(telling.saw(r.options), "note")
        yield from blocks


def _said(r: Result, one: Weighed) -> Iterator[Block]:
    reply = reply_of(r, one)
    asked = HIDDEN if one.masked else TURNED if one.swapped else ""
    title = f"{seat_name(one.seat)}, {asked}" if asked else seat_name(one.seat)
    title = f"{title}, first take" if one.replaced else title
    asked_again = [Text(ASKED_AGAIN, "note")] if one.replaced else []
    match reply:
        case Judgement():
            yield HeadingBlock(3, title, f"confidence {reply.confidence_level}")
            yield from asked_again
            yield Text(reply.verdict, "lead")
            yield FactList((Fact("Winner", reply.winner or "none: the verdict combines several stances"),))
            yield Text(reply.reasoning)
            yield from _uncertain(one, reply.explicit_uncertainties)
        case Ruling():
            yield HeadingBlock(3, title, f"confidence {reply.confidence_level}")
            yield from asked_again
            yield Text(reply.final_answer, "lead")
            yield Text(reply.justification)
            yield from _uncertain(one, reply.explicit_uncertainties)
        case Projection():
            yield HeadingBlock(3, title, "the debate in the shape that the caller asked for")
            yield from asked_again
            yield FactList(tuple(_output(reply.output)))
        case Adjudication():
            yield HeadingBlock(3, f"{title}, round {one.round}")
            yield FactList(tuple(Fact(words, f"{getattr(reply, code)} of 100") for code, words in DIMENSION.items()))
            yield Text(reply.notes)
        case Classification():
            yield HeadingBlock(3, title)
            yield Text(f"{label_of(QUESTION, reply.question_type)}. {reply.because}")
        case Synthesis() if one.replaced or one.masked:
            yield HeadingBlock(3, title, f"confidence {reply.confidence_level}")
            yield from asked_again
            yield Text(reply.answer)
            if reply.ideas:
                yield Bullets(tuple(idea.idea for idea in reply.ideas))
            yield from _uncertain(one, reply.explicit_uncertainties)
        case Synthesis() | AccuracyReview() | Screening():
            pass  # They have parts of their own.
        case Framing() | Proposal() | Critique() | Rebuttal() | Moderation():
            pass  # They stand in the rounds.
        case Argument() | Ballot() | BlindAnswer() | RevisedAnswer() | ObjectionAnswers() | Position():
            pass  # Debaters' replies stand in the transcript.


def _uncertain(one: Weighed, uncertainties: tuple[str, ...]) -> Iterator[Block]:
    """The uncertainties of a reply; those of the standing reply have a part of the report of their own."""
    if one.swapped or one.masked or one.replaced:
        yield Text("It was uncertain of:", "note")
        yield Bullets(uncertainties)


def _output(text: str) -> Iterator[Fact]:
    output = text if projection.unreadable(text) else projection.value(text)
    members = output.items() if isinstance(output, dict) else (("output", output),)
    for name, value in members:
        yield Fact(str(name), value if isinstance(value, str) else msgspec.json.encode(value).decode())
