"""The metrics of a process: what runs, its requests, its callers, its database, its event loop, its secrets.

`service.telemetry` has them too, and everything that counts names them by it.
"""

from __future__ import annotations

from prometheus_client import Histogram

from service import __version__
from service.observing.labelled import REGISTRY, UNLISTED, counter, gauge, histogram, level, measured, total, words

BUILD = gauge(
    "gainsay_build_info",
    "Always 1; the labels say what runs.",
    {"version": UNLISTED, "prompts_pin": UNLISTED, "policy": UNLISTED},
)
BUILD.alone(version=__version__, prompts_pin="", policy="").set(1)  # what has prompts and a policy says which
ENGINES = gauge(
    "gainsay_engine_info",
    "Always 1; the labels say which version of each part new cases are judged by.",
    {"engine": UNLISTED, "version": UNLISTED},
)
CONFIG_INFO = gauge(
    "gainsay_config_info",
    "Always 1; the labels are the hash of the configuration in force, and one over those of tenants with their own.",
    {"hash": UNLISTED, "tenants": UNLISTED},
)
CONFIG_REFUSED = level(
    "gainsay_config_refused",
    "1 while this process does not take what the files of its configuration say, or a fault ends its looks; else 0.",
)
CONFIG_RELOADS = counter(
    "gainsay_config_reloads_total",
    "New configurations that this process found in its files, by what became of them.",
    {"result": words("taken unapproved faulty unsteady unavailable fault")},
)
_BOUNDS = words("rate listeners overload connections peerConnections head slowHead slowBody noHTTP")
HTTP_REFUSED = counter("gainsay_http_refused_total", "Refused unread, by the bound.", {"reason": _BOUNDS})
IN_LINE = level("gainsay_submissions_in_line", "Requests with cases that wait in line until this process reads them.")
HTTP_METHODS = ("GET", "POST", "OPTIONS")
# `service.web.api` creates these series: not every combination of method, route and status exists.
HTTP_REQUESTS = counter(
    "gainsay_http_requests_total",
    "Requests answered, by route template and status; status 0 is a request that was cut off without an answer.",
    {"method": UNLISTED, "route": UNLISTED, "status": UNLISTED},
)
HTTP_SECONDS = histogram(
    "gainsay_http_request_seconds",
    "Time to answer, without event streams and without requests that asked to be kept waiting.",
    {"method": UNLISTED, "route": UNLISTED},
    buckets=(0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
STREAMS = level("gainsay_http_event_streams", "Event streams that are open.")
STREAMS_CUT = counter(
    "gainsay_http_event_streams_cut_total",
    "Event streams that this process ended before their debate was over, by reason.",
    {"reason": ("stopping", "slow", "error", "revoked")},
)
AUTHENTICATIONS = counter(
    "gainsay_authentications_total",
    "Requests whose caller was asked for, by what they presented and the result.",
    {"way": ("apiKey", "oidc", "proxy", "none"), "result": ("accepted", "refused", "failed")},
)
REPLAYS = counter(
    "gainsay_idempotent_requests_total",
    "Cases that came again under an idempotency key, by the answer.",
    {"result": ("replayed", "inProgress", "otherCase")},
)
DATABASE_UP = measured("gainsay_database_up", "1 while PostgreSQL answers what this process measures in it, else 0.")
CONNECTIONS = gauge(
    "gainsay_database_connections",
    "Connections of a pool that are in use and idle, and queries that wait for one.",
    {"pool": ("service", "serving", "sequencer"), "state": ("used", "idle", "waiting")},
)
PARTITIONS_END = measured(
    "gainsay_partition_end_timestamp_seconds", "Until when partitions for new rows exist, in seconds since 1970."
)
NOTICES = counter(
    "gainsay_notices_total",
    "Notifications of processes to each other through PostgreSQL, by direction.",
    {"direction": ("sent", "heard")},
)
LOOP_HELD = Histogram(
    "gainsay_event_loop_held_seconds",
    "How much later than due the event loop called a timer, a hundred times a second.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5),
    registry=REGISTRY,
)
LOOP_HELD_MAX = measured("gainsay_event_loop_held_max_seconds", "The longest hold in the last one or two minutes.")
SECRETS_KEPT = total("gainsay_secrets_unreadable_total", "Secrets that could not be read again: the last is used.")
SECRET_EXPIRES = gauge(
    "gainsay_secret_expires_timestamp_seconds",
    "When a secret ends, by the setting that holds it, in seconds since 1970; a secret without an end has no series.",
    {"secret": UNLISTED},
)
CERTIFICATE_EXPIRES = gauge(
    "gainsay_certificate_expires_timestamp_seconds",
    "When the first certificate of a file ends, by the setting that names it, in seconds since 1970.",
    {"certificate": UNLISTED},
)
SPANS = counter(
    "gainsay_spans_total",
    "Spans of traces, by what became of them: sent to the collector, not taken by it, left because too many waited.",
    {"result": words("sent failed left")},
)
