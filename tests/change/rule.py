"""The toy rule: a critique needs nine points where it needed three, as docs/how-to/change-a-rule.md says."""

from __future__ import annotations

from tests.change.tree import ROOT, Edit, Run, Write

COPIED, ROW, GOLDENS, CASES, FAMILY, SAID = "1 copy", "2 row", "4 goldens", "3 cases", "5 family", "6 changelog"
FIRST = "service/checks/judgement/critique.py"
SECOND = "service/checks/judgement/critique_2.py"
TABLE = "service/checks/judgement/__init__.py"
FEW, MORE = "    few_points: int = 3\n", "    few_points: int = 9\n"

_COPY = (ROOT / FIRST).read_text("utf-8")

IN_PLACE = (Edit("in place", FIRST, FEW, MORE),)
"""The change as a person makes it who does not know of versions."""

CHANGE = (
    Write(COPIED, SECOND, _COPY.replace("Recorded under `judgement/1`", "Recorded under `judgement/2`")),
    Edit(COPIED, SECOND, FEW, MORE),
    Edit(
        ROW,
        TABLE,
        "from service.checks.judgement.critique import check_critique\n",
        "from service.checks.judgement import critique_2\n"
        "from service.checks.judgement.critique import check_critique\n",
    ),
    Edit(
        ROW,
        TABLE,
        'CRITIQUES: Mapping[str, CritiqueEngine] = {"judgement/1": check_critique}\n',
        "CRITIQUES: Mapping[str, CritiqueEngine] = {\n"
        '    "judgement/1": check_critique,\n'
        '    "judgement/2": critique_2.check_critique,\n'
        "}\n",
    ),
    Edit(
        CASES,
        "tests/vectors/goldens/critiques.py",
        "        return lines(name, {1: [*found, *((what, case.by(engine)) for what, case in cases())]})\n",
        "        first = [*found, *((what, case.by(engine)) for what, case in cases())]\n"
        "        return lines(name, {1: first, 2: [(what, case.by(engine)) for what, case in later_cases()]})\n",
    ),
    Edit(
        CASES,
        "tests/vectors/goldens/critiques.py",
        "def goldens() -> dict[str, Golden]:\n",
        "def later_cases() -> Iterator[tuple[str, Judged]]:\n"
        '    """Critiques around nine points."""\n'
        "    for count in range(6, 12):\n"
        '        yield f"{count} points", Judged(critique(*(text(9 * n, 9 * n + 9) for n in range(count))), ["-"])\n'
        "\n\n"
        "def goldens() -> dict[str, Golden]:\n",
    ),
    Edit(
        FAMILY,
        "tests/vectors/perturbed.py",
        f'    "critiques": ("{FIRST}",),\n',
        f'    "critiques": ("{FIRST}", "{SECOND}"),\n',
    ),
    Run(GOLDENS, ("-m", "tests.vectors.goldens")),
    Edit(
        SAID,
        "CHANGELOG.md",
        "### Added\n\n",
        "### Added\n\n- A critique of fewer than nine points is flagged (`judgement/2`).\n",
    ),
)

NAMED = {
    COPIED: ("critique_2",),
    ROW: (SECOND, "is of no version"),
    GOLDENS: ("judgement-2.critique.jsonl is missing",),
    FAMILY: (SECOND, "tests/vectors/perturbed.py"),
}
"""What a run says where one step was left out. Nothing misses cases at the new threshold but the command of step 5."""
