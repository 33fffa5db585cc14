"""The events of a log itself, as they are encoded into records that belong to no debate.

log.opened        a log of a new epoch, with the last head of the one before
audit.read        evidence was handed out: its kind, and its debate or filters
audit.checked     the log was recomputed in the background: the result
audit.remembered  a person had the signer adopt a stored head that it had forgotten
report.issued     a report that cannot be written again byte for byte is about to be handed out: its hash
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from itertools import count
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from service.audit.report_forms import Paper


class LogOpened(Struct, frozen=True, rename="camel", tag="log.opened", tag_field="kind", omit_defaults=True):
    """A log begins. ``key`` is the verifier key that signs its heads; ``previous`` the last signed head of the log
    before it, as the whole checkpoint (signatures and all), ``None`` for the first."""

    log: str
    epoch: int
    key: str
    previous: str | None


class AuditRead(Struct, frozen=True, rename="camel", tag="audit.read", tag_field="kind", omit_defaults=True):
    """Evidence is about to be handed out. ``debate`` is the one it is of, ``asked`` the filters as they were given."""

    what: Literal["bundle", "records", "recall"]
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


Event = LogOpened | AuditRead | AuditChecked | AuditRemembered | ReportIssued

_issued = msgspec.json.Decoder(ReportIssued)
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


def kind(event: Event) -> str:
    """The event's kind, as in its record."""
    return str(event.__struct_config__.tag)
