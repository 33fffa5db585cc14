"""The layouts of requests: each version with the code that renders it and the file that records it.

``layout.v<n>.json`` records layout/<n>: whole debates over made-up documents, with placeholders for the prompts, and
the SHA-256 of every request of these debates. It is pinned like a prompt. `differences` renders the requests again. So
the file shows that the code lays requests out as it did when debates were recorded, also after its modules are moved
or reformatted. A debate is rendered by the version that its pins promise (`service.prompts.layout_pin`). A changed
layout gets a new version, and the old one stays beside it for debates that promised it.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from service.debate.entries import CaseReceived, Entry, TurnAsked, decode
from service.debate.facts import Facts
from service.debate.kernel import decide
from service.debate.model import Ask, Case, SeatPlan, Turn
from service.errors import PromptMismatch
from service.prompts.render import Pinned, render
from service.prompts.request import Request, encode


class Renderer(Protocol):
    """Renders the request of a turn from a debate's facts."""

    def __call__(
        self,
        pinned: Pinned,
        case: Case,
        sources: Mapping[str, str],
        facts: Facts,
        turn: Turn,
        plan: SeatPlan | None = None,
        /,
    ) -> Request:
        """The request of a turn, to the model of ``plan``."""
        ...


LAYOUTS: Mapping[str, Renderer] = {"layout/1": render}


class Promised(Pinned, Protocol):
    """The pinned texts and schemas of a debate, and the layout that it promised."""

    @property
    def layout(self) -> str:
        """The version of the layout."""
        ...


def lay_out(
    promised: Promised,
    case: Case,
    sources: Mapping[str, str],
    facts: Facts,
    turn: Turn,
    plan: SeatPlan | None = None,
) -> Request:
    """The request of a turn in the layout that the debate promised; raises `PromptMismatch` for an unknown layout."""
    if promised.layout not in LAYOUTS:
        raise PromptMismatch(
            f"the debate's requests are laid out by {promised.layout}, and this build has {', '.join(LAYOUTS)}; finish "
            "the debate with an image that has it"
        )
    return LAYOUTS[promised.layout](promised, case, sources, facts, turn, plan)


# The contents of a layout's file.


class Recorded(Struct, frozen=True, forbid_unknown_fields=True):
    """A debate of a layout's file. ``requests`` gives the SHA-256 of the request of each attempt, by the number of its
    entry."""

    name: str
    sources: dict[str, str]
    entries: tuple[msgspec.Raw, ...]
    requests: dict[str, str]


class LayoutFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The requests that hold one version."""

    layout: str
    debates: tuple[Recorded, ...]


class Placeholders:
    """Placeholders for prompts and schemas: a layout fixes their places and not their words."""

    def text(self, prompt: str) -> str:
        """A text that names its id."""
        return f"The text of {prompt}."

    def schema(self, seat: str) -> dict[str, Any]:
        """A schema that names its seat."""
        return {"title": seat}


def differences(content: bytes) -> list[str]:
    """The requests that this build lays out in another way than a layout's file records, in words; empty if none."""
    held = msgspec.json.decode(content, type=LayoutFile)
    if held.layout not in LAYOUTS:
        return [f"expected {', '.join(LAYOUTS)} in a layout's file, found {held.layout[:40]!r}"]
    found = []
    for debate in held.debates:
        entries = [decode(bytes(entry), 1) for entry in debate.entries]
        requests = rendered(LAYOUTS[held.layout], debate.sources, entries)
        others = sorted({*requests.items()} ^ {*debate.requests.items()}, key=lambda one: int(one[0]))
        if others:
            found.append(
                f"the request at entry {others[0][0]} of the recorded debate {debate.name!r} is not as it was: these "
                f"requests are recorded under {held.layout}: give it a new version"
            )
    return found


def rendered(renderer: Renderer, sources: Mapping[str, str], entries: list[Entry]) -> dict[str, str]:
    """The SHA-256 of the request of each attempt in these entries, by the entry's number."""
    facts, found = Facts(), dict[str, str]()
    for n, entry in enumerate(entries):
        if isinstance(entry, TurnAsked):
            found[str(n)] = sha256(encode(_request(renderer, sources, entries[0], facts, entry))).hexdigest()
        facts.add(entry)
    return found


def _request(
    renderer: Renderer, sources: Mapping[str, str], received: Entry, facts: Facts, asked: TurnAsked
) -> Request:
    move = decide(facts)
    if not isinstance(received, CaseReceived) or not isinstance(move, Ask) or facts.started is None:
        raise PromptMismatch("expected whole debates in a layout's file, found something else; restore it")
    turn = next(turn for turn in move.turns if turn.id == asked.turn)
    plan = facts.started.seat(turn.seat).of(asked.model)
    return renderer(Placeholders(), received.case, sources, facts, turn, plan)
