"""The decision of a debate: what came of it, in one closed list and one sentence, in every format.

    format        outcome                     when
    adversarial   upheld, modified, rejected  the last moderation concludes so
                  ranked                      there are several positions, and the moderator has ranked them
    stances       chosen                      the judge names a winner
                  split                       the verdict combines several stances
    ballot        chosen                      an option leads alone with the votes that are needed
                  escalated                   `escalate` does, or the rounds are used up without such an option
    panel         agreed                      consensus is reached, and the synthesizer has answered
                  split                       it is not reached; the synthesizer's answer is the best there was
                  ranked                      the question is a brainstorm: ideas by how many debaters name them
    convergence   agreed                      no judge decides, and all answers converged or are the same at the end
                  chosen                      the judge answers, a majority does, or a rule takes one of level answers
                  split                       answers are level, and the caller wanted none taken then
    any           undecided                   the order of presentation or passages that speak to a model decided, or
                                              it was cut short before a decision
                  declined                    the gate held no debate
                  none                        it failed or was aborted

The table in docs/formats.md says the same. An answer says who decided what, never that it is right. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

from service.debate.ballot import ESCALATE
from service.debate.formats import FormatName, complete_formats
from service.debate.labels import fold
from service.debate.model import Status, StopReason
from service.debate.options import Options, StancesOptions, format_of, positions_of
from service.debate.results import BallotResult, ConvergenceResult, FormatResult, PanelResult, StancesResult
from service.report.labels import STOP, label_of
from service.report.marks import MARK
from service.report.result.decision_types import DecidedBy, DecisionDissent, DecisionOutcome, Dissenter
from service.report.result.terms import AdversarialTerms, ConvergenceTerms, PanelTerms, Terms
from service.report.sentences import answer_sentence, is_bare, only_gives_reasons, says_so
from service.report.shortened import short

ORDER = "orderSensitive"
"""The flag of a debate in which the order of presentation decided."""
BY_ORDER = "No decision: the decider, asked again in the reverse order, decided otherwise"
INJECTED = "injectionSensitive"
"""The flag of a debate in which passages that speak to a model decided."""
BY_PASSAGES = "No decision: the decider, asked again without the passages that speak to a model, decided otherwise"
LONGEST_ANSWER, LONGEST_NAME = 400, 120
"""The most characters of a debater's, judge's or moderator's own words in an answer, and of a name in one.

A longer sentence is cut between words and ends in an ellipsis; the whole stands in the synthesis.
"""
LONGEST_VIEW, LONGEST_THESIS, LONGEST_QUESTION = 200, 300, 300
"""The most characters of what a dissenter holds, of a critic's thesis, and of a question beside a bare yes or no."""
Own = Terms | FormatResult | None


class Ended(NamedTuple):
    """A debate that has ended, as far as its decision follows from it; ``synthesis`` is its decider's, in its words."""

    question: str
    status: Status
    stop_reason: StopReason | None
    detail: str
    flags: tuple[str, ...]
    options: Options | None
    own: Own
    synthesis: str | None


class Decided(NamedTuple):
    """What came of a debate, in the sentence that a person would say, and what decided."""

    outcome: DecisionOutcome
    answer: str
    by: DecidedBy | None = None


def decide(ended: Ended) -> Decided:
    """What came of a debate that has ended, in whichever way."""
    found = _decide(ended)
    return found._replace(answer=_stopped(found.answer))


def _decide(ended: Ended) -> Decided:
    if ended.status == "declined":
        return Decided("declined", f"No debate was held, because {ended.detail}", "gate")
    if ended.status in ("failed", "aborted") or ended.options is None:
        return Decided("none", f"No decision: the debate {ended.status} ({ended.detail})")
    if INJECTED in ended.flags:
        return Decided("undecided", BY_PASSAGES)
    return DECISIONS[format_of(ended.options)](ended) or _undecided(ended)


def _undecided(ended: Ended) -> Decided:
    reason = ended.stop_reason or ""
    return Decided("undecided", f"No decision: {label_of(STOP, reason)} ({ended.detail})")


_STOPPED = re.compile(r"[.!?…。！？।؟][)\]”’\"'»」』]*$")


def _stopped(said: str) -> str:
    """A sentence with its full stop; a mark of code at its end stays behind it."""
    words = MARK.sub("", said).rstrip()
    return said if not words or _STOPPED.search(words) or not said.startswith(words) else _with_stop(said, len(words))


def _with_stop(said: str, at: int) -> str:
    return f"{said[:at]}.{said[at:]}"


def _said(lead: str, words: str | None, ended: Ended) -> str:
    """The lead, and the sentence of a decider's own words that answers."""
    return _answered(lead, answer_sentence(words) if words else "", ended)


def _answered(lead: str, sentence: str, ended: Ended) -> str:
    """The lead, and the sentence that answers; beside a bare yes or no, its question."""
    said = short(sentence, LONGEST_ANSWER)
    if is_bare(said):
        said = f"{_without_stop(said)} (the question: {_quoted(ended.question, LONGEST_QUESTION)})."
    return f"{lead}: {said}" if said else lead


def _without_stop(said: str) -> str:
    return said.rstrip(" .!。！")


def _of(count: int, whole: int, what: str) -> str:
    """``3 of 5 votes``."""
    return f"{count} of {whole} {what}"


def _quoted(words: str, most: int = LONGEST_NAME) -> str:
    """A caller's or a debater's words between quotation marks, without their full stop."""
    return f"“{short(words, most).rstrip('.')}”"


def _adversarial(ended: Ended) -> Decided | None:
    if ORDER in ended.flags:
        return Decided("undecided", BY_ORDER)
    if not isinstance(ended.own, AdversarialTerms) or ended.own.conclusion is None:
        return None
    if ranking := ended.own.ranking:
        texts = {p.id: p.text for p in positions_of(ended.options)} if ended.options else {}
        first = ranking[0].position
        lead = f"The moderator ranked {_quoted(first)} first of {len(ranking)} positions{_RANKED[ended.own.conclusion]}"
        return Decided("ranked", _said(lead, ended.synthesis or texts.get(first), ended), "moderator")
    conclusion = ended.own.conclusion
    said = answer_sentence(ended.synthesis) if ended.synthesis else ""
    if says_so(conclusion, said):
        whole = f"In the moderator's view {said[0].lower()}{said[1:]}"
        return Decided(conclusion, short(whole, LONGEST_ANSWER), "moderator")
    return Decided(conclusion, _answered(_PROPOSITION[conclusion], said, ended), "moderator")


_PROPOSITION: Mapping[str, str] = {
    "upheld": "The proposition stands in the moderator's view",
    "modified": "The proposition stands only in a narrower or changed form",
    "rejected": "The proposition was rejected",
}
_RANKED: Mapping[str, str] = {
    "upheld": "",
    "modified": ", to be chosen only with changes",
    "rejected": ", although the arguments carry none of them",
}
"""What a moderator's conclusion says of the position that it ranks first."""


def _stances(ended: Ended) -> Decided | None:
    if ORDER in ended.flags:
        return Decided("undecided", BY_ORDER)
    if not isinstance(ended.own, StancesResult) or ended.own.verdict is None:
        return None
    verdict = ended.own.verdict
    if verdict.winner is None:
        return Decided("split", _said("The judge chose no single stance", verdict.verdict, ended), "judge")
    stance, said = ended.own.winner_stance or verdict.winner, answer_sentence(verdict.verdict)
    debaters = _arguing(ended)
    by = f", argued by {_listed(debaters)}" if debaters else ", which no debater was given to argue"
    begins = fold(stance.split(": ", maxsplit=1)[0]).rstrip(".")
    if debaters and fold(said).startswith(begins) and only_gives_reasons(fold(said)[len(begins) :]):
        return Decided("chosen", _said(f"The judge chose the stance of {_listed(debaters)}", said, ended), "judge")
    return Decided("chosen", _said(f"The judge chose {_quoted(stance)}{by}", said, ended), "judge")


def _arguing(ended: Ended) -> list[str]:
    """Who argued the stance that the judge chose: a debater may be named like another side."""
    stance = ended.own.winner_stance if isinstance(ended.own, StancesResult) else None
    debaters = ended.options.debaters if isinstance(ended.options, StancesOptions) else ()
    return [short(d.name, LONGEST_NAME) for d in debaters if stance is not None and fold(d.stance) == fold(stance)]


def _ballot(ended: Ended) -> Decided | None:
    found = ended.own
    if not isinstance(found, BallotResult) or found.decision_rule == "cut_short":
        return None
    counts = {tally.vote: tally.count for tally in found.vote_tally}
    votes = _of(counts.get(found.decision, 0), found.seats, "votes")
    if found.decision_rule == "max_rounds_exhausted":
        level = f"; {_listed([_quoted(name) for name in found.tied])} are level" if found.tied else ""
        needed = _of(found.consensus_threshold, found.seats, "votes that are needed")
        return Decided("escalated", f"A person has to decide: no option leads alone with the {needed}{level}", "vote")
    if found.decision == ESCALATE:
        return Decided("escalated", f"A person has to decide: {_quoted(ESCALATE)} had {votes}", "vote")
    return Decided("chosen", f"Option {_quoted(found.decision)} was chosen with {votes}", "vote")


def _panel(ended: Ended) -> Decided | None:
    found = ended.own
    if not isinstance(found, PanelResult | PanelTerms) or not found.synthesis:
        return None
    if found.ideas:
        first, debaters = found.ideas[0], len(found.labels) - len(found.missing)
        which = f"First of {len(found.ideas)} ideas" if len(found.ideas) > 1 else "The only idea"
        lead = f"{which}, with {_of(len(first.endorsed_by), debaters, 'debaters')} for it"
        return Decided("ranked", _said(lead, first.idea, ended), "endorsements")
    if found.consensus_reached:
        by: DecidedBy = "adjudicator" if found.consensus and found.consensus[-1].by == "model" else "agreement"
        return Decided(
            "agreed", _said(f"The panel agreed in round {found.rounds_completed}", found.synthesis, ended), by
        )
    lead = "The panel did not agree; the synthesizer's answer"
    return Decided("split", _said(lead, found.synthesis, ended), "synthesizer")


def _convergence(ended: Ended) -> Decided | None:
    found = ended.own
    if ORDER in ended.flags:
        return Decided("undecided", BY_ORDER)
    if not isinstance(found, ConvergenceResult | ConvergenceTerms):
        return None
    if found.final_answer is None:
        level = f"No answer: {len(found.tied)} answers are level, and none was to be taken then"
        return Decided("split", level, "vote") if found.tied else None
    if found.decided_by == "judge":
        # The synthesis goes on with the judge's reasons, of which the first explains a bare yes or no.
        bare = is_bare(answer_sentence(found.final_answer))
        words = (ended.synthesis if bare else None) or found.final_answer
        return Decided("chosen", _said("The judge answered", words, ended), "judge")
    voices = sum(len(group.seats) for group in found.votes)
    if len(found.votes) == 1:
        lead = f"All {voices} debaters{' that answered to the end' if found.missing else ''} agreed"
        by: DecidedBy = "vote" if found.converged_in is None else "agreement"
        return Decided("agreed", _said(lead, found.final_answer, ended), by)
    if found.tied:
        lead = f"{len(found.tied)} answers are level, so that of the debater declared first was taken"
        return Decided("chosen", _said(lead, found.final_answer, ended), "tieRule")
    most = max(len(group.seats) for group in found.votes)
    return Decided("chosen", _said(f"{_of(most, voices, 'debaters')} answered", found.final_answer, ended), "vote")


DECISIONS: Mapping[FormatName, Callable[[Ended], Decided | None]] = complete_formats(
    {
        "adversarial": _adversarial,
        "stances": _stances,
        "ballot": _ballot,
        "panel": _panel,
        "convergence": _convergence,
    },
    "decision",
    __file__,
)
"""What each format decided; ``None`` if it was cut short before a decision."""


# What stands against it.


class Against(NamedTuple):
    """Dissenters of one kind; ``words`` are a critic's thesis, ``left_open`` the points that a moderator left open.

    ``contesting`` are the seats of a panel that hold no other conclusion, and still contest a claim of another debater;
    ``stances`` are the words for the stances of its answers.
    """

    kind: Literal["assigned", "own"]
    by: tuple[Dissenter, ...]
    words: str | None = None
    left_open: int = 0
    contesting: frozenset[str] = frozenset()
    stances: Mapping[str, str] = MappingProxyType({})


def dissent_of(found: Against | None) -> DecisionDissent | None:
    """The dissent with its sentence; ``None`` if there is none."""
    if found is None or not found.by:
        return None
    return DecisionDissent(kind=found.kind, text=_stopped(sentence(found)), by=found.by)


def sentence(found: Against) -> str:
    """The dissent as a person would say it."""
    if found.kind == "assigned" and found.words is not None:
        points = found.by[0].points
        held = (
            f"{_points(points, 'point')} of the critic {'was' if points == 1 else 'were'} neither granted nor answered"
        )
        lead = held if points else f"The moderator leaves {_points(found.left_open, 'point')} open"
        return f"{lead}; the critic's thesis: {short(answer_sentence(found.words), LONGEST_THESIS)}"
    if found.kind == "assigned":
        return f"Stances that lost: {_views(found.by, found.stances)}"
    against = [one for one in found.by if one.seat not in found.contesting]
    said = [
        f"{lead}: {_views([one for one in against if one.until == until], found.stances)}"
        for until, lead in _UNTIL.items()
        if any(one.until == until for one in against)
    ]
    contesting = [_name(one) for one in found.by if one.seat in found.contesting]
    said += [f"Still contesting a claim of another debater: {_listed(contesting)}"] if contesting else []
    return "; ".join(one if n == 0 else one[0].lower() + one[1:] for n, one in enumerate(said))


_UNTIL: Mapping[str, str] = {
    "end": "Of another view at the end",
    "firstDraft": "Of another view before reading the others, and not any more",
}


def _views(by: Sequence[Dissenter], stances: Mapping[str, str]) -> str:
    """The views of dissenters, each once, with those who hold it."""
    held: dict[str, list[str]] = {}
    for one in by:
        said = stances.get(one.holds) or _quoted(one.holds, LONGEST_VIEW) if one.holds else "abstained"
        held.setdefault(said, []).append(_name(one))
    return ", ".join(f"{_listed(names)} ({said})" for said, names in held.items())


def _name(one: Dissenter) -> str:
    return short(one.name, LONGEST_NAME) if one.name else one.seat


def _listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _points(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def view(holds: str | None) -> str | None:
    """What a dissenter holds, in few words."""
    return short(holds, LONGEST_VIEW) if holds else None
