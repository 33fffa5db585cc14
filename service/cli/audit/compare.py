"""``gainsay audit compare``: two bundles, exports or heads against each other, with nothing but pinned keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import IO, Any

import click

from service.audit.note import ED25519
from service.audit.pack import is_pack
from service.cli.audit.in_hand import Unreadable
from service.cli.audit.result_words import place
from service.cli.audit.verify import ZIP, ascii_json, lines, opened, pinned
from service.cli.terminal_text import say, unbroken
from service.errors import GainsayError
from service.verify.comparison import File, compare_files, export_file
from service.verify.steps import FAILED, GAPS, Differs, NotCheckable, Trust, VerificationReport
from service.verify.views import ExportFile, Wanted, bundle_views, head_view

HEAD_MAX = 1 << 16
"""The most bytes of a kept head: far more than any has."""
VERDICTS = {0: "CONSISTENT", FAILED: "NOT CONSISTENT", GAPS: "NOT DECIDED"}


@click.command()
@click.argument("one", metavar="A", type=click.Path(path_type=str))
@click.argument("other", metavar="B", type=click.Path(path_type=str))
@click.option("--key", "keys", multiple=True, metavar="VKEY", help="A pinned verifier key of the log; may be repeated.")
@click.option("--allow-unsigned", is_flag=True, help="Compare files without a checked signature of the log.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the checkpoints of both files.")
def compare(one: str, other: str, keys: tuple[str, ...], allow_unsigned: bool, as_json: bool) -> int:
    """Compare two files offline: can both be of one log, or was the log forked?

    A and B are bundles, exports, or kept heads (a signed checkpoint, or the header Gainsay-Checkpoint of an answer).
    Of each log that both show, the smaller head must be a beginning of the larger one, and each record that both hold
    must be one. Heads that contradict each other under a pinned key prove a fork, which `--json` prints for filing.

    Only signatures, leaves and proofs are compared; `gainsay audit verify` checks each file. Two bundles do not always
    hold enough to decide; a complete export at the larger size does.

    \b
    gainsay audit compare january.jsonl bundle.zip --key VKEY
    Exit codes: 0 consistent, 1 a contradiction or a file that fails, 2 usage, 4 not decided.
    """
    if one == other == "-":
        raise click.UsageError("both files cannot be standard input")
    trust = Trust(pinned("--key", keys, ED25519), allow_unsigned=allow_unsigned)
    with ExitStack() as stack:
        try:
            report = compare_files(_file(one, trust, stack), _file(other, trust, stack))
        except OSError as error:
            found = f"{unbroken(one)} or {unbroken(other)} cannot be read: {error.strerror or type(error).__name__}"
            raise Unreadable(found) from None
    say(_json(report) if as_json else "\n".join(comparison_lines(report)))
    return report.code


def comparison_lines(report: VerificationReport) -> Iterator[str]:
    """The comparison as lines for a terminal."""
    yield unbroken(f"A is {report.about['A']['file']}, B is {report.about['B']['file']}")
    wide = max(len(step.name) for step in report.steps)
    for step in report.steps:
        yield unbroken(f"{step.number:>2}  {step.name:<{wide}}  {step.state:<13}  {step.detail}{place(step)}")
    found = next((step for state in ("FAILED", "NOT CHECKABLE") for step in report.steps if step.state == state), None)
    yield unbroken(VERDICTS[report.code] + (f": step {found.number} ({found.name}): {found.detail}" if found else ""))


def _json(report: VerificationReport) -> str:
    whole = {
        "kind": report.kind,
        "verdict": {0: "consistent", FAILED: "notConsistent", GAPS: "notDecided"}[report.code],
        "exit": report.code,
        "files": report.about,
        "steps": report.steps,
    }
    return ascii_json(whole)


def _file(name: str, trust: Trust, stack: ExitStack) -> File:
    """A file to compare, by its content; what cannot be read becomes the result of its step."""
    stream: Any = stack.enter_context(opened(name))
    start = stream.peek(2)[:2]
    if start == ZIP:
        if not stream.seekable():
            raise click.UsageError("a bundle is read in several places, so it cannot be standard input; give its file")
        if is_pack(stream):
            raise click.UsageError(
                f"{unbroken(name)} is a pack; unpack it, and compare a file of its logs/ or bundles/"
            )
        return File(unbroken(name), "bundle", lambda _: bundle_views(stream, trust))
    if start[:1] == b"{":
        try:
            return export_file(unbroken(name), ExportFile(lines(stream), trust))
        except (GainsayError, Differs, NotCheckable) as found:
            return File(unbroken(name), "export", partial(_raise, found))
    return File(unbroken(name), "head", lambda _: [head_view(_head(stream), trust)])


def _head(stream: IO[bytes]) -> bytes:
    data = stream.read(HEAD_MAX + 1)
    if len(data) > HEAD_MAX:
        raise Differs("neither a bundle, an export nor a head", f"at most {HEAD_MAX} bytes of a head", "more")
    return data


def _raise(found: Exception, _wanted: Wanted) -> Any:
    raise found
