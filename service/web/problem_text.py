"""How an error is explained on its page: what it means, what a caller does, whether to send the request again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from service.errors import GainsayError

Again = Literal["unchanged", "corrected", "later", "underKey", "operator"]
AGAIN: Mapping[Again, str] = {
    "unchanged": "There is nothing to send again: ask for something else.",
    "corrected": "Not unchanged: the same request gets the same answer. Correct it first.",
    "later": "Yes, after Retry-After.",
    "underKey": "Yes, after Retry-After; a case under the same Idempotency-Key, so that it is debated and billed once.",
    "operator": "Not before an operator has repaired the service.",
}


class ProblemText(Struct, frozen=True):
    """An error as its page shows it; ``example`` has its code, status and title."""

    example: GainsayError
    meaning: str
    todo: tuple[str, ...]
    again: Again
    instance: str = "/v1/debates"
