"""``gainsay prompts list|verify|pin``: the pinned texts that models read."""

from __future__ import annotations

import os

import click

from service.cli import exit_codes
from service.cli.terminal_text import say
from service.policy.settings import read_settings
from service.prompts import DIRECTORY, Change, Prompts, pin, verify_files
from service.prompts.layout_check import all_differences


@click.group()
def prompts() -> None:
    """List, verify or pin the prompts that models read."""


@prompts.command("list")
def list_() -> int:
    """List every pinned file with its version and SHA-256, and the pin over all of them."""
    settings = read_settings(os.environ)
    found = Prompts.load(DIRECTORY, settings.prompts_pin)
    wide = max(len(entry.id) for entry in found.entries)
    for entry in found.entries:
        old = "" if entry.current else "  (kept for debates that began with it)"
        say(f"{entry.id:<{wide}}  v{entry.version}  {entry.kind:<8}  {entry.sha256}{old}")
    say(f"\nGAINSAY_PROMPTS_PIN={found.pin}")
    return exit_codes.DONE


@prompts.command()
def verify() -> int:
    """Compare every file with the manifest, and the manifest with GAINSAY_PROMPTS_PIN.

    It renders the requests that hold a layout (template.layout) again.

    Exit codes: 0 everything matches, 1 something differs.
    """
    settings = read_settings(os.environ)
    if problems := verify_files(DIRECTORY, settings.prompts_pin):
        for problem in problems:
            exit_codes.print_error("prompt_changed", problem)
        return exit_codes.NEGATIVE
    found = Prompts.load(DIRECTORY, settings.prompts_pin)
    if others := all_differences(found):
        for other in others:
            exit_codes.print_error("prompt_changed", other)
        return exit_codes.NEGATIVE
    against = "the pin of GAINSAY_PROMPTS_PIN" if settings.prompts_pin else "no pin is set, so any manifest would do"
    say(f"{len(found.entries)} files are those of the manifest {found.pin} ({against})")
    return exit_codes.DONE


@prompts.command("pin")
def pin_() -> int:
    """Record the present files in the manifest, and print the changes.

    To change a prompt, add a new version of its file (critic.v2.md) beside the old one, then run this command.
    """
    change = pin(DIRECTORY)
    for one in change.changed:
        say(_change_line(one))
    if change.before == change.after:
        say(f"nothing has changed; the pin is {change.after}")
        return exit_codes.DONE
    say(f"pin before: {change.before or 'none'}\npin now:    {change.after}")
    say("Deployments that set GAINSAY_PROMPTS_PIN refuse these prompts until they are given the new one.")
    return exit_codes.DONE


def _change_line(change: Change) -> str:
    what = f"{change.id} v{change.version}  prompts/{change.file}"
    if change.before is None:
        return f"added    {what}\n         now    {change.after}"
    if change.after is None:
        return f"removed  {what}\n         before {change.before}"
    return f"changed  {what}\n         before {change.before}\n         now    {change.after}"
