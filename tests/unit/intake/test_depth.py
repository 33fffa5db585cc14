"""How deep a body may be nested: docs/limits.md states the bound."""

from __future__ import annotations

import pytest

from service.errors import BadRequest
from service.intake.decoding import decode
from service.intake.request import CaseRequest


@pytest.mark.parametrize(("begin", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
@pytest.mark.parametrize("levels", [1_000, 100_000])
def test_a_body_of_a_thousand_levels_is_refused(begin: bytes, end: bytes, levels: int) -> None:
    with pytest.raises(BadRequest, match="nested too deeply"):
        decode(b'{"question":' + begin * levels + b"1" + end * levels + b"}", CaseRequest)
