"""A probe as metrics in a file for the textfile collector of node exporter: nothing scrapes a CronJob.

    gainsay_probe_success                1 or 0
    gainsay_probe_seconds                how long it took
    gainsay_probe_timestamp_seconds      when it ended, in seconds since 1970
    gainsay_probe_step_failed{step=}     1 for the step that failed, 0 for the others

The file is replaced as a whole. One that no probe replaces stays as it was, so look at the timestamp too.
"""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, write_to_textfile

from service.cli.new_file import CannotWrite
from service.cli.probe.probed import STEPS, Probed


def write_metrics(probed: Probed, path: Path) -> None:
    """Replace the file; raises `CannotWrite`."""
    registry = CollectorRegistry()

    def level(name: str, text: str, value: float) -> None:
        Gauge(name, text, registry=registry).set(value)

    level("gainsay_probe_success", "1 if the last probe was good, else 0.", float(probed.failed is None))
    level("gainsay_probe_seconds", "How long the last probe took.", probed.seconds)
    level("gainsay_probe_timestamp_seconds", "When the last probe ended, in seconds since 1970.", probed.at)
    failed = Gauge(
        "gainsay_probe_step_failed", "1 for the step at which the last probe failed.", ("step",), registry=registry
    )
    for name in STEPS:
        failed.labels(step=name).set(float(probed.failed is not None and probed.failed.name == name))
    try:
        write_to_textfile(str(path), registry)
    except OSError as error:
        raise CannotWrite(f"expected to write {path}, found: {error.strerror}; choose another place") from error
