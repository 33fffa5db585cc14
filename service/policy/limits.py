"""Limits on cases, money, time and numbers, and the keys of witnesses and approvers.

The tables [limits], [calls], [budgets], [queue], [audit] and [approval].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, Struct, UnsetType

from service.debate.amounts import MicroUSD
from service.policy.bounds import COUNT_MAX
from service.policy.faults import Faults, Path, WrongSetting
from service.policy.keys import (
    UNLIMITED,
    UNWRITTEN,
    day,
    dollars,
    keys_of,
    list_of,
    share,
    sound_members,
    table,
    whole,
    whole_or_unlimited,
    word,
)


class Limits(Struct, frozen=True, rename="camel"):
    """The limits of a case. Characters are Unicode code points."""

    question_characters: Annotated[int, whole(1, COUNT_MAX)]
    """The most code points of the question, at least 1."""
    answer_characters: Annotated[int, whole(1, COUNT_MAX)]
    """The most code points of the answer of a single agent, at least 1."""
    persona_characters: Annotated[int, whole(1, COUNT_MAX)]
    """The most code points of a persona and of other words for a seat, at least 1."""
    note_characters: Annotated[int, whole(1, COUNT_MAX)]
    """The most code points of a title, a reason, a use, and each key and value of the metadata, at least 1."""
    documents: Annotated[int, whole(1, COUNT_MAX)]
    """The most documents of a case, at least 1."""
    document_characters: Annotated[int, whole(1, COUNT_MAX)]
    """The most code points of one document, at least 1."""
    total_characters: Annotated[int, whole(1, COUNT_MAX)]
    """The most code points of all documents together, at least 1."""
    positions: Annotated[int, whole(1, COUNT_MAX)]
    """The most positions to decide between, at least 1."""
    metadata: Annotated[int, whole(1, COUNT_MAX)]
    """The most keys of the metadata, at least 1."""


class Calls(Struct, frozen=True, rename="camel"):
    """The retries of a turn. Backoff grows from ``backoff_ms`` to ``backoff_max_ms``; each wait is random
    between half of that and the whole.

    A turn without a reply after ``turn_deadline_s`` is silent. ``unavailable_attempts`` is how many attempts of one
    model may find its vendor unavailable in a turn.

    ``usage_floor_per_mille`` is the least share of our own count of tokens that a vendor's usage must have.
    """

    turn_deadline_s: Annotated[int, whole(1, 3_600)] = 300
    """Seconds from 1 to 3,600 after which a turn without a reply is silent."""
    backoff_ms: Annotated[int, whole(1, 600_000)] = 500
    """Milliseconds of the first backoff, from 1 to 600,000. A wait is random between half of that and the whole."""
    backoff_max_ms: Annotated[int, whole(1, 600_000)] = 20_000
    """Milliseconds of the longest backoff, from 1 to 600,000."""
    unavailable_attempts: Annotated[int, whole(1, 100)] = 12
    """The most attempts of one model in a turn that may find its vendor unavailable, from 1 to 100."""
    usage_floor_per_mille: Annotated[int, share("usage_floor")] = 500
    """The least share of our own count of tokens, from 0 to 1, that a vendor's usage must have."""


class Budget(Struct, frozen=True, rename="camel"):
    """The limits of a tenant, in micro-dollars; ``None`` where there is no limit."""

    day: Annotated[MicroUSD | None, dollars("day_usd", none=UNLIMITED)] = None
    """US dollars that the tenant may spend in a day. Absent without a limit."""
    month: Annotated[MicroUSD | None, dollars("month_usd", none=UNLIMITED)] = None
    """US dollars that the tenant may spend in a month. Absent without a limit."""


class Budgets(Struct, frozen=True, rename="camel"):
    """The tenants' limits. Days and months are those of ``zone``; ``others`` holds for tenants that are not named.

    ``tenants`` are those of [tenants.NAME], for workers, which serve all of them. A policy has none: it is kept
    with the records of each tenant that goes by it, and shown to the tenant.
    """

    zone: str = "UTC"
    """The time zone of days and months, such as `UTC`."""
    others: Annotated[Budget, UNWRITTEN] = Budget()
    tenants: Annotated[Mapping[str, Budget], UNWRITTEN] = {}

    def of(self, tenant: str) -> Budget:
        """The limits of a tenant."""
        return self.tenants.get(tenant, self.others)


class Queue(Struct, frozen=True, rename="camel"):
    """The most debates that run in parallel, and the most that wait.

    ``per_worker`` is the limit of a process, ``per_tenant`` that of all workers together (``None``: no limit). A case
    beyond ``waiting`` in all, or beyond ``waiting_per_tenant``, is refused. A debate that no worker can continue fails
    ``give_up_hours`` after the first attempt.
    """

    per_worker: Annotated[int, whole(1, 10_000, "running_per_worker")] = 200
    per_tenant: Annotated[int | None, whole_or_unlimited(1, 1_000_000, "running_per_tenant")] = None
    waiting: Annotated[int, whole(1, 1_000_000)] = 10_000
    waiting_per_tenant: Annotated[int, whole(1, 1_000_000)] = 5_000
    give_up_hours: Annotated[int, whole(1, 8_760)] = 24


class Witness(Struct, frozen=True, rename="camel"):
    """A witness, which cosigns the heads of the logs: its address and its verifier key."""

    url: str
    key: str


class TimeStamps(Struct, frozen=True, rename="camel"):
    """The authority that stamps heads of the logs with the time (RFC 3161), and how often.

    ``certificate`` is the authority's own, in PEM. A log that grows gets a stamp each ``every_s``.
    """

    url: str
    certificate: str
    every_s: Annotated[int, whole(60, 86_400)] = 600


class RegisteredKey(Struct, frozen=True, rename="camel"):
    """A verifier key in the operator's register, or in an auditor's file of pinned keys.

    ``logs`` are the logs that it signs, or what stands before their names; none means all of its host. ``since`` and
    ``until`` are the first and the last day on which it signs, in UTC. ``vouched_by`` is words: who stands for it, and
    where that can be read.
    """

    key: str
    use: Annotated[str, word("log", "witness", "approver")]
    logs: tuple[str, ...] = ()
    since: Annotated[str | None, day()] = None
    until: Annotated[str | None, day()] = None
    vouched_by: str = ""


class Audit(Struct, frozen=True, rename="camel"):
    """How the audit log is kept.

    A log whose oldest durable record is not provable after ``late_s`` seconds is reported as late. Every log is
    recomputed in the background each ``check_minutes``, and every row that is computed from records is compared with
    them within ``row_hours``; 0 switches either off. The clocks of the database and of the witnesses are at most
    ``clock_skew_s`` apart: a verifier allows the times in a debate's records so much. With ``damage_unready`` a process
    is not ready while damage to any debate is open; damage to a log always does that. ``keys`` is the operator's
    register of verifier keys, for information: nothing is verified with them. Without ``timestamps`` no authority is
    asked, and policy.json has no such member.
    """

    witnesses: Annotated[tuple[Witness, ...], list_of(Witness)] = ()
    keys: Annotated[tuple[RegisteredKey, ...], list_of(RegisteredKey)] = ()
    late_s: Annotated[int, whole(1, 86_400)] = 30
    check_minutes: Annotated[int, whole(0, 100_000)] = 60
    clock_skew_s: Annotated[int, whole(0, 60)] = 5
    row_hours: Annotated[int, whole(0, 8_760)] = 24
    damage_unready: bool = False
    timestamps: Annotated[TimeStamps | UnsetType, table(TimeStamps)] = UNSET


class Approval(Struct, frozen=True, rename="camel"):
    """The approver of configurations, by a verifier key, and whether an approval is required."""

    key: str | None = None
    required: bool = False


BUDGETS = (*(key._replace(needed=True) for key in keys_of(Budget)), *keys_of(Budgets))
"""[budgets] itself has the limits of the tenants that are not named; "unlimited" has to be said."""


def read_budgets(written: Any) -> Budgets:
    """The limits of tenants that are not named; raises `WrongSetting`."""
    path: Path = ("budgets",)
    faults = Faults()
    if isinstance(written, Mapping) and "tenants" in written:
        faults.note(
            (*path, "tenants"),
            "the limits of one tenant stand in [tenants.NAME], as day_usd and month_usd: every other tenant's records "
            "have this table",
        )
        written = {name: value for name, value in written.items() if name != "tenants"}
    table = sound_members(written, BUDGETS, path, faults)
    others = Budget(table.pop("day", None), table.pop("month", None))
    faults.refuse()
    return Budgets(others=others, **table)


def check_day_within_month(budget: Budget, path: Path) -> None:
    """Raise `WrongSetting` for a day's limit above the month's."""
    if budget.day is not None and budget.month is not None and budget.day > budget.month:
        raise WrongSetting((*path, "day_usd"), "a day's limit above the month's limits nothing; correct one of the two")


def check_pauses(calls: Calls) -> None:
    """Raise `WrongSetting` for a longest pause that is shorter than the first."""
    if calls.backoff_max_ms < calls.backoff_ms:
        raise WrongSetting(("calls", "backoff_max_ms"), f"expected at least backoff_ms, {calls.backoff_ms}")
