"""Why a case was brought: to decide something, to see whether the service works, or to measure how well it does.

Only the debates that were to decide something count in what is said of debates: metrics, track records, the baseline.
No item of an evaluation is sent to a webhook either (migrations/0033_evaluation_edges.sql).
"""

from __future__ import annotations

from collections.abc import Mapping

from service.debate.entries import Arrival, EvaluationItem

PURPOSE = "purpose"
"""The key of a case's metadata that says it."""
PROBE = "probe"
"""Its value in each case of the prober. Intake refuses it from any other tenant, and other cases from the prober's."""


def is_probe(metadata: Mapping[str, str]) -> bool:
    """Whether a case with this metadata is the prober's: it stands in no metric of what debates are like."""
    return metadata.get(PURPOSE) == PROBE


def evaluation_of(arrival: Arrival | None) -> EvaluationItem | None:
    """The item of an evaluation that a case is, by how it came; ``None`` for every other case."""
    return arrival.evaluation if arrival else None


def decides(metadata: Mapping[str, str], arrival: Arrival | None) -> bool:
    """Whether a case was brought to decide something: it is neither the prober's nor an item of an evaluation."""
    return not is_probe(metadata) and evaluation_of(arrival) is None
