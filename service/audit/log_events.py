"""The events of a log itself, as they are encoded into records that belong to no debate.

log.opened        a log of a new epoch, with the last head of the one before
audit.read        evidence was handed out: its kind, and its debate or filters
audit.checked     the log was recomputed in the background: the result
audit.remembered  a person had the signer adopt a stored head that it had forgotten
report.issued     a report that cannot be written again byte for byte is about to be handed out: its hash
access.changed    who may do what has changed: a tenant, a key, a subject, whose case it is, or where ends are sent
content.read      content of cases was handed out: to whom, of which case, how often, within about a second
evaluation.*      the entries of an evaluation, with item.* (`service.audit.evaluation_events`)
moderator.*       a moderator tilts above policy's limit, or does no longer (`service.audit.moderator_events`)
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from itertools import count
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec
from msgspec import Meta, Struct

from service.audit.evaluation_events import EvaluationEntry
from service.audit.moderator_events import ModeratorEvent
from service.audit.record import Via
from service.audit.report_forms import Paper

_ID = "[0-9a-hjkmnp-tv-z]{26}"
SubjectId = Annotated[str, Meta(pattern=f"^sub_{_ID}$")]
"""The opaque id of a subject, which the register resolves to a name."""
KeyId = Annotated[str, Meta(pattern=f"^key_{_ID}$")]
"""The public id of an API key, from which neither the key nor its hash follows."""
WebhookId = Annotated[str, Meta(pattern=f"^whk_{_ID}$")]
"""The id of an endpoint of webhooks; its address and its secret are in no record."""
DebateId = Annotated[str, Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
TenantName = Annotated[str, Meta(pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Word = Annotated[str, Meta(pattern="^[A-Za-z][A-Za-z.]{0,39}$")]
"""The name of a role or a scope."""
Time = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z$")]
"""RFC 3339 in UTC."""
Change = Literal[
    "tenantCreated",
    "keyIssued",
    "keyRotated",
    "keyRevoked",
    "subjectRevoked",
    "caseAssigned",
    "caseUnassigned",
    "webhookCreated",
    "webhookRotated",
    "webhookDisabled",
    "webhookEnabled",
]
Content = Literal["summary", "result", "report", "events", "documents", "document", "list"]
"""What of cases was read: a result in either view, a report, the events of a debate, the list of documents, the text
of one, or the list of debates."""
READINGS_MAX = 256
"""The most readings of one record."""


class LogOpened(Struct, frozen=True, rename="camel", tag="log.opened", tag_field="kind", omit_defaults=True):
    """A log begins. ``key`` is the verifier key that signs its heads; ``previous`` the last signed head of the log
    before it, as the whole checkpoint (signatures and all), ``None`` for the first."""

    log: str
    epoch: int
    key: str
    previous: str | None


class AuditRead(Struct, frozen=True, rename="camel", tag="audit.read", tag_field="kind", omit_defaults=True):
    """Evidence is about to be handed out. ``debate`` is the one it is of, ``asked`` the filters as they were given."""

    what: Literal["bundle", "records", "recall", "moderators"]
    debate: str | None = None
    asked: dict[str, str] = {}


class AuditChecked(Struct, frozen=True, rename="camel", tag="audit.checked", tag_field="kind", omit_defaults=True):
    """The first ``size`` records of a log were recomputed from what is stored, and came to ``root`` (hex).

    ``findings`` are sentences; none means that everything agrees with the signed head.
    """

    log: str
    size: int
    root: str
    findings: tuple[str, ...]


class AuditRemembered(
    Struct, frozen=True, rename="camel", tag="audit.remembered", tag_field="kind", omit_defaults=True
):
    """A person said which head of a log is the right one, because its signer had forgotten it.

    ``size`` and ``root`` (hex) are that head's. ``last`` is the size of the head that the signer did remember, 0 for
    none. ``by`` and ``reason`` are the person's words.
    """

    log: str
    size: int
    root: str
    last: int
    by: str
    reason: str


class ReportIssued(Struct, frozen=True, rename="camel", tag="report.issued", tag_field="kind", omit_defaults=True):
    """A report of a debate that has ended is about to be handed out for the first time with these bytes.

    ``last_record`` is the hash of the debate's last leaf, and ``configuration`` that of the configuration under which
    it ran, absent for a declined case. ``template`` is the version of the report, and ``sha256`` the hash of the file.
    """

    debate: str
    last_record: str
    form: Literal["pdf"]
    paper: Paper
    template: str
    sha256: str
    configuration: str | None = None


class AccessChanged(Struct, frozen=True, rename="camel", tag="access.changed", tag_field="kind", omit_defaults=True):
    """Who may do what has changed. There is neither a secret nor the name of a person in it, and no room for one.

    ``key`` is the key that is issued or revoked, of a rotation the new one, which comes after ``replaced``. ``expires``
    is when it ends. ``scopes`` is ``None`` where none of what the roles grant is left out. ``tenant`` is absent for
    a key without a tenant. `MEMBERS` says which members stand in which change.
    """

    what: Change
    tenant: TenantName | None = None
    subject: SubjectId | None = None
    key: KeyId | None = None
    replaced: KeyId | None = None
    roles: tuple[Word, ...] = ()
    scopes: tuple[Word, ...] | None = None
    expires: Time | None = None
    debate: DebateId | None = None
    webhook: WebhookId | None = None

    def __post_init__(self) -> None:
        """Refuse a member that a change of this kind lacks, and one that it must not have; `ValueError`."""
        needed, more = MEMBERS[self.what]
        given = {name for name in self.__struct_fields__ if name != "what" and getattr(self, name) not in (None, ())}
        if wrong := sorted((needed - given) | (given - needed - more)):
            raise ValueError(f"expected the members of {self.what}, found {', '.join(wrong)} missing or not of it")


_KEY = frozenset({"key", "subject", "roles", "expires"})
MEMBERS: Mapping[Change, tuple[frozenset[str], frozenset[str]]] = {
    "tenantCreated": (frozenset({"tenant"}), frozenset()),
    "keyIssued": (_KEY, frozenset({"tenant", "scopes"})),
    "keyRotated": (_KEY | {"replaced"}, frozenset({"tenant", "scopes"})),
    "keyRevoked": (frozenset({"key", "subject"}), frozenset({"tenant"})),
    "subjectRevoked": (frozenset({"subject"}), frozenset({"tenant"})),
    "caseAssigned": (frozenset({"subject", "debate"}), frozenset({"tenant"})),
    "caseUnassigned": (frozenset({"subject", "debate"}), frozenset({"tenant"})),
    **dict.fromkeys(
        ("webhookCreated", "webhookRotated", "webhookDisabled", "webhookEnabled"),
        (frozenset({"tenant", "webhook"}), frozenset[str]()),
    ),
}
"""The members that a change has, and those that it may have beside them."""


class Reading(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """What one caller was given of one case. ``debate`` is absent for a list of cases, ``credential`` without a key.

    ``times`` is how often, from ``first`` to ``last``, by the clock of the database.
    """

    subject: Annotated[str, Meta(min_length=1, max_length=200)]
    role: Word
    via: Via
    credential: KeyId | None = None
    what: Content
    debate: DebateId | None = None
    times: Annotated[int, Meta(ge=1)]
    first: Time
    last: Time

    def __post_init__(self) -> None:
        """Refuse a list with a debate, anything else without one, and an end before the beginning; `ValueError`."""
        if (self.what == "list") != (self.debate is None):
            raise ValueError("expected a debate for everything but a list of debates")
        if self.last < self.first:
            raise ValueError("expected the last reading not before the first")


class ContentRead(Struct, frozen=True, rename="camel", tag="content.read", tag_field="kind", omit_defaults=True):
    """Content of cases of one tenant was handed out by one process, since its record before."""

    readings: Annotated[tuple[Reading, ...], Meta(min_length=1, max_length=READINGS_MAX)]


Event = (
    LogOpened
    | AuditRead
    | AuditChecked
    | AuditRemembered
    | ReportIssued
    | AccessChanged
    | ContentRead
    | EvaluationEntry
    | ModeratorEvent
)
E = TypeVar("E", AccessChanged, ContentRead, EvaluationEntry, ModeratorEvent)

_issued = msgspec.json.Decoder(ReportIssued)
_evaluation: msgspec.json.Decoder[EvaluationEntry] = msgspec.json.Decoder(EvaluationEntry)
_encoder = msgspec.json.Encoder(order="sorted")
KINDS = tuple(str(event.__struct_config__.tag) for event in get_args(Event))
OLDER: Mapping[tuple[str, int], tuple[type[Struct], Callable[[Any], Event]]] = {}
"""The versions of payloads before today's, by kind and number; `service.verify.earlier_logs` reads them."""


def last_versions(older: Container[tuple[str, int]]) -> Mapping[str, int]:
    """The version in which each kind is written today: the one after the earlier versions."""
    return {kind: next(version for version in count(1) if (kind, version) not in older) for kind in KINDS}


LAST = last_versions(OLDER)


def encode(event: Event) -> bytes:
    """The event as the bytes that are hashed, stored and served."""
    return _encoder.encode(event)


def decode_issued(payload: bytes) -> ReportIssued:
    """The event of a payload of the kind ``report.issued``; raises `ValueError`."""
    return _issued.decode(payload)


def decode_evaluation(payload: bytes) -> EvaluationEntry:
    """The entry of an evaluation of a payload; raises `ValueError`."""
    return _evaluation.decode(payload)


def valid(event: E) -> E:
    """The event, which its own form admits; raises `ValueError` (`msgspec.ValidationError`) for any other."""
    return msgspec.convert(msgspec.to_builtins(event), type(event))


def kind(event: Event) -> str:
    """The event's kind, as in its record."""
    return str(event.__struct_config__.tag)
