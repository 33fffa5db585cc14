"""Word overlap of answers: over the recorded debates, and over every word that the comparison treats apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.checks.overlap import OVERLAPS, ComparedAnswer, OverlapEngine
from service.debate.findings import CitationsFound, ConvergenceFound
from service.debate.model import ConvergenceOptions
from service.debate.options import debater_seats
from service.debate.replies import Position
from service.debate.turns import TurnId
from tests.vectors.goldens import CASES, Golden, file_of, lines, recorded
from tests.vectors.goldens.critiques import WORDS, text

SENTENCES = (
    ("The cap covers fines.", "The cap does not cover fines."),
    ("The cap covers fines.", "The cap covers fines. It covers no costs."),
    ("Fines aren't covered, costs are.", "Costs aren't covered, fines are."),
    ("Never one two three fines.", "Fines one two three never."),
    ("No one two three four fines.", "Four fines one two three no."),
    ("No alpha beta gamma delta.", "No beta alpha delta gamma."),
    ("No alpha beta gamma delta.", "No alpha beta delta gamma."),
    ("Delta gamma beta alpha, no.", "Gamma delta beta alpha, no."),
    ("Delta gamma beta alpha, no.", "Delta beta gamma alpha, no."),
    ("No alpha. Beta gamma", "No beta. Alpha gamma"),
    ("No alpha; beta gamma", "No alpha, beta gamma"),
    ("No alpha: beta gamma", "No alpha beta gamma"),
    ("No alpha? Beta gamma", "No alpha beta gamma"),
    ("No alpha! Beta gamma", "No alpha beta gamma"),
    ("A limit of 1.5 applies.", "A limit of 15 applies."),
    ("A limit of 1,5 applies.", "A limit of 1 and 5 applies."),
    ("A harmful clause", "A harmless clause"),
    ("The fee is due\u2014now", "The fee is due now"),
    ("\ufb01nes and caf\u00e9", "fines and cafe\u0301"),
    ("the owner's fee", "the owners fee"),
    ("'quoted' words", "quoted words"),
    ("A 5% fee", "A 5 fee"),
)


def judged(engine: OverlapEngine, one: str, other: str, similarity: int = 500) -> ConvergenceFound:
    """What an engine finds of two answers of one statement each."""
    return engine(
        [ComparedAnswer(TurnId("1.a.1"), "yes", (one,)), ComparedAnswer(TurnId("1.b.1"), "yes", (other,))],
        seats=2,
        similarity=similarity,
    )


def cases(engine: OverlapEngine) -> Iterator[tuple[str, ConvergenceFound]]:
    """Answers side by side."""
    for one, other in SENTENCES:
        yield f"{one} / {other}", judged(engine, one, other)
    for word in (CASES / "small-words.txt").read_text().split():
        yield f"with {word}", judged(engine, f"Alpha beta {word} gamma.", "Alpha beta gamma.")
    for prefix in "un in im il ir non dis mis re de".split():
        yield f"by {prefix}", judged(engine, "A limited fee", f"A {prefix}limited fee")
    for shared in (499, 500, 501, 999, 1_000):
        words = text(0, 1_000), text(1_000 - shared, 1_000)
        for similarity in (500, 1_000):
            yield f"{shared} of 1000 at {similarity}", judged(engine, *words, similarity=similarity)
    yield "the same words in another order at 1000", judged(engine, "alpha beta", "beta alpha", 1_000)
    yield "no words", judged(engine, "the", "of the")
    yield from _voices(engine)


def _voices(engine: OverlapEngine) -> Iterator[tuple[str, ConvergenceFound]]:
    for count in range(4):
        for seats in (0, 1, 2, 3):
            voices = [ComparedAnswer(TurnId(f"1.{n}.1"), "Yes.", (WORDS[0],)) for n in range(count)]
            yield f"{count} voices of {seats}", engine(voices, seats=seats, similarity=800)
    for answers in (("yes", "Yes."), ("yes", "no"), ("Y\u00c9S", "ye\u0301s"), ("yes  now", "yes now")):
        voices = [ComparedAnswer(TurnId(f"1.{n}.1"), answer, (WORDS[0],)) for n, answer in enumerate(answers)]
        yield f"answers {answers}", engine(voices, seats=2, similarity=800)
    known = ["What is the alpha beta?", "Gamma"]
    voices = [
        ComparedAnswer(TurnId("1.a.1"), "yes", ("alpha delta",)),
        ComparedAnswer(TurnId("1.b.1"), "yes", ("beta delta gamma",)),
    ]
    yield "words of the question", engine(voices, seats=2, similarity=800, known=known)


def goldens() -> dict[str, Golden]:
    """A golden for every version."""
    return {file_of(name, "overlap"): _golden(name, engine) for name, engine in OVERLAPS.items()}


def _golden(name: str, engine: OverlapEngine) -> Golden:
    def make() -> bytes:
        found = [(f"recorded {c.name}", _recorded(c, engine)) for c in recorded.checks("convergence")]
        return lines(name, {1: [*found, *cases(engine)]})

    return Golden(name, make)


def _recorded(checked: recorded.Checked, engine: OverlapEngine) -> ConvergenceFound:
    facts, voices = checked.facts, list[ComparedAnswer]()
    for turn in checked.check.over:
        reply, cited = facts.said[turn], facts.found.get(f"{turn}/citations")
        assert isinstance(reply, Position)
        struck = cited.struck(turn) if isinstance(cited, CitationsFound) else {}
        voices.append(ComparedAnswer(turn, reply.final_answer, _texts(reply, struck)))
    options = facts.started.options if facts.started else None
    assert isinstance(options, ConvergenceOptions)
    seats = len(debater_seats(options))
    return engine(voices, seats=seats, similarity=options.convergence_similarity, known=("Uncapped liability?",))


def _texts(reply: Position, struck: object) -> Sequence[str]:
    assert isinstance(struck, dict)
    return tuple(argument.text for argument in reply.arguments if argument.n not in struck)
