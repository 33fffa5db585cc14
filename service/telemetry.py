"""Every metric, span and log field, named in one place.

Labels come from closed sets only (task type, format, seat, model alias, reasons); ids never become labels, and all
debaters share the seat ``debater``. Counters for known labels are created at start, so that the first event after a
restart is an increase and not an appearance.
"""

from __future__ import annotations

import logging
import math

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()
LOG = logging.getLogger("gainsay")

GATE_DECISIONS = Counter(
    "gainsay_gate_decisions_total",
    "Gate decisions by task type, result and the rule that decided.",
    ("task_type", "result", "decided_by"),
    registry=REGISTRY,
)
DEBATES_STARTED = Counter(
    "gainsay_debates_started_total", "Debates recorded as started.", ("task_type", "format"), registry=REGISTRY
)
DEBATES_CONCLUDED = Counter(
    "gainsay_debates_concluded_total",
    "Debates concluded, by status and why they stopped.",
    ("task_type", "format", "status", "stop_reason"),
    registry=REGISTRY,
)
CONFIDENCE = Counter(
    "gainsay_debate_confidence_total",
    "Concluded debates by confidence level.",
    ("task_type", "level"),
    registry=REGISTRY,
)
CHALLENGE_STRENGTH = Histogram(
    "gainsay_critic_challenge_strength",
    "The critic's own rating of each critique, 1 to 10.",
    ("task_type", "take"),
    buckets=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    registry=REGISTRY,
)
CRITIC_RETRIES = Counter(
    "gainsay_critic_retries_total", "Critiques that were asked for again.", ("task_type",), registry=REGISTRY
)
MODERATOR_CONFIDENCE = Counter(
    "gainsay_moderator_confidence_total",
    "Concluded debates by the confidence that whoever closed them gave its own answer, before any cap.",
    ("task_type", "level"),
    registry=REGISTRY,
)
MODERATOR_SCORE = Histogram(
    "gainsay_moderator_argument_score",
    "The moderator's scores, 1 to 10, by whom the neutral label hid and in which place it stood.",
    ("model", "seat", "place"),
    buckets=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    registry=REGISTRY,
)
_POINTS = (0, 1, 2, 3, 5, 8, 13, 21)
UNCERTAINTIES = Histogram(
    "gainsay_debate_explicit_uncertainties",
    "Explicit uncertainties of whoever closed a debate.",
    ("task_type",),
    buckets=_POINTS,
    registry=REGISTRY,
)
UNRESOLVED = Histogram(
    "gainsay_debate_unresolved_points",
    "Unresolved points of the last moderation.",
    ("task_type",),
    buckets=_POINTS,
    registry=REGISTRY,
)
ORDER_CHECKS = Counter(
    "gainsay_order_checks_total",
    "Concluded debates whose decider was to be asked again with the order turned round, by what came of it.",
    ("task_type", "format", "result"),
    registry=REGISTRY,
)
DECIDED_BY_PLACE = Counter(
    "gainsay_judge_wins_total",
    "Verdicts for one stance, by the place in which the judge saw its last argument in that round.",
    ("model", "place"),
    registry=REGISTRY,
)
CONSENSUS_SCORE = Histogram(
    "gainsay_consensus_score",
    "Last consensus score of concluded debates whose format measures one, from 0 to 1.",
    ("task_type", "format"),
    buckets=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1),
    registry=REGISTRY,
)
CONSENSUS_LAGGING = Counter(
    "gainsay_consensus_lagging_total",
    "Rounds after which a dimension of consensus lagged, by the type of the question and who scored it.",
    ("question_type", "dimension", "by"),
    registry=REGISTRY,
)
CONSENSUS_ROUNDS = Histogram(
    "gainsay_consensus_rounds",
    "Rounds that concluded debates took to their consensus; those that reached none are not among them.",
    ("task_type", "format"),
    buckets=(0, 1, 2, 3, 4, 5, 6, 8, 10),
    registry=REGISTRY,
)
VOTES = Counter(
    "gainsay_votes_total",
    "Votes of concluded ballots, by whether they name an option or are counted as abstentions.",
    ("task_type", "read"),
    registry=REGISTRY,
)
MISSING_VOICES = Counter(
    "gainsay_missing_voices_total",
    "Debaters that were given up in concluded debates, which went on without them.",
    ("task_type", "format"),
    registry=REGISTRY,
)
AGREEMENT = Counter(
    "gainsay_debate_first_proposal_agreement_total",
    "Concluded debates by whether the conclusion agrees with the first proposal.",
    ("task_type", "agrees"),
    registry=REGISTRY,
)
CITATIONS = Counter(
    "gainsay_citations_checked_total", "Citations by verdict.", ("task_type", "verdict"), registry=REGISTRY
)
STRIKES = Counter("gainsay_arguments_struck_total", "Arguments struck.", ("task_type", "reason"), registry=REGISTRY)
CITED = Histogram(
    "gainsay_document_cited_share",
    "Shares of documents that verified citations cover, from 0 to 1, of those given in a concluded debate.",
    ("task_type",),
    buckets=(0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1),
    registry=REGISTRY,
)
COST = Counter(
    "gainsay_debate_cost_usd_total", "Charged, in US dollars.", ("task_type", "seat", "model"), registry=REGISTRY
)
EXPECTED_COST = Counter(
    "gainsay_debate_expected_cost_usd_total",
    "The catalogue's estimates for concluded debates, in US dollars; beside what was charged to the seat.",
    ("task_type", "seat"),
    registry=REGISTRY,
)
COST_RATIO = Histogram(
    "gainsay_debate_cost_to_estimate_ratio",
    "What a concluded debate cost, divided by the catalogue's estimate.",
    ("task_type",),
    buckets=(0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 4.0),
    registry=REGISTRY,
)
TOKENS = Counter("gainsay_tokens_total", "Tokens charged, by kind.", ("model", "kind"), registry=REGISTRY)
OVERRUNS = Counter(
    "gainsay_provider_overruns_total", "Replies billed above their reservation.", ("model",), registry=REGISTRY
)
REFUSALS = Counter("gainsay_budget_refusals_total", "Asks that were not funded.", ("limit",), registry=REGISTRY)
DRAWS = Counter(
    "gainsay_draws_total",
    "Draws of debates on their tenants' limits, by what came of them.",
    ("result",),
    registry=REGISTRY,
)
SUBMISSIONS_REFUSED = Counter(
    "gainsay_submissions_refused_total",
    "Cases that were not taken, by what was short: the tenant's money, places in the queue, places for requests.",
    ("limit",),
    registry=REGISTRY,
)
ATTEMPTS_FAILED = Counter(
    "gainsay_attempts_failed_total", "Attempts without a usable reply.", ("model", "reason"), registry=REGISTRY
)
REPAIRS = Counter(
    "gainsay_repairs_asked_total",
    "Attempts that told a model why its reply could not be used.",
    ("model",),
    registry=REGISTRY,
)
FALLBACKS = Counter(
    "gainsay_fallback_attempts_total",
    "Attempts made at a seat's fallback, by the fallback's alias.",
    ("model", "seat"),
    registry=REGISTRY,
)
DOWN = Gauge(
    "gainsay_provider_down",
    "1 while a provider is left alone because it failed too often, else 0.",
    ("provider",),
    registry=REGISTRY,
)
CALL_SECONDS = Histogram(
    "gainsay_model_call_seconds",
    "Time from sending a request to its reply.",
    ("model", "seat"),
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20, 40, 80),
    registry=REGISTRY,
)
PROMPT_MISMATCHES = Counter(
    "gainsay_prompt_mismatches_total", "Calls not made because a prompt did not match its pin.", registry=REGISTRY
)
AUDIT_FAILURES = Counter(
    "gainsay_audit_append_failures_total",
    "Records that could not be written, and cases that were refused since theirs could not be.",
    registry=REGISTRY,
)
LOG_UNPROVEN = Gauge(
    "gainsay_log_unproven_records",
    "Records of all logs that are durable and that no signed head covers yet.",
    registry=REGISTRY,
)
LOG_UNPROVEN_SECONDS = Gauge(
    "gainsay_log_unproven_seconds",
    "How long the oldest of the records has been durable that no signed head covers yet; 0 where there is none.",
    registry=REGISTRY,
)
LOG_BATCHES = Counter(
    "gainsay_log_batches_total", "Batches that this process added to the trees of logs.", registry=REGISTRY
)
LOG_LEAVES = Counter(
    "gainsay_log_leaves_total", "Leaves that this process added to the trees of logs.", registry=REGISTRY
)
LOG_SIGN_SECONDS = Histogram(
    "gainsay_log_sign_seconds",
    "Time to have the head of a log signed and to store it.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15),
    registry=REGISTRY,
)
LOG_INCIDENTS = Gauge(
    "gainsay_log_incidents",
    "Logs' contradictions of what was signed that nobody has dealt with; anything above 0 needs a person.",
    registry=REGISTRY,
)
WITNESS_FAILURES = Counter(
    "gainsay_witness_failures_total", "Submissions of heads that a witness did not countersign.", registry=REGISTRY
)
LOG_FINDINGS = Counter(
    "gainsay_log_check_findings_total",
    "Things that did not agree when a log was recomputed in the background; anything above 0 is an incident.",
    registry=REGISTRY,
)
LOG_CHECKED = Gauge(
    "gainsay_log_check_timestamp_seconds",
    "When this process last finished recomputing a log, in seconds since 1970.",
    registry=REGISTRY,
)
ANSWERS_HELD = Counter(
    "gainsay_answers_held_total",
    "Answers that were not given because no signed head of the log covered them in time.",
    registry=REGISTRY,
)
ENTRIES = Counter("gainsay_entries_recorded_total", "Entries recorded durably.", ("kind",), registry=REGISTRY)
RUNNING = Gauge("gainsay_debates_running", "Debates that this process runs.", registry=REGISTRY)
QUEUED = Gauge("gainsay_debates_queued", "Debates that wait for a worker, of all processes.", registry=REGISTRY)
QUEUED_SECONDS = Gauge(
    "gainsay_debates_queued_seconds",
    "How long the debate has waited that has waited longest for a worker; 0 where none waits.",
    registry=REGISTRY,
)
UNCLAIMED = Gauge(
    "gainsay_debates_left",
    "Debates under way whose worker is gone or could not go on, and that no worker has taken up yet.",
    registry=REGISTRY,
)
TAKEN = Counter(
    "gainsay_debates_taken_total",
    "Debates that this process took: new ones, those left by a worker that fell silent, those returned by one.",
    ("how",),
    registry=REGISTRY,
)
LOST = Counter(
    "gainsay_attempts_lost_total",
    "Calls whose worker was gone before their replies were recorded; charged as held.",
    ("model",),
    registry=REGISTRY,
)
REPLAYS = Counter(
    "gainsay_idempotent_requests_total",
    "Cases that came again under an idempotency key, by what they were answered with.",
    ("result",),
    registry=REGISTRY,
)
STREAMS_CUT = Counter(
    "gainsay_http_event_streams_cut_total",
    "Event streams that were ended from here before their debate was over, by why.",
    ("reason",),
    registry=REGISTRY,
)
NOTICES = Counter(
    "gainsay_notices_total",
    "Notifications of processes to each other through PostgreSQL, by direction.",
    ("direction",),
    registry=REGISTRY,
)
HTTP_METHODS = ("GET", "POST", "OPTIONS")
HTTP_REQUESTS = Counter(
    "gainsay_http_requests_total",
    "Requests answered, by route template and status; status 0 broke off without an answer.",
    ("method", "route", "status"),
    registry=REGISTRY,
)
HTTP_SECONDS = Histogram(
    "gainsay_http_request_seconds",
    "Time to answer, without event streams and without requests that asked to be kept waiting.",
    ("method", "route"),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
    registry=REGISTRY,
)
STREAMS = Gauge("gainsay_http_event_streams", "Event streams that are open.", registry=REGISTRY)
BUILD = Gauge(
    "gainsay_build_info", "Always 1; the labels say what runs.", ("version", "prompts_pin", "policy"), registry=REGISTRY
)


def forget(*gauges: Gauge) -> None:
    """What these tell cannot be measured just now: an old value would be taken for a good one."""
    for gauge in gauges:
        gauge.set(math.nan)


def initialise(task_types: tuple[str, ...], formats: tuple[str, ...], models: tuple[str, ...]) -> None:
    """Create the series whose labels are known, at zero."""
    for task_type in task_types:
        _of_task_type(task_type, formats)
    for model in models:
        for place in ("first", "middle", "last"):
            DECIDED_BY_PLACE.labels(model, place)
        OVERRUNS.labels(model)
        LOST.labels(model)
        REPAIRS.labels(model)
    for result in ("wanted", "needed", "refused"):
        DRAWS.labels(result)
    for limit in ("tenantDay", "tenantMonth", "queue", "tenantQueue", "requests"):
        SUBMISSIONS_REFUSED.labels(limit)
    for how in ("new", "left", "returned"):
        TAKEN.labels(how)
    for result in ("replayed", "inProgress", "otherCase"):
        REPLAYS.labels(result)
    for reason in ("stopping", "slow", "error"):
        STREAMS_CUT.labels(reason)
    for direction in ("sent", "heard"):
        NOTICES.labels(direction)
    for limit in ("debateCeiling", "tenantDay", "tenantMonth", "providerOverrun"):
        REFUSALS.labels(limit)


def _of_task_type(task_type: str, formats: tuple[str, ...]) -> None:
    CRITIC_RETRIES.labels(task_type)
    for level in ("HIGH", "MODERATE", "LOW"):
        CONFIDENCE.labels(task_type, level)
        MODERATOR_CONFIDENCE.labels(task_type, level)
    for agrees in ("true", "false"):
        AGREEMENT.labels(task_type, agrees)
    for verdict in ("verified", "altered", "not_found"):
        CITATIONS.labels(task_type, verdict)
    for reason in ("unverified_citation", "uncited"):
        STRIKES.labels(task_type, reason)
    for read in ("option", "abstention"):
        VOTES.labels(task_type, read)
    for name in formats:
        DEBATES_STARTED.labels(task_type, name)
        MISSING_VOICES.labels(task_type, name)
        for result in ("same", "sensitive", "unchecked"):
            ORDER_CHECKS.labels(task_type, name, result)
