"""Notices beside the arguments: refusals, failures, silent turns, stops, and findings."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

from service.debate.alike import same_name
from service.debate.amounts import MicroUSD, usd
from service.debate.entries import (
    AttemptFailed,
    BelowFloor,
    BudgetRefused,
    Charge,
    CheckFound,
    DebateStopped,
    Entry,
    TurnAsked,
    TurnGiven,
    TurnSilent,
    TurnSpoke,
)
from service.debate.findings import (
    AccuracyFound,
    CitationsFound,
    ConsensusFound,
    ConvergenceFound,
    CritiqueFound,
    Finding,
    NamedClaims,
    SynthesisFound,
    TextsFound,
    Verdict,
    VoicesFound,
)
from service.debate.model import CheckKind, TurnId, seat_of
from service.debate.model_names import known_names
from service.debate.replies.pruning import Dropped
from service.debate.self_naming import MASK, guesses, self_names, texts_of
from service.debate.suspicions import InjectionFound
from service.debate.turns import is_masked
from service.report.labels import APART, DROPPED, LIMIT, OUTCOME, label_of
from service.report.result.account import tokens_of
from service.report.result.history import History
from service.report.result.notice_types import CheckDetail, Notice, NoticeKind
from service.report.result.shares import share, shown
from service.report.result.types import Line
from service.report.result.unseen import unseen
from service.report.suspicion_labels import place

_KINDS: dict[type[Finding], CheckKind] = {
    CitationsFound: "citations",
    CritiqueFound: "critique",
    InjectionFound: "injection",
    ConsensusFound: "consensus",
    ConvergenceFound: "convergence",
    AccuracyFound: "accuracy",
    TextsFound: "texts",
    SynthesisFound: "synthesis",
    VoicesFound: "voices",
}


def notices(h: History) -> tuple[Notice, ...]:
    """All notices of a debate, in the order of its record."""
    return tuple(one for line in h.lines for one in _of(h, line) if one)


def _of(h: History, line: Line) -> tuple[Notice | None, ...]:
    match line.entry:
        case TurnAsked():
            return (_asked(h, line),)
        case TurnSpoke():
            return notice(line), _served(h, line), *_names(h, line), *_dropped(line)
        case CheckFound(finding=InjectionFound(neutralised=texts)):
            return notice(line), *unseen(line, texts)
        case _:
            return (notice(line),)


def notice(line: Line) -> Notice | None:
    """The notice of an entry, or ``None``: a check that found nothing has none."""
    parts = _notice_parts(line.entry)
    if parts is None:
        return None
    kind, turns, reason, detail = parts
    return Notice(n=line.n, at=line.at, notice=kind, turns=turns, reason=reason, detail=detail)


def _asked(h: History, line: Line) -> Notice | None:
    """An attempt that is no mere repetition: another model is asked, or the request names the reply's fault."""
    entry = line.entry
    if not isinstance(entry, TurnAsked):
        return None
    former = [f for f in h.facts.failed.get(entry.turn, ()) if f.attempt < entry.attempt]
    reason = former[-1].reason if former else (entry.because or "paused")
    match h.attempt(entry.turn, entry.attempt).why:
        case "fallback":
            own = h.plan(entry.turn).model
            kind: NoticeKind = "fallbackUsed"
            detail = (
                f"{entry.model} is asked in the place of {own}, of which the last word is: {label_of(OUTCOME, reason)}"
            )
        case "repair":
            kind, detail = "repairAsked", f"{entry.model} is told what was wrong with its reply, and asked again"
        case _:
            return None
    return Notice(n=line.n, at=line.at, notice=kind, turns=(entry.turn,), reason=reason, detail=detail)


def _served(h: History, line: Line) -> Notice | None:
    """The notice of a reply under another model's name than that of the request: a gateway or a vendor chose another.

    A name may come back with its date, without it, or without the account before it, and in no other way longer:
    ``gpt-4o-mini`` is not ``gpt-4o``.
    """
    entry = line.entry
    if not isinstance(entry, TurnSpoke) or entry.served_model is None:
        return None
    asked = h.plan(entry.turn).of(h.facts.models[entry.turn][entry.attempt - 1]).model_name
    if same_name(asked, entry.served_model):
        return None
    detail = f"{entry.served_model} answered where {asked} was asked for; it was charged at that one's price"
    return Notice(
        n=line.n, at=line.at, notice="servedModelDiffers", turns=(entry.turn,), reason="served", detail=detail
    )


def _dropped(line: Line) -> Iterator[Notice]:
    """A notice for each reason for which parts of a reply were left out, with their names and places."""
    entry = line.entry
    if not isinstance(entry, TurnSpoke):
        return
    for why in dict.fromkeys(part.why for part in entry.dropped):
        named = ", ".join(_part(part) for part in entry.dropped if part.why == why)
        yield Notice(
            n=line.n,
            at=line.at,
            notice="partsLeftOut",
            turns=(entry.turn,),
            reason=why,
            detail=f"{label_of(DROPPED, why)}: {named}",
        )
    if entry.dropped_more:
        detail = f"{_count(entry.dropped_more, 'further part')} of this reply, which the record does not name"
        yield Notice(n=line.n, at=line.at, notice="partsLeftOut", turns=(entry.turn,), reason="notNamed", detail=detail)


def _part(part: Dropped) -> str:
    """A part by its name and place. The name is the model's own, so it stands in quotes, without control characters."""
    quoted = json.dumps(part.name, ensure_ascii=not part.name.isprintable())
    return f"{quoted if part.why == 'unknownMember' else part.name} in {part.at}"


def _names(h: History, line: Line) -> tuple[Notice | None, ...]:
    """The notices of a reply that named its own model, or guessed another seat's; computed as its masks are."""
    entry, started = line.entry, h.facts.started
    if not isinstance(entry, TurnSpoke) or started is None:
        return ()
    known, texts = known_names(started), tuple(texts_of(msgspec.to_builtins(entry.reply)))
    own = [f'"{found.name}" in {path}' for path, text in texts for found in self_names(text, known)]
    guessed = [f'"{found.name}" in {path}' for path, text in texts for found in guesses(text, known)]
    kinds: tuple[tuple[NoticeKind, str, list[str], str], ...] = (
        ("selfNamed", "masked", own, f"other seats are shown {MASK} in its place: "),
        ("modelGuessed", "shown", guessed, "a guess about another seat, which later seats are shown: "),
    )
    return tuple(
        Notice(n=line.n, at=line.at, notice=kind, turns=(entry.turn,), reason=reason, detail=lead + "; ".join(names))
        for kind, reason, names, lead in kinds
        if names
    )


def _notice_parts(entry: Entry) -> tuple[NoticeKind, tuple[TurnId, ...], str, str] | None:
    match entry:
        case BudgetRefused(turns, limit, needed, left):
            return "budgetRefused", turns, limit, _refused(limit, needed, left)
        case TurnSpoke() | AttemptFailed() if entry.charge.excess:
            failed = f"{entry.reason}: {entry.detail}; " if isinstance(entry, AttemptFailed) else ""
            above = f"billed {usd(entry.charge.excess)} USD above what was held"
            return "providerOverrun", (entry.turn,), "excess", failed + above
        case TurnSpoke() | AttemptFailed() if entry.charge.below_floor:
            failed = f"{entry.reason}: {entry.detail}; " if isinstance(entry, AttemptFailed) else ""
            detail = f"{failed}{usd(entry.charge.amount)} USD, all that was held: {_below(entry.charge.below_floor)}"
            return "usageBelowFloor", (entry.turn,), entry.charge.below_floor, detail + _pause(entry)
        case AttemptFailed():
            detail = entry.detail + _charged(entry.charge) + _pause(entry)
            return "attemptFailed", (entry.turn,), entry.reason, detail
        case TurnSpoke() if entry.charge.basis == "reserved":
            detail = f"{usd(entry.charge.amount)} USD, all that was held: {_why_as_held(entry)}"
            return "chargedAsHeld", (entry.turn,), "reserved", detail
        case TurnGiven(turn):
            return "replyGiven", (turn,), "given", "an evaluation gives this reply; nothing was charged for it"
        case TurnSilent(turn, reason):
            return "seatSilent", (turn,), "givenUp", reason
        case DebateStopped(by, why):
            return "stopped", (), by, why
        case CheckFound():
            return _check_parts(entry)
        case _:
            return None


def _check_parts(entry: CheckFound) -> tuple[NoticeKind, tuple[TurnId, ...], str, str] | None:
    match entry:
        case CheckFound(check, finding=CritiqueFound() as found) if found.weak or found.soft:
            turn = TurnId(check.partition("/")[0])
            return "critiqueChecked", (turn,), "weak" if found.weak else "flagged", summary(found)
        case CheckFound(finding=InjectionFound() as found) if found.suspicious:
            return "documentsChecked", (), "suspected", summary(found)
        case CheckFound(finding=SynthesisFound(opposed) as found) if opposed:
            turns = tuple(dict.fromkeys(turn for pair in opposed for turn in pair.turns))
            return "synthesisCompared", turns, "opposed", summary(found)
        case CheckFound(finding=VoicesFound(voices) as found):
            argued = {seat_of(turn) for turn in found.argued()}
            without = tuple(voice.turn for voice in voices if seat_of(voice.turn) not in argued)
            return ("voicesChecked", without, "notArgued", summary(found)) if without else None
        case _:
            return None


def _refused(limit: str, needed: MicroUSD, left: MicroUSD) -> str:
    """The limit, unless it is the usual one, and the amount that remained."""
    if limit == "providerOverrun":
        return label_of(LIMIT, limit)
    which = "" if limit == "debateCeiling" else f" under {label_of(LIMIT, limit)}"
    return f"{usd(needed)} USD would be needed, {usd(max(0, left))} USD is left{which}"


def _below(part: BelowFloor) -> str:
    """Why a reported usage is not believed, by our own count."""
    what = "the request" if part == "input" else "the reply"
    return f"the provider reported fewer tokens than {what} can have by our own count"


def _why_as_held(entry: TurnSpoke) -> str:
    """Why a reply was not charged by its usage."""
    if tokens_of(entry.charge):
        return "what was used has no price"
    if entry.usage is None:
        return "the provider did not tell what was used"
    return "what the provider reported cannot be true, or has no price; the record has it"


def _pause(entry: TurnSpoke | AttemptFailed) -> str:
    """How long a turn waits for a vendor that takes no calls."""
    if isinstance(entry, TurnSpoke) or not entry.unavailable:
        return ""
    return f"; the vendor is given {entry.pause_ms / 1_000:.1f} s before this model is asked again"


def _charged(charge: Charge) -> str:
    if not charge.amount:
        return ""
    return f" (charged {usd(charge.amount)} USD{', as held' if charge.basis == 'reserved' else ''})"


def check(line: Line) -> CheckDetail | None:
    """The check of an entry with its engine, or ``None`` for any other entry."""
    match line.entry:
        case CheckFound(name, engine, finding):
            return CheckDetail(
                check=name, kind=_KINDS[type(finding)], engine=engine, n=line.n, summary=summary(finding)
            )
        case _:
            return None


def summary(finding: Finding) -> str:
    """The finding of a check, in few words."""
    match finding:
        case CitationsFound(arguments):
            verdicts = [v.verdict for a in arguments for v in a.verdicts]
            given: tuple[Verdict, ...] = ("verified", "altered", "too_short", "not_found")
            if "unchecked" in verdicts:
                given = ("unchecked",)
            counts = ", ".join(f"{verdicts.count(v)} {v}" for v in given).replace("_", " ")
            struck = _count(sum(a.struck is not None for a in arguments), "argument")
            return f"{_count(len(verdicts), 'citation')}: {counts}; {struck} struck"
        case CritiqueFound():
            signs = [f"weak: {', '.join(finding.weak)}"] if finding.weak else []
            signs += [f"flagged: {', '.join(finding.soft)}"] if finding.soft else []
            signs += [f"phrases: {', '.join(finding.softening)}"] if finding.softening else []
            counted = f"{_count(finding.points, 'point')}, {finding.points_naming_an_argument} naming an argument"
            counted += f", {finding.points_grounded} with a ground against one that stands"
            return "; ".join([counted, f"novelty {shown(share(finding.novelty))}", *signs])
        case InjectionFound():
            return _injection(finding)
        case ConsensusFound():
            return _consensus(finding)
        case ConvergenceFound():
            return _convergence(finding)
        case AccuracyFound(scores):
            return f"{_count(len(scores), 'debater')} scored by rules"
        case TextsFound(passages):
            quoted = [passage for passage in passages if not passage.opposed]
            unclear = sum(passage.unclear for passage in quoted)
            also = f", {unclear} unclear" if unclear else ""
            if opposed := len(passages) - len(quoted):
                also += f"; {_count(opposed, 'sentence')} against the verdict"
            return f"{_count(len(quoted), 'passage')} compared; {len(finding.marked)} marked{also}"
        case SynthesisFound(opposed):
            return _excluded(opposed)
        case VoicesFound(voices):
            argued = f"{_count(sum(len(v.own) for v in voices), 'argument')} of their own"
            rest = (
                f"{sum(len(v.echoed) for v in voices)} repeat another side, {sum(len(v.empty) for v in voices)} empty"
            )
            return f"{_count(len(voices), 'turn')}: {argued}; {rest}"


def _injection(found: InjectionFound) -> str:
    """The passages, and what of the screener's word has no place in the case."""
    where = ", ".join(dict.fromkeys(place(passage) for passage in found.suspicions))
    parts = [f"{_count(len(found.suspicions), 'passage')} that read as orders to a model{where and ': '}{where}"]
    parts += ["the screener holds the case for suspicious"] if found.suspected else []
    parts += [f"{_count(found.unlocated, 'quotation')} of the screener found nowhere"] if found.unlocated else []
    return "; ".join(parts)


def _excluded(opposed: tuple[NamedClaims, ...]) -> str:
    if any(is_masked(pair.turns[0]) for pair in opposed):
        return "the synthesis and the one without the flagged passages exclude each other"
    named = "; ".join(f"claim {pair.numbers[1]} of {pair.turns[1]}" for pair in opposed)
    return f"{_count(len(opposed), 'accepted claim')} excluded by the synthesis{named and ': '}{named}"


def _consensus(found: ConsensusFound) -> str:
    """The score against its threshold, the dimensions that lag, and any other reason against consensus."""
    reached = "terminated" if found.terminated else "not terminated"
    score = f"score {shown(share(found.overall))} of {shown(share(found.threshold))}"
    parts = [f"{_count(found.voices, 'voice')}, {score}: {reached}"]
    parts += [f"lagging: {', '.join(found.lagging)}"] if found.lagging else []
    parts += [f"{_count(len(found.unanswered), 'strong objection')} unanswered"] if found.unanswered else []
    return "; ".join(parts)


def _convergence(found: ConvergenceFound) -> str:
    """The overlap, under its own name, because it is not agreement."""
    least = min((-1 if p.overlap is None else p.overlap for p in found.pairs), default=-1)
    nearest = "undefined" if least < 0 else f"{shown(share(least))} at least"
    why = f"; kept apart by {', '.join(label_of(APART, why) for why in found.why_not)}" if found.why_not else ""
    state = "converged" if found.converged else "not converged"
    wanted = shown(share(found.similarity))
    return f"{_count(found.voices, 'voice')}, word overlap {nearest} ({wanted} wanted): {state}{why}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
