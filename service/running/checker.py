"""The checks of a debate: runs each check that the format asks for, and makes the entry with its finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never, get_args

from service.checks import citations, consensus, judgement, overlap
from service.debate.entries import CheckFound
from service.debate.facts import Facts
from service.debate.findings import CitationsFound, Finding
from service.debate.model import Case, Check, CheckKind, ConvergenceOptions, Turn, TurnId
from service.debate.replies import Critique, Position, Proposal, Reply
from service.debate.versions import newest
from service.errors import IllegalEntry
from service.prompts.arguments import strikes
from service.prompts.render import documents_of_round

_CITATIONS = newest(citations.ENGINES)
_CRITIQUE = newest(judgement.CRITIQUES)
_INJECTION = newest(judgement.INJECTIONS)
_OVERLAP = newest(overlap.OVERLAPS)
_AGREEMENT = newest(consensus.AGREEMENTS)
_CONDUCT = newest(consensus.CONDUCTS)
ENGINES: Mapping[CheckKind, str] = {
    "citations": _CITATIONS,
    "critique": _CRITIQUE,
    "injection": _INJECTION,
    "convergence": _OVERLAP,
    "consensus": _AGREEMENT,
    "accuracy": _CONDUCT,
}
"""The engine version of each kind of check by which new findings are made and recorded."""
assert ENGINES.keys() == set(get_args(CheckKind)), "every kind of check has an engine"  # noqa: S101 - at import


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
        said = {turn: facts.said[turn] for turn in check.over}
        match check.kind:
            case "citations":
                return self._judge(case, Turn(check.over[0], "").round)(said)
            case "critique":
                return _critique(facts, said)
            case "injection":
                return judgement.INJECTIONS[_INJECTION](self._sources)
            case "convergence":
                return _convergence(case, facts, said)
            case "consensus":
                return consensus.AGREEMENTS[_AGREEMENT].judge(facts, check, self._known(case))
            case "accuracy":
                return consensus.CONDUCTS[_CONDUCT](facts, check)
        assert_never(check.kind)

    def _judge(self, case: Case, round_: int) -> citations.Judge:
        """The citation engine over the documents that the seats of a round were given, and no others."""
        given = documents_of_round(case, round_)
        if given not in self._judges:
            self._judges[given] = citations.ENGINES[_CITATIONS]({d: self._sources[d] for d in given})
        return self._judges[given]

    def _known(self, case: Case) -> frozenset[str]:
        """The words of the question and of all documents."""
        if self._words is None:
            self._words = consensus.AGREEMENTS[_AGREEMENT].known((case.question, *self._sources.values()))
        return self._words


def _critique(facts: Facts, said: Mapping[TurnId, Reply]) -> Finding:
    """Check the critique in the last turn; the turns before it are the proposal and the critic's earlier critiques."""
    *_, (turn, critique) = said.items()
    earlier = [r for t, r in said.items() if isinstance(r, Critique) and t != turn]
    proposals = [r for r in said.values() if isinstance(r, Proposal)]
    found = facts.found.get(f"{turn}/citations")
    verdicts = found.arguments if isinstance(found, CitationsFound) else ()
    if not isinstance(critique, Critique):
        raise IllegalEntry(f"turn {turn} is not a critique")
    return judgement.CRITIQUES[_CRITIQUE](proposals, earlier, critique, verdicts)


def _convergence(case: Case, facts: Facts, said: Mapping[TurnId, Reply]) -> Finding:
    """Compare the replies of one round, without struck arguments."""
    options = facts.started.options if facts.started else None
    if not isinstance(options, ConvergenceOptions):
        raise IllegalEntry("a convergence check belongs to the format convergence, but this debate has another format")
    voices = []
    for turn, reply in said.items():
        if not isinstance(reply, Position):
            raise IllegalEntry(f"turn {turn} has no reply of the format convergence")
        texts = tuple(a.text for a in reply.arguments if a.n not in strikes(facts, turn))
        voices.append(overlap.ComparedAnswer(turn, reply.final_answer, texts))
    known = (case.question, *(document.title for document in case.documents))
    return overlap.OVERLAPS[_OVERLAP](
        voices, seats=options.debaters, similarity=options.convergence_similarity, known=known
    )
