"""Reads the Dockerfile: its stages and their instructions, as far as this repository uses the language."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Instruction(NamedTuple):
    """One instruction, its continued lines joined; ``line`` is its first in the file."""

    word: str
    text: str
    line: int

    @property
    def flags(self) -> dict[str, str]:
        """``--name=value`` before the words."""
        found = {}
        for part in self.text.split():
            if not part.startswith("--"):
                break
            name, _, value = part[2:].partition("=")
            found[name] = value
        return found

    @property
    def words(self) -> list[str]:
        """The words behind the flags, also of the form in JSON."""
        rest = " ".join(part for part in self.text.split())
        for flag in self.flags:
            rest = re.sub(rf"^--{flag}\S*\s*", "", rest)
        return list(json.loads(rest)) if rest.startswith("[") else rest.split()

    @property
    def pairs(self) -> dict[str, str]:
        """``NAME=value`` of ENV, LABEL and ARG, quotes removed."""
        found = re.findall(r"([\w.]+)=(\"[^\"]*\"|\S*)", self.text)
        return {name: value.strip('"') for name, value in found}


class Stage(NamedTuple):
    """The instructions from one FROM up to the next, without it."""

    base: str
    name: str
    steps: list[Instruction]

    def all(self, word: str) -> list[Instruction]:
        """Its instructions of one word."""
        return [step for step in self.steps if step.word == word]

    def environment(self, given: dict[str, str]) -> dict[str, str]:
        """What ENV sets at the end, over what is given."""
        found = dict(given)
        for step in self.all("ENV"):
            found |= {name: expanded(value, found) for name, value in step.pairs.items()}
        return found


def expanded(text: str, given: dict[str, str]) -> str:
    """``${NAME}`` replaced."""
    return re.sub(r"\$\{(\w+)\}", lambda found: given.get(found[1], ""), text)


def instructions(text: str) -> list[Instruction]:
    """Every instruction; comments inside of one that is continued are left out, as builders do."""
    found, begun, parts = [], 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("#") or not line.strip():
            continue
        begun = begun if parts else number
        parts.append(line.rstrip().removesuffix("\\").strip())
        if not line.rstrip().endswith("\\"):
            word, _, rest = " ".join(parts).partition(" ")
            found.append(Instruction(word, rest.strip(), begun))
            parts = []
    return found


def stages(text: str | None = None) -> tuple[dict[str, str], list[Stage]]:
    """The arguments before the first stage, and the stages; of this repository's Dockerfile where no text is given."""
    arguments: dict[str, str] = {}
    found: list[Stage] = []
    for step in instructions((ROOT / "Dockerfile").read_text("utf-8") if text is None else text):
        if step.word == "FROM":
            base, *rest = step.words
            found.append(Stage(expanded(base, arguments), rest[1] if rest else "", []))
        elif found:
            found[-1].steps.append(step)
        else:
            arguments |= step.pairs
    return arguments, found
