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
_ROW = re.compile(r"^\| (\w+)" + r" \| ([\d.]+)" * 7 + r" \|$", re.MULTILINE)
CODINGS = ("identity", "gzip", "zstd")


def told(root: Path) -> dict[str, tuple[float, ...]]:
    """The rows of the table, in bytes: of the whole result and its summary in each coding, and of the stream."""
    part = (root / "docs/calling.md").read_text("utf-8").partition("\n## Read the decision\n")[2].partition("\n## ")[0]
    return {name: tuple(1_000 * float(cell) for cell in cells) for name, *cells in _ROW.findall(part)}


async def sent(site: Served, path: str, accepted: str) -> int:
    """The bytes of a body as they are on the wire."""
    async with site.http.stream("GET", path, headers={"accept-encoding": accepted}) as answer:
        return sum([len(chunk) async for chunk in answer.aiter_raw()])


@pytest.mark.parametrize("form", VARIANTS)
async def test_the_sizes_that_the_page_tells_are_those_of_real_answers(site: Served, root: Path, form: str) -> None:
    sample = samples.load("contract", VARIANTS[form]).case
    debate = (await site.finished(sample))["debateId"]

    asked = [*((path, coding) for path in ("?view=full", "") for coding in CODINGS), ("/events", "gzip, zstd")]
    found = [await sent(site, f"/v1/debates/{debate}{path}", coding) for path, coding in asked]

    assert set(told(root)) == set(VARIANTS)
    assert found == pytest.approx(told(root)[form], rel=NEAR), "write what was found into docs/calling.md"
