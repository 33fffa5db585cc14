"""A reply in one line, for every kind of reply in a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.text import Text

from service.cli.display.console import counted, text
from service.report.labels import APART, label_of
from service.report.result.panel_findings import UNCHECKED
from service.report.shortened import short

Data = Mapping[str, Any]
LONGEST = 110
"""The most characters of an answer or a verdict on one line of the progress."""
_KEPT = {"stance_alignment": "stance", "empirical_overlap": "evidence", "framework_agreement": "framework"}
_KEPT |= {"confidence_convergence": "confidence"}

_SCORES = ("factual_accuracy", "logical_consistency", "evidence_quality", "trajectory_score")


def content(said: Data) -> str:
    """The reply of a seat that argues, in numbers, with its conclusion if its format asks for one."""
    if given := said.get("proposerPosition"):
        return counted(len(given["supporting_arguments"]), "argument")
    if given := said.get("criticPosition"):
        points = counted(len(given["counter_arguments"]), "point")
        return f"{points}, strength {given['challengeStrength']}/10"
    if given := said.get("rebuttalPosition"):
        return f"{counted(len(given['rebuttals']), 'answer')}, {counted(len(given['concessions']), 'concession')}"
    return _debater(said)


def decided(data: Data) -> str:
    """The reply of a seat that closes or judges, from its event's data."""
    reply = data.get("reply", data)  # in a format without a shape of its own
    if found := reply.get("moderatorEvaluation"):
        return f"{reply['conclusion']}, confidence {found['confidenceLevel']}"
    if "verdict" in reply:
        winner = reply.get("winner")
        verdict = f"winner “{short(winner, LONGEST)}”" if winner else "no winner: the verdict combines stances"
        return f"{verdict}, confidence {reply['confidenceLevel']}"
    if "finalAnswer" in reply:
        return f"“{short(reply['finalAnswer'], LONGEST)}”, confidence {reply['confidenceLevel']}"
    if "synthesis" in reply:
        return f"“{short(reply['synthesis'], LONGEST)}”, confidence {reply['confidenceLevel']}"
    if "questionType" in reply:
        return f"a {reply['questionType']} question: {short(reply['because'], LONGEST)}"
    if "scores" in reply:
        return f"scores consensus: {short(reply['notes'], LONGEST)}"
    return "put in the shape that was asked for" if "output" in reply else "has answered"


def screened(data: Data) -> str:
    """What the screener says of the case, from its event's data."""
    passages = counted(len(data.get("passages", ())), "passage")
    suspicious = "suspicious" if data["suspicious"] or data.get("passages") else "not suspicious"
    return f"holds the case for {suspicious}, names {passages}"


def consensus(data: Data) -> str:
    """The standing of a panel after a round; a dimension without a score is undefined."""
    given = data["scores"]
    scores = ", ".join(
        f"{words} {f'{given[name]:.3f}' if name in given else 'undefined'}" for name, words in _KEPT.items()
    )
    reached = "reached" if data["terminated"] else "not reached"
    return f"{reached}: {data['overall']:.3f} ({scores})"


def overlap(data: Data) -> str:
    """The similarity of a round's answers."""
    least = data.get("leastOverlap")
    shared = "word overlap is undefined" if least is None else f"least word overlap {least:.3f}"
    if data["converged"]:
        return f"all say the same: {shared}"
    why = "; ".join(label_of(APART, reason) for reason in data.get("whyNot", ()))
    return f"not all say the same: {shared}; {why}" if why else f"not all say the same: {shared}"


def accuracy(data: Data) -> str:
    """The scores of every debater of a panel, by letter, and the name of the scores."""
    scored = (
        f"{name.removeprefix('model_').upper()} {' / '.join(str(scores.get(of, UNCHECKED)) for of in _SCORES)}"
        for name, scores in data["scores"].items()
    )
    return f"conduct, not truth: factual / consistent / evidence / trajectory: {', '.join(scored)}"


def verdicts(data: Data) -> list[Text]:
    """The verdicts on quotations, and the arguments struck for them."""
    good, bad = data["verified"], data["altered"] + data["tooShort"] + data["notFound"]
    found = []
    if good + bad:
        found.append(text(f"{good}/{counted(good + bad, 'quotation')} verified", "red" if bad else "green"))
    if data["unchecked"]:
        found.append(text(f"{counted(data['unchecked'], 'quotation')} unchecked: no documents", "yellow"))
    if struck := data.get("struck"):
        numbers = ", ".join(map(str, struck))
        found.append(text(f"number {numbers} struck", "red"))
    return found


def passages(who: str, data: Data) -> str:
    """The passages of a speaker's reply that have marks, by the words of these."""
    marked = [one for one in data.get("passages", ()) if one.get("mark")]
    marks = Counter(one["mark"] for one in marked if one["kind"] != "verdict")
    found = ", ".join(f"{number} {words}" for words, number in marks.items())
    said = [f"of {counted(data['compared'], 'quoted passage')} {found}"] if marks else []
    said += [f"a sentence says {one['mark']}" for one in marked if one["kind"] == "verdict"]
    return f"{who}: {'; '.join(said)}"


def _debater(said: Data) -> str:
    if "answers" in said:  # a panel's, to objections
        return f"answers {counted(len(said['answers']), 'objector')}"
    arguments = counted(len(said.get("claims") or said.get("arguments", ())), "argument")
    if said.get("phase"):  # a ballot has phases
        return f"{'votes ' + short(said['vote'], 40) if 'vote' in said else 'abstains'}, {arguments}"
    if "answer" not in said:
        return arguments
    sure = said.get("overall_confidence")
    share = "" if sure is None else f", confidence {sure:g}"
    return f"“{short(said['answer'], LONGEST)}”{share}, {arguments}"
