"""A process that keeps a head and dies by SIGKILL before or after the n-th call of one function of the system.

python -m tests.end_to_end.signing.dying FOLDER fsync|rename before|after N
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from service.proving.signing.checkpoint_files import CheckpointFiles
from tests.fixtures.vouching import ORIGIN, TREE


def die_at(name: str, when: str, call: int) -> None:
    """Let this process die the hard way at a call."""
    really, count = getattr(os, name), 0

    def wrapped(*arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        if when == "before" and count == call:
            os.kill(os.getpid(), signal.SIGKILL)
        result = really(*arguments, **named)
        if when == "after" and count == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(os, name, wrapped)


if __name__ == "__main__":
    die_at(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    CheckpointFiles(Path(sys.argv[1])).advance(ORIGIN, lambda _last: TREE.note(9))
