"""What a terminal shows of debates between debaters: each format in its own way, whatever was said in it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.console import Console

from service.cli.display import page
from service.cli.display.console import row
from service.cli.display.progress import Progress
from service.debate.entries import Arrival, Entry, EvaluationItem, GateDecided, Rule, TurnSpoke
from service.debate.facts import Facts
from service.debate.findings import Finding
from service.debate.model import (
    AdversarialOptions,
    BallotOptions,
    Check,
    ConvergenceOptions,
    Debater,
    Options,
    PanelOptions,
    StancesOptions,
    Turn,
)
from service.debate.replies import Ballot, Judgement, Projection, Reply, RevisedAnswer, Synthesis
from service.debate.replies.pruning import Dropped
from service.report import Line, Result, build_result, events
from service.report.decision_labels import OUTCOMES
from service.report.labels import label_of
from service.report.result.terms import BallotTerms, ConvergenceTerms
from tests.fixtures import formats
from tests.fixtures.debates import World, a_start, canned, drive, start_of
from tests.fixtures.debates import found as checked
from tests.fixtures.results import ballot, decided, stances

pytestmark = pytest.mark.many

FORMS = ("stances/1", "ballot/1", "panel/1", "convergence/1")
RULE = Rule("valid", holds=True, observed="amounts are valid", threshold="finite", effect="informs")


def told(entries: Sequence[Entry]) -> list[Line]:
    """The entries as they are recorded, with the rule that a gate always has."""
    ruled = [
        replace(e, decision=replace(e.decision, rules=(RULE,))) if isinstance(e, GateDecided) else e for e in entries
    ]
    return [Line(n, f"2026-11-21T10:00:{n % 60:02d}Z", entry) for n, entry in enumerate(ruled)]


@pytest.mark.parametrize("show", [page.show, page.show_brief])
def test_the_page_of_an_item_of_an_evaluation_begins_with_that(show: Callable[[Console, Result], None]) -> None:
    item = EvaluationItem("01890a5d-ac96-774b-bcce-b302099a8057", "ab" * 32, "cd" * 32, "q-17", "vote", 1)
    found = build_result("d1", told(drive(a_start())))
    first = shown(lambda console: show(console, replace(found, arrival=Arrival(evaluation=item))))

    assert "EVALUATION" in first.splitlines()[0]
    assert "decides nothing" in " ".join(first.split())
    assert "decides nothing" not in " ".join(shown(lambda console: show(console, found)).split())


def shown(show: Callable[[Console], None]) -> str:
    """What is written on a file of 80 columns."""
    written = io.StringIO()
    show(Console(file=written, width=80, highlight=False, markup=False, emoji=False, color_system=None))
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def paged(entries: Sequence[Entry]) -> tuple[Result, str]:
    """A debate's result, and the page that tells it."""
    r = build_result("d1", told(entries))
    return r, shown(lambda console: page.show(console, r))


def live(entries: Sequence[Entry]) -> str:
    """What is written while a debate runs."""
    lines = told(entries)

    def follow(console: Console) -> None:
        progress = Progress(console)
        for n, line in enumerate(lines):
            for name, data in events(line, "d1", lines[:n]):
                progress.show_event(name, data)

    return shown(follow)


def flat(text: str) -> str:
    """A page on one line, without the box around the decision."""
    return " ".join(text.replace("┃", "").split())


def part(text: str, title: str) -> str:
    """What stands under a title of the page, up to the next one."""
    return re.split(r"^.* ─+$", text.partition(f"\n{title} ")[2].partition("\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def played(
    options: Options,
    replies: Callable[[Turn, Facts], Reply] = canned,
    findings: Callable[[Check, Facts], Finding] = checked,
) -> list[Entry]:
    return drive(start_of(options), replies, findings=findings)


@settings(max_examples=40)
@given(st.data(), st.sampled_from(FORMS), st.integers(0, 5_000), st.sampled_from([13_000, 40_000, 10_000_000]))
def test_whatever_is_said_in_a_debate_of_any_format_its_page_and_its_progress_tell_it(
    data: st.DataObject, form: str, seed: int, ceiling: int
) -> None:
    started = start_of(data.draw(formats.options(form)), ceiling=ceiling)
    world = World(seed, failing=20, refusing=3)
    entries = world.drive(started)

    r, text = paged(entries)
    running = build_result("d1", told(entries[: Random(seed).randrange(2, len(entries))]))

    assert label_of(OUTCOMES, decided(r).outcome).upper() in text
    assert decided(r).by is None or f", confidence {decided(r).confidence};" in flat(text)
    assert all(len(line) <= 80 for line in live(entries).splitlines())
    for one in r.transcript:
        assert one.name is None or one.name in text
    assert shown(lambda console: page.show(console, running))
    assert shown(lambda console: page.show_brief(console, running))


def test_stances_are_told_each_with_all_its_arguments_and_then_the_verdict_with_the_winner() -> None:
    entries = played(formats.plain("stances/1"))

    r, text = paged(entries)

    for name, stance in zip(formats.NAMES[:3], formats.STANCES, strict=False):
        told = part(text, name)
        assert told.startswith(f"For {stance}\n")
        assert told.count("\nRound ") == 2
    assert "CHOSEN, confidence" in flat(text)
    assert f"The judge chose “{formats.STANCES[0]}”" in flat(text)
    assert "Other order winner sign as it stands; Clause 9 holds." in flat(text)
    assert '"decision": "sign"' in text
    assert stances(r).raw is not None


def test_a_verdict_that_combines_stances_or_hangs_on_the_order_names_no_winner() -> None:
    def undecided(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, winner=None) if isinstance(reply, Judgement) else reply

    def torn(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return (
            replace(reply, winner=formats.STANCES[1])
            if isinstance(reply, Judgement) and "swapped" in turn.id
            else reply
        )

    combined, hanging = (paged(played(formats.plain("stances/1"), say))[1] for say in (undecided, torn))

    assert "SPLIT" in combined
    assert "no single stance" in combined
    assert "UNDECIDED" in hanging
    assert "none stands: in another order the judge decided otherwise" in hanging
    assert "asked again in the other order" in live(played(formats.plain("stances/1"), torn))


def test_a_ballot_is_a_matrix_of_votes_for_each_round_with_the_nine_lines_whole() -> None:
    def voting(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        votes = {"debater-1": "sign", "debater-2": "I cannot say", "debater-3": "renegotiate"}
        return replace(reply, vote=votes[turn.seat]) if isinstance(reply, Ballot) else reply

    r, text = paged(played(formats.plain("ballot/1"), voting))

    assert isinstance(r.result, BallotTerms)
    assert "votes None" not in text
    assert "abstains, " in live(played(formats.plain("ballot/1"), voting))
    for number in (1, 2):
        rows = [line.split() for line in part(text, f"Votes of round {number}").splitlines() if line]
        assert rows[0] == ["debater", "proposal", "critique", "revision", "consensus"]
        assert [(row[0], row[2:]) for row in rows[1:]] == [
            (formats.NAMES[0], ["sign"] * 4),
            (formats.NAMES[1], ["abstains"] * 4),
            (formats.NAMES[2], ["renegotiate"] * 4),
        ]
    assert ballot(r).report is not None
    assert part(text, "Report").strip("\n") == ballot(r).report
    assert len(ballot(r).report.splitlines()) == 9
    assert "ESCALATED TO A PERSON, confidence LOW" in flat(text)
    assert "sign 1, abstention 1, renegotiate 1; 2 of 3 seats voted for an option" in flat(text)
    order = ", ".join(formats.NAMES[:3])
    assert f"Speakers {order}, by a schedule in code: in each phase every debater, in declared order" in flat(text)


@pytest.mark.parametrize("name", ["next_speaker", "[bold]", "\x1b[2J", "\u202e"])
@pytest.mark.parametrize("show", [page.show, page.show_brief])
def test_what_was_left_out_of_a_reply_is_shown_with_its_turn(
    show: Callable[[Console, Result], None], name: str
) -> None:
    entries = [
        replace(entry, dropped=(Dropped("unknownMember", "$.rationale[0]", name),))
        if isinstance(entry, TurnSpoke) and entry.turn == "1.debater-1.proposal.1"
        else entry
        for entry in played(formats.plain("ballot/1"))
    ]

    result = build_result("d1", told(entries))
    lines = shown(lambda console: show(console, result))

    assert "\x1b" not in lines
    text = flat(lines).replace(" ", "")
    named = f"members that the schema does not have: {json.dumps(name)} in $.rationale[0]"
    assert f"1.debater-1.proposal.1{named.replace(' ', '')}" in text


def test_a_ballot_that_first_proposals_decide_says_that_nobody_had_read_another() -> None:
    def agreeing(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, vote="sign") if isinstance(reply, Ballot) else reply

    _, text = paged(played(formats.plain("ballot/1"), agreeing))

    assert "sign, by 3 of 3 votes in the proposal of round 1; 3 decide" in text
    assert "NONE was heard: it ended before anybody had read another's answer" in " ".join(
        text.replace("┃", "").split()
    )
    assert "CHOSEN, NOT CHALLENGED" in text.splitlines()[-1]


def test_a_panel_is_told_by_its_consensus_its_marked_claims_and_its_scores() -> None:
    def marking(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        if isinstance(reply, RevisedAnswer) and turn.seat == "debater-1":
            return replace(reply, marks=tuple(replace(mark, mark="reject") for mark in reply.marks))
        return reply

    r, text = paged(played(formats.plain("panel/1"), marking))

    consensus = [line.split() for line in part(text, "Consensus by round").splitlines() if line]
    assert consensus[0] == ["round", "stance", "evidence", "framework", "confidence", "overall", "ends", "at"]
    assert [row[0] for row in consensus[1:4]] == ["1", "2", "3"]
    assert consensus[1][1:] == ["0.500*", "0.500*", "0.500", "0.500*", "0.500", "0.700"]
    label = {one.seat: one.label for one in r.transcript}
    assert text.count(f"✗ {label['debater-1']}") == 4
    assert f"✗ {label['debater-2']}" not in text
    assert "devil's advocate, against claim 1 of" in text
    assert part(text, "Accuracy").count(" 70          70        70          70") == 3
    assert "SPLIT, confidence LOW" in text.splitlines()[-1]


def test_a_panels_answer_stands_below_the_box_unless_the_decision_says_all_of_it() -> None:
    def telling(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return (
            replace(reply, answer="Sign under No. 7 alone. Then insure fines.")
            if isinstance(reply, Synthesis)
            else reply
        )

    r, text = paged(played(formats.plain("panel/1"), telling))
    brief = shown(lambda console: page.show_brief(console, r))

    assert "┛\n\nAnswer       Sign under No. 7 alone. Then insure fines.\n\nGate " in text
    assert "Answer       Sign under No. 7 alone. Then insure fines.\n" in brief
    assert "Answer  " not in paged(played(formats.plain("panel/1")))[1]


@pytest.mark.parametrize("form", FORMS)
def test_one_blank_line_stands_below_the_decision_whatever_comes_next(form: str) -> None:
    r, text = paged(played(formats.plain(form)))
    brief = shown(lambda console: page.show_brief(console, r))

    assert re.search(r"┛\n\n\w", text)
    assert "\n\n\n" not in text[text.index("┛") :]
    assert "\n\n\n" not in f"{brief}\nnext"[1:]


def test_a_brainstorm_lists_all_ideas_and_names_the_first_in_the_decision() -> None:
    options = formats.plain("panel/1")
    assert isinstance(options, PanelOptions)

    def storming(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        if isinstance(reply, Synthesis):
            ideas = tuple(replace(reply.ideas[0], idea=f"Insure gap {n}.") for n in range(1, 6))
            return replace(reply, ideas=ideas)
        return reply

    _, text = paged(played(replace(options, question_type="brainstorm", typed_by="rules"), storming))

    decision, _, _ = flat(text).partition("┗")
    assert decision.count("Insure gap") == 4
    assert "and 2 more" in decision
    assert [f"{n} Insure gap {n}. (Model" in flat(part(text, "Ideas")) for n in range(1, 6)] == [True] * 5


def test_a_claim_that_was_changed_after_it_was_marked_is_told_without_the_marks() -> None:
    def changing(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        if isinstance(reply, RevisedAnswer) and turn.round == 3:
            first, *rest = reply.claims
            return replace(reply, claims=(replace(first, text="It covers most claims."), *rest))
        return reply

    _, text = paged(played(formats.plain("panel/1"), changing))

    assert len(re.findall(r"^     marks  ", text, re.MULTILINE)) == 3


def test_convergence_is_told_by_the_answers_of_each_round_their_overlap_and_who_decided() -> None:
    _, judged = paged(played(formats.plain("convergence/1")))
    _, voted = paged(played(ConvergenceOptions(3, 1, human_review=False, judge=False)))

    for number in (0, 1, 2):
        answers = part(judged, f"Answers of round {number}").partition("\n\n")[0]
        assert answers.count("Debater ") == 3
        assert "0.250 of the least alike pair; 0.850 ends the debate" in answers
    assert "Decided by     a judge (birch-1)" in judged
    assert "never, in 2 rounds" in judged
    assert "Decided by     the majority of the last answers" in voted
    assert "2 for “sign” (Debater B, Debater C)" in voted


def test_answers_that_share_words_enough_and_do_not_converge_are_told_with_what_keeps_them_apart() -> None:
    r, _ = paged(played(formats.plain("convergence/1")))
    assert isinstance(r.result, ConvergenceTerms)
    shared = replace(r, result=replace(r.result, similarities=(0.25, 1.0, 1.0), converged_in=2))

    text = flat(shown(lambda console: page.show(console, shared)))

    assert text.count("but not here: the answers differ, an argument negates what others do not") == 1


def test_convergence_that_nobody_looked_for_is_not_told_as_one_that_never_came() -> None:
    options = ConvergenceOptions(3, 1, human_review=False, convergence_check=False)

    _, text = paged(played(options))

    assert "not looked for: the case asked for every round" in text
    assert "never, in" not in text


def test_a_debater_named_like_a_side_is_not_taken_for_the_side_that_won() -> None:
    sides = (Debater("bank", stance="the vendor bears it"), Debater("vendor", stance="the bank bears it"))

    def judging(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        return replace(reply, winner="the vendor bears it") if isinstance(reply, Judgement) else reply

    _, text = paged(played(StancesOptions(sides, 1, human_review=False), judging))

    assert "The judge chose “the vendor bears it”, argued by bank" in flat(text)


def test_a_moderator_who_was_asked_twice_is_told_to_have_concluded_the_same() -> None:
    options = AdversarialOptions(1, 6, 6, human_review=False)

    _, once = paged(played(options))
    _, twice = paged(played(replace(options, swapped=True)))

    assert "Other order" not in once
    assert "Other order shown the same in another order, the moderator concludes the same" in flat(twice)


def test_progress_names_debaters_as_their_caller_does_and_tells_every_decider() -> None:
    text = {form: flat(live(played(formats.plain(form)))) for form in FORMS}

    assert f" {formats.NAMES[1]}" in text["stances/1"]
    assert "Judge winner “sign as it stands”, confidence HIGH" in text["stances/1"]
    assert "Synthesizer put in the shape that was asked for" in text["stances/1"]
    assert text["ballot/1"].count("proposal:") == text["ballot/1"].count("consensus:") == 2
    assert "votes renegotiate, 2 arguments" in text["ballot/1"]
    assert "Classifier a factual question: It asks what" in text["panel/1"]
    assert text["panel/1"].count("Consensus not reached: 0.500 (stance 0.500, evidence 0.500") == 3
    assert (
        "Accuracy conduct, not truth: factual / consistent / evidence / trajectory: A 70 / 70 / 70" in text["panel/1"]
    )
    assert "Round 0 each debater on its own" in text["convergence/1"]
    assert "too few words" in text["convergence/1"]
    assert "Judge “Sign.”, confidence HIGH" in text["convergence/1"]
    assert "Judge asked again in the other order: “Sign.”" in text["convergence/1"]


@pytest.mark.parametrize("form", FORMS)
def test_no_word_of_a_model_or_a_caller_moves_the_cursor(form: str) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07\u202e"

    def say(turn: Turn, facts: Facts) -> Reply:
        reply = canned(turn, facts)
        match reply:
            case Judgement():
                return replace(reply, winner=f"{hostile}me", reasoning=f"{hostile}why")
            case Ballot():
                return replace(reply, stance=f"{hostile}stance", vote=f"{hostile}sign")
            case Projection():
                return Projection('{"decision": "\\u001b[2J\\u202e"}')
            case RevisedAnswer():
                points = tuple(replace(point, text=f"{hostile}open") for point in reply.unresolved)
                return replace(reply, unresolved=points)
        return reply

    options = formats.plain(form)
    if isinstance(options, StancesOptions | BallotOptions):
        named = tuple(Debater(d.name, f"{d.stance}{hostile}" if d.stance else "") for d in options.debaters)
        options = replace(options, debaters=named)
    entries = played(options, say)
    text = paged(entries)[1] + live(entries)

    assert not {c for c in text if c in "\x1b\x07\u202e"}


class _Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _spun(width: int, passed: float, follow: Callable[[Progress], None]) -> str:
    """The line of the spinner on a terminal after some seconds, without its moving sign."""
    written, clock = io.StringIO(), _Clock()
    screen = Console(file=written, width=width, force_terminal=True, color_system=None, highlight=False)
    progress = Progress(screen, clock)
    follow(progress)
    clock.now += passed
    status = progress._status
    assert status is not None
    progress.stop()
    with screen.capture() as seen:
        screen.print(status.renderable)
    return seen.get().rstrip()[2:]


ASKED = {"turn": "1.critic.1", "seat": "critic", "attempt": 1, "round": 1, "why": "first", "model": "m"}


def test_what_is_waited_for_has_its_seconds_also_where_the_line_is_narrow() -> None:
    def ask(progress: Progress) -> None:
        progress.show_event("asked", ASKED)

    assert _spun(80, 12.7, ask) == "Critic is arguing against it (12 s)"
    assert _spun(80, 0.4, ask) == "Critic is arguing against it"
    assert _spun(24, 12.7, ask) == "Critic is argu… (12 s)"


def test_after_an_abort_the_calls_in_flight_are_waited_for_whatever_was_said_before() -> None:
    def abort(progress: Progress) -> None:
        progress.show_event("asked", ASKED)
        progress.stop()
        progress.wait_for_calls(2)

    assert _spun(80, 3.0, abort) == "waiting for 2 calls, Ctrl-C ends (3 s)"
    assert len(_spun(40, 3.0, abort)) <= 38


def test_a_word_that_is_longer_than_a_narrow_screen_is_not_cut() -> None:
    written = io.StringIO()

    Console(file=written, width=30, color_system=None).print(row("Recorded", "2026-11-24T22:06:29.097Z"))

    assert "".join(written.getvalue().split()) == "Recorded2026-11-24T22:06:29.097Z"
