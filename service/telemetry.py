"""Every metric, span and log field, named in one place.

A metric is declared once, with its name, its help, and each label with its possible values; `initialise` creates all
series from these declarations. Label values come from closed sets only (task type, format, seat, model alias, reasons).
Ids never become labels, and all debaters share the seat ``debater``. Counters for known label values exist from the
start, so that a first event is an increase and no new series; ``begun=False`` marks those that would be too many.

A value that is not in a label's list is a mistake in the code: it is logged once and counted as ``other``, because a
metric never ends a debate. Where ``strict`` is set, as in every test, it raises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import product
from typing import Any, Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from service import log_lines

REGISTRY = CollectorRegistry()
OTHER = "other"
"""The value of a label whose list lacks the value that was to be counted."""
strict = False


class Given(Enum):
    """Values of a label that the service knows when it starts, by the argument of `initialise` that holds them."""

    TASK_TYPES = "task_types"
    FORMATS = "formats"
    MODELS = "models"
    SEATS = "seats"


TASK_TYPES, FORMATS, MODELS, SEATS = Given
UNLISTED: tuple[str, ...] = ()
"""Values that no list can hold: numbers, routes, names that settings give. A series begins with its first event."""
Values = tuple[str, ...] | Given
BUILT_IN: dict[Given, set[str]] = {FORMATS: set()}
"""Given values that only a build can change, once known. The others are one policy's: an earlier one may name more."""
M = TypeVar("M", Counter, Gauge, Histogram)
LABELLED: list[Labelled[Any]] = []


class Labelled(Generic[M]):
    """A metric with labels, and the possible values of each label."""

    def __init__(self, name: str, metric: M, known: Mapping[str, Values], *, begun: bool = False) -> None:
        self.name, self.known, self.begun = name, known, begun
        self.metric: M = metric
        self._reported: set[str] = set()
        self._series: dict[tuple[tuple[str, str], ...], M] = {}
        LABELLED.append(self)

    def labels(self, **values: str) -> M:
        """The series with these values, found once; raises `ValueError` unless there is one for each declared label.
        A value that the label's list lacks becomes ``other``."""
        if found := self._series.get(named := (*values.items(),)):
            return found
        if values.keys() != self.known.keys():
            raise ValueError(
                f"expected the labels {', '.join(self.known)} of {self.name}, found {', '.join(values) or 'none'}; "
                "change the call, or the declaration in service/telemetry.py"
            )
        listed = {label: self._listed(label, value) for label, value in values.items()}
        series: M = self.metric.labels(**listed)
        return self._series.setdefault(named, series) if listed == values else series

    def _listed(self, label: str, value: str) -> str:
        """The value, or ``other`` where the label's list lacks it; that is logged once for each label."""
        known = self.known[label]
        listed = BUILT_IN.get(known, ()) if isinstance(known, Given) else known
        if not listed or value in listed:
            return value
        if strict:
            raise ValueError(f"expected one of {', '.join(sorted(listed))} as {label} of {self.name}, found {value!r}")
        if label not in self._reported:
            self._reported.add(label)
            log_lines.LABEL_UNDECLARED(metric=self.name, label=label, value=value[:80])
        return OTHER


def _words(text: str) -> tuple[str, ...]:
    """The values of a label, written in one text."""
    return tuple(text.split())


_total, _level = partial(Counter, registry=REGISTRY), partial(Gauge, registry=REGISTRY)


def _counter(name: str, help_text: str, labels: Mapping[str, Values], *, begun: bool = True) -> Labelled[Counter]:
    """A counter; its series start at zero if all values are known, unless they would be too many (``begun``)."""
    return Labelled(name, Counter(name, help_text, tuple(labels), registry=REGISTRY), labels, begun=begun)


def _gauge(name: str, help_text: str, labels: Mapping[str, Values]) -> Labelled[Gauge]:
    return Labelled(name, Gauge(name, help_text, tuple(labels), registry=REGISTRY), labels)


def _histogram(name: str, text: str, labels: Mapping[str, Values], buckets: Sequence[float]) -> Labelled[Histogram]:
    return Labelled(name, Histogram(name, text, tuple(labels), registry=REGISTRY, buckets=buckets), labels)


_RULES = ("forced", "policy", "risk", "contested", "worthIt", "uncertain", "merits")
GATE_DECISIONS = _counter(
    "gainsay_gate_decisions_total",
    "Gate decisions by task type, result and the rule that decided.",
    {"task_type": TASK_TYPES, "result": ("debate", "decline"), "decided_by": _RULES},
)
UNKNOWN_TASK_TYPES = _counter(
    "gainsay_unknown_task_types_total", "Unknown task types.", {"outcome": _words("misspelled declined refused mapped")}
)
DEBATES_STARTED = _counter(
    "gainsay_debates_started_total", "Debates recorded as started.", {"task_type": TASK_TYPES, "format": FORMATS}
)
DEBATES_CONCLUDED = _counter(
    "gainsay_debates_concluded_total",
    "Debates concluded, by status and why they stopped.",
    {
        "task_type": TASK_TYPES,
        "format": FORMATS,
        "status": ("completed", "truncated", "failed", "aborted"),
        "stop_reason": _words(
            "consensus moderatorSatisfied roundCeiling budget deadline seatSilent promptMismatch "
            "auditUnavailable fault aborted"
        ),
    },
    begun=False,
)
CONFIDENCE = _counter(
    "gainsay_debate_confidence_total",
    "Concluded debates by confidence level.",
    {"task_type": TASK_TYPES, "level": ("HIGH", "MODERATE", "LOW")},
)
CHALLENGE_STRENGTH = _histogram(
    "gainsay_critic_challenge_strength",
    "The critic's own rating of each critique, 1 to 10.",
    {"task_type": TASK_TYPES, "take": ("1", "2")},
    buckets=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
)
CRITIC_RETRIES = _counter("gainsay_critic_retries_total", "Critiques asked for again.", {"task_type": TASK_TYPES})
MODERATOR_CONFIDENCE = _counter(
    "gainsay_moderator_confidence_total",
    "Concluded debates by the confidence that the closing seat gave its own answer, before any cap.",
    {"task_type": TASK_TYPES, "level": ("HIGH", "MODERATE", "LOW")},
)
MODERATOR_SCORE = _histogram(
    "gainsay_moderator_argument_score",
    "The moderator's scores, 1 to 10, by the seat behind the neutral label and its place in what the moderator saw.",
    {"model": MODELS, "seat": ("proposer", "critic", "rebuttal"), "place": UNLISTED},
    buckets=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
)
_POINTS = (0, 1, 2, 3, 5, 8, 13, 21)
UNCERTAINTIES = _histogram(
    "gainsay_debate_explicit_uncertainties",
    "Explicit uncertainties of the closing seat of a concluded debate.",
    {"task_type": TASK_TYPES},
    buckets=_POINTS,
)
UNRESOLVED = _histogram(
    "gainsay_debate_unresolved_points",
    "Unresolved points of the last moderation.",
    {"task_type": TASK_TYPES},
    buckets=_POINTS,
)
ORDER_CHECKS = _counter(
    "gainsay_order_checks_total",
    "Concluded debates whose decider was to be asked again in reverse order, by the result.",
    {"task_type": TASK_TYPES, "format": FORMATS, "result": ("same", "differs", "sensitive", "unchecked")},
)
MASKED_CHECKS = _counter(
    "gainsay_masked_checks_total", "Results of asking a decider with flagged passages masked.", ORDER_CHECKS.known
)
DECIDED_BY_PLACE = _counter(
    "gainsay_judge_wins_total",
    "Verdicts for one stance, by the place in which the judge saw its last argument in that round.",
    {"model": MODELS, "place": ("first", "middle", "last")},
)
CONSENSUS_SCORE = _histogram(
    "gainsay_consensus_score",
    "Last consensus score of concluded debates whose format measures one, from 0 to 1.",
    {"task_type": TASK_TYPES, "format": FORMATS},
    buckets=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1),
)
CONSENSUS_LAGGING = _counter(
    "gainsay_consensus_lagging_total",
    "Rounds after which a dimension of consensus lagged, by the type of the question and who scored it.",
    {
        "question_type": ("factual", "normative", "business", "prediction", "brainstorm", "belief"),
        "dimension": ("stance_alignment", "empirical_overlap", "framework_agreement", "confidence_convergence"),
        "by": ("algorithmic", "model"),
    },
)
CONSENSUS_ROUNDS = _histogram(
    "gainsay_consensus_rounds",
    "Rounds that concluded debates took to their consensus; those that reached none are not among them.",
    {"task_type": TASK_TYPES, "format": FORMATS},
    buckets=(0, 1, 2, 3, 4, 5, 6, 8, 10),
)
VOTES = _counter(
    "gainsay_votes_total",
    "Votes of concluded ballots, by whether they name an option or are counted as abstentions.",
    {"task_type": TASK_TYPES, "read": ("option", "abstention")},
)
MISSING_VOICES = _counter(
    "gainsay_missing_voices_total",
    "Silent debaters in concluded debates, which went on without them.",
    {"task_type": TASK_TYPES, "format": FORMATS},
)
AGREEMENT = _counter(
    "gainsay_debate_first_proposal_agreement_total",
    "Concluded debates by whether the conclusion agrees with the first proposal.",
    {"task_type": TASK_TYPES, "agrees": ("true", "false")},
)
CITATIONS = _counter(
    "gainsay_citations_checked_total",
    "Citations by verdict.",
    {"task_type": TASK_TYPES, "verdict": ("verified", "altered", "too_short", "not_found", "unchecked")},
)
STRIKES = _counter(
    "gainsay_arguments_struck_total",
    "Arguments struck.",
    {"task_type": TASK_TYPES, "reason": ("unverified_citation", "uncited")},
)
CITED = _histogram(
    "gainsay_document_cited_share",
    "Shares of documents that verified citations cover, from 0 to 1, of those given in a concluded debate.",
    {"task_type": TASK_TYPES},
    buckets=(0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1),
)
COST = _counter(
    "gainsay_debate_cost_usd_total",
    "Charged, in US dollars.",
    {"task_type": TASK_TYPES, "seat": SEATS, "model": MODELS},
    begun=False,
)
EXPECTED_COST = _counter(
    "gainsay_debate_expected_cost_usd_total",
    "The catalogue's estimates for concluded debates, in US dollars; beside what was charged to the seat.",
    {"task_type": TASK_TYPES, "seat": SEATS},
    begun=False,
)
COST_RATIO = _histogram(
    "gainsay_debate_cost_to_estimate_ratio",
    "What a concluded debate cost, divided by the catalogue's estimate.",
    {"task_type": TASK_TYPES},
    buckets=(0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 4.0),
)
TOKENS = _counter(
    "gainsay_tokens_total",
    "Tokens charged, by kind.",
    {"model": MODELS, "kind": ("input", "cached_input", "cache_write", "cache_write_1h", "output", "reasoning")},
    begun=False,
)
BELOW_FLOOR = _counter(
    "gainsay_usage_below_floor_total",
    "Usages that vendors reported and that cannot be true by our own count of the request or of the reply.",
    {"model": MODELS, "part": ("input", "output")},
)
OVERRUNS = _counter("gainsay_provider_overruns_total", "Replies billed above their reservation.", {"model": MODELS})
REFUSALS = _counter(
    "gainsay_budget_refusals_total",
    "Asks that a limit did not fund, by the limit.",
    {"limit": ("debateCeiling", "batchCeiling", "tenantDay", "tenantMonth", "providerOverrun")},
)
DRAWS = _counter(
    "gainsay_draws_total",
    "Allocations that debates asked of their tenants' limits, by result.",
    {"result": ("wanted", "needed", "refused")},
)
SUBMISSIONS_REFUSED = _counter(
    "gainsay_submissions_refused_total",
    "Cases that were refused, by what was short: the tenant's money, places in the queue, places for requests.",
    {"limit": ("tenantDay", "tenantMonth", "queue", "tenantQueue", "requests")},
)
IN_LINE = _level("gainsay_submissions_in_line", "Requests with cases that wait in line until this process reads them.")
_BOUNDS = _words("rate listeners overload connections peerConnections head slowHead slowBody noHTTP")
HTTP_REFUSED = _counter("gainsay_http_refused_total", "Refused unread, by the bound.", {"reason": _BOUNDS})
BATCHES = _gauge("gainsay_batches_open", "Batches that have not ended.", {"state": ("running", "paused")})
BATCH_LINES = _counter("gainsay_batch_lines_total", "Settled lines of batches.", {"result": _words("debate refused")})
ATTEMPTS_FAILED = _counter(
    "gainsay_attempts_failed_total",
    "Attempts without a usable reply.",
    {
        "model": MODELS,
        "reason": _words(
            "refusedKey unknownModel contextTooLong rateLimit overload timeout connectionCut "
            "modelRefused lengthLimit malformedReply unsupported scriptExhausted providerFault lost"
        ),
    },
)
REPAIRS = _counter("gainsay_repairs_asked_total", "Attempts that showed a model its reply's fault.", {"model": MODELS})
FALLBACKS = _counter(
    "gainsay_fallback_attempts_total",
    "Attempts made at a seat's fallback, by the fallback's alias.",
    {"model": MODELS, "seat": SEATS},
    begun=False,
)
DOWN = _gauge(
    "gainsay_provider_down",
    "1 while the circuit of a provider is open because it failed too often, else 0.",
    {"provider": UNLISTED},
)
CALL_SECONDS = _histogram(
    "gainsay_model_call_seconds",
    "Time from sending a request to its reply.",
    {"model": MODELS, "seat": SEATS},
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20, 40, 80),
)
PROMPT_MISMATCHES = _total("gainsay_prompt_mismatches_total", "Calls not made because a prompt did not match its pin.")
AUDIT_FAILURES = _total(
    "gainsay_audit_append_failures_total",
    "Records that could not be written, and cases that were refused because their records could not be written.",
)
LOG_UNPROVEN = _level(
    "gainsay_log_unproven_records", "Records of all logs that are durable and that no checkpoint covers yet."
)
LOG_UNPROVEN_SECONDS = _level(
    "gainsay_log_unproven_seconds",
    "How long the oldest record that no checkpoint covers yet has been durable; 0 where there is none.",
)
LOG_BATCHES = _total("gainsay_log_batches_total", "Batches that this process added to the trees of logs.")
LOG_LEAVES = _total("gainsay_log_leaves_total", "Leaves that this process added to the trees of logs.")
LOG_SIGN_SECONDS = Histogram(
    "gainsay_log_sign_seconds",
    "Time to have the checkpoint of a log signed and to store it.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15),
    registry=REGISTRY,
)
LOG_INCIDENTS = _level(
    "gainsay_log_incidents", "Open incidents: a log contradicts what was signed of it; anything above 0 needs a person."
)
WITNESS_FAILURES = _total(
    "gainsay_witness_failures_total", "Checkpoints that were sent to a witness and that it did not countersign."
)
SECRETS_KEPT = _total("gainsay_secrets_unreadable_total", "Secrets that could not be read again: the last is used.")
TIME_STAMP_FAILURES = _total("gainsay_time_stamp_failures_total", "Requests for time stamps that gave none.")
TIME_STAMP_WAITING = _level("gainsay_time_stamp_waiting_seconds", "The age of the oldest head that lacks a time stamp.")
LOG_FINDINGS = _total(
    "gainsay_log_check_findings_total",
    "Differences that were found when a log was recomputed in the background; anything above 0 is an incident.",
)
LOG_CHECKED = _level(
    "gainsay_log_check_timestamp_seconds", "When this process last finished recomputing a log, in seconds since 1970."
)
DAMAGED = _counter(
    "gainsay_evidence_damaged_total",
    "Times that stored evidence was found that is not what was recorded, by what it is about.",
    {"subject": ("log", "debate", "row")},
)
DAMAGE_OPEN = _gauge(
    "gainsay_evidence_damage_open",
    "Incidents of damaged evidence that no person has closed, by what they are about; anything above 0 needs a person.",
    {"subject": ("log", "debate", "row")},
)
ROWS_COMPARED = _level(
    "gainsay_rows_compared_timestamp_seconds",
    "When this process last ended a round of comparing rows with records, in seconds since 1970.",
)
READINGS = _total("gainsay_content_readings_total", "Readings of the content of cases that a log has a record of.")
READINGS_WAITING = _level("gainsay_content_readings_waiting", "Readings of the content of cases without a record yet.")
ANSWERS_HELD = _total("gainsay_answers_held_total", "Answers not given, because no checkpoint covered them in time.")
_KINDS = (
    "case.received gate.decided debate.started turn.asked turn.spoke attempt.failed "
    "turn.silent check.found budget.refused debate.stopped debate.concluded"
)
ENTRIES = _counter("gainsay_entries_recorded_total", "Entries recorded durably.", {"kind": _words(_KINDS)})
_RESULTS = _words("delivered failed refused gone expired")
WEBHOOK_ATTEMPTS = _counter("gainsay_webhook_attempts_total", "Attempts of webhooks.", {"result": _RESULTS})
WEBHOOKS_WAITING = _level("gainsay_webhook_messages_waiting", "Messages of webhooks that are still to be sent.")
WEBHOOKS_LATE = _level("gainsay_webhook_late_seconds", "How long the message of a webhook that waits longest is due.")
RUNNING = _level("gainsay_debates_running", "Debates that this process runs.")
QUEUED = _level("gainsay_debates_queued", "Debates that wait for a worker, of all processes.")
QUEUED_SECONDS = _level("gainsay_debates_queued_seconds", "How long the first debate in the queue has waited, else 0.")
UNCLAIMED = _level("gainsay_debates_left", "Debates under way whose worker is gone or released them.")
LOOP_HELD = Histogram(
    "gainsay_event_loop_held_seconds",
    "How much later than due the event loop called a timer, a hundred times a second.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5),
    registry=REGISTRY,
)
LOOP_HELD_MAX = _level("gainsay_event_loop_held_max_seconds", "The longest hold in the last one or two minutes.")
TAKEN = _counter(
    "gainsay_debates_taken_total",
    "Debates that this process claimed: new ones, those whose lease was lost, those that a worker released.",
    {"how": ("new", "left", "returned")},
)
LOST = _counter(
    "gainsay_attempts_lost_total",
    "Calls whose worker was gone before their replies were recorded; the whole reservation is charged.",
    {"model": MODELS},
)
REPLAYS = _counter(
    "gainsay_idempotent_requests_total",
    "Cases that came again under an idempotency key, by the answer.",
    {"result": ("replayed", "inProgress", "otherCase")},
)
STREAMS_CUT = _counter(
    "gainsay_http_event_streams_cut_total",
    "Event streams that this process ended before their debate was over, by reason.",
    {"reason": ("stopping", "slow", "error", "revoked")},
)
NOTICES = _counter(
    "gainsay_notices_total",
    "Notifications of processes to each other through PostgreSQL, by direction.",
    {"direction": ("sent", "heard")},
)
HTTP_METHODS = ("GET", "POST", "OPTIONS")
# `service.web.api` creates these series: not every combination of method, route and status exists.
HTTP_REQUESTS = _counter(
    "gainsay_http_requests_total",
    "Requests answered, by route template and status; status 0 is a request that was cut off without an answer.",
    {"method": UNLISTED, "route": UNLISTED, "status": UNLISTED},
)
HTTP_SECONDS = _histogram(
    "gainsay_http_request_seconds",
    "Time to answer, without event streams and without requests that asked to be kept waiting.",
    {"method": UNLISTED, "route": UNLISTED},
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
STREAMS = _level("gainsay_http_event_streams", "Event streams that are open.")
BUILD = _gauge(
    "gainsay_build_info",
    "Always 1; the labels say what runs.",
    {"version": UNLISTED, "prompts_pin": UNLISTED, "policy": UNLISTED},
)


def forget(*gauges: Gauge) -> None:
    """Set gauges to NaN while they cannot be measured: an old value would be taken for a current one."""
    for gauge in gauges:
        gauge.set(math.nan)


def initialise(
    *, task_types: Sequence[str], formats: Sequence[str], models: Sequence[str], seats: Sequence[str]
) -> None:
    """Create the series whose label values are known, at zero."""
    given = {TASK_TYPES: task_types, FORMATS: formats, MODELS: models, SEATS: seats}
    for name, built_in in BUILT_IN.items():
        built_in.update(given[name])
    for metric in LABELLED:
        known = [given[values] if isinstance(values, Given) else values for values in metric.known.values()]
        for values in product(*known) if metric.begun else ():
            metric.labels(**dict(zip(metric.known, values, strict=True)))
