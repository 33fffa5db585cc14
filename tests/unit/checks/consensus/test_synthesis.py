"""A panel's synthesis beside the claims that all of its debaters accept."""

from __future__ import annotations

from typing import Any

import pytest

from service.checks.consensus.synthesis import compare_synthesis
from service.debate.findings import SynthesisFound
from service.debate.turns import turn_id
from tests.fixtures.transcripts import transcript

TURN = turn_id(2, "synthesizer")
LIMIT = "The limit covers data loss."
REVERSED = "Liability is unlimited."


def _answer(r: int, n: int, claim: str, mark: str = "accept", **said: Any) -> dict[str, Any]:
    marks = [f"{'BA'[n - 1]} 1 {mark}"] if r > 1 else []
    return {
        "turn": f"{r}.debater-{n}.1",
        "claims": [{"n": 1, "text": claim, "quotes": ["D1 0 40"]}],
        "marks": marks,
    } | said


def _compared(synthesis: str, *answers: dict[str, Any], kind: str = "factual") -> SynthesisFound:
    return compare_synthesis(transcript({"type": kind, "threshold": 850, "answers": answers}), TURN, synthesis)


def _two(r: int, **said: Any) -> list[dict[str, Any]]:
    return [_answer(r, n, LIMIT, **said) for n in (1, 2)]


def test_a_synthesis_excludes_the_claims_that_all_accept() -> None:
    found = _compared(REVERSED, *_two(1), *_two(2))
    assert [(pair.turns, pair.numbers) for pair in found.opposed] == [
        ((TURN, "1.debater-1.1"), (0, 1)),
        ((TURN, "1.debater-2.1"), (0, 1)),
    ]
    assert not _compared("The limit covers lost data.", *_two(1), *_two(2)).opposed


def test_after_the_blind_round_its_claims_are_compared() -> None:
    assert len(_compared(REVERSED, *_two(1)).opposed) == 2


@pytest.mark.parametrize("mark", ["reject", "unsure"])
def test_a_claim_that_a_debater_does_not_accept_may_be_excluded(mark: str) -> None:
    assert not _compared(REVERSED, *_two(1), *_two(2, mark=mark)).opposed


def test_a_claim_that_its_author_has_corrected_may_be_excluded() -> None:
    before = [_answer(1, n, "The cap is EUR 1 million.") for n in (1, 2)]
    after = [_answer(2, n, "The cap is EUR 2 million.") for n in (1, 2)]
    assert not _compared("The cap is EUR 2 million.", *before, *after).opposed


def test_ideas_of_a_brainstorm_are_not_compared_and_percentages_of_a_prediction_neither() -> None:
    assert not _compared(REVERSED, *_two(1), *_two(2), kind="brainstorm").opposed
    estimate = [_answer(r, n, "The likelihood is 60 percent.", probability=[55, 65]) for r in (1, 2) for n in (1, 2)]
    assert not _compared("The likelihood is 58 percent.", *estimate, kind="prediction").opposed
    assert _compared("The likelihood is 58 percent.", *estimate).opposed
