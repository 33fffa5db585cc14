"""The last parts of a report: notices, models, hashes, and the meaning of a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from service.debate.model import Pair
from service.debate.options import Options, format_of, masked_of, personas_of, swapped_of
from service.report.document.blocks import Block, Bullets, Fact, FactList, ReportPart, TableBlock, Text
from service.report.document.speakers import seated, within
from service.report.document.undocumented import QUOTED_IN_DEBATE, SHOWS_REASONING, UNCHECKED
from service.report.formats import TELLINGS, telling_of
from service.report.labels import (
    CHAINED,
    CHECKED,
    NOTICE,
    PAIR,
    QUOTED,
    SHOWS,
    SHOWS_DEBATE,
    SHOWS_NO_DEBATE,
    SHOWS_NOT,
    SIMULATED,
    label_of,
)
from service.report.result.seat_types import ScreeningDetail, SeatDetail
from service.report.result.types import LogPosition, Result


def notices(r: Result) -> Iterator[Block]:
    """The notices of the debate."""
    if not r.notices and not r.screening:
        return
    yield ReportPart("notices", "Notices")
    if r.notices:
        yield TableBlock(
            "In the order of the record",
            ("Entry", "Time", "What", "About", "Why", "In detail"),
            tuple(
                (str(n.n), n.at, label_of(NOTICE, n.notice), ", ".join(n.turns) or "the debate", n.reason, n.detail)
                for n in r.notices
            ),
            numeric=(0,),
        )
    if r.screening:
        yield from _screening(r.screening)


def _screening(found: ScreeningDetail) -> Iterator[Block]:
    """What the screener replied. Its silence about a passage shows nothing, because a text may have asked for it."""
    held = "suspicious" if found.suspicious else "not suspicious"
    yield FactList(
        (
            Fact(
                "Screener",
                f"{found.model or 'a given reply'} holds the case for {held}, which it can be made to say by the case",
            ),
            Fact("Passages that it named", f"{len(found.passages)}, of which {found.unlocated} stand nowhere in it"),
        )
    )
    if found.passages:
        yield TableBlock(
            "Passages that the screener named",
            ("Field", "What it does", "Words", "Why"),
            tuple((f"{p.field} {p.name}".strip(), p.family, p.quote, p.why) for p in found.passages),
        )


def models(r: Result) -> Iterator[Block]:
    """The models of the seats."""
    if not r.seats:
        return
    yield ReportPart("models", "Models")
    yield TableBlock(
        "The model behind each seat",
        ("Seat", "Alias", "Model asked for", "Model that answered", "Family", "Provider", "Wire", "Fallback"),
        tuple(_seat(r, s, {a.seat for a in r.attempts}) for s in r.seats),
    )
    yield Text(
        f"Diversity: {label_of(_diversity(r), r.diversity or '')}. Approval of this configuration: {r.approved_by}.",
        "note",
    )
    if r.pairs:
        yield Bullets(tuple(_pair(r, pair) for pair in r.pairs))
    if r.options and (personas := personas_of(r.options)):
        yield TableBlock(
            "Personas, as the caller gave them",
            ("Seat", "Persona"),
            tuple((seated(r, seat), text) for seat, text in sorted(personas.items())),
        )


def _diversity(r: Result) -> Mapping[str, str]:
    telling = telling_of(r.options)
    return telling.diversity if telling else {}


def _seat(r: Result, s: SeatDetail, asked: Set[str]) -> tuple[str, ...]:
    served = ", ".join(s.served_models) or ("not told" if s.seat in asked else "not asked")
    return seated(r, s.seat), s.alias, s.model_name, served, s.family, s.provider, s.wire, s.fallback or "none"


def _position(at: LogPosition | None) -> tuple[tuple[str, str], ...]:
    if at is None:
        return ()
    return (("Where it stands in the audit log", f"record {at.index} of {at.log}"),)


def _pair(r: Result, pair: Pair) -> str:
    one, other = pair.seats
    return f"{seated(r, one)} and {within(r, other)}: {label_of(PAIR, pair.diversity)}"


def provenance(r: Result) -> Iterator[Block]:
    """The hashes and versions of the policy, prompts and code of the debate."""
    yield ReportPart("provenance", "Hashes and versions")
    h = r.hashes
    rows = [
        ("Last record of this debate", h.last_record),
        *_position(h.log),
        ("Prompt manifest", h.prompts_pin),
        ("Policy", h.policy_hash),
        ("Prices", h.price_hash),
        ("Configuration", h.configuration_hash),
        ("Build", h.build_hash),
        ("Seed", h.seed),
    ]
    hashes = (Fact(term, value, code=True) for term, value in rows if value)
    yield FactList((*hashes, *_parameters(r)))
    yield TableBlock(
        "Documents, each bound by a salted hash of its text",
        ("Id", "Commitment (SHA-256)"),
        tuple((d.id, d.commitment) for d in r.case.documents),
        code=(0, 1),
    )
    if used := {id_: mark for id_, mark in h.pins.items() if id_ in h.used}:
        yield TableBlock(
            "Prompts that requests were made with",
            ("Prompt", "Version and SHA-256"),
            tuple(sorted(used.items())),
            code=(0, 1),
        )
    if r.checks:
        yield TableBlock(
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
        yield from _of_options(r.options)


def _of_options(options: Options) -> Iterator[Fact]:
    """Every option that shaped the debate, as terms and values."""
    yield Fact("Rounds at most", str(options.max_rounds))
    yield from TELLINGS[format_of(options)].parameters(options)
    if swapped_of(options):
        yield Fact("Decider asked twice", "yes, the second time with the order turned round")
    if masked_of(options):
        yield Fact("Decider asked without flagged passages", "yes, once more, if there are any")


def about(r: Result) -> Iterator[Block]:
    """What a record proves and what it does not prove."""
    yield ReportPart("about", "What this record is, and what it is not")
    debated, documented = bool(r.rounds or r.transcript), bool(r.case.documents)
    if debated and not documented:
        yield Text(SHOWS_REASONING)
    else:
        yield Text(SHOWS if r.rounds else SHOWS_DEBATE if r.transcript else SHOWS_NO_DEBATE)
    if debated:
        yield Text(SHOWS_NOT)
        yield Text(CHECKED if documented else UNCHECKED)
    if r.passage_counts:
        yield Text(QUOTED if documented else QUOTED_IN_DEBATE)
    if r.simulated:
        yield Text(SIMULATED)
    yield Text(CHAINED)
