"""Name every place that a half-made change lacks: ``python -m tests.change.check [KIND ...]``, or ``make missing``.

The kinds are those of the how-tos: format, field, metric, wire, rule; without one, all of them. First mypy, where a
kind is held by types, then the tests that compare each list of places with the others. It runs less than ``make quick``
and does not depend on what git says has changed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple


class Kind(NamedTuple):
    """What names the missing places of one kind of change."""

    tests: tuple[str, ...]
    types: bool = False


KINDS = {
    "format": Kind(
        (
            "tests/unit/test_formats_complete.py",
            "tests/unit/debate/test_formats_doc.py",
            "tests/unit/debate/test_recorded.py",
            "tests/unit/audit/test_schemas.py",
            "tests/unit/samples/test_samples.py",
        ),
        types=True,
    ),
    "field": Kind(
        (
            "tests/unit/test_fields.py",
            "tests/unit/audit/test_export.py::test_columns_of_the_csv_are_only_added_at_the_end",
            "tests/unit/audit/test_schemas.py::test_type_and_schema_of_a_form_agree",
            "tests/unit/audit/test_payloads.py",
            "tests/unit/test_goldens_texts.py",
            "tests/unit/test_goldens.py::test_a_version_gives_what_it_gave",
            "tests/store/evidence/test_audit_doc.py",
        )
    ),
    "metric": Kind(
        (
            "tests/unit/test_telemetry.py",
            "tests/unit/test_metrics_doc.py",
            "tests/unit/running/test_metrics.py::test_a_debate_whose_critique_was_asked_again_is_counted_in_every_series",
        )
    ),
    "wire": Kind(
        (
            "tests/unit/test_wires_complete.py",
            "tests/unit/policy/test_catalogue.py",
            "tests/unit/policy/test_policy_doc.py",
            "tests/unit/money/test_settled.py",
            "tests/end_to_end/vendors",
        ),
        types=True,
    ),
    "rule": Kind(
        (
            "tests/unit/test_goldens.py::test_a_version_gives_what_it_gave",
            "tests/unit/test_goldens.py::test_every_version_of_this_build_is_held_by_a_golden",
            "tests/unit/test_goldens.py::test_every_module_of_judgement_is_of_a_version_and_is_perturbed",
            "tests/unit/test_goldens.py::test_every_golden_has_a_maker",
        )
    ),
}


def commands(kinds: Sequence[str]) -> list[list[str]]:
    """What is run for these kinds, each file once."""
    chosen = [KINDS[kind] for kind in kinds]
    files = dict.fromkeys(file for kind in chosen for file in kind.tests)
    types = [["-m", "mypy"]] if any(kind.types for kind in chosen) else []
    return [*types, ["-m", "pytest", "-q", "--no-header", "--tb=short", *files]]


def main(words: Sequence[str]) -> int:
    """Run everything, also after a failure: one run lists all."""
    if unknown := [word for word in words if word not in KINDS]:
        sys.stderr.write(f"expected some of {', '.join(KINDS)}, found {', '.join(unknown)}\n")
        return 2
    codes = [subprocess.run([sys.executable, *line], check=False).returncode for line in commands(words or [*KINDS])]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
