"""The signs of a weak critique: over the recorded debates, and below, at and above each threshold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple, get_args

from msgspec.structs import replace

from service.checks import given
from service.checks.judgement import CRITIQUES, Attacked, CritiqueEngine, Shown
from service.checks.judgement.wording import polarity, relation, vocabulary
from service.checks.judgement.wording.grounds import LIMITS, gives_ground, is_english, only_grants
from service.checks.judgement.wording.phrases import PARTS, PATTERNS
from service.checks.judgement.wording.softening import softenings, unquoted
from service.debate.findings import (
    ArgumentVerdict,
    Citation,
    CitationVerdict,
    CritiqueFound,
    StrikeReason,
    Verdict,
)
from service.debate.replies import Basis, Conclusion, Critique, Point, Proposal, Statement
from service.debate.turns import TurnId
from tests.vectors.goldens import Golden, file_of, lines, recorded

WORDS = tuple("".join(letters) + "xy" for letters in product(ascii_lowercase, repeat=3))[:4_000]
"""Words that are all different, of five letters."""
_SAID = json.loads((Path(__file__).parent / "cases" / "critics-words.json").read_bytes())
_TURNED = json.loads((Path(__file__).parent / "cases" / "critics-polarity.json").read_bytes())
SOFTENED, HONEST = tuple(_SAID["softened"]), tuple(_SAID["honest"])
"""Wordings that soften; wordings of contracts and of critics that do not."""
GROUNDS = tuple(point["text"] for kind in ("lazy", "reasoned") for said in _SAID[kind] for point in said["points"])
"""Points with a ground and without."""
ENGLISH = "The fee is due at the end of the month and it is to be paid by the bank."
"""An argument that is known to be English."""


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
        return engine([Attacked(proposal)], self.earlier, self.critique, verdicts)


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


def attacks(engine: CritiqueEngine) -> Iterator[tuple[str, CritiqueFound]]:
    """Proposals and critiques of every conclusion; points and arguments that are struck or of another position."""
    strikes: tuple[StrikeReason | None, ...] = (None, "uncited", "unverified_citation")
    conclusions: tuple[Conclusion, ...] = ("upheld", "modified", "rejected")
    own, other = text(0, 9), text(9, 18)
    for proposed, concluded, attacked in product(conclusions, conclusions, ((), (1,), (2,))):
        proposal = Proposal("-", (Statement(1, own), Statement(2, text(18, 27))), proposed)
        made = Critique("-", (Point(1, other, attacked, basis="reasoning"),), 7, concluded)
        for struck in strikes:
            verdicts = [ArgumentVerdict(TurnId("1.proposer.1"), 1, (), struck)]
            found = engine([Attacked(proposal, None, verdicts)], (), made, ())
            yield f"{proposed} {concluded} attacks {attacked}, argument 1 {struck}", found
    proposal = Proposal("-", (Statement(1, own, (Citation("a b", "D1"),)),), "upheld")
    theirs = ArgumentVerdict(TurnId("1.proposer.1"), 1, (CitationVerdict("verified", "D1", (10, 20)),))
    for basis, struck in product(get_args(Basis), strikes):
        made = Critique("-", (Point(1, other, (1,), basis=basis),), 7, "rejected")
        verdicts = [ArgumentVerdict(TurnId("1.critic.1"), 1, (), struck)]
        yield f"point of {basis} {struck}", engine([Attacked(proposal)], (), made, verdicts)
    for quote, source, span in product(
        ("a b", "a  b", "c"), ("D1", "D2"), (None, (10, 20), (9, 20), (10, 21), (11, 19))
    ):
        made = Critique("-", (Point(1, own, (1,), (Citation(quote, source),)),), 7, "rejected")
        verdicts = [ArgumentVerdict(TurnId("1.critic.1"), 1, (CitationVerdict("verified", source, span),))]
        yield f"cites {quote} of {source} at {span}", engine([Attacked(proposal, None, [theirs])], (), made, verdicts)
    all_struck = Attacked(proposal, None, [ArgumentVerdict(TurnId("1.proposer.1"), 1, (), "uncited")])
    for attacked in ((), (1,)):
        made = Critique("-", (Point(1, other, attacked, basis="reasoning"),), 7, "rejected")
        yield f"nothing stands, attacks {attacked}", engine([all_struck], (), made, ())
    for first, second in product(conclusions, (None, "a", "b")):
        made = Critique("-", (Point(1, other, (1,), (), "reasoning", second),), 7, "modified")
        positions = [Attacked(replace(proposal, conclusion=first), "a"), Attacked(proposal, "b")]
        yield f"a concludes {first}, a point against {second}", engine(positions, (), made, ())


def wordings() -> Iterator[tuple[str, object]]:
    """Every pattern of softening, and what is found in wordings of each kind and in honest texts beside them."""
    yield from (("part", name, PARTS[name]) for name in PARTS)  # type: ignore[misc]
    yield from (("pattern", name, PATTERNS[name]) for name in PATTERNS)  # type: ignore[misc]
    for said in (*SOFTENED, *HONEST):
        yield f"says {said}", [softenings(unquoted(said)), only_grants(said)]
    yield "a long phrase", softenings(f"this is {'very ' * 30}sound")


def grounds() -> Iterator[tuple[str, object]]:
    """Points at each limit of a ground, and every word of the vocabulary."""
    for name in ("OPPOSING", "GENERAL", "FAULTS", "NEGATIONS", "DEALING"):
        for word in getattr(vocabulary, name).split():
            yield f"{name} {word}", _ground(f"zebra quartz {word.rstrip('*')} lantern " + "more " * 5)
    for said in GROUNDS:
        for evidence in (False, True):
            yield f"evidence {evidence}: {said}", _ground(said, evidence=evidence)
    for count in (118, 119, 120, 121):
        yield f"{count} words of 1000 are common", is_english(" ".join(["the"] * count + ["zebra"] * (1_000 - count)))
    for new, opposing in product((248, 249, 250, 251, 499, 500, 501), ("", " not")):
        own, shared = text(1_000, 1_000 + new), text(0, 1_000 - new)
        yield (
            f"{new} of 1000 are new{opposing}",
            gives_ground(f"{own} {shared}{opposing}", f"{ENGLISH} {text(0, 1_000)}", evidence=False, english=True),
        )
    for count, general, opposing in product(range(7), (0, 1, 2, 4, 6, 12), ("", " not")):
        said = (
            " ".join([*WORDS[2_000 : 2_000 + count], *vocabulary.GENERAL.split()[:general]])
            + f"{opposing} the of it is"
        )
        yield f"{count} telling, {general} general{opposing}", _ground(said)
        yield (
            f"{count} telling, {general} general{opposing}, another language",
            gives_ground(said, ENGLISH, evidence=False, english=False),
        )
    for between in range(6):
        yield f"no fault, {between} between", _ground(f"zebra quartz lantern amber no {'x ' * between}flaw")
    for letters in range(3, 8):
        stem = "paymentage"[:letters]
        known = "The payment is due to the bank at the end of it."
        yield f"the stem {stem}", gives_ground(f"{stem}zz quartz", known, evidence=False, english=True)
    for first in ("Payment", "Aayment"):
        said = f"{first} not zebra quartz lantern amber. To be fair, it is tight."
        yield f"{first} begins", gives_ground(said, "The payment is due.", evidence=False, english=True)
    yield "limits", LIMITS


def polarities() -> Iterator[tuple[str, object]]:
    """Every kind of word that turns a clause, and what is found in clauses that agree and in attacks beside them."""
    yield from polarity.TAGS.items()
    for said in (*_TURNED["agrees"], *_TURNED["attacks"]):
        yield f"turns {said}", softenings(unquoted(said))
    for words in (39, 40, 41):
        yield f"a chain of {words} words", softenings(f"The argument does {'really ' * (words - 4)}not fail")


def relations() -> Iterator[tuple[str, object]]:
    """Points that share more and fewer words with a case; passages at a distance; every word that names no case."""
    yield "limits", relation.LIMITS
    yield "numbers", relation.stems("Argument 1 of clause 4 and clauses 7.2, 10 and 1,900")
    for words in (1, 199, 200, 201, 202, 300, 540, 541):
        yield f"the share of {words}", relation.case_words([], [text(0, words)]).least
    for name in ("JOINING", "EVERYDAY"):
        for word in getattr(vocabulary, name).split():
            yield f"{name} {word}", (relation.stems(word), word[:5] in relation.case_words([word], []).argued)
    for known, asked, argued, shared, own in product(
        (39, 40, 200, 300, 2_000), (0, 1, 2, 12), (0, 1), range(4), (0, 1)
    ):
        case = relation.case_words([text(0, argued)], [text(1, known)])
        said = f"{text(argued, argued + shared)} {text(0, own * argued)} {text(2_500, 2_500 + asked)}"
        thesis, others = text(0, known), (text(1, known // 2),)
        yield (
            f"{known} known, {asked} strange, {argued} argued, {shared} shared, {own}",
            [relation.names_the_case(said, (), t, o, case) for t in ("", thesis) for o in ((), others)],
        )
    for strange in range(1, 16):
        case = relation.case_words([text(0, 1)], [text(1, 60)])
        yield f"quotes, {strange}", relation.names_the_case(text(1, 1 + strange), [WORDS[1]], "", (), case)
    for between, shared in product((0, 398, 399, 400, 401), range(4)):
        document = f"{text(0, shared)}{' ' * between}{text(100, 103)}. {text(200, 203)}"
        start = document.index(WORDS[100])
        span = (start, start + len(text(100, 103)))
        yield f"{between} between, {shared}", relation.concerns(document, span, WORDS[50], text(0, 9))
        yield f"{between} between, {shared}, named", relation.concerns(document, span, WORDS[100], "-")


def passages(engine: CritiqueEngine) -> Iterator[tuple[str, CritiqueFound]]:
    """Critiques whose passage has to do with the argument, the point or neither, in English and other documents."""
    argued = (Statement(1, f"{ENGLISH} The surveyor, the auditor and the trustee agree."),)
    proposal = Proposal(ENGLISH, argued, "upheld")
    other = f"{ENGLISH} {' '.join(WORDS[:60])}."
    for passage, said, far in product(
        ("The surveyor and the auditor resign.", "The surveyor resigns.", "Winter ends in the hall."),
        ("Read it.", "Winter. Read it.", "The tenant has no recourse against insolvent guarantors of the surveyor."),
        (0, 1_990, 2_010),
    ):
        document = f"{other}{'x' * far} {passage}"
        start = len(document) - len(passage)
        for known in ({"D1": document}, {"D1": f"{'zz ' * far}{passage}"}, {"D2": document}):
            quoted = Point(1, said, (1,), (Citation(passage, "D1"),))
            verdict = CitationVerdict("verified", "D1", (start, len(document)))
            made = Critique("The surveyor errs.", (quoted,), 7, "rejected")
            verdicts = [ArgumentVerdict(TurnId("1.critic.1"), 1, (verdict,))]
            found = engine([Attacked(proposal)], (), made, verdicts, Shown((ENGLISH,), known))
            yield f"{said} {passage} {far} {len(known.get('D1', ''))}", found


def _ground(said: str, *, evidence: bool = False) -> bool:
    return gives_ground(said, ENGLISH, evidence=evidence, english=True)


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "critique"): _golden(name, engine) for name, engine in CRITIQUES.items()}


def _golden(name: str, engine: CritiqueEngine) -> Golden:
    def make() -> bytes:
        checks = recorded.checks("critique")
        found = [(f"recorded {c.name}", recorded.found(name, engine, given.CRITIQUES, c)) for c in checks]
        judged = [*((what, case.by(engine)) for what, case in cases()), *attacks(engine), *passages(engine)]
        return lines(name, {1: [*found, *judged, *wordings(), *grounds(), *polarities(), *relations()]})

    return Golden(name, make)
