"""Where the spans of this process go: to a collector by OTLP, which the standard variables of OpenTelemetry name.

    OTEL_EXPORTER_OTLP_ENDPOINT    the collector, such as http://collector:4318; without it no span is made
    OTEL_EXPORTER_OTLP_PROTOCOL    http/protobuf (default) or grpc
    OTEL_TRACES_SAMPLER            parentbased_traceidratio, which is also the default; no other one
    OTEL_TRACES_SAMPLER_ARG        the share of traces that are kept whatever they hold, from 0 to 1 (default: 0.05)
    OTEL_SERVICE_NAME              the name of the process (default: gainsay- and its command)
    OTEL_RESOURCE_ATTRIBUTES       what else is said of the process, as its namespace and pod
    OTEL_SDK_DISABLED              true makes no spans

The first two also with TRACES in their names. Headers, certificates, time limits and compression have the variables
that the exporter itself reads. A collector that is away costs nothing but spans: they wait in a bounded queue, are
counted where they are lost, and never hold a debate.

Which traces are kept: those that a caller's ``traceparent`` marks as sampled; of the others the share that their ids
draw, which is the same in every process; and what went wrong, whatever was drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from service import __version__, log_lines
from service.errors import SettingsError
from service.observing.otlp import Destination, read_destination
from service.observing.span import Span

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter

SHARE = 0.05
"""The share of traces that are kept without a reason."""
WAITING_MAX = 8_192
"""How many spans wait to be sent; one more is lost, and counted."""
END_S = 3.0
"""How long a process that ends waits until its spans are sent."""
LOST_EVERY_S = 60.0
"""How often a log line says that spans were lost."""
_SAMPLER = "parentbased_traceidratio"

Count = Callable[[str, int], None]
"""Counts so many spans, by what became of them: sent, failed, left."""


class TracesTo(Struct, frozen=True):
    """Where spans are sent, and the share of traces that is kept; ``to`` is ``None`` where none is sent."""

    to: Destination | None = None
    share: float = SHARE


def read_traces(environment: Mapping[str, str]) -> TracesTo:
    """What the variables say; raises `SettingsError` for one that cannot be followed. Shows no value of a header."""
    to = read_destination(environment, "TRACES", usual="otlp")
    if environment.get("OTEL_TRACES_SAMPLER", "").strip() not in ("", _SAMPLER):
        raise SettingsError(f"expected {_SAMPLER} in OTEL_TRACES_SAMPLER, or no value: no other sampler is there")
    return TracesTo(to, _share(environment.get("OTEL_TRACES_SAMPLER_ARG", "").strip()))


def _share(text: str) -> float:
    try:
        share = float(text or SHARE)
    except ValueError:
        share = -1.0
    if not 0.0 <= share <= 1.0:
        raise SettingsError("expected a share from 0 to 1 in OTEL_TRACES_SAMPLER_ARG, such as 0.05")
    return share


class Tracing:
    """The spans of one process. One without a ``sender`` makes none."""

    def __init__(self, sender: Callable[[Span], None] | None = None, share: float = SHARE) -> None:
        self._sender = sender
        self._below = round(share * (1 << 56))

    @property
    def on(self) -> bool:
        """Whether spans are made at all: what they are made of need not be gathered otherwise."""
        return self._sender is not None

    def drawn(self, trace: str) -> bool:
        """Whether a trace is kept by its id alone, as every process finds: its last 56 bits (W3C Trace Context 2)."""
        return self.on and int(trace[-14:], 16) < self._below

    def send(self, span: Span) -> None:
        """Send a span, some time. Raises nothing."""
        self.send_made(lambda: (span,))

    def send_made(self, make: Callable[[], Iterable[Span]]) -> None:
        """Make spans and send them, some time. Raises nothing: a span never ends what it is about."""
        if self._sender is None:
            return
        try:
            for span in make():
                self._sender(span)
        except Exception:  # noqa: BLE001 - whatever a span holds, a debate and a request go on without it
            log_lines.SPANS_FAULT.raised()


_current = Tracing()


def current() -> Tracing:
    """The tracing of this process."""
    return _current


def use(tracing: Tracing) -> Tracing:
    """Let the process send its spans there; returns where it sent them before."""
    global _current
    _current, before = tracing, _current
    return before


def begin(environment: Mapping[str, str], name: str, count: Count) -> Callable[[], None]:
    """Begin to trace, if the variables name a collector; returns what ends it. Raises `SettingsError`."""
    found = read_traces(environment)
    if found.to is None:
        return lambda: None
    sender = Sender(_exporter(found.to), environment.get("OTEL_SERVICE_NAME") or name, count)
    use(Tracing(sender.take, found.share))

    def end() -> None:
        use(Tracing())
        sender.close()

    return end


def _exporter(to: Destination) -> SpanExporter:
    if to.grpc:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as OverGRPC

        return OverGRPC()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as OverHTTP

    return OverHTTP()


class Sender:
    """Sends spans by an exporter, in batches, in a thread of its own: OpenTelemetry's batch processor does that.

    ``waiting_max`` is how many spans may wait.
    """

    def __init__(
        self, exporter: SpanExporter, name: str, count: Count, *, waiting_max: int = WAITING_MAX, delay_ms: int = 1_000
    ) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        self._resource = Resource.create({"service.name": name, "service.version": __version__})
        self._scope = InstrumentationScope("gainsay", __version__)
        self._counted = _Counted(exporter, count)
        self._waiting_max = waiting_max
        batch = min(512, waiting_max)
        self._processor = BatchSpanProcessor(
            cast("SpanExporter", self._counted),
            max_queue_size=waiting_max,
            schedule_delay_millis=delay_ms,
            max_export_batch_size=batch,
        )

    def take(self, span: Span) -> None:
        """Take one span over, unless too many wait."""
        if self._counted.taken(self._waiting_max):
            self._processor.on_end(_readable(span, self._resource, self._scope))

    def close(self) -> None:
        """Send what waits, for `END_S` at most."""
        ending = Thread(target=self._processor.shutdown, daemon=True)
        ending.start()
        ending.join(END_S)


class _Counted:
    """An exporter that counts what became of spans, and logs from time to time that some are lost."""

    def __init__(self, exporter: SpanExporter, count: Count) -> None:
        self._exporter, self._count = exporter, count
        self._waiting, self._lock = 0, Lock()
        self._logged = -LOST_EVERY_S

    def taken(self, most: int) -> bool:
        """Whether there is room for one more span."""
        with self._lock:
            if full := self._waiting >= most:
                self._count("left", 1)
            else:
                self._waiting += 1
        if full:
            self._lost("too many wait")
        return not full

    def export(self, spans: Sequence[ReadableSpan]) -> Any:
        """Send spans; the result is the exporter's own."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        with self._lock:
            self._waiting -= len(spans)
        try:
            result = self._exporter.export(spans)
        except Exception as fault:  # noqa: BLE001 - an exporter should return its failures
            result = SpanExportResult.FAILURE
            self._lost(type(fault).__name__)
        sent = result is SpanExportResult.SUCCESS
        self._count("sent" if sent else "failed", len(spans))
        if not sent:
            self._lost("the collector did not take them")
        return result

    def shutdown(self) -> None:
        """End the exporter."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what the exporter itself still has."""
        return self._exporter.force_flush(timeout_millis)

    def _lost(self, why: str) -> None:
        now = time.monotonic()
        if now - self._logged >= LOST_EVERY_S:
            self._logged = now
            log_lines.SPANS_LOST(why=why)


def _readable(span: Span, resource: Any, scope: Any) -> ReadableSpan:
    """A span as OpenTelemetry's exporters read one."""
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

    flags = TraceFlags(TraceFlags.SAMPLED)

    def at(trace: str, id_: str) -> SpanContext:
        return SpanContext(int(trace, 16), int(id_, 16), is_remote=False, trace_flags=flags)

    return ReadableSpan(
        name=span.name,
        context=at(span.trace, span.id),
        parent=None if span.parent is None else at(span.trace, span.parent),
        resource=resource,
        attributes=span.attributes,
        events=[Event(event.name, event.attributes, event.at_us * 1_000) for event in span.events],
        links=[Link(at(*link)) for link in span.links],
        kind=SpanKind[span.kind.upper()],
        status=Status(StatusCode.UNSET) if span.error is None else Status(StatusCode.ERROR, span.error),
        start_time=span.start_us * 1_000,
        end_time=span.end_us * 1_000,
        instrumentation_scope=scope,
    )
