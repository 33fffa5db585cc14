"""Recorded debates between two GPT-4 debaters and a judge, played again as stances with what they said."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from service.debate.entries import Entry, TurnSpoke
from service.debate.facts import Facts
from service.debate.kernel import replay
from service.debate.model import Turn
from service.debate.replies import Argument, ConfidenceLevel, Judgement, Reply, Statement
from service.debate.turns import TurnId
from tests.fixtures.debates import a_case, drive, outcome, turns_asked
from tests.unit.debate.between import a_start, asked, stances, verdict_of

pytestmark = pytest.mark.replay

QUALIFY = 87
"""How many of the recorded debates between GPT-4 debaters have the turns for it: all of them. Each round has a turn of
either debater, and the judge's last turn closes with the final judgement."""
JUDGED_RIGHT = 68
"""In how many of them the judge's final judgement is for the true answer, counted from the data alone."""
LEVELS: tuple[tuple[float, ConfidenceLevel], ...] = ((0.9, "HIGH"), (0.7, "MODERATE"), (0.0, "LOW"))
"""How sure the judge was of the answer that it held for the likelier one, as a level."""


class Recorded(NamedTuple):
    """A recorded debate: the two answers, what was argued for them round by round, and the final judgement."""

    question: str
    answers: tuple[str, str]
    rounds: tuple[tuple[str, str], ...]
    judgement: tuple[float, float]
    correct: int
    because: str


def plain(text: str) -> str:
    """What was said, without the marks around what was quoted."""
    return re.sub(r"</?quote>", "", text).strip()


def recorded(shared: Path) -> list[Recorded]:
    """The debates between GPT-4 debaters that have the turns for two debaters and a judge."""
    lines = (shared / "data/transcripts/debates.jsonl").read_text(encoding="utf-8").splitlines()
    debates = [json.loads(line) for line in lines]
    return [found for d in debates if d["setting"] == "gpt-4_debate" and (found := read(d))]


def read(debate: dict[str, object]) -> Recorded | None:
    """One of them; ``None`` where a turn is missing or says nothing."""
    turns = debate["turns"]
    assert isinstance(turns, list)
    a, b = ([plain(t["text"]) for t in turns if t["role"] == f"debater_{who}"] for who in "AB")
    order = [t["role"] for t in turns if t["role"] != "judge"]
    last, answers, judgement = turns[-1], debate["answers"], debate["final_judgement"]
    assert isinstance(answers, list)
    assert isinstance(judgement, list)
    whole = a and all([*a, *b]) and order == ["debater_A", "debater_B"] * len(a)
    if not whole or last["role"] != "judge" or not last["end"]:
        return None
    because = plain(last["text"]) or "The judge gave no reason."
    one, other = (answer.strip() for answer in answers)
    correct = debate["correct_index"]
    assert isinstance(correct, int)
    rounds = tuple(zip(a, b, strict=True))
    return Recorded(str(debate["question"]), (one, other), rounds, (judgement[0], judgement[1]), correct, because)


def said(debate: Recorded, turn: Turn, facts: Facts) -> Reply:
    """What was said at this place."""
    if turn.seat != "judge":
        return Argument((Statement(1, debate.rounds[turn.round - 1][int(turn.seat[-1]) - 1], (), "reasoning"),))
    likelier = max(debate.judgement)
    winner = debate.answers[debate.judgement.index(likelier)] if min(debate.judgement) < likelier else None
    level = next(level for least, level in LEVELS if likelier >= least)
    return Judgement(f"{likelier:.2f} for it.", winner, debate.because, level, ("Only the story could say.",))


def test_every_recorded_debate_plays_as_it_was_recorded(shared: Path) -> None:
    debates = recorded(shared)
    right, levels = 0, Counter[str]()

    for debate in debates:
        options = stances(*debate.answers, max_rounds=len(debate.rounds), synthesizer=False)
        case = a_case(question=debate.question)
        entries = drive(a_start(options), partial(said, debate), case=case)

        replay(case, entries)
        check(debate, entries)
        result = verdict_of(entries)
        right += result.winner_stance == debate.answers[debate.correct]
        levels[outcome(entries).confidence_level or ""] += 1

    assert len(debates) == QUALIFY
    assert right == JUDGED_RIGHT
    assert levels == {"MODERATE": 80, "LOW": 7}, "62 judges were highly sure, of debates that cite no document"


def check(debate: Recorded, entries: Sequence[Entry]) -> None:
    """Every word is in the record at its place, the judge was asked once on all of it, and its word stands."""
    rounds = len(debate.rounds)
    spoke = {entry.turn: entry.reply for entry in entries if isinstance(entry, TurnSpoke)}
    told = [reply.arguments[0].text for reply in spoke.values() if isinstance(reply, Argument)]
    assert told == [text for both in debate.rounds for text in both]
    assert list(spoke) == turns_asked(entries)
    judge = asked(entries, TurnId(f"{rounds}.judge.1"))
    assert sorted(judge.sees) == sorted(turn for turn in spoke if turn != judge.id)
    assert ("manyRounds" in outcome(entries).flags) is (rounds > 4)
    verdict = verdict_of(entries).verdict
    assert verdict is not None
    assert verdict.reasoning == debate.because
    decided = debate.judgement[0] != debate.judgement[1]
    assert (verdict.winner is not None) is decided
