"""The replies of the ballot format's seats: a stance, its rationale, and a vote, in every phase."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from service.debate.replies.parts import Statement, Words, numbered


class Ballot(
    Struct,
    frozen=True,
    rename="camel",
    tag="ballot.debater",
    tag_field="seat",
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """One turn of a debater. Code reads ``vote``: a name that is none of the case's options is an abstention."""

    stance: Words
    rationale: Annotated[tuple[Statement, ...], Meta(min_length=1)]
    vote: Annotated[str, Meta(max_length=200)]

    def __post_init__(self) -> None:
        numbered("rationale", [a.n for a in self.rationale])
