"""What the engines read and compile once in a process, a third of a second of work, done before the first check."""

from __future__ import annotations

from service.checks.citations.text import lexicon
from service.checks.injection.concepts import vocabulary
from service.checks.injection.scoring import weights
from service.checks.patterns import compile_all


def make_ready() -> None:
    """Compile every expression of the engines and read their tables; done again it takes no time."""
    compile_all()
    weights()
    vocabulary()
    lexicon.words()
