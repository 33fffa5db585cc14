"""A witness that dies by SIGKILL when it has kept a head and not yet answered.

python -m tests.end_to_end.signing.dying_witness FOLDER
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from service.proving.signing.checkpoint_files import CheckpointFiles, StoredCheckpoint
from service.proving.signing.countersigner import Answer, Countersigner
from service.web.server import serve
from service.web.signer_api import make_witness_api
from tests.fixtures.vouching import LOG, WITNESS


class Dying(Countersigner):
    """Never comes to answer what it has taken."""

    def _granted(self, kept: StoredCheckpoint) -> Answer:
        os.kill(os.getpid(), signal.SIGKILL)
        return super()._granted(kept)


def tell(address: str) -> None:
    """Say where this process is."""
    sys.stderr.write(f"{address}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    dying = Dying([WITNESS], [LOG.public], CheckpointFiles(Path(sys.argv[1]), "witnessed"))
    asyncio.run(serve(make_witness_api(dying), "127.0.0.1", 0, ready=tell))
