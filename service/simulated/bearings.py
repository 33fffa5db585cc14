"""The side of a sentence beyond its own words: the option it speaks of, the party that owes, the text that prevails.

an advantage of another option             counts against the one proposed, a drawback for it
a duty of the other party                  does not show the liability of the party in question
"X prevails over Y"                        helps the side that has its evidence in X
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from service.simulated.tables.row import Rule, row
from service.simulated.words import terms, topic_terms

_OPTION = re.compile(r"\b[Oo]ption\s+([A-Z0-9]{1,2})\b")
_DECIDED = re.compile(r"\b(?:adopt|choose|chose|select|selected|decided (?:on|for))\s+option\s+([A-Z0-9]{1,2})\b")
_KEPT_OPEN = re.compile(r"\b(?:stays?|remains?|kept|keeps?) (?:open|possible|available)\b")
_OWES = re.compile(r"\b(?:[Tt]he )?(?P<who>[A-Z]\w+)[’']s\b[^.]{0,40}\bliabilit")
_OBLIGED = re.compile(r"^(?:The |Each )?(?P<who>[A-Z][\w-]+)\b.{0,60}?\b(?:shall|will|must|agrees)\b")
_PREVAILS = re.compile(
    r"(?P<upper>[^.;:]{3,80}?)\s+(?:prevails?|supersedes?|shall (?:control|govern)|"
    r"takes? precedence|amends|overrides)\b"
)
_NAMED = re.compile(
    r"\b(?:Annex|Schedule|Exhibit|Appendix|Section|Clause|Order Form|Amendment|Addendum)(?:\s[A-Z0-9][\w.]*)?"
)

RIVAL_BETTER = row(
    "rival better",
    "",
    -4,
    "credits another option with an advantage",
    "the choice gives that advantage up | on that measure the choice is the weaker one",
    "An advantage on one measure has to be weighed with what that option costs on the others.",
)
RIVAL_WORSE = row(
    "rival worse",
    "",
    +3,
    "names a drawback of another option",
    "the choice avoids it | the alternatives carry burdens of their own",
    "A drawback of one alternative is not a merit of the choice.",
)
HIGHER_TEXT = row(
    "higher text",
    "",
    +4,
    "gives this text the last word",
    "what it says stands where the two conflict | the other text gives way to it",
    "A rule of precedence decides only where the two texts really conflict.",
)


class Passage(Protocol):
    """The properties of a piece of evidence that decide its side."""

    @property
    def quote(self) -> str: ...
    @property
    def heading(self) -> str: ...
    @property
    def cues(self) -> frozenset[str]: ...
    @property
    def rule(self) -> Rule | None: ...
    @property
    def side(self) -> int: ...


def own_option(subject: str, passages: Sequence[tuple[str, str]]) -> str | None:
    """The label of the option that a proposition is about, or ``None`` if the documents name no options.

    ``passages`` are (label, defining sentence). A label in the subject decides; else the definition that shares most.
    """
    named = set(_OPTION.findall(subject))
    labels = {label for label, _ in passages}
    if len(labels) < 2:
        return None
    if len(named & labels) == 1:
        return str(min(named & labels))
    wanted = topic_terms(subject)
    shared = sorted(((len(wanted & terms(text)), label) for label, text in passages), reverse=True)
    (most, first), (next_most, _) = shared[0], shared[1]
    return first if most > next_most else None


def definitions(sentences: Sequence[str]) -> list[tuple[str, str]]:
    """The first sentence that opens with each option's label."""
    found: dict[str, str] = {}
    for text in sentences:
        if (label := _OPTION.match(text)) and label[1] not in found:
            found[label[1]] = text
    return list(found.items())


def decided_option(sentences: Sequence[str]) -> str | None:
    """The option that the documents decide for; consequences of the decision are consequences of that option."""
    found = {m[1] for text in sentences for m in [_DECIDED.search(text)] if m}
    return min(found) if len(found) == 1 else None


def named_options(text: str) -> list[str]:
    """The labels of the options that a text names, in their order."""
    return [str(label) for label in _OPTION.findall(text)]


def speaks_of(own: str | None, text: str) -> bool:
    """Whether a sentence names the option."""
    return own is not None and own in _OPTION.findall(text)


def is_rival(own: str | None, decided: str | None, passage: Passage) -> bool:
    """Whether a sentence speaks of another option than the one proposed, and not of that one."""
    if own is None:
        return False
    if _KEPT_OPEN.search(passage.quote):
        return decided is not None and decided != own  # the decided option keeps another one open
    labels = set(_OPTION.findall(passage.quote)) or set(_OPTION.findall(passage.heading.replace("OPTION", "option")))
    if not labels and decided and passage.cues & {"in decision", "in consequences"}:
        labels = {decided}
    return bool(labels) and own not in labels


def owed_by_another(thesis: str, quote: str) -> bool:
    """Whether a duty is that of a party other than the one whose liability is in question."""
    owes = _OWES.search(thesis)
    obliged = _OBLIGED.match(quote)
    if not owes or not obliged or obliged["who"] == owes["who"]:
        return False
    return owes["who"] in quote


def prevailing(quote: str) -> tuple[str, ...]:
    """The names of the text that a sentence lets prevail."""
    found = _PREVAILS.search(" ".join(quote.split()))
    if not found:
        return ()
    upper = found["upper"].rpartition(", ")[2]
    if re.search(r"\bthis (?:Section|Order Form|Amendment|Addendum|Agreement)\b", upper):
        return ("this text",)
    return tuple(_NAMED.findall(upper))
