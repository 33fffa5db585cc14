"""The numbers of verified and other citations, and of struck arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from service.debate.findings import ArgumentVerdict


class CitationCounts(Struct, frozen=True, kw_only=True, rename="camel"):
    """Citations by verdict, of all seats and takes, as far as they were checked.

    ``unchecked`` are the citations of a case without documents, which were compared with nothing.
    ``uncited`` counts the arguments that claim evidence and cite none, ``struck`` all struck arguments, these included.
    """

    verified: int
    altered: int
    too_short: int
    not_found: int
    unchecked: int
    uncited: int
    struck: int


def count_citations(arguments: Iterable[ArgumentVerdict]) -> CitationCounts:
    """Count the verdicts on these arguments."""
    verdicts: Counter[str] = Counter()
    strikes: Counter[str] = Counter()
    for argument in arguments:
        verdicts.update(v.verdict for v in argument.verdicts)
        strikes.update([argument.struck] if argument.struck else [])
    return CitationCounts(
        verified=verdicts["verified"],
        altered=verdicts["altered"],
        too_short=verdicts["too_short"],
        not_found=verdicts["not_found"],
        unchecked=verdicts["unchecked"],
        uncited=strikes["uncited"],
        struck=strikes.total(),
    )
