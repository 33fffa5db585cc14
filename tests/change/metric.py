"""The toy metric: struck arguments by seat, as docs/how-to/add-a-metric.md says."""

from __future__ import annotations

from tests.change.tree import Edit

DECLARED, COUNTED, DESCRIBED, SHOWN, SAID = "1 declare", "2 count", "3 describe", "4 show", "5 say"

CHANGE = (
    Edit(
        DECLARED,
        "service/telemetry.py",
        '    {"task_type": TASK_TYPES, "reason": ("unverified_citation", "uncited")},\n',
        '    {"task_type": TASK_TYPES, "reason": ("unverified_citation", "uncited"), "seat": SEATS},\n',
    ),
    Edit(
        COUNTED,
        "service/running/metrics.py",
        "            telemetry.STRIKES.labels(task_type=task_type, reason=argument.struck).inc()\n",
        "            seat = role_of(seat_of(argument.turn))\n"
        "            telemetry.STRIKES.labels(task_type=task_type, reason=argument.struck, seat=seat).inc()\n",
    ),
    Edit(
        DESCRIBED,
        "docs/metrics.md",
        "| `gainsay_arguments_struck_total` | counter | `task_type`, `reason` |",
        "| `gainsay_arguments_struck_total` | counter | `task_type`, `reason`, `seat` |",
    ),
    Edit(
        SHOWN,
        "tests/unit/running/test_metrics.py",
        '    assert value(found, "gainsay_arguments_struck_total", **of, reason="unverified_citation") == 1\n',
        '    struck = {"reason": "unverified_citation", "seat": "critic"}\n'
        '    assert value(found, "gainsay_arguments_struck_total", **of, **struck) == 1\n',
    ),
    Edit(
        SAID,
        "CHANGELOG.md",
        "### Added\n\n",
        "### Added\n\n- `gainsay_arguments_struck_total` has a label `seat`.\n",
    ),
)

NAMED = {
    DECLARED: ("service/running/metrics.py:", "expected telemetry.STRIKES.labels(task_type=..., reason=...)"),
    COUNTED: (
        "service/running/metrics.py:",
        "expected telemetry.STRIKES.labels(task_type=..., reason=..., seat=...)",
    ),
    DESCRIBED: ("docs/metrics.md: STRIKES: expected | `gainsay_arguments_struck_total` | counter |", "`seat`"),
    SHOWN: ("tests/unit/running/test_metrics.py", "gainsay_arguments_struck_total"),
}
"""What a run says where one step was left out. Nothing misses the line of the changelog, and the how-to says so."""
