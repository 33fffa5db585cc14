"""The command line: ``gainsay <command>``.

Exit codes: 0 done, 1 negative answer (declined, not verified), 2 usage, 3 failed, 4 verified in part: no step failed,
and at least one was not checkable. A debate with any answer is done, also when its money ran out after a moderation. A
debate that failed or was aborted has failed. Each command is a module of its own, imported when it is called, so that
quick commands start quickly.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import ClassVar

import click

from service import __version__
from service.cli import exit_codes
from service.cli.command_group import CommandGroup
from service.cli.memory_guard import keep_no_core

__all__ = ["main"]


class _Commands(CommandGroup):
    """Finds a command in the module that holds it, and imports no other."""

    PACKAGE = "service.cli"
    MODULES: ClassVar = {
        "demo": ("demo", "Show the whole service on this machine, without a network or a key."),
        "review": ("review", "Challenge an answer: gate, debate and result."),
        "list": ("listing", "List debates by what came of them, and find one again."),
        "show": ("show", "Show one debate, live or when it is over."),
        "abort": ("abort", "Abort a debate, which makes no further model calls."),
        "budget": ("budget", "Show what remains of the tenant's money for today and this month."),
        "quote": ("quote", "Quote the cost of a case without a model call."),
        "policy": ("policy", "Write a first policy file, check one, or show the whole that is in force."),
        "config": ("config", "Show the settings that are in force, each with its source, and no secret."),
        "doctor": ("doctor", "Check this deployment, part by part, with the remedy for each fault."),
        "probe": ("probe.command", "Probe a running service: one debate, checked to its proof."),
        "health": ("health", "Say whether the process of this container lives, for the image's health check."),
        "models": ("models", "List the models, their prices and their track records."),
        "templates": ("templates", "List templates of questions, or print one as a case to be filled."),
        "gate": ("gate", "Decide whether a question deserves a debate, with reasons."),
        "serve": ("serve", "Serve the HTTP API, with a worker in the same process."),
        "mcp": ("mcp.command", "Serve agents that speak the Model Context Protocol."),
        "work": ("serve", "Run debates from the queue, without an API."),
        "migrate": ("serve", "Migrate the database to the schema of this version."),
        "report": ("report", "Write the report of a debate: HTML, PDF, Markdown or JSON."),
        "replay": ("report", "Replay a recorded debate and check that its records agree."),
        "prompts": ("prompts", "List, verify or pin the prompts that models read."),
        "audit": ("audit", "Prove, export, verify and search the audit log; its keys and logs."),
        "sequence": ("sequence", "Run the sequencer, which makes durable records provable."),
        "signer": ("signer", "Run a signer: a separate process that holds the key of the logs."),
        "witness": ("signer", "Run a witness, which cosigns heads of logs that only grow."),
        "keys": ("keys", "Issue, list, replace and revoke API keys."),
        "tenants": ("keys", "Create and list tenants."),
        "subjects": ("keys", "List and revoke the subjects that records name."),
        "approve": ("approve", "Approve the configuration: sign it with the approver's key."),
        "baseline": ("baseline", "Record how many explicit uncertainties are usual, for an alert."),
        "stop": ("stop", "Stop the embedded PostgreSQL that the last command left warm."),
        "rebuild": ("rebuild", "Rebuild the search tables from the records."),
        "citations": ("citations", "Check citations against their sources."),
        "evaluate": ("evaluate", "Measure critics, moderators and debates, and recompute every figure."),
    }


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="gainsay")
def gainsay() -> None:
    """Challenge a high-stakes answer before it is used.

    A proposer, a critic and a rebuttal argue a question with its documents under a cost ceiling. A moderator that sees
    neither models nor seats weighs their arguments. Other formats have assigned stances, votes, a panel, or rounds
    until the answers agree. Code checks every quotation against the documents. Every step is recorded.

    Begin with `gainsay demo`.

    \b
    Exit codes: 0 done, 1 negative answer (declined, not verified), 2 usage, 3 failed, 4 verified in part
    (no step failed, at least one was not checkable).
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code. Errors print no stack trace unless GAINSAY_LOG_LEVEL is DEBUG."""
    if arguments is None:  # a process of its own, not a call from another program
        keep_no_core()
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="nearest")
    return exit_codes.run(gainsay, arguments)
