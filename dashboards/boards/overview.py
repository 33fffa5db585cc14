"""The overview: is it there, what do callers see, what waits."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.boards.layout import FORMAT as FORMATS
from dashboards.boards.layout import TASK_TYPE, Row, laid_out, line
from dashboards.boards.panels import Asked, above, below, graph, heat, number
from dashboards.boards.promql import (
    FORMAT,
    JOBS,
    RATE,
    TASK,
    age,
    buckets,
    counted,
    increase,
    least,
    most,
    quantile,
    rate,
    series,
    total,
)

REQUESTS = "gainsay_http_requests_total"
SECONDS = "gainsay_http_request_seconds"
CALLERS = 'route=~"/v1/.+"'
"""What callers ask; machines ask for metrics and probes, and processes each other for signatures."""
CLASSES = (("2..", "2xx"), ("3..", "3xx"), ("4..|0", "4xx or cut off"), ("5..", "5xx"))
ERRORS = 'status=~"5.."'


def overview() -> Dashboard:
    """The dashboard to open first."""
    says = "Whether the service is there, what its callers see, and what waits. Open this one first."
    rows = (_there(), _objectives(), _probe(), _http(), _bounds(), _queue(), _leases(), _webhooks())
    return laid_out("gainsay-overview", says, "6h", (TASK_TYPE, FORMATS), rows)


def _there() -> Row:
    up = {"1": ("up", "green"), "0": ("away", "red")}
    return Row(
        "Is it there",
        (
            line(
                6,
                number(
                    "Processes that answer",
                    "Processes that Prometheus could scrape, by job. A job that is missing here is not scraped at all.",
                    "short",
                    Asked(total("up", JOBS, by="job"), "{{job}}"),
                    steps=below(1),
                    none="nothing scraped",
                ),
                number(
                    "Processes that do not",
                    "Processes that Prometheus knows and could not scrape. More than 0 means that one is down or cut "
                    "off.",
                    "short",
                    Asked(f"sum(1 - {series('up', JOBS)})", "down"),
                    steps=above(1),
                    none="nothing scraped",
                ),
                number(
                    "Database",
                    "Whether every process reaches PostgreSQL. While one does not, cases are refused and nothing is "
                    "recorded.",
                    "short",
                    Asked(f"min({series('gainsay_database_up')})", "database"),
                    steps=below(1),
                    words=up,
                ),
                number(
                    "Last probe",
                    "The result of the last debate that the prober ran through the whole service. A failure means that "
                    "callers "
                    "fail too.",
                    "short",
                    Asked(least("gainsay_probe_success"), "probe"),
                    steps=below(1),
                    words={"1": ("passed", "green"), "0": ("failed", "red")},
                    none="no probe, or no data",
                ),
                number(
                    "Since a probe passed",
                    "Time since a probe last passed. Much more than the interval of your CronJob means that probes "
                    "fail or do "
                    "not run.",
                    "s",
                    Asked(age("gainsay_probe_last_success_timestamp_seconds"), "age"),
                    steps=above(3600, 1800),
                    none="no probe, or no data",
                    decimals=0,
                ),
                number(
                    "Open incidents",
                    "Incidents of logs and of damaged evidence that no person has closed. Anything above 0 needs a "
                    "person now.",
                    "short",
                    Asked(counted("gainsay_log_incidents"), "log"),
                    Asked(f"sum ({most('gainsay_evidence_damage_open', by='namespace, subject')})", "damage"),
                    steps=above(1),
                ),
            ),
        ),
    )


def _probe() -> Row:
    return Row(
        "The prober",
        (
            line(
                5,
                graph(
                    "Probes",
                    "1 where the last probe passed and 0 where it failed. A gap means that none was recorded yet.",
                    "short",
                    Asked(least("gainsay_probe_success"), "passed"),
                    steps=below(1),
                    high=1,
                ),
                graph(
                    "Time of a probe",
                    "How long the last probe took, from its case to its checked proof. It rises before callers "
                    "complain.",
                    "s",
                    Asked(most("gainsay_probe_seconds"), "last probe"),
                    steps=above(60, 20),
                ),
            ),
        ),
    )


def _objectives() -> Row:
    events, bad = "gainsay:slo_events:increase30d", "gainsay:slo_bad:increase30d"
    return Row(
        "Objectives (docs/slo.md)",
        (
            line(
                6,
                graph(
                    "Error budget left, of 30 days",
                    "The share of each objective's error budget that is left. Below 0 the objective is missed.",
                    "percentunit",
                    Asked(series("gainsay:slo_budget_left:ratio30d"), "{{slo}}"),
                    steps=below(0.25, 0),
                    low=-1,
                    high=1,
                ),
                graph(
                    "Events and bad events, of 30 days",
                    "What the objectives count, and how many of these were bad. With few events the budget moves in "
                    "large steps.",
                    "short",
                    Asked(f"sum by (slo) ({series(events)})", "{{slo}}"),
                    Asked(f"sum by (slo) ({series(bad)})", "{{slo}}, bad"),
                ),
            ),
        ),
    )


def _http() -> Row:
    every = rate(REQUESTS, CALLERS)
    return Row(
        "What callers see (HTTP)",
        (
            line(
                7,
                graph(
                    "Requests by status",
                    "Requests of callers in a second. 5xx are ours, 4xx the callers'; a cut may be either's.",
                    "reqps",
                    *(Asked(rate(REQUESTS, CALLERS, f'status=~"{codes}"'), name) for codes, name in CLASSES),
                    stacked=True,
                ),
                graph(
                    "Share of errors",
                    "The share of requests that were answered with 5xx. The objective of cases allows 0.5 %.",
                    "percentunit",
                    Asked(f"{rate(REQUESTS, CALLERS, ERRORS)} / {every}", "errors"),
                    steps=above(0.005, 0.001),
                ),
                graph(
                    "Time to answer",
                    "What half, 95 % and 99 % of the answers stay below, without streams and without callers who asked "
                    "to wait.",
                    "s",
                    *(Asked(quantile(q, SECONDS, CALLERS), f"p{q * 100:.0f}") for q in (0.5, 0.95, 0.99)),
                    steps=above(1),
                ),
            ),
            line(
                8,
                heat(
                    "Time to answer, distribution",
                    "How many requests took how long. A second band above the first one is a part of the traffic that "
                    "is slow.",
                    "s",
                    buckets(SECONDS, CALLERS),
                ),
                graph(
                    "Slowest routes (p95)",
                    "The five routes whose slowest one in twenty answers take longest. A report as PDF takes a second "
                    "or more.",
                    "s",
                    Asked(f"topk(5, {quantile(0.95, SECONDS, CALLERS, by='method, route')})", "{{method}} {{route}}"),
                    steps=above(5),
                ),
            ),
        ),
    )


def _bounds() -> Row:
    return Row(
        "Saturation at the door",
        (
            line(
                7,
                graph(
                    "Refused unread, by bound",
                    "Requests and connections refused before they were read. A steady line means that a bound is too "
                    "low or a "
                    "caller too fast.",
                    "ops",
                    Asked(rate("gainsay_http_refused_total", by="reason"), "{{reason}}"),
                ),
                graph(
                    "Cases refused, by what was short",
                    "Cases refused for a tenant's money, a full queue or too many requests. tenantDay and tenantMonth "
                    "are money.",
                    "ops",
                    Asked(rate("gainsay_submissions_refused_total", by="limit"), "{{limit}}"),
                ),
                graph(
                    "Cases in line and streams open",
                    "Requests with cases that wait to be read, and open event streams. A line that does not fall means "
                    "too few "
                    "API processes.",
                    "short",
                    Asked(total("gainsay_submissions_in_line"), "cases in line"),
                    Asked(total("gainsay_http_event_streams"), "event streams"),
                ),
                graph(
                    "Streams cut and cases sent again",
                    "Event streams that ended before their debate (slow readers, errors, stops), and cases that came "
                    "again under "
                    "their key.",
                    "ops",
                    Asked(rate("gainsay_http_event_streams_cut_total", by="reason"), "cut: {{reason}}"),
                    Asked(rate("gainsay_idempotent_requests_total", by="result"), "again: {{result}}"),
                ),
            ),
            line(
                7,
                graph(
                    "Authentications",
                    "How callers showed who they are, and whether it held. Many refusals from one moment on are an "
                    "expired key or "
                    "an attack.",
                    "ops",
                    Asked(rate("gainsay_authentications_total", by="way, result"), "{{way}}: {{result}}"),
                ),
                graph(
                    "Answers held",
                    "Answers that were not given because no checkpoint covered them in time. Look at sequencer and "
                    "signer.",
                    "ops",
                    Asked(rate("gainsay_answers_held_total"), "held"),
                    steps=above(0.01),
                ),
            ),
        ),
    )


def _queue() -> Row:
    taken = "gainsay_debate_queue_seconds"
    whole = "gainsay_debate_seconds"
    return Row(
        "Debates and their queue",
        (
            line(
                7,
                graph(
                    "Debates that wait and that run",
                    "Debates in the queue of all processes, and those under way. A queue that only grows needs more "
                    "workers.",
                    "short",
                    Asked(counted("gainsay_debates_queued"), "queued"),
                    Asked(total("gainsay_debates_running"), "running"),
                    Asked(counted("gainsay_batches_open", by="state"), "batches {{state}}"),
                ),
                graph(
                    "Age of the queue",
                    "How long the first debate in the queue has waited. Above a minute, workers are missing or stuck.",
                    "s",
                    Asked(most("gainsay_debates_queued_seconds"), "oldest"),
                    steps=above(300, 60),
                ),
                graph(
                    "Debates begun and ended",
                    "Debates begun, and ended by status. failed and aborted ones gave no answer; truncated ones ran "
                    "out of money "
                    "or time.",
                    "ops",
                    Asked(rate("gainsay_debates_started_total", TASK, FORMAT), "begun"),
                    Asked(rate("gainsay_debates_concluded_total", TASK, FORMAT, by="status"), "{{status}}"),
                ),
            ),
            line(
                7,
                heat(
                    "Time in the queue",
                    "How long debates waited for a worker. It should stay in the lowest rows.",
                    "s",
                    buckets(taken),
                ),
                heat(
                    "Time to a decision",
                    "From the case until the end of its debate. Minutes are normal with real models.",
                    "s",
                    buckets(whole, TASK, FORMAT),
                ),
                graph(
                    "Time to a decision, p50 and p95",
                    "What half and 95 % of the debates stay below, by format. Ten minutes is the objective.",
                    "s",
                    Asked(quantile(0.5, whole, TASK, FORMAT, by="format"), "{{format}} p50"),
                    Asked(quantile(0.95, whole, TASK, FORMAT, by="format"), "{{format}} p95"),
                    steps=above(600),
                ),
            ),
            line(
                6,
                graph(
                    "Why debates ended",
                    "Debates by why they stopped. budget, deadline, seatSilent, auditUnavailable and fault are worth a "
                    "look each.",
                    "ops",
                    Asked(rate("gainsay_debates_concluded_total", TASK, FORMAT, by="stop_reason"), "{{stop_reason}}"),
                    stacked=True,
                ),
                graph(
                    "Lines of batches settled",
                    "Lines of batches that became debates or were refused. Many refused lines are a faulty file or an "
                    "empty limit.",
                    "ops",
                    Asked(rate("gainsay_batch_lines_total", by="result"), "{{result}}"),
                ),
            ),
        ),
    )


def _leases() -> Row:
    return Row(
        "Leases",
        (
            line(
                6,
                graph(
                    "Debates claimed, by how",
                    "new from the queue, left by a worker that is gone, or returned by one that stopped. left means "
                    "that a "
                    "worker died.",
                    "ops",
                    Asked(rate("gainsay_debates_taken_total", by="how"), "{{how}}"),
                ),
                graph(
                    "Debates that no worker holds",
                    "Debates under way whose worker is gone. More than 0 for longer than a lease means that no worker "
                    "takes them.",
                    "short",
                    Asked(counted("gainsay_debates_left"), "left"),
                    steps=above(1),
                ),
                graph(
                    "Calls lost with their worker",
                    "Calls whose worker was gone before the reply was recorded. Each is charged in full, so each is "
                    "money lost.",
                    "ops",
                    Asked(f"sum by (model) (rate({series('gainsay_attempts_lost_total')}[{RATE}]))", "{{model}}"),
                    steps=above(0.01),
                ),
            ),
        ),
    )


def _webhooks() -> Row:
    return Row(
        "Webhooks",
        (
            line(
                6,
                graph(
                    "Attempts by result",
                    "Messages that receivers took, or did not. gone and refused come from the receiver's own settings.",
                    "ops",
                    Asked(rate("gainsay_webhook_attempts_total", by="result"), "{{result}}"),
                ),
                graph(
                    "Messages that wait",
                    "Messages still to be sent, those in a pause between attempts as well.",
                    "short",
                    Asked(counted("gainsay_webhook_messages_waiting"), "waiting"),
                ),
                graph(
                    "How late the latest is",
                    "How long the message that waits longest is due. Above a few minutes the senders cannot keep up.",
                    "s",
                    Asked(most("gainsay_webhook_late_seconds"), "late"),
                    steps=above(600, 120),
                ),
                number(
                    "Messages given up",
                    "Messages that expired or whose receiver is gone, in the time shown. Their receivers have missed "
                    "something.",
                    "short",
                    Asked(increase("gainsay_webhook_attempts_total", 'result=~"expired|gone"'), "given up"),
                    steps=above(1),
                    decimals=0,
                ),
            ),
        ),
    )
