"""Words that an ellipsis may not stand for, because the words around it would get another sense.

a turn or a limit     a negation, exception, condition, limit, or a verb that takes back its object (waives, denies)
a number              in digits or words
a modal               right before the words after the dots: "shall" of "The Supplier … pay"
a new clause          a sentence that begins behind the dots, or "and the Customer shall": the words after the dots
                      would get another subject. Whole sentences may be left out, and the end of one
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from service.checks.citations.text.cue_words import MODALS, NEGATIONS, NUMBERS
from service.checks.citations.text.fold import Folded
from service.checks.patterns import lazily

_TURNS = lazily(
    r"\b(?:not|no|non|nor|never|neither|none|nothing|nobody|nowhere|cannot|without|unless|except\w*|exclu[ds]\w+|hardly"
    r"|scarcely|barely|rarely|seldom|save (?:for|that|as)|other than|rather than|instead"
    r"|in lieu|notwithstanding|despite"
    r"|fail(?:s|ed|ing|ure)?|lack\w*|unable|inability|absen(?:t|ce)|free (?:of|from)|contrary|purport\w*|alleg\w+"
    r"|(?:prohibit|forbid|refus|declin|disclaim|waiv|exempt|prevent|preclud|reject|ceas|avoid"
    r"|revok|revoc|cancel|suspend"
    r"|restrict|withdr[ae]w|oppos|object|repudiat|rescind|limit|condition|conting|exceed|optional)\w*"
    r"|den(?:y|ies|ied|ial)|terminate[sd]?|void|invalid\w*|unlawful\w*|illegal\w*|if|whether|provided|providing|in case"
    r"|in the event|so long as|as long as|to the extent|in ?so ?far|subject to|until|till"
    r"|within|prior|before|after|only"
    r"|solely|exclusively|merely|partly|partial\w*|temporar\w+|maximum|minimum|at (?:least|most)|less|fewer|least|most"
    r"|more than|greater|higher|lower|later|earlier|up to)\b|n't\b"
)
_DENYING = NEGATIONS - frozenset(
    "unless except excepting excluding excluded excludes exclude only save notwithstanding until".split()
) | {"n't"}
_COUNTED = NUMBERS | frozenset("once twice thrice half double triple zero nil".split())
_NUMBER = lazily(rf"\d|\b(?:{'|'.join(sorted(_COUNTED - {'one'}))}|one(?! (?:or|of|another)\b))\b")
_AUXILIARY = "|".join(sorted(MODALS | frozenset("is are was were be has have had does do did".split())))
_NEW_CLAUSE = lazily(rf"\b(?:and|or|but|while|whereas)\b(?=.*?(?<!that )(?<!which )(?<!who )\b(?:{_AUXILIARY})\b)")
_DRESS = r"[ ,:;\"'*_(\[-]*(?:\(?(?:[a-z]{1,4}|\d{1,2})[).] ?)?"
"""Characters that may stand between the hidden words and those after the dots: marks, and the mark of a list item."""
_ENDS_IN_MODAL = lazily(rf"\b(?:{'|'.join(sorted(MODALS))})(?: (?:be|have|been|\w+ly|also|then))*{_DRESS}$")
_NEW_SUBJECT = lazily(
    r"\b(?:and|but|while|whereas) (?:the|an?|its|his|her|their|our|your|such|each|every|any|all|this|that|these|those"
    r"|it|they|he|she|we|you)\b(?: [\w-]+){0,4}" + _DRESS + "$"
)
_VERB_FIRST = lazily(rf"[ \"'*_]*(?:(?:{_AUXILIARY})\b|[a-z]{{3,}}(?:[^s\W]s|ed)\b)")
_ENDS = lazily(r"(\w*)([.!?;])[\"')\]*_]* ")
_ABBREVIATED = frozenset("inc corp ltd co no nos art sec mr mrs ms dr vs st al eg ie cf para cl vol ed approx".split())
_MARKS = " \"'()[]*_-"


class Turn(NamedTuple):
    """Why a quotation may not omit a text: the kind of edit that it would be, and the words that decide, as folded."""

    kind: Literal["negation", "limit", "number", "modal", "subject"]
    span: tuple[int, int]


def hidden_turn(folded: Folded, start: int, end: int) -> Turn | None:
    """The words for which a quotation may not omit the text from one folded offset to another, or ``None``."""
    hidden = folded.text[start:end]
    if turns := list(_TURNS.finditer(hidden)):
        negations = [found for found in turns if found.group() in _DENYING]
        first = (negations or turns)[0]
        return Turn("negation" if negations else "limit", _at(start, first.span()))
    if number := _NUMBER.search(hidden):
        return Turn("number", _at(start, number.span()))
    if modal := _ENDS_IN_MODAL.search(hidden):
        return Turn("modal", _at(start, modal.span()))
    if _begins_sentence(folded.text, end):
        return None
    if clause := _NEW_CLAUSE.search(hidden):
        return Turn("subject", (start + clause.start(), end))
    if (begins := _hidden_beginning(folded, start, end)) is not None:
        return Turn("subject", (begins, end))
    subject = _NEW_SUBJECT.search(hidden)
    return Turn("subject", _at(start, subject.span())) if subject and _VERB_FIRST.match(folded.text, end) else None


def _at(start: int, span: tuple[int, int]) -> tuple[int, int]:
    return start + span[0], start + span[1]


def _begins_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - 8) : at].rstrip(_MARKS)
    return before[-1] in ".!?;:" if before else at <= 8


def _hidden_beginning(folded: Folded, start: int, end: int) -> int | None:
    """Where a sentence begins in a stretch that goes on after it, or ``None``."""
    text = folded.text
    for match in _ENDS.finditer(text, max(0, start - 3), end):
        word, mark = match[1], match[2]
        begins = match.end()
        while begins < end and text[begins] in _MARKS:
            begins += 1
        if begins >= end:
            continue
        if mark != ";" and (len(word) < 2 or word in _ABBREVIATED or not folded.printed(begins).isupper()):
            continue
        return begins
    return None
