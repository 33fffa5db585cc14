"""What each format decided, in one list and one sentence, and who stands against it: every line of the table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from service.debate.entries import CaseReceived, Rule, TurnAsked
from service.debate.facts import Facts
from service.debate.findings import ConsensusFound, Finding
from service.debate.model import (
    BallotOptions,
    Check,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    StancesOptions,
    Turn,
)
from service.debate.replies import (
    Ballot,
    BlindAnswer,
    Judgement,
    Moderation,
    Position,
    Reply,
    RevisedAnswer,
    Ruling,
    Synthesis,
)
from service.debate.replies.panel import Challenge, Endorsement, Idea
from service.errors import IllegalEntry
from service.report import Result, build_decision, build_result, markdown, summary_of
from service.report.decision_labels import DECIDERS, OUTCOMES
from service.report.document.decision import facts
from service.report.marks import MARK
from service.report.result.decision import Ended, decide
from service.report.result.decision_types import DecidedBy, DecisionOutcome
from service.report.result.terms import ConvergenceTerms
from tests.fixtures import formats, masking
from tests.fixtures.debates import DECLINED, a_case, a_start, canned, drive, found
from tests.fixtures.results import decided
from tests.unit.report.played import FORMATS, lines, played, told
from tests.unit.report.quoting import marking, quoting

pytestmark = pytest.mark.many

PAGE = Path(__file__).resolve().parents[4] / "docs" / "formats.md"
VOTING = BallotOptions(tuple(Debater(name) for name in "abcde"), 1, formats.VOTES, 3, human_review=False)
JUDGED = ConvergenceOptions(3, 1, human_review=False, convergence_similarity=850)
VOTED = replace(JUDGED, judge=False)
BRAINSTORM = PanelOptions(2, 1, False, "brainstorm", "rules", formats.THRESHOLDS)
ARGUED = StancesOptions(
    tuple(Debater(name, stance=stance) for name, stance in zip("abc", formats.STANCES, strict=False)),
    1,
    human_review=False,
)


def saying(kind: type[Any], **changes: Any) -> Any:
    """Canned replies, with these members in those of one kind."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        found = canned(turn, facts)
        return replace(found, **changes) if isinstance(found, kind) else found

    return reply


def voting(*votes: str, first: str | None = None) -> Any:
    """Each debater votes as given; with ``first``, for that option before it has read another's proposal."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        found = canned(turn, facts)
        vote = votes[int(turn.seat.rpartition("-")[2]) - 1] if isinstance(found, Ballot) else ""
        blind = first is not None and ".proposal." in turn.id
        return replace(found, vote=first if blind else vote) if isinstance(found, Ballot) else found

    return reply


def answering(*answers: str, blind: str | None = None) -> Any:
    """Each debater of convergence answers as given; with ``blind``, with that before it has read another's answer."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        found = canned(turn, facts)
        if not isinstance(found, Position):
            return found
        own = answers[int(turn.seat.rpartition("-")[2]) - 1]
        return replace(found, final_answer=blind if blind and turn.id.startswith("0.") else own)

    return reply


def otherwise(kind: type[Any], **changes: Any) -> Any:
    """The decider decides otherwise in the reverse order."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        found = canned(turn, facts)
        return replace(found, **changes) if isinstance(found, kind) and ".swapped." in turn.id else found

    return reply


def several() -> Result:
    return build_result("d1", lines(drive(a_start(positions=("adopt-x", "defer")))))


def ideas() -> Result:
    named = (Idea("Insure.", (Endorsement("Model A", 1),)),)
    return told(BRAINSTORM, saying(Synthesis, ideas=named))


def agreeing(answer: str = "Sign.") -> Result:
    def findings(check: Check, facts: Facts) -> Finding:
        given = found(check, facts)
        agreed = isinstance(given, ConsensusFound)
        return replace(given, overall=900, terminated=True, lagging=(), vetoes=()) if agreed else given

    options = PanelOptions(2, 2, False, "business", "rules", formats.THRESHOLDS)
    return told(options, saying(Synthesis, answer=answer), findings=findings)


def hidden(form: str, replies: Any) -> Result:
    """A debate whose decider is asked once more with the flagged passages masked."""
    return build_result("d1", lines(drive(masking.masking(form), replies, findings=masking.flagged)))


def cut_short() -> Result:
    return told(VOTING, voting(*["sign", "renegotiate"] * 3), refuses=bool)


def declined() -> Result:
    return build_result("d1", lines([CaseReceived(a_case(), "local"), DECLINED]))


def failed() -> Result:
    return build_result("d1", lines(drive(a_start(), fails=lambda turn, _: turn == "1.critic.1")))


def swapped(options: str | Options, replies: Any) -> Result:
    given = formats.plain(options) if isinstance(options, str) else options
    return told(replace(given, swapped=True), replies)


TIED = answering("Sign.", "Wait.", "Renegotiate.")
LINES: dict[tuple[str, str, str], tuple[Any, str | None, str]] = {
    ("adversarial", "upheld, modified, rejected", "the last moderation concludes so"): (
        lambda: told("adversarial/1", saying(Moderation, conclusion="rejected")),
        "moderator",
        "The proposition was rejected: The cap holds but for clause 12.",
    ),
    ("adversarial", "ranked", "there are several positions, and the last moderation ranks them"): (
        several,
        "moderator",
        "The moderator ranked “adopt-x” first of 2 positions, to be chosen only with changes: The cap holds but for ",
    ),
    ("stances", "chosen", "the judge names a winner"): (
        lambda: told(ARGUED),
        "judge",
        "The judge chose “sign as it stands”, argued by a: Clause 9 holds.",
    ),
    ("stances", "split", "the verdict combines several stances"): (
        lambda: told(ARGUED, saying(Judgement, winner=None)),
        "judge",
        "The judge chose no single stance: Clause 9 holds.",
    ),
    ("ballot", "chosen", "an option leads alone with the votes that are needed"): (
        lambda: told(VOTING, voting("sign", "sign", "sign", "renegotiate", "perhaps")),
        "vote",
        "Option “sign” was chosen with 3 of 5 votes.",
    ),
    ("ballot", "escalated", "that option is `escalate`"): (
        lambda: told(VOTING, voting(*["escalate"] * 5)),
        "vote",
        "A person has to decide: “escalate” had 5 of 5 votes.",
    ),
    ("ballot", "escalated", "the rounds are used up, and no option leads alone with the votes that are needed"): (
        lambda: told(VOTING, voting("sign", "sign", "renegotiate", "renegotiate", "perhaps")),
        "vote",
        "A person has to decide: no option leads alone with the 3 of 5 votes that are needed; “sign” and ",
    ),
    ("panel", "agreed", "consensus is reached, and the synthesizer has answered"): (
        agreeing,
        "agreement",
        "The panel agreed in round ",
    ),
    ("panel", "split", "consensus is not reached; the synthesizer's answer is the best there was"): (
        lambda: told("panel/1"),
        "synthesizer",
        "The panel did not agree; the synthesizer's answer: Sign.",
    ),
    ("panel", "ranked", "the question is a brainstorm: ideas by how many debaters name them"): (
        ideas,
        "endorsements",
        "The only idea, with 1 of 2 debaters for it: Insure.",
    ),
    ("convergence", "agreed", "no judge decides, and all answers converged or are the same at the end"): (
        lambda: told(VOTED, answering("Sign.", "Sign.", "Sign.")),
        "vote",
        "All 3 debaters agreed: Sign.",
    ),
    ("convergence", "chosen", "a judge answers"): (
        lambda: told(JUDGED),
        "judge",
        "The judge answered: Sign.",
    ),
    ("convergence", "chosen", "more debaters give this answer than any other"): (
        lambda: told(VOTED, answering("Sign.", "Sign.", "Wait.")),
        "vote",
        "2 of 3 debaters answered: Sign.",
    ),
    ("convergence", "chosen", "answers are level, and the rule for that takes one"): (
        lambda: told(VOTED, TIED),
        "tieRule",
        "3 answers are level, so that of the debater declared first was taken: Sign.",
    ),
    ("convergence", "split", "answers are level, and the caller wanted none taken then"): (
        lambda: told(replace(VOTED, ties="noAnswer"), TIED),
        "vote",
        "No answer: 3 answers are level, and none was to be taken then.",
    ),
    (
        "adversarial, stances, convergence",
        "undecided",
        "the decider, asked again in the reverse order, decided otherwise (`orderSensitive`)",
    ): (
        lambda: swapped("stances/1", otherwise(Judgement, winner="do not sign")),
        None,
        "No decision: the decider, asked again in the reverse order, decided otherwise.",
    ),
    (
        "adversarial, stances, panel, convergence",
        "undecided",
        "the decider, asked again without the passages that speak to a model, decided otherwise (`injectionSensitive`)",
    ): (
        lambda: hidden("stances/1", masking.otherwise(winner="do not sign")),
        None,
        "No decision: the decider, asked again without the passages that speak to a model, decided otherwise.",
    ),
    ("any", "undecided", "the debate was cut short before a decision"): (cut_short, None, "No decision: the money "),
    ("any", "declined", "the gate held no debate"): (declined, "gate", "No debate was held, because the "),
    ("any", "none", "the debate failed or was aborted"): (failed, None, "No decision: the debate failed ("),
}


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_every_line_of_the_table_is_decided_so(line: tuple[str, str, str]) -> None:
    play, by, answer = LINES[line]

    found = decided(play())

    assert (found.outcome in line[1].split(", "), found.by) == (True, by)
    assert found.answer.startswith(answer)
    assert (found.confidence is None) == (by in (None, "gate"))
    assert found.outcome != "none" or found.human_review.required


@pytest.mark.parametrize("conclusion", ["upheld", "modified", "rejected"])
def test_a_conclusion_is_its_outcome(conclusion: str) -> None:
    found = decided(told("adversarial/1", saying(Moderation, conclusion=conclusion)))

    assert found.outcome == conclusion


@pytest.mark.parametrize(
    ("form", "replies"),
    [
        ("adversarial/1", otherwise(Moderation, conclusion="rejected")),
        ("convergence/1", otherwise(Ruling, final_answer="Do not sign")),
    ],
)
def test_a_decision_that_hangs_on_the_order_is_none_in_each_such_format(form: str, replies: Any) -> None:
    r = swapped(form, replies)

    assert "orderSensitive" in r.flags
    assert (decided(r).outcome, decided(r).dissent) == ("undecided", None)


@pytest.mark.parametrize("form", ["adversarial/1", "convergence/1"])
def test_a_decision_that_hangs_on_flagged_passages_is_none_in_each_such_format(form: str) -> None:
    r = hidden(form, masking.otherwise(**masking.ANOTHER[form]))

    assert "injectionSensitive" in r.flags
    assert (decided(r).outcome, decided(r).dissent) == ("undecided", None)
    beside = [one.turn for one in r.weighed if one.masked]
    beside += [detail.masked_moderation.turn for detail in r.round_details if detail.masked_moderation]
    assert beside == [masking.MASKED[form]]


@pytest.mark.parametrize("form", sorted(masking.MASKED))
def test_a_report_says_what_asking_masked_showed_and_has_the_reply(form: str) -> None:
    same, other = (hidden(form, replies) for replies in (canned, masking.otherwise(confidence_level="LOW")))

    told_so = {fact.term: fact.value for fact in facts(same)}
    assert told_so["Asked again with the flagged passages masked"].startswith("decided the same")
    assert [one.why for one in other.differing] == ["masked"]


def test_the_page_has_these_lines_and_no_others() -> None:
    text = PAGE.read_text(encoding="utf-8").split("| format | `outcome` | when |")[1].split("\n\n")[0]
    rows = [tuple(cell.strip() for cell in row.split("|")[1:4]) for row in text.splitlines()[2:]]

    assert [(a, re.sub("`", "", b), c) for a, b, c in rows] == list(LINES)
    assert {name for _, names, _ in LINES for name in names.split(", ")} == set(get_args(DecisionOutcome))
    assert set(OUTCOMES) == set(get_args(DecisionOutcome))
    assert set(DECIDERS) == set(get_args(DecidedBy))


@pytest.mark.parametrize(
    ("rule", "task_type", "observed", "why"),
    [
        ("forced", "contract", "contract", "a caller who is entitled to it asked for no debate."),
        ("policy", "contract", "contract", "policy holds no debate on the task type “contract”."),
        ("risk", "other", "other", "the task type “other” is in no risk category."),
        ("risk", "hr", "'hr', which policy does not know; it knows: a", "the task type is 'hr', which policy does not"),
        ("contested", "contract", "contract", "the matter is declared not contested, as a factual lookup."),
        ("uncertain", "contract", "contract", "nothing shows doubt of the single answer."),
    ],
)
def test_a_declined_case_says_why_in_one_sentence(rule: Any, task_type: str, observed: str, why: str) -> None:
    rows = (Rule("risk", observed, "a", False, "decline"),)
    decision = replace(DECLINED.decision, decided_by=rule, rules=rows)
    case = replace(a_case(), task_type=task_type)

    r = build_result("d1", lines([CaseReceived(case, "local"), replace(DECLINED, decision=decision)]))

    assert decided(r).answer.startswith(f"No debate was held, because {why}")
    assert markdown(r).count(why) == 1, "and once in a report"


# -- what stands against it


def test_the_stances_that_lost_are_dissent_that_was_assigned() -> None:
    found = decided(told(ARGUED)).dissent

    assert found is not None
    assert found.kind == "assigned"
    assert [(one.name, one.holds, one.points) for one in found.by] == [("b", "do not sign", 2), ("c", "renegotiate", 2)]
    assert found.text == "Stances that lost: b (“do not sign”), c (“renegotiate”)."


def test_a_minority_and_those_who_gave_way_are_a_ballots_own_dissent() -> None:
    minority = decided(told(VOTING, voting("sign", "sign", "sign", "renegotiate", "perhaps"))).dissent
    # With a threshold of all five, the vote goes on after the first proposals.
    changed = decided(told(replace(VOTING, consensus_threshold=5), voting(*["sign"] * 5, first="renegotiate")))

    assert minority is not None
    assert minority.kind == "own"
    assert [(one.name, one.holds, one.until) for one in minority.by] == [
        ("d", "renegotiate", "end"),
        ("e", None, "end"),
    ]
    assert minority.text == "Of another view at the end: d (“renegotiate”), e (abstained)."
    assert (changed.outcome, changed.dissent) in (("escalated", None), ("chosen", changed.dissent))


def test_a_debater_that_changed_its_vote_after_reading_the_others_is_named() -> None:
    def replies(turn: Turn, facts: Facts) -> Reply:
        found = canned(turn, facts)
        late = ".proposal." in turn.id and turn.seat == "debater-5"
        return replace(found, vote="renegotiate" if late else "sign") if isinstance(found, Ballot) else found

    found = decided(told(replace(VOTING, consensus_threshold=5), replies))

    assert found.outcome == "chosen"
    assert found.dissent is not None
    assert [(one.name, one.holds, one.until) for one in found.dissent.by] == [("e", "renegotiate", "firstDraft")]
    assert found.dissent.text == "Of another view before reading the others, and not any more: e (“renegotiate”)."


def test_other_answers_at_the_end_and_at_first_are_the_own_dissent_of_convergence() -> None:
    found = decided(told(VOTED, answering("Sign.", "sign", "Wait.", blind="Renegotiate."))).dissent

    assert found is not None
    assert found.kind == "own"
    assert [(one.holds, one.until) for one in found.by] == [
        ("Renegotiate.", "firstDraft"),
        ("Renegotiate.", "firstDraft"),
        ("Wait.", "end"),
    ]


def test_debaters_of_a_panel_that_only_contest_a_claim_are_not_said_to_hold_otherwise() -> None:
    def replies(turn: Turn, facts: Facts) -> Reply:
        found = canned(turn, facts)
        if isinstance(found, RevisedAnswer):
            return replace(
                found, stance="affirmative", still_challenges=(Challenge("Model A", 1, "It needs a limit."),)
            )
        return replace(found, stance="affirmative") if isinstance(found, BlindAnswer) else found

    found = decided(told("panel/1", replies)).dissent

    assert found is not None
    assert {one.holds for one in found.by} == {"affirmative"}
    assert found.text.startswith("Still contesting a claim of another debater: Model ")
    assert "affirmative" not in found.text


def test_the_opposite_stance_in_a_panel_is_its_own_dissent() -> None:
    def replies(turn: Turn, facts: Facts) -> Reply:
        found = canned(turn, facts)
        stance: Any = "negative" if turn.seat == "debater-3" else "affirmative"
        return replace(found, stance=stance) if isinstance(found, BlindAnswer) else found

    found = decided(told(replace(formats.plain("panel/1"), max_rounds=1), replies)).dissent

    assert found is not None
    assert found.kind == "own"
    assert [(one.seat, one.holds) for one in found.by] == [("debater-3", "negative")]
    assert found.text == f"Of another view at the end: {found.by[0].name} (no)."


def test_a_critic_without_a_point_that_stands_is_no_dissent() -> None:
    settled = decided(told("adversarial/1", saying(Moderation, unresolved_points=())))
    left = decided(told("adversarial/1"))

    assert settled.dissent is None
    assert left.dissent is not None
    assert left.dissent.kind == "assigned"
    assert left.dissent.text == "The moderator leaves 1 point open; the critic's thesis: The cap leaks."


# -- the words of a decider


@pytest.mark.parametrize(
    ("synthesis", "answer"),
    [
        ("The question is whether clause 9 holds. It holds.", ": It holds."),
        ("**Answer:** The cap holds, up to USD 5,000.50.", ": The cap holds, up to USD 5,000.50."),
        ("Capped at 5 million", ": Capped at 5 million."),
        ("責任は上限付きである。次の理由による。", ": 責任は上限付きである。"),
    ],
)
def test_the_answer_is_the_lead_and_one_whole_sentence(synthesis: str, answer: str) -> None:
    found = decided(told("adversarial/1", saying(Moderation, synthesis=synthesis))).answer

    assert found.startswith("The proposition stands only in a narrower or changed form")
    assert found.endswith(f"form{answer}")


def test_a_bare_answer_and_one_without_words_are_sentences_all_the_same() -> None:
    options, plain = (
        JUDGED,
        msgspec.convert({"format": "convergence", "rounds": 1, "decidedBy": "judge"}, ConvergenceTerms),
    )

    said = [
        decide(
            Ended("May we?", "completed", "consensus", "", (), options, replace(plain, final_answer=words), synthesis)
        ).answer
        for words, synthesis in (
            ("Yes", "Yes\n\nClause 9 allows it. So does clause 10."),
            ("**No.**", "**No.**"),
            ("It depends.", None),
            (" \n", " \n"),
            ("# ", "# "),
        )
    ]

    assert said == [
        "The judge answered: Yes. Clause 9 allows it.",
        "The judge answered: No (the question: “May we?”).",
        "The judge answered: It depends (the question: “May we?”).",
        "The judge answered.",
        "The judge answered.",
    ]


@pytest.mark.parametrize("form", ["convergence", "panel"])
def test_no_answer_is_a_bare_yes_or_no(form: str) -> None:
    r = told(VOTED, answering("Yes", "yes.", "Yes")) if form == "convergence" else agreeing("No.")

    found = decided(r).answer

    assert re.fullmatch(r".*(?: agreed: Yes| in round \d: No) \(the question: “.+”\)\.", found), found
    assert r.question[:40] in found


@pytest.mark.parametrize(
    ("conclusion", "synthesis", "answer"),
    [
        ("upheld", "The proposition stands: clause 9 holds.", "In the moderator's view the proposition stands: "),
        (
            "upheld",
            "The proposition is not upheld by clause 9.",
            "The proposition stands in the moderator's view: The prop",
        ),
        ("upheld", "The proposition holds only in part.", "The proposition stands in the moderator's view: The "),
        (
            "modified",
            "The proposition holds only in part.",
            "In the moderator's view the proposition holds only in part",
        ),
        (
            "modified",
            "The proposition is rejected by clause 12.",
            "The proposition stands only in a narrower or changed form: ",
        ),
        (
            "rejected",
            "The proposition fails, because clause 12 bars it.",
            "In the moderator's view the proposition fails,",
        ),
        (
            "rejected",
            "The proposition does hold under clause 9.",
            "The proposition was rejected: The proposition does hold ",
        ),
    ],
)
def test_an_answer_says_once_what_became_of_the_proposition(conclusion: str, synthesis: str, answer: str) -> None:
    found = decided(told("adversarial/1", saying(Moderation, conclusion=conclusion, synthesis=synthesis))).answer

    assert found.startswith(answer)
    assert found.endswith(synthesis[20:])


@pytest.mark.parametrize(
    ("conclusion", "rest"),
    [
        ("upheld", "The proposition stands today but has to be rejected at renewal."),
        ("upheld", "The proposition stands for the first year."),
        ("upheld", "The proposition holds; from 2027 on it fails."),
        ("upheld", "The proposition is right: nothing else in clause 9 is, and the whole is to be rejected."),
        ("upheld", "The proposition holds because clause 9 says so, although clause 12 ends it."),
        ("upheld", "The proposition stands: it does not hold against clause 12."),
        ("modified", "The proposition holds, but for clause 12."),
        ("modified", "The proposition holds in part, and that part alone is upheld."),
        ("rejected", "The proposition fails at clause 12 and stands otherwise."),
        ("rejected", "The proposition is wrong in one word and right in all others."),
    ],
)
def test_no_sentence_takes_the_place_of_the_conclusion_that_it_turns_against(conclusion: str, rest: str) -> None:
    found = decided(told("adversarial/1", saying(Moderation, conclusion=conclusion, synthesis=rest))).answer

    lead = {"upheld": "The proposition stands in the moderator's view: "}
    lead |= {"modified": "The proposition stands only in a narrower or changed form: "}
    assert found == lead.get(conclusion, "The proposition was rejected: ") + rest


@pytest.mark.parametrize(
    ("conclusion", "said"),
    [
        ("upheld", "first of 2 positions: "),
        ("modified", "first of 2 positions, to be chosen only with changes: "),
        ("rejected", "first of 2 positions, although the arguments carry none of them: "),
    ],
)
def test_a_ranking_says_whether_its_first_position_can_be_chosen(conclusion: str, said: str) -> None:
    entries = drive(a_start(positions=("adopt-x", "defer")), saying(Moderation, conclusion=conclusion))

    found = decided(build_result("d1", lines(entries)))

    assert (found.outcome, said in found.answer) == ("ranked", True)


def test_a_stance_is_not_repeated_where_the_verdict_begins_with_it() -> None:
    verdict = "Sign as it stands, because clause 9 holds. More."

    assert decided(told(ARGUED, saying(Judgement, verdict=verdict))).answer == (
        "The judge chose the stance of a: Sign as it stands, because clause 9 holds."
    )


def test_a_stance_is_told_where_the_verdict_turns_against_it() -> None:
    verdict = "Sign as it stands is what clause 12 forbids."

    assert decided(told(ARGUED, saying(Judgement, verdict=verdict))).answer == (
        f"The judge chose “sign as it stands”, argued by a: {verdict}"
    )


def test_a_long_sentence_is_cut_between_words_and_says_so() -> None:
    words = " ".join(f"word{n} USD {n} 000 000" for n in range(60)) + "."

    found = decided(told("adversarial/1", saying(Moderation, synthesis=words))).answer
    said = found.partition(": ")[2]

    assert said.endswith("…")
    assert len(said) <= 400
    assert words.startswith(said[:-1])
    assert re.match(r" (?:word|USD|\d+ 000 000)", words[len(said) - 1 :])


# -- hostile words


def test_the_words_of_a_decider_and_of_names_are_cut_in_an_answer() -> None:
    long = "x" * 90_000
    judged = decided(told(ARGUED, saying(Judgement, winner="y" * 300, verdict=long)))
    answered = decided(told(VOTED, answering(long, long, "z" * 5_000)))

    for one in (judged, answered):
        assert len(one.answer) < 700
        assert len(msgspec.json.encode(one)) < 2_000


@pytest.mark.parametrize("form", ["adversarial/1", "stances/1", "panel/1", "convergence/1"])
def test_a_mark_in_a_deciders_words_is_in_the_sentence_that_a_report_begins_with(form: str) -> None:
    r = told(form, quoting(), findings=marking)

    assert not MARK.search(decided(r).answer)
    assert MARK.search(markdown(r).split("## Decision")[1].split("**")[1])


def test_the_decision_alone_is_that_of_the_result() -> None:
    for form in map(played, FORMATS):
        entries = [line.entry for line in form]

        for end in (3, len(entries) - 1, len(entries)):
            assert build_decision(entries[:end]) == build_result("d1", form[:end]).decision


def test_no_decision_is_made_of_an_attempt_that_ends_and_never_began() -> None:
    entries = [line.entry for line in played("adversarial/1")]
    (first, *_) = [n for n, entry in enumerate(entries) if isinstance(entry, TurnAsked)]
    unbegun = [*entries[:first], *entries[first + 1 :]]

    with pytest.raises(IllegalEntry, match="ended and was never begun"):
        build_decision(unbegun)
    with pytest.raises(IllegalEntry, match="ended and was never begun"):
        build_result("d1", lines(unbegun))


def test_no_decision_is_made_of_entries_without_their_case() -> None:
    entries = [line.entry for line in played("adversarial/1")]

    with pytest.raises(IllegalEntry, match=r"from case\.received on"):
        build_decision(entries[1:])


def test_a_dissenter_of_convergence_has_the_name_that_the_case_gave_it() -> None:
    named = replace(VOTED, debaters=(Debater("optimist"), Debater("sceptic"), Debater("lawyer")))

    found = decided(told(named, answering("Sign.", "Wait.", "Sign.")))

    assert found.dissent is not None
    assert [one.name for one in found.dissent.by] == ["sceptic"]


def test_the_summary_of_a_declined_case_has_the_gates_rules_and_that_of_a_debate_has_not() -> None:
    assert summary_of(declined()).gate is not None
    assert summary_of(told(VOTED, answering("Sign.", "Sign.", "Sign."))).gate is None
    assert declined().coverage_absent in ("noRound", "noDocuments")
