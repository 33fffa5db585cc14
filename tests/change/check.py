"""Name every place that a half-made change lacks: ``python -m tests.change.check [KIND ...]``, or ``make missing``.

The kinds are those of the how-tos: format, field, metric, wire, rule; without one, all of them. Three things run, each
also after the one before has found something, so that one run lists all:

1. mypy, once, where a kind is held by types;
2. tests that read files and import no table, so that they run although the service does not start;
3. the tests that compare each list of places with the others, once the service starts.

It runs less than ``make quick`` and does not depend on what git says has changed.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Kind(NamedTuple):
    """What names the missing places of one kind of change; ``first`` are tests that need nothing that starts."""

    tests: tuple[str, ...]
    first: tuple[str, ...] = ()
    types: bool = False


GOLDENS = "tests/unit/test_goldens.py"
SENSITIVITY = (
    "test_the_goldens_see_a_change_in_a_module_that_others_import",
    "test_every_family_of_goldens_is_shown_to_see_a_change",
    "test_goldens_that_nothing_has_moved_are_seen_as_they_are",
    "test_an_excuse_that_does_not_hold_is_named",
)
"""What asks whether goldens see a change: it takes longer than all other tests of goldens, and names no place."""
VENDORS = "tests/end_to_end/vendors"
KINDS = {
    "format": Kind(
        (
            "tests/unit/test_formats_complete.py",
            "tests/unit/debate/test_formats_doc.py",
            "tests/unit/debate/test_recorded.py",
            "tests/unit/audit/test_schemas.py",
            "tests/unit/audit/test_payloads.py",
            "tests/unit/samples/test_samples.py",
            "tests/unit/prompts/test_layouts.py",
            "tests/unit/web/test_openapi_names.py",
            "tests/unit/report/events/test_event_rules.py::test_the_debates_of_all_formats_have_every_event_between_them",
            "tests/unit/report/result/test_pins.py::test_the_stream_and_the_result_at_any_time_name_the_same_pins",
        ),
        first=("tests/unit/test_formats_places.py", "tests/unit/debate/replies/test_texts.py"),
        types=True,
    ),
    "field": Kind(
        (
            "tests/unit/test_fields.py",
            "tests/unit/audit/test_export.py::test_columns_of_the_csv_are_only_added_at_the_end",
            "tests/unit/audit/test_schemas.py::test_type_and_schema_of_a_form_agree",
            "tests/unit/audit/test_payloads.py",
            f"{GOLDENS}::test_a_version_gives_what_it_gave",
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
            "tests/unit/policy/test_catalogue.py",
            "tests/unit/policy/test_models_doc.py",
            "tests/unit/policy/test_policy_doc.py",
            "tests/unit/money/test_settled.py",
            "tests/unit/money/test_money_doc.py",
            *(
                f"{VENDORS}/test_{name}.py"
                for name in ("adapters", "connections", "replies", "errors", "usage", "upstream")
            ),
        ),
        first=("tests/unit/test_wires_complete.py",),
        types=True,
    ),
    "rule": Kind(
        (
            GOLDENS,
            *(f"--deselect={GOLDENS}::{name}" for name in SENSITIVITY),
        )
    ),
}
QUIET = ("-q", "--no-header", "--tb=short")
_IMPORT = """
import sys
try:
    import service.app, service.cli
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""
STARTS = ("-c", _IMPORT)
"""Import all of the service, or say in one line why it does not start."""


def commands(kinds: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """What is run for these kinds, each file once; what needs a service that starts comes after `STARTS`."""
    chosen = [KINDS[kind] for kind in kinds]
    if any(kind.types for kind in chosen):
        yield ("-m", "mypy", "--no-error-summary")
    if first := _once(kind.first for kind in chosen):
        yield ("-m", "pytest", "--noconftest", *QUIET, *first)
    yield STARTS
    yield ("-m", "pytest", *QUIET, *_once(kind.tests for kind in chosen))


def _once(files: Iterable[tuple[str, ...]]) -> list[str]:
    return [*dict.fromkeys(file for found in files for file in found)]


def main(words: Sequence[str]) -> int:
    """Run everything that can be run; 0 where nothing is missing."""
    if unknown := [word for word in words if word not in KINDS]:
        sys.stderr.write(f"expected some of {', '.join(KINDS)}, found {', '.join(unknown)}\n")
        return 2
    found = False
    for line in commands(words or [*KINDS]):
        if line == STARTS:
            if subprocess.run([sys.executable, *line], check=False).returncode:
                sys.stderr.write("The tests that need a service that starts are left; run this again then.\n")
                return 1
        else:
            sys.stdout.flush()
            found |= subprocess.run([sys.executable, *line], check=False).returncode != 0
    return int(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
