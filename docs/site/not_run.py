"""Writes `docs/not-run.md`: ``python -m docs.site.not_run``, after a change to a block that no test runs."""

from __future__ import annotations

import re
from pathlib import Path

from docs.site.fences import REASONS, ROOT, Fence, all_fences, lines

PAGE = ROOT / "docs" / "not-run.md"
_HEAD = """\
# What is shown and not run

Every command, program and request that these pages show is run by a test, but for the blocks below. Each needs
something that is not there when the tests run, and is marked in its page behind its language
(```` ```sh not-run: cluster ````). A test parses them: shells by `bash -n`, commands of `gainsay` by the program,
those of Docker, Helm and kubectl by their first words. This list is written by `python -m docs.site.not_run`, and a
test compares it with the pages.

"""


def written(found: list[Fence]) -> str:
    """The page for the blocks of all pages."""
    marked = [fence for fence in found if fence.needs]
    run = sum(fence.is_run for fence in found)
    rows = "".join(f"| {_place(fence)} | {len(lines(fence))} | {_shown(fence)} |\n" for fence in marked)
    reasons = "".join(f"| `{each}` | {REASONS[each]} | {_count(marked, each)} |\n" for each in _used(marked))
    return (
        f"{_HEAD}{run} blocks are run; {len(marked)} are not.\n\n"
        f"| mark | what it needs | blocks |\n|---|---|---|\n{reasons}\n"
        f"| where | commands | begins with | mark |\n|---|---|---|---|\n{rows}"
    )


def _used(marked: list[Fence]) -> list[str]:
    return sorted({fence.needs for fence in marked})


def _count(marked: list[Fence], reason: str) -> int:
    return sum(fence.needs == reason for fence in marked)


def _place(fence: Fence) -> str:
    path = Path(fence.page)
    link = path.relative_to("docs").as_posix() if path.parts[0] == "docs" else f"../{fence.page}"
    return f"[{fence.page}]({link}#{anchor(fence.heading)}), {fence.heading}"


def anchor(heading: str) -> str:
    """The anchor of a heading, as a code host makes it."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w -]", "", plain.lower()).replace(" ", "-")


def _shown(fence: Fence) -> str:
    first = lines(fence)[0].replace("|", "\\|")
    return f"`{first if len(first) <= 60 else first[:57] + '...'}` | `{fence.needs}`"


if __name__ == "__main__":
    PAGE.write_text(written(all_fences()), "utf-8")
