"""Code's own judgement, made again: every citation against the documents, every critique, every suspicion, and how far
debaters agreed.

A finding names the engine that made it. One of another version is stated and not recomputed, because this build's
engine might judge otherwise without anybody having lied.
"""

from __future__ import annotations

from collections.abc import Mapping

from service import citations, consensus, judgement, wording
from service.citations import Sources
from service.debate.entries import CheckFound
from service.debate.facts import Facts
from service.debate.findings import ArgumentVerdict, Citation, CitationsFound, CitationVerdict, Finding
from service.debate.kernel import decide
from service.debate.model import Case, Check, ConvergenceOptions, Measure, TurnId, seat_of
from service.debate.replies import Critique, Position, Proposal
from service.prompts.render import introduced
from service.verify.evidence import Evidence
from service.verify.steps import Differs, Unchecked, at, expect
from service.verify.texts import NO_DEBATE

ENGINES = {
    "citations": citations.ENGINE,
    "critique": judgement.ENGINE,
    "injection": judgement.ENGINE,
    "convergence": wording.ENGINE,
    "consensus": consensus.ENGINE,
    "accuracy": consensus.ENGINE,
}


def found(evidence: Evidence) -> str:
    """That every check finds again what is recorded that it found."""
    if evidence.debate.started is None:
        return f"{NO_DEBATE}, so nothing was checked"
    again, others, counts = _Again(evidence.debate.case, evidence.sources), set[str](), dict[str, int]()
    for n, entry, facts in evidence.debate.walk():
        if isinstance(entry, CheckFound):
            with at(file=f"records/{n:04d}.payload.json", record=n):
                check = _due(facts, entry)
                if entry.engine != ENGINES.get(check.kind):
                    others.add(entry.engine[:60])
                    continue
                expect(f"the finding of {entry.check}", again.find(facts, check), entry.finding)
                counts[check.kind] = counts.get(check.kind, 0) + 1
    told = ", ".join(f"{count} of {name}" for name, count in sorted(counts.items())) or "none"
    if others:
        here = ", ".join(sorted(set(ENGINES.values())))
        raise Unchecked(f"checks by {', '.join(sorted(others))}, and this build has {here}; made again: {told}")
    return f"checks made again over the bundle's documents and replies: {told}"


def _due(facts: Facts, entry: CheckFound) -> Check:
    move = decide(facts)
    checks = {check.id: check for check in move.checks} if isinstance(move, Measure) else {}
    if entry.check not in checks:
        raise Differs("the checks that are due", ", ".join(checks) or "none", entry.check)
    return checks[entry.check]


class _Again:
    """Makes the checks of a debate over its documents."""

    def __init__(self, case: Case, sources: Mapping[str, str]) -> None:
        self._case = case
        self._sources = sources
        self._read: dict[tuple[str, ...], Sources] = {}
        self._words: frozenset[str] | None = None

    def find(self, facts: Facts, check: Check) -> Finding:
        """What this build's engines find."""
        match check.kind:
            case "citations":
                given = self._given(check.over[0])
                return judgement.judge_citations(
                    {turn: facts.said[turn] for turn in check.over}, lambda citation: _verdict(citation, given)
                )
            case "critique":
                return _critique(facts, check.over)
            case "injection":
                return judgement.judge_injection(self._sources)
            case "convergence":
                return _convergence(self._case, facts, check.over)
            case "consensus":
                return consensus.judge_consensus(facts, check, self._known())
            case "accuracy":
                return consensus.judge_accuracy(facts, check)
        raise Unchecked(f"no engine of this build checks {check.kind}")

    def _known(self) -> frozenset[str]:
        """The words of the question and the documents, which two answers share without agreeing."""
        if self._words is None:
            self._words = consensus.known_words((self._case.question, *self._sources.values()))
        return self._words

    def _given(self, turn: TurnId) -> Sources:
        """The documents that the seats of a turn's round were given, and no others."""
        names = introduced(self._case, int(turn.partition(".")[0]))
        if names not in self._read:
            self._read[names] = Sources({name: self._sources[name] for name in names})
        return self._read[names]


def _verdict(citation: Citation, given: Sources) -> CitationVerdict:
    return citations.check(citation, given)


def _critique(facts: Facts, over: tuple[TurnId, ...]) -> Finding:
    """The last turn's critique, beside the proposals that it attacks and its author's earlier ones."""
    *before, last = over
    critique = facts.said[last]
    if not isinstance(critique, Critique):
        raise Differs("the reply that is judged", "a critique", seat_of(last))
    said = [facts.said[turn] for turn in before]
    cited = facts.found.get(f"{last}/citations")
    verdicts: tuple[ArgumentVerdict, ...] = cited.arguments if isinstance(cited, CitationsFound) else ()
    proposals = [reply for reply in said if isinstance(reply, Proposal)]
    earlier = [reply for reply in said if isinstance(reply, Critique)]
    return judgement.judge_critique(proposals, earlier, critique, verdicts)


def _convergence(case: Case, facts: Facts, over: tuple[TurnId, ...]) -> Finding:
    """The answers of a round, without what was struck of them, under the similarity that the debate began with."""
    options = facts.started.options if facts.started else None
    if not isinstance(options, ConvergenceOptions):
        raise Differs("the format of a debate whose convergence is checked", "convergence", "another")
    voices = []
    for turn in over:
        reply, cited = facts.said[turn], facts.found.get(f"{turn}/citations")
        if not isinstance(reply, Position):
            raise Differs(f"the reply of {turn}", "an answer of the convergence format", "another")
        struck = cited.struck(turn) if isinstance(cited, CitationsFound) else {}
        texts = tuple(argument.text for argument in reply.arguments if argument.n not in struck)
        voices.append(wording.Voice(turn, reply.final_answer, texts))
    known = (case.question, *(document.title for document in case.documents))
    return wording.judge_convergence(
        voices, seats=options.debaters, similarity=options.convergence_similarity, known=known
    )
