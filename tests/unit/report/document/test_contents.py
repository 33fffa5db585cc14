"""What a report says, in the order in which a reviewer reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from service.audit.record import Actor
from service.audit.report_forms import Paper
from service.checks.coverage.shape import Absent, State
from service.checks.judgement import Attacked, check_critique
from service.debate.adversarial import SEATS
from service.debate.amounts import micro, usd
from service.debate.entries import (
    Arrival,
    CaseReceived,
    DebateStopped,
    Entry,
    EvaluationItem,
    GateDecided,
    TurnSpoke,
)
from service.debate.facts import Facts
from service.debate.findings import (
    ArgumentVerdict,
    CitationsFound,
    CitationVerdict,
    Edit,
    Finding,
    StrikeReason,
    Verdict,
)
from service.debate.model import Check, Force, Status, StopReason, Turn
from service.debate.replies import Conclusion, Critique, Movement, Proposal, Reply
from service.debate.suspicions import InjectionFound, Suspicion
from service.debate.turns import TurnId
from service.gate import Declared, should_debate
from service.intake.worst_case import WEAK
from service.money import Usage
from service.policy import GatePolicy
from service.report import Line, build_result, html, labels, markdown, pdf
from service.report.document import uncited
from service.report.document.blocks import Argued, Banner, Chart, ReportPart
from service.report.document.contents import report
from service.report.result.argument_types import WhyMaintained
from service.report.result.decision_types import DecisionOutcome
from service.report.result.notice_types import NoticeKind
from service.report.result.types import Acted, Result
from tests.fixtures.debates import World, a_case, a_start, canned, drive, found
from tests.fixtures.results import adversarial, decided
from tests.unit.report.pdf_text import pages_of

pytestmark = pytest.mark.many

PARTS = [
    "decision",
    "outcome",
    "question",
    "proposition",
    "round-1",
    "evidence",
    "coverage",
    "dissent",
    "uncertainties",
    "notices",
    "about",
    "gate",
    "cost",
    "models",
    "provenance",
    "attempts",
]


def told(entries: Sequence[Entry], **changes: Any) -> Result:
    lines = [Line(n, f"2026-11-21T10:00:{n % 60:02d}Z", entry) for n, entry in enumerate(entries)]
    return replace(build_result("d1", lines, last_record="ab" * 32), **changes)


def parts(result: Result) -> list[ReportPart]:
    content = report(result)
    return [block for block in (*content.first, *content.blocks) if isinstance(block, ReportPart)]


def hard(turn: Turn, facts: Facts) -> Reply:
    """A weak critique, so the critic has to be asked again."""
    reply = canned(turn, facts)
    if isinstance(reply, Critique) and turn.id == "1.critic.1":
        return replace(reply, thesis="This is generally reasonable.", challenge_strength=4)
    return reply


def suspicious(check: Check, facts: Facts) -> Finding:
    """The proposer's quotation is altered, the critic's is nowhere, and a document speaks to a model."""
    finding = found(check, facts)
    if isinstance(finding, InjectionFound):
        return InjectionFound((Suspicion("document", (3, 1_009), "address", "Words", "D1"),))
    if not isinstance(finding, CitationsFound):
        return finding
    false = {
        "1.proposer.1": CitationVerdict("altered", "D1", (4, 40), "within twenty days", (Edit("number", "20", "90"),)),
        "1.critic.2": CitationVerdict("not_found", "D1", found_in="D2", reason="out_of_steps"),
    }.get(check.over[0])
    return CitationsFound(
        tuple(
            ArgumentVerdict(a.turn, a.n, (false,), "unverified_citation") if false and a.verdicts and a.n == 1 else a
            for a in finding.arguments
        )
    )


WORKER = Actor("w-1", "service", "worker", "databaseRole")
HARD = told(drive(a_start(human_review=True), hard, findings=suspicious))


def test_the_parts_stand_in_the_order_in_which_a_reviewer_reads_them() -> None:
    assert [block.name for block in parts(HARD)] == PARTS
    assert [block.title for block in parts(HARD)][-5:] == [
        "Appendix A: Why it was debated",
        "Appendix B: Cost",
        "Appendix C: Models",
        "Appendix D: Hashes and versions",
        "Appendix E: Attempts",
    ]


def test_all_renderings_have_the_same_headings_in_the_same_order() -> None:
    titles = [block.title for block in parts(HARD)]

    assert re.findall(r"^## (.*)$", markdown(HARD), re.MULTILINE) == titles
    assert re.findall(r"<h2 [^>]*>([^<]*)</h2>", html(HARD)) == titles


@pytest.mark.parametrize(
    "said",
    [
        "**The proposition stands only in a narrower or changed form: The cap holds but for clause 12.**",
        "Modified, by the moderator.",
        "Dissent: ",
        "Confidence: LOW",
        "**Human review is required**",
        "the case holds passages that speak to a model",
        "policy requires it for this kind of case",
        "- **At most MODERATE:** because evidence was cited that is not in the sources, or was not cited at all",
        "- **Moderator's confidence:** HIGH",
        "This critique was asked for again because the critic rated its own challenge below the threshold.",
        "**This is generally reasonable.**",
        "Struck: it rests on a quotation that is not verified. Later seats were not shown it.",
        "- **Altered:** “the Supplier's liability shall not exceed the Fees” (D1, Document 1, characters 4 to 40)",
        "The source says: “within twenty days”",
        "number: the source has “20”, the quotation “90”",
        "It stands in D2 instead.",
        "Why it is not verified: the check used up the work that one citation may take",
        "| 1.critic.2 | 1 | not found | except for breach of clause 12 | D1 |",
        "The critic's conclusion: Rejected: the arguments against the proposition stand.",
        "- Whether fines are covered.",
        "- No court has read this clause.",
        "was the proposer",
        "Passages of document D1 that speak to a model as if they were orders",
        "| document D1 | 3 to 1,009 | addresses its reader as a model or a seat | in plain words | rules | Words |",
        "| Moderator | birch-1 | birch-1 | not told | birch | scripted | offline | none |",
        "Approval of this configuration: unapproved.",
        f"- **Last record of this debate:** {'ab' * 32}",
        "| case/injection | canned/1 |",
        "It does not show that the conclusion is right.",
        "applies the principles of SR 11-7 (superseded by SR 26-2 on 17 April 2026)",
    ],
)
def test_a_hard_debate_says(said: str) -> None:
    assert said in markdown(HARD)


def test_money_is_shown_against_its_ceiling() -> None:
    assert f"USD {HARD.overall_cost.spent_usd} of 1.00 (a share of 0.0" in html(HARD)


def test_money_beyond_the_ceiling_is_drawn_and_said() -> None:
    dear = told(drive(a_start(ceiling=8_000), used=lambda _: Usage(9_000, 500)))

    money = next(b for b in report(dear).blocks if isinstance(b, Chart) and b.title == "Money against the ceiling")
    assert sum(segment.value for segment in money.bars[0].segments) == money.bars[0].total
    assert [segment.label for segment in money.bars[0].segments] == ["spent", "excess"]
    cost = dear.overall_cost
    whole = usd(sum(micro(account.amount_usd) for account in cost.by_seat.values()))
    assert f"- **Charged in all:** USD {whole}\n" in markdown(dear)
    assert money.bars[0].shown.startswith(f"USD {cost.spent_usd} of 0.008 (")
    assert "(a share of 0." in money.bars[0].shown
    assert money.bars[0].shown.endswith(f"), and {cost.excess_usd} above what was held")


def test_what_was_spent_is_all_that_was_charged_where_nobody_billed_more_than_was_held() -> None:
    assert "Charged in all" not in markdown(HARD)


def test_a_seat_that_nobody_asked_has_no_model_that_did_not_tell_its_name() -> None:
    dear = markdown(told(drive(a_start(ceiling=8_000), used=lambda _: Usage(9_000, 500))))

    assert re.search(r"^\| Framing \| .* \| not told \|", dear, re.MULTILINE)
    assert re.search(r"^\| Moderator \| .* \| not asked \|", dear, re.MULTILINE)


def test_what_was_struck_is_shown_where_it_was_argued_and_again_among_the_evidence() -> None:
    struck = [block.label for block in report(HARD).blocks if isinstance(block, Argued) and block.struck]

    assert struck == ["Argument 1", "Point 1", "Proposer, round 1, number 1", "Critic, round 1, number 1"]


ITEM = Arrival(
    evaluation=EvaluationItem(
        id="01890a5d-ac96-774b-bcce-b302099a8057", plan="ab" * 32, set="cd" * 32, item="q-17", arm="vote", repeat=2
    )
)


def test_an_item_of_an_evaluation_says_before_its_decision_that_it_decides_nothing() -> None:
    measured = replace(HARD, arrival=ITEM)
    first, second = report(measured).first[:2]

    assert isinstance(first, Banner)
    assert (first.title, isinstance(second, ReportPart)) == ("Item of an evaluation", True)
    words = " ".join(first.lines)
    assert "it decides nothing" in words
    assert "q-17 in the arm vote, run 2, of the evaluation 01890a5d-ac96-774b-bcce-b302099a8057" in words
    for written in (markdown(measured), html(measured)):
        assert written.index("decides nothing") < written.index("Confidence: ")
    assert "decidesnothing" in "".join(pages_of(pdf(measured))[0].split())
    assert "decides nothing" not in markdown(HARD)


def test_a_simulated_debate_says_so_first_and_again_at_the_end() -> None:
    simulated = told(drive(replace(a_start(), simulated=True)))

    first = report(simulated).first[0]
    assert isinstance(first, Banner)
    assert first.title == "Simulated"
    assert markdown(simulated).count(labels.SIMULATED) == 2
    assert "Simulated" not in markdown(HARD)


def test_a_declined_case_says_which_rule_decided_and_claims_no_challenge() -> None:
    policy = GatePolicy("7", "0d" * 32)
    declined = should_debate("contract", 0.99, 5, policy=policy, expected_cost=150_000)

    written = markdown(told([CaseReceived(a_case(), "local"), GateDecided(declined)]))

    assert "# Record of a declined case" in written
    assert "Declined by the gate: no debate took place" in written
    assert "A debate was declined. The rule “Worth a debate” does not hold." in written
    assert "What would have changed the decision, each on its own:" in written
    assert labels.SHOWS_NO_DEBATE in written
    assert labels.SHOWS not in written
    assert "uman review" not in written


def test_a_forced_decision_shows_who_may_and_why() -> None:
    policy = GatePolicy("7", "0d" * 32)
    forced = should_debate(
        "contract",
        0.99,
        5,
        policy=policy,
        expected_cost=150_000,
        declared=Declared(role="operator", force=Force(True, "the board asked")),
    )

    written = markdown(told([CaseReceived(a_case(), "local"), GateDecided(forced)]))

    assert "A caller who is entitled to it forced the decision." in written
    assert "forced to debate: the board asked" in written


def test_a_truncated_debate_says_that_money_ended_it_and_where() -> None:
    written = markdown(told(drive(a_start(), refuses=lambda turns: "1.rebuttal.1" in turns)))

    assert "Truncated: the debate ended before its rules were satisfied" in written
    assert "DEBATE\\_TRUNCATED: The debate was cut short; this is the state that it had reached." in written
    assert "| Not asked, for lack of money | 1.rebuttal.1 |" in written
    assert "the rebuttal was not reached" in written


def test_a_debate_without_a_moderation_shows_no_conclusion() -> None:
    failed = told(drive(a_start(), fails=lambda turn, _: turn == "1.critic.1"))

    assert "**No decision: the debate failed (" in markdown(failed)
    assert "a seat could not speak, and silence is never counted as agreement" in markdown(failed)


def test_a_running_debate_says_that_it_has_not_ended() -> None:
    running = told(drive(a_start())[:9])

    assert "Running: the debate has not ended" in markdown(running)
    assert "- **Recorded:** received 2026-11-21T10:00:00Z; not ended yet" in markdown(running)
    assert "gainsay audit verify" not in markdown(running), "there is no bundle yet"


def test_positions_are_shown_in_the_moderators_order_with_each_ones_case() -> None:
    several = told(drive(a_start(positions=("adopt-x", "defer"))))

    written = markdown(several)

    first = adversarial(several).ranking[0].position
    assert f"The moderator ranked “{first}” first of 2 positions, to be chosen only with changes: " in written
    for position in ("adopt-x", "defer"):
        assert f"### Proposer of {position} (ranked" in written
        assert f"### Rebuttal for {position} (score 7)" in written


def test_how_new_evidence_moved_the_seats_is_shown() -> None:
    moved = markdown(told(drive(a_start(2), case=a_case(1, 2))))

    assert "*Introduced in this round: D2.*" in moved
    assert "| 2 | Critic | D2 | weakened | The new document narrows the claim. |" in moved


def test_personas_are_shown_as_the_caller_gave_them() -> None:
    written = markdown(told(drive(a_start(personas=("critic",)))))

    assert "| Critic | You are a careful reader. |" in written


@given(st.builds(World, st.integers(0, 5_000), failing=st.sampled_from([0, 40])), st.booleans(), st.data())
def test_every_prefix_of_every_debate_always_has_a_report(world: World, several: bool, data: st.DataObject) -> None:
    entries = world.drive(a_start(2, positions=("adopt-x", "defer") if several else ()), case=a_case(1, 2))
    cut = data.draw(st.integers(1, len(entries)))

    prefix = told(entries[:cut])

    assert markdown(prefix).startswith("# Record of")
    assert html(prefix).endswith("</html>\n")


def test_the_pdf_of_a_whole_debate_is_an_archival_file() -> None:
    assert b"pdfaid:part" in pdf(HARD)


@given(st.builds(World, st.integers(0, 5_000), failing=st.just(10), refusing=st.just(3), weak=st.just(60)))
def test_every_reason_and_flag_that_debates_give_always_has_words(world: World) -> None:
    start = a_start(2, moderator_family=["oak", "birch"][world.seed % 2], human_review=True)
    stop = DebateStopped("abort", "x") if world.seed % 7 == 0 else None

    ended = told(world.drive(start, stops=lambda facts: stop if len(facts.said) > 3 else None))

    assert {cap.reason for cap in ended.caps} | set(decided(ended).human_review.reasons) <= set(labels.REASON)
    assert set(ended.flags) <= set(labels.FLAG)
    assert {notice.notice for notice in ended.notices} <= set(labels.NOTICE)


def test_every_code_of_a_closed_set_has_words() -> None:
    for table, codes in (
        (labels.STATUS, get_args(Status)),
        (labels.STOP, get_args(StopReason)),
        (labels.CONCLUSION, get_args(Conclusion)),
        (labels.STRUCK, get_args(StrikeReason)),
        (labels.MAINTAINED, get_args(WhyMaintained)),
        (labels.NOTICE, get_args(NoticeKind)),
        (labels.MOVEMENT, get_args(Movement)),
        (labels.VERDICT, (*get_args(Verdict), "pending")),
        (labels.SEAT, (*SEATS, "debater", "judge", "synthesizer", "adjudicator", "classifier", "screener")),
        (labels.ABSENT, get_args(Absent)),
        (labels.STATE, get_args(State)),
    ):
        assert set(table) == set(codes)


def test_every_sign_that_a_critique_can_show_has_words() -> None:
    reply = canned(Turn(TurnId("1.critic.1"), "critic"), Facts())
    assert isinstance(reply, Critique)
    proposal = canned(Turn(TurnId("1.proposer.1"), "proposer"), Facts())
    assert isinstance(proposal, Proposal)
    empty = replace(reply, points=())
    tame = replace(reply, thesis="I agree, and to be fair it is a good point.", points=reply.points[:1])

    agreeing = replace(reply, conclusion="upheld")

    signs: set[str] = {*WEAK}
    for critique in (reply, empty, tame, agreeing):
        verdicts = (ArgumentVerdict(TurnId("1.critic.1"), 1, (CitationVerdict("not_found"),)),)
        for against in ((), (proposal,)):
            attacked = [Attacked(one) for one in against]
            judged = check_critique(attacked, (reply,), critique, verdicts)
            signs |= {*judged.weak, *judged.soft}

    assert signs <= set(labels.SIGN)
    assert len(signs) > len(WEAK)


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_what_an_officer_files_is_one_page_of_either_size(paper: Paper) -> None:
    """The longest of each line that a first screen can have, on the smaller page too."""
    words = ("liability under clause twelve " * 40).strip()
    found_ = HARD.decision
    assert found_
    assert found_.dissent
    long = replace(
        HARD,
        question=words,
        simulated=True,
        asked_by=Acted(subject="s" * 64, kind="unknown", role="operator", via="none"),
        approved_by="model-risk",
        coverage=tuple(replace(c, title=words) for c in HARD.coverage) * uncited.LEADING,
        decision=replace(found_, answer=words[:300], dissent=replace(found_.dissent, text=words[:300])),
    )

    pages = list(pages_of(pdf(long, paper)))

    assert "gainsayauditverifyBUNDLE--reportFILE--keyLOG_KEY--witnessWITNESS_KEY" in pages[0]
    assert "README.txtinthebundlesaysmore." in pages[0]
    assert "pinthatkey,too,withanother--key." in pages[0]
    assert "Outcomeindetail" not in pages[0]
    assert "Outcomeindetail" in pages[1]


@pytest.mark.parametrize(
    ("outcome", "told_of"), [("modified", True), ("ranked", True), ("split", False), ("none", False)]
)
def test_a_decision_without_dissent_says_so_and_one_that_concluded_nothing_does_not(
    outcome: DecisionOutcome, told_of: bool
) -> None:
    found_ = HARD.decision
    assert found_

    said = markdown(replace(HARD, decision=replace(found_, outcome=outcome, dissent=None)))

    assert ("> Dissent: none that stands at the end" in said) is told_of
    assert "> Dissent: none" not in markdown(HARD)


def test_the_size_of_the_paper_is_the_readers_and_changes_nothing_else() -> None:
    assert html(HARD) != html(HARD, "letter")
    assert html(HARD).replace("@page { size: A4;", "@page { size: letter;") == html(HARD, "letter")
    assert b"/MediaBox[0 0 595" in pdf(HARD)
    assert b"/MediaBox[0 0 612 792]" in pdf(HARD, "letter")


@pytest.mark.parametrize(
    ("actor", "said"),
    [
        (
            Actor("local", "unknown", "operator", "none"),
            "local (the caller was not authenticated: the service ran without identities)",
        ),
        (
            Actor("local", "person", "operator", "keyboard"),
            "local (a person at the keyboard of the machine, who was not authenticated)",
        ),
        (
            Actor("local", "service", "requester", "apiKey"),
            "local (a service, authenticated by an API key of this service, as requester)",
        ),
        (
            Actor("local", "person", "operator", "oidc"),
            "local (a person, authenticated by a token of an identity provider, as operator)",
        ),
        (
            Actor("local", "unknown", "requester", "proxy"),
            "local (of unknown kind, authenticated by a proxy before this service, as requester)",
        ),
    ],
    ids=lambda value: value.via if isinstance(value, Actor) else "",
)
def test_a_report_says_who_asked_or_that_nobody_was_authenticated(actor: Actor, said: str) -> None:
    entries = drive(a_start())
    lines = [Line(n, "2026-11-21T10:00:00Z", e, actor if n == 0 else WORKER) for n, e in enumerate(entries)]

    found = markdown(build_result("d1", lines))

    assert f"- **Asked by:** {said}\n" in found
    assert "Aborted by" not in found


@pytest.mark.parametrize(
    ("actor", "said"),
    [
        (
            Actor("s1", "person", "operator", "oidc"),
            "s1 (a person, authenticated by a token of an identity provider, as operator)",
        ),
        (WORKER, "w-1 (a process of this service)"),
    ],
)
def test_a_report_says_who_aborted_beside_who_asked(actor: Actor, said: str) -> None:
    """Whoever aborts may be another than whoever asked, and the calls in flight end under the worker's name."""
    stopped = DebateStopped("abort", "the caller asked for it")
    entries = drive(a_start(), stops=lambda facts: stopped if "1.critic.1" in facts.open else None)
    asker = Actor("local", "service", "requester", "apiKey")
    lines = [
        Line(n, "2026-11-21T10:00:00Z", e, asker if n < 3 else actor if e == stopped else WORKER)
        for n, e in enumerate(entries)
    ]

    found = build_result("d1", lines)

    assert f"- **Aborted by:** {said}\n" in markdown(found)
    assert "as requester)" in markdown(found)
    assert found.aborted_by is not None
    assert (found.asked_by.role, found.aborted_by.role) == ("requester", actor.role)


def test_a_deadline_is_nobodys_abort() -> None:
    late = DebateStopped("deadline", "it is too late")
    entries = drive(a_start(), stops=lambda facts: late if "1.critic.1" in facts.said else None)

    assert build_result("d1", [Line(n, "2026-11-21T10:00:00Z", e) for n, e in enumerate(entries)]).aborted_by is None


def test_a_role_beside_nobody_is_not_told() -> None:
    """A record may name any role beside ``none``, which is its writer's claim alone."""
    lines = [
        Line(n, "2026-11-21T10:00:00Z", entry, Actor("local", "person", "auditor", "none"))
        for n, entry in enumerate(drive(a_start()))
    ]

    assert "auditor" not in markdown(build_result("d1", lines)).partition("Recorded")[0]


def test_a_report_lists_the_prompts_of_requests_that_were_made_and_no_others() -> None:
    """The debate ends before anybody rebuts, so no request was made with the prompt of that seat."""
    cut = told(drive(a_start(), refuses=lambda turns: "1.rebuttal.1" in turns))

    assert "rebuttal" in cut.hashes.pins
    listed = markdown(cut).partition("*Prompts that requests were made with*")[2].partition("*Checks")[0]
    assert "| critic |" in listed
    assert "| rebuttal |" not in listed


def test_the_models_that_answered_are_named() -> None:
    entries = [replace(e, served_model="oak-1-0613") if isinstance(e, TurnSpoke) else e for e in drive(a_start())]

    assert "| Rebuttal | oak-1 | oak-1 | oak-1-0613 | oak | scripted |" in markdown(told(entries))
