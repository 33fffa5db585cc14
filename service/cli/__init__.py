"""The command line: ``gainsay <command>``.

Exit codes: 0 done, 1 negative answer (declined, not verified), 2 usage, 3 failed. A debate that came to an answer is
done, whatever the answer is, and also when the money ended first and a moderation was still paid for; one that failed
or was aborted has failed. Every command is a module of its own, imported when it is called, so that the quick ones are
quick.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import ClassVar

import click

from service import __version__
from service.cli import exit_codes

__all__ = ["main"]


class _Commands(click.Group):
    """Finds a command in the module that holds it, and imports no other."""

    MODULES: ClassVar = {
        "demo": ("demo", "Show the whole service on this machine, without a network or a key."),
        "review": ("review", "Challenge an answer: gate, debate and result."),
        "quote": ("quote", "Say what a debate of a case would cost, without asking anybody."),
        "gate": ("gate", "Decide whether a question deserves a debate, and say why."),
        "serve": ("serve", "Serve the HTTP API, with a worker in the same process."),
        "work": ("serve", "Run debates from the queue, without an API."),
        "migrate": ("serve", "Bring the database to the schema of this version."),
        "report": ("report", "Tell a recorded debate, as text, Markdown, HTML, PDF or JSON."),
        "replay": ("report", "Go through a recorded debate once more: does it agree with itself?"),
        "prompts": ("prompts", "List, verify or pin the texts that models are told."),
        "audit": ("audit", "Prove, export, verify and search the audit log; its keys and logs."),
        "sequence": ("sequence", "Make durable records provable: the one sequencer of the logs."),
        "signer": ("signer", "Hold the key that signs heads of logs, in a process of its own."),
        "witness": ("signer", "Countersign heads of logs that only ever grow."),
        "approve": ("approve", "Sign the configuration that runs, with a key of one's own."),
        "rebuild": ("rebuild", "Make what is searched by anew from the records."),
        "citations": ("citations", "Check quotations against their sources."),
    }
    """Each command's module, and what it does in a line, so that a list of them imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the order in which a newcomer meets them."""
        return list(self.MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, or ``None``."""
        if cmd_name not in self.MODULES:
            return None
        module = importlib.import_module(f"service.cli.{self.MODULES[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in the help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in self.MODULES.items()])


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="gainsay")
def gainsay() -> None:
    """Challenge a high-stakes answer before anyone relies on it.

    A question with its documents is argued by a proposer, a critic and a rebuttal, weighed by a moderator who knows
    neither models nor roles, under a cost ceiling; or by debaters with assigned stances, votes, a panel, or until all
    say the same. Every quotation is checked against the documents by code, and every step is recorded.

    Begin with `gainsay demo`.

    \b
    Exit codes: 0 done, 1 negative answer (declined, not verified), 2 usage, 3 failed.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code. No error leaves a stack trace, unless GAINSAY_LOG_LEVEL is DEBUG."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="nearest")
    return exit_codes.run(gainsay, arguments)
