"""``gainsay demo``: the command of the demonstration, whose first lines come before anything large is imported."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from service.cli import beginning, completion, exit_codes, format_options
from service.cli.display.console import console, text
from service.errors import InvalidCase, did_you_mean
from service.report.labels import SIMULATED

if TYPE_CHECKING:
    from rich.console import Console

_IGNORED = (
    *("GAINSAY_DATABASE_URL", "GAINSAY_API_URL", "GAINSAY_MIGRATE_URL", "GAINSAY_SEQUENCER_URL"),
    *("GAINSAY_POLICY", "GAINSAY_PROMPTS_PIN"),
    *("GAINSAY_SIGNING_KEY", "GAINSAY_SIGNER_TOKEN", "GAINSAY_HEADS_DIR", "GAINSAY_LOG_HOST", "GAINSAY_APPROVAL"),
    "GAINSAY_IDENTITY",
)
"""The settings of a real deployment."""
LARGE = ("service.cli.demo.show", "service.web.server", "httpx")
"""What is imported while PostgreSQL starts, beside the tables."""


@click.command()
@click.option(
    *("--format", "format_"),
    default="adversarial",
    metavar="F",
    show_default=True,
    shell_complete=completion.formats,
    help="Rules of the debate.",
)
def demo(format_: str) -> int:
    """Show the whole service on this machine: embedded PostgreSQL, HTTP, debates, replay, reports, verification.

    No network and no key are needed; the models are simulated. The first run is honest. In the second, replies come
    from a file: a weak critique, an invented quotation, and too little money. Any other format than adversarial has the
    first run alone; auto lets the kind of the case choose the format.

    \b
    gainsay demo
    gainsay demo --format ballot
    """
    if format_ not in format_options.FORMATS:
        raise InvalidCase(
            f"unknown format {format_!r}; use one of: {', '.join(format_options.FORMATS)}"
            f"{did_you_mean(format_, format_options.FORMATS)}",
            pointers=("/options/format",),
        )
    begun = time.monotonic()
    environment = {name: value for name, value in os.environ.items() if name not in _IGNORED}
    settings = beginning.read(environment)
    screen = console()
    _opening(screen)
    with beginning.database(settings, "running", *LARGE, quiet=True) as where:
        import asyncio

        from service.cli.demo.show import show_demo

        asyncio.run(show_demo(screen, settings, where, environment, format_))
    screen.print()
    screen.print(text(f"That took {time.monotonic() - begun:.0f} seconds.", "dim"))
    return exit_codes.DONE


def _opening(screen: Console) -> None:
    screen.print(text("Gainsay: effective challenge of a high-stakes answer", "bold"))
    screen.print(
        text("Everything below runs on this machine: PostgreSQL, the HTTP API, a worker. SIMULATED: " + SIMULATED)
    )
    screen.print()
