"""The checks, made again: every citation against the documents, every critique, every suspicion, every agreement.

A finding names its engine, and that engine makes it again. A finding of a later build's engine is stated and not
recomputed, because that engine may differ without any forgery. An engine that no build had is a failure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import assert_never

from service.checks import citations, consensus, given, injection, judgement, overlap, texts
from service.checks.given import given_to
from service.debate.entries import CheckFound
from service.debate.facts import Facts
from service.debate.findings import Finding
from service.debate.kernel import decide
from service.debate.model import Case, Check, CheckKind, Measure, TurnId, complete_checks
from service.debate.versions import standing
from service.verify.opened_bundle import OpenedBundle
from service.verify.prompts import NO_DEBATE
from service.verify.steps import Differs, NotCheckable, at, expect

ENGINES: Mapping[CheckKind, Collection[str]] = complete_checks(
    {
        "citations": citations.ENGINES,
        "critique": judgement.CRITIQUES,
        "injection": injection.INJECTIONS,
        "convergence": overlap.OVERLAPS,
        "consensus": consensus.AGREEMENTS,
        "accuracy": consensus.CONDUCTS,
        "texts": texts.COMPARISONS,
        "synthesis": consensus.SYNTHESES,
        "voices": judgement.VOICES,
    },
    "verify",
    __file__,
)
"""The engines of each kind of check that this build has."""


def check_findings(evidence: OpenedBundle) -> str:
    """Check that every engine makes the recorded finding again."""
    if evidence.debate.started is None:
        return f"{NO_DEBATE}, so nothing was checked"
    again, others, counts = _Recheck(evidence.debate.case, evidence.sources), set[str](), dict[str, int]()
    for n, entry, facts in evidence.debate.walk():
        if isinstance(entry, CheckFound):
            with at(file=f"records/{n:04d}.payload.json", record=n):
                check = _due(facts, entry)
                if not _here(check, entry):
                    others.add(entry.engine[:60])
                    continue
                expect(f"the finding of {entry.check}", again.find(facts, check, entry.engine), entry.finding)
                counts[check.kind] = counts.get(check.kind, 0) + 1
    listed = ", ".join(f"{count} of {name}" for name, count in sorted(counts.items())) or "none"
    if others:
        here = ", ".join(sorted({name for names in ENGINES.values() for name in names}))
        raise NotCheckable(f"checks by {', '.join(sorted(others))}, and this build has {here}; made again: {listed}")
    return f"checks made again over the bundle's documents and replies: {listed}"


def _here(check: Check, entry: CheckFound) -> bool:
    """Whether this build has the engine of a finding; raises `Differs` if no build had it."""
    match standing(entry.engine, ENGINES[check.kind]):
        case "here":
            return True
        case "later":
            return False
        case "never":
            raise Differs(f"the engine of {entry.check}", " or ".join(ENGINES[check.kind]), entry.engine)


def _due(facts: Facts, entry: CheckFound) -> Check:
    move = decide(facts)
    checks = {check.id: check for check in move.checks} if isinstance(move, Measure) else {}
    if entry.check not in checks:
        raise Differs("the checks that are due", ", ".join(checks) or "none", entry.check)
    return checks[entry.check]


class _Recheck:
    """Makes the checks of a debate over its documents."""

    def __init__(self, case: Case, sources: Mapping[str, str]) -> None:
        self._case = case
        self._sources = sources
        self._judges: dict[tuple[str, ...], citations.Judge] = {}
        self._words: dict[str, frozenset[str]] = {}

    def find(self, facts: Facts, check: Check, engine: str) -> Finding:
        """The finding of an engine of this build."""
        match check.kind:
            case "citations":
                return self._judge(engine, check.over[0])({turn: facts.said[turn] for turn in check.over})
            case "critique":
                judged = given_to(engine, given.CRITIQUES)(self._case, facts, check.over)
                return judgement.CRITIQUES[engine](*judged.over(self._sources))
            case "injection":
                came = given_to(engine, given.INJECTIONS)(self._case, facts, check.over)
                return injection.INJECTIONS[engine](came.over(self._sources), came.screening)
            case "convergence":
                compared = given_to(engine, given.OVERLAPS)(self._case, facts, check.over)
                return overlap.OVERLAPS[engine](
                    compared.answers, seats=compared.seats, similarity=compared.similarity, known=compared.known
                )
            case "consensus":
                return consensus.AGREEMENTS[engine].judge(facts, check, self._known(engine))
            case "accuracy":
                return consensus.CONDUCTS[engine](facts, check)
            case "texts":
                read = given_to(engine, given.TEXTS)(self._case, facts, check.over)
                return texts.COMPARISONS[engine](read, {name: self._sources[name] for name in read.documents})
            case "synthesis":
                return consensus.SYNTHESES[engine](facts, check)
            case "voices":
                heard = given_to(engine, given.VOICES)(self._case, facts, check.over)
                return judgement.VOICES[engine](*heard.over(self._sources))
        assert_never(check.kind)

    def _known(self, engine: str) -> frozenset[str]:
        """The words by which answers agree without agreement."""
        if engine not in self._words:
            texts = given_to(engine, given.AGREEMENTS)(self._case, self._sources)
            self._words[engine] = consensus.AGREEMENTS[engine].known(texts)
        return self._words[engine]

    def _judge(self, engine: str, turn: TurnId) -> citations.Judge:
        """The citation engine over the documents that it is given for a turn."""
        names = given_to(engine, given.CITATIONS)(self._case, turn)
        if (engine, *names) not in self._judges:
            self._judges[engine, *names] = citations.ENGINES[engine]({name: self._sources[name] for name in names})
        return self._judges[engine, *names]
