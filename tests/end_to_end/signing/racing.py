"""A process that wants to keep a head of its own at every size, and tells at which it was first.

python -m tests.end_to_end.signing.racing FOLDER NAME SIZES
"""

from __future__ import annotations

import sys
from hashlib import sha256
from pathlib import Path

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.proving.signing.checkpoint_files import CheckpointFiles, StoredCheckpoint
from tests.fixtures.vouching import LOG, ORIGIN


def race(folder: Path, name: str, sizes: int) -> list[int]:
    """The sizes at which this process was first."""
    heads, won = CheckpointFiles(folder), []
    for size in range(1, sizes + 1):
        note = sign_checkpoint(Checkpoint(ORIGIN, size, sha256(f"{name}{size}".encode()).digest()), LOG)

        def mine(last: StoredCheckpoint | None, size: int = size, note: bytes = note) -> bytes | None:
            return note if last is None or last.head.size < size else None

        if heads.advance(ORIGIN, mine):
            won.append(size)
    return won


if __name__ == "__main__":
    sys.stdin.readline()  # all begin at once
    sys.stdout.write(" ".join(map(str, race(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))))
