"""The lines of the log to a collector as well, by OTLP: where OTEL_LOGS_EXPORTER says so.

What a line holds is what it holds on standard error (`service.cli.logs`), where it stands too. Lines of the exporter
itself are not sent: each would be followed by the next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Thread
from typing import TYPE_CHECKING, Any

from service import __version__
from service.cli.logs import described, event_of, fields_of, words_of
from service.observing.otlp import Destination, read_destination

if TYPE_CHECKING:
    from opentelemetry.sdk._logs.export import LogRecordExporter

END_S = 3.0
"""How long a process that ends waits until its lines are sent."""
OWN = ("opentelemetry", "urllib3", "requests", "grpc")
"""The loggers of the exporter and of what it stands on."""
_SEVERITIES = {"DEBUG": 5, "INFO": 9, "WARNING": 13, "ERROR": 17, "CRITICAL": 21}
"""The numbers of severities, as OpenTelemetry has them."""


def begin(environment: Mapping[str, str], name: str) -> Callable[[], None]:
    """Begin to send lines, if the variables say so; returns what ends it. Raises `SettingsError`."""
    to = read_destination(environment, "LOGS", usual="none")
    if to is None:
        return lambda: None
    handler = OTLPHandler(_exporter(to), environment.get("OTEL_SERVICE_NAME") or name)
    logging.getLogger().addHandler(handler)

    def end() -> None:
        logging.getLogger().removeHandler(handler)
        handler.close()

    return end


def _exporter(to: Destination) -> LogRecordExporter:
    if to.grpc:
        from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as OverGRPC

        return OverGRPC()
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as OverHTTP

    return OverHTTP()


class OTLPHandler(logging.Handler):
    """Sends lines in batches, in a thread; what cannot be sent is left."""

    def __init__(self, exporter: LogRecordExporter, name: str) -> None:
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.resources import Resource

        super().__init__()
        resource = Resource.create({"service.name": name, "service.version": __version__})
        self._provider = LoggerProvider(resource, shutdown_on_exit=False)
        self._provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
        self._logger = self._provider.get_logger("gainsay", __version__)

    def emit(self, record: logging.LogRecord) -> None:
        """Send a line."""
        if record.name.partition(".")[0] in OWN:
            return
        try:
            self._logger.emit(_line(record))
        except Exception:  # noqa: BLE001 - a line that is not sent stands on standard error
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is logging's
        """Nothing: the line stands on standard error, and a traceback beside it would be no line of a JSON log."""

    def close(self) -> None:
        """Send what waits, for `END_S` at most."""
        ending = Thread(target=self._provider.shutdown, daemon=True)
        ending.start()
        ending.join(END_S)
        super().close()


def _line(record: logging.LogRecord) -> Any:
    """A line as OpenTelemetry has it: its words as the body, its name as that of the event, its trace as its own."""
    from opentelemetry._logs import LogRecord, SeverityNumber
    from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context

    fields = fields_of(record)
    trace, span = (str(fields.pop(name, "") or "0") for name in ("trace_id", "span_id"))
    about: dict[str, Any] = {f"gainsay.{name}": _plain(value) for name, value in fields.items()}
    if record.exc_info and record.exc_info[1] is not None:
        first = described(record.exc_info[1])[0]
        about |= {"exception.type": first["type"], "exception.stacktrace": "\n".join(first["at"])}
    return LogRecord(
        timestamp=int(record.created * 1e9),
        observed_timestamp=int(record.created * 1e9),
        context=set_span_in_context(NonRecordingSpan(SpanContext(int(trace, 16), int(span, 16), is_remote=False))),
        severity_text=record.levelname,
        severity_number=SeverityNumber(_SEVERITIES.get(record.levelname, 9)),
        body=words_of(record),
        event_name=event_of(record),
        attributes=about,
    )


def _plain(value: object) -> object:
    """A value that OTLP has a type for."""
    return value if isinstance(value, str | bool | int | float) else str(value)
