"""Every metric, named in one place.

A metric is declared once, with its name, its help, and each label with its possible values
(`service.observing.labelled`): those of debates, money and evidence here, those of the process and of evaluations
beside (`service.observing.process_metrics`, `service.observing.evaluation_metrics`). Ids never become labels, and all
debaters share the seat ``debater``.
"""

from __future__ import annotations

from prometheus_client import Histogram

from service.observing.evaluation_metrics import *  # noqa: F403 - what counts finds every metric here
from service.observing.labelled import (
    FORMATS,
    MODELS,
    REGISTRY,
    SEATS,
    TASK_TYPES,
    UNLISTED,
    counter,
    gauge,
    histogram,
    level,
    measured,
    total,
    words,
)
from service.observing.process_metrics import *  # noqa: F403 - what counts finds every metric here

ENDED = ("completed", "truncated", "failed", "aborted")
PERIODS = ("day", "month")
_RULES = ("forced", "policy", "risk", "contested", "worthIt", "uncertain", "merits")
GATE_DECISIONS = counter(
    "gainsay_gate_decisions_total",
    "Gate decisions by task type, result and the rule that decided.",
    {"task_type": TASK_TYPES, "result": ("debate", "decline"), "decided_by": _RULES},
)
UNKNOWN_TASK_TYPES = counter(
    "gainsay_unknown_task_types_total", "Unknown task types.", {"outcome": words("misspelled declined refused mapped")}
)
DEBATES_STARTED = counter(
    "gainsay_debates_started_total", "Debates recorded as started.", {"task_type": TASK_TYPES, "format": FORMATS}
)
DEBATES_CONCLUDED = counter(
    "gainsay_debates_concluded_total",
    "Debates concluded, by status and why they stopped.",
    {
        "task_type": TASK_TYPES,
        "format": FORMATS,
        "status": ENDED,
        "stop_reason": words(
            "consensus moderatorSatisfied roundCeiling budget deadline seatSilent promptMismatch "
            "auditUnavailable fault aborted"
        ),
    },
    begun={"status": ("failed",), "stop_reason": words("seatSilent promptMismatch auditUnavailable fault")},
)
CONFIDENCE = counter(
    "gainsay_debate_confidence_total",
    "Concluded debates by confidence level.",
    {"task_type": TASK_TYPES, "level": ("HIGH", "MODERATE", "LOW")},
)
CHALLENGE_STRENGTH = histogram(
    "gainsay_critic_challenge_strength",
    "The critic's own rating of each critique, 1 to 10.",
    {"task_type": TASK_TYPES, "take": ("1", "2")},
    buckets=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
    begun=True,
)
CRITIC_RETRIES = counter("gainsay_critic_retries_total", "Critiques asked for again.", {"task_type": TASK_TYPES})
MODERATOR_CONFIDENCE = counter(
    "gainsay_moderator_confidence_total",
    "Concluded debates by the confidence that the closing seat gave its own answer, before any cap.",
    {"task_type": TASK_TYPES, "level": ("HIGH", "MODERATE", "LOW")},
)
MODERATOR_SCORE = histogram(
    "gainsay_moderator_argument_score",
    "The moderator's scores, 1 to 10, by the seat behind the neutral label and its place in what the moderator saw.",
    {"model": MODELS, "seat": ("proposer", "critic", "rebuttal"), "place": UNLISTED},
    buckets=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10),
)
_POINTS = (0, 1, 2, 3, 5, 8, 13, 21)
UNCERTAINTIES = histogram(
    "gainsay_debate_explicit_uncertainties",
    "Explicit uncertainties of the closing seat of a concluded debate.",
    {"task_type": TASK_TYPES},
    buckets=_POINTS,
    begun=True,
)
UNCERTAINTIES_BASELINE = gauge(
    "gainsay_debate_explicit_uncertainties_baseline",
    "The recorded usual mean of explicit uncertainties of a debate, where there is one.",
    {"task_type": TASK_TYPES},
)
UNRESOLVED = histogram(
    "gainsay_debate_unresolved_points",
    "Unresolved points of the last moderation.",
    {"task_type": TASK_TYPES},
    buckets=_POINTS,
)
ORDER_CHECKS = counter(
    "gainsay_order_checks_total",
    "Concluded debates whose decider was to be asked again in reverse order, by the result.",
    {"task_type": TASK_TYPES, "format": FORMATS, "result": ("same", "differs", "sensitive", "unchecked")},
)
MASKED_CHECKS = counter(
    "gainsay_masked_checks_total", "Results of asking a decider with flagged passages masked.", ORDER_CHECKS.known
)
DECIDED_BY_PLACE = counter(
    "gainsay_judge_wins_total",
    "Verdicts for one stance, by the place in which the judge saw its last argument in that round.",
    {"model": MODELS, "place": ("first", "middle", "last")},
)
CONSENSUS_SCORE = histogram(
    "gainsay_consensus_score",
    "Last consensus score of concluded debates whose format measures one, from 0 to 1.",
    {"task_type": TASK_TYPES, "format": FORMATS},
    buckets=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1),
)
CONSENSUS_LAGGING = counter(
    "gainsay_consensus_lagging_total",
    "Rounds after which a dimension of consensus lagged, by the type of the question and who scored it.",
    {
        "question_type": ("factual", "normative", "business", "prediction", "brainstorm", "belief"),
        "dimension": ("stance_alignment", "empirical_overlap", "framework_agreement", "confidence_convergence"),
        "by": ("algorithmic", "model"),
    },
)
CONSENSUS_ROUNDS = histogram(
    "gainsay_consensus_rounds",
    "Rounds that concluded debates took to their consensus; those that reached none are not among them.",
    {"task_type": TASK_TYPES, "format": FORMATS},
    buckets=(0, 1, 2, 3, 4, 5, 6, 8, 10),
)
VOTES = counter(
    "gainsay_votes_total",
    "Votes of concluded ballots, by whether they name an option or are counted as abstentions.",
    {"task_type": TASK_TYPES, "read": ("option", "abstention")},
)
MISSING_VOICES = counter(
    "gainsay_missing_voices_total",
    "Silent debaters in concluded debates, which went on without them.",
    {"task_type": TASK_TYPES, "format": FORMATS},
)
_FLAGS = (
    "DEBATE_TRUNCATED unchallenged critiqueWeak promptReview critiqueConcedes critiqueNamesNothing "
    "proposerRejects softenedCritique sameConclusion criticAndModeratorAsProposer rebuttalGaveUp moderatorAlone "
    "winnerNotArgued opponentSilent votesNotArgued answersNotArgued noDocuments uncheckedEvidence "
    "injectionSuspected notScreened providerOverrun usageBelowFloor inventedQuotation unfoundQuotation "
    "unclearQuotation wordsOpposeVerdict fallbackModel orderSensitive orderUnchecked orderNotCompared "
    "ordersDiffer injectionSensitive maskedUnchecked maskedNotCompared maskedDiffers secondTakeDiffers "
    "rulingUnargued manyRounds decidedBlind agreedOnlyAfterExchange blindNotCompared riskAccepted "
    "synthesisOpposesClaims debatersDivided criticOfProposersFamily oneModel oneFamily abstentions tied tieBroken "
    "noConsensus debaterMissing adjudicatorSilent"
)
FLAGS = counter(
    "gainsay_debate_flags_total",
    "Flags of concluded debates.",
    {"task_type": TASK_TYPES, "flag": words(_FLAGS)},
    begun={"flag": ("promptReview",)},
)
DEBATE_SECONDS = histogram(
    "gainsay_debate_seconds",
    "Time from the receipt of a case to its decision, by the database's clock; failed and aborted debates have none.",
    {"task_type": TASK_TYPES, "format": FORMATS},
    buckets=(1, 5, 15, 30, 60, 120, 300, 600, 1_800, 7_200),
)
WAITED_SECONDS = Histogram(
    "gainsay_debate_queue_seconds",
    "Time from the receipt of a case until a worker claimed its debate for the first time.",
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)
CEILING_USED = histogram(
    "gainsay_debate_ceiling_used_ratio",
    "What a concluded debate cost, divided by its ceiling.",
    {"task_type": TASK_TYPES},
    buckets=(0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.25),
)
AGREEMENT = counter(
    "gainsay_debate_first_proposal_agreement_total",
    "Concluded debates by whether the conclusion agrees with the first proposal.",
    {"task_type": TASK_TYPES, "agrees": ("true", "false")},
)
CITATIONS = counter(
    "gainsay_citations_checked_total",
    "Citations by verdict.",
    {"task_type": TASK_TYPES, "verdict": ("verified", "altered", "too_short", "not_found", "unchecked")},
)
STRIKES = counter(
    "gainsay_arguments_struck_total",
    "Arguments struck.",
    {"task_type": TASK_TYPES, "reason": ("unverified_citation", "uncited")},
)
CITED = histogram(
    "gainsay_document_cited_share",
    "Shares of documents that verified citations cover, from 0 to 1, of those given in a concluded debate.",
    {"task_type": TASK_TYPES},
    buckets=(0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1),
)
COST = counter(
    "gainsay_debate_cost_usd_total",
    "Charged, in US dollars.",
    {"task_type": TASK_TYPES, "seat": SEATS, "model": MODELS},
    begun=False,
)
EXPECTED_COST = counter(
    "gainsay_debate_expected_cost_usd_total",
    "The catalogue's estimates for concluded debates, in US dollars; beside what was charged to the seat.",
    {"task_type": TASK_TYPES, "seat": SEATS},
    begun=False,
)
COST_RATIO = histogram(
    "gainsay_debate_cost_to_estimate_ratio",
    "What a concluded debate cost, divided by the catalogue's estimate.",
    {"task_type": TASK_TYPES},
    buckets=(0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 4.0),
    begun=True,
)
TOKENS = counter(
    "gainsay_tokens_total",
    "Tokens charged, by kind.",
    {"model": MODELS, "kind": ("input", "cached_input", "cache_write", "cache_write_1h", "output", "reasoning")},
    begun=False,
)
BELOW_FLOOR = counter(
    "gainsay_usage_below_floor_total",
    "Usages that vendors reported and that cannot be true by our own count of the request or of the reply.",
    {"model": MODELS, "part": ("input", "output")},
)
OVERRUNS = counter("gainsay_provider_overruns_total", "Replies billed above their reservation.", {"model": MODELS})
REFUSALS = counter(
    "gainsay_budget_refusals_total",
    "Asks that a limit did not fund, by the limit.",
    {"limit": words("debateCeiling batchCeiling tenantDay tenantMonth evaluationDay evaluationMonth providerOverrun")},
)
DRAWS = counter(
    "gainsay_draws_total",
    "Allocations that debates asked of their tenants' limits, by result.",
    {"result": ("wanted", "needed", "refused")},
)
SUBMISSIONS_REFUSED = counter(
    "gainsay_submissions_refused_total",
    "Cases that were refused, by what was short: the tenant's money, places in the queue, places for requests.",
    {"limit": ("tenantDay", "tenantMonth", "queue", "tenantQueue", "requests")},
)
BATCHES = gauge("gainsay_batches_open", "Batches that have not ended.", {"state": ("running", "paused")})
BATCH_LINES = counter("gainsay_batch_lines_total", "Settled lines of batches.", {"result": words("debate refused")})
ATTEMPTS_FAILED = counter(
    "gainsay_attempts_failed_total",
    "Attempts without a usable reply.",
    {
        "model": MODELS,
        "reason": words(
            "refusedKey unknownModel contextTooLong rateLimit overload timeout connectionCut "
            "modelRefused lengthLimit malformedReply unsupported scriptExhausted providerFault lost"
        ),
    },
)
REPAIRS = counter("gainsay_repairs_asked_total", "Attempts that showed a model its reply's fault.", {"model": MODELS})
FALLBACKS = counter(
    "gainsay_fallback_attempts_total",
    "Attempts made at a seat's fallback, by the fallback's alias.",
    {"model": MODELS, "seat": SEATS},
    begun=False,
)
DOWN = gauge(
    "gainsay_provider_down",
    "1 while the circuit of a provider is open because it failed too often, else 0.",
    {"provider": UNLISTED},
)
CALL_SECONDS = histogram(
    "gainsay_model_call_seconds",
    "Time from sending a request to its reply.",
    {"model": MODELS, "seat": SEATS},
    buckets=(0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 20, 40, 80),
)
PROMPT_MISMATCHES = total("gainsay_prompt_mismatches_total", "Calls not made because a prompt did not match its pin.")
AUDIT_FAILURES = total(
    "gainsay_audit_append_failures_total",
    "Records that could not be written, and cases that were refused because their records could not be written.",
)
APPEND_SECONDS = Histogram(
    "gainsay_append_seconds",
    "Time from handing over the entries of a debate until they are committed.",
    buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30),
    registry=REGISTRY,
)
APPEND_DEBATES = Histogram(
    "gainsay_append_debates",
    "Debates whose entries one statement appended.",
    buckets=(1, 2, 4, 8, 16, 32, 64),
    registry=REGISTRY,
)
LOG_UNPROVEN = measured(
    "gainsay_log_unproven_records", "Records of all logs that are durable and that no checkpoint covers yet."
)
LOG_UNPROVEN_SECONDS = measured(
    "gainsay_log_unproven_seconds",
    "How long the oldest record has waited for a checkpoint, without logs left after an incident; 0 where none waits.",
)
HEAD_AGE = measured(
    "gainsay_log_head_age_seconds",
    "The age of the latest head, of the log where it is oldest while records wait for more than 2 seconds; else 0.",
)
WITNESS_AGE = gauge(
    "gainsay_witness_age_seconds",
    "The age of the oldest head since the last one that the witness has countersigned; 0 where there is none.",
    {"witness": UNLISTED},
)
LOG_BATCHES = total("gainsay_log_batches_total", "Batches that this process added to the trees of logs.")
LOG_LEAVES = total("gainsay_log_leaves_total", "Leaves that this process added to the trees of logs.")
LOG_SIGN_SECONDS = Histogram(
    "gainsay_log_sign_seconds",
    "Time to have the checkpoint of a log signed and to store it.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15),
    registry=REGISTRY,
)
PROVABLE_SECONDS = Histogram(
    "gainsay_provable_seconds",
    "Time from when a record was durable until a checkpoint covered it, of records that this process sequenced.",
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60),
    registry=REGISTRY,
)
LOG_INCIDENTS = measured(
    "gainsay_log_incidents", "Open incidents: a log contradicts what was signed of it; anything above 0 needs a person."
)
WITNESS_FAILURES = total(
    "gainsay_witness_failures_total", "Checkpoints that were sent to a witness and that it did not countersign."
)
TIME_STAMP_FAILURES = total("gainsay_time_stamp_failures_total", "Requests for time stamps that gave none.")
TIME_STAMP_WAITING = measured(
    "gainsay_time_stamp_waiting_seconds", "The age of the oldest head that lacks a time stamp."
)
LOG_FINDINGS = total(
    "gainsay_log_check_findings_total",
    "Differences that were found when a log was recomputed in the background; anything above 0 is an incident.",
)
LOG_CHECKED = measured(
    "gainsay_log_check_timestamp_seconds", "When this process last finished recomputing a log, in seconds since 1970."
)
DAMAGED = counter(
    "gainsay_evidence_damaged_total",
    "Times that stored evidence was found that is not what was recorded, by what it is about.",
    {"subject": ("log", "debate", "row")},
)
DAMAGE_OPEN = gauge(
    "gainsay_evidence_damage_open",
    "Incidents of damaged evidence that no person has closed, by what they are about; anything above 0 needs a person.",
    {"subject": ("log", "debate", "row")},
)
ROWS_COMPARED = measured(
    "gainsay_rows_compared_timestamp_seconds",
    "When this process last ended a round of comparing rows with records, in seconds since 1970.",
)
READINGS = total("gainsay_content_readings_total", "Readings of the content of cases that a log has a record of.")
READINGS_WAITING = level("gainsay_content_readings_waiting", "Readings of the content of cases without a record yet.")
ACCESS_UNRECORDED = total(
    "gainsay_access_records_failed_total",
    "Tries to record who read the content of cases that wrote no record; they are repeated.",
)
ANSWERS_HELD = total("gainsay_answers_held_total", "Answers not given, because no checkpoint covered them in time.")
_KINDS = (
    "case.received gate.decided debate.started turn.asked turn.spoke turn.given attempt.failed "
    "turn.silent check.found budget.refused debate.stopped debate.concluded"
)
ENTRIES = counter("gainsay_entries_recorded_total", "Entries recorded durably.", {"kind": words(_KINDS)})
_RESULTS = words("delivered failed refused gone expired")
WEBHOOK_ATTEMPTS = counter("gainsay_webhook_attempts_total", "Attempts of webhooks.", {"result": _RESULTS})
WEBHOOKS_WAITING = measured("gainsay_webhook_messages_waiting", "Messages of webhooks that are still to be sent.")
WEBHOOKS_LATE = measured("gainsay_webhook_late_seconds", "How long the message of a webhook that waits longest is due.")
MONEY_HELD = measured(
    "gainsay_money_held_usd", "What running debates were allocated and have not spent, in US dollars."
)
TENANT_LEFT = gauge(
    "gainsay_tenant_limit_left_usd",
    "What is left of a tenant's limit, in US dollars; of other, the least that one of the other tenants has left.",
    {"tenant": UNLISTED, "period": PERIODS},
)
TENANT_SPENT = gauge(
    "gainsay_tenant_spent_usd", "What tenants with a limit have spent of the period, in US dollars.", TENANT_LEFT.known
)
TENANT_CONCLUDED = counter(
    "gainsay_tenant_debates_concluded_total",
    "Debates concluded, of tenants that GAINSAY_METRICS_TENANTS names and of all others.",
    {"tenant": UNLISTED, "status": ENDED},
)
RUNNING = level("gainsay_debates_running", "Debates that this process runs.")
QUEUED = measured("gainsay_debates_queued", "Debates that wait for a worker, of all processes.")
QUEUED_SECONDS = measured(
    "gainsay_debates_queued_seconds", "How long the first debate in the queue has waited, else 0."
)
UNCLAIMED = measured("gainsay_debates_left", "Debates under way whose worker is gone or released them.")
PROBE_SUCCESS = measured("gainsay_probe_success", "1 if the last probe was good, by what was recorded of it, else 0.")
PROBE_SUCCEEDED = measured(
    "gainsay_probe_last_success_timestamp_seconds", "When the last good probe ended, in seconds since 1970."
)
PROBE_SECONDS = measured("gainsay_probe_seconds", "How long the debate of the last probe took, or has taken.")
TAKEN = counter(
    "gainsay_debates_taken_total",
    "Debates that this process claimed: new ones, those whose lease was lost, those that a worker released.",
    {"how": ("new", "left", "returned")},
)
LOST = counter(
    "gainsay_attempts_lost_total",
    "Calls whose worker was gone before their replies were recorded; the whole reservation is charged.",
    {"model": MODELS},
)
