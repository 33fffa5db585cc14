"""What was cited and what was struck, in whole debates on a real database, as a caller is told of it."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, Literal

import msgspec
import pytest

from service import samples
from service.checks.coverage.sentences import sentence
from service.intake.request import CaseRequest
from service.prompts.fence import blocks
from service.prompts.request import Request
from service.report import Result, html, markdown, pdf
from service.simulated import OfflineProvider
from tests.fixtures.postgres import Database
from tests.fixtures.results import decided
from tests.fixtures.running import CALLER, QUOTES, TEXT, Bench, CannedProvider, bench

pytestmark = pytest.mark.replay

CASES = [(name, variant) for name in samples.names() for variant in (None, *samples.variants(name))]
Kind = Literal["altered", "not_found", "uncited"]


async def debated(service: Bench, body: dict[str, Any]) -> Result:
    """The result of a whole debate of a case, as it is answered."""
    debate = (await service.reviews.submit(msgspec.convert(body, CaseRequest), CALLER)).debate
    assert await service.claim() == debate
    await (await service.runner(debate)).run()
    return await service.reviews.result(debate, CALLER)


@pytest.mark.parametrize(("name", "variant"), CASES)
async def test_every_sample_tells_what_of_it_was_cited(database: Database, name: str, variant: str | None) -> None:
    body = samples.load(name, variant).case
    async with bench(database.service_url, OfflineProvider()) as service:
        r = await debated(service, body)

    assert {c.document_id for c in r.coverage} == {d.id for d in r.case.documents}
    assert sum(c.citations for c in r.coverage) == r.citation_counts.verified > 0
    for c in r.coverage:
        pieces = sorted([*(stretch.span for stretch in c.cited), *c.never_cited])
        assert (c.given, c.absent, c.parts_are) == (True, None, "places")
        assert [offset for piece in pieces for offset in piece][:1] == [0]
        assert all(a[1] == b[0] for a, b in pairwise(pieces))
        assert pieces[-1][1] == c.characters
        assert c.cited or r.transcript, "two sides quote every document; debaters may leave one alone"
        assert bool(c.cited) == bool(c.cited_share) == bool(c.places)
        assert c.cited_share < 1
        assert c.never_cited_parts
        assert sentence(c) in " ".join(block for block in _plain(markdown(r)))
        assert f"{c.document_id})</title>" in html(r)


def _plain(written: str) -> list[str]:
    return [line.replace("\\", "") for line in written.splitlines()]


async def test_a_concluded_debate_is_read_with_its_documents_and_told_as_pdf(database: Database) -> None:
    async with bench(database.service_url) as service:
        debate = await service.run()
        r = await service.reviews.result(debate, CALLER)

    (found,) = r.coverage
    assert [p.label for p in found.places] == ["Clause 12.1", "Clause 12.2", "Clause 12.3"]
    assert {by.seat for stretch in found.cited for by in stretch.by} == set(QUOTES)
    assert TEXT[slice(*found.cited[0].span)] == QUOTES["proposer"]
    assert pdf(r).startswith(b"%PDF-")


@pytest.mark.parametrize("kind", ["altered", "not_found", "uncited"])
@pytest.mark.parametrize(("seat", "part"), [("proposer", "arguments"), ("critic", "points"), ("rebuttal", "rebuttals")])
async def test_an_argument_without_verified_evidence_is_struck_for_everybody_after_it(
    database: Database, seat: str, part: str, kind: Kind
) -> None:
    """Whoever it is from: later seats see its number and the reason, the moderator too; it is counted and a failure."""
    heard: list[Request] = []

    def say(who: str, _round: int, reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, part: [*reply[part], _false(kind)]} if who == seat else _granting(who, reply)

    class Listening(CannedProvider):
        async def send(self, body: bytes) -> Any:
            heard.append(msgspec.json.decode(body, type=Request))
            return await super().send(body)

    async with bench(database.service_url, Listening(say)) as service:
        debate = await service.run()
        r = await service.reviews.result(debate, CALLER)

    reason = "uncited" if kind == "uncited" else "unverified_citation"
    later = {"proposer": ("critic", "rebuttal", "moderator"), "critic": ("rebuttal", "moderator")}
    for listener in later.get(seat, ("moderator",)):
        request = next(q for q in heard if q.seat == listener)
        said = [json.loads(b.text) for m in request.messages for b in blocks(m.content) if b.kind == "statement"]
        assert [view["struck"] for view in said if "struck" in view] == [[{"n": 2, "reason": reason}]]
        assert "blue moon" not in json.dumps(said)
    counts = r.citation_counts
    assert (counts.altered, counts.not_found, counts.uncited) == tuple(
        int(kind == k) for k in ("altered", "not_found", "uncited")
    )
    assert (counts.struck, counts.verified) == (1, 3)
    assert [(s.seat, s.argument.n, s.argument.struck) for s in r.struck] == [(seat, 2, reason)]
    assert [(f.turn, f.n, f.reason) for f in r.critical_validation_failures] == [(f"1.{seat}.1", 2, kind)]
    assert decided(r).confidence in ("MODERATE", "LOW")
    assert [w.seat for c in r.coverage for w in c.quoted_wrongly] == ([seat] if kind == "altered" else [])


def _false(kind: Kind) -> dict[str, Any]:
    """An argument that does not stand: its quotation is bent or invented, or it has none."""
    quote = {
        "altered": "exceed the fees paid in the twenty months before the claim",
        "not_found": "The Supplier may terminate at any time without notice.",
    }.get(kind)
    citations = [{"quote": quote, "sourceId": "D1"}] if quote else []
    return {"n": 2, "text": "Once in a blue moon this would matter.", "citations": citations}


def _granting(who: str, reply: dict[str, Any]) -> dict[str, Any]:
    """The critic makes a second point where the rebuttal has to answer one, and nobody else says more."""
    if who != "critic":
        return reply
    second = {
        "n": 2,
        "text": "Whoever is insolvent pays nothing.",
        "citations": [],
        "attacks": [1],
        "basis": "reasoning",
    }
    return {**reply, "points": [*reply["points"], second]}
