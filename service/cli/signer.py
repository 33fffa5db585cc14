"""``gainsay signer | witness``: the processes that sign and cosign heads, separate from the service."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import click
import uvloop
from litestar.types import ASGIApp

from service import log_lines
from service.audit.note import BadKey, PublicKey
from service.cli import exit_codes, startup
from service.cli.logs import announce
from service.errors import SettingsError
from service.policy.settings import TOKEN, read_metrics_token
from service.proving.signing.checkpoint_files import CheckpointFiles
from service.proving.signing.countersigner import Countersigner
from service.proving.signing.local import LocalSigner
from service.proving.signing.open import is_loopback, read_place, read_token

KEY = click.option("--key", "place", required=True, metavar="PLACE", help="The key: file:PATH or env:NAME.")
HEADS = click.option(
    "--heads",
    "folder",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder for the last head of each log, on a durable disk and for this process alone.",
)
HOST = click.option(
    "--host", default="127.0.0.1", show_default=True, help="Where to listen; :: is all of IPv6 and IPv4."
)


PORT = click.IntRange(0, 65_535)


@click.command()
@KEY
@HEADS
@click.option("--log", "logs", required=True, multiple=True, metavar="VKEY", help="A log's verifier key; repeatable.")
@HOST
@click.option("--port", default=8322, show_default=True, type=PORT, help="The port; 0 takes any free one.")
def witness(place: str, folder: Path, logs: tuple[str, ...], host: str, port: int) -> int:
    """Run a witness until SIGTERM or Ctrl-C: it cosigns heads of logs that only grow (C2SP tlog-witness).

    A verifier key named example.com is that of all logs below example.com/. A third party should run the witness: its
    cosignature is worth nothing if the operator of the service controls it. The folder holds the witness's whole
    memory. After losing it, begin again as a new witness with a new key.
    """
    startup.start_without_settings()
    metrics_token = read_metrics_token(os.environ)
    heads = CheckpointFiles(folder, "witnessed")
    countersigner = Countersigner(read_place(place, os.environ), [_log(text) for text in logs], heads)
    heads.alone()

    def ready(address: str) -> None:
        words = f"witness on {address}/add-checkpoint, {_remembered(heads)}; Ctrl-C stops"
        announce(log_lines.WITNESSING, words, address=address, heads=heads.count())

    from service.web.signer_api import Probed, make_witness_api

    return _serve(make_witness_api(countersigner, Probed(heads.troubles, metrics_token)), host, port, ready)


@click.command()
@KEY
@HEADS
@HOST
@click.option("--port", default=8323, show_default=True, type=PORT, help="The port; 0 takes any free one.")
def signer(place: str, folder: Path, host: str, port: int) -> int:
    """Run a signer until SIGTERM or Ctrl-C: a separate process that holds the key of the logs.

    The signer signs no head that contradicts the last one that it signed. Clients need GAINSAY_SIGNER_TOKEN, with the
    same value on both sides. Without a token the signer listens on this machine alone, and every local user may use
    it.
    """
    startup.start_without_settings()
    metrics_token = read_metrics_token(os.environ)
    token = read_token(os.environ)
    if token is None and not is_loopback(host):
        raise SettingsError(f"expected {TOKEN} for a signer on {host}, found none; set it, or listen on 127.0.0.1")
    heads = CheckpointFiles(folder)
    local = LocalSigner(read_place(place, os.environ), heads)
    heads.alone()

    def ready(address: str) -> None:
        words = f"signer on {address}, {_remembered(heads)}; Ctrl-C stops"
        announce(log_lines.SIGNING, words, address=address, heads=heads.count())

    from service.web.signer_api import Probed, make_signer_api

    return _serve(make_signer_api(local, token, Probed(heads.troubles, metrics_token)), host, port, ready)


def _serve(app: ASGIApp, host: str, port: int, ready: Callable[[str], None]) -> int:
    from service.web.server import serve

    uvloop.run(serve(app, host, port, ready=ready))
    return exit_codes.DONE


def _log(text: str) -> PublicKey:
    try:
        return PublicKey.parse(text)
    except BadKey as error:
        raise SettingsError(f"--log: {error.detail}") from error


def _remembered(heads: CheckpointFiles) -> str:
    count = heads.count()
    return f"remembering the heads of {count} logs" if count else "remembering no head: each log's next is its first"
