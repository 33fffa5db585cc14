"""The sizes of answers and streams that `docs/calling.md` tells are those of real ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service import samples
from tests.fixtures.serving import Served

pytestmark = pytest.mark.asyncio(loop_scope="module")

VARIANTS = {
    "adversarial": None,
    "stances": "stances",
    "ballot": "ballot",
    "panel": "panel",
    "convergence": "convergence",
}
NEAR = 0.1
"""By how much a size may differ: seeds draw labels and orders, and models' replies follow them."""
_ROW = re.compile(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


def told(root: Path) -> dict[str, tuple[float, ...]]:
    """The rows of the table, in bytes: of the whole result, its summary, its stream."""
    part = (root / "docs/calling.md").read_text("utf-8").partition("\n## Read the decision\n")[2].partition("\n## ")[0]
    return {name: tuple(1_000 * float(cell) for cell in cells) for name, *cells in _ROW.findall(part)}


@pytest.mark.parametrize("form", VARIANTS)
async def test_the_sizes_that_the_page_tells_are_those_of_real_answers(site: Served, root: Path, form: str) -> None:
    sample = samples.load("contract", VARIANTS[form]).case
    debate = (await site.finished(sample))["debateId"]

    paths = ("?view=full", "", "/events")
    found = [len((await site.http.get(f"/v1/debates/{debate}{path}")).content) for path in paths]

    assert set(told(root)) == set(VARIANTS)
    assert found == pytest.approx(told(root)[form], rel=NEAR), "write what was found into docs/calling.md"
