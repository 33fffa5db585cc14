"""The readable report of every format: each in the way that suits it, and none that takes agreement for truth."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from service.debate.ballot import PHASES
from service.debate.findings import Dimension
from service.debate.model import BallotOptions, ConvergenceOptions, Debater, HumanReview, PanelOptions, Turn
from service.debate.replies import Ballot, Judgement, Moderation, Reply, RevisedAnswer, Statement
from service.debate.replies.panel import Challenge, Endorsement, Idea, QuestionType, Synthesis
from service.report import Result, build_result, decision_labels, html, labels, markdown, pdf
from service.report.document.blocks import Sparkline
from service.report.document.sparkline import draw_sparkline, thousandths
from service.report.result.terms import BallotTerms, ConvergenceTerms
from tests.fixtures import formats
from tests.fixtures.debates import World, canned, start_of
from tests.fixtures.results import ballot, decided
from tests.unit.report.played import BETWEEN_DEBATERS, FORMATS, lines, told

pytestmark = pytest.mark.many

PROFILE = settings()
few = settings(max_examples=max(PROFILE.max_examples // 6, 1))


def part(report: str, title: str) -> str:
    """The part of a Markdown report under a title."""
    after = re.split(rf"\n## (?:Appendix [A-Z]: )?{re.escape(title)}\n", report)[1]
    return after.split("\n## ")[0]


def parts(report: str) -> list[str]:
    return re.findall(r"^## (.*)$", report, re.MULTILINE)


@pytest.fixture(scope="module")
def reports() -> dict[str, str]:
    return {form: markdown(told(form)) for form in FORMATS}


# -- stances


def test_stances_are_told_round_by_round_under_each_stance(reports: dict[str, str]) -> None:
    report = reports["stances/1"]

    for r in ("Round 1", "Round 2"):
        assert re.findall(r"^### (.*)$", part(report, r), re.MULTILINE) == [
            "sign as it stands (Ursula)",
            "do not sign (Viktor)",
            "renegotiate (Wanda)",
        ]
    assert "**The judge chose “sign as it stands”, argued by Ursula: Clause 9 holds.**" in report
    assert "- **Asked again in the other order:** decided the same" in report
    weighed = part(report, "Those who weighed it")
    assert re.findall(r"^### (.*)$", weighed, re.MULTILINE) == [
        "Judge (confidence HIGH)",
        "Judge, asked again with the order turned round (confidence HIGH)",
        "Synthesizer (the debate in the shape that the caller asked for)",
    ]
    assert "- **decision:** sign" in weighed


def test_what_was_held_against_the_winner_is_told_with_who_argued_it_and_on_what(reports: dict[str, str]) -> None:
    against = part(reports["stances/1"], "What was held against it to the end, and by whom")

    assert r"### Viktor \[do not sign\]" in against
    assert r"### Wanda \[renegotiate\]" in against
    assert "Ursula" not in against
    assert "the Supplier's liability shall not exceed the Fees" in against


def other_way(turn: Turn, facts: Any) -> Reply:
    reply = canned(turn, facts)
    match reply:
        case Judgement() if ".swapped." in turn.id:
            return replace(reply, winner="do not sign")
        case Moderation() if ".swapped." in turn.id:
            return replace(reply, conclusion="rejected", synthesis="It falls.")
    return reply


@pytest.mark.parametrize("form", ["stances/1", "adversarial/1"])
def test_where_the_order_decided_the_report_names_no_winner_and_shows_both_answers(form: str) -> None:
    report = markdown(told(form, other_way))

    headline = part(report, "Decision").split("\n\n")[0]
    assert "**No decision: the decider, asked again in the reverse order, decided otherwise.**" in headline
    assert "orderSensitive: The decider, asked again" in report
    assert "decided otherwise, so nothing stands" in report
    assert "asked again with the order turned round (confidence HIGH)" in report
    if form == "stances/1":
        assert "Where everybody stood at the end" in parts(report)
        assert "**Winner:** do not sign" in part(report, "Those who weighed it")
    else:
        assert "It falls." in part(report, "Round 1")
        assert "It falls." not in part(report, "Decision")


# -- ballot


def test_votes_are_a_matrix_by_debater_and_phase_with_their_count(reports: dict[str, str]) -> None:
    votes = part(reports["ballot/1"], "Votes")

    assert "| Debater | Proposal (blind) | Critique | Revision | Consensus |" in votes
    assert votes.count("| Viktor | renegotiate | renegotiate | renegotiate | renegotiate |") == 2
    assert "| sign | 2 of 3 |" in votes
    assert "The first proposals, before anybody had seen another's: sign: 2, renegotiate: 1." in votes


def test_the_nine_lines_of_a_ballot_stand_in_every_form_of_its_report_as_they_are() -> None:
    r = told("ballot/1")

    assert ballot(r).report is not None
    assert f"```\n{ballot(r).report}\n```" in markdown(r)
    assert f'<pre tabindex="0">{ballot(r).report}</pre>' in html(r)
    assert len(ballot(r).report.split("\n")) == 9


def test_the_rule_by_which_speakers_were_chosen_is_told_with_their_order() -> None:
    rule = "a schedule in code: in each phase every debater, in declared order; no model chose who spoke"
    r = told("ballot/1")

    stated = msgspec.json.decode(msgspec.json.encode(r))

    assert stated["result"]["speakerSelectedBy"] == "schedule"
    assert stated["result"]["speakerSchedule"] == [one.name for one in r.transcript]
    assert f"- **Speakers chosen by:** {rule}\n" in markdown(r)


def test_no_name_of_a_debater_ends_the_lines_of_a_ballot_early() -> None:
    options = BallotOptions((Debater("```"), Debater("b")), 1, formats.VOTES, 2, human_review=False)

    r = told(options)

    assert f"````\n{ballot(r).report}\n````" in markdown(r)


def test_an_abstention_a_tie_and_an_escalation_are_named() -> None:
    words = {1: "sign", 2: "renegotiate", 3: "perhaps later"}

    def replies(turn: Turn, _: Any) -> Reply:
        number = int(turn.seat.rpartition("-")[2])
        return Ballot("So.", (Statement(1, "It is so.", (), "reasoning"),), words[number])

    report = markdown(told("ballot/1", replies))

    assert "abstains (wrote “perhaps later”)" in report
    assert "- **Level with each other:** sign, renegotiate" in report
    assert "- **Votes that name an option:** 2 of 3" in report
    assert "**A person has to decide: no option leads alone with the 3 of 3 votes that are needed" in report
    assert "Where everybody stood at the end" in parts(report)


def test_a_ballot_that_decides_says_by_how_many_votes_and_who_was_against() -> None:
    options = BallotOptions(tuple(Debater(name) for name in "abc"), 1, formats.VOTES, 2, human_review=False)

    r = told(options)
    report = markdown(r)

    assert isinstance(r.result, BallotTerms)
    assert "**Option “sign” was chosen with 2 of 3 votes.**" in report
    assert "### b (Debater 2) (votes renegotiate)" in part(report, "What was held against it to the end, and by whom")


def test_a_ballot_that_decides_before_anybody_had_read_another_is_told_as_not_challenged() -> None:
    options = BallotOptions(tuple(Debater(name) for name in "abc"), 1, formats.VOTES, 2, human_review=False)

    early, late = told(options), told("ballot/1")

    assert isinstance(early.result, BallotTerms)
    assert early.result.phase_sequence == PHASES[:1]
    assert "> **Not challenged**" in part(markdown(early), "Decision")
    assert "it ended before anybody had read another's answer" in part(markdown(early), "Decision")
    assert "Not challenged" not in part(markdown(late), "Decision")


def test_no_decision_that_nobody_challenged_is_shown_as_a_good_one_however_sure_it_is() -> None:
    options = BallotOptions(tuple(Debater(name) for name in "abc"), 1, formats.VOTES, 2, human_review=False)
    plain = told(options)
    early = replace(plain, decision=replace(decided(plain), confidence="HIGH"))
    heard = replace(
        early,
        decision=replace(decided(early), human_review=HumanReview(required=False)),
        transcript=tuple(replace(one, blind=False) for one in early.transcript),
    )

    assert '<div class="banner good"' not in html(early)
    assert '<div class="banner good"' in html(heard)


# -- panel


def rejecting(turn: Turn, facts: Any) -> Reply:
    reply = canned(turn, facts)
    if isinstance(reply, RevisedAnswer) and turn.round == 3:
        reply = replace(reply, claims=tuple(replace(claim, text="Said last.") for claim in reply.claims))
    if isinstance(reply, RevisedAnswer) and turn.seat == "debater-1":
        marks = tuple(replace(m, mark="reject" if m.n == 1 else "unsure") for m in reply.marks)
        challenge = Challenge(marks[0].label, marks[0].n, "The cap is no cap.")
        return replace(reply, marks=marks, still_challenges=(challenge,))
    return reply


def test_consensus_is_told_by_round_with_what_lagged_the_letters_and_the_scores(reports: dict[str, str]) -> None:
    consensus = part(reports["panel/1"], "Consensus by round")

    assert "| 1, blind | 0.5 | 0.5 | 0.5 | 0.5 | 0.5 | no | the adjudicator | 0 |" in consensus
    assert "Round 3: 0.5; 0.7 was wanted" in consensus.replace("round 3", "Round 3")
    assert "- Round 2: lagging were stance alignment, empirical overlap" in consensus
    assert re.search(r"^\| Model A \| debater-\d \|", consensus, re.MULTILINE)
    assert "They do not show who was right." in consensus
    assert "<path" in html(told("panel/1")).split('id="consensus"')[1].split("</section>")[0]


def test_whose_claims_were_rejected_by_whom_and_what_is_still_challenged_is_told() -> None:
    r = told("panel/1", rejecting)
    challenged = part(markdown(r), "What was challenged, and by whom")

    rejecter = next(f"{one.label} (seat 1)" for one in r.transcript if one.seat == "debater-1")
    rows = [row for row in challenged.splitlines() if row.startswith("| Model ")]
    assert len(rows) == 6
    assert "Said last." not in challenged, "the marks are about what was said before"
    others = [row for row in rows if not row.startswith(f"| {rejecter}")]
    assert [row.split(" | ")[4] for row in others] == [rejecter, r"\-"] * 2, "rejected by"
    unsure = [row.split(" | ")[5].removesuffix(" |") for row in others]
    assert all((rejecter in names) is bool(n % 2) for n, names in enumerate(unsure)), "unsure of every second claim"
    assert f"- **{rejecter}:** Claim 1 of Model" in challenged
    assert "The cap is no cap." in challenged


def test_a_missing_debater_is_named_and_never_counted_as_agreement() -> None:
    r = told("panel/1", fails=lambda turn, _: turn == "2.debater-3.1")
    report = markdown(r)

    label = next(one.label for one in r.transcript if one.seat == "debater-3")
    assert f"- **Missing:** {label} (seat 3): given up, and not counted as agreement" in report
    assert re.search(rf"\| {label} \| debater-3 \|.*\| given up \|", report)


def test_the_ideas_of_a_brainstorm_are_ranked_with_who_endorsed_them() -> None:
    def replies(turn: Turn, facts: Any) -> Reply:
        reply = canned(turn, facts)
        if not isinstance(reply, Synthesis):
            return reply
        one, both = (Endorsement("Model A", 1),), (Endorsement("Model B", 1), Endorsement("Model A", 2))
        return replace(reply, ideas=(Idea("Insure.", one), Idea("Split it.", both)))

    options = PanelOptions(2, 1, False, "brainstorm", "rules", formats.THRESHOLDS)
    table = [row for row in markdown(told(options, replies)).splitlines() if row.startswith("|")]
    rows = [row for row in table if "Insure" in row or "Split it" in row]

    assert re.fullmatch(r"\| 1 \| Split it. \| 2 \| Model A \(seat \d\), Model B \(seat \d\) \|", rows[0])
    assert re.fullmatch(r"\| 2 \| Insure. \| 1 \| Model A \(seat \d\) \|", rows[1])


def test_a_devils_advocate_is_told_with_whom_it_hits_and_how_hard(reports: dict[str, str]) -> None:
    assert re.search(
        r"As devil's advocate:\*\* It says nothing of fines. \(high, against claim \d of Model [ABC] \(seat \d\)\)",
        part(reports["panel/1"], "Round 3"),
    )


# -- convergence


def test_answers_are_told_by_round_and_word_overlap_by_its_name(reports: dict[str, str]) -> None:
    answers = part(reports["convergence/1"], "Answers by round")

    assert "| Debater | Round 0, independent | Round 1 | Round 2 |" in answers
    assert "Round 0: 0.25, round 1: 0.25, round 2: 0.25; 0.85 was wanted." in answers
    assert "It is no agreement" in answers
    assert not re.search(r"similar", answers, re.IGNORECASE)
    assert "**The judge answered: Sign.**" in reports["convergence/1"]


def test_why_a_debate_went_on_although_its_answers_shared_words_enough_is_told() -> None:
    r = told("convergence/1")
    assert isinstance(r.result, ConvergenceTerms)
    shared = replace(r, result=replace(r.result, similarities=(0.25, 1.0, 1.0), converged_in=2))

    assert "the debate went on" not in markdown(r)
    assert "and yet the debate went on, after round 1: the answers differ, an argument negates" in markdown(shared)


def test_debaters_of_convergence_are_told_by_name_and_letter_and_options_as_they_were_sent() -> None:
    named = (Debater("optimist", role="Argue for it."), Debater("skeptic", role="Argue against it."))
    r = told(ConvergenceOptions(named, 1, human_review=False, convergence_similarity=850))
    shown = json.loads(msgspec.json.encode(r.options))
    report = markdown(r)

    assert {one.name for one in r.transcript} == {"optimist", "skeptic"}
    assert {one.label for one in r.transcript} == {"Debater A", "Debater B"}
    assert re.search(r"optimist, Debater [AB] \(seat 1\)", report)
    assert "- **Seat 1:** optimist\n- **Seat 2:** skeptic\n" in report
    assert not re.search(r"Debater \d", report), "a number would be a second name for the debater with a letter"
    assert shown["convergenceSimilarity"] == 0.85
    assert (shown["judge"], shown["convergenceCheck"], shown["ties"]) == (True, True, "lowestDebater")


def test_a_majority_without_a_judge_is_called_one_and_the_rest_is_heard() -> None:
    report = markdown(told(ConvergenceOptions(3, 1, human_review=False, judge=False)))

    assert "**2 of 3 debaters answered: sign.**" in report
    assert "Those who weighed it" not in parts(report)
    against = part(report, "What was held against it to the end, and by whom")
    assert re.findall(r"^### .* \((.*)\)$", against, re.MULTILINE) == ["Renegotiate clause 9"]


def test_many_rounds_of_answers_are_a_list_and_few_a_matrix() -> None:
    report = markdown(told(ConvergenceOptions(2, 5, human_review=False)))

    assert "| Round | Debater | Answer |" in report


# -- all of them


@pytest.mark.parametrize("form", BETWEEN_DEBATERS)
def test_a_report_of_debaters_never_calls_itself_an_effective_challenge(form: str, reports: dict[str, str]) -> None:
    assert "effective challenge" not in reports[form].lower()
    assert reports[form].startswith("# Record of a debate\n")
    assert "It does not show that the conclusion is right." in reports[form]


def test_the_adversarial_report_still_does(reports: dict[str, str]) -> None:
    assert reports["adversarial/1"].startswith("# Record of effective challenge\n")
    assert "on effective challenge" in reports["adversarial/1"]


@pytest.mark.parametrize("form", ["panel/1", "convergence/1"])
def test_agreement_is_never_told_without_saying_what_it_does_not_show(form: str, reports: dict[str, str]) -> None:
    assert "Agreement among models does not show that an answer is right." in reports[form]


@pytest.mark.parametrize("form", ["ballot/1", "panel/1", "convergence/1"])
def test_first_drafts_stand_under_their_own_name(form: str, reports: dict[str, str]) -> None:
    assert reports[form].count("First drafts: nobody had seen what any other debater said.") == 1


@pytest.mark.parametrize("form", ["stances/1", "panel/1", "convergence/1"])
def test_what_the_closing_seat_is_uncertain_of_is_told(form: str, reports: dict[str, str]) -> None:
    assert "- No court has read it." in part(reports[form], "Explicit uncertainties")


@pytest.mark.parametrize("form", FORMATS)
def test_every_report_is_made_as_html_and_as_an_archival_pdf(form: str) -> None:
    r = told(form)

    assert html(r).endswith("</html>\n")
    assert b"pdfaid:part" in pdf(r)


@pytest.mark.parametrize("form", BETWEEN_DEBATERS)
def test_bill_citations_and_coverage_are_told_for_debaters_as_for_any_seat(form: str, reports: dict[str, str]) -> None:
    report = reports[form]

    assert re.search(r"^\| .+ \(seat 2\) \| \d", part(report, "Cost"), re.MULTILINE)
    assert re.search(r"\d verified \|$", part(report, "Evidence and what was struck"), re.MULTILINE)
    assert "of the text was cited" in part(report, "What was not cited")
    assert "Rounds at most" in part(report, "Hashes and versions")


@pytest.mark.parametrize("form", BETWEEN_DEBATERS)
def test_the_picture_of_a_document_has_a_lane_for_each_debater(form: str) -> None:
    r = told(form)
    names = {one.seat: one.name or one.label for one in r.transcript}
    drawn = html(r).split('<div class="map">')[1].split("</div>")[0]

    assert lanes_in(drawn) == [names[seat] for seat in sorted(names)]
    assert drawn.count('<path class="full" d="M104 ') >= 3, "each has cited the first words"
    assert "cited by that debater" in drawn


def lanes_in(drawn: str) -> list[str]:
    return re.findall(r'text-anchor="end"[^>]*>([^<]*)</text>', drawn)


@pytest.mark.parametrize(
    ("names", "lanes"),
    [
        (("Ursula", "Vikram", "Wen"), ["Ursula", "Vikram", "Wen"]),
        (("Commercial lead", "Legal counsel of the bank", "Wen"), ["Commercial…", "Legal…", "Wen"]),
        (("Legal counsel one", "Legal counsel two", "Wen"), ["Seat 1", "Seat 2", "Wen"]),
    ],
)
def test_a_lane_has_the_name_of_its_debater_as_far_as_it_tells_one_from_another(
    names: Sequence[str], lanes: list[str]
) -> None:
    debaters = tuple(Debater(name) for name in names)
    r = told(ConvergenceOptions(debaters, 1, human_review=False))

    drawn = html(r).split('<div class="map">')[1].split("</div>")[0]

    assert lanes_in(drawn) == lanes


def test_why_a_format_was_chosen_stands_beside_the_outcome() -> None:
    r = replace(told("ballot/1"), format_reason="policy debates votes by ballot")

    assert "- **Why this format:** policy debates votes by ballot" in part(markdown(r), "Outcome in detail")


@pytest.mark.parametrize("form", FORMATS)
@few
@given(seed=st.integers(0, 400), data=st.data())
def test_every_prefix_of_every_debate_can_be_read_and_every_code_in_it_has_words(
    form: str, seed: int, data: st.DataObject
) -> None:
    options = data.draw(formats.options(form))
    ceiling = data.draw(st.sampled_from([60_000, 10_000_000]))
    entries = World(seed, failing=15, refusing=3).drive(start_of(options, ceiling=ceiling))
    whole: Result = build_result("d1", lines(entries))

    for r in (whole, build_result("d1", lines(entries[: data.draw(st.integers(1, len(entries)))]))):
        assert markdown(r).startswith("# Record of ")
        assert html(r).endswith("</html>\n")
    assert {cap.reason for cap in whole.caps} <= set(labels.REASON)
    assert set(whole.flags) <= set(labels.FLAG)


def test_no_words_for_all_formats_speak_of_a_seat_that_only_one_has() -> None:
    for words in (labels.REASON["unchallenged"], labels.FLAG["unchallenged"]):
        assert "critic" not in words


def test_every_code_of_a_format_has_words() -> None:
    for table, codes in (
        (labels.PHASE, PHASES),
        (labels.DIMENSION, get_args(Dimension)),
        (labels.QUESTION, get_args(QuestionType)),
        (labels.TYPED, ("rules", "caller", "classifier")),
        (labels.SCORED, ("algorithmic", "model")),
        (decision_labels.RULE_OF_SPEAKERS, ("schedule",)),
        (decision_labels.RULE_OF_VOTES, ("threshold_vote", "max_rounds_exhausted", "cut_short")),
    ):
        assert set(table) == set(codes)


# -- the drawing of a share from round to round


@given(st.lists(st.one_of(st.none(), st.integers(0, 1_000)), max_size=12), st.integers(0, 1_000))
def test_no_course_is_ever_drawn_beyond_its_frame(values: list[int | None], wanted: int) -> None:
    course = Sparkline("c", "t", tuple(f"Round {n}" for n in range(len(values))), tuple(values), wanted, "s")

    drawn = draw_sparkline(course)

    dots = [(int(x), int(y)) for x, y in re.findall(r'cx="(\d+)" cy="(\d+)"', drawn)]
    assert len(dots) == sum(value is not None for value in values)
    assert all(104 <= x <= 1_104 and 12 <= y <= 232 for x, y in dots)
    assert [x for x, _ in dots] == sorted({x for x, _ in dots})


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "undefined"), (0, "0"), (1_000, "1"), (850, "0.85"), (701, "0.701"), (5, "0.005")],
)
def test_a_share_is_told_from_0_to_1(value: int | None, shown: str) -> None:
    assert thousandths(value) == shown
