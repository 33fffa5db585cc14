"""Words that say the opposite of the typed verdict beside them are flagged, at most MODERATE, and for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from service.debate.entries import CheckFound
from service.debate.findings import TextsFound
from service.debate.kernel import replay
from service.debate.model import Cap, Outcome
from service.debate.options import Position
from service.debate.turns import take_of
from tests.fixtures.debates import a_case, outcome, turns_asked
from tests.fixtures.quoting import INVENTED, play

FLAG = "wordsOpposeVerdict"
SWAPPED = {"swapped": True}
POSITIONS = (Position("adopt", "Adopt the platform."), Position("wait", "Wait for a year."))


class Spoken(NamedTuple):
    """A turn whose words carry the outcome, the path of the text, and words against its canned verdict."""

    form: str
    turn: str
    field: str
    against: str
    options: Mapping[str, Any] = {}


WORDS = [
    Spoken("adversarial", "1.moderator.1", "synthesis", "The proposition must be rejected in its entirety."),
    Spoken("adversarial", "1.moderator.swapped.1", "synthesis", "The proposition is upheld in full.", SWAPPED),
    Spoken("adversarial", "1.moderator.1", "synthesis", "The position 'wait' prevails.", {"positions": POSITIONS}),
    Spoken("stances", "1.judge.1", "verdict", "Do not sign prevails."),
    Spoken("stances", "1.judge.1", "reasoning", 'Therefore the stance "sign as it stands" must be rejected.'),
    Spoken("stances", "1.judge.1", "reasoning", "In the end, Viktor wins the debate."),
    Spoken("stances", "1.judge.swapped.1", "verdict", "I find for the stance do not sign.", SWAPPED),
    Spoken("panel", "2.synthesizer.1", "answer", "Sign. No consensus was reached."),
    Spoken("convergence", "0.judge.1", "justification", "So the answer is not to sign."),
    Spoken("convergence", "0.judge.swapped.1", "justification", "The final answer is: do not sign.", SWAPPED),
    Spoken("ballot", "1.debater-2.proposal.1", "stance", "I vote for renegotiate because the cap is low."),
]
each = pytest.mark.parametrize("who", WORDS, ids=lambda who: f"{who.form} {who.turn} {who.field}: {who.against}")


def ended(who: Spoken, text: str) -> Outcome:
    """The outcome, after the kernel has accepted the whole debate once more."""
    entries = play(who.form, {who.turn: {who.field: text}}, options=who.options)
    replay(a_case(), entries)
    assert all(take_of(turn) == 1 for turn in turns_asked(entries))
    return outcome(entries)


@each
def test_they_are_flagged_capped_and_for_a_person_and_nobody_is_asked_again(who: Spoken) -> None:
    end = ended(who, who.against)

    assert FLAG in end.flags
    assert Cap(FLAG, "MODERATE") in end.caps
    assert end.confidence_level in ("MODERATE", "LOW")
    assert FLAG in end.human_review.reasons


@each
def test_the_same_words_as_anothers_view_are_not(who: Spoken) -> None:
    for text in (
        f"The critic's view is short. {who.against.rpartition('Sign. ')[2]} That, at least, is what the critic says.",
        f'One reply reads "It is plain. {who.against} Nothing else is possible."',
        f"If clause 9.2 fell, {who.against}",
    ):
        assert FLAG not in ended(who, text).flags, text


def test_a_debater_whose_vote_did_not_carry_the_decision_is_not_flagged() -> None:
    who = WORDS[-1]
    votes = {f"1.debater-{n}.proposal.1": {"stance": "I vote for sign."} for n in (1, 2, 3)}
    assert FLAG not in outcome(play(who.form, votes)).flags


def test_a_first_take_that_another_replaced_does_not_count() -> None:
    said = {
        "1.moderator.1": {"synthesis": f"{INVENTED} Therefore the proposition must be rejected outright."},
        "1.moderator.2": {"synthesis": "It holds in part."},
    }
    entries = play("adversarial", said)
    found = [e.finding for e in entries if isinstance(e, CheckFound) and e.check == "1.moderator.1/texts"]

    assert [p.form for f in found if isinstance(f, TextsFound) for p in f.passages if p.opposed] == ["rejects"]
    assert FLAG not in outcome(entries).flags


def test_a_panel_without_consensus_is_not_told_to_have_had_one() -> None:
    alone = {"options": {"max_rounds": 1}}
    entries = play("panel", {"1.synthesizer.1": {"answer": "Sign. The panel reached consensus."}}, **alone)

    assert {"noConsensus", FLAG} <= {*outcome(entries).flags}
    assert outcome(entries).confidence_level == "LOW"
