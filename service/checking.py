"""Code's own judgement of what was said: each check that a format asks for, as the entry of what it found."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from service import citations, consensus, judgement, wording
from service.debate.entries import CheckFound
from service.debate.facts import Facts
from service.debate.findings import Citation, CitationsFound, CitationVerdict, Finding
from service.debate.model import Case, Check, CheckKind, ConvergenceOptions, Turn, TurnId
from service.debate.replies import Critique, Position, Proposal, Reply
from service.errors import IllegalEntry
from service.prompts.cited import strikes
from service.prompts.render import introduced

_ENGINES: Mapping[CheckKind, str] = {
    "citations": citations.ENGINE,
    "convergence": wording.ENGINE,
    "consensus": consensus.ENGINE,
    "accuracy": consensus.ENGINE,
}
"""Those that are not judgement's own."""


class Checker:
    """Runs checks over the documents of one debate; what is folded of them once is kept."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._verifiers: dict[tuple[str, ...], citations.Sources] = {}
        self._words: frozenset[str] | None = None

    def check(self, case: Case, facts: Facts, check: Check) -> CheckFound:
        """What a check finds, with the version of the engine that looked."""
        engine = _ENGINES.get(check.kind, judgement.ENGINE)
        return CheckFound(check.id, engine, self._finding(case, facts, check))

    def _finding(self, case: Case, facts: Facts, check: Check) -> Finding:
        said = {turn: facts.said[turn] for turn in check.over}
        match check.kind:
            case "citations":
                return judgement.judge_citations(said, self._verifier(case, Turn(check.over[0], "").round))
            case "critique":
                return _critique(facts, said)
            case "injection":
                return judgement.judge_injection(self._sources)
            case "convergence":
                return _convergence(case, facts, said)
            case "consensus":
                return consensus.judge_consensus(facts, check, self._known(case))
            case "accuracy":
                return consensus.judge_accuracy(facts, check)
        raise IllegalEntry(f"check {check.id} is of kind {check.kind}, which no format here asks for")

    def _verifier(self, case: Case, round_: int) -> Callable[[Citation], CitationVerdict]:
        """Checks citations against the documents that a round's seats were given, and no others."""
        given = introduced(case, round_)
        if given not in self._verifiers:
            self._verifiers[given] = citations.Sources({d: self._sources[d] for d in given})
        return lambda citation: citations.check(citation, self._verifiers[given])

    def _known(self, case: Case) -> frozenset[str]:
        """The words of the question and of all documents."""
        if self._words is None:
            self._words = consensus.known_words((case.question, *self._sources.values()))
        return self._words


def _critique(facts: Facts, said: Mapping[TurnId, Reply]) -> Finding:
    """The last turn is the critique that is judged; the rest is what it attacks and its author's earlier ones."""
    *_, (turn, critique) = said.items()
    earlier = [r for t, r in said.items() if isinstance(r, Critique) and t != turn]
    proposals = [r for r in said.values() if isinstance(r, Proposal)]
    found = facts.found.get(f"{turn}/citations")
    verdicts = found.arguments if isinstance(found, CitationsFound) else ()
    if not isinstance(critique, Critique):
        raise IllegalEntry(f"turn {turn} is not a critique")
    return judgement.judge_critique(proposals, earlier, critique, verdicts)


def _convergence(case: Case, facts: Facts, said: Mapping[TurnId, Reply]) -> Finding:
    """The answers of one round; what is struck of them does not count."""
    options = facts.started.options if facts.started else None
    if not isinstance(options, ConvergenceOptions):
        raise IllegalEntry("a check of convergence belongs to the format convergence, and this debate has another")
    voices = []
    for turn, reply in said.items():
        if not isinstance(reply, Position):
            raise IllegalEntry(f"turn {turn} is no answer of the format convergence")
        texts = tuple(a.text for a in reply.arguments if a.n not in strikes(facts, turn))
        voices.append(wording.Voice(turn, reply.final_answer, texts))
    known = (case.question, *(document.title for document in case.documents))
    return wording.judge_convergence(
        voices, seats=options.debaters, similarity=options.convergence_similarity, known=known
    )
