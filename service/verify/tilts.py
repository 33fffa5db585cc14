"""The recorded tilts of moderators in a whole log: each start names those that stood, and no other one.

    about      a finding that a start names is about a model that may moderate there, its prompt and its task type
    recorded   it has a record in this log; of a log that followed another one it may be of the one before
    resolved   no person had resolved it
    left out   a finding about the debate that stood is named

A case reads the findings before its records are written, in another statement and without a lock, and for some seconds
it may still go to a log that was left. So nothing within an hour of the case, or in the last hour of a log's cases, is
called a difference: it is counted. A record of a later build may be a finding that was not read, or a resolution that
was not: each finding is recorded once and resolved once, so one that was read shows all the same what it contradicts.
All times are the writer's claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from service.audit.moderator_events import ModeratorFound, ModeratorResolved
from service.audit.record import Envelope
from service.debate.entries import CaseReceived, DebateStarted, GateDecided
from service.debate.purpose import decides
from service.debate.turns import MODERATOR
from service.prompts.undocumented import in_place_of
from service.verify.earlier_logs import epoch_of
from service.verify.opened_bundle import read_payload
from service.verify.steps import Differs, NotCheckable, at
from service.verify.times import claimed_moment

HOUR = 3_600_000_000
"""In microseconds; reading the findings and recording the case take milliseconds."""
_CASE, _DECIDED, _STARTED = (str(kind.__struct_config__.tag) for kind in (CaseReceived, GateDecided, DebateStarted))
_TILTS = b'"tilts":'


class _Finding(NamedTuple):
    event: ModeratorFound
    moment: int


class _Doubt(NamedTuple):
    """A finding that a start names or leaves out although the records so far say otherwise."""

    finding: str
    named: bool
    record: int
    moment: int


class Tilts:
    """Takes every record of a log of one tenant in order, and judges starts by its findings at the end."""

    def __init__(self, log: str) -> None:
        self._first = epoch_of(log) == 1
        self._findings: dict[str, _Finding] = {}
        self._resolved: dict[str, int] = {}
        self._cases: dict[str, tuple[Envelope, bytes]] = {}
        self._doubts: list[_Doubt] = []
        self._compared = self._earlier = self._last_case = 0
        self._unread = ""
        """Why a case or a start cannot be read here: a later build wrote it."""
        self._events_unread = ""
        """Why an event of the log may be unread."""

    def pass_over(self, why: str) -> None:
        """A record of a later build, which may be an event of the log; ``why`` says why it cannot be read."""
        self._events_unread = self._events_unread or why

    def happened(self, event: object, envelope: Envelope) -> None:
        """The next event of the log."""
        if isinstance(event, ModeratorFound):
            self._findings.setdefault(event.finding, _Finding(event, claimed_moment(envelope)))
        elif isinstance(event, ModeratorResolved):
            self._resolved.setdefault(event.finding, claimed_moment(envelope))

    def take(self, envelope: Envelope, payload: bytes, index: int) -> None:
        """The next record of a debate; raises `Differs` for a start that names a finding about something else."""
        if envelope.kind == _CASE:
            self._last_case = max(self._last_case, claimed_moment(envelope))
            if self._findings:
                self._cases[envelope.debate] = envelope, payload
        elif envelope.kind == _DECIDED and envelope.debate in self._cases:
            decided = read_payload(payload, envelope)[0]
            if isinstance(decided, GateDecided) and not decided.decision.debate:
                del self._cases[envelope.debate]
        elif envelope.kind == _STARTED:
            case = self._cases.pop(envelope.debate, None)
            if case is not None or _TILTS in payload:
                started, why = read_payload(payload, envelope)
                self._unread = self._unread or why
                if isinstance(started, DebateStarted):
                    self._judge(started, case, envelope, index)

    def _judge(
        self, started: DebateStarted, case: tuple[Envelope, bytes] | None, envelope: Envelope, index: int
    ) -> None:
        received, why = (None, "") if case is None else read_payload(case[1], case[0])
        self._unread = self._unread or why
        about = set(self._about(started, received)) if isinstance(received, CaseReceived) else set()
        named = {(tilt.finding, tilt.model) for tilt in started.tilts}
        self._compared += 1
        for finding, model in sorted(named - about):
            if finding in self._findings and isinstance(received, CaseReceived):
                what = f"a finding that a start names for {model}"
                raise Differs(what, "one about its model, prompt and task type", finding, record=index)
        asked = {finding for finding, _ in named}
        doubts = {(finding, True) for finding in asked - self._findings.keys() | asked & self._resolved.keys()}
        doubts |= {(finding, False) for finding, _ in about - named if finding not in self._resolved}
        for finding, is_named in sorted(doubts):
            if self._first or finding in self._findings or finding in self._resolved:
                self._doubts.append(_Doubt(finding, is_named, index, claimed_moment(envelope)))
            else:
                self._earlier += 1

    def _about(self, started: DebateStarted, received: CaseReceived) -> Iterator[tuple[str, str]]:
        # Not shared with `service.intake.moderator_tilts` on purpose: an error in one of the two shows here.
        if not decides(received.case.metadata, received.arrival):
            return
        prompt = in_place_of(MODERATOR, started.pins, documented=bool(received.case.documents))
        seats = [plan for seat in started.seats if seat.seat == MODERATOR for plan in (seat, seat.fallback)]
        models = {(plan.model, plan.model_name) for plan in seats if plan is not None}
        for id_, (event, _) in self._findings.items():
            same = (event.prompt, event.pin) == (prompt, started.pins.get(prompt))
            if same and (event.alias, event.model) in models and event.task_type in (None, received.case.task_type):
                yield id_, event.alias

    def end(self) -> str:
        """What was compared, empty where nothing was; raises `Differs` and `NotCheckable`."""
        near = 0
        for doubt in self._doubts:
            with at(record=doubt.record):
                near += self._expect(doubt)
        if unread := self._events_unread or self._unread:
            raise NotCheckable(unread)
        if not self._compared:
            return ""
        said = [f"{self._compared} starts compared with {len(self._findings)} findings about moderators"]
        said += [f"{self._earlier} named ones would be of an earlier log"] if self._earlier else []
        said += [f"{near} changes within an hour of a case are not judged"] if near else []
        return ", ".join(said)

    def _expect(self, doubt: _Doubt) -> bool:
        """Raise `Differs` for what differs for certain; whether it is too near to say."""
        found, resolved = self._findings.get(doubt.finding), self._resolved.get(doubt.finding)
        late = doubt.moment + HOUR >= self._last_case
        if doubt.named:
            if resolved is not None and resolved < doubt.moment - HOUR:
                raise Differs("a finding that a start names", "one that stands", f"{doubt.finding}, resolved before")
            missing = found is None and self._first and not (late or self._events_unread)
            if missing or (found is not None and found.moment > doubt.moment + HOUR):
                raise Differs("a finding that a start names", "one that was recorded before", doubt.finding)
            return True
        if found is None or found.moment >= doubt.moment - HOUR or late:
            return True
        if resolved <= doubt.moment + HOUR if resolved is not None else self._events_unread:
            return True
        raise Differs("the findings that a start names", f"{doubt.finding} among them", "not named")
