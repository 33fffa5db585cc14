"""The changelog: its sections, and the cut that turns what is unreleased into the section of a release."""

from __future__ import annotations

import re

FILE = "CHANGELOG.md"
UNRELEASED = "## [Unreleased]"
_SECTION = re.compile(
    r"^## \[(?P<name>[^\]]+)\](?: - (?P<day>\d{4}-\d{2}-\d{2}))?[ ]*\n(?P<text>.*?)(?=^## \[|\Z)",
    re.MULTILINE | re.DOTALL,
)


def sections(text: str) -> dict[str, tuple[str | None, str]]:
    """Name -> day and text of each section, in their order. Raises `ValueError` for a heading that is none."""
    found: dict[str, tuple[str | None, str]] = {}
    for hit in _SECTION.finditer(text):
        if hit["name"] in found:
            raise ValueError(f"expected one section {hit['name']} in {FILE}, found two")
        found[hit["name"]] = (hit["day"], hit["text"].strip())
    headings = re.findall(r"^## .*$", text, re.MULTILINE)
    if len(headings) != len(found):
        raise ValueError(f"expected headings such as `## [1.2.0] - 2027-01-31` in {FILE}, found {', '.join(headings)}")
    return found


def fault(text: str, version: str) -> str | None:
    """What keeps this changelog from a release of this version; `None` where nothing does."""
    try:
        found = sections(text)
    except ValueError as error:
        return str(error)
    day, said = found.get(version, (None, ""))
    if day is None or not said:
        heading = f"## [{version}] - YEAR-MONTH-DAY"
        return f"expected a section `{heading}` with lines in {FILE}, found none; make release-cut writes it"
    if waiting := found.get("Unreleased", (None, ""))[1]:
        line = waiting.splitlines()[-1]
        return f"expected nothing unreleased in {FILE}, found {line!r}; it is in this commit, so cut it too"
    return None


def cut(text: str, version: str, day: str) -> str:
    """The changelog with what is unreleased as the section of this version.

    Raises `ValueError` where nothing is unreleased, or the version has a section.
    """
    found = sections(text)
    if version in found:
        raise ValueError(f"expected no section {version} in {FILE}, found one; choose the version after it")
    if not found.get("Unreleased", (None, ""))[1]:
        raise ValueError(f"expected lines under `{UNRELEASED}` in {FILE}, found none: nothing is new to anyone")
    before, _, after = text.partition(f"{UNRELEASED}\n")
    return f"{before}{UNRELEASED}\n\n## [{version}] - {day}\n\n{after.lstrip()}"
