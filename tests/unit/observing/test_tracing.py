"""What the variables of OpenTelemetry say, which traces are drawn, and that a span never ends what it is about."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace.export import SpanExportResult

from service.errors import SettingsError
from service.observing import attributes, tracing
from service.observing.otlp import Destination, Signal, read_destination
from service.observing.span import Event, Span, span_id, trace_id
from service.observing.trace_context import begun, header
from service.observing.tracing import Sender, TracesTo, Tracing, read_traces

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
HERE = {ENDPOINT: "http://collector:4318"}
SPAN = Span(name="debate", trace=trace_id("a"), id=span_id("a"), start_us=1, end_us=2)


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({}, TracesTo()),
        (HERE, TracesTo(Destination("http://collector:4318"))),
        (
            {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://c:1/v1/traces"},
            TracesTo(Destination("https://c:1/v1/traces")),
        ),
        ({**HERE, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, TracesTo(Destination("http://collector:4318", grpc=True))),
        ({**HERE, "OTEL_TRACES_SAMPLER_ARG": "0"}, TracesTo(Destination("http://collector:4318"), share=0.0)),
        ({**HERE, "OTEL_SDK_DISABLED": "TRUE"}, TracesTo()),
        ({**HERE, "OTEL_TRACES_EXPORTER": "none"}, TracesTo()),
        ({**HERE, "OTEL_TRACES_SAMPLER": "parentbased_traceidratio"}, TracesTo(Destination("http://collector:4318"))),
        (
            {**HERE, "OTEL_SERVICE_NAME": "", "OTEL_RESOURCE_ATTRIBUTES": "k=v"},
            TracesTo(Destination("http://collector:4318")),
        ),
    ],
)
def test_the_variables_say_where_spans_go(variables: dict[str, str], found: TracesTo) -> None:
    assert read_traces(variables) == found


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({ENDPOINT: "collector:4317"}, ENDPOINT),
        ({ENDPOINT: "http://user:hunter2@collector"}, "OTEL_EXPORTER_OTLP_HEADERS"),
        ({ENDPOINT: "http://collector?key=hunter2"}, ENDPOINT),
        ({ENDPOINT: "http://[::1"}, ENDPOINT),
        ({**HERE, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, "http/protobuf or grpc"),
        ({**HERE, "OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER"),
        ({**HERE, "OTEL_TRACES_SAMPLER": "always_on"}, "OTEL_TRACES_SAMPLER"),
        ({**HERE, "OTEL_TRACES_SAMPLER_ARG": "1.5"}, "OTEL_TRACES_SAMPLER_ARG"),
        ({**HERE, "OTEL_TRACES_SAMPLER_ARG": "nan"}, "OTEL_TRACES_SAMPLER_ARG"),
        ({**HERE, "OTEL_TRACES_SAMPLER_ARG": "half"}, "OTEL_TRACES_SAMPLER_ARG"),
    ],
)
def test_a_variable_that_cannot_be_followed_is_refused_without_its_secrets(
    variables: dict[str, str], named: str
) -> None:
    with pytest.raises(SettingsError, match=named) as refused:
        read_traces(variables)

    assert "hunter2" not in refused.value.detail


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        (HERE, None),
        ({**HERE, "OTEL_LOGS_EXPORTER": "otlp"}, Destination("http://collector:4318")),
        ({**HERE, "OTEL_LOGS_EXPORTER": "none"}, None),
        (
            {**HERE, "OTEL_LOGS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://logs:1/v1/logs"},
            Destination("http://logs:1/v1/logs"),
        ),
    ],
)
def test_lines_are_sent_where_that_is_asked_for_alone(variables: dict[str, str], found: Destination | None) -> None:
    assert read_destination(variables, "LOGS", usual="none") == found


@pytest.mark.parametrize("signal", ["LOGS", "TRACES"])
def test_an_exporter_without_a_collector_is_refused(signal: Signal) -> None:
    with pytest.raises(SettingsError, match=ENDPOINT):
        read_destination({f"OTEL_{signal}_EXPORTER": "otlp"}, signal, usual="none")


@given(st.integers(0, 2**128 - 1))
def test_what_is_drawn_at_a_share_is_drawn_at_every_greater_one(number: int) -> None:
    """So processes with other shares keep whole traces, of which one has more."""
    trace = f"{number:032x}"
    drawn = [Tracing(lambda _span: None, share).drawn(trace) for share in (0.0, 0.05, 0.5, 1.0)]

    assert drawn == sorted(drawn)
    assert (drawn[0], drawn[-1]) == (False, True)


def test_about_a_twentieth_is_drawn_of_what_follows_from_names() -> None:
    tracing_here = Tracing(lambda _span: None)

    assert 850 < sum(tracing_here.drawn(trace_id(str(n))) for n in range(20_000)) < 1_150


def test_nothing_is_drawn_or_made_without_a_collector() -> None:
    off = Tracing()

    assert not off.on
    assert not off.drawn("0" * 32)
    off.send_made(lambda: pytest.fail("nothing is to be made"))


def test_a_trace_that_begins_here_is_marked_as_it_is_drawn() -> None:
    before = tracing.use(Tracing(lambda _span: None, 1.0))
    try:
        assert begun().sampled
        tracing.use(Tracing(lambda _span: None, 0.0))
        assert not begun().sampled
    finally:
        tracing.use(before)
    assert header("a" * 32, "b" * 16, sampled=True) == f"00-{'a' * 32}-{'b' * 16}-01"


def test_a_span_that_cannot_be_made_or_sent_ends_nothing() -> None:
    def broken(_span: Span) -> None:
        raise RuntimeError

    Tracing(broken).send(SPAN)
    Tracing(lambda _span: None).send_made(lambda: 1 / 0)  # type: ignore[arg-type,return-value]


class Exporter:
    """An exporter that keeps what it is given, waits where it should, and fails where it should."""

    def __init__(self, result: SpanExportResult = SpanExportResult.SUCCESS, *, waits: bool = False) -> None:
        self.spans: list[Any] = []
        self.result, self.go = result, threading.Event()
        if not waits:
            self.go.set()

    def export(self, spans: Sequence[Any]) -> SpanExportResult:
        """Keep them."""
        self.go.wait(30)
        self.spans += spans
        return self.result

    def shutdown(self) -> None:
        """Nothing to end."""


def test_a_span_arrives_whole() -> None:
    exporter, counted = Exporter(), Counter[str]()
    sender = Sender(exporter, "gainsay-work", lambda result, spans: counted.update({result: spans}))  # type: ignore[arg-type]
    sender.take(
        Span(
            name="chat",
            trace=trace_id("t"),
            id=span_id("c"),
            parent=span_id("p"),
            kind="client",
            start_us=1_000,
            end_us=3_000,
            attributes={"a": 1, "b": ("x", "y")},
            error="overload",
            links=((trace_id("l"), span_id("l")),),
            events=(Event("claimed", 2_000, {"w": "x"}),),
        )
    )
    sender.close()

    (span,) = exporter.spans
    assert (span.name, span.kind.name, span.start_time, span.end_time) == ("chat", "CLIENT", 1_000_000, 3_000_000)
    assert f"{span.context.trace_id:032x}" == trace_id("t")
    assert f"{span.parent.span_id:016x}" == span_id("p")
    assert dict(span.attributes) == {"a": 1, "b": ("x", "y")}
    assert (span.status.status_code.name, span.status.description) == ("ERROR", "overload")
    assert [f"{link.context.span_id:016x}" for link in span.links] == [span_id("l")]
    assert [(event.name, event.timestamp) for event in span.events] == [("claimed", 2_000_000)]
    assert span.resource.attributes["service.name"] == "gainsay-work"
    assert counted == {"sent": 1}


def test_spans_beyond_those_that_may_wait_are_counted_and_left() -> None:
    exporter, counted = Exporter(waits=True), Counter[str]()
    sender = Sender(
        exporter,  # type: ignore[arg-type]
        "x",
        lambda result, spans: counted.update({result: spans}),
        waiting_max=4,
    )
    for _ in range(100):
        sender.take(SPAN)
    exporter.go.set()
    sender.close()

    assert counted["left"] >= 92  # four wait, and four are on their way
    assert counted["sent"] + counted["left"] == 100
    assert len(exporter.spans) == counted["sent"]


def test_spans_that_are_not_taken_are_counted() -> None:
    counted = Counter[str]()
    sender = Sender(
        Exporter(SpanExportResult.FAILURE),  # type: ignore[arg-type]
        "x",
        lambda result, spans: counted.update({result: spans}),
    )
    sender.take(SPAN)
    sender.close()

    assert counted == {"failed": 1}


def test_names_of_the_conventions_are_spelled_as_their_package_has_them() -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
    from opentelemetry.semconv.attributes import error_attributes, http_attributes

    known = {
        value
        for module in (gen_ai_attributes, error_attributes, http_attributes)
        for value in vars(module).values()
        if isinstance(value, str)
    }
    ours = {name: value for name, value in vars(attributes).items() if name.isupper() and isinstance(value, str)}

    others = {name: value for name, value in ours.items() if value not in known}
    assert [value for value in others.values() if not value.startswith("gainsay.")] == []
    assert len(set(ours.values())) == len(ours)
