"""Quotations as running text has them, where the citation engine expects a passage on its own.

    shall not "be liable for indirect loss"      the negation stands outside, in the author's own words
    "general knowledge, skills and ideas"        no verb: the words state nothing that a negation before them turns
    "view such data [of employees] on screen"    an explanation in square brackets, without a negation or a number
    "No data were lost … At 09:17 it ended"      dots over a number, or over whole sentences that limit nothing

A citation has none of these licences: it is evidence by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from service.checks.citations.text.cue_words import CRITICAL, is_negation
from service.checks.citations.text.fold import fold
from service.checks.citations.text.omissions import hidden_turn
from service.checks.texts.attribution import Context
from service.debate.findings import CitationVerdict, Edit

_CUT = "negation cut off"
_NEGATIONS = frozenset(
    "not no nor never neither none nothing cannot without unless excludes excluded excluding prohibits prevents".split()
)
_WORDS_BEFORE = 8
_VERB = re.compile(
    r"\b(?:shall|must|may|might|can|could|will|would|should|is|are|was|were|has|have|had|does|do|did|cannot|ought)\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
_STATED = re.compile(
    r"\b(?:shall|must|may|might|can|could|will|would|should|is|are|was|were|has|have|had|does|do|did|cannot|not|"
    r"no|never|"
    r"without|unless|all|any|unlimited|limited)\b|\d|%|\u20ac|\$|\u00a3",
    re.IGNORECASE,
)
_EXPLAINED = re.compile(r" ?\[([^\[\]]{2,80})\]")
_FEW = 60
_REFERS_BACK = re.compile(
    r"(?:this|that|these|those|it|they|such|however|but|except|unless|notwithstanding|subject|provided|only|"
    r"the foregoing)\b",
    re.IGNORECASE,
)
_LIMITS = re.compile(
    r"(?:if|whether|provid|in case|in the event|to the extent|subject|unless|except|only|solely|limit)", re.IGNORECASE
)
_MOST_WORDS = 6
_SHORTEST = 2
_SHORTEST_STATED = 3


def is_statement(words: str, directly: bool) -> bool:
    """Whether a few quoted words state something, or stand right behind a verb of saying; a term does neither."""
    count = len(words.split())
    return (directly and count >= _SHORTEST) or (count >= _SHORTEST_STATED and _STATED.search(words) is not None)


def is_embedded(verdict: CitationVerdict, words: str, around: Context) -> bool:
    """Whether all that refused the words is how they stand in a sentence of the author's own."""
    material = [edit for edit in verdict.edits if edit.material]
    if not material or verdict.verdict != "altered":
        return False
    if all(edit.to == "\u2026" and _may_be_hidden(edit, verdict.text or "") for edit in material):
        return True
    if any(edit.kind != _CUT for edit in material):
        return False
    before = around.before.lower().replace("\u2019", "'").split()[-_WORDS_BEFORE:]
    turned = any(word.strip(".,;:\"'()") in _NEGATIONS or word.endswith("n't") for word in before)
    return turned or _VERB.search(words) is None


def _may_be_hidden(edit: Edit, passage: str) -> bool:
    """Whether dots may hide in a text what they may not hide in a citation.

    That is a number, whole sentences that deny and limit nothing, and a few words beside a short piece.
    """
    if edit.kind == "splice":
        hidden = fold(edit.from_)
        return len(edit.from_) <= _FEW and hidden_turn(hidden, 0, len(hidden.text)) is None
    if edit.kind == "subject":
        return len(edit.from_) <= _FEW and not edit.from_[:1].isupper()
    if edit.kind != "limit":
        return edit.kind == "number"
    at = passage.find(edit.from_)
    before, after = passage[:at].rstrip(), passage[at + len(edit.from_) :].lstrip()
    whole = at > 0 and before[-1:] in (".", "!", "?") and after[:1] in (".", "!", "?")
    return whole and not _REFERS_BACK.match(edit.from_) and not _LIMITS.match(edit.because or edit.from_)


def without_explanations(words: str) -> tuple[str, ...]:
    """The words without what square brackets add and explain: no negation, number, date, amount or modal.

    An explanation may stand for an article of the document's. Empty if there is none.
    """
    forms = (_EXPLAINED.sub(_instead(article), words) for article in ("", " a", " the"))
    return tuple(form for form in dict.fromkeys(forms) if form != words)


def _instead(article: str) -> Callable[[re.Match[str]], str]:
    return lambda found: article if _explains(found[1]) else found.group()


def _explains(inside: str) -> bool:
    added = re.findall(r"[\w'\u2019]+", inside.lower())
    return 0 < len(added) <= _MOST_WORDS and not any(
        word in CRITICAL or is_negation(word) or any(map(str.isdigit, word)) for word in added
    )
