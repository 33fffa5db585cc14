"""What a reader has to know of beside the arguments: refusals, failures, silences, stops, and what code found."""

from __future__ import annotations

from service.debate.entries import (
    AttemptFailed,
    BudgetRefused,
    CheckFound,
    DebateStopped,
    Entry,
    TurnSilent,
    TurnSpoke,
)
from service.debate.findings import CitationsFound, CritiqueFound, Finding, InjectionFound
from service.debate.model import CheckKind, TurnId
from service.debate.money import usd
from service.report.shape import CheckDetail, Line, Notice, NoticeKind

NOTHING = "nothingFound"


def notice(line: Line) -> Notice | None:
    """What an entry gives notice of, or ``None``; checks that found nothing say so with reason ``nothingFound``."""
    told = _tell(line.entry)
    if told is None:
        return None
    kind, turns, reason, detail = told
    return Notice(n=line.n, at=line.at, notice=kind, turns=turns, reason=reason, detail=detail)


def _tell(entry: Entry) -> tuple[NoticeKind, tuple[TurnId, ...], str, str] | None:
    match entry:
        case BudgetRefused(turns, limit, needed, left):
            return "budgetRefused", turns, limit, f"{usd(needed)} USD would be needed, {usd(max(0, left))} USD is left"
        case AttemptFailed():
            charged = f" (charged {usd(entry.charge.amount)} USD)" if entry.charge.amount else ""
            return "attemptFailed", (entry.turn,), entry.reason, entry.detail + charged
        case TurnSilent(turn, reason):
            return "seatSilent", (turn,), "givenUp", reason
        case DebateStopped(by, why):
            return "stopped", (), by, why
        case TurnSpoke() if entry.charge.excess:
            return (
                "providerOverrun",
                (entry.turn,),
                "excess",
                f"billed {usd(entry.charge.excess)} USD above what was held",
            )
        case CheckFound(check, finding=CritiqueFound() as found):
            reason = "weak" if found.weak else "flagged" if found.soft else NOTHING
            return "critiqueChecked", (check.partition("/")[0],), reason, summary(found)
        case CheckFound(finding=InjectionFound() as found):
            return "documentsChecked", (), "suspected" if found.suspicions else NOTHING, summary(found)
    return None


def check(line: Line) -> CheckDetail | None:
    """A check of code's own with its engine, or ``None`` for any other entry."""
    match line.entry:
        case CheckFound(name, engine, finding):
            return CheckDetail(check=name, kind=_kind(finding), engine=engine, n=line.n, summary=summary(finding))
    return None


def _kind(finding: Finding) -> CheckKind:
    match finding:
        case CitationsFound():
            return "citations"
        case CritiqueFound():
            return "critique"
        case InjectionFound():
            return "injection"


def summary(finding: Finding) -> str:
    """What a check found, in few words."""
    match finding:
        case CitationsFound(arguments):
            verdicts = [v.verdict for a in arguments for v in a.verdicts]
            counts = ", ".join(f"{verdicts.count(v)} {v}" for v in ("verified", "altered", "not_found")).replace(
                "_", " "
            )
            return (
                f"{len(verdicts)} citations: {counts}; {sum(a.struck is not None for a in arguments)} arguments struck"
            )
        case CritiqueFound():
            signs = [f"weak: {', '.join(finding.weak)}"] if finding.weak else []
            signs += [f"flagged: {', '.join(finding.soft)}"] if finding.soft else []
            signs += [f"phrases: {', '.join(finding.softening)}"] if finding.softening else []
            counted = f"{_count(finding.points, 'point')}, {finding.points_naming_an_argument} naming an argument"
            return "; ".join([counted, f"novelty {finding.novelty} per mille", *signs])
        case InjectionFound(suspicions):
            return f"{_count(len(suspicions), 'passage')} that read as orders to a model"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
