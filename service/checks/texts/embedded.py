"""Quotations as running text has them, where the citation engine expects a passage on its own.

    shall not "be liable for indirect loss"      the negation stands outside, in the author's own words
    "general knowledge, skills and ideas"        no verb: the words state nothing that a negation before them turns
    "view such data [of employees] on screen"    an explanation in square brackets, without a negation or a number
    "No data were lost … At 09:17 it ended"      dots over a number, or over whole sentences that limit nothing
    "Access to [them] requires approval"         a pronoun in brackets in place of the document's words

A citation has none of these licences: it is evidence by itself. Words are *true* where such a licence holds. They are
*visible* where dots or brackets show a reader that something is left out or replaced, and code cannot tell whether that
matters. Dots over a negation have no licence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

from service.checks.citations.match.find import LONGEST_GAP
from service.checks.citations.text.clause_names import PLACE
from service.checks.citations.text.cue_words import CRITICAL, MODALS, ORDINALS, is_negation
from service.checks.citations.text.fold import fold
from service.checks.citations.text.omissions import hidden_turn
from service.checks.patterns import lazily
from service.checks.texts.attribution import Context
from service.debate.findings import CitationVerdict, Edit

Licence = Literal["true", "visible"]
Known = Callable[[str], bool]
_CUT = "negation cut off"
_NEGATIONS = frozenset(
    "not no nor never neither none nothing cannot without unless excludes excluded excluding prohibits prevents".split()
)
_WORDS_BEFORE = 8
_VERB = lazily(
    r"\b(?:shall|must|may|might|can|could|will|would|should|is|are|was|were|has|have|had|does|do|did|cannot|ought)\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
_STATED = lazily(
    r"\b(?:shall|must|may|might|can|could|will|would|should|is|are|was|were|has|have|had|does|do|did|cannot|not|"
    r"no|never|"
    r"without|unless|all|any|unlimited|limited)\b|\d|%|\u20ac|\$|\u00a3",
    re.IGNORECASE,
)
_EXPLAINED = lazily(r" ?\[([^\[\]]{2,80})\]")
_CLAUSE = lazily(PLACE, re.IGNORECASE)
_PRONOUNS = lazily(
    r"(?:it|its|they|them|their|theirs|this|that|these|those|such|which|there|here|one|"
    r"ones|same)",
    re.IGNORECASE,
)
_DOTS = lazily(r" ?\[(?:(?:\.\.+|\u2026) ?(?:and|or)? ?)+\] ?", re.IGNORECASE)
"""Dots in brackets, also around a connecting word: [… and …]."""
_TELLING = lazily(
    r"\b(?!(?:the|and|not|for|are|was|has|its|any|all|but|may|can|that|this|with|shall|must)\b)[^\W\d_]{3,}"
)
_FEW = 60
_REFERS_BACK = lazily(
    r"(?:this|that|these|those|it|they|such|however|but|except|unless|notwithstanding|subject|provided|only|"
    r"the foregoing)\b",
    re.IGNORECASE,
)
_LIMITS = lazily(
    r"(?:if|whether|provid|in case|in the event|to the extent|subject|unless|except|only|solely|limit)", re.IGNORECASE
)
_CONDITIONS = lazily(
    r"\b(?:if|unless|except\w*|sav(?:e|ing)|subject|provid(?:ed|ing)|only|solely|without|until|in case|in the event|"
    r"to the extent|so long as|as long as|where)\b",
    re.IGNORECASE,
)
_BOUND = lazily(r"\b(?:at (?:least|most)|up to|within|before|after)\b", re.IGNORECASE)
"""Bounds that turn nothing: at least nine months' notice, before an account is opened."""
_BOUNDS = lazily(
    r"\b(?:no|not) (?:more|less|later|fewer|earlier|longer|greater|higher|lower|sooner) than\b|\Awithout\b",
    re.IGNORECASE,
)
"""Bounds of an amount, and a manner, which turn no verb: no more than the index, without a written reason."""
_MOST_WORDS = 16
_SHORTEST = 2
_SHORTEST_STATED = 3


def is_statement(words: str, *, directly: bool, beside: bool) -> bool:
    """Whether a few quoted words state something, or stand right behind a verb of saying; a term does neither.

    ``beside`` says that a document's name and a colon or a bracket lead to them, where two words may be its title.
    """
    count = len(words.split())
    least = _SHORTEST if beside else _SHORTEST_STATED
    return (directly and count >= _SHORTEST) or (count >= least and _STATED.search(words) is not None)


def licence(verdict: CitationVerdict, words: str, around: Context) -> Licence | None:
    """What quoted words owe to the document that the verdict found, in view of the sentence that they stand in."""
    if verdict.verdict == "verified":
        return "true"
    material = [edit for edit in verdict.edits if edit.material]
    if not material or verdict.verdict != "altered":
        return None
    if all(edit.to == "\u2026" for edit in material):
        hidden = [_hides(edit, verdict.text or "") for edit in material]
        return None if None in hidden else "visible" if "visible" in hidden else "true"
    if any(edit.kind != _CUT for edit in material):
        return None
    before = around.before.lower().replace("\u2019", "'").split()[-_WORDS_BEFORE:]
    turned = any(word.strip(".,;:\"'()") in _NEGATIONS or word.endswith("n't") for word in before)
    return "true" if turned or _VERB.search(words) is None else None


def _hides(edit: Edit, passage: str) -> Licence | None:
    """What dots may hide in a text that they may not hide in a citation.

    A number, whole sentences that limit nothing, and a few words that turn nothing leave the passage true. Neither a
    negation, a condition nor an exception is ever hidden. A reader sees that anything else is hidden, and code cannot
    say whether it misleads.
    """
    hidden = fold(edit.from_)
    turn = hidden_turn(hidden, 0, len(hidden.text))
    few = len(edit.from_) <= _FEW
    at = passage.find(edit.from_)
    before, after = passage[:at].rstrip(), passage[at + len(edit.from_) :].lstrip()
    whole = at > 0 and before[-1:] in (".", "!", "?") and after[:1] in (".", "!", "?")
    if edit.kind == "number" or (whole and not (_REFERS_BACK.match(edit.from_) or _limits(edit))):
        return "true"
    if few and edit.kind == "splice" and (turn is None or turn.kind == "number"):
        return "true"
    if few and edit.kind == "limit" and _is_bound(edit.from_):
        return "true"
    if few and edit.kind == "subject" and not edit.from_[:1].isupper():
        return "true"
    rest = _BOUNDS.sub(" ", edit.from_) if few else edit.from_
    if rest != edit.from_:
        hidden = fold(rest)
        turn = hidden_turn(hidden, 0, len(hidden.text))
    if (
        whole
        and edit.kind == "negation"
        and not _REFERS_BACK.match(edit.from_)
        and not _shares(edit.from_, passage[:at])
    ):
        return "visible"
    denied = (edit.kind == "negation" and rest == edit.from_) or (turn is not None and turn.kind == "negation")
    long = len(edit.from_) > LONGEST_GAP
    return None if denied or long or _CONDITIONS.search(rest) else "visible"


def _limits(edit: Edit) -> bool:
    """Whether hidden sentences may limit or turn what stands beside them."""
    return edit.kind == "negation" or (edit.kind == "limit" and _LIMITS.match(edit.because or edit.from_) is not None)


def _shares(hidden: str, before: str) -> bool:
    """Whether hidden sentences speak of what stands before them, so that their negation may turn it."""
    return bool(set(_TELLING.findall(hidden.lower())) & set(_TELLING.findall(before.lower())))


def _is_bound(hidden: str) -> bool:
    """Whether hidden words limit nothing but a time or an amount, as a hidden number does."""
    rest = fold(_BOUND.sub(" ", hidden))
    turn = hidden_turn(rest, 0, len(rest.text))
    return turn is None or turn.kind == "number"


def without_explanations(words: str) -> Iterator[tuple[str, Licence]]:
    """The words without what square brackets add, explain or replace, and what they are if a document has them so.

    The brackets have no negation and no modal, but may name a clause. A figure in them a reader sees as added, but at
    the end of the words it may stand for the document's own. They may stand for an article, and a pronoun for any
    words. That other words are replaced a reader sees. Nothing if there are no such brackets.
    """
    given, words = words, _DOTS.sub(" \u2026 ", words)
    forms: list[tuple[str, Licence]] = [(words, "true")]
    forms += [(_explained(words, form, _never), "true") for form in ("", " a", " the")]
    forms.append((_explained(words, "", lambda _: True, ORDINALS.__contains__), "visible"))
    only_pronouns = all(_PRONOUNS.fullmatch(found[1]) for found in _EXPLAINED.finditer(words))
    forms.append((_explained(words, " \u2026 ", _never), "true" if only_pronouns else "visible"))
    yield from ((form, licensed) for form, licensed in forms if form != given)


def _never(_word: str) -> bool:
    return False


def _explained(words: str, form: str, known: Known, at_end: Known = _never) -> str:
    """The words with a form in place of brackets whose figures are known; ``at_end`` judges those at the words' end."""

    def instead(found: re.Match[str]) -> str:
        rest = words[found.end() :]
        if not _explains(found[1], known if re.search(r"\w", rest) else at_end):
            return found.group()
        return form or (" " if rest[:1].isalnum() and found.group()[0] == " " else "")

    return _EXPLAINED.sub(instead, words)


def _explains(inside: str, has_word: Known) -> bool:
    added = re.findall(r"[\w'\u2019]+", _CLAUSE.sub(" clause ", inside).lower())
    return 0 < len(added) <= _MOST_WORDS and all(_adds_nothing(word, has_word) for word in added)


def _adds_nothing(word: str, has_word: Known) -> bool:
    if is_negation(word) or word in MODALS:
        return False
    return has_word(word) if word in CRITICAL or any(map(str.isdigit, word)) else True
