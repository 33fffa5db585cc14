"""The recorded debates of the formats beside the adversarial one: what each is played with, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from service.debate.entries import DebateStarted, DebateStopped, Entry, StoppedBy
from service.debate.facts import Facts
from service.debate.findings import (
    CitationsFound,
    CitationVerdict,
    ConsensusFound,
    ConvergenceFound,
    Finding,
    UnansweredObjection,
)
from service.debate.model import BallotOptions, Check, ConvergenceOptions, PanelOptions, StancesOptions, Turn
from service.debate.replies import Ballot, Position, Reply, RevisedAnswer
from service.debate.turns import TurnId, seat_of
from tests.fixtures.debates import Replies, canned, drive, found, invented, start_of
from tests.fixtures.formats import THRESHOLDS, VOTES, debaters
from tests.fixtures.masking import flagged, otherwise

Stops = Callable[[Facts], DebateStopped | None]


def stopped(by: StoppedBy, turn: str) -> Stops:
    """Stop once this turn is under way, so that its reply comes late."""
    stop = DebateStopped(by, "the caller asked for it" if by == "abort" else "it is too late")
    return lambda facts: stop if turn in facts.attempts else None


def silent(*turns: str) -> Callable[[str, int], bool]:
    """These turns fail whenever they are asked."""
    return lambda turn, _: turn in turns


def changed(turns: str, **changes: Any) -> Replies:
    """Canned replies, but with these changes where the turn's id holds those letters."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        said = canned(turn, facts)
        return replace(said, **changes) if turns in turn.id else said

    return reply


def fabricated(check: Check, facts: Facts) -> Finding:
    """The first debater makes a passage up."""
    finding = found(check, facts)
    if isinstance(finding, CitationsFound) and ".debater-1." in check.id:
        first, *others = finding.arguments
        verdicts = (CitationVerdict("not_found", reason="unknown_source"),)
        return CitationsFound((replace(first, verdicts=verdicts, struck="unverified_citation"), *others))
    return finding


def inventing(*turns: str) -> Callable[[Check, Facts], Finding]:
    """The texts of turns whose ids end so quote what stands nowhere."""

    def findings(check: Check, facts: Facts) -> Finding:
        if check.kind == "texts" and check.over[-1].endswith(turns):
            return invented(check.over[-1], facts)
        return found(check, facts)

    return findings


def agreed(round_: int, *, unanswered: bool = False) -> Callable[[Check, Facts], Finding]:
    """All are found to agree after this round; a strong objection may stand against it."""

    def findings(check: Check, facts: Facts) -> Finding:
        finding = found(check, facts)
        here = check.id.partition("/")[0] == str(round_)
        match finding:
            case ConvergenceFound() if here:
                pairs = tuple(replace(pair, shared=9, either=10, overlap=900) for pair in finding.pairs)
                return replace(finding, pairs=pairs, converged=True, why_not=())
            case ConsensusFound() if here:
                scores = dict.fromkeys(finding.dimensions, 900)
                left = (
                    (UnansweredObjection(TurnId("3.debater-1.1"), "It says nothing of fines."),) if unanswered else ()
                )
                reached = replace(finding, dimensions=scores, overall=900, lagging=(), unanswered=left)
                return replace(reached, terminated=not unanswered, notes="They agree.")
        return finding

    return findings


def stances(count: int = 2, rounds: int = 2, **others: Any) -> DebateStarted:
    """Debaters with stances, a judge and a synthesizer."""
    return start_of(StancesOptions(debaters(count, stances=True), rounds, human_review=False, **others))


def stances_debates() -> dict[str, list[Entry]]:
    """Every recorded debate of stances/1."""
    persons = tuple(replace(who, role="a lawyer") for who in debaters(2, stances=True))
    own = (persons[0], replace(persons[1], prompt="stances.house"))
    last = changed("swapped", winner="do not sign")
    return {
        "plain": drive(stances()),
        "fabricated": drive(stances(3, 1), findings=fabricated),
        "named": drive(stances(anonymize_transcript=False, shuffle_for_judge=False, synthesizer=False)),
        "persons": drive(replace_options(stances(), debaters=own, instructions="Weigh the fines.")),
        "null-winner": drive(stances(), changed("judge", winner=None)),
        "many-rounds": drive(stances(rounds=5, synthesizer=False)),
        "swapped": drive(stances(swapped=True)),
        "masked": drive(stances(masked=True), findings=flagged),
        "injection-sensitive": drive(stances(masked=True), otherwise(winner="do not sign"), findings=flagged),
        "order-sensitive": drive(stances(swapped=True), last),
        "order-unchecked": drive(stances(swapped=True), fails=silent("2.judge.swapped.1")),
        "truncated": drive(stances(), refuses=lambda turns: turns == ("2.debater-1.1",)),
        "failed": drive(stances(), fails=silent("1.debater-2.1")),
        "silent-judge": drive(stances(), fails=silent("2.judge.1")),
        "reworded": drive(stances(swapped=True), findings=inventing(".judge.1", ".synthesizer.1", ".synthesizer.2")),
        "aborted": drive(stances(), stops=stopped("abort", "2.debater-1.1")),
        "deadline": drive(stances(), stops=stopped("deadline", "2.judge.1")),
    }


def replace_options(started: DebateStarted, **changes: Any) -> DebateStarted:
    """The same start with other options."""
    return replace(started, options=replace(started.options, **changes))


def ballot(count: int = 2, rounds: int = 1, threshold: int = 2, **others: Any) -> DebateStarted:
    """Debaters that vote."""
    return start_of(BallotOptions(debaters(count), rounds, VOTES, threshold, human_review=False, **others))


def voting(*votes: str) -> Replies:
    """Every debater votes so in its first turn, its second, and so on; the last vote stays."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        said = canned(turn, facts)
        before = sum(turn.seat == seat_of(seen) for seen in turn.sees)
        return replace(said, vote=votes[min(before, len(votes) - 1)]) if isinstance(said, Ballot) else said

    return reply


def ballot_debates() -> dict[str, list[Entry]]:
    """Every recorded debate of ballot/1."""
    return {
        "split": drive(ballot()),
        "first-phase": drive(ballot(3), voting("sign")),
        "critique-decides": drive(ballot(3, threshold=3), voting("abstain", "Sign.")),
        "escalated-by-vote": drive(ballot(), voting("escalate")),
        "tied": drive(ballot(2, threshold=1), changed("debater-3", vote="sign")),
        "abstentions": drive(ballot(), voting("I vote to sign")),
        "instructed": drive(ballot(instructions="Weigh the fines."), voting("sign", "renegotiate")),
        "truncated": drive(ballot(), refuses=lambda turns: turns == ("1.debater-2.revision.1",)),
        "failed": drive(ballot(), fails=silent("1.debater-2.critique.1")),
        "invented": drive(ballot(3), voting("sign"), findings=inventing("1.debater-2.proposal.1")),
        "aborted": drive(ballot(), stops=stopped("abort", "1.debater-2.critique.1")),
        "deadline": drive(ballot(), stops=stopped("deadline", "1.debater-1.revision.1")),
    }


def panel(count: int = 3, rounds: int = 2, kind: str = "factual", **others: Any) -> DebateStarted:
    """Debaters of a panel, with code or a model as adjudicator."""
    given: Mapping[str, Any] = {"question_type": kind, "typed_by": "rules", "thresholds": THRESHOLDS, **others}
    return start_of(PanelOptions(count, rounds, human_review=False, mode="manual", **given))


def scoring(round_: int, again: int = 100) -> Replies:
    """An adjudicator that finds consensus after this round, and scores so when it is asked again."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        said = canned(turn, facts)
        if turn.asks != "panel.adjudicator" or turn.round != round_:
            return said
        score = again if ".swapped." in turn.id else 100
        names = ("stance_alignment", "empirical_overlap", "framework_agreement", "confidence_convergence")
        return replace(said, **dict.fromkeys(names, score))

    return reply


def opposing(turn: Turn, facts: Facts) -> Reply:
    """The second debater rejects what the others claim."""
    said = canned(turn, facts)
    if isinstance(said, RevisedAnswer) and turn.seat == "debater-2":
        return replace(said, stance="negative", marks=tuple(replace(mark, mark="reject") for mark in said.marks))
    return said


def panel_debates() -> dict[str, list[Entry]]:
    """Every recorded debate of panel/1."""
    model: dict[str, Any] = {"adjudicator": "model", "swapped": True}
    return {
        "round-ceiling": drive(panel(rounds=3), opposing),
        "consensus": drive(panel(), findings=agreed(2)),
        "blind-consensus": drive(panel(), changed("debater", overall_confidence=90), findings=agreed(1)),
        "objection-unanswered": drive(panel(2, 3), findings=agreed(3, unanswered=True)),
        "prediction": drive(panel(2, kind="prediction"), findings=fabricated),
        "brainstorm": drive(panel(2, kind="brainstorm", instructions="Be bold.")),
        "classified": drive(panel(2, typed_by="classifier"), changed("classifier", question_type="belief")),
        "silent-classifier": drive(panel(2, 1, typed_by="classifier"), fails=silent("0.classifier.1")),
        "model-adjudicates": drive(panel(2, **model), scoring(2)),
        "order-sensitive": drive(panel(2, **model), scoring(2, again=10)),
        "masked": drive(panel(2, masked=True), otherwise(answer="Sign, insured."), findings=flagged),
        "injection-sensitive": drive(panel(2, 1, "brainstorm", masked=True), otherwise(ideas=()), findings=flagged),
        "order-unchecked": drive(panel(2, **model), scoring(2), fails=silent("2.adjudicator.swapped.1")),
        "silent-adjudicator": drive(panel(2, **model), fails=silent("1.adjudicator.1"), findings=agreed(2)),
        "debater-missing": drive(panel(rounds=3), fails=silent("2.debater-2.1"), findings=agreed(3)),
        "truncated": drive(panel(), refuses=lambda turns: "2.debater-1.1" in turns),
        "reworded": drive(panel(2, **model), scoring(2), findings=inventing(".synthesizer.1", "1.debater-1.1")),
        "failed": drive(panel(2), fails=silent("2.debater-2.1")),
        "aborted": drive(panel(), stops=stopped("abort", "2.debater-2.1")),
        "deadline": drive(panel(), stops=stopped("deadline", "2.synthesizer.1")),
    }


def convergence(count: int = 3, rounds: int = 2, **others: Any) -> DebateStarted:
    """Debaters that may converge, with or without a judge."""
    return start_of(ConvergenceOptions(count, rounds, human_review=False, **others))


def answering(*answers: str) -> Replies:
    """The first debater answers so, the second so, and so on."""

    def reply(turn: Turn, facts: Facts) -> Reply:
        said = canned(turn, facts)
        number = int(turn.seat.rpartition("-")[2]) if isinstance(said, Position) else 0
        return replace(said, final_answer=answers[(number - 1) % len(answers)]) if number else said

    return reply


def convergence_debates() -> dict[str, list[Entry]]:
    """Every recorded debate of convergence/1."""
    told = {"debater_instructions": "Weigh the fines.", "judge_instructions": "Be brief."}
    tied = answering("Sign.", "Wait.")
    return {
        "judged": drive(convergence()),
        "converged": drive(convergence(), answering("Sign."), findings=agreed(1)),
        "converged-alone": drive(convergence(2), answering("Sign."), findings=agreed(0)),
        "check-off": drive(convergence(2, 1, convergence_check=False, **told)),
        "vote": drive(convergence(judge=False), answering("Sign.", "Wait.", "sign"), findings=fabricated),
        "tie-to-the-lowest": drive(convergence(2, 1, judge=False), tied),
        "tie-without-answer": drive(convergence(2, 1, judge=False, ties="noAnswer"), tied),
        "swapped": drive(convergence(2, 1, swapped=True)),
        "masked": drive(convergence(2, 1, swapped=True, masked=True), findings=flagged),
        "injection-sensitive": drive(convergence(2, 1, masked=True), otherwise(final_answer="Wait."), findings=flagged),
        "order-sensitive": drive(convergence(2, 1, swapped=True), changed("swapped", final_answer="Wait.")),
        "order-unchecked": drive(convergence(2, 1, swapped=True), fails=silent("1.judge.swapped.1")),
        "debater-missing": drive(convergence(), fails=silent("1.debater-2.1")),
        "truncated": drive(convergence(), refuses=lambda turns: "1.debater-1.1" in turns),
        "truncated-vote": drive(convergence(judge=False), refuses=lambda turns: "2.debater-1.1" in turns),
        "reworded": drive(convergence(2, 1), findings=inventing(".judge.1", "1.debater-1.1")),
        "failed": drive(convergence(2), fails=silent("1.debater-2.1")),
        "silent-judge": drive(convergence(2, 1), fails=silent("1.judge.1")),
        "aborted": drive(convergence(2), stops=stopped("abort", "1.debater-2.1")),
        "deadline": drive(convergence(2, judge=False), stops=stopped("deadline", "1.debater-2.1")),
    }


DEBATES: Mapping[str, Callable[[], dict[str, list[Entry]]]] = {
    "stances/1": stances_debates,
    "ballot/1": ballot_debates,
    "panel/1": panel_debates,
    "convergence/1": convergence_debates,
}
