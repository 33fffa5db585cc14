"""Why a case was brought: to decide something, or to see whether the service works."""

from __future__ import annotations

from collections.abc import Mapping

PURPOSE = "purpose"
"""The key of a case's metadata that says it."""
PROBE = "probe"
"""Its value in each case of the prober. Intake refuses it from any other tenant, and other cases from the prober's."""


def is_probe(metadata: Mapping[str, str]) -> bool:
    """Whether a case with this metadata is the prober's: it stands in no metric of what debates are like."""
    return metadata.get(PURPOSE) == PROBE
