"""The checks of a debate: runs each check that the format asks for, and makes the entry with its finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from service.checks import citations, consensus, given, injection, judgement, overlap, texts
from service.checks.given import given_to
from service.debate.entries import CheckFound
from service.debate.facts import Facts
from service.debate.findings import Finding
from service.debate.model import Case, Check, CheckKind, TurnId, complete_checks
from service.debate.versions import newest

_CITATIONS = newest(citations.ENGINES)
_CRITIQUE = newest(judgement.CRITIQUES)
_INJECTION = newest(injection.INJECTIONS)
_OVERLAP = newest(overlap.OVERLAPS)
_AGREEMENT = newest(consensus.AGREEMENTS)
_CONDUCT = newest(consensus.CONDUCTS)
_TEXTS = newest(texts.COMPARISONS)
_SYNTHESIS = newest(consensus.SYNTHESES)
_VOICES = newest(judgement.VOICES)
ENGINES: Mapping[CheckKind, str] = complete_checks(
    {
        "citations": _CITATIONS,
        "critique": _CRITIQUE,
        "injection": _INJECTION,
        "convergence": _OVERLAP,
        "consensus": _AGREEMENT,
        "accuracy": _CONDUCT,
        "texts": _TEXTS,
        "synthesis": _SYNTHESIS,
        "voices": _VOICES,
    },
    "running",
    __file__,
)
"""The engine version of each kind of check by which new findings are made and recorded."""


class Checker:
    """Runs checks over the documents of one debate; caches what it has folded of them."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._judges: dict[tuple[str, ...], citations.Judge] = {}
        self._words: frozenset[str] | None = None

    def check(self, case: Case, facts: Facts, check: Check) -> CheckFound:
        """The finding of a check, with the version of its engine."""
        return CheckFound(check.id, ENGINES[check.kind], self._finding(case, facts, check))

    def _finding(self, case: Case, facts: Facts, check: Check) -> Finding:
        match check.kind:
            case "citations":
                return self._judge(case, check.over[0])({turn: facts.said[turn] for turn in check.over})
            case "critique":
                judged = given_to(_CRITIQUE, given.CRITIQUES)(case, facts, check.over)
                return judgement.CRITIQUES[_CRITIQUE](*judged.over(self._sources))
            case "injection":
                came = given_to(_INJECTION, given.INJECTIONS)(case, facts, check.over)
                return injection.INJECTIONS[_INJECTION](came.over(self._sources), came.screening)
            case "convergence":
                compared = given_to(_OVERLAP, given.OVERLAPS)(case, facts, check.over)
                return overlap.OVERLAPS[_OVERLAP](
                    compared.answers, seats=compared.seats, similarity=compared.similarity, known=compared.known
                )
            case "consensus":
                return consensus.AGREEMENTS[_AGREEMENT].judge(facts, check, self._known(case))
            case "accuracy":
                return consensus.CONDUCTS[_CONDUCT](facts, check)
            case "texts":
                read = given_to(_TEXTS, given.TEXTS)(case, facts, check.over)
                return texts.COMPARISONS[_TEXTS](read, {name: self._sources[name] for name in read.documents})
            case "synthesis":
                return consensus.SYNTHESES[_SYNTHESIS](facts, check)
            case "voices":
                heard = given_to(_VOICES, given.VOICES)(case, facts, check.over)
                return judgement.VOICES[_VOICES](*heard.over(self._sources))
        assert_never(check.kind)

    def _judge(self, case: Case, turn: TurnId) -> citations.Judge:
        """The citation engine over the documents that it is given for a turn."""
        names = given_to(_CITATIONS, given.CITATIONS)(case, turn)
        if names not in self._judges:
            self._judges[names] = citations.ENGINES[_CITATIONS]({name: self._sources[name] for name in names})
        return self._judges[names]

    def _known(self, case: Case) -> frozenset[str]:
        """The words by which answers agree without agreement."""
        if self._words is None:
            texts = given_to(_AGREEMENT, given.AGREEMENTS)(case, self._sources)
            self._words = consensus.AGREEMENTS[_AGREEMENT].known(texts)
        return self._words
