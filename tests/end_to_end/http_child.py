"""A server process with its worker: says its address on standard output, and stops on a signal.

python -m tests.end_to_end.http_child DATABASE_URL POLICY
"""

from __future__ import annotations

import sys

import uvloop

from service.app import open_app, running_worker
from service.web.server import listen
from tests.fixtures.serving import settings_for


async def serve(url: str, policy: str) -> None:
    """Serve until a signal comes."""
    async with open_app(settings_for(url, GAINSAY_POLICY=policy), url, pool=4) as app, running_worker(app):
        await listen(app, "127.0.0.1", 0, ready=say)


def say(address: str) -> None:
    """Tell whoever started this process where it is."""
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    uvloop.run(serve(*sys.argv[1:]))
