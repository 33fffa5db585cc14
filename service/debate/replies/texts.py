"""The texts of a reply that people read, by their path in the reply's JSON: ``synthesis``, ``objections[0].answer``.

`READ` and `NAMES` together list every member of a reply that is a text; a test holds them complete. Arguments are
among the texts: the strike rules look at an argument without citations only, and a text may quote beside what it cites.
The quotes of citations are not: the citation engine judges each of them. The output of a projection is JSON in the
caller's shape: its strings are texts of their own, as in ``output.conditions[0]``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from operator import is_
from typing import Any, TypeVar, get_args, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

from service.debate.findings import Citation
from service.debate.projection import value
from service.debate.replies.adversarial import (
    Answer,
    ArgumentScore,
    Concession,
    Critique,
    Framing,
    KeyDocument,
    Moderation,
    Objection,
    Point,
    Proposal,
    Rebuttal,
    Shift,
)
from service.debate.replies.ballot import Ballot
from service.debate.replies.convergence import Position, Ruling
from service.debate.replies.panel import (
    Adjudication,
    BlindAnswer,
    Challenge,
    Claim,
    Classification,
    DebaterReview,
    Endorsement,
    Idea,
    Mark,
    NamedClaim,
    ObjectionAnswer,
    ObjectionReply,
    OpenPoint,
    RevisedAnswer,
    StrongestObjection,
    Synthesis,
)
from service.debate.replies.parts import Statement
from service.debate.replies.screening import ScreenedPassage
from service.debate.replies.stances import Judgement, Projection

AnyStruct = TypeVar("AnyStruct", bound=Struct)
Change = Callable[[str, str], str]
"""From the path of a text and the text to the text that stands in its place."""

READ: Mapping[type[Struct], tuple[str, ...]] = {
    Framing: ("thesis", "scope", "criteria"),
    KeyDocument: ("why",),
    Proposal: ("thesis",),
    Statement: ("text",),
    Objection: ("text", "answer"),
    Shift: ("because",),
    Critique: ("thesis",),
    Point: ("text",),
    Rebuttal: ("thesis",),
    Answer: ("text",),
    Concession: ("text",),
    Moderation: ("resolved_points", "unresolved_points", "synthesis", "explicit_uncertainties"),
    Judgement: ("verdict", "winner", "reasoning", "explicit_uncertainties"),
    Projection: ("output",),
    Ballot: ("stance",),
    Classification: ("because",),
    BlindAnswer: ("answer", "assumptions"),
    RevisedAnswer: (
        "answer",
        "assumptions",
        "learned_from_others",
        "corrections",
    ),
    Challenge: ("text",),
    OpenPoint: ("text",),
    Claim: ("text",),
    StrongestObjection: ("flaw",),
    ObjectionAnswer: ("text",),
    ObjectionReply: ("text",),
    Adjudication: ("notes",),
    Synthesis: ("answer", "explicit_uncertainties"),
    Idea: ("idea",),
    Position: ("final_answer",),
    Ruling: ("final_answer", "justification", "explicit_uncertainties"),
    ScreenedPassage: ("why",),
}
"""The members of each part of a reply that hold a text, or several, for people to read."""
NAMES: Mapping[type[Struct], Mapping[str, str]] = {
    Citation: {
        "quote": "the citation engine judges it",
        "source_id": "the id of a document",
        "location": "the place of a quotation, which the citation engine compares",
    },
    KeyDocument: {"source_id": "the id of a document"},
    Point: {"position": "the id of a position"},
    ArgumentScore: {"label": "a label of the debate"},
    Moderation: {"ranking": "labels of the debate"},
    Ballot: {"vote": "the name of an option"},
    Mark: {"label": "a label of the debate"},
    StrongestObjection: {"label": "a label of the debate"},
    ObjectionAnswer: {"label": "a label of the debate"},
    ObjectionReply: {"label": "a label of the debate"},
    Challenge: {"label": "a label of the debate"},
    NamedClaim: {"label": "a label of the debate"},
    Endorsement: {"label": "a label of the debate"},
    DebaterReview: {"label": "a label of the debate"},
    ScreenedPassage: {
        "name": "the id of a document or position, or a seat",
        "quote": "the check of injections looks for it in the case",
    },
}
"""The members that hold a name and no sentence, or a text that another engine judges, with the reason."""


def texts_of(reply: Struct) -> tuple[tuple[str, str], ...]:
    """Each text of a reply that people read, with its path, in the order of the reply."""
    found: list[tuple[str, str]] = []
    _note(reply, "", found)
    return tuple(found)


def _note(part: Struct, path: str, found: list[tuple[str, str]]) -> None:
    """Add the texts that `with_texts` goes through, without a copy of what holds them."""
    for member, name, is_read in _members(type(part)):
        old = getattr(part, member)
        if isinstance(old, tuple):
            for i, each in enumerate(old):
                if is_read:
                    found.append((f"{path}{name}[{i}]", each))
                else:
                    _note(each, f"{path}{name}[{i}].", found)
        elif isinstance(old, Struct):
            _note(old, f"{path}{name}.", found)
        elif isinstance(part, Projection):
            _note_output(old, f"{path}{name}", found)
        elif old is not None:
            found.append((f"{path}{name}", old))


def _note_output(text: str, path: str, found: list[tuple[str, str]]) -> None:
    """Add the strings of a projection's output."""

    def note(path: str, text: str) -> str:
        found.append((path, text))
        return text

    _output(text, note, path)


def with_texts(part: AnyStruct, change: Change, path: str = "") -> AnyStruct:
    """The same reply with other texts: ``change`` is called with the path and the text of each in its order."""
    changes: dict[str, Any] = {}
    for member, name, is_read in _members(type(part)):
        old = getattr(part, member)
        if is_read and isinstance(part, Projection):
            new: Any = _output(old, change, f"{path}{name}")
        else:
            new = _changed(old, change, f"{path}{name}")
        if new is not old:
            changes[member] = new
    return replace(part, **changes) if changes else part


@cache
def _members(kind: type[Struct]) -> tuple[tuple[str, str, bool], ...]:
    """The members of a part of a reply that may hold texts: in Python, in JSON, and whether they are texts."""
    read, types = READ.get(kind, ()), get_type_hints(kind)
    named = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    return tuple(
        (member, name, member in read)
        for member, name in named
        if member in read or any(map(_members, _parts_in(types[member])))
    )


def _parts_in(hint: Any) -> Iterator[type[Struct]]:
    """The parts of a reply that a member of this type may hold."""
    if isinstance(hint, type) and issubclass(hint, Struct):
        yield hint
    for one in get_args(hint):
        yield from _parts_in(one)


def _changed(old: Any, change: Change, path: str) -> Any:
    """A member's value with its texts changed, or the very same object if none of them is another."""
    if isinstance(old, str):
        return _kept(old, change(path, old))
    if isinstance(old, Struct):
        return with_texts(old, change, f"{path}.")
    if isinstance(old, tuple):
        new = tuple([_changed(each, change, f"{path}[{i}]") for i, each in enumerate(old)])
        return old if all(map(is_, old, new)) else new
    return old


def _output(text: str, change: Change, path: str) -> str:
    """A projection's output with its strings changed; the same text if none is another or it is no JSON."""
    try:
        old = value(text)
    except ValueError:
        return _kept(text, change(path, text))
    new = _strings(old, change, path)
    return text if new == old else json.dumps(new, ensure_ascii=False)


def _strings(found: Any, change: Change, path: str) -> Any:
    if isinstance(found, str):
        return change(path, found)
    if isinstance(found, list):
        return [_strings(each, change, f"{path}[{i}]") for i, each in enumerate(found)]
    if isinstance(found, dict):
        return {name: _strings(each, change, f"{path}.{name}") for name, each in found.items()}
    return found


def _kept(old: str, new: str) -> str:
    return old if new == old else new
