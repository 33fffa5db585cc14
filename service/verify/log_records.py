"""The records of the log itself in an export: the step *logs*, and what evaluations come to."""

from __future__ import annotations

from service.audit import log_events
from service.audit.checkpoint import parse_checkpoint
from service.audit.note import Note
from service.audit.record import Envelope
from service.verify import earlier_logs, opened_bundle
from service.verify.evaluations import Evaluations
from service.verify.looks import Looks
from service.verify.steps import NotCheckable, Trust, at, expect
from service.verify.tilts import Tilts

SAID_MAX = 20
"""Words of persons on forgotten heads that a result shows; all are counted."""


class LogRecords:
    """The events of the log itself: records that belong to no debate.

    ``evaluations`` needs every record of an evaluation, and ``tilts`` every record of a log.
    """

    def __init__(
        self, note: Note, trust: Trust, evaluations: Evaluations | None, tilts: Tilts | None, looks: Looks
    ) -> None:
        self._note, self._trust, self._evaluations, self._tilts = note, trust, evaluations, tilts
        self._looks = looks
        self._counts: dict[str, int] = {}
        self._said: list[str] = []
        self._unknown = ""

    def take(self, envelope: Envelope | None, payload: bytes | None, index: int, leaf: bytes, unread: str) -> None:
        """The next record, with the hash of its leaf, if it is an event of the log or of an evaluation's debate.

        ``unread`` says why a leaf of a later build cannot be read: it may be any event.
        """
        later = opened_bundle.later_record(envelope) if envelope is not None else unread
        if self._evaluations is not None and later:
            self._evaluations.pass_over(envelope, later)
        if later and (envelope is None or envelope.kind not in opened_bundle.KINDS):
            self._unknown = self._unknown or later
            self._looks.pass_over(later)
            if self._tilts is not None:
                self._tilts.pass_over(later)
        if envelope is None or payload is None:
            return
        if self._evaluations is not None and not later:
            self._evaluations.take(envelope, payload, index, leaf)
        if self._tilts is not None:
            self._tilts.take(envelope, payload, index)
        self._looks.take(envelope)
        if later or envelope.kind not in log_events.KINDS:
            return
        with at(record=index):
            event = earlier_logs.read_event(envelope, payload)
            if isinstance(event, log_events.LogOpened):
                expect("the place of the record that opens a log", 0, index)
                earlier_logs.expect_own_key(event, self._note)
                self._said.append(earlier_logs.previous(event, self._trust))
            if isinstance(event, log_events.AuditRemembered):
                self._remembered(event)
            if self._tilts is not None:
                self._tilts.happened(event, envelope)
            self._looks.happened(event, envelope, index)
        self._counts[envelope.kind] = self._counts.get(envelope.kind, 0) + 1

    def _remembered(self, event: log_events.AuditRemembered) -> None:
        """Say that a person, and not the signer's memory, vouched for a head."""
        kind = log_events.kind(event)
        if self._counts.get(kind, 0) < SAID_MAX:
            self._said.append(
                f"by the word of {event.by!r} the signer adopted the head of {event.size} records of {event.log}, "
                f"after it remembered {event.last}: {event.reason!r}"
            )

    def end(self) -> str:
        """The number of events of each kind, and how many evaluations were followed."""
        compared = self._tilts.end() if self._tilts else ""  # first: it may differ, whatever is not read
        if self._unknown:
            raise NotCheckable(self._unknown)
        counted = [f"{count} {name}" for name, count in sorted(self._counts.items())]
        followed = self._evaluations.words() if self._evaluations else ""
        rest = [words for words in (followed, compared, *self._said) if words]
        return "; ".join([", ".join(counted) or "no records of the log itself", *rest])

    @property
    def has_plans(self) -> bool:
        """Whether an evaluation was followed from its registration on."""
        return self._evaluations is not None and bool(self._evaluations.followed)

    def proven(self) -> str:
        """That each plan was under a signed checkpoint before its first case."""
        if self._evaluations is None:
            raise NotCheckable("a part of a log does not have all records of an evaluation; export the whole log")
        return self._evaluations.proven(parse_checkpoint(self._note.text), self._trust)

    @property
    def has_looks(self) -> bool:
        """Whether a registration asks a held split."""
        return self._looks.any

    def looks(self) -> str:
        """That registrations record as many looks at held splits as the log has."""
        return self._looks.end(allowed=self._trust.records_only)

    def evaluated(self) -> str:
        """What the scores and results of evaluations come to; they need every record of a log."""
        if self._evaluations is None:
            raise NotCheckable("a part of a log does not have all records of an evaluation; export the whole log")
        return self._evaluations.end()
