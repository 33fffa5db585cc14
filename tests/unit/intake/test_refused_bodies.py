"""A body that is refused costs no more memory than a few copies of it."""

from __future__ import annotations

import tracemalloc

import pytest

from service.errors import BadRequest
from service.intake.decoding import decode
from service.intake.request import CaseRequest


def test_a_body_of_many_values_with_half_a_character_is_not_built() -> None:
    raw = b'{"question":"\\ud83d","metadata":[' + b"{}," * 200_000 + b"{}]}"
    tracemalloc.start()
    try:
        with pytest.raises(BadRequest, match="found half a character"):
            decode(raw, CaseRequest)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 5 * len(raw)
