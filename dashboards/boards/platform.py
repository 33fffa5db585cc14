"""Platform: PostgreSQL as the service sees it, its pools, memory, event loops, and what ends on a date."""

from __future__ import annotations

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.boards.layout import Row, laid_out, line
from dashboards.boards.panels import Asked, above, below, graph, heat, number, rows_of
from dashboards.boards.promql import JOBS, RANGE, RATE, buckets, increase, rate, series, total

DAY = 86400


def platform() -> Dashboard:
    """The dashboard of what the service stands on."""
    says = "What the service stands on: PostgreSQL and its pools, memory, event loops, files, and what ends on a date."
    return laid_out(
        "gainsay-platform", says, "6h", (), (_runs(), _ends(), _database(), _loop(), _process(), _python(), _traces())
    )


def _own(name: str) -> str:
    return series(name, JOBS)


def _runs() -> Row:
    return Row(
        "What runs",
        (
            line(
                6,
                rows_of(
                    "Versions",
                    "What each serve and work runs. Two versions, policies or pins at once are an update that goes on.",
                    Asked(f"count by (job, version, prompts_pin, policy) ({series('gainsay_build_info')})", ""),
                ),
                rows_of(
                    "Engines",
                    "The versions of the rules that decide: two of one at once are an update that has not ended.",
                    Asked(f"count by (engine, version) ({series('gainsay_engine_info')})", ""),
                ),
            ),
            line(
                6,
                rows_of(
                    "Configurations",
                    "The hash in force in each serve and work, and one over those of tenants with their own. Two at "
                    "once are a change that has not reached all, or that one of them refuses.",
                    Asked(f"count by (job, hash, tenants) ({series('gainsay_config_info')})", ""),
                ),
                number(
                    "New configurations",
                    "Changes of the policy's files that processes found in the time shown, by what became of them. "
                    "What is not taken is not in force: the log says why.",
                    "short",
                    Asked(increase("gainsay_config_reloads_total", by="result"), "{{result}}"),
                    decimals=0,
                ),
            ),
            line(
                6,
                graph(
                    "Processes that answer",
                    "Processes that Prometheus could scrape, by job. A step down is a process that died or stopped.",
                    "short",
                    Asked(total("up", JOBS, by="job"), "{{job}}"),
                    steps=below(1),
                ),
                number(
                    "Restarts",
                    "Starts of processes at the same address in the time shown, by job. More than updates explain are "
                    "crashes.",
                    "short",
                    Asked(f"sum by (job) (changes({_own('process_start_time_seconds')}[{RANGE}]))", "{{job}}"),
                    steps=above(3, 1),
                    decimals=0,
                ),
            ),
        ),
    )


def _ends() -> Row:
    return Row(
        "What ends on a date",
        (
            line(
                5,
                number(
                    "Partitions exist for",
                    "Time until the last partition by year ends. Below a month, migrate to a version that makes more.",
                    "s",
                    Asked(f"min({series('gainsay_partition_end_timestamp_seconds')}) - time()", "partitions"),
                    steps=below(62 * DAY, 31 * DAY),
                    decimals=0,
                ),
                number(
                    "Certificates valid for",
                    "Time until each certificate ends. After that no process connects over it.",
                    "s",
                    Asked(
                        f"min by (certificate) ({series('gainsay_certificate_expires_timestamp_seconds')}) - time()",
                        "{{certificate}}",
                    ),
                    steps=below(14 * DAY, 3 * DAY),
                    none="none is used, or no data",
                    decimals=0,
                ),
                number(
                    "Secrets valid for",
                    "Time until each secret ends, where it has an end. Issue the next one before.",
                    "s",
                    Asked(
                        f"min by (secret) ({series('gainsay_secret_expires_timestamp_seconds')}) - time()", "{{secret}}"
                    ),
                    steps=below(14 * DAY, 3 * DAY),
                    none="none has an end, or no data",
                    decimals=0,
                ),
                number(
                    "Secrets that could not be read again",
                    "Times that a mounted secret could not be read, in the time shown. The last one is used, until it "
                    "ends.",
                    "short",
                    Asked(increase("gainsay_secrets_unreadable_total"), "unreadable"),
                    steps=above(0.5),
                    decimals=0,
                ),
            ),
        ),
    )


def _database() -> Row:
    return Row(
        "PostgreSQL",
        (
            line(
                7,
                graph(
                    "Database reachable",
                    "1 while a process reaches PostgreSQL, by job. 0 means that cases are refused.",
                    "short",
                    Asked(f"min by (job) ({series('gainsay_database_up')})", "{{job}}"),
                    steps=below(1),
                    high=1,
                ),
                graph(
                    "Connections of pools",
                    "Connections in use and idle, by pool. In use at the size of the pool, with some waiting, is a "
                    "pool too small.",
                    "short",
                    Asked(
                        total("gainsay_database_connections", 'state!="waiting"', by="pool, state"),
                        "{{pool}}: {{state}}",
                    ),
                    stacked=True,
                ),
                graph(
                    "Waiting for a connection",
                    "Tasks that wait for a connection of their pool. Above 0 for long, requests become slow.",
                    "short",
                    Asked(total("gainsay_database_connections", 'state="waiting"', by="pool"), "{{pool}}"),
                    steps=above(5, 1),
                ),
            ),
            line(
                8,
                heat(
                    "Time to record",
                    "From handing entries over until they are committed. It is the service's view of PostgreSQL's "
                    "disk.",
                    "s",
                    buckets("gainsay_append_seconds"),
                ),
                heat(
                    "Debates in one statement",
                    "How many debates shared one statement. More under load is as it should be.",
                    "short",
                    buckets("gainsay_append_debates"),
                ),
                graph(
                    "Notices between processes",
                    "Notifications through PostgreSQL, sent and heard. heard at 0 while sent is not means that a "
                    "listener is lost.",
                    "ops",
                    Asked(rate("gainsay_notices_total", by="direction"), "{{direction}}"),
                ),
            ),
        ),
    )


def _loop() -> Row:
    return Row(
        "Event loops",
        (
            line(
                7,
                heat(
                    "How long loops were held",
                    "How much later than due the event loops called a timer. Cells above 0.1 seconds are stalls.",
                    "s",
                    buckets("gainsay_event_loop_held_seconds"),
                ),
                graph(
                    "Longest hold",
                    "The longest hold in the last one or two minutes, by process. Above a second, probes may fail.",
                    "s",
                    Asked(
                        f"max by (job, instance) ({series('gainsay_event_loop_held_max_seconds')})",
                        "{{job}} {{instance}}",
                    ),
                    steps=above(1, 0.25),
                ),
                graph(
                    "CPU",
                    "CPU seconds in a second, by process. Near 1 a process is at its limit, because Python runs on one "
                    "core.",
                    "percentunit",
                    Asked(
                        f"sum by (job, instance) (rate({_own('process_cpu_seconds_total')}[{RATE}]))",
                        "{{job}} {{instance}}",
                    ),
                    steps=above(0.95, 0.8),
                ),
            ),
        ),
    )


def _process() -> Row:
    files = f"max by (job, instance) ({_own('process_open_fds')} / {_own('process_max_fds')})"
    return Row(
        "Memory and files",
        (
            line(
                7,
                graph(
                    "Memory",
                    "Resident memory, by process. A line that only rises over days is a leak.",
                    "bytes",
                    Asked(f"max by (job, instance) ({_own('process_resident_memory_bytes')})", "{{job}} {{instance}}"),
                ),
                graph(
                    "Virtual memory",
                    "Address space, by process. It matters only where the host limits it.",
                    "bytes",
                    Asked(f"max by (job, instance) ({_own('process_virtual_memory_bytes')})", "{{job}} {{instance}}"),
                ),
                graph(
                    "Open files",
                    "Open files and connections, as a share of the process's limit. At 1 it accepts no more "
                    "connections.",
                    "percentunit",
                    Asked(files, "{{job}} {{instance}}"),
                    steps=above(0.8, 0.5),
                    high=1,
                ),
            ),
        ),
    )


def _traces() -> Row:
    return Row(
        "Traces",
        (
            line(
                6,
                graph(
                    "Spans, by what became of them",
                    "Spans of traces that went to the collector (sent), that it did not take (failed) or that were "
                    "left because too "
                    "many waited. Without a collector there are none.",
                    "ops",
                    Asked(rate("gainsay_spans_total", by="result"), "{{result}}"),
                ),
                number(
                    "Spans lost",
                    "Spans that the collector did not take or that were left, in the time shown. Traces have gaps "
                    "then.",
                    "short",
                    Asked(increase("gainsay_spans_total", 'result!="sent"'), "lost"),
                    steps=above(1),
                    decimals=0,
                ),
            ),
        ),
    )


def _python() -> Row:
    by = "by (job, generation)"
    return Row(
        "Python and its garbage collector",
        (
            line(
                6,
                rows_of(
                    "Python",
                    "The interpreter of each process. Two versions at once are images that were not built together.",
                    Asked(f"count by (job, implementation, version) ({_own('python_info')})", ""),
                ),
                graph(
                    "Collections",
                    "Collections in a second, by generation. Many of generation 2 cost CPU and hold the event loop.",
                    "ops",
                    Asked(
                        f"sum {by} (rate({_own('python_gc_collections_total')}[{RATE}]))", "{{job}} gen {{generation}}"
                    ),
                ),
                graph(
                    "Objects collected",
                    "Objects that only the collector could free, in a second. Many are cycles that code should not "
                    "make.",
                    "ops",
                    Asked(
                        f"sum {by} (rate({_own('python_gc_objects_collected_total')}[{RATE}]))",
                        "{{job}} gen {{generation}}",
                    ),
                ),
                graph(
                    "Objects that cannot be freed",
                    "Objects that the collector found and could not free. Any is a fault in a library.",
                    "ops",
                    Asked(
                        f"sum {by} (rate({_own('python_gc_objects_uncollectable_total')}[{RATE}]))",
                        "{{job}} gen {{generation}}",
                    ),
                    steps=above(0.001),
                ),
            ),
        ),
    )
