"""Agreement by double negation, and attacks with as many negations, which it must not be taken for."""

from __future__ import annotations

import time

import pytest

from service.checks.judgement.wording.grounds import gives_ground
from service.checks.judgement.wording.polarity import agreements
from service.checks.judgement.wording.softening import softenings, unquoted

AGREES = [
    "It would be wrong to say that this argument fails; the clause bears it out.",
    "It would be wrong, on any view, to say that this argument fails.",
    "No one could deny that argument 2 holds.",
    "I cannot find fault with argument 1.",
    "There is nothing to object to in argument 3.",
    "There is nothing to object to in it.",
    "The argument does not fail.",
    "Argument 1 is far from mistaken.",
    "It would be a mistake to call this reading wrong.",
    "Nobody could seriously dispute argument 2.",
    "Argument 2 cannot be faulted.",
    "Argument 1 can hardly be doubted.",
    "It cannot be said that argument 1 is unsound.",
    "I fail to see any error in argument 3.",
    "I see no reason to doubt argument 1.",
    "To reject argument 1 would be wrong.",
    "Rejecting this argument would be a mistake.",
    "Nowhere does this argument go wrong.",
    "The reasoning is anything but flawed.",
    "By no means is the proposition wrong.",
    "Who could deny that argument 2 holds?",
    "It is wrong to say that this argument is not sound.",
    "One struggles to find a flaw in argument 2.",
    "It is hard to disagree with argument 1.",
    "This argument is free of error.",
    "There is no flaw in argument 1.",
    "It would be absurd to dispute the proposer's reading.",
    "Neither argument 1 nor argument 2 fails.",
    "The argument is neither wrong nor weak.",
    "I looked for a flaw and found none.",
    "It does not fail.",
    "I would not say that argument 3 is wrong.",
    "I have no objection to argument 1.",
    "It is not the case that the argument fails.",
    "Far from failing, argument 1 carries.",
    "It is impossible to refute the proposition.",
    "No reader could object to the proposal.",
    "I do not think that argument 1 is mistaken.",
    "No court would reject this reading.",
    "It would be a mistake not to accept argument 1.",
    "There is no denying argument 1.",
    "Nothing is wrong with this argument.",
    "How could this argument fail?",
    "I could not disagree less with argument 1.",
    "It is untrue that the argument fails.",
    "One would err in rejecting this argument.",
    "One would be hard pressed to deny argument 1.",
    "It is difficult to see how argument 2 could be wrong.",
    "I do not see how argument 1 could fail.",
    "There is no reason to reject argument 3.",
    "I do not say that argument 1 fails.",
    "I do not claim that the reading is mistaken.",
    "Argument 1 never fails.",
    "Argument 4 is without fault.",
    "Argument 4 is not without force.",
    "It is not as though argument 1 were wrong.",
    "Few readers would dispute argument 2.",
    "Hardly anyone could object to argument 1.",
    "The argument cannot be refuted.",
    "The argument is irrefutable.",
    "The reading is unobjectionable.",
    "It would take a fool to deny that argument 1 is right.",
    "Anyone who says that argument 1 fails is mistaken.",
    "Whoever rejects argument 1 errs.",
    "A critic who denied argument 1 would be wrong.",
    "The claim that argument 1 fails is false.",
    "That argument 1 fails is simply not the case.",
    "It is false that this reading is wrong.",
    "It is not possible to fault argument 2.",
    "I am unable to find an error in argument 1.",
    "I was unable to refute argument 1.",
    "My attempt to refute argument 1 fails.",
    "Every attempt to rebut argument 2 fails.",
    "No objection to argument 1 succeeds.",
    "No attack on argument 1 survives.",
    "Nothing can be said against argument 1.",
    "Nothing speaks against argument 1.",
    "I would be wrong to attack argument 1.",
    "It would be dishonest to pretend that the argument fails.",
    "Argument 1 withstands every attack.",
    "Argument 1 does not suffer from any defect.",
    "Argument 2 contains no error.",
    "Not one of the arguments fails.",
    "None of these arguments is wrong.",
    "The argument isn't wrong.",
    "You can't fault argument 1.",
    "I can't dispute argument 1.",
    "It's not wrong.",
    "I don't think the argument fails.",
    "I do not believe that the argument is flawed.",
]
ATTACKS = [
    "It is wrong to say that this argument holds.",
    "I deny that argument 1 holds.",
    "This argument fails.",
    "Argument 1 is wrong because it ignores clause 4 and the fine is not capped.",
    "I do not doubt that the argument is wrong.",
    "I do not deny that argument 1 fails.",
    "The proposer does not deny that the cap fails.",
    "The proposer does not dispute that organic growth was 1.4%.",
    "The argument does not deny the gap.",
    "Nobody disputes that the argument is wrong.",
    "The fix does not remove the failure.",
    "No one can deny that fines arise.",
    "It is not true that argument 1 holds.",
    "The argument does not hold.",
    "The argument cannot stand.",
    "None of this holds water.",
    "Nothing in the arguments works in Singapore.",
    "The argument fails and is wrong.",
    "The argument is wrong to deny that clause 9 is weak.",
    "The proposer fails to see that argument 1 is mistaken.",
    "The proposer fails to see the flaw.",
    "The argument does not address the gap that clause 12 tears for cartel fines.",
    "A missing clause is no mistake of the parties.",
    "The cap does not apply to fines, so the argument fails.",
    "Not tested is broken.",
    "The argument is wrong that clause 9 does not apply.",
    "It is wrong to deny that risk.",
    "The argument not only fails, it misleads.",
    "No doubt argument 1 fails.",
    "There is no doubt that argument 1 fails.",
    "The proposition does not survive clause 4.",
    "It would be right to say that this argument fails.",
    "Nothing supports argument 2.",
    "The argument has no answer to the flaw in the patch.",
    "The proposer cannot explain why the test failed.",
    "The argument does not explain the failure of the first fix.",
    "The testers did not find the flaw.",
    "No injection found is not the same as none there.",
    "The conclusion does not follow, and the premise is false.",
    "I reject argument 1.",
    "I object to the reading.",
    "I cannot accept that argument 1 holds.",
    "The argument is not supported.",
    "The thesis is untenable: nothing supports it.",
    "Without the replica the argument fails.",
    "No clause gives this reading; it is wrong.",
    "No evidence supports the argument that the fix failed.",
    "The argument fails without clause 4.",
    "If clause 4 is not void, the argument fails.",
    "This is not an error of form.",
    "The clause is not void, it is wrong.",
    "It would be wrong to say that this argument holds, because clause 8 lifts the cap.",
    "Nobody who reads clause 8 could say that the argument stands.",
    "I do not see how argument 1 could hold.",
    "I can find no support for argument 2.",
    "There is no reason to accept argument 1.",
    "It is hard to accept this reading.",
    "It would be a mistake to accept argument 1.",
    "Argument 1 is not right.",
    "The argument never gets that far: the fine is not capped.",
    "A system without it fails in a day.",
    "The critic's first fix did not fail by chance.",
]
ATTACKED = "The Supplier shall indemnify the Bank."


@pytest.mark.parametrize("text", AGREES)
def test_what_agrees_by_its_polarity_is_softening_and_no_ground_beside_any_citation(text: str) -> None:
    assert softenings(unquoted(text))
    assert not gives_ground(text, ATTACKED, evidence=True, english=True)


@pytest.mark.parametrize("text", ATTACKS)
def test_an_attack_with_negations_is_no_agreement(text: str) -> None:
    assert list(agreements(unquoted(text))) == []


@pytest.mark.parametrize("text", [t for t in AGREES if t.startswith(("The argument ", "Argument ", "This argument "))])
def test_one_negation_more_turns_an_agreement_into_an_attack(text: str) -> None:
    denied = f"It is false that {text[0].lower()}{text[1:]}"

    assert list(agreements(unquoted(denied))) == []


def test_the_grounds_beside_an_agreement_still_count() -> None:
    """A critic may grant one argument by double negation and attack it on a stated ground."""
    text = "Nobody could deny that argument 1 holds, but clause 12 voids the cap for cartel fines and data breaches."

    assert gives_ground(text, ATTACKED, evidence=False, english=True)


@pytest.mark.parametrize(
    "piece",
    ["not ", "the argument fails ", "I do not deny that ", ", on the ", "it is wrong to ", "neither nor ", "the "],
)
def test_hostile_repetition_takes_no_more_than_a_moment(piece: str) -> None:
    begun = time.process_time()
    list(agreements((piece * 20_000)[:20_000]))

    assert time.process_time() - begun < 5
