"""A sentence that says the opposite of the typed verdict beside it is found by strong forms, and by nothing else."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from bench import corpora
from service.checks.given import ReadTexts
from service.checks.texts.verdicts import OpposedForm, opposed
from service.debate.findings import Passage
from service.debate.replies import Ballot, Conclusion, Judgement, Moderation, Reply, Ruling, Synthesis

OPEN = ("No court has read it.",)
STANCES = {"sign": "sign", "Ada": "sign", "do not sign": "do not sign", "Bo": "do not sign"}
VOTES = {vote: vote for vote in ("capped", "uncapped", "escalate")}
STATEMENTS = {"Statement 1": "adopt", "adopt": "adopt", "Statement 2": "wait", "Wait for a year.": "wait"}


def _found(path: str, text: str, reply: Reply, **beside: Any) -> list[Passage]:
    return list(opposed(ReadTexts(reply, (), (), (), {}, (), **beside), path, text))


def moderated(text: str, conclusion: Conclusion = "upheld", ranking: tuple[str, ...] = ()) -> list[Passage]:
    reply = Moderation((), (), (), False, text, "HIGH", OPEN, conclusion, ranking)
    return _found("synthesis", text, reply, sides=STATEMENTS if ranking else {})


def judged(text: str, winner: str | None = "sign") -> list[Passage]:
    return _found("reasoning", text, Judgement("Sign.", winner, text, "HIGH", OPEN), sides=STANCES)


def ruled(text: str, answer: str = "Yes, liability is capped at EUR 5 million.") -> list[Passage]:
    return _found("justification", text, Ruling(answer, text, "HIGH", OPEN))


def written(text: str, agreed: bool | None = True) -> list[Passage]:
    return _found("answer", text, Synthesis(text, "HIGH", OPEN), agreed=agreed)


def voted(text: str, vote: str = "capped") -> list[Passage]:
    return _found("stance", text, Ballot(text, (), vote), sides=VOTES)


STRONG: list[tuple[list[Passage], OpposedForm]] = [
    (moderated("The proposition must be rejected."), "rejects"),
    (moderated("The claim must be rejected."), "rejects"),
    (moderated("The cap covers all claims. The thesis fails, because clause 12 has none."), "rejects"),
    (moderated("**Verdict:** we reject the proposition."), "rejects"),
    (moderated("The critic is right on clause 12. On balance, the proposition cannot be upheld."), "rejects"),
    (moderated("The proposition is upheld in form. I find that the proposition is wrong."), "rejects"),
    (moderated("The proposition is plainly false and the Bank should not sign."), "rejects"),
    (moderated("The proposition is rejected in its entirety.", "modified"), "rejects"),
    (moderated("The proposition holds.", "rejected"), "upholds"),
    (moderated("I conclude that the proposition should be upheld.", "rejected"), "upholds"),
    (moderated("The proposition stands without reservation.", "modified"), "upholds"),
    (moderated("Statement 2 prevails.", ranking=("Statement 1", "Statement 2")), "otherPrevails"),
    (moderated("The position adopt must be rejected.", ranking=("Statement 1", "Statement 2")), "ownLoses"),
    (judged("Do not sign prevails."), "otherPrevails"),
    (judged("The winner is “do not sign”."), "otherPrevails"),
    (judged("Overall, Bo wins the debate.", "the stance 'sign'"), "otherPrevails"),
    (judged("I find for the stance do not sign.", "Ada"), "otherPrevails"),
    (judged("Sign prevails.", "do not sign"), "otherPrevails"),
    (judged("The stance 'sign' loses since clause 12 is uncapped."), "ownLoses"),
    (ruled("Clause 12 has no cap. So the answer is no."), "otherAnswer"),
    (ruled("The final answer is: liability is capped at EUR 9 million."), "otherAnswer"),
    (written("Sign. No consensus was reached."), "noConsensus"),
    (written("The debaters are split. Sign all the same."), "noConsensus"),
    (written("The panel reached consensus.", agreed=False), "consensus"),
    (voted("I vote for uncapped, because clause 12 has no cap."), "otherVote"),
    (voted("My vote goes to 'escalate'."), "otherVote"),
]
PLAIN = [
    moderated("The proposition holds: the cap covers all claims."),
    moderated("The proposition is not rejected."),
    moderated("The proposition cannot be rejected."),
    moderated("Nobody showed that the proposition must be rejected."),
    moderated("The proposition must be rejected if clause 12 applies."),
    moderated("The proposition fails only for fines."),
    moderated("The critic says it fails. The proposition must be rejected."),
    moderated("If clause 12 fell, two things would follow. The proposition must be rejected."),
    moderated("The proposition must be rejected. So says the critic."),
    moderated("The proposition must be rejected. Yet the cap holds."),
    moderated("The proposition must be rejected on its third limb."),
    moderated('The critique ends: "It leaks. The proposition must be rejected. Do not sign."'),
    moderated("Therefore the proposition fails, at first sight. In truth the proposition holds."),
    moderated("Must the proposition be rejected?"),
    moderated("The claim that fines are covered is wrong. The claim must be rejected."),
    moderated("- The proposition must be rejected."),
    moderated("The proposition must be rejected.", "modified"),
    moderated("The proposition is upheld.", "modified"),
    moderated("The proposition must be rejected.", "rejected"),
    moderated("The proposition must be rejected.", ranking=("Statement 1", "Statement 2")),
    moderated("Statement 2 prevails on cost.", ranking=("Statement 1", "Statement 2")),
    moderated("Statement 1 prevails.", ranking=("Statement 1", "Statement 2")),
    moderated("Statement 2 prevails.", ranking=("Statement 7", "Statement 2")),
    judged("Sign prevails."),
    judged("Do not sign prevails on cost."),
    judged("On cost, do not sign prevails."),
    judged("Do not sign prevails, but only in part."),
    judged("Do not sign.", "do not sign"),
    judged("Do not sign prevails.", None),
    judged("Do not sign prevails.", "a middle way"),
    judged("Bo argues well. Do not sign prevails. Sign prevails."),
    ruled("So the answer is yes."),
    ruled("The answer is a cap of EUR 5 million."),
    ruled("The answer is not in clause 9."),
    ruled("Debater 2 says that the answer is no."),
    written("There is no consensus on price."),
    written("No consensus was reached.", agreed=False),
    written("No consensus was reached.", agreed=None),
    written("The debaters agree on the cap.", agreed=False),
    voted("I vote for capped."),
    voted("I would vote for uncapped."),
    voted("I vote for uncapped if clause 12 stays."),
    voted("I vote for uncapped.", "whatever"),
]


@pytest.mark.parametrize(("found", "form"), STRONG)
def test_the_opposite_is_found_and_its_form_recorded(found: list[Passage], form: str) -> None:
    assert [(each.kind, each.status, each.form) for each in found] == [("verdict", "opposed", form)]


@pytest.mark.parametrize("found", PLAIN)
def test_anything_else_is_left_alone(found: list[Passage]) -> None:
    assert not found


def test_every_form_has_a_sentence() -> None:
    assert {form for _, form in STRONG} == set(get_args(OpposedForm))


def test_the_span_is_the_sentence() -> None:
    text = "The cap holds.  **Therefore the proposition fails.** \n"
    (found,) = moderated(text)
    assert text[slice(*found.span)] == "**Therefore the proposition fails.**"


def test_only_the_text_of_the_verdict_is_read() -> None:
    text = "The proposition must be rejected."
    reply = Moderation((), (text,), (), False, "It holds.", "HIGH", OPEN, "upheld")
    assert not _found("resolvedPoints[0]", text, reply)


def test_a_text_of_any_length_is_read_from_its_end_in_bounded_work() -> None:
    assert moderated("The cap holds. " * 20_000 + "The proposition must be rejected.")
    assert not moderated("The proposition must be rejected" + " and so on" * 20_000)


def test_of_the_texts_of_the_corpora_at_most_one_in_a_hundred_reads_as_the_opposite_of_any_verdict() -> None:
    """Whatever typed verdict stands beside it; those that are found say what the form says."""
    texts = [item.text for item in corpora.texts() if item.label == "honest"]
    found = [text for text in texts if moderated(text) or moderated(text, "modified") or moderated(text, "rejected")]
    found += [text for text in texts if judged(text) or written(text) or written(text, agreed=False) or voted(text)]
    assert len(texts) > 2_000
    assert len(found) <= len(texts) // 100
