"""Every line that the service logs, declared once: its stable name, its level, its words and its fields.

    log_lines.DEBATE_LEFT(debate=debate, code=error.code)      a line
    log_lines.CLAIM_FAULT.raised()                             a line with the error that is being handled

What reads logs goes by the name, ``debate.left_unfinished``, which does not change; the words are for people. Fields
are ids, codes, numbers, and sentences of the service's own: never words of a case, a reply or a secret. `bound` gives
all lines of a request or debate its ids. How a line is written is decided in `service.cli.logs`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from logging import DEBUG, ERROR, INFO, WARNING
from types import MappingProxyType

LOG = logging.getLogger("gainsay")
EVENT = "event"
"""The attribute of a record that holds the name of its event."""
IDS = ("request", "tenant", "debate", "batch", "trace_id", "span_id")
"""The fields that `bound` may give to all lines of what it surrounds."""
EVERY: dict[str, LogLine] = {}
"""The events by their names."""
strict = False
"""Set in tests: a field that is not declared is a mistake in the code and raises; a line is never lost for it."""

_bound: ContextVar[Mapping[str, object]] = ContextVar("bound", default=MappingProxyType({}))


class LogLine:
    """One kind of line: ``words`` may name fields in braces, as `str.format` reads them."""

    def __init__(self, name: str, level: int, words: str, *fields: str) -> None:
        if name in EVERY:
            raise ValueError(f"expected a new event, found {name!r} for the second time")
        self.name, self.level, self.words, self.fields = name, level, words, fields
        EVERY[name] = self

    def __call__(self, **fields: object) -> None:
        """Log a line."""
        self._log(self.level, None, fields)

    def at(self, level: int, /, **fields: object) -> None:
        """Log a line at another level."""
        self._log(level, None, fields)

    def of(self, error: BaseException | None, /, **fields: object) -> None:
        """Log a line with an error."""
        self._log(self.level, error, fields)

    def raised(self, **fields: object) -> None:
        """Log a line with the error that is being handled."""
        self._log(self.level, sys.exc_info()[1], fields)

    def _log(self, level: int, error: BaseException | None, fields: Mapping[str, object]) -> None:
        if strict and (unknown := fields.keys() - {*self.fields}):
            raise ValueError(f"expected fields of {self.name} as service/log_lines.py declares them, found {unknown}")
        if LOG.isEnabledFor(level):
            LOG.log(level, self.words.format_map(fields), extra={EVENT: self.name, **fields}, exc_info=error)


def bound_fields() -> Mapping[str, object]:
    """The ids that `bound` gives to lines here."""
    return _bound.get()


def bind(**ids: object) -> None:
    """Give these ids to each line from here on, in this task and in those that begin in it."""
    _bound.set({**_bound.get(), **ids})


@contextmanager
def bound(**ids: object) -> Iterator[None]:
    """Give these ids to each line that is logged in the block, and in tasks that begin in it."""
    token = _bound.set({**_bound.get(), **{name: value for name, value in ids.items() if value is not None}})
    try:
        yield
    finally:
        _bound.reset(token)


# -- Processes

SPANS_LOST = LogLine("traces.spans_lost", WARNING, "spans of traces were lost: {why}", "why")
SPANS_FAULT = LogLine("traces.fault", ERROR, "a span could not be made")
MEMORY_OPEN = LogLine("process.memory_open", WARNING, "the memory of this process stays open", "errno")
STOPPED = LogLine("process.stopped", INFO, "stopped")
STOPPING = LogLine("process.stopping", INFO, "stopping: {signal}", "signal")
DRAINING = LogLine("process.draining", INFO, "stopping: not ready any more", "drain_s")
READY_AGAIN = LogLine("process.ready_again", WARNING, "ready again")
NOT_READY = LogLine("process.not_ready", WARNING, "not ready: {why}", "why")
STACKS = LogLine(
    "process.stacks",
    WARNING,
    "asked where it stands (SIGUSR1): {tasks} tasks, {threads} threads",
    "tasks",
    "threads",
    "left_out",
)
TASK_STACK = LogLine("process.task_stack", WARNING, "{count} tasks stand here", "count", "names", "at")
THREAD_STACK = LogLine("process.thread_stack", WARNING, "a thread stands here", "count", "names", "at")

SERVING = LogLine("process.serving", INFO, "serving on {address}", "address", "what")
SEQUENCING = LogLine("process.sequencing", INFO, "sequencing", "address")
TAKING = LogLine("process.taking_debates", INFO, "taking debates from the queue", "address")
SERVING_MCP = LogLine("process.serving_mcp", INFO, "serving MCP on {address} for {of}", "address", "of")
TOKEN_UNUSED = LogLine(
    "process.token_unused", WARNING, "GAINSAY_TOKEN is not used: every caller shows its own credential"
)
WITNESSING = LogLine(
    "process.witnessing",
    INFO,
    "witness on {address}/add-checkpoint, remembering the heads of {heads} logs",
    "address",
    "heads",
)
SIGNING = LogLine(
    "process.signing", INFO, "signer on {address}, remembering the heads of {heads} logs", "address", "heads"
)
NO_IDENTITY = LogLine(
    "process.no_identity",
    WARNING,
    "no identity is configured (GAINSAY_IDENTITY): callers are not authenticated, and only this machine is answered",
)
NO_SEQUENCER = LogLine("process.no_sequencer", WARNING, "no sequencer here ({missing}): run one elsewhere", "missing")
ENDED = LogLine("process.ended_by_error", ERROR, "{code}: {detail}", "code", "detail", "pointers")

CONFIGURATION_TAKEN = LogLine(
    "configuration.taken",
    INFO,
    "a new configuration is in force: {configuration}, policy version {policy}",
    "configuration",
    "policy",
    "before",
)
CONFIGURATION_REFUSED = LogLine(
    "configuration.refused",
    ERROR,
    "the files of the configuration have changed and are not taken, {configuration} stays in force: {reason}",
    "configuration",
    "reason",
    "result",
)
CONFIGURATION_AS_BEFORE = LogLine(
    "configuration.as_before", INFO, "the files say again what is in force: {configuration}", "configuration"
)
CONFIGURATION_UNCHANGED = LogLine(
    "configuration.unchanged", INFO, "asked to look (SIGHUP): {configuration} is in force as before", "configuration"
)
CONFIGURATION_FAULT = LogLine("configuration.fault", ERROR, "a look at the files of the configuration ended in a fault")

# -- PostgreSQL

NOTICES_RECOVERED = LogLine("database.notices_recovered", WARNING, "recovered: notifications of other processes arrive")
NOTICES_AWAY = LogLine(
    "database.notices_away",
    WARNING,
    "no notifications of other processes arrive ({why}), so this process polls twice a second; if this persists, let "
    "the database's address lead to PostgreSQL itself, or to a session pooler",
    "why",
)
NOTICES_FAULT = LogLine("database.notices_fault", ERROR, "notifications cannot be received because of a fault")
METER_FAULT = LogLine("metrics.fault", ERROR, "a measurement ended by a fault and begins again", "meter")
DATABASE_BACK = LogLine("database.back", WARNING, "the database answers again", "at")
DATABASE_AWAY = LogLine("database.away", ERROR, "the database does not answer: {why}", "why", "at", "code")
DATABASE_TLS = LogLine(
    "database.weak_tls", WARNING, "the address of a database names a weaker TLS than verify-full", "at", "sslmode"
)
DATABASE_WAITED_FOR = LogLine(
    "database.waited_for", WARNING, "waiting, at most {left_s:.0f} s more: {code}: {detail}", "left_s", "code", "detail"
)

# -- Secrets

SECRET_DOUBTFUL = LogLine("secret.doubtful", WARNING, "{detail}", "detail", "setting")
SECRET_REPLACED = LogLine("secret.replaced", INFO, "a secret was replaced", "setting")
SECRET_UNREADABLE = LogLine(
    "secret.unreadable", ERROR, "a secret cannot be read again; the last one stays in use", "setting", "reason"
)

# -- Identities

KEY_USE_LOST = LogLine(
    "identity.key_use_not_kept", WARNING, "the last use of a key is not kept: {detail}", "detail", "code"
)
PROVIDER_KEYS_AWAY = LogLine(
    "identity.provider_keys_away", WARNING, "the keys of an identity provider could not be fetched", "provider", "why"
)

# -- Requests

REFUSED_UNREAD = LogLine("http.refused_unread", DEBUG, "refused unread", "request", "trace_id", "code")
ANSWER_CUT = LogLine("http.answer_cut", ERROR, "a long answer was cut", "request", "what", "code")
RATES_ALONE = LogLine("http.rates_alone", WARNING, "rates are kept by each process alone: {detail}", "detail", "code")
REQUEST = LogLine(
    "http.request",
    INFO,
    "{method} {route} {status}",
    "request",
    "trace_id",
    "span_id",
    "tenant",
    "method",
    "route",
    "status",
    "ms",
    "debate",
)
REQUEST_FAILED = LogLine("http.request_failed", ERROR, "request failed: {detail}", "request", "code", "detail", "cause")
REQUEST_FAULT = LogLine("http.request_fault", ERROR, "request failed", "request", "code", "cause")
ANSWER_HELD = LogLine("http.answer_held", WARNING, "request failed: {detail}", "request", "code", "detail", "cause")

# -- Streams

FEED_FAULT = LogLine(
    "stream.feed_fault", ERROR, "what is followed cannot be read because of a fault", "debate", "evaluation"
)
LISTENERS_UNRECORDED = LogLine(
    "stream.listeners_not_recorded",
    WARNING,
    "listeners are not recorded: other processes may take them for gone",
    "code",
)
POLL_FAULT = LogLine("stream.poll_fault", ERROR, "debates cannot be polled because of a fault")
COMPLETION_CUT = LogLine("stream.completion_cut", WARNING, "chat completion cut", "request", "debate", "code")
STREAM_SLOW = LogLine(
    "stream.slow", WARNING, "event stream cut: the listener does not read it", "request", "debate", "evaluation"
)
STREAM_CUT = LogLine("stream.cut", WARNING, "event stream cut", "request", "debate", "evaluation", "code")

# -- Debates

DISCONNECT_ABORT_LATE = LogLine(
    "debate.disconnect_abort_late", WARNING, "abort after disconnect delayed", "debate", "code"
)
DEBATE_LOST = LogLine("debate.claimed_elsewhere", WARNING, "debate claimed by another worker", "debate")
DEBATE_ADRIFT = LogLine(
    "debate.log_left",
    WARNING,
    "the debate's log has lost records and its tenant has left it, so the debate ends as failed, without further calls",
    "debate",
)
DEBATE_ENDED = LogLine(
    "debate.ended",
    INFO,
    "debate ended: {status}",
    "status",
    "stop_reason",
    "task_type",
    "format",
    "confidence",
    "human_review",
    "cost_usd",
)
DEBATE_CLAIMED = LogLine(
    "debate.claimed_from_lost",
    WARNING,
    "debate claimed from a worker that was lost",
    "debate",
    "calls_lost",
    "charged_usd",
)
DEBATE_TASK_FAULT = LogLine("debate.task_fault", ERROR, "debate left unfinished because of a fault")
DEBATE_LEFT = LogLine("debate.left_unfinished", ERROR, "debate left unfinished", "debate", "code")
DEBATE_FAULT = LogLine("debate.fault", ERROR, "debate left unfinished because of a fault", "debate")
DEBATE_NOT_FAILED = LogLine("debate.not_ended_as_failed", ERROR, "debate could not be ended as failed", "debate")

# -- Workers

WORKER_DRAINING = LogLine("worker.draining", INFO, "claiming no more debates", "running", "grace_s")
WORKER_STOPPED = LogLine("worker.stopped", INFO, "the worker has stopped", "handed_back")
LEASES_FAULT = LogLine("worker.leases_fault", ERROR, "the leases were not renewed because of a fault")
WORKER_STARTED = LogLine("worker.started", INFO, "claiming debates", "worker", "host", "pid")
CLAIM_FAULT = LogLine("worker.claim_fault", ERROR, "no debate can be claimed because of a fault")

# -- Checks

CHECKS_REPLACED = LogLine("checks.process_replaced", WARNING, "the process that checks long texts is replaced", "why")

# -- Vendors

ADAPTER_FAULT = LogLine("provider.adapter_fault", ERROR, "a provider's adapter failed", "model", "fault", "place")

# -- Records

NOT_RECORDED = LogLine("audit.not_recorded", WARNING, "not recorded: {detail}", "detail", "code")
DECISION_UNREADABLE = LogLine(
    "audit.decision_unreadable", WARNING, "no decision can be read from these entries: {why}", "why"
)

# -- Readings of cases

READINGS_UNFINISHED = LogLine(
    "access.readings_unfinished", ERROR, "the last readings of cases were not recorded in time"
)
READINGS_LOST = LogLine("access.readings_lost", ERROR, "readings of cases were not recorded", "readings")
READINGS_WAIT = LogLine(
    "access.readings_wait", WARNING, "readings of cases are not recorded yet", "tenant", "readings", "code"
)

# -- Proofs

PROOF_LATE = LogLine(
    "proof.late",
    ERROR,
    "{records} records are durable and not provable, the oldest for {seconds:.0f} seconds, and answers are held; check "
    "that a sequencer runs, and what its log says about its signer",
    "records",
    "seconds",
    "code",
)
PROOF_IN_TIME = LogLine("proof.in_time", WARNING, "recovered: records become provable in time")

# -- The sequencer

SEQUENCER_TROUBLE = LogLine("sequencer.trouble", ERROR, "{detail}", "detail", "who", "code")
SEQUENCER_REREADS = LogLine("sequencer.log_read_again", INFO, "reading a log again", "log", "code")
SEQUENCER_FAULT = LogLine("sequencer.fault", ERROR, "a log was not sequenced because of a fault", "log")
STAGED_TWICE = LogLine("sequencer.record_staged_twice", WARNING, "a record was staged for the second time", "log")
SEQUENCER_RECOVERED = LogLine("sequencer.recovered", WARNING, "recovered", "who")
SIGNER_TAUGHT = LogLine(
    "sequencer.signer_reminded",
    WARNING,
    "the signer had forgotten a head that a witness vouches for, and has it again",
    "log",
    "size",
)

# -- The signer

HEAD_REFUSED = LogLine("signer.head_refused", ERROR, "a head was refused", "origin", "reason")

# -- Witnesses

WITNESS_FAULT = LogLine("witness.fault", ERROR, "a witness was not asked because of a fault")
WITNESS_CONTRADICTION = LogLine(
    "witness.contradiction", ERROR, "a log contradicts itself", "origin", "size", "reason", "checkpoint"
)

# -- Time stamps

STAMP_FAULT = LogLine("timestamp.fault", ERROR, "a head was not stamped because of a fault")

# -- Integrity

ROWS_UNCHECKED = LogLine("integrity.rows_not_compared", WARNING, "rows cannot be compared with records", "code")
ROWS_FAULT = LogLine("integrity.rows_fault", ERROR, "rows cannot be compared with records because of a fault")
LOG_FINDING = LogLine("integrity.log_finding", ERROR, "the log contradicts itself", "log", "finding")
LOGS_UNCHECKED = LogLine("integrity.logs_not_checked", WARNING, "the logs cannot be recomputed", "code")
LOGS_FAULT = LogLine("integrity.logs_fault", ERROR, "the logs cannot be recomputed because of a fault")
LOG_INCIDENT = LogLine("integrity.log_incident", ERROR, "incident: a log contradicts its checkpoints", "log", "what")
DAMAGE = LogLine(
    "integrity.damage", ERROR, "incident: stored evidence is not what was recorded", "log", "debate", "place", "what"
)
DAMAGE_UNRECORDED = LogLine(
    "integrity.damage_not_recorded",
    ERROR,
    "damaged evidence, and its incident is not recorded",
    "log",
    "debate",
    "place",
    "what",
    "code",
)
LOGS_CHECK_FAILED = LogLine("integrity.logs_check_failed", ERROR, "the logs cannot be recomputed", "code")

# -- Batches

BATCH_ENDED = LogLine("batch.ended", INFO, "batch ended", "batch")
BATCH_WAITS = LogLine("batch.waits", WARNING, "a batch waits: {detail}", "detail", "code", "batch")
BATCH_FAULT = LogLine("batch.fault", ERROR, "a batch cannot be fed because of a fault", "batch")
BATCH_ABORT_FAULT = LogLine(
    "batch.abort_fault", ERROR, "a debate of a batch cannot be aborted because of a fault", "batch", "debate"
)
BATCH_LINE_FAULT = LogLine("batch.line_fault", ERROR, "a line cannot be recorded", "batch", "line")
BATCHES_WAIT = LogLine("batch.database_away", WARNING, "batches wait: {detail}", "detail", "code")
BATCHES_GO_ON = LogLine("batch.database_back", WARNING, "the database answers again, and batches go on")
BATCHES_FAULT = LogLine("batch.feed_fault", ERROR, "no batch can be fed because of a fault")

# -- Evaluations

EVALUATION_CONCLUDED = LogLine("evaluation.concluded", INFO, "evaluation concluded: {finding}", "finding", "evaluation")
EVALUATION_STOPPED = LogLine("evaluation.stopped", WARNING, "an evaluation was stopped by {by}", "by", "evaluation")
EVALUATION_WAITS = LogLine("evaluation.waits", WARNING, "an evaluation waits: {detail}", "detail", "code", "evaluation")
EVALUATION_FAULT = LogLine("evaluation.fault", ERROR, "an evaluation cannot go on because of a fault", "evaluation")
EVALUATIONS_WAIT = LogLine("evaluation.database_away", WARNING, "evaluations wait: {detail}", "detail", "code")
EVALUATIONS_GO_ON = LogLine("evaluation.database_back", WARNING, "the database answers again, and evaluations go on")
EVALUATIONS_FAULT = LogLine("evaluation.feed_fault", ERROR, "no evaluation can go on because of a fault")

# -- Webhooks

WEBHOOK_ATTEMPT_FAULT = LogLine("webhook.attempt_fault", ERROR, "an attempt of a webhook failed unforeseen")
WEBHOOK_GONE = LogLine(
    "webhook.gone", WARNING, "a webhook is disabled: its receiver answered 410", "webhook", "delivery", "attempts"
)
WEBHOOK_EXPIRED = LogLine(
    "webhook.expired",
    ERROR,
    "a webhook message has expired: it was not taken in time",
    "webhook",
    "delivery",
    "attempts",
    "reason",
)
WEBHOOK_REFUSED = LogLine(
    "webhook.not_taken",
    WARNING,
    "a webhook was not taken; it is sent again",
    "webhook",
    "delivery",
    "attempts",
    "reason",
)
WEBHOOK_UNRECORDED = LogLine(
    "webhook.attempt_not_recorded",
    WARNING,
    "an attempt of a webhook was not recorded; it is made again",
    "webhook",
    "delivery",
    "code",
)
WEBHOOK_NOT_DISABLED = LogLine("webhook.not_disabled", WARNING, "a webhook was not disabled", "webhook", "code")
WEBHOOKS_FAULT = LogLine("webhook.fault", ERROR, "no webhook can be sent because of a fault")
WEBHOOKS_WAIT = LogLine("webhook.database_away", WARNING, "webhooks wait for the database", "code")

# -- MCP

TOOL_FAILED = LogLine("mcp.tool_failed", ERROR, "a tool failed", "tool")
TOOL_NOT_ABORTED = LogLine("mcp.debate_not_aborted", WARNING, "a cancelled debate was not aborted", "debate", "code")

# -- Metrics

LABEL_UNDECLARED = LogLine("metrics.label_undeclared", ERROR, "undeclared label value", "metric", "label", "value")
