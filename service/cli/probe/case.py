"""The case of the prober: short, the same each time, and one that the shipped policy's gate sends to a debate."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from service.debate.purpose import PROBE, PURPOSE

CEILING = "0.50"
"""US dollars that the debate may cost at most."""
SPARE_S = 300.0
"""How long after the time limit a debate that has not ended is ended by its deadline, so that none pile up."""
_TERMS = """TERMS OF SERVICE (example of the prober)

1. Fees. The Customer pays the fees of the order form within thirty days of an invoice.

2. Liability. The Supplier's total liability in a contract year does not exceed the fees paid in that year. This limit
does not apply to a breach of section 3.

3. Confidentiality. The Supplier keeps the Customer's information confidential and protects it against access by others.

4. Term. The agreement lasts two years and is renewed for one year unless a party gives notice ninety days before.
"""


def the_case(within_s: float) -> Mapping[str, Any]:
    """The body of the case; its deadline is some time after the time limit of the probe."""
    deadline = datetime.now(UTC) + timedelta(seconds=within_s + SPARE_S)
    return {
        "question": "Is the Supplier's liability for a breach of confidentiality limited to the fees of a year?",
        "taskType": "contract",
        "estimatedDownside": 500000,
        "downsideBasis": "an example of the prober: no one decides on it",
        "confidenceScore": 0.6,
        "materiality": "moderate",
        "singleAgentAnswer": "Yes. Section 2 limits the total liability to the fees paid in the contract year.",
        "documents": [{"id": "terms", "title": "Terms of service", "text": _TERMS}],
        "costCeilingUSD": CEILING,
        "deadline": deadline.isoformat(timespec="seconds"),
        "metadata": {PURPOSE: PROBE},
    }
