"""What a soak came to, in figures for whoever ran it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from service.audit.record import Envelope, open_leaf
from service.debate.entries import AttemptFailed
from tests.end_to_end.vendors.policies import MICRO
from tests.faults.books import Books, total
from tests.faults.callers import Told
from tests.faults.deployment import Deployment
from tests.faults.vendor import Billed

DEBATES = "SELECT coalesce(format, 'none'), state, count(*) FROM debate_head GROUP BY 1, 2 ORDER BY 1, 2"
LEAVES = (
    "SELECT e.leaf FROM entry e JOIN debate_head h USING (debate) WHERE h.tenant = 'default' ORDER BY e.debate, e.n"
)
TAKEN = "SELECT count(*), coalesce(sum(greatest(epoch - 1, 0)), 0) FROM debate_head WHERE state <> 'declined'"


def tell(house: Deployment, told: Told, books: Books, bills: Sequence[Billed], records: int, seconds: float) -> str:
    """The figures of one run, a line each."""
    debates, over_again = house.rows(TAKEN)[0]
    failed = [e for debate in books.debates for e in debate.charged if isinstance(e, AttemptFailed)]
    lost = sum(e.reason == "lost" for e in failed)
    calls = sum(len(debate.asked) for debate in books.debates)
    unnamed = len(bills) - len({e.request_id for d in books.debates for e in d.charged if e.request_id})
    excess = sum(debate.excess for debate in books.debates)
    cuts, heard = (sum(part) for part in zip(*((x.cuts, len(x.heard)) for x in told.listeners), strict=True))
    return "\n".join(
        (
            f"hits        {len(house.hits)}: {_counted(hit.split()[0] for hit in house.hits)}",
            *(f"debates     {form:<14} {_states(rows)}" for form, rows in _by_format(house).items()),
            f"taken       {debates} debates, {over_again} times from another worker or handed back",
            f"records     {records}, {records / seconds:.0f}/s over {seconds:.0f} s",
            f"calls       {calls} of callers' debates, {len(failed)} failed: {_counted(e.reason for e in failed)}",
            f"lost        {lost} calls were in flight when their worker was gone, each charged as held",
            f"billed      {_usd(total(bills))} by the vendor in {len(bills)} bills, {unnamed} of them unheard of",
            f"charged     {_usd(books.paid)}, of which {_usd(excess)} above what was held",
            f"callers     {len(told.debates)} cases, {len(told.aborted)} aborted, {len(told.left)} left",
            f"answers     {_counted(told.answers.elements())}",
            f"streams     {len(told.listeners)}, resumed {cuts} times, {heard} entries heard once each",
            f"latency     from a case to its final event: {_spread(told.took)}",
            f"pauses      {', '.join(_pauses(house))}",
        )
    )


def _pauses(house: Deployment, most: int = 3) -> list[str]:
    """The longest times between two records of one debate."""
    found: list[tuple[float, str]] = []
    before: Envelope | None = None
    for (leaf,) in house.rows(LEAVES):
        after = open_leaf(leaf)
        if before and before.debate == after.debate:
            waited = datetime.fromisoformat(after.recorded) - datetime.fromisoformat(before.recorded)
            found.append(
                (waited.total_seconds(), f"{before.kind} to {after.kind} of {after.debate} at {after.recorded}")
            )
        before = after
    return [f"{waited:.1f} s from {what}" for waited, what in sorted(found, reverse=True)[:most]]


def _by_format(house: Deployment) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for form, state, count in house.rows(DEBATES):
        found.setdefault(form, []).append((state, count))
    return found


def _states(rows: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{count} {state}" for state, count in rows)


def _counted(words: Iterable[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in Counter(words).most_common()) or "none"


def _usd(micro: int) -> str:
    return f"${Decimal(micro) / MICRO:.4f}"


def _spread(seconds: Sequence[float]) -> str:
    if not seconds:
        return "nobody listened to the end"
    ordered = sorted(seconds)
    p50, p99 = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
    return f"p50 {p50:.1f} s, p99 {p99:.1f} s, most {ordered[-1]:.1f} s"
