"""The blocks of docs/disaster.md, which the drills run."""

from __future__ import annotations

import re

from tests.fixtures.running import repository

DOCUMENT = (repository() / "docs" / "disaster.md").read_text("utf-8")


def blocks(language: str, heading: str) -> list[str]:
    """The blocks of a language below a heading of the document, up to the next one."""
    part = re.split(rf"^##+ {re.escape(heading)}$", DOCUMENT, flags=re.MULTILINE)[1]
    part = re.split(r"^##+ ", part, flags=re.MULTILINE)[0]
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", part, re.MULTILINE | re.DOTALL)
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]
