"""A sequencer process that dies by SIGKILL where it is told to: before it signs its n-th head, or right after.

python -m tests.faults.dying_sequencer before|after N, with the settings of a sequencer in the environment
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence

from service.app import sequencing_at
from service.audit.checkpoint import Checkpoint
from service.audit.note import PublicKey
from service.policy.settings import read_settings
from service.proving.signing.local import LocalSigner
from service.store.startup import sequencer_url


def die_at(where: str, head: int) -> None:
    """Let this process die the hard way around the signing of its n-th head."""
    sign = LocalSigner.sign
    count = 0

    async def sign_and_die(self: LocalSigner, checkpoint: Checkpoint, key: PublicKey, path: Sequence[bytes]) -> bytes:
        nonlocal count
        count += 1
        if count == head and where == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        note = await sign(self, checkpoint, key, path)
        if count == head and where == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return note

    LocalSigner.sign = sign_and_die  # type: ignore[method-assign]


async def sequence() -> None:
    """Sequence for ever."""
    settings = read_settings(os.environ)
    with sequencer_url(settings) as url:
        async with sequencing_at(url, settings):
            await asyncio.Event().wait()


if __name__ == "__main__":
    die_at(sys.argv[1], int(sys.argv[2]))
    asyncio.run(sequence())
