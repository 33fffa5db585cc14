"""The span of a batch of the sequencer: records of one log that become provable together."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager

from service.observing import attributes as names
from service.observing import tracing
from service.observing.span import Span, Value


@contextmanager
def sequenced(log: str, leaves: int) -> Iterator[None]:
    """Send the span of what the block does, if its id draws that or if it fails.

    A trace of its own: a batch has records of many debates.
    """
    to = tracing.current()
    if not to.on:
        yield
        return
    trace, begun_ns, error = secrets.token_hex(16), time.time_ns(), None
    try:
        yield
    except Exception as fault:
        error = type(fault).__name__
        raise
    finally:
        if error or to.drawn(trace):
            about: dict[str, Value] = {names.LOG: log, names.LEAVES: leaves}
            if error:
                about[names.ERROR_TYPE] = error
            to.send(
                Span(
                    name="sequence",
                    trace=trace,
                    id=secrets.token_hex(8),
                    start_us=begun_ns // 1_000,
                    end_us=time.time_ns() // 1_000,
                    attributes=about,
                    error=error,
                )
            )
