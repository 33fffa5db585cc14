"""The common parts of replies: numbered statements with the citations that they rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.debate.findings import Citation

Conclusion = Literal["upheld", "modified", "rejected"]
ConfidenceLevel = Literal["HIGH", "MODERATE", "LOW"]
Basis = Literal["evidence", "reasoning"]
Movement = Literal["unchanged", "strengthened", "weakened", "reversed"]

Words = Annotated[str, Meta(min_length=1, max_length=20_000)]
Number = Annotated[int, Meta(ge=1, le=99)]
Score = Annotated[int, Meta(ge=1, le=10)]
Percent = Annotated[int, Meta(ge=0, le=100)]
"""A confidence or a quality: whole numbers, so that no decision compares floats."""


class Statement(Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """An argument: its number, its text and the citations it rests on.

    ``basis`` says whether it claims evidence; evidence without a citation counts as uncited.
    """

    n: Number
    text: Words
    citations: tuple[Citation, ...] = ()
    basis: Basis = "evidence"


def numbered(what: str, numbers: Sequence[int]) -> None:
    """Refuse numbers that are used twice: a reference by number must have one meaning."""
    if twice := sorted(n for n, times in Counter(numbers).items() if times > 1):
        raise ValueError(f"{what} must have distinct numbers, found {twice} more than once")
