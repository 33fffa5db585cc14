"""Coverage in sentences: names of ranges of parts, and a sentence for each document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from service.checks.coverage.shape import DocumentCoverage, UncitedRange

MOST_RANGES = 12
"""The most ranges that a sentence names, the longest ones; the others are counted."""
OPENING = "the opening"
"""The name of the text before the first named part."""
_LONGEST_TITLE = 60
_PLURALS = {"Annex": "Annexes", "Appendix": "Appendices", "§": "§§"}


def name_range(word: str, first: str, last: str, of: str, members: int) -> str:
    """A range in words: ``Sections 9 to 12``, ``Article IV``, ``Sections 1 and 2 of Exhibit A``."""
    return _together(word, _numerals(first, last, members), of)


def shorten(title: str) -> str:
    """A title, cut to a length that fits a sentence."""
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1].rstrip()}…"


def name_parts(ranges: Sequence[UncitedRange], most: int = MOST_RANGES) -> str:
    """Ranges together: ``the opening, Sections 1, 3 to 5 and 11, and Annex C``.

    Of more than ``most`` the longest are named, in the order of the document, and the others are counted.
    """
    longest = sorted(range(len(ranges)), key=lambda i: ranges[i].span[0] - ranges[i].span[1])[:most]
    named = [ranges[i] for i in sorted(longest)]
    groups = []
    for (word, of), group in groupby(named, key=lambda r: (r.word, r.of)):
        numerals = [n for r in group for n in _numerals(r.first, r.last, r.members)]
        groups.append(_together(word, numerals, of))
    if more := len(ranges) - len(named):
        groups.append(f"{more:,} shorter {'part' if more == 1 else 'parts'}")
    return _listed(groups, comma=any(", " in group or " and " in group for group in groups[:-1]))


def part_of_all(per_mille: int) -> str:
    """A share from 0 to 1 in words: ``0.14``, ``0.004``, and ``all`` for 1."""
    return "all" if per_mille == 1_000 else f"{per_mille / 1_000:.3f}".rstrip("0").rstrip(".")


def name_document(c: DocumentCoverage) -> str:
    """``Master agreement (D1)``, or the id alone if the title adds nothing to it."""
    return c.document_id if c.title in ("", c.document_id) else f"{c.title} ({c.document_id})"


def sentence(c: DocumentCoverage, most: int = MOST_RANGES) -> str:
    """The sentence on a document's parts that were never cited."""
    name = name_document(c)
    if not c.given:
        return f"{name} was given to nobody: the debate ended before round {c.round}."
    if not c.citations:
        return f"Nobody cited anything from {name}."
    if not c.never_cited_parts:
        return f"{name}: every part was cited at least once."
    one = len(c.never_cited_parts) == c.never_cited_parts[0].members == 1
    return f"{name}: {name_parts(c.never_cited_parts, most)} {'was' if one else 'were'} never cited."


def brief(c: DocumentCoverage, most: int = MOST_RANGES) -> str:
    """The same in fewer words, for a place beside the document's name."""
    if not c.given:
        return f"given to nobody: the debate ended before round {c.round}"
    if not c.citations:
        return "nothing of it was cited"
    share = f"{part_of_all(round(c.cited_share * 1_000))} of the text was cited"
    if not c.never_cited_parts:
        return f"{share}; every part at least once"
    return f"{share}; never cited: {name_parts(c.never_cited_parts, most)}"


def _numerals(first: str, last: str, members: int) -> list[str]:
    if members == 1:
        return [first]
    return [first, last] if members == 2 else [f"{first} to {last}"]


def _together(word: str, numerals: Sequence[str], of: str) -> str:
    several = len(numerals) > 1 or " to " in numerals[0]
    noun = _PLURALS.get(word, f"{word}s") if several and word else word
    holder = f" of {of}" if of else ""
    return f"{noun} {_listed(numerals)}".strip() + holder


def _listed(items: Sequence[str], *, comma: bool = False) -> str:
    """``a``, ``a and b``, ``a, b and c``; with a comma before the last if the items hold commas themselves."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])}{',' if comma else ''} and {items[-1]}"
