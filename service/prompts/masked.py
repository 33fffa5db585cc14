"""The request of a decider that is asked once more with the flagged passages masked (`service.debate.masks`).

The recorded finding says which passages of which text they are, in code points of the stored text. So texts of the case
are masked before anything else is done to them, and what replies repeat of the passages afterwards. No other turn is
rendered so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from service.debate.ending import INJECTION
from service.debate.facts import Facts
from service.debate.masks import Masks, masked_case, masked_options, masked_sources
from service.debate.model import Case, Turn
from service.debate.suspicions import InjectionFound
from service.debate.turns import is_masked
from service.prompts.arguments import encoded
from service.prompts.fence import Block
from service.prompts.kept import once

_OF_THE_CASE = frozenset(
    {"question", "answer-under-review", "position", "document", "persona", "instructions", "new-evidence"}
)
"""The blocks that hold a text of the case, which is masked where it is stored, or ids."""
_NAMING = frozenset({"title", "label"})
"""The attributes that may hold words from outside; the others are ids and numbers."""


class Shown(NamedTuple):
    """What the request of a turn is rendered from. Without ``masks`` it is all as it is."""

    case: Case
    sources: Mapping[str, str]
    facts: Facts
    masks: Masks | None = None

    def blocks(self, given: Iterator[Block]) -> Iterator[Block]:
        """Blocks as this turn is shown them."""
        masks = self.masks
        return (_masked(block, masks) for block in given) if masks else given


def as_shown(case: Case, sources: Mapping[str, str], facts: Facts, turn: Turn) -> Shown:
    """What the request of a turn is rendered from: for a masked turn, all texts of the case without the passages."""
    found = facts.found.get(INJECTION.id)
    if not is_masked(turn.id) or not isinstance(found, InjectionFound) or facts.started is None:
        return Shown(case, sources, facts)
    room = sum(map(len, sources.values()))  # most of what it will keep
    masks = once(facts, "masks", (found,), partial(Masks, found.suspicions), lambda _: room)
    hidden = copy(facts)
    hidden.case = masked_case(case, masks)
    hidden.started = replace(facts.started, options=masked_options(facts.started.options, masks))
    return Shown(hidden.case, masked_sources(sources, masks), hidden, masks)


def _masked(block: Block, masks: Masks) -> Block:
    """A block without the words. One that is no text of the case holds JSON, and is masked within the texts of it."""
    named = {name: masks.said(v) if name in _NAMING else v for name, v in block.attributes.items()}
    text = block.text
    if block.kind not in _OF_THE_CASE:
        text = encoded(masks.view(msgspec.json.decode(text)))
    return Block(block.kind, named, text)
