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
    members,
    share,
    sound_members,
    table,
    table_of_any,
    whole,
    whole_or_unlimited,
    word,
)

TENANT_MAX = 200


class Limits(Struct, frozen=True, rename="camel"):
    """The limits of a case. Characters are Unicode code points."""

    question_characters: Annotated[int, whole(1, COUNT_MAX)]
    answer_characters: Annotated[int, whole(1, COUNT_MAX)]
    persona_characters: Annotated[int, whole(1, COUNT_MAX)]
    note_characters: Annotated[int, whole(1, COUNT_MAX)]
    documents: Annotated[int, whole(1, COUNT_MAX)]
    document_characters: Annotated[int, whole(1, COUNT_MAX)]
    total_characters: Annotated[int, whole(1, COUNT_MAX)]
    positions: Annotated[int, whole(1, COUNT_MAX)]
    metadata: Annotated[int, whole(1, COUNT_MAX)]


class Calls(Struct, frozen=True, rename="camel"):
    """The retries of a turn. Backoff grows from ``backoff_ms`` to ``backoff_max_ms``; each wait is random
    between half of that and the whole.

    A turn without a reply after ``turn_deadline_s`` is silent. ``unavailable_attempts`` is how many attempts of one
    model may find its vendor unavailable in a turn.

    ``usage_floor_per_mille`` is the least share of our own count of tokens that a vendor's usage must have.
    """

    turn_deadline_s: Annotated[int, whole(1, 3_600)] = 300
    backoff_ms: Annotated[int, whole(1, 600_000)] = 500
    backoff_max_ms: Annotated[int, whole(1, 600_000)] = 20_000
    unavailable_attempts: Annotated[int, whole(1, 100)] = 12
    usage_floor_per_mille: Annotated[int, share("usage_floor")] = 500


class Budget(Struct, frozen=True, rename="camel"):
    """The limits of a tenant, in micro-dollars; ``None`` where there is no limit."""

    day: Annotated[MicroUSD | None, dollars("day_usd", none=UNLIMITED)] = None
    month: Annotated[MicroUSD | None, dollars("month_usd", none=UNLIMITED)] = None


class Budgets(Struct, frozen=True, rename="camel"):
    """The tenants' limits. Days and months are those of ``zone``; ``others`` holds for tenants that are not named."""

    zone: str = "UTC"
    others: Annotated[Budget, UNWRITTEN] = Budget()
    tenants: Annotated[Mapping[str, Budget], table_of_any()] = {}

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
    """The tenants' limits; raises `WrongSetting`. A named tenant inherits the limits that its table leaves out."""
    path: Path = ("budgets",)
    faults, tenants = Faults(), dict[str, Budget]()
    table = sound_members(written, BUDGETS, path, faults)
    named = table.pop("tenants", {})
    others = Budget(table.pop("day", None), table.pop("month", None))
    with faults.noted():
        check_day_within_month(others, path)
    for name, inner in named.items():
        with faults.noted():
            tenants[name] = _tenant(name, inner, others, (*path, "tenants", name))
    faults.refuse()
    return Budgets(others=others, tenants=tenants, **table)


def _tenant(name: str, written: Any, others: Budget, path: Path) -> Budget:
    if not (name.strip() and name.isprintable() and len(name) <= TENANT_MAX):
        raise WrongSetting(path, f"expected a tenant's name of at most {TENANT_MAX} printable characters")
    own = members(written, keys_of(Budget), path)
    budget = Budget(own.get("day", others.day), own.get("month", others.month))
    check_day_within_month(budget, path)
    return budget


def check_day_within_month(budget: Budget, path: Path) -> None:
    """Raise `WrongSetting` for a day's limit above the month's."""
    if budget.day is not None and budget.month is not None and budget.day > budget.month:
        raise WrongSetting((*path, "day_usd"), "a day's limit above the month's limits nothing; correct one of the two")


def check_pauses(calls: Calls) -> None:
    """Raise `WrongSetting` for a longest pause that is shorter than the first."""
    if calls.backoff_max_ms < calls.backoff_ms:
        raise WrongSetting(("calls", "backoff_max_ms"), f"expected at least backoff_ms, {calls.backoff_ms}")
