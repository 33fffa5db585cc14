"""Audit and integrity: whether records are written, proven, witnessed, checked and whole."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.boards.layout import Row, laid_out, line
from dashboards.boards.panels import Asked, above, graph, heat, number
from dashboards.boards.promql import RATE, age, buckets, counted, increase, most, quantile, rate, series


def integrity() -> Dashboard:
    """The dashboard of the record that proves itself."""
    says = "Whether records are written, proven, witnessed, checked and whole. A red figure on top needs a person."
    rows = (_now(), _proving(), _writing(), _witnesses(), _checks(), _access())
    return laid_out("gainsay-integrity", says, "6h", (), rows)


def _now() -> Row:
    return Row(
        "Anything but green needs a person",
        (
            line(
                4,
                number(
                    "Open incidents of logs",
                    "A log contradicts what was signed of it. This is the gravest alarm of the service: stop, keep, "
                    "call.",
                    "short",
                    Asked(counted("gainsay_log_incidents"), "incidents"),
                    steps=above(1),
                ),
                number(
                    "Open damage",
                    "Stored evidence that is not what was recorded, and that no person has closed, by what it is "
                    "about.",
                    "short",
                    Asked(counted("gainsay_evidence_damage_open", by="subject"), "{{subject}}"),
                    steps=above(1),
                ),
                number(
                    "Differences found",
                    "Differences that were found when logs were recomputed, in the time shown. Anything above 0 is an "
                    "incident.",
                    "short",
                    Asked(increase("gainsay_log_check_findings_total"), "differences"),
                    steps=above(0.5),
                    decimals=0,
                ),
                number(
                    "Records not written",
                    "Records that could not be written, and cases refused for it, in the time shown. Look at "
                    "PostgreSQL.",
                    "short",
                    Asked(increase("gainsay_audit_append_failures_total"), "failures"),
                    steps=above(0.5),
                    decimals=0,
                ),
                number(
                    "Reads without a record",
                    "Accesses whose record could not be written, in the time shown. The proof of who looked has a gap.",
                    "short",
                    Asked(increase("gainsay_access_records_failed_total"), "failures"),
                    steps=above(0.5),
                    decimals=0,
                ),
                number(
                    "Unpinned prompts",
                    "Calls not made because a prompt did not match its pin, in the time shown. A file has changed.",
                    "short",
                    Asked(increase("gainsay_prompt_mismatches_total"), "mismatches"),
                    steps=above(0.5),
                    decimals=0,
                ),
            ),
        ),
    )


def _proving() -> Row:
    provable = "gainsay_provable_seconds"
    return Row(
        "Proof",
        (
            line(
                7,
                graph(
                    "Age of the oldest head with records waiting",
                    "Time since a log was last signed while records wait, else 0. Above 30 seconds sequencer or signer "
                    "is away; above two minutes a person is called.",
                    "s",
                    Asked(most("gainsay_log_head_age_seconds"), "head"),
                    Asked(most("gainsay_log_unproven_seconds"), "oldest unproven record"),
                    steps=above(120, 30),
                ),
                graph(
                    "Records that wait for a checkpoint",
                    "Records that are durable and not yet provable. It should fall to 0 within seconds.",
                    "short",
                    Asked(counted("gainsay_log_unproven_records"), "unproven"),
                ),
                graph(
                    "Time until provable (p95, p99)",
                    "How long records were durable before a checkpoint covered them. Ten seconds is the objective.",
                    "s",
                    Asked(quantile(0.95, provable), "p95"),
                    Asked(quantile(0.99, provable), "p99"),
                    steps=above(10),
                ),
            ),
            line(
                8,
                heat(
                    "Time until provable, distribution",
                    "How many records became provable after how long. Cells above ten seconds miss the objective.",
                    "s",
                    buckets(provable),
                ),
                heat(
                    "Time to sign",
                    "How long the signer took for a checkpoint, with storing it. A band that moves up is a slow signer "
                    "or disk.",
                    "s",
                    buckets("gainsay_log_sign_seconds"),
                ),
                graph(
                    "Leaves and batches",
                    "Records added to the trees of logs, and batches of them, in a second. No batches while records "
                    "wait is bad.",
                    "ops",
                    Asked(rate("gainsay_log_leaves_total"), "leaves"),
                    Asked(rate("gainsay_log_batches_total"), "batches"),
                ),
            ),
        ),
    )


def _writing() -> Row:
    return Row(
        "Writing records",
        (
            line(
                7,
                graph(
                    "Entries recorded, by kind",
                    "Entries that were recorded durably, in a second. attempt.failed and turn.silent should be thin.",
                    "ops",
                    Asked(rate("gainsay_entries_recorded_total", by="kind"), "{{kind}}"),
                    stacked=True,
                ),
                heat(
                    "Time to record",
                    "From handing entries over until they are committed. A band that moves up is PostgreSQL or its "
                    "disk.",
                    "s",
                    buckets("gainsay_append_seconds"),
                ),
                graph(
                    "Failures to record",
                    "Records that could not be written. Any line above 0 means cases that were refused.",
                    "ops",
                    Asked(rate("gainsay_audit_append_failures_total"), "records"),
                    Asked(rate("gainsay_access_records_failed_total"), "records of access"),
                    steps=above(0.001),
                ),
            ),
        ),
    )


def _witnesses() -> Row:
    return Row(
        "Witnesses and time stamps",
        (
            line(
                7,
                graph(
                    "Age of heads without a witness",
                    "How long the oldest head waits for this witness, 0 if none does. Above a quarter of an "
                    "hour the witness is away, and bundles are UNWITNESSED.",
                    "s",
                    Asked(most("gainsay_witness_age_seconds", by="witness"), "{{witness}}"),
                    steps=above(900, 300),
                ),
                graph(
                    "Refusals of witnesses",
                    "Checkpoints that a witness did not countersign. A single one may be a network; many are a witness "
                    "that "
                    "disagrees.",
                    "ops",
                    Asked(rate("gainsay_witness_failures_total"), "not countersigned"),
                    steps=above(0.1),
                ),
                graph(
                    "Time stamps",
                    "The age of the oldest head that lacks a time stamp, where policy asks for any. Above a day the "
                    "authority is "
                    "away.",
                    "s",
                    Asked(most("gainsay_time_stamp_waiting_seconds"), "waiting"),
                    steps=above(86400, 7200),
                ),
                graph(
                    "Requests for time stamps that gave none",
                    "Requests that the authority did not answer with a valid time stamp.",
                    "ops",
                    Asked(rate("gainsay_time_stamp_failures_total"), "failed"),
                    steps=above(0.01),
                ),
            ),
        ),
    )


def _checks() -> Row:
    return Row(
        "Checks and damage",
        (
            line(
                7,
                graph(
                    "Since logs were last recomputed",
                    "Time since a process last recomputed a log. Much above check_minutes of the policy, checks have "
                    "stopped.",
                    "s",
                    Asked(age("gainsay_log_check_timestamp_seconds"), "logs"),
                    steps=above(7200),
                ),
                graph(
                    "Since rows were last compared",
                    "Time since a process last ended a round of comparing rows with records. A round takes longer as "
                    "tables grow.",
                    "s",
                    Asked(age("gainsay_rows_compared_timestamp_seconds"), "rows"),
                    steps=above(172800, 86400),
                ),
                graph(
                    "Damage found",
                    "When stored evidence was found not to be what was recorded. Each find stops the answer.",
                    "short",
                    Asked(increase("gainsay_evidence_damaged_total", by="subject", window=RATE), "{{subject}}"),
                    steps=above(0.5),
                ),
                graph(
                    "Differences found",
                    "When differences were found as logs were recomputed. Anything above 0 is an incident.",
                    "short",
                    Asked(increase("gainsay_log_check_findings_total", window=RATE), "logs"),
                    steps=above(0.5),
                ),
            ),
        ),
    )


def _access() -> Row:
    waiting = series("gainsay_content_readings_waiting")
    return Row(
        "Who looked",
        (
            line(
                6,
                graph(
                    "Readings of content",
                    "Readings of the content of cases that a log has a record of, in a second.",
                    "ops",
                    Asked(f"sum(rate({series('gainsay_content_readings_total')}[{RATE}]))", "recorded"),
                ),
                graph(
                    "Readings that wait for their record",
                    "Readings without a record yet. They should be recorded within seconds.",
                    "short",
                    Asked(f"sum({waiting})", "waiting"),
                    steps=above(1000, 100),
                ),
                graph(
                    "Answers held for their proof",
                    "When answers were not given because no checkpoint covered them in time.",
                    "short",
                    Asked(increase("gainsay_answers_held_total", window=RATE), "held"),
                    steps=above(0.5),
                ),
            ),
        ),
    )
