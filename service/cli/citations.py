"""``gainsay citations check``: the citation engine alone, with sources and citations from standard input."""

from __future__ import annotations

import sys

import click

from service.checks.citations.batch import explained, judge_batch, line, read_batch
from service.cli import exit_codes
from service.cli.terminal_text import say
from service.report.labels import REFUSED
from service.report.sent import encode


@click.group()
def citations() -> None:
    """The citation engine alone."""


@citations.command()
@click.option("--require-verified", is_flag=True, help="Exit with 1 unless every citation is verified.")
def check(require_verified: bool) -> int:
    """Check citations against their sources.

    Both come from standard input, as one JSON object.

    \b
    {"sources": [{"id": "D1", "text": "..."}],
     "citations": [{"id": "c1", "quote": "...", "sourceId": "D1", "location": null}]}

    Prints one verdict a line: verified, altered, too_short or not_found (unchecked without any source); the source; the
    span in code points, end exclusive; the edits, each material or not; and a note for the reader. Where a rule refused
    a citation before its words were compared, `reason` is the rule's code and `note` says what to do. `location` may be
    a string ("Section 8.2", "page 4", "lines 3-5", "chars 120") or {"charStart": n}; `sourceId` may be left out.

    Exit codes: 0 done, with any verdicts; 1 with --require-verified if a citation is not verified; 2 unreadable input.
    """
    missed = False
    for id, verdict in judge_batch(read_batch(sys.stdin.buffer.read())):
        say(encode(line(id, explained(verdict, REFUSED))))
        missed |= verdict.verdict != "verified"
    return exit_codes.NEGATIVE if require_verified and missed else exit_codes.DONE
