"""The uncertainties of a moderation, by name: missing texts, blanks, omissions, struck evidence, open points."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import partial

from service.simulated.evidence import BearingSentence, Document
from service.simulated.framing import SIMULATED
from service.simulated.gaps import missing
from service.simulated.index import SHELF_CHARACTERS, Shelf
from service.simulated.locations import short_title
from service.simulated.passage_choice import Desk
from service.simulated.phrases import listed, upper

_ATTACHED = re.compile(
    r"\b(?P<kind>Exhibit|EXHIBIT|Schedule|SCHEDULE|Annex|ANNEX|Appendix|APPENDIX|Addendum|"
    r"Attachment)\s+(?P<no>[A-Z]{0,2}\d{0,2}[A-Z]?)(?![\w])"
)
_AGREEMENT = re.compile(
    r"\b(?:[A-Z][a-z]+(?: (?:and|of|&) (?=[A-Z]))?\s?){1,4}(?:Agreement|Policy|Standard|Act|Handbook)\b"
)
_OWN = re.compile(r"^(?:This|The|An?|Each|Any|Such|Said|Under|Of|In|Both|Except|If|By|Section)\s+")
_BLANK = re.compile(r"\[\s?\*+\s?\]|\[●\]|_{5,}|\[_+\]|\bTBD\b")


def uncertainties(
    desk: Desk, cited: Sequence[BearingSentence], open_points: Sequence[str], struck: int, most: int
) -> tuple[str, ...]:
    """The uncertainties, the most specific first; the last says that this is a simulation."""
    found: list[str] = []
    if not desk.documents:
        found.append("No document was supplied; nothing that was said can be checked.")
    if absent := absent_texts(desk.documents, cited):
        found.append(
            f"{upper(listed(absent))} {'is' if len(absent) == 1 else 'are'} referred to but not "
            f"among the documents supplied."
        )
    lacking = [item.remedy for side in (-1, 1) for item in missing(desk, side)[:2]]
    if lacking:
        found.append(f"The documents supplied do not show {listed(lacking)}.")
    if disputed := _figures_apart(cited):
        found.append(disputed)
    if blanks := sum(len(_BLANK.findall(d.text)) for d in desk.documents):
        found.append(f"The documents hold {blanks} blanked or open places, and what stood there may matter.")
    if struck:
        found.append(
            f"{struck} argument{'s' if struck > 1 else ''} had to be struck because the citation could not be verified."
        )
    found += [f"It is open whether {point}." for point in open_points[:1]]
    return (*tuple(dict.fromkeys(found))[: max(1, most)], SIMULATED)


def absent_texts(documents: Sequence[Document], cited: Sequence[BearingSentence]) -> list[str]:
    """Missing texts to which the documents refer; those that the cited passages name come first."""
    named = [name for e in cited for name in _references(e.quote)]
    often: Counter[str] = Counter()
    for d in documents:
        often.update(_REFERRED.get(d.text, len(d.text), partial(_referred, d.text)))
    candidates = dict.fromkeys([*named, *(n for n, times in often.most_common(12) if times >= 2)])
    return [
        f"the {n}" if n.endswith(("Agreement", "Policy", "Standard", "Act", "Handbook")) else n
        for n in candidates
        if not _supplied(n, documents)
    ][:3]


_REFERRED: Shelf[str, Counter[str]] = Shelf(SHELF_CHARACTERS)


def _referred(text: str) -> Counter[str]:
    """The number of references in a document to each text; computed once for all turns of a debate."""
    return Counter(_references(text[:300_000]))


def _references(text: str) -> list[str]:
    found = [f"{m['kind'].capitalize()} {m['no']}" for m in _ATTACHED.finditer(text) if m["no"]]
    for m in _AGREEMENT.finditer(text):
        name = _OWN.sub("", " ".join(m[0].split()))
        if name.count(" ") >= 1 and not name.split()[0].isupper():
            found.append(name)
    return found


def _supplied(name: str, documents: Sequence[Document]) -> bool:
    """Whether a document is the named text, or holds it under a heading of its own."""
    bare = name.lower()
    heading = re.compile(rf"^\W{{0,4}}{re.escape(name)}\b(?!.{{0,12}}\d+$)", re.IGNORECASE | re.MULTILINE)
    for d in documents:
        if (
            bare in d.title.lower()
            or short_title(d.title).lower() in bare
            or bare in " ".join(d.text[:600].split()).lower()
        ):
            return True
        if heading.search(d.text):
            return True
    return False


_UNIT = re.compile(r"(percent|per cent|%|times|USD|days|hours|months|years|minutes|milliseconds)")


def _figures_apart(cited: Sequence[BearingSentence]) -> str | None:
    """Two cited passages of different documents that give figures of one kind for the same words."""
    for i, one in enumerate(cited):
        for other in cited[i + 1 :]:
            if one.source_id == other.source_id or len(one.shared & other.shared) < 2:
                continue
            for a in one.figures:
                unit = _UNIT.search(a)
                match = next((b for b in other.figures if unit and unit[0] in b and a != b), None)
                if match:
                    return (
                        f"{upper(one.brief)} gives {a} where {other.brief} gives {match}; which of them "
                        f"governs is not decided by the documents alone."
                    )
    return None
