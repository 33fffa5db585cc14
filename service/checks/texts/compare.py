"""Each passage of a reply's texts, with the place where it stands, of all that the seat was shown.

    1  a quotation of five words and more, wherever; of two to four if they state something of a document's
    2  its words stand in a document, by the citation engine             inDocument
    3  it is excused: proposed, hypothetical, denied, a title            left out
    4  they stand in the question or a caller's text                     inDebate, without a turn
    5  they stand in a reply that the seat was shown            inDebate, or onlyInDebate: given as a document's
    6  a document has them but for changes, and the sentence may propose or deny them;
       or it describes a participant and no verb of saying leads to them               unclear
    7  the case has no document, and they are not given as a participant's        unchecked
    8  anything else         nowhere, if a strong form gives them as another's (`strong`), as with 5; else unclear
    *  the work allowed was used up                                      nowhere, out_of_steps

A clause that a document has is `inDocument`; only one that a text says to state something is listed. What the reply of
another seat names or quotes, and its own finding marks, is not made true by a repetition without its author's name.
What is quoted within a quotation that is found belongs to its author.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain

from msgspec.structs import replace

from service.checks.citations.match.find import find, read_quote
from service.checks.citations.text import lexicon
from service.checks.citations.text.clause_names import may_name, named
from service.checks.citations.text.document import Document
from service.checks.citations.text.markup import Plain, plain
from service.checks.citations.text.quoted_words import QUOTED_WORDS, Quotation, quotations
from service.checks.citations.text.steps import OutOfSteps, Steps
from service.checks.citations.verdict.judge import Sources, check_within
from service.checks.citations.verdict.neighbours import cut_off
from service.checks.patterns import lazily
from service.checks.texts.attribution import (
    Context,
    attribution,
    context_of,
    is_followed,
    is_said,
    is_shared,
    names_speaker,
)
from service.checks.texts.clause_reports import differs
from service.checks.texts.clauses import has_clause, instruments, is_elsewhere, names_law, words_of_clause
from service.checks.texts.embedded import Licence, licence, without_explanations
from service.checks.texts.excuses import excuse_of_clause, is_absent, is_of_debate
from service.checks.texts.given_words import Given, given
from service.checks.texts.mood import affirmed
from service.checks.texts.names_in_words import by_place, places_of, strange_documents
from service.checks.texts.other_texts import is_of_other, is_other_text, is_person, words_of
from service.checks.texts.own_reports import Reports, Stretches
from service.checks.texts.reports import asserted
from service.checks.texts.shown import Shown, words_of_reply
from service.checks.texts.signs import is_plain
from service.checks.texts.speakers import turns_named
from service.checks.texts.strong import DOTS, Form, form_of_clause, form_of_words
from service.checks.texts.verdicts import opposed
from service.debate.findings import Attributed, Citation, CitationVerdict, Passage, Status, TextsFound
from service.debate.replies.texts import texts_of
from service.debate.turns import TurnId, seat_of

ENGINE = f"texts/1+{lexicon.VERSION}"
"""The rules' version and the word list's: recorded beside every finding."""
MAX_STEPS = 100_000_000
"""The work for one reply; about ten seconds."""
MOST_PASSAGES = 400
"""The most passages of one reply that are recorded; none with a warning is left out for one without."""
_A_PASSAGE = 40_000
"""The steps for the sentence around a passage."""
LONGEST = 20_000
"""The most characters of a quotation that is compared."""
_WORD = lazily(r"[^\W\d_]{4,}")
_NUMBER = lazily(r"(\d{1,4})")
_FEWEST, _LONG = 2, 10
"""The least longer words of a quotation that are a document's too, and the words from which on one is enough."""
_A_PIECE = 3
"""The least words of a piece between dots that is looked for alone."""
_NOT_COMPARED = CitationVerdict("not_found")
_NEAR = 0.8
"""The share of such words from which on a quotation is made of a document's."""

Span = tuple[int, int]


def compare(read: Shown, documents: Mapping[str, str], max_steps: int = MAX_STEPS) -> TextsFound:
    """The passages of a reply's texts; ``documents`` are those that its seat was given, by id."""
    desk = _Desk(read, documents, max_steps)
    found = [
        passage
        for path, text in texts_of(read.reply)
        for passage in sorted((*desk.passages(path, text), *opposed(read, path, text)), key=lambda each: each.span)
    ]
    if len(found) > MOST_PASSAGES:
        warned = sum(_warns(passage) for passage in found)
        spare = iter(range(max(0, MOST_PASSAGES - warned)))
        found = [each for each in found if _warns(each) or next(spare, None) is not None]
    return TextsFound(tuple(found[: 2 * MOST_PASSAGES]))


def _warns(passage: Passage) -> bool:
    return passage.marked or passage.unclear or passage.opposed


class _Desk:
    """What a seat was shown, ready to be searched."""

    def __init__(self, read: Shown, documents: Mapping[str, str], max_steps: int) -> None:
        self._steps = Steps(max_steps)
        self._texts, self._documented = documents, bool(documents)
        self._documents = Sources(documents)
        self._shown = read
        self._voices = read.voices or {turn: seat_of(turn) for turn in read.shown}
        self._author = read.author
        self._of_speaker: dict[frozenset[TurnId], Sources] = {}
        self._known: dict[tuple[str, int], str | None] = {}
        self._names = frozenset(name.casefold() for name in documents)

    @cached_property
    def _asked(self) -> Sources:
        return Sources({str(n): text for n, text in enumerate(chain(self._shown.asked, self._shown.titles))})

    @cached_property
    def _marked(self) -> Sources:
        return Sources({str(n): text for n, text in enumerate(self._shown.marked)})

    @cached_property
    def _instruments(self) -> tuple[str, ...]:
        return instruments(self._shown.titles, self._shown.asked, self._texts)

    @cached_property
    def _replies(self) -> dict[str, str]:
        read = self._shown
        return {turn: words_of_reply(reply, read.names) for turn, reply in read.shown.items()}

    @cached_property
    def _said(self) -> Sources:
        return Sources(self._replies)

    @cached_property
    def _named(self) -> frozenset[str]:
        return words_of(self._instruments)

    def passages(self, path: str, text: str) -> Iterator[Passage]:
        """The passages of one text, in order."""
        read = plain(text)
        text = read.text
        quoted = quotations(text)
        found = [passage for each in quoted if (passage := self._quotation(path, text, each))]
        heard = Stretches([passage.span for passage in found if passage.status in ("inDocument", "inDebate")])
        found = [each for each in found if not (each.marked or each.unclear) or each.span not in heard]
        bare = text.replace("*", " ")
        if names_clauses := may_name(bare):
            found += self._clauses(path, text, bare, quoted, heard)
        found += self._strangers(path, bare, names_clauses=names_clauses)
        yield from sorted((_in_original(passage, read) for passage in found), key=lambda passage: passage.span)

    def _clauses(self, path: str, text: str, bare: str, quoted: list[Quotation], heard: Stretches) -> Iterator[Passage]:
        """The clauses that a text names outside of quotations that were found; ``bare`` is without emphasis."""
        reports = Reports(bare, [each.outer for each in quoted if each.in_marks])
        words = Stretches([each.span for each in quoted if each.in_marks and each.words >= QUOTED_WORDS])
        for span, name in reports.names:
            # In one of these it is the quoted author's, and compared or excused with its words.
            if span not in heard and span not in words and (clause := self._clause(path, text, span, name, reports)):
                yield clause

    def _quotation(self, path: str, text: str, quoted: Quotation) -> Passage | None:
        try:
            self._steps.take(_A_PASSAGE if len(quoted.text) <= LONGEST else MAX_STEPS)
        except OutOfSteps as end:
            return Passage(path, quoted.span, "quotation", "nowhere", "open", reason=end.code)
        given = self._given(text, quoted)
        if not given.is_compared(quoted):
            return None
        if not self._documented:
            return self._weighed(self._without_documents(path, quoted, given), quoted, given, _NOT_COMPARED)
        # A weaker sentence around words for which the author's former take was marked does not take the mark away.
        again = is_plain(given.around) and self._is_marked(quoted.text)
        verdict, licensed = self._in(self._documents, quoted.text, given.around, quoted.words < QUOTED_WORDS)
        found = self._judged(path, quoted, given, verdict, licensed)
        if found is None and again:
            found = Passage(path, quoted.span, "quotation", "unclear", given.attributed)
        return self._weighed(found, quoted, given, verdict)

    def _weighed(
        self, found: Passage | None, quoted: Quotation, given: Given, verdict: CitationVerdict
    ) -> Passage | None:
        """The same with the strong form for which it is marked; without one the passage is unclear."""
        if found is None or not (found.marked or found.unclear) or verdict.reason == OutOfSteps.code:
            return found
        if verdict.verdict != "altered" and not self._has_piece(quoted.text):
            quoted = quoted._replace(text=DOTS.sub(" ", quoted.text))
        form = form_of_words(quoted, given, verdict, self._is_known) if found.marked else None
        laundered = found.status == "onlyInDebate" and given.attributed == "open"
        if form is None and (laundered or (is_plain(given.around) and self._is_marked(quoted.text))):
            form = "repeated"
        if form is None:
            return replace(found, status="unclear")
        return replace(found, status=found.status if found.marked else "nowhere", form=form)

    def _has_piece(self, words: str) -> bool:
        """Whether a piece of words between dots stands in a document."""
        pieces = [piece for piece in DOTS.split(words) if len(piece.split()) >= _A_PIECE]
        return any(self._search(piece, self._documents, True).verdict == "verified" for piece in pieces)

    def _judged(
        self, path: str, quoted: Quotation, given: Given, verdict: CitationVerdict, licensed: Licence | None
    ) -> Passage | None:
        """What quoted words are, by the verdict on them in the documents and what they owe to it."""
        short = quoted.words < QUOTED_WORDS
        if licensed == "true":
            source = verdict.source_id
            return Passage(path, quoted.span, "quotation", "inDocument", given.attributed, source_id=source)
        altered = verdict.verdict == "altered"
        if given.is_excused(quoted.text, altered=altered) or (not altered and self._is_of_law(given.around)):
            return None
        if self._in(self._asked, quoted.text, given.around, short)[1] == "true":
            return Passage(path, quoted.span, "quotation", "inDebate", given.attributed, reason="asked")
        said, heard = self._in(self._said, quoted.text, given.around, short)
        if heard == "true" and said.source_id:
            return self._in_debate(path, quoted, given, TurnId(said.source_id), short)
        if given.attributed == "open" and not altered and is_person(given.around.before, self._documents.has_word):
            return None
        status = given.status(altered=altered, near=self._is_near(quoted))
        if status is None or (given.attributed == "open" and not altered and not self._is_of_matter(quoted, given)):
            return None
        reason = verdict.reason or ("altered" if licensed else verdict.verdict)  # a form without brackets is verified
        misquoted = given.spoken and said.verdict == "altered"  # a participant's words, but for changes
        other = status == "nowhere" and is_other_text(given.around.before, self._named)
        status = "unclear" if other or misquoted or "visible" in (licensed, heard) else status
        return Passage(path, quoted.span, "quotation", status, given.attributed, reason=reason)

    def _without_documents(self, path: str, quoted: Quotation, given: Given) -> Passage | None:
        """Words in a case without documents: the debate alone can have them, and else there is nothing to compare."""
        short = quoted.words < QUOTED_WORDS
        if given.is_excused(quoted.text, altered=False) or self._is_of_law(given.around):
            return None
        if self._search(quoted.text, self._asked, short).verdict == "verified":
            return Passage(path, quoted.span, "quotation", "inDebate", given.attributed, reason="asked")
        said = self._search(quoted.text, self._said, short)
        if said.verdict == "verified" and said.source_id:
            found = self._in_debate(path, quoted, given, TurnId(said.source_id), short)
            return replace(found, status="unchecked") if found.status == "onlyInDebate" else found
        if given.spoken:
            status = given.status(altered=False, near=False)
            return Passage(path, quoted.span, "quotation", status, "debate", reason="not_found") if status else None
        return Passage(path, quoted.span, "quotation", "unchecked", given.attributed, reason="no_document")

    def _given(self, text: str, quoted: Quotation) -> Given:
        around = asserted(affirmed(context_of(text, *quoted.outer)))
        return given(around, attribution(around, self._names), self._exists)

    def _in_debate(self, path: str, quoted: Quotation, given: Given, turn: TurnId, short: bool) -> Passage:
        """Words of a reply: another speaker's, or a document's by what the text says, or those of whom it names."""
        if given.spoken and not self._is_by_named(quoted.text, given.around, short):
            return Passage(path, quoted.span, "quotation", "nowhere", given.attributed, reason="another_speaker")
        by_speaker = names_speaker(given.around.before) and not is_shared(given.around.before)
        reported = given.reported or is_followed(given.around, self._names)
        as_document = given.attributed == "document" and reported and not by_speaker
        claimed = as_document or (given.attributed == "open" and self._is_marked(quoted.text))
        status: Status = "onlyInDebate" if claimed else "inDebate"
        return Passage(path, quoted.span, "quotation", status, given.attributed, turn=turn)

    def _is_by_named(self, words: str, around: Context, short: bool) -> bool:
        """Whether words of the debate are those of the one speaker that the text names; true if that is uncertain."""
        turns = turns_named(around.before, self._voices, self._author)
        if not turns or turns >= set(self._said):
            return True
        if turns not in self._of_speaker:
            self._of_speaker[turns] = Sources({turn: words for turn, words in self._replies.items() if turn in turns})
        return self._in(self._of_speaker[turns], words, around, short)[1] == "true"

    def _is_of_law(self, around: Context) -> bool:
        """Whether the clause that stands last before the words is one of an instrument that was not given."""
        last = deque(named(around.before), maxlen=1)
        if names_law(around.before, self._instruments):
            return True
        before, behind = (around.before[: last[0][0][0]], around.before[last[0][0][1] :]) if last else ("", "")
        if last and last[0][1].lower().startswith("clause") and self._exists(last[0][1]):
            before = ""  # a law's name before a contract's own clause: under the Act clause 9 states
        return bool(last) and is_elsewhere(before, behind, self._instruments)

    def _is_near(self, quoted: Quotation) -> bool:
        """Whether nearly all of the longer words are a document's: pieces of its sentences in another order."""
        long = {word.casefold() for word in _WORD.findall(quoted.text)}
        return bool(long) and _NEAR * len(long) <= sum(self._documents.has_word(word) for word in long)

    def _is_of_matter(self, quoted: Quotation, given: Given) -> bool:
        """Whether quoted words without an author speak of what the documents do: else they are a saying or a name."""
        long = {word.casefold() for word in _WORD.findall(quoted.text)}
        fewest = 1 if is_said(given.around) or quoted.words >= _LONG else _FEWEST
        return sum(self._documents.has_word(word) for word in long) >= fewest

    def _in(self, sources: Sources, words: str, around: Context, short: bool) -> tuple[CitationVerdict, Licence | None]:
        """The verdict on quoted words, also without what square brackets explain, and what the words owe to it."""
        verdict = self._search(words, sources, short)
        best = verdict, licence(verdict, words, around)
        for form, at_most in without_explanations(words) if best[1] != "true" else ():
            found = self._search(form, sources, short)
            licensed = licence(found, form, around)
            if licensed == "true" and at_most == "true":
                return found, "true"
            best = (found, "visible") if licensed else best
        return best

    def _search(self, words: str, sources: Sources, short: bool) -> CitationVerdict:
        if not short:
            return check_within(Citation(words), sources, self._steps)
        try:
            quote = read_quote(words)
            for document, source in self._each(sources):
                places = find(quote, document.folded, None, self._steps)
                cuts = [cut_off(document.folded, *place) for place in places]
                if None in cuts:
                    return CitationVerdict("verified", source)
                if cuts:
                    return CitationVerdict("altered", source, edits=tuple(cut for cut in cuts[:1] if cut))
        except OutOfSteps as end:
            return CitationVerdict("not_found", reason=end.code)
        return CitationVerdict("not_found")

    def _each(self, sources: Sources) -> Iterator[tuple[Document, str]]:
        """Each text as it is stored, then as the seat has read it, where that is another one to a reader."""
        for held in (sources, sources.as_read):
            for source in sorted(held or ()):
                yield (held or sources).document(source), source

    def _is_marked(self, words: str) -> bool:
        return check_within(Citation(words), self._marked, self._steps).verdict == "verified"

    def _clause(self, path: str, text: str, span: Span, name: str, reports: Reports) -> Passage | None:
        try:
            self._steps.take(_A_PASSAGE)
            around = context_of(text, *span)
            if self._is_of_another(around):
                return None
            spoken = attribution(around, self._names) == "debate" and not is_shared(around.before)
            if source := self._having(name, self._documents):
                known = Passage(path, span, "clause", "inDocument", "document", source_id=source)
                if not spoken and (other := self._differing(name, span, reports)) and not excuse_of_clause(around):
                    return replace(known, status="unclear", reason=other)
                return known if reports.is_reported(span) else None
            if excuse_of_clause(around) or is_absent(around):
                return None
            if self._having(name, self._asked):
                return Passage(path, span, "clause", "inDebate", "document", reason="asked")
            attributed: Attributed = "debate" if spoken else "document"
            form = self._form_of(name, around)
            given_as: Status = "onlyInDebate" if form else "unclear"
            if turn := self._having(name, self._said):
                status: Status = "inDebate" if spoken else given_as if self._documented else "unchecked"
                named_in = Passage(path, span, "clause", status, attributed, turn=TurnId(turn))
                return replace(named_in, form=form) if named_in.marked else named_in
            if not (self._documented or spoken):
                return Passage(path, span, "clause", "unchecked", attributed, reason="no_document")
            may_be_of_law = self._may_be_of_law(name)
            if may_be_of_law and not reports.is_reported(span) and reports.report(span) is None:
                return None
            form = None if may_be_of_law else self._form_of(name, around)
            missing: Status = "nowhere" if form else "unclear"
            return Passage(path, span, "clause", missing, attributed, reason="no_such_clause", form=form)
        except OutOfSteps as end:
            return Passage(path, span, "clause", "nowhere", "document", reason=end.code)

    def _form_of(self, name: str, around: Context) -> Form | None:
        """The strong form in which a sentence rests on a clause for which all documents have been searched."""
        return form_of_clause(name, around, self._is_known, self._most)

    def _is_known(self, word: str) -> bool:
        return word in self._named or self._documents.has_word(word)

    def _is_of_another(self, around: Context) -> bool:
        """Whether a clause is one of a text that was not given, or a part of a reply."""
        return (
            is_elsewhere(around.before, around.behind, self._instruments)
            or is_of_other(around.before, around.behind, self._named)
            or is_of_debate(around)
        )

    def _strangers(self, path: str, text: str, *, names_clauses: bool) -> Iterator[Passage]:
        """Clauses by their place and documents by a name of their own, as far as none of the documents may be meant."""
        counted, most = list(by_place(text)) if names_clauses else [], 0
        if counted:
            most = max((places_of(self._documents.document(source)) for source in self._documents), default=0)
        strange = [(span, "no_such_clause") for span, name, n in counted if n > most and not self._exists(name)]
        given_texts = self._texts.values()
        strange += [(span, "no_such_document") for span in strange_documents(text, self._instruments, given_texts)]
        for span, reason in strange:
            try:
                self._steps.take(_A_PASSAGE)
            except OutOfSteps as end:
                yield Passage(path, span, "clause", "nowhere", "document", reason=end.code)
                return
            if self._is_reported_here(text, span):
                if self._documented:
                    yield Passage(path, span, "clause", "unclear", "document", reason=reason)
                else:
                    yield Passage(path, span, "clause", "unchecked", "document", reason="no_document")

    def _is_reported_here(self, text: str, span: Span) -> bool:
        """Whether the text itself says what a clause or a document has: no other participant, no wish and no denial."""
        around = context_of(text, *span)
        spoken = attribution(around, self._names) == "debate" and not is_shared(around.before)
        return not (spoken or is_of_debate(around) or excuse_of_clause(around))

    def _may_be_of_law(self, name: str) -> bool:
        """Whether a clause has the kind of a law's, and no document has articles: an Article 9 matter."""
        return name.lower().startswith("art") and not any(map(self._documents.has_word, ("article", "articles", "art")))

    def _differing(self, name: str, span: Span, reports: Reports) -> str | None:
        """In what a report in the text's own words differs from the clauses of this name."""
        words = reports.report(span)
        if words is None:
            return None
        parts = [part for each in self._documents for part in words_of_clause(name, self._documents.document(each))]
        self._steps.take(sum(map(len, parts)) + _A_PASSAGE)
        return differs(words, parts)

    def _exists(self, name: str) -> bool:
        """Whether a document has a clause of this name, which may be a bare number."""
        try:
            return self._having(name if not name[:1].isdigit() else f"clause {name}", self._documents) is not None
        except OutOfSteps:
            return True

    def _having(self, name: str, sources: Sources) -> str | None:
        """The first of some texts that has a clause of this name."""
        key = name, id(sources)
        if key not in self._known:
            self._known[key] = self._first_with(name, sources)
        return self._known[key]

    @cached_property
    def _most(self) -> int:
        """The highest number that a part of a document begins with."""
        places = (place for source in self._documents for place in self._documents.document(source).outline)
        return max((int(found[1]) for place in places if (found := _NUMBER.match(place.number))), default=0)

    def _first_with(self, name: str, sources: Sources) -> str | None:
        for source in sorted(sources):
            if has_clause(name, sources.document(source), self._steps):
                return source
        return None


def _in_original(passage: Passage, read: Plain) -> Passage:
    return replace(passage, span=read.span(passage.span))
