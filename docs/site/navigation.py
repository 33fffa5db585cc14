"""The navigation of the site follows from links that readers of a code host see too.

`docs/README.md` has a section for each kind of reader, and the pages that it links are that section's pages. The
README of a folder below `docs/` links the other pages of its folder. A page that none of them links is in no
navigation, and the build fails.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
HOME = "README"
ENTRIES = "docs/README"
_LINK = re.compile(r"\]\(([\w./-]+\.md)(?:#[\w-]+)?\)")
_SECTION = re.compile(r"^## (.+)\n((?:(?!## ).*\n?)*)", re.MULTILINE)


def linked(text: str, folder: PurePosixPath) -> list[str]:
    """The pages that a text links, each once and in order, as paths from the root without ``.md``."""
    found: dict[str, None] = {}
    for link in _LINK.findall(text):
        parts: list[str] = []
        for part in (folder / link).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        found["/".join(parts).removesuffix(".md")] = None
    return list(found)


def sections(root: Path = ROOT) -> dict[str, list[str]]:
    """The pages of each section of `docs/README.md`; a page that two sections link belongs to the first."""
    text = (root / f"{ENTRIES}.md").read_text("utf-8")
    taken = {HOME, ENTRIES}
    found: dict[str, list[str]] = {}
    for title, body in _SECTION.findall(text):
        found[title] = [page for page in linked(body, PurePosixPath("docs")) if page not in taken]
        taken.update(found[title])
    return found


def within(page: str, root: Path = ROOT) -> list[str]:
    """The other pages in or below the folder of a README that it links."""
    folder = PurePosixPath(page).parent
    text = (root / f"{page}.md").read_text("utf-8")
    return [other for other in linked(text, folder) if PurePosixPath(other).is_relative_to(folder) and other != page]


def pages(root: Path = ROOT) -> set[str]:
    """Every page that the navigation has."""
    first = {HOME, ENTRIES, *(page for part in sections(root).values() for page in part)}
    return first | {page for index in first if _of_folder(index) for page in within(index, root)}


def _of_folder(page: str) -> bool:
    return re.fullmatch(r"docs/[\w-]+/README", page) is not None


def _tree(of: list[str], *options: str) -> str:
    return "\n".join(["", "```{toctree}", *options, ":hidden:", "", *(f"/{page}" for page in of), "```", ""])


def _add(_: Sphinx, page: str, source: list[str]) -> None:
    """Add to a page, as Sphinx reads it, the part of the navigation that follows from its links."""
    if page == HOME:
        trees = [_tree([ENTRIES])]
        trees += [_tree(part, f":caption: {title}") for title, part in sections().items()]
        source[0] += "".join(trees)
    elif _of_folder(page):
        source[0] += _tree(within(page))


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx asks of an extension."""
    app.connect("source-read", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
