"""``gainsay audit``: the commands of auditors, examiners and operators of the logs."""

from __future__ import annotations

from typing import ClassVar

import click

from service.cli.command_group import CommandGroup


class _Commands(CommandGroup):
    """Finds a command in the module that holds it, and imports no other."""

    PACKAGE = "service.cli.audit"
    MODULES: ClassVar = {
        "verify": ("verify", "Verify a bundle or an export offline by recomputing it."),
        "compare": ("compare", "Compare two bundles, exports or heads offline: one log, or a fork."),
        "bundle": ("evidence", "Write the bundle of one debate."),
        "export": ("evidence", "Write the records of a log, as JSONL or CSV."),
        "pack": ("pack", "Write every decision of a period, with its evidence and one row each."),
        "recall": ("recall", "List the debates that rest on a prompt, model, document, price or engine."),
        "checkpoint": ("checkpoint", "Print a log's checkpoint, or check the log against an earlier one."),
        "key": ("key", "Make and show keys."),
        "keys": ("keys", "List the verifier keys, with their times and who stands for them."),
        "rotate": ("rotate", "Open a tenant's next log, for a new key or a new year."),
        "remember": ("remember", "Give a signer the head of a log that it has forgotten, on record."),
        "check": ("check", "Recompute the logs from the stored records now."),
    }


@click.command(cls=_Commands)
def audit() -> None:
    """Prove, export, verify and search the audit log.

    `gainsay audit verify FILE` and `gainsay audit compare A B` need only the files and a pinned key: no database, no
    network, no setting.
    """
