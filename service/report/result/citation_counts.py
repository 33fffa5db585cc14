"""The numbers of verified and other citations, and of struck arguments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from service.debate.findings import ArgumentVerdict


class CitationCounts(Struct, frozen=True, kw_only=True, rename="camel"):
    """Citations by verdict, of all seats and takes, as far as they were checked."""

    verified: int
    """The number of citations whose words stand in the document."""
    altered: int
    """The number of citations with a material change."""
    too_short: int
    """The number of citations with too few words to compare."""
    not_found: int
    """The number of citations whose words stand nowhere."""
    unchecked: int
    """The number of citations of a case without documents, which were compared with nothing."""
    uncited: int
    """The number of arguments that claim evidence and cite none."""
    struck: int
    """The number of struck arguments, these included."""


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
