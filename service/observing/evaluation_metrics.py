"""The metrics of evaluations, apart from those of debates: what is measured is not what is decided.

`service.telemetry` has them too, and everything that counts names them by it. No figure of a result is a metric
([decision 0143](docs/decisions/0143-figures-of-evaluations-stay-in-reports.md)).
"""

from __future__ import annotations

from prometheus_client import Histogram

from service.observing.labelled import REGISTRY, counter, gauge, measured, total, words

WAITS_FOR = words("checkpoint pin set money places database fault")
"""What an evaluation may wait for."""
_SIMULATED = {"simulated": ("true", "false")}
EVALUATIONS_OPEN = gauge(
    "gainsay_evaluations_open",
    "Evaluations that have not ended, by what they wait for; running ones wait for nothing but their debates.",
    {"state": ("running", *WAITS_FOR)},
)
EVALUATION_WAITING = gauge(
    "gainsay_evaluation_waiting_seconds",
    "How long the evaluation has waited that waits longest, by what for; 0 where none does.",
    {"reason": WAITS_FOR},
)
EVALUATION_STILL = measured(
    "gainsay_evaluation_still_seconds",
    "How long the open evaluation that has stood still longest has had no new entry, without those that wait; else 0.",
)
EVALUATION_CEILING_USED = measured(
    "gainsay_evaluation_ceiling_used_ratio",
    "What the scored debates of an open evaluation cost, divided by its ceiling, of the one with most; else 0.",
)
EVALUATION_CEILING_NEEDED = measured(
    "gainsay_evaluation_ceiling_needed_ratio",
    "What all debates of an open evaluation would cost at the present cost of one, divided by its ceiling, of the one "
    "with most; 0 where none has ten scores.",
)
SETS_WORN = measured(
    "gainsay_golden_sets_worn",
    "Golden sets whose held split a tenant has looked at so often that it supports no claim any more, of all tenants.",
)
EVALUATIONS_REGISTERED = total("gainsay_evaluations_registered_total", "Evaluations recorded as registered.")
EVALUATIONS_STOPPED = counter(
    "gainsay_evaluations_stopped_total",
    "Evaluations recorded as stopped, by what.",
    {"by": words("ceiling set person fault revoked")},
)
EVALUATIONS_CONCLUDED = counter(
    "gainsay_evaluations_concluded_total",
    "Evaluations concluded, by the finding that stands first, and whether a simulated model took part.",
    {"finding": words("better worse inconclusive passes stops blindSpot tilt noneSeen notEnough"), **_SIMULATED},
)
EVALUATION_ITEMS = counter(
    "gainsay_evaluation_items_total",
    "Debates of evaluations that were asked, and that were scored.",
    {"event": ("asked", "scored")},
)
EVALUATION_MISSING = counter(
    "gainsay_evaluation_items_missing_total",
    "Scored debates of evaluations without an answer, a critique or a moderation, by why; each counts as wrong.",
    {
        "reason": words(
            "notStarted notEnded failed aborted undecided modified tied escalated noWinner noSynthesis noFinalAnswer "
            "notInList rejectedOfSeveral noCritique noModeration"
        )
    },
)
EVALUATION_COST = counter(
    "gainsay_evaluation_cost_usd_total",
    "Charged to scored debates of evaluations without what was lost, in US dollars.",
    _SIMULATED,
)
EVALUATION_LOST = counter(
    "gainsay_evaluation_lost_usd_total",
    "Charged for calls of evaluations that were lost with a worker, in US dollars.",
    _SIMULATED,
)
EVALUATION_FAULTS = total(
    "gainsay_evaluation_faults_total", "Turns of evaluations that a fault of the service ended; they are repeated."
)
EVALUATION_TURN_SECONDS = Histogram(
    "gainsay_evaluation_turn_seconds",
    "How long a process took for a turn of an evaluation: moves until it has to wait.",
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300),
    registry=REGISTRY,
)
EVALUATION_LOOKS = counter(
    "gainsay_evaluation_held_looks_total",
    "Looks at the labels of held splits: of one that supports claims, the last such look, and of one that is worn.",
    {"standing": ("good", "last", "worn")},
)
