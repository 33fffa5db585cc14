"""How a sentence gives the words that it quotes: as a document's, as a participant's, or not for certain as another's.

    stated      it says plainly, in the indicative, that a clause which exists has them: only a denial behind excuses
    reported    it says so of a document, or a document's name stands right beside them
    spoken      it gives them as a participant's: no mood of the sentence excuses them
    asserted    it names a document or rests on them, they are nearly a document's, and no sign of a draft is near
    else        a wish, a draft or a denial excuses them, or it is unclear whether they are another's

Marked are those of the first four that have a strong form in a plain sentence (`strong`).
"""

from __future__ import annotations

from typing import NamedTuple

from service.checks.citations.text.quoted_words import QUOTED_WORDS, Quotation
from service.checks.texts.attribution import Context, is_direct
from service.checks.texts.embedded import is_statement
from service.checks.texts.excuses import excuse, is_wished
from service.checks.texts.mood import is_asserted, is_beside, is_reported, is_unclear, is_under, is_unreal
from service.checks.texts.reports import Exists, is_stated, is_taken_back
from service.checks.texts.signs import is_plain
from service.checks.texts.speakers import is_literal
from service.debate.findings import Attributed, Status


class Given(NamedTuple):
    """How words are given; ``taken_back`` says that a condition, a request or a denial governs the report."""

    around: Context
    attributed: Attributed
    stated: bool
    plain: bool
    reported: bool
    taken_back: bool

    @property
    def spoken(self) -> bool:
        """Whether they are given as a participant's."""
        return self.attributed == "debate"

    def is_compared(self, quoted: Quotation) -> bool:
        """Whether such words are a passage: terms are none, and neither is what only follows another's verb."""
        if self.attributed == "document":
            directly = is_direct(self.around)
            beside = self.around.before.rstrip(' "*_\u201c').endswith((":", "(")) and is_beside(self.around)
            return quoted.words >= QUOTED_WORDS or is_statement(quoted.text, directly=directly, beside=beside)
        return quoted.in_marks and quoted.words >= QUOTED_WORDS

    def is_excused(self, words: str, *, altered: bool) -> bool:
        """Whether the text denies, proposes or imagines them, or they are a title or a question."""
        if excuse(words, self.around, self.attributed, reported=self.plain, stated=self.stated):
            return True
        if self.taken_back and not self.plain:
            return True
        return not (altered or self.reported or self.spoken) and is_wished(self.around)

    def status(self, *, altered: bool, near: bool) -> Status | None:
        """The status of words that stand nowhere; ``None`` where the sentence need not mean another's.

        ``near`` are words that are nearly all a document's.
        """
        if self.reported:
            return "nowhere"
        if self.spoken:
            return "nowhere" if is_literal(self.around.before) else "unclear"
        named = self.attributed == "document"
        if is_unreal(self.around, altered=altered, given=named):
            return "unclear" if named and (is_under(self.around) or is_plain(self.around)) else None
        placed = is_asserted(self.around) or (named and is_under(self.around))
        claimed = (named or altered or near) and (placed or (named and (altered or near)))
        return "nowhere" if claimed and not is_unclear(self.around) else "unclear"


def given(around: Context, attributed: Attributed, exists: Exists) -> Given:
    """How a sentence gives the words that it stands around; ``exists`` says whether a document has a clause."""
    stated, taken_back = is_stated(around, exists), is_taken_back(around)
    plain = stated or (is_reported(around) and not taken_back)
    author: Attributed = "document" if stated and attributed == "open" else attributed
    return Given(around, author, stated, plain, plain or is_beside(around), taken_back)
