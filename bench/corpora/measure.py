"""How well the engines tell lazy critiques from honest ones, and invented quotations from true ones.

    sent back   a critique with a hard sign, for which the critic is asked again
    softening   a critique in which a softening phrase is found; those that agree outright are left out
    marked      a text with a passage that misleads a reader; a mark is found where such a passage overlaps it
    unclear     a text without such a passage, but with one of which code cannot say that it misleads

`python -m bench.corpora.measure` prints the figures on the two thirds that are not held back, with the ids of each
kind that the engine gets wrong. `make bench` and a test measure the third that is held back.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from bench import corpora
from bench.corpora import ArguedCase, Document, Field, LabelledCritique, LabelledText
from service.checks import citations
from service.checks import texts as comparisons
from service.checks.given import ReadTexts
from service.checks.judgement import CRITIQUES, Attacked, Shown
from service.debate.findings import CritiqueFound, Passage
from service.debate.replies import Ballot, Judgement, Moderation, Proposal, Rebuttal, Reply
from service.debate.replies.adversarial import Concession, Objection
from service.debate.replies.parts import Statement
from service.debate.turns import TurnId
from service.debate.versions import newest

TURN = TurnId("1.critic.1")
AGREEING = ("agrees", "agreesInWords")
"""The kinds that attack nothing, and so have nothing to soften."""
OTHER = "Nothing else is said here."
"""The text of every member of a reply that an item says nothing of."""


class Outcome(NamedTuple):
    """What an engine says of one item, and what its author says: whether it has the property in question."""

    id: str
    kind: str
    seen: bool
    true: bool


class Figures(NamedTuple):
    """How many of the items with the property were seen, and how many without it."""

    seen: int
    true: int
    false_alarms: int
    others: int

    @property
    def recall(self) -> float:
        """The share of the items with the property that were seen, from 0 to 1."""
        return self.seen / self.true

    @property
    def false_rate(self) -> float:
        """The share of the items without the property that were seen, from 0 to 1."""
        return self.false_alarms / self.others


def figures(outcomes: Iterable[Outcome]) -> Figures:
    """The counts over some items."""
    counted = Counter((each.seen, each.true) for each in outcomes)
    true, others = counted[True, True] + counted[False, True], counted[True, False] + counted[False, False]
    return Figures(counted[True, True], true, counted[True, False], others)


def sent_back(items: Iterable[LabelledCritique]) -> Iterator[Outcome]:
    """Of each critique, whether the critic would be asked again; the property is to be lazy."""
    for item, found in _judged(items):
        yield Outcome(item.id, item.kind, bool(found.weak), item.label == "lazy")


def softened(items: Iterable[LabelledCritique]) -> Iterator[Outcome]:
    """Of each critique that attacks at all, whether a softening phrase is found; the property is that it softens."""
    for item, found in _judged(item for item in items if item.kind not in AGREEING):
        yield Outcome(item.id, item.kind, bool(found.softening), item.softening)


def marked(items: Iterable[LabelledText]) -> Iterator[Outcome]:
    """Of each text, whether all its marks are found, or else whether anything is marked that is true."""
    for item in items:
        spans = [passage.span for passage in _found(item) if passage.marked]
        found = [any(_overlap(span, mark) for span in spans) for mark in item.marks]
        yield Outcome(item.id, item.kind, all(found) if item.marks else bool(spans), bool(item.marks))


def is_set_off(item: LabelledText) -> bool:
    """Whether all words that must be marked stand between marks; a report in the author's own words has none."""
    return all(_MARK.search(item.text[max(0, start - 2) : start + 1]) for start, _ in item.marks)


def unclear(items: Iterable[LabelledText]) -> Iterator[Outcome]:
    """Of each text, whether a passage is marked as unclear, and none as misleading; the property is to be invented."""
    for item in items:
        found = _found(item)
        seen = any(passage.unclear for passage in found) and not any(passage.marked for passage in found)
        yield Outcome(item.id, item.kind, seen, bool(item.marks))


def marked_beside(items: Iterable[LabelledText]) -> Iterator[Outcome]:
    """Of each invented text, whether something is marked beside the words that must be; it has the property never."""
    for item in items:
        if item.marks:
            spans = [passage.span for passage in _found(item) if passage.marked]
            beside = any(not any(_overlap(span, mark) for mark in item.marks) for span in spans)
            yield Outcome(item.id, item.kind, beside, true=False)


@cache
def _found(item: LabelledText) -> tuple[Passage, ...]:
    """The passages of a text of the corpus, compared once for all figures."""
    return tuple(found_in(item, _documents()))


@cache
def _documents() -> dict[str, Document]:
    return corpora.documents()


def found_in(item: LabelledText, known: dict[str, Document]) -> list[Passage]:
    """The passages of a text, given its documents, its question and the replies before it."""
    reply, path = REPLIES[item.field](item.text)
    read = ReadTexts(
        reply=reply,
        documents=item.documents,
        titles=[known[name].title for name in item.documents],
        asked=(item.question,),
        shown={heard.turn: Proposal(heard.text, (), "upheld") for heard in item.replies},
        marked=(),
    )
    found = comparisons.COMPARISONS[newest(comparisons.COMPARISONS)](
        read, {name: known[name].text for name in item.documents}
    )
    return [passage for passage in found.passages if passage.field == path]


def judge(item: LabelledCritique, case: ArguedCase, known: dict[str, Document]) -> CritiqueFound:
    """The finding on a critique, its citations checked as in a debate."""
    judged = citations.ENGINES[newest(citations.ENGINES)]({name: known[name].text for name in case.documents})
    attacked = [
        Attacked(argued.reply, argued.position, judged({TurnId(f"1.proposer.{n}"): argued.reply}).arguments)
        for n, argued in enumerate(case.proposals, start=1)
    ]
    titles = (known[name].title for name in case.documents)
    asked = (case.question, *titles, *(position.text for position in case.positions))
    shown = Shown(asked, {name: known[name].text for name in case.documents})
    return CRITIQUES[newest(CRITIQUES)](attacked, (), item.critique, judged({TURN: item.critique}).arguments, shown)


def _judged(items: Iterable[LabelledCritique]) -> Iterator[tuple[LabelledCritique, CritiqueFound]]:
    for item in items:
        yield item, _finding(item)


@cache
def _finding(item: LabelledCritique) -> CritiqueFound:
    """The finding on a critique of the corpus, judged once for all figures."""
    return judge(item, _cases()[item.case], _documents())


@cache
def _cases() -> dict[str, ArguedCase]:
    return corpora.cases()


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _objection(text: str) -> tuple[Reply, str]:
    return Proposal(OTHER, (), "upheld", (Objection(OTHER, text),)), "objections[0].answer"


def _concession(text: str) -> tuple[Reply, str]:
    return Rebuttal(OTHER, (), (Concession(1, text),), "modified"), "concessions[0].text"


def _synthesis(text: str) -> tuple[Reply, str]:
    return Moderation((), (), (), False, text, "MODERATE", (OTHER,), "modified"), "synthesis"


def _rationale(text: str) -> tuple[Reply, str]:
    return Ballot(OTHER, (Statement(1, text, basis="reasoning"),), "sign"), "rationale[0].text"


def _verdict(text: str) -> tuple[Reply, str]:
    return Judgement(text, None, OTHER, "MODERATE", (OTHER,)), "verdict"


_MARK = re.compile("[\"'\u2018-\u201f\u00ab\u00bb*_`>|]")
REPLIES: dict[Field, Callable[[str], tuple[Reply, str]]] = {
    "synthesis": _synthesis,
    "thesis": lambda text: (Proposal(text, (), "upheld"), "thesis"),
    "objection": _objection,
    "concession": _concession,
    "rationale": _rationale,
    "verdict": _verdict,
}
"""A reply with a text in each field, and the text's path in it."""


def _lines(name: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    seen, true, false_alarms, others = figures(outcomes)
    yield f"{name}: {seen} of {true} seen; {false_alarms} false alarms of {others}"
    for kind in dict.fromkeys(each.kind for each in outcomes):
        wrong = [each.id for each in outcomes if each.kind == kind and each.seen != each.true]
        if wrong:
            yield f"  {kind}, of {sum(each.kind == kind for each in outcomes)}: {' '.join(wrong)}"


def main() -> None:
    critiques, texts = corpora.shown(corpora.critiques()), corpora.shown(corpora.texts())
    for name, outcomes in (
        ("sent back", sent_back(critiques)),
        ("softening", softened(critiques)),
        ("marked", marked(texts)),
        ("unclear", unclear(texts)),
        ("marked beside", marked_beside(texts)),
    ):
        sys.stdout.write("\n".join(_lines(name, tuple(outcomes))) + "\n")


if __name__ == "__main__":
    main()
