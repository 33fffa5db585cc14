"""From a list of entries to the next move, and back: which entries are legal after which.

    entry                        legal when
    case.received                it is first, and is the case itself; only an evaluation has terms and gives replies
    gate.decided                 it is second
    debate.started               it is third, the gate decided to debate, the format's version is known and accepts it;
                                 an evaluation's seed is that of its plan, and no other has what it alone asks for
    turn.asked                   the move asks for that turn, no attempt of it is open, the attempt is the next one,
                                 and the model is that of its seat or the seat's fallback
    turn.spoke, attempt.failed   that attempt is open (also after a stop: a paid reply is always recorded)
    turn.given                   the move asks for that turn, and the case gives it exactly that reply, which its format
                                 can use; such a turn is never asked or refused
    turn.silent                  no attempt is open, the turn is not answered and was due; a given turn only where its
                                 format cannot use what is given
    check.found                  the move wants that check, and the finding is of its kind
    budget.refused               the move asks for those turns, none of them has an open attempt, and of the turns that
                                 were never tried it names all or none: an `Ask` is refused whole
    debate.stopped               the debate has started, was not stopped and is not concluded
    debate.concluded             the move is to conclude with exactly that outcome, and no attempt is open
    anything else                never; the facts do not change

An auditor replays with these functions. The runner obeys the same, with a script that is kept where it rests
(`service.debate.course`).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Protocol

from service.debate import adversarial, ballot, convergence, panel, stances
from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    CaseReceived,
    CheckFound,
    DebateConcluded,
    DebateStarted,
    DebateStopped,
    Entry,
    GateDecided,
    StoppedBy,
    TurnAsked,
    TurnGiven,
    TurnSilent,
    TurnSpoke,
    kind,
)
from service.debate.facts import Facts
from service.debate.findings import CitationsFound, Finding
from service.debate.formats import FormatName, complete_formats
from service.debate.model import (
    Ask,
    Case,
    Check,
    Conclude,
    Measure,
    Move,
    Options,
    Outcome,
    Status,
    StopReason,
    Turn,
    TurnId,
)
from service.debate.options import evaluated_of
from service.debate.purpose import evaluation_of
from service.debate.replies import REPLY_TYPES, Reply, statements
from service.debate.replies.pruning import Kept
from service.debate.roster import Roster
from service.debate.script import Script, SeatSilent
from service.errors import IllegalEntry


class Format(Protocol):
    """The functions that the module of a format's version defines."""

    FORMAT: str

    def play(self, s: Script, /) -> Coroutine[Move, None, Outcome]:
        """Its script."""

    def ended(self, s: Script, status: Status, reason: StopReason, detail: str, /) -> Outcome:
        """The outcome of a debate that ends before the script does."""

    def misfit(self, started: DebateStarted, /) -> str | None:
        """Why the format refuses a start."""

    def problem(self, s: Script, turn: Turn, reply: Reply, /) -> str | None:
        """Why the format cannot use a reply that has the right shape."""

    def kept(self, s: Script, turn: Turn, reply: Reply, /) -> Kept:
        """A reply without the parts that its request did not ask for."""

    def shown(self, s: Script, turn: Turn, /) -> Mapping[TurnId, str]:
        """The labels under which a turn sees the replies of others."""

    def table(self, options: Options, /) -> Roster:
        """The roster of the format."""


CURRENT: Mapping[FormatName, Format] = complete_formats(
    {
        "adversarial": adversarial,
        "stances": stances,
        "ballot": ballot,
        "panel": panel,
        "convergence": convergence,
    },
    "debate",
    __file__,
)
"""Each format in the version that new debates get."""
FORMATS: Mapping[str, Format] = {form.FORMAT: form for form in CURRENT.values()}
"""Every version that can be run and replayed, by its name in ``debate.started``."""
_STOPS: Mapping[StoppedBy, tuple[Status, StopReason]] = {
    "abort": ("aborted", "aborted"),
    "deadline": ("truncated", "deadline"),
    "promptMismatch": ("failed", "promptMismatch"),
    "auditUnavailable": ("failed", "auditUnavailable"),
    "fault": ("failed", "fault"),
}


def next_move(case: Case, entries: Sequence[Entry]) -> Move:
    """The next move of a debate with these entries; raises `IllegalEntry` if it has not started."""
    facts = Facts.of(entries)
    if facts.case != case:
        raise IllegalEntry("expected the entries of this case, found another case in case.received")
    return decide(facts)


def decide(facts: Facts, played: Callable[[DebateStarted, Facts], Move] | None = None) -> Move:
    """The next move from folded facts. `next_move` is the definition.

    ``played`` gives the move of the format's script; without it the script is run from the top over the facts.
    The facts cache the move until an entry can change it, because the move is asked for often.
    """
    if facts.move is None:
        facts.move = _decide(facts, played or _from_the_top)
    return facts.move


def _decide(facts: Facts, played: Callable[[DebateStarted, Facts], Move]) -> Move:
    if facts.concluded:
        return Conclude(facts.concluded)
    if facts.decision and not facts.decision.debate:
        return Conclude(Outcome("declined", "declined", f"the gate declined: {facts.decision.decided_by}"))
    if facts.started is None:
        raise IllegalEntry("expected case.received, gate.decided and debate.started first; the debate has not started")
    if facts.stopped:
        status, reason = _STOPS[facts.stopped.by]
        script = Script(facts.started, facts)
        return Conclude(FORMATS[facts.started.format].ended(script, status, reason, facts.stopped.why))
    return played(facts.started, facts)


def replay(case: Case, entries: Sequence[Entry]) -> None:
    """Check that every entry is legal after those before it; raises `IllegalEntry` naming the first that is not."""
    facts = Facts()
    for n, entry in enumerate(entries):
        if n == 0 and isinstance(entry, CaseReceived) and entry.case != case:
            raise IllegalEntry("entry 0 (case.received) is another case than the one that is replayed")
        refuse_illegal(facts, entry)
        facts.add(entry)


def refuse_illegal(facts: Facts, entry: Entry, move: Callable[[], Move] | None = None) -> None:
    """Raise `IllegalEntry` unless the entry may follow these facts; the facts stay as they are.

    ``move`` gives their next move, in the place of `decide`; it is called only for an entry that hangs on it.
    """
    if why := _illegal(facts, entry, move or (lambda: decide(facts))):
        raise IllegalEntry(f"entry {facts.count} ({kind(entry)}) is not legal: {why}")


def unusable(facts: Facts, turn: Turn, reply: Reply) -> str | None:
    """Why a decoded reply cannot be the answer to this turn, or ``None``."""
    if facts.started is None:
        return "the debate has not started"
    if not isinstance(reply, REPLY_TYPES[turn.asks]):
        return f"expected the reply of a {turn.asks}"
    return FORMATS[facts.started.format].problem(Script(facts.started, facts), turn, reply)


def given_problem(facts: Facts, move: Move, turn: TurnId) -> str | None:
    """Why the format cannot use the reply that a case gives to a turn; ``None`` if it can, or the turn is not due."""
    due = _due(move).get(turn)
    return unusable(facts, due, facts.given[turn]) if due else None


def kept(facts: Facts, turn: Turn, reply: Reply) -> Kept:
    """A decoded reply without the parts that its format leaves out; `unusable` refuses them in a record.

    Raises `IllegalEntry` if the debate has not started.
    """
    if facts.started is None:
        raise IllegalEntry("the debate has not started, so no turn has a reply")
    return FORMATS[facts.started.format].kept(Script(facts.started, facts), turn, reply)


class Run:
    """A format's script over the facts of a debate, from its top to where it rests."""

    def __init__(self, started: DebateStarted, facts: Facts) -> None:
        self._form, self._script = FORMATS[started.format], Script(started, facts)
        self._played = self._form.play(self._script)

    def next(self) -> Move:
        """The move with which the script rests or ends. It ends with `Conclude`, and cannot be sent on after that."""
        try:
            return self._played.send(None)
        except StopIteration as end:
            outcome: Outcome = end.value
            return Conclude(outcome)
        except SeatSilent as gone:
            detail = f"{gone.turn} stayed silent: {gone.reason}"
            return Conclude(self._form.ended(self._script, "failed", "seatSilent", detail))


def _from_the_top(started: DebateStarted, facts: Facts) -> Move:
    return Run(started, facts).next()


def _illegal(facts: Facts, entry: Entry, move: Callable[[], Move]) -> str | None:
    match entry:
        case CaseReceived():
            return _illegal_case(entry) if facts.count == 0 else "the case comes first"
        case GateDecided():
            return None if facts.count == 1 and facts.case else "the decision comes second"
        case DebateStarted():
            return _illegal_start(facts, entry)
        case _:
            return _illegal_later(facts, entry, move)


def _illegal_later(facts: Facts, entry: Entry, move: Callable[[], Move]) -> str | None:
    """The entries that follow the start."""
    if facts.started is None or facts.concluded:
        return "the debate is not running"
    match entry:
        case TurnSpoke() | AttemptFailed():
            return _illegal_settlement(facts, facts.started, entry, move)
        case DebateStopped():
            return "it was stopped before" if facts.stopped else None
        case TurnSilent():
            if entry.turn in facts.open or facts.answered(entry.turn):
                return f"turn {entry.turn} is open or answered"
            if entry.turn in facts.given and given_problem(facts, move(), entry.turn) is None:
                return f"turn {entry.turn} is not due or has a given reply that can be used"
            known = entry.turn in facts.attempts or entry.turn in _due(move())
            return None if known else f"turn {entry.turn} is not due"
        case _:
            return _illegal_after(facts, move(), entry)


def _illegal_start(facts: Facts, entry: DebateStarted) -> str | None:
    if facts.count != 2 or not facts.decision or not facts.decision.debate:
        return "it comes third, after a decision to debate"
    form = FORMATS.get(entry.format)
    if form is None:
        return f"format {entry.format} is not known here"
    return _illegal_terms(facts, entry) or form.misfit(entry)


def _illegal_case(entry: CaseReceived) -> str | None:
    """Only an evaluation, which comes by its own door, has terms and gives replies."""
    evaluated = entry.evaluation is not None
    if evaluated is not (entry.arrival is not None and entry.arrival.door == "evaluation"):
        return "the door is an evaluation where the case names its item, and there alone"
    return None if evaluated or not (entry.terms or entry.given) else "only an evaluation has terms and gives replies"


def _illegal_terms(facts: Facts, started: DebateStarted) -> str | None:
    """An evaluation's seed is its plan's, and no other debate has what only an evaluation asks for."""
    evaluated = evaluation_of(facts.arrival) is not None
    if evaluated is not (started.seed_from == "plan"):
        return "the seed is that of a plan where the case is an item of an evaluation, and there alone"
    return None if evaluated or not evaluated_of(started.options) else "only an evaluation ends a debate so"


def _illegal_after(facts: Facts, move: Move, entry: Entry) -> str | None:
    """The entries that stand for the move itself."""
    match entry, move:
        case TurnGiven(), _:
            return _illegal_given(facts, _due(move), entry)
        case TurnAsked(), _:
            if entry.turn in facts.given:
                return f"the reply of turn {entry.turn} is given"
            if entry.turn not in _due(move) or entry.turn in facts.open:
                return f"turn {entry.turn} is not due or is open"
            return _illegal_attempt(facts, _due(move)[entry.turn], entry)
        case CheckFound(), Measure(checks):
            wanted = {check.id: check for check in checks}.get(entry.check)
            if wanted is None or wanted.kind != entry.finding.__struct_config__.tag:
                return f"check {entry.check} is not due"
            return None if _complete(facts, wanted, entry.finding) else "the finding leaves arguments or citations out"
        case BudgetRefused(), _:
            return _illegal_refusal(facts, set(_due(move)), entry.turns)
        case DebateConcluded(), Conclude(outcome):
            if facts.open:
                return f"attempts are open: {sorted(facts.open)}"
            return None if entry.outcome == outcome else "the outcome is not the one that the entries give"
        case _:
            return f"the next move is to {move.__struct_config__.tag}"


def _illegal_settlement(
    facts: Facts, started: DebateStarted, entry: TurnSpoke | AttemptFailed, move: Callable[[], Move]
) -> str | None:
    if facts.open.get(entry.turn) != entry.attempt:
        return f"attempt {entry.attempt} of turn {entry.turn} is not open"
    if isinstance(entry, AttemptFailed):
        return None
    turn = _due(_from_the_top(started, facts) if facts.stopped else move()).get(entry.turn)
    return unusable(facts, turn, entry.reply) if turn else f"turn {entry.turn} is not due"


def _illegal_attempt(facts: Facts, turn: Turn, entry: TurnAsked) -> str | None:
    expected = facts.attempts.get(entry.turn, 0) + 1
    if entry.attempt != expected:
        return f"expected attempt {expected}, found {entry.attempt}"
    plan = facts.started.seat(turn.seat) if facts.started else None
    if plan is None or entry.model != plan.of(entry.model).model:
        return f"model {entry.model!r} does not sit in seat {turn.seat!r}"
    return None


def _illegal_given(facts: Facts, due: Mapping[TurnId, Turn], entry: TurnGiven) -> str | None:
    if entry.turn not in due:
        return f"turn {entry.turn} is not due"
    if facts.given.get(entry.turn) != entry.reply:
        return f"the case gives turn {entry.turn} no such reply"
    return unusable(facts, due[entry.turn], entry.reply)


def _illegal_refusal(facts: Facts, due: set[TurnId], turns: Sequence[TurnId]) -> str | None:
    if given := sorted(due & set(facts.given)):
        return f"the replies of {given} are given, and come first"
    refused, untried = set(turns), due - set(facts.attempts)
    if not turns or len(refused) != len(turns) or not refused <= due - set(facts.open):
        return "those turns are not due, are open or are named twice"
    if refused & untried and not untried <= refused:
        return f"turns that are asked together are refused together: {sorted(untried)}"
    return None


def _complete(facts: Facts, check: Check, finding: Finding) -> bool:
    """Whether a citations check has one verdict for every citation of every argument that it is over."""
    if not isinstance(finding, CitationsFound):
        return True
    expected = [(t, a.n, len(a.citations)) for t in check.over for a in statements(facts.said[t])]
    return expected == [(a.turn, a.n, len(a.verdicts)) for a in finding.arguments]


def _due(move: Move) -> dict[TurnId, Turn]:
    return {turn.id: turn for turn in move.turns} if isinstance(move, Ask) else {}
