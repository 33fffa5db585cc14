"""What a screener is shown: the texts of a case that any seat is shown in any round, each in a block with its name.

    the case                 question, answer under review, positions, and the documents of all rounds
    persona, instructions    the caller's texts for other seats, which a screener reads as data
    debater, stance, vote    the caller's names, stances and options
    output-schema            the caller's form of the outcome

So a passage that only one seat would read, or only in a later round, is read before the debate. What no model of a
debate reads (metadata, the reason of a forced debate) is not sent to a screener's vendor either.
"""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.model import Case, Turn
from service.debate.options import (
    Options,
    StancesOptions,
    debater_seats,
    debaters_of,
    instructions_of,
    personas_of,
    votes_of,
)
from service.debate.turns import SCREENER
from service.prompts.arguments import encoded
from service.prompts.fence import Block


def round_shown(case: Case, turn: Turn) -> int:
    """The round up to which a turn is shown the documents: its own, and for the screener the last."""
    return max((document.round for document in case.documents), default=0) if turn.id == SCREENER else turn.round


def screener_blocks(options: Options) -> Iterator[Block]:
    """The caller's texts beside the case, each with the seat that it is for."""
    for seat, persona in personas_of(options).items():
        yield Block("persona", {"seat": seat}, persona)
    instructions = dict[str, str]()
    for seat in (*debater_seats(options), "judge", "synthesizer"):
        if text := instructions_of(options, seat):
            instructions.setdefault(text, seat)
    for text, seat in instructions.items():
        yield Block("instructions", {"seat": seat}, text)
    for seat, debater in zip(debater_seats(options), debaters_of(options), strict=False):
        yield Block("debater", {"seat": seat}, debater.name)
        if debater.stance:
            yield Block("stance", {"seat": seat}, debater.stance)
    for vote in votes_of(options):
        yield Block("vote", {}, vote)
    if isinstance(options, StancesOptions) and options.output_schema is not None:
        yield Block("output-schema", {}, encoded(options.output_schema))
