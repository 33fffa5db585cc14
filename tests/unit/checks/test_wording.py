"""Softening in many wordings, and whether a point gives a ground: the words of critics and of contracts."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from service.checks.judgement import Attacked, check_critique
from service.checks.judgement.wording.grounds import gives_ground
from service.checks.judgement.wording.softening import softenings, unquoted
from service.debate.findings import ArgumentVerdict, Citation, CitationVerdict, CritiqueFound
from service.debate.replies import Critique, Point, Proposal, Statement
from service.debate.turns import TurnId

SAID: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "vectors/goldens/cases/critics-words.json").read_text(encoding="utf-8")
)
PARAPHRASED = 8
"""Lazy critiques of the file that code does not see: paraphrases, platitudes and remarks in general words."""


def judged(said: dict[str, Any]) -> CritiqueFound:
    """The finding on a critique of the file; a point that cites quotes a passage of its own."""
    arguments = tuple(
        Statement(n, text, (Citation(f"passage {n}", "D1"),))
        for n, text in enumerate(SAID["arguments"][said["arguments"]], 1)
    )
    points = tuple(
        Point(
            n,
            point["text"],
            tuple(point["attacks"]),
            (Citation(f"other {n}", "D1"),) if point["cites"] else (),
            "evidence" if point["cites"] else "reasoning",
        )
        for n, point in enumerate(said["points"], 1)
    )
    verdicts = [
        ArgumentVerdict(TurnId("1.critic.1"), p.n, tuple(CitationVerdict("verified") for _ in p.citations))
        for p in points
    ]
    proposal = Proposal("The proposition holds as it is framed in this case.", arguments, "upheld")
    return check_critique(
        [Attacked(proposal)], [], Critique("It does not hold.", points, 8, said["conclusion"]), verdicts
    )


@pytest.mark.parametrize("text", SAID["softened"])
def test_softening_is_seen_in_many_wordings(text: str) -> None:
    found = softenings(unquoted(text))

    assert found
    assert all(soft.phrase in " ".join(text.lower().split()) for soft in found)


@pytest.mark.parametrize("text", SAID["honest"])
def test_legal_english_and_an_opponents_words_are_no_softening(text: str) -> None:
    assert softenings(unquoted(text)) == ()


@pytest.mark.parametrize("said", SAID["reasoned"], ids=lambda said: said["points"][0]["text"][:40])
def test_a_reasoned_challenge_is_not_sent_back(said: dict[str, Any]) -> None:
    found = judged(said)

    assert (found.weak, found.softening) == ((), ())


def test_most_lazy_challenges_are_sent_back() -> None:
    passed = [said["points"][0]["text"] for said in SAID["lazy"] if not judged(said).weak]

    assert len(passed) <= PARAPHRASED, passed


@pytest.mark.parametrize(
    ("text", "evidence", "ground"),
    [
        ("Argument 1 is sound, but clause 12 voids the cap for data breaches and cartel fines.", False, True),
        ("Argument 1 is sound, but it could be clearer.", False, False),
        ("Nothing in the documents contradicts the argument, and no flaw is apparent.", False, False),
        ("The argument does not address the gap that clause 12 tears for cartel fines.", False, True),
        ("Clause 12 carves data breaches out.", True, True),
        ("Clause 12 confirms it.", True, False),
        ('It says "nothing here limits liability for cartel fines and data breaches".', False, False),
        ("Clause 4 lacks a deadline for cartel fines, although this does not affect the conclusion.", False, False),
        ("Die Haftung ist nicht begrenzt, weil Anlage vier Kartellbussen ausnimmt.", False, True),
    ],
)
def test_a_ground_is_what_is_left_without_praise_and_quotations(text: str, evidence: bool, ground: bool) -> None:
    attacked = "The cap of clause 9 limits what is owed to the fees that are paid in a year."

    assert gives_ground(text, attacked, evidence=evidence, english=True) is ground


def test_a_point_in_another_language_than_english_is_compared_by_its_words_alone() -> None:
    attacked = "Die Haftung der Lieferantin ist auf die Entgelte eines Jahres begrenzt."

    assert gives_ground("Kartellbussen nimmt Anlage vier ausdruecklich aus.", attacked, evidence=False, english=False)
    assert not gives_ground("Die Haftung der Lieferantin ist begrenzt.", attacked, evidence=False, english=False)


@pytest.mark.parametrize(
    "piece",
    [
        "while ",
        "the main ",
        "argument 1 is, ",
        "very ",
        ", ",
        "I find the ",
        "it is true that ",
        "\u2018",
        '"',
        "I agree, ",
        "No. ",
    ],
)
def test_hostile_repetition_takes_no_more_than_a_moment(piece: str) -> None:
    text = (piece * 20_000)[:20_000]

    begun = time.process_time()
    softenings(unquoted(text))
    gives_ground(text, text[:5_000], evidence=False, english=True)

    assert time.process_time() - begun < 5
