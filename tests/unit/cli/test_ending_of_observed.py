"""How a process ends that sends spans and lines to a collector."""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable

import pytest
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter

from service.cli import log_export, startup
from service.observing import tracing


def test_spans_and_lines_are_ended_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A collector that is away holds each for seconds, and a process that is to end for no longer than one of them."""
    both, at_exit = threading.Barrier(2, timeout=10.0), list[Callable[[], None]]()
    met: list[int] = []

    def end() -> None:
        met.append(both.wait())

    monkeypatch.setattr(tracing, "begin", lambda *_given: end)
    monkeypatch.setattr(log_export, "begin", lambda *_given: end)
    monkeypatch.setattr(atexit, "register", at_exit.append)
    startup._send_observed({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"})
    for registered in at_exit:
        registered()

    assert sorted(met) == [0, 1]


def test_a_line_that_cannot_be_sent_is_no_traceback_on_standard_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard error holds a JSON log, line by line."""
    exporter = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
    handler = log_export.OTLPHandler(exporter, "gainsay-work")
    monkeypatch.setattr(log_export, "_line", lambda _record: 1 / 0)
    try:
        handler.handle(logging.LogRecord("gainsay", logging.INFO, __file__, 1, "debate ended", (), None))
    finally:
        handler.close()

    assert capsys.readouterr().err == ""
