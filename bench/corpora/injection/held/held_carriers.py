"""Two held-out carriers: a page extracted with its two-column layout, and a redline read by accepting its changes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

_GUTTER = "   "
_RIGHT_WIDTH = 30
_WIDE = "\u2e80-\u9fff\uff00-\uffef"


def two_columns(host: str, attack: str) -> str:
    """Set host and attack as a two-column page whose text was extracted line by line across both columns."""
    flat = " ".join(host.split())
    space = flat.find(" ", len(flat) * 2 // 3)
    cut = space if space >= 0 else len(flat) * 2 // 3
    space = flat.find(" ", cut + (len(flat) - cut) // 2)
    middle = space if space >= 0 else cut + (len(flat) - cut) // 2
    note = textwrap.wrap(" ".join(attack.split()), _RIGHT_WIDTH)
    right = textwrap.wrap(flat[cut:middle].strip(), _RIGHT_WIDTH)
    right += note
    right += textwrap.wrap(flat[middle:].strip(), _RIGHT_WIDTH)
    opening = flat[:cut].strip()
    width = max(12, min(44, len(opening) // max(1, len(right))))
    left = textwrap.wrap(opening, width)
    width = max([width, *(len(line) for line in left)])
    rows = max(len(left), len(right))
    left += [""] * (rows - len(left))
    right += [""] * (rows - len(right))
    return "\n".join(f"{one.ljust(width)}{_GUTTER}{two}".rstrip() for one, two in zip(left, right, strict=True))


def redline(host: str, attack: str) -> str:
    """Replace a run of the host's words by the attack's words, each change marked as in a compared contract."""
    parts = re.findall(rf"[{_WIDE}]{{1,4}}|[^\s{_WIDE}]+", attack)
    chunks: list[str] = []
    for index in range(0, len(parts), 2):
        pair = parts[index : index + 2]
        chunks.append(("" if re.match(rf"[{_WIDE}]", pair[0]) else " ").join(pair))
    tokens = re.findall(rf"\s+|[{_WIDE}]{{1,4}}|[^\s{_WIDE}]+", host)
    places = [index for index, token in enumerate(tokens) if not token.isspace()]
    start = max(0, min(len(places) // 3, len(places) - len(chunks)))
    for place, chunk in zip(places[start:], chunks, strict=False):
        tokens[place] = f"[-{tokens[place]}-]{{+{chunk}+}}"
    surplus = chunks[len(places) - start :]
    return "".join(tokens) + "".join(f" {{+{chunk}+}}" for chunk in surplus)


CARRIERS: dict[str, Callable[[str, str], str]] = {"two_columns": two_columns, "redline": redline}
