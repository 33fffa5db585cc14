"""The checks of a debate: runs each check that the format asks for, and makes the entry with its finding."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar, assert_never

from service.checks import citations, consensus, given, injection, judgement, overlap, texts
from service.checks.citations import judged
from service.checks.given import given_to
from service.debate.entries import CheckFound
from service.debate.facts import Facts
from service.debate.findings import Finding
from service.debate.model import Case, Check, CheckKind, TurnId, complete_checks
from service.debate.replies import Reply
from service.debate.versions import newest
from service.debate.whose import WHOSE

_CITATIONS = newest(citations.ENGINES)
_CRITIQUE = newest(judgement.CRITIQUES)
_INJECTION = newest(injection.INJECTIONS)
_OVERLAP = newest(overlap.OVERLAPS)
_AGREEMENT = newest(consensus.AGREEMENTS)
_CONDUCT = newest(consensus.CONDUCTS)
_TEXTS = newest(texts.COMPARISONS)
_SYNTHESIS = newest(consensus.SYNTHESES)
_VOICES = newest(judgement.VOICES)
_CITED = given_to(_CITATIONS, given.CITATIONS)
_ATTACK = given_to(_CRITIQUE, given.CRITIQUES)
_READ_CASE = given_to(_INJECTION, given.INJECTIONS)
_COMPARED = given_to(_OVERLAP, given.OVERLAPS)
_KNOWN = given_to(_AGREEMENT, given.AGREEMENTS)
_READ_TEXTS = given_to(_TEXTS, given.TEXTS)
_HEARD = given_to(_VOICES, given.VOICES)
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


OVER_REPLIES: Collection[CheckKind] = ("convergence", "consensus", "accuracy", "synthesis")
"""The kinds of checks that read replies and no document; the words of the documents that `consensus` needs are
counted once."""


LONG = 20_000
"""The code points of the texts of a check from which on it is made apart. Shorter ones take less than half of 50 ms."""
Found = TypeVar("Found")


class Apart(Protocol):
    """Where checks of long texts are made."""

    async def call(self, tenant: str, function: Callable[..., Found], *given: object) -> Found:
        """What a function returns for these arguments, for a tenant; raises `CheckFault`."""


class Checker:
    """Runs checks over the documents of one debate; caches what it has folded of them.

    Where ``apart`` is given, `find` makes checks of long texts in that process, and the event loop goes on meanwhile.
    ``ready`` waits until the engines have read what they need once in a process.
    """

    def __init__(
        self, sources: Mapping[str, str], apart: Apart | None = None, ready: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._sources = sources
        self._apart, self._ready = apart, ready
        self.is_long = sum(map(len, sources.values())) >= LONG
        self._judges: dict[tuple[str, ...], citations.Judge] = {}
        self._words: frozenset[str] | None = None

    def check(self, case: Case, facts: Facts, check: Check) -> CheckFound:
        """The finding of a check, made here, with the version of its engine."""
        if check.kind == "citations":
            return _found(check, self._judge(case, check.over[0])(_said(facts, check)))
        if check.kind == "consensus" and self._words is None:
            self._words = consensus.AGREEMENTS[_AGREEMENT].known(self._known_texts(case))
        engine, came = self._call(case, facts, check)
        return _found(check, engine(*came))

    async def find(self, case: Case, facts: Facts, check: Check) -> CheckFound:
        """The same finding, made in the other process if its texts are long. Raises `CheckFault`."""
        if self._ready is not None:
            await self._ready()
        if self._apart is None:
            return self.check(case, facts, check)
        if check.kind in OVER_REPLIES:
            if check.kind == "consensus" and self._words is None and self.is_long:
                known = consensus.AGREEMENTS[_AGREEMENT].known
                self._words = await self._apart.call(WHOSE.get(), known, self._known_texts(case))
            return self.check(case, facts, check)
        engine, came = self._call(case, facts, check)
        if not self._is_long(check, came):
            return self.check(case, facts, check) if check.kind == "citations" else _found(check, engine(*came))
        return _found(check, await self._apart.call(WHOSE.get(), engine, *came))

    def _is_long(self, check: Check, came: Sequence[Any]) -> bool:
        """Whether a check reads so much that it would hold the loop: the documents, or every text of the case."""
        return sum(len(each.text) for each in came[0]) >= LONG if check.kind == "injection" else self.is_long

    def _call(self, case: Case, facts: Facts, check: Check) -> tuple[Callable[..., Finding], tuple[Any, ...]]:
        """The engine of a check, and what it is given: a function of this build, and values that can be pickled."""
        match check.kind:
            case "citations":
                names = _CITED(case, check.over[0])
                return judged, (_CITATIONS, self._texts(names), _said(facts, check))
            case "critique":
                attack = _ATTACK(case, facts, check.over)
                return judgement.CRITIQUES[_CRITIQUE], attack.over(self._sources)
            case "injection":
                came = _READ_CASE(case, facts, check.over)
                return injection.INJECTIONS[_INJECTION], (came.over(self._sources), came.screening)
            case "convergence":
                compared = _COMPARED(case, facts, check.over)
                engine, known = overlap.OVERLAPS[_OVERLAP], compared.known
                alike = partial(engine, seats=compared.seats, similarity=compared.similarity, known=known)
                return alike, (compared.answers,)
            case "consensus":
                return consensus.AGREEMENTS[_AGREEMENT].judge, (facts, check, self._words)
            case "accuracy":
                return consensus.CONDUCTS[_CONDUCT], (facts, check)
            case "texts":
                read = _READ_TEXTS(case, facts, check.over)
                return texts.COMPARISONS[_TEXTS], (read, self._texts(read.documents))
            case "synthesis":
                return consensus.SYNTHESES[_SYNTHESIS], (facts, check)
            case "voices":
                heard = _HEARD(case, facts, check.over)
                return judgement.VOICES[_VOICES], heard.over(self._sources)
        assert_never(check.kind)

    def _judge(self, case: Case, turn: TurnId) -> citations.Judge:
        """The citation engine over the documents that it is given for a turn."""
        names = _CITED(case, turn)
        if names not in self._judges:
            self._judges[names] = citations.ENGINES[_CITATIONS](self._texts(names))
        return self._judges[names]

    def _known_texts(self, case: Case) -> tuple[str, ...]:
        """The texts by whose words answers agree without agreement."""
        return _KNOWN(case, self._sources)

    def _texts(self, names: Iterable[str]) -> dict[str, str]:
        return {name: self._sources[name] for name in names}


def _said(facts: Facts, check: Check) -> dict[TurnId, Reply]:
    return {turn: facts.said[turn] for turn in check.over}


def _found(check: Check, finding: Finding) -> CheckFound:
    return CheckFound(check.id, ENGINES[check.kind], finding)
