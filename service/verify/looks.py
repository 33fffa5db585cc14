"""The looks at held splits that registrations record, counted again from a whole log.

A look of a tenant at the split `held` of a set counts from its registration on, unless its evaluation ended without a
score. Registrations on held splits wait for each other, and each gets its place while it has the lock. So they stand in
the log in the order in which they were counted:

    fewer      than the log has: FAILED. Records of evaluations in another log can only add looks
    more       than the log has: FAILED. In a log that followed another one it is counted: a look may be of the one
               before. So it is within `NEAR` of the log's last case or registration: while a log is replaced, a process
               may still write to the one that was left
    ended      an evaluation that ended without a score within `NEAR` before a registration may count there or not: its
               end gets its place before it is seen

A record of a later build may be a look, or the end of one. Behind the first such record only what is certain all the
same is compared: a look that was scored before, or that goes on behind the registration, counts there.

All times are the writer's claims. A part of a log does not have the registrations before, so nothing is counted there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from service.audit.evaluation_events import (
    EvaluationEntry,
    EvaluationRegistered,
    ItemScored,
    is_last,
)
from service.audit.log_events import Event
from service.audit.record import Envelope
from service.debate.entries import CaseReceived
from service.verify.earlier_logs import FIRST_EPOCH, epoch_of
from service.verify.steps import Differs, NotCheckable
from service.verify.times import claimed_moment

NEAR = 600_000_000
"""In microseconds. A statement waits ten seconds for a connection and is cancelled ten seconds later, and the name of
the current log is trusted for ten."""
AS_RECORDED = (
    "LOOKS AS RECORDED: how often a held split was looked at before is the registration's word here; verify an export "
    "of the whole log, which has every registration"
)
_CASE = str(CaseReceived.__struct_config__.tag)
_WHAT_TO_DO = (
    "judge the wear of the set by the higher number, and ask the log's operator which registration was changed or "
    "left out"
)


class _Look:
    """A registered evaluation: the sets whose split `held` it asks, and how it went on."""

    def __init__(self, held: frozenset[str]) -> None:
        self.held = held
        self.scored = False
        self.ended: int | None = None
        self.last = 0
        """The index of its last entry."""


class _Behind(NamedTuple):
    """A registration behind a record that cannot be read, and the looks before it without an end that was read."""

    expecting: Callable[[str], Differs]
    recorded: int
    record: int
    scored: int
    under_way: list[_Look]


class _Excess(NamedTuple):
    """A registration that records more looks than the log has."""

    difference: Differs
    moment: int


def _difference(evaluation: str, set_: str, expected: str, *, recorded: int, index: int) -> Differs:
    what = f"the looks at the split held of {set_} before evaluation {evaluation} ({_WHAT_TO_DO})"
    return Differs(what, expected, str(recorded), record=index)


class Looks:
    """Takes every record of a log of one tenant in order; a ``whole`` log has every registration on it."""

    def __init__(self, log: str, *, whole: bool) -> None:
        self._whole, self._first = whole, epoch_of(log) == FIRST_EPOCH
        self._looks: dict[str, _Look] = {}
        self._differs: Differs | None = None
        self._excess: list[_Excess] = []
        self._behind: list[_Behind] = []
        self._unread = ""
        self._compared = self._near = self._last = 0

    @property
    def any(self) -> bool:
        """Whether a registration asks a split `held`."""
        return any(look.held for look in self._looks.values())

    def take(self, envelope: Envelope) -> None:
        """The next record of a debate."""
        if envelope.kind == _CASE:
            self._last = max(self._last, claimed_moment(envelope))

    def pass_over(self, why: str) -> None:
        """A record of a later build, which may be an event of the log; ``why`` says why it cannot be read."""
        self._unread = self._unread or why

    def happened(self, event: Event, envelope: Envelope, index: int) -> None:
        """The next event of the log."""
        if isinstance(event, EvaluationRegistered) and event.n == 0:
            self._register(event, claimed_moment(envelope), index)
        elif isinstance(event, EvaluationEntry) and (look := self._looks.get(event.evaluation)) is not None:
            look.last = index
            if isinstance(event, ItemScored):
                look.scored = True
            elif is_last(event):
                look.ended = claimed_moment(envelope)

    def _register(self, event: EvaluationRegistered, moment: int, index: int) -> None:
        self._last = max(self._last, moment)
        for asked in event.sets:
            if asked.split == "held" and self._whole:
                self._compare(event.evaluation, asked.id, asked.looks, moment, index)
        self._looks[event.evaluation] = _Look(frozenset(one.id for one in event.sets if one.split == "held"))

    def _compare(self, evaluation: str, set_: str, recorded: int, moment: int, index: int) -> None:
        before = [look for look in self._looks.values() if set_ in look.held]
        if self._unread:
            scored = sum(look.scored for look in before)
            under_way = [look for look in before if not look.scored and look.ended is None]
            expecting = partial(_difference, evaluation, set_, recorded=recorded, index=index)
            self._behind.append(_Behind(expecting, recorded, index, scored, under_way))
            return
        counted = sum(look.scored or look.ended is None for look in before)
        near = sum(not look.scored and look.ended is not None and look.ended >= moment - NEAR for look in before)
        self._compared += 1
        self._near += near
        if counted <= recorded <= counted + near:
            return
        expected = f"{counted} to {counted + near}" if near else str(counted)
        difference = _difference(evaluation, set_, expected, recorded=recorded, index=index)
        if recorded < counted:
            self._differs = self._differs or difference
        else:
            self._excess.append(_Excess(difference, moment))

    def end(self, *, allowed: bool) -> str:
        """What was compared; raises `Differs` for the first number that the log contradicts, and `NotCheckable`."""
        certain = [one.difference for one in self._excess if one.moment + NEAR < self._last] if self._first else []
        if self._differs is not None:
            certain.append(self._differs)
        for one in self._behind:
            least = one.scored + sum(look.last > one.record for look in one.under_way)
            if one.recorded < least:
                certain.append(one.expecting(f"{least} or more"))
        if certain:
            raise min(certain, key=lambda difference: difference.record or 0)
        if self._unread:
            raise NotCheckable(self._unread)
        if not self._whole:
            raise NotCheckable(AS_RECORDED, allowed=allowed)
        said = [f"{self._compared} numbers of looks at held splits counted again"]
        if self._near:
            said.append(f"{self._near} evaluations that ended without a score shortly before count either way")
        if self._excess:
            why = "near the end of the log's cases" if self._first else "which may be of an earlier log"
            said.append(f"{len(self._excess)} have more looks than the log has, {why}")
        return ", ".join(said)
