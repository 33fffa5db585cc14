"""Times as records tell them."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from service.store.sealing import headline_fields


@given(st.floats(min_value=0, max_value=4_102_444_800, exclude_max=True))
@example(0.0)
@example(1.001)
@example(1_795_000_000.9995)
@example(1_795_000_000.9999996)  # rounds up to the next second's first microsecond
def test_a_time_is_told_as_the_library_tells_it_cut_to_milliseconds(seconds: float) -> None:
    expected = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert headline_fields(seconds) == expected
