"""The last parts of a report: what happened on the way, the money, the models, the hashes, and what a record is."""

from __future__ import annotations

from collections.abc import Iterator

from service.debate.money import micro
from service.report.outline import Bar, Block, Chart, Fact, Facts, Part, Segment, Table, Text
from service.report.shape import Account, Result
from service.report.wording import (
    CHAINED,
    CHECKED,
    DIVERSITY,
    NOTICE,
    SEAT,
    SHOWS,
    SHOWS_NO_DEBATE,
    SHOWS_NOT,
    SIMULATED,
    say,
)


def notices(r: Result) -> Iterator[Block]:
    """What happened beside the arguments."""
    if not r.notices and not r.suspicions:
        return
    yield Part("notices", "Notices")
    if r.notices:
        yield Table(
            "In the order of the record",
            ("Entry", "Time", "What", "About", "Why", "In detail"),
            tuple(
                (str(n.n), n.at, say(NOTICE, n.notice), ", ".join(n.turns) or "the debate", n.reason, n.detail)
                for n in r.notices
            ),
            numeric=(0,),
        )
    if r.suspicions:
        yield Table(
            "Passages of documents that speak to a model as if they were orders",
            ("Document", "Characters", "What it looks like"),
            tuple((s.source_id, f"{s.span[0]:,} to {s.span[1]:,}", s.pattern) for s in r.suspicions),
        )


def cost(r: Result) -> Iterator[Block]:
    """What it cost against what it might have cost."""
    money = r.overall_cost
    if money.ceiling_usd is None:
        return
    yield Part("cost", "Cost")
    yield Chart("Money against the ceiling", (_money_bar(r),))
    rows = [Fact("Ceiling", f"USD {money.ceiling_usd}"), Fact("Spent", f"USD {money.spent_usd}")]
    rows += [Fact("Estimated before", f"USD {money.expected_usd}")]
    rows += [Fact("Held for calls under way", f"USD {money.held_usd}")] if micro(money.held_usd) else []
    rows += [Fact("Billed above what was held", f"USD {money.excess_usd}")] if micro(money.excess_usd) else []
    yield Facts(tuple(rows))
    yield _accounts("By seat", "Seat", {say(SEAT, seat): a for seat, a in money.by_seat.items()})
    names = {"0": "Before round 1"}
    yield _accounts("By round", "Round", {names.get(n, f"Round {n}"): a for n, a in money.by_round.items()})


def _money_bar(r: Result) -> Bar:
    money = r.overall_cost
    spent, held, excess = micro(money.spent_usd), micro(money.held_usd), micro(money.excess_usd)
    ceiling = micro(money.ceiling_usd or "0")
    segments = (Segment("spent", spent, "info"), Segment("held", held, "warn"), Segment("excess", excess, "bad"))
    share = f"{spent * 100 / ceiling:.0f} %" if ceiling else "all"
    shown = f"USD {money.spent_usd} of {money.ceiling_usd} ({share})"
    return Bar("Spent", tuple(s for s in segments if s.value), max(ceiling, spent + held + excess), shown)


def _accounts(caption: str, first: str, accounts: dict[str, Account]) -> Table:
    return Table(
        caption,
        (first, "Attempts", "Failed", "Tokens in", "Tokens out", "USD", "Usage untold"),
        tuple(
            (
                name,
                str(a.attempts),
                str(a.failed_attempts),
                f"{a.tokens.input + a.tokens.cached_input + a.tokens.cache_write:,}",
                f"{a.tokens.output + a.tokens.reasoning:,}",
                a.amount_usd,
                str(a.usage_untold),
            )
            for name, a in accounts.items()
        ),
        numeric=(1, 2, 3, 4, 5, 6),
    )


def models(r: Result) -> Iterator[Block]:
    """Who sat where."""
    if not r.seats:
        return
    yield Part("models", "Models")
    yield Table(
        "The model behind each seat",
        ("Seat", "Alias", "Model asked for", "Model that answered", "Family", "Provider"),
        tuple(
            (say(SEAT, s.seat), s.alias, s.model_name, ", ".join(s.served_models) or "not told", s.family, s.provider)
            for s in r.seats
        ),
    )
    yield Text(
        f"Diversity: {say(DIVERSITY, r.diversity or '')}. Approval of this configuration: {r.approved_by}.", "note"
    )
    if r.options and r.options.personas:
        yield Table(
            "Personas, as the caller gave them",
            ("Seat", "Persona"),
            tuple((say(SEAT, seat), text) for seat, text in sorted(r.options.personas.items())),
        )


def provenance(r: Result) -> Iterator[Block]:
    """What ran, in hashes and versions."""
    yield Part("provenance", "Hashes and versions")
    h = r.hashes
    rows = [
        ("Last record of this debate", h.last_record),
        ("Prompt manifest", h.prompts_pin),
        ("Policy", h.policy_hash),
        ("Prices", h.price_hash),
        ("Configuration", h.configuration_hash),
        ("Build", h.build_hash),
        ("Seed", h.seed),
    ]
    hashes = (Fact(term, value or "not told", code=value is not None) for term, value in rows)
    yield Facts((*hashes, *_parameters(r)))
    yield Table(
        "Documents, each bound by a salted hash of its text",
        ("Id", "Commitment (SHA-256)"),
        tuple((d.id, d.commitment) for d in r.case.documents),
        code=(0, 1),
    )
    if h.pins:
        yield Table(
            "Prompts that were pinned", ("Prompt", "Version and SHA-256"), tuple(sorted(h.pins.items())), code=(0, 1)
        )
    if r.checks:
        yield Table(
            "Checks made by code",
            ("Entry", "Check", "Engine", "Found"),
            tuple((str(c.n), c.check, c.engine, c.summary) for c in r.checks),
            numeric=(0,),
            code=(1, 2),
        )


def _parameters(r: Result) -> Iterator[Fact]:
    yield Fact("Entries recorded", str(r.entries))
    if r.format:
        yield Fact("Format", r.format, code=True)
    if r.options:
        yield Fact("Rounds at most", str(r.options.max_rounds))
        yield Fact("Critique asked again below", f"{r.options.require_critic_retry_below} of 10, by its own rating")
        yield Fact("Critique weak below", f"{r.options.min_challenge_strength} of 10, by its own rating")


def about(r: Result) -> Iterator[Block]:
    """What a record is and what it is not."""
    yield Part("about", "What this record is, and what it is not")
    yield Text(SHOWS if r.rounds else SHOWS_NO_DEBATE)
    if r.rounds:
        yield Text(SHOWS_NOT)
        yield Text(CHECKED)
    if r.simulated:
        yield Text(SIMULATED)
    yield Text(CHAINED)
