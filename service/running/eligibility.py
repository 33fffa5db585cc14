"""Who is asked next, by what is recorded: a seat's own model, its fallback once its own cannot answer, or nobody.

    failed for good (a refused key, an unknown model)      that model is not asked again in this turn
    could not be used (malformed, cut at its length)       once more, with the error told; then not again
    no answer in time                                      not before the fallback: another wait as long would take
                                                           the turn to its deadline
    any other failure                                      until ``attempts_per_turn`` attempts have failed
    lost with its worker, or refused for its form          not counted, up to `UNCOUNTED_MAX` of them

A turn that takes down whoever asks it must not be asked for ever, so what does not count is bounded too. How long a
turn may take, and who begins its seconds anew, stands in `service.running.backoff`.
"""

from __future__ import annotations

from service.debate.facts import UNUSABLE, Facts
from service.debate.model import SeatPlan, TurnId

REPAIRS = 1
"""How often a model is told what was wrong with its reply."""
UNCOUNTED = ("lost", "unsupported")
UNCOUNTED_MAX = 10


def able(facts: Facts, turn: TurnId, plan: SeatPlan, allowed: int) -> tuple[SeatPlan, ...]:
    """Those who may still be asked in this turn, in their order; empty when the seat has to be given up."""
    seated = (plan, plan.fallback) if plan.fallback else (plan,)
    if plan.fallback and any(failed.reason == "timeout" for failed in facts.failures(turn, plan.model)[-1:]):
        seated = (plan.fallback, plan)
    return tuple(p for p in seated if not given_up(facts, turn, p.model, allowed))


def given_up(facts: Facts, turn: TurnId, model: str, allowed: int) -> bool:
    """Whether a model has failed in this turn in a way, or so often, that it is not asked there again."""
    failures = facts.failures(turn, model)
    if any(failed.final for failed in failures):
        return True
    if sum(failed.reason in UNUSABLE for failed in failures) > REPAIRS:
        return True
    counted = sum(failed.reason not in UNCOUNTED for failed in failures)
    return counted >= allowed or len(failures) - counted > UNCOUNTED_MAX
