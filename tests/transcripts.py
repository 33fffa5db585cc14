"""Transcripts of panels for tests: hand-scored ones from files, and answers of few words.

A file names its claims and marks in short: a quotation is ``D1 0 40`` (document, start, end; verified), a mark
``B 1 accept``, an objection ``B 1 high``, an answer to an objection the letter of who raised it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from service.consensus.transcript import Answer, Transcript
from service.debate.findings import ArgumentVerdict, Citation, CitationsFound, CitationVerdict
from service.debate.model import seat_of
from service.debate.replies import BlindAnswer, Claim, RevisedAnswer
from service.debate.replies.panel import Interval, Mark, ObjectionAnswer, StrongestObjection

FOLDER = Path(__file__).parent / "vectors" / "consensus"
LETTERS = {f"debater-{n}": f"Model {letter}" for n, letter in enumerate("ABCDEFGHIJ", start=1)}


class Vector(NamedTuple):
    """A transcript, and what somebody with a pencil made of it; ``undefined`` stands for no number at all."""

    name: str
    transcript: Transcript
    expected: Mapping[str, Any]


def vectors() -> list[Vector]:
    """Every hand-scored transcript, by name."""
    found = []
    for path in sorted(FOLDER.glob("*.toml")):
        written = tomllib.loads(path.read_text())
        found.append(Vector(path.stem, transcript(written), written["expected"]))
    return found


def transcript(written: Mapping[str, Any]) -> Transcript:
    """A transcript as a file writes it."""
    said = {one["turn"]: answer(one) for one in written["answers"]}
    cited = {one["turn"]: citations(one) for one in written["answers"]}
    labels = {seat: LETTERS[seat] for seat in {seat_of(turn) for turn in said}}
    return Transcript(written["type"], written["threshold"], labels, said, cited)


def answer(one: Mapping[str, Any]) -> Answer:
    """An answer as a file writes it: blind in the first round; yes, by the words, 90 % sure unless told."""
    sure = one.get("confidence", 90)
    common: dict[str, Any] = {
        "answer": one.get("answer", "Yes."),
        "stance": one.get("stance", "affirmative"),
        "framework": one.get("framework", "textual"),
        "claims": tuple(_claim(claim, sure) for claim in one["claims"]),
        "overall_confidence": sure,
        "assumptions": (),
        "probability": Interval(*one["probability"]) if "probability" in one else None,
    }
    if one["turn"].startswith("1."):
        return BlindAnswer(**common)
    objection = one["objection"].split() if "objection" in one else None
    return RevisedAnswer(
        **common,
        learned_from_others=one.get("learned", ""),
        corrections=one.get("corrections", ""),
        still_challenges=one.get("challenges", ""),
        unresolved="",
        marks=tuple(_mark(*mark.split()) for mark in one.get("marks", ())),
        objection=StrongestObjection("It may fail.", f"Model {objection[0]}", int(objection[1]), objection[2])
        if objection
        else None,
        answers_to_objections=tuple(
            ObjectionAnswer(f"Model {letter}", "It does not.") for letter in one.get("answers_to", ())
        ),
    )


def citations(one: Mapping[str, Any]) -> CitationsFound:
    """The verdicts on an answer's quotations: all verified; claims under ``struck`` are struck."""
    struck = one.get("struck", ())
    return CitationsFound(
        tuple(
            ArgumentVerdict(
                one["turn"],
                claim["n"],
                tuple(_verified(quote) for quote in claim.get("quotes", ())),
                "uncited" if claim["n"] in struck else None,
            )
            for claim in one["claims"]
        )
    )


def _claim(claim: Mapping[str, Any], sure: int) -> Claim:
    quotes = tuple(Citation("a passage of the document", quote.split()[0]) for quote in claim.get("quotes", ()))
    return Claim(
        claim["n"], claim["text"], claim.get("confidence", sure), quotes, "evidence" if quotes else "reasoning"
    )


def _mark(letter: str, n: str, mark: Any, confidence: str = "90") -> Mark:
    return Mark(f"Model {letter}", int(n), mark, int(confidence))


def _verified(quote: str) -> CitationVerdict:
    source, start, end = quote.split()
    return CitationVerdict("verified", source, (int(start), int(end)))
