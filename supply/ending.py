"""How a command of this folder ends: what it does, or one line for what it refuses and the exit code 1."""

from __future__ import annotations

import sys
from collections.abc import Callable

DONE, REFUSED = 0, 1


def ended(work: Callable[[], object]) -> int:
    """Do the work; print what it refuses by `ValueError`, or what a file refuses it, and return the exit code."""
    try:
        work()
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return REFUSED
    return DONE
