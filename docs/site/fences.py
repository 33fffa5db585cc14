"""The code blocks of every page: which are commands, which of them a test runs, and which bear a mark instead.

A block that no test runs says so, and why, behind its language: ```` ```sh not-run: cluster ````. A code host and the
site show both kinds alike.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SHELLS = frozenset({"bash", "console", "powershell", "sh", "zsh"})
PROGRAMS = frozenset({"js", "python", "ts"})
REASONS = {
    "cluster": "a Kubernetes cluster",
    "collector": "a collector of traces",
    "docker": "a Docker engine",
    "history": "debates of many days, or an answer from a person",
    "host": "the machine of the person who does it, with keys or files of theirs",
    "hours": "hours of a machine",
    "minutes": "minutes of a machine, with all that it measures",
    "packages": "a registry of packages, or a file that a release hands out",
    "process": "a process of an installation, by its number",
    "system": "another operating system",
    "vendor": "an account with a vendor of models",
}
"""What a block that no test runs needs."""
RUN_BY = {
    "clients/python/README.md": "tests/end_to_end/clients/test_readmes.py",
    "clients/typescript/README.md": "tests/end_to_end/clients/test_readmes.py",
    "docs/authentication.md": "tests/end_to_end/test_authentication_doc.py",
    "docs/batches.md": "tests/end_to_end/test_batches_doc.py",
    "docs/calling.md": "tests/end_to_end/clients/test_ten_tasks.py",
    "docs/completions.md": "tests/end_to_end/completions/test_page.py",
    "docs/disaster.md": "tests/drills/test_recovery.py",
    "docs/evaluation.md": "tests/unit/evaluation/statistics/test_page.py",
    "docs/how-to/add-a-metric.md": "tests/unit/test_how_to.py",
    "docs/policy.md": "tests/end_to_end/test_policy_commands.py",
    "docs/prompts.md": "tests/end_to_end/test_prompts_doc.py",
    "docs/releasing.md": "tests/unit/release/test_parts.py",
    "docs/runbook.md": "tests/end_to_end/test_runbook.py",
    "docs/secrets.md": "tests/unit/test_secrets_doc.py",
    "docs/tutorial.md": "tests/end_to_end/clients/test_readmes.py",
    "docs/verification.md": "tests/unit/verify/test_examiners.py",
    "docs/webhooks.md": "tests/end_to_end/test_webhooks_doc.py",
}
"""The test that runs the blocks of a page. Blocks of `console` need no row: `test_readme.py` runs those of any page."""
_FENCE = re.compile(r"^( *)```([\w-]+)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_MARK = "not-run:"


class Fence(NamedTuple):
    """A block: its page from the root, the heading above it, its language, what it needs that no test has, its text."""

    page: str
    heading: str
    language: str
    needs: str
    text: str

    @property
    def is_run(self) -> bool:
        """Whether a test runs what it says."""
        return self.needs == "" and self.language in SHELLS | PROGRAMS


def sources(root: Path = ROOT) -> list[Path]:
    """Every page of the site."""
    folders = ("docs", "clients", "migrations", "bench/corpora", "helm")
    below = [page for folder in folders for page in (root / folder).rglob("*.md") if "node_modules" not in page.parts]
    return sorted([*root.glob("*.md"), *below])


def fences(page: Path, root: Path = ROOT) -> list[Fence]:
    """The blocks of a page; raises `ValueError` for a mark of another form or an unknown reason."""
    text = page.read_text("utf-8")
    name = page.relative_to(root).as_posix()
    headings = [(found.start(), found[1]) for found in _HEADING.finditer(_FENCE.sub(_blank, text))]
    found = []
    for block in _FENCE.finditer(text):
        language, mark = block[2], block[3].strip()
        needs = mark.removeprefix(_MARK).strip()
        if mark and (not mark.startswith(_MARK) or needs not in REASONS or language not in SHELLS | PROGRAMS):
            known = ", ".join(REASONS)
            raise ValueError(f"{name}: ```{language} {mark}: write ```sh {_MARK} REASON, with one of {known}")
        above = [heading for start, heading in headings if start < block.start()]
        found.append(Fence(name, above[-1] if above else "", language, needs, dedent(block[4])))
    return found


def all_fences(root: Path = ROOT) -> list[Fence]:
    """The blocks of every page, in their order."""
    return [fence for page in sources(root) for fence in fences(page, root)]


def _blank(block: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", block[0])


def lines(fence: Fence) -> list[str]:
    """The commands of a block of a shell, continuation lines joined, without comments."""
    joined = re.sub(r"[\\`]\n\s*", " ", fence.text)
    if fence.language == "console":
        return [line[2:] for line in joined.splitlines() if line.startswith("$ ")]
    return [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
