"""Debates whose reports say what reports rarely say: fallbacks, limits, silent critics, texts that are not stored.

Some are played by the kernel. The others are recorded debates of which one kind of entry was given other values, as in
`tests.vectors.worded`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, TypeGuard

from msgspec.structs import replace

from service.debate.entries import (
    Arrival,
    AttemptFailed,
    BelowFloor,
    BudgetRefused,
    CaseReceived,
    Charge,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    Entry,
    StandingTilt,
    TurnAsked,
    TurnSpoke,
)
from service.debate.facts import Facts
from service.debate.findings import (
    ArgumentVerdict,
    CitationsFound,
    CitationVerdict,
    ConsensusFound,
    ConvergenceFound,
    Edit,
    Finding,
    NamedClaims,
    Passage,
    SynthesisFound,
    TextsFound,
)
from service.debate.model import (
    AdversarialOptions,
    BallotOptions,
    Check,
    Difference,
    Differing,
    PanelOptions,
    SeatPlan,
    StancesOptions,
    Turn,
    TurnId,
)
from service.debate.options import TrackRecord
from service.debate.replies import (
    BlindAnswer,
    Critique,
    Framing,
    Judgement,
    Moderation,
    ObjectionAnswers,
    Proposal,
    Rebuttal,
    Reply,
    RevisedAnswer,
    Synthesis,
)
from service.debate.replies import Position as Answer
from service.debate.replies.adversarial import Objection
from service.debate.replies.panel import Challenge, ObjectionAnswer, ObjectionVerdict
from service.debate.replies.pruning import Dropped
from service.debate.replies.texts import texts_of, with_texts
from service.debate.results import ConvergenceResult, PanelResult, StancesResult, Verdict
from service.debate.turns import SCREENER, turn_id
from service.report import labels
from service.report.result.differing import DIFFERS
from service.running.checker import Checker
from tests.fixtures import formats
from tests.fixtures.debates import a_case, a_start, canned, drive, found, reply_for, start_of
from tests.fixtures.masking import flagged, masking
from tests.vectors.played import panel, silent
from tests.vectors.suspected import suspected

Debate = tuple[str, str, list[Entry]]
CHOSEN = (
    "plain",
    "three-positions",
    "fabricated",
    "split",
    "consensus",
    "prediction",
    "judged",
    "swapped",
    "objection-unanswered",
)
"""The recorded debates that are given other values, each attempt of which brought a reply."""
OTHER_TEXTS: Mapping[str, Mapping[str, str]] = {
    "not stored": {},
    "differs": {"D1": "Short."},
}
"""Texts of the documents that other reports are not given."""


def rarely_worded(debates: Iterable[Debate]) -> Iterator[Debate]:
    """Recorded debates in other words, and debates that are played for theirs."""
    for form, name, entries in debates:
        if name in CHOSEN:
            for n in range(2):
                yield form, f"{name}, rare {n}", [*_rare(entries, n)]
        if name == "truncated" and form == "stances/1":
            yield form, f"{name}, one stance", [*_one_stance(entries)]
        if name == "truncated":
            for limit in labels.LIMIT:
                yield form, f"{name}, {limit}", [_refused(entry, limit) for entry in entries]
    yield from _played()


def _played() -> Iterator[Debate]:
    yield "adversarial/1", "no critic", [*map(_upheld, drive(a_start(), fails=silent("1.critic.1")))]
    yield "adversarial/1", "no rebuttal", drive(a_start(), fails=silent("1.rebuttal.1"))
    yield "adversarial/1", "no second critique", drive(a_start(), _weak, refuses=lambda turns: "1.critic.2" in turns)
    yield "adversarial/1", "parts left out", [_with_parts_left_out(entry) for entry in drive(a_start())]
    yield "adversarial/1", "too little reported", [*_too_little(drive(a_start(), fails=_stormy))]
    yield "adversarial/1", "one family", drive(_of_one_family(a_start()))
    tilts = (StandingTilt("01890a5d-ac96-774b-bcce-b302099a8057", a_start().seat("moderator").model),)
    yield "adversarial/1", "a moderator that tilts", drive(replace(a_start(), tilts=tilts))
    yield "adversarial/1", "names its models", drive(a_start(critic_family="oak"), _names)
    for conclusion in labels.CONCLUSION:
        yield "adversarial/1", conclusion, drive(a_start(), partial(_concluding, conclusion))
    several = a_start(positions=("adopt-x", "defer"))
    yield "adversarial/1", "no position is carried", drive(several, partial(_concluding, "rejected"))
    yield "stances/1", "the stance in the verdict", drive(start_of(formats.plain("stances/1")), _answering)
    yield "panel/1", "one yes under conditions", drive(panel(), _answering)
    voted = start_of(replace(formats.plain("convergence/1"), judge=False))
    yield "convergence/1", "the same of those that answered", drive(voted, _agreeing, fails=silent("1.debater-3.1"))
    yield "convergence/1", "all the same", drive(voted, _agreeing)
    yield "convergence/1", "a bare yes", drive(voted, _barely)
    yield "adversarial/1", "what became of the proposition", drive(a_start(), _in_own_words)
    yield "panel/1", "several ideas", drive(panel(2, kind="brainstorm", typed_by="caller"), _storming)
    for kind in labels.QUESTION:
        yield "panel/1", f"of the type {kind}", drive(panel(2, kind=kind, typed_by="caller"))
    ranked = a_start(positions=("adopt-x", "adopt-y", "defer"))
    ranked = replace(ranked, options=replace(ranked.options, swapped=True))
    yield "adversarial/1", "ranked twice", drive(ranked)
    quoted = replace(ranked, options=replace(ranked.options, max_rounds=2))
    yield "adversarial/1", "quoted words", drive(quoted, _quoting, findings=_places)
    *before, _, concluded = drive(a_start(), _quoting, findings=_places)
    yield "adversarial/1", "not all compared", [*before, concluded]
    for flag in ("ordersDiffer", "orderNotCompared"):
        yield "adversarial/1", f"two replies, {flag}", [_two_replies(entry, flag) for entry in drive(ranked)]
    for form, start in _QUOTED.items():
        yield form, "quoted words", drive(start, _quoting, findings=_places)
        yield form, "without documents", _undocumented(start)
    yield "adversarial/1", "without documents", _undocumented(a_start())
    yield "panel/1", "quoted words of a masked synthesis", drive(masking("panel/1"), _quoting, findings=_places_flagged)
    yield from suspected()
    yield from _evaluated()


def _evaluated() -> Iterator[Debate]:
    """Items of an evaluation: until its critic with given replies, and drafts."""
    until = AdversarialOptions(1, 6, 6, human_review=False, until="critic", screened=True)
    screener, proposer = (Turn(SCREENER, "screener"), Turn(turn_id(1, "proposer"), "proposer"))
    given = {turn.id: reply_for(turn) for turn in (screener, proposer)}
    yield "adversarial/1", "until its critic", drive(start_of(until), given=given)
    drafts = BallotOptions(formats.debaters(1), 1, formats.VOTES, 1, human_review=False, drafts=True)
    yield "ballot/1", "a draft", drive(start_of(drafts))


def _barely(turn: Turn, facts: Facts) -> Reply:
    reply = canned(turn, facts)
    return replace(reply, final_answer="Yes.") if isinstance(reply, Answer) else reply


def _in_own_words(turn: Turn, facts: Facts) -> Reply:
    reply = canned(turn, facts)
    said = "The proposition holds in part, because clause 12 takes the rest."
    return replace(reply, synthesis=said) if isinstance(reply, Moderation) else reply


def _storming(turn: Turn, facts: Facts) -> Reply:
    reply = canned(turn, facts)
    if not isinstance(reply, Synthesis) or not reply.ideas:
        return reply
    return replace(reply, ideas=(*reply.ideas, replace(reply.ideas[0], idea="Insure twice.")))


def _concluding(conclusion: Any, turn: Turn, facts: Facts) -> Reply:
    reply = canned(turn, facts)
    return replace(reply, conclusion=conclusion) if isinstance(reply, Moderation) else reply


def _agreeing(turn: Turn, facts: Facts) -> Reply:
    reply = canned(turn, facts)
    return replace(reply, final_answer="Sign.") if isinstance(reply, Answer) else reply


def _answering(turn: Turn, facts: Facts) -> Reply:
    """A verdict that begins with the stance it chooses; a panel that says no, but for one debater."""
    reply = canned(turn, facts)
    if isinstance(reply, Judgement):
        return replace(reply, verdict=f"{formats.STANCES[0].capitalize()}, because clause 9 holds.")
    if isinstance(reply, BlindAnswer | RevisedAnswer):
        return replace(reply, stance="qualified" if turn.seat == "debater-3" else "negative")
    return reply


def _two_replies(entry: Entry, flag: str) -> Entry:
    """The conclusion of a debate whose decider replied twice for every reason, and gave every member otherwise."""
    if not isinstance(entry, DebateConcluded):
        return entry
    moderator, again = TurnId("1.moderator.1"), TurnId("1.moderator.swapped.1")
    members = tuple(Difference(member, "a", "b") for member in DIFFERS)
    differing = tuple(Differing(why, moderator, again, members) for why in _WHY)
    return DebateConcluded(replace(entry.outcome, flags=(flag,), differing=differing))


_WHY: tuple[Literal["secondTake", "repair", "otherOrder"], ...] = ("secondTake", "repair", "otherOrder")
_QUOTED: Mapping[str, DebateStarted] = {
    "panel/1": panel(2, kind="brainstorm", typed_by="caller"),
    **{form: start_of(formats.plain(form)) for form in ("stances/1", "ballot/1", "convergence/1")},
}


def _quoting(turn: Turn, facts: Facts) -> Reply:
    """Each text quotes words, the second one a clause; the seats that write the decision quote less the second time."""
    said = with_texts(canned(turn, facts), lambda path, text: f'{text} See "{path}" of clause 9.')
    return replace(said, recommend_another_round=turn.round == 1) if isinstance(said, Moderation) else said


def _undocumented(started: DebateStarted) -> list[Entry]:
    """Seats that cite, quote and claim evidence all the same, in a case without documents, by the real checks."""
    case, checker = replace(a_case(), documents=()), Checker({})

    def said(turn: Turn, facts: Facts) -> Reply:
        reply = _quoting(turn, facts)
        return replace(reply, key_documents=()) if isinstance(reply, Framing) else reply

    return drive(started, said, case=case, findings=lambda check, facts: checker.check(case, facts, check).finding)


def _places(check: Check, facts: Facts) -> Finding:
    """Every place in which a passage may stand, in turn."""
    if check.kind != "texts":
        return found(check, facts)
    *seen, turn = check.over
    passages = []
    for n, (path, text) in enumerate(texts_of(facts.said[turn])):
        at = text.index(f'"{path}"') + 1
        status, attributed = _STATUSES[n % len(_STATUSES)]
        passages.append(
            Passage(
                path,
                (at, at + len(path)),
                "quotation",
                status,
                attributed,
                source_id="D1" if status == "inDocument" else None,
                turn=seen[-1] if seen and "Debate" in status else None,
            )
        )
        clause = text.rindex("clause 9")
        told, source, reason = _CLAUSES[n % len(_CLAUSES)]
        passages.append(Passage(path, (clause, clause + 8), "clause", told, "document", source, reason=reason))
        if path == "synthesis":
            passages.append(Passage(path, (0, len(text)), "verdict", "opposed", "open", form="rejects"))
    return TextsFound(tuple(passages))


def _places_flagged(check: Check, facts: Facts) -> Finding:
    return flagged(check, facts) if check.kind == "injection" else _places(check, facts)


_STATUSES: tuple[tuple[Any, Any], ...] = (
    ("nowhere", "document"),
    ("onlyInDebate", "document"),
    ("nowhere", "debate"),
    ("unclear", "open"),
    ("inDebate", "debate"),
    ("inDocument", "document"),
)
_CLAUSES: tuple[tuple[Any, str | None, str], ...] = (
    ("nowhere", None, "no_such_clause"),
    ("unclear", "D1", "other_amount"),
    ("unclear", None, "no_such_document"),
)


def _with_parts_left_out(entry: Entry) -> Entry:
    """A reply of the rebuttal that had parts for each reason for which parts are left out, and more of them."""
    if not isinstance(entry, TurnSpoke) or not isinstance(entry.reply, Rebuttal):
        return entry
    members = (Dropped("unknownMember", "$", "next_speaker"), Dropped("unknownMember", "$.rebuttals[0]", "\u202e"))
    answers = (Dropped("struckPoint", "$.concessions[1]", "3"), Dropped("unaskedPoint", "$.concessions[2]", "9"))
    return replace(entry, dropped=(*answers, *members), dropped_more=1, said="{}")


def _stormy(turn: TurnId, attempt: int) -> bool:
    return turn == "1.critic.1" and attempt < 2


def _too_little(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Usages below the floor, of replies and of a failed attempt, and waits for a vendor that takes no calls."""
    for entry in entries:
        match entry:
            case TurnSpoke(turn="1.critic.1"):  # a usage that cannot be true
                yield replace(entry, charge=Charge(entry.charge.amount, "reserved"), usage={"prompt_tokens": -1})
            case TurnSpoke():
                part: BelowFloor = "input" if entry.turn == "1.proposer.1" else "output"
                yield replace(entry, charge=Charge(entry.charge.amount, "reserved", below_floor=part))
            case AttemptFailed():
                below: BelowFloor | None = "input" if entry.attempt == 1 else None
                charge = Charge(entry.charge.amount, "reserved", below_floor=below)
                yield replace(entry, charge=charge, unavailable=True, pause_ms=700 * entry.attempt)
            case _:
                yield entry


def _of_one_family(started: DebateStarted) -> DebateStarted:
    """Every seat on a model of its own, all of one family."""
    seats = (replace(p, model=f"oak-{i}", model_name=f"oak-{i}", family="oak") for i, p in enumerate(started.seats))
    return replace(started, seats=tuple(seats))


def _names(turn: Turn, facts: Facts) -> Reply:
    """A proposal that names its own model, and a critique that guesses the proposer's."""
    reply = canned(turn, facts)
    match reply:
        case Proposal():
            return replace(reply, thesis="As Claude, I hold that it is due.")
        case Critique():
            return replace(reply, thesis="The proposer sounds like Claude.")
    return reply


def _weak(turn: Turn, facts: Facts) -> Reply:
    reply = canned(turn, facts)
    return replace(reply, challenge_strength=4) if isinstance(reply, Critique) else reply


def _upheld(entry: Entry) -> Entry:
    return replace(entry, outcome=replace(entry.outcome, conclusion="upheld")) if _ends(entry) else entry


def _ends(entry: Entry) -> TypeGuard[DebateConcluded]:
    return isinstance(entry, DebateConcluded)


def _one_stance(entries: Iterable[Entry]) -> Iterator[Entry]:
    """A verdict, and of the debaters' turns only the first."""
    verdict = StancesResult(1, Verdict("Sign it.", "sign it", "It is due."), winner_stance="sign it")
    spoke = 0
    for entry in entries:
        match entry:
            case TurnAsked() | TurnSpoke() | CheckFound() | BudgetRefused() if spoke:
                continue
            case DebateConcluded(outcome):
                yield replace(entry, outcome=replace(outcome, result=verdict))
                continue
            case CheckFound():
                spoke = 1
        yield entry


def _refused(entry: Entry, limit: str) -> Entry:
    return replace(entry, limit=limit) if isinstance(entry, BudgetRefused) else entry


def _rare(entries: Iterable[Entry], n: int) -> Iterator[Entry]:
    """Each reply after a failure, by the seat's fallback, charged in two ways as held; all findings otherwise."""
    fallbacks: dict[str, str] = {}
    for entry in entries:
        match entry:
            case CaseReceived(case):
                rare = replace(case, confidence_score=None, question="Is\u202eit due?", metadata={"note": " "})
                yield replace(
                    entry, case=rare, arrival=Arrival("batch" if n % 2 else "completions", f"{n:032x}", f"batch {n}")
                )
            case DebateStarted():
                seats = tuple(map(_with_fallback, entry.seats))
                fallbacks = {seat.model: f"{seat.model}-2" for seat in seats}
                yield replace(entry, seats=seats, options=_options(entry.options))
            case TurnAsked():
                yield entry
                yield AttemptFailed(entry.turn, 1, "timeout", "it took too long", Charge(0, "none"))
                yield replace(entry, attempt=2, model=fallbacks[entry.model], because="failed")
            case TurnSpoke():
                charge = Charge(900, "reserved", input_tokens=100 * n)
                yield replace(entry, attempt=2, charge=charge, reply=_said(entry.reply, n))
            case CheckFound():
                yield replace(entry, finding=_found(entry.finding, n))
            case DebateConcluded(outcome):
                agrees = None if outcome.agrees_with_first_proposal is None else bool(n)
                told = replace(outcome, agrees_with_first_proposal=agrees, result=_result(outcome.result))
                yield replace(entry, outcome=told)
            case _:
                yield entry


def _with_fallback(seat: SeatPlan) -> SeatPlan:
    other = replace(seat, model=f"{seat.model}-2", model_name="oak-2", family="oak", fallback=None)
    return replace(seat, fallback=other)


def _options(options: Any) -> Any:
    match options:
        case PanelOptions():
            return replace(options, mode="auto", track_records=(TrackRecord("ash", 7, 612),))
        case StancesOptions():
            return replace(options, output_schema={"type": "object"})
    return options


def _said(reply: Reply, n: int) -> Reply:
    """A reply with members that the canned ones lack."""
    match reply:
        case RevisedAnswer():
            marks = tuple(replace(mark, mark="unsure") for mark in reply.marks)
            answers = (ObjectionAnswer("A", "Fines are fees."), ObjectionAnswer("B", "They are not."))
            challenges = tuple(Challenge(mark.label, mark.n, "The second claim.") for mark in marks[:1])
            return replace(reply, marks=marks, still_challenges=challenges, answers_to_objections=answers)
        case ObjectionAnswers(answers):
            verdicts: tuple[ObjectionVerdict, ...] = ("acceptedRisk", "holds")
            return replace(reply, answers=tuple(replace(one, verdict=verdicts[n % 2]) for one in answers))
        case Proposal():
            unnamed = tuple(
                replace(argument, citations=tuple(replace(one, source_id=None) for one in argument.citations))
                for argument in reply.arguments
            )
            objections = (Objection("It is too dear.", "It is the usual price."),)
            return replace(reply, arguments=unnamed, objections=objections)
        case Rebuttal() if n:
            return replace(reply, rebuttals=(), concessions=())
    return reply


def _found(finding: Finding, n: int) -> Finding:
    match finding:
        case CitationsFound():
            altered = tuple(_altered(argument, n) for argument in finding.arguments)
            return CitationsFound((*altered, *(_many(altered[0].turn) if altered and n else ())))
        case ConsensusFound():
            return replace(finding, dimensions=dict.fromkeys(finding.dimensions))
        case SynthesisFound():
            excluded = NamedClaims((TurnId("2.synthesizer.1"), TurnId("1.debater-1.1")), (0, n + 1))
            return SynthesisFound((excluded,))
        case ConvergenceFound():
            shared = None if n else 900
            pairs = tuple(replace(pair, overlap=shared, apart=("answers",)) for pair in finding.pairs)
            return replace(finding, pairs=pairs, converged=False, why_not=("answers",))
    return finding


def _altered(argument: ArgumentVerdict, n: int) -> ArgumentVerdict:
    """Citations altered or of no source; rebuttals are struck, critics never, and others in one of two ways."""
    edits = (Edit("changed", "may", "shall"), Edit("missing", "not"), Edit("negation", "is not so", because="not"))
    if ".proposer." in argument.turn and n:
        missing = CitationVerdict("too_short", reason="too_short")
        return replace(argument, verdicts=tuple(missing for _ in argument.verdicts), struck="unverified_citation")
    verdict = CitationVerdict("altered", "D1", (4, 28), text="It may not be so.", edits=edits, found_in="D2")
    rebuts, objects = ".rebuttal." in argument.turn, ".critic." in argument.turn
    struck = "unverified_citation" if rebuts or (n and not objects) else None
    return replace(argument, verdicts=tuple(verdict for _ in argument.verdicts), struck=struck)


def _many(turn: TurnId) -> Iterator[ArgumentVerdict]:
    """More passages quoted wrongly than a report lists."""
    for n in range(1, 108):
        yield ArgumentVerdict(turn, 1_000 + n, (CitationVerdict("altered", "D1", (n, n + 20), text="It may."),))


def _result(result: Any) -> Any:
    match result:
        case StancesResult(verdict=verdict) if verdict:
            return replace(result, verdict=replace(verdict, winner="Neither."), winner_stance=None)
        case PanelResult():
            undefined = tuple(replace(one, dimensions=dict.fromkeys(one.dimensions)) for one in result.consensus)
            return replace(result, consensus=undefined)
        case ConvergenceResult():
            return replace(result, similarities=tuple(900 for _ in result.similarities), converged_in=None)
    return result
