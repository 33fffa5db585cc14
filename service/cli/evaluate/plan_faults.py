"""The faults of a plan file, each by the line on which it stands."""

from __future__ import annotations

from pathlib import Path

from service.cli import exit_codes
from service.errors import GainsayError
from service.evaluation.plan.tables import place_of
from service.policy.file.toml_lines import lines_of, nearest_line


def print_faults(path: Path, text: str, error: GainsayError) -> None:
    """Print each fault on standard error as ``FILE:line: place: what is wrong``, in the order of the file."""
    lines = lines_of(text)
    rows = []
    for part in error.parts:
        line = nearest_line(lines, place_of("".join(part.pointers[:1]))) or 0
        rows.append((line, f"{path}:{line}: {part.detail}" if line else f"{path}: {part.detail}"))
    for _, words in sorted(rows):
        exit_codes.print_error(error.code, words)
