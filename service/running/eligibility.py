"""Which models are eligible for a turn, by what is recorded: the seat's own model, then its fallback, or none.

    the failures that a model has in this turn             the model is
    failed for good (a refused key, an unknown model)      not eligible any more
    timeout                                                eligible after the fallback: another wait as long would reach
                                                           the turn's deadline
    its vendor took no calls (down, overloaded, a limit    eligible until ``unavailable_attempts`` have found it so; the
    of the rate)                                           fallback, which may be at another vendor, and it take turns
                                                           of ``attempts_per_turn`` each
    any other failure                                      eligible until ``attempts_per_turn`` attempts have failed;
                                                           after an unusable reply (malformed, cut at its length) the
                                                           request holds the error
    lost with its worker, or refused for its form          eligible: not counted, up to `UNCOUNTED_MAX` of them

A turn may crash every worker that runs it, so uncounted failures are bounded too. `service.running.backoff` has the
turn's deadline and says when its clock starts anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.debate.entries import AttemptFailed
from service.debate.facts import Facts
from service.debate.model import SeatPlan, TurnId

UNCOUNTED = ("lost", "unsupported")
UNCOUNTED_MAX = 10


def eligible_models(facts: Facts, turn: TurnId, plan: SeatPlan, allowed: int, unavailable: int) -> tuple[SeatPlan, ...]:
    """The eligible models of this turn, in order; empty when the seat falls silent.

    ``allowed`` is ``attempts_per_turn``, and ``unavailable`` how many attempts may find a model's vendor unavailable.
    """
    seated: tuple[SeatPlan, ...] = plan.with_fallback
    if turn not in facts.failed:
        return seated
    if plan.fallback and any(failed.reason == "timeout" for failed in facts.failures(turn, plan.model)[-1:]):
        seated = (plan.fallback, plan)
    else:
        seated = tuple(sorted(seated, key=lambda p: _unavailable(facts.failures(turn, p.model)) // allowed))
    return tuple(p for p in seated if not is_exhausted(facts, turn, p.model, allowed, unavailable))


def is_exhausted(facts: Facts, turn: TurnId, model: str, allowed: int, unavailable: int) -> bool:
    """Whether the failures of a model in this turn make it ineligible for the rest of the turn."""
    failures = facts.failures(turn, model)
    if any(failed.final for failed in failures):
        return True
    waited, uncounted = _unavailable(failures), sum(failed.reason in UNCOUNTED for failed in failures)
    counted = len(failures) - waited - uncounted
    return counted >= allowed or waited >= max(allowed, unavailable) or uncounted > UNCOUNTED_MAX


def _unavailable(failures: Sequence[AttemptFailed]) -> int:
    """How many of these attempts found their vendor unavailable."""
    return sum(failed.unavailable and failed.reason not in UNCOUNTED for failed in failures)
