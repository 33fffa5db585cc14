"""The signs of a weak critique: over the recorded debates, and below, at and above each threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from string import ascii_lowercase
from typing import NamedTuple

from service.checks.judgement import CRITIQUES, CritiqueEngine
from service.debate.findings import ArgumentVerdict, CitationsFound, CitationVerdict, CritiqueFound, Verdict
from service.debate.replies import Critique, Point, Proposal, Statement
from service.debate.turns import TurnId
from tests.vectors.goldens import Golden, file_of, lines, recorded

WORDS = tuple("".join(letters) + "xy" for letters in product(ascii_lowercase, repeat=3))[:4_000]
"""Words that are all different, of five letters."""
SOFT = (
    "while i acknowledge|i acknowledge|i agree|i concede|i accept that|to be fair|this is generally reasonable|"
    "generally reasonable|largely correct|the proposer is right|a good point|a valid point|i find the proposition|"
    "overall the proposal is sound|I AGREE|disagreement|to be fairly sure|nothing of the kind"
).split("|")


class Judged(NamedTuple):
    """A critique, and what it is judged by."""

    critique: Critique
    arguments: Sequence[str] = ()
    earlier: Sequence[Critique] = ()
    verdicts: Sequence[Verdict] = ()

    def by(self, engine: CritiqueEngine) -> CritiqueFound:
        """What an engine finds."""
        proposal = Proposal("-", tuple(Statement(n, text) for n, text in enumerate(self.arguments, 1)), "upheld")
        verdicts = [
            ArgumentVerdict(TurnId("1.critic.1"), n, (CitationVerdict(v),)) for n, v in enumerate(self.verdicts, 1)
        ]
        return engine([proposal], self.earlier, self.critique, verdicts)


def critique(*points: str, thesis: str = "-", attacks: Sequence[int] = (1,)) -> Critique:
    """A critique of these points."""
    made = tuple(Point(n, text, attacks=tuple(attacks)) for n, text in enumerate(points, 1))
    return Critique(thesis, made, 7, "rejected")


def text(start: int, end: int) -> str:
    """So many words, none of which stands in another range."""
    return " ".join(WORDS[start:end])


def cases() -> Iterator[tuple[str, Judged]]:
    """Critiques at each threshold."""
    for new in (0, 249, 250, 251, 499, 500, 501, 999, 1_000):
        yield f"{new} words of 1000 are new", Judged(critique(text(0, 1_000)), [text(new, 1_000)])
    for same in (0, 499, 500, 501, 1_000):
        before = critique(text(1_000 - same, 2_000 - same))
        both = 2_000 - same
        whole = critique(text(0, 1_000))
        yield f"{same} words of {both} are those of an earlier critique", Judged(whole, ["-"], [before])
    for shared in (498, 499, 500, 501, 502):
        yield f"{shared} of 1000", Judged(critique(text(0, shared)), ["-"], [critique("-"), critique(text(0, 1_000))])
    for restated in (799, 800, 801, 802):
        points = [WORDS[n] if n < restated else WORDS[n + 2_000] for n in range(1_000)]
        yield f"{restated} points of 1000 are restated", Judged(critique(*points), [text(0, 1_000)])
    for words in (798, 799, 800, 801):
        yield f"{words} words of a point are an argument's", Judged(critique(text(0, 1_000)), [text(0, words), "-"])
    for count in range(6):
        yield f"{count} points", Judged(critique(*(text(9 * n, 9 * n + 9) for n in range(count))), ["-"])
    for attacks in ((), (1,), (2,), (1, 2)):
        yield f"attacks {attacks}", Judged(critique(text(0, 9), text(9, 18), attacks=attacks), ["-"])
    for verdicts in ((), ("verified",), ("altered",), ("not_found", "altered"), ("not_found", "verified")):
        yield f"citations {verdicts}", Judged(critique(text(0, 9)), ["-"], verdicts=verdicts)
    for said in ("abcd", "abc", "abc_d", "abc4", "ABCD", "\u00e4bcd", "abcd efgh", "abc-efgh"):
        yield f"the word {said}", Judged(critique(said), ["abcd \u00e4bcd"])
    for said in SOFT:
        yield f"says {said}", Judged(critique(f"Well, {said}, and more."), ["-"])
        yield f"its thesis says {said}", Judged(critique("-", thesis=f"{said}."), ["-"])


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "critique"): _golden(name, engine) for name, engine in CRITIQUES.items()}


def _golden(name: str, engine: CritiqueEngine) -> Golden:
    def make() -> bytes:
        found: list[tuple[str, CritiqueFound]] = [
            (f"recorded {c.name}", _recorded(c, engine)) for c in recorded.checks("critique")
        ]
        return lines(name, {1: [*found, *((what, case.by(engine)) for what, case in cases())]})

    return Golden(name, make)


def _recorded(checked: recorded.Checked, engine: CritiqueEngine) -> CritiqueFound:
    *_, last = checked.check.over
    said = {turn: checked.facts.said[turn] for turn in checked.check.over}
    cited = checked.facts.found.get(f"{last}/citations")
    verdicts = cited.arguments if isinstance(cited, CitationsFound) else ()
    judged = said.pop(last)
    assert isinstance(judged, Critique)
    proposals = [reply for reply in said.values() if isinstance(reply, Proposal)]
    return engine(proposals, [reply for reply in said.values() if isinstance(reply, Critique)], judged, verdicts)
