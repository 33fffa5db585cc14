"""``gainsay review --batch`` and ``--abort``: many cases from a file of JSON Lines, under one ceiling.

The command is a client of the operations of batches. The same file with the same options is the same batch, so one
that was interrupted is given again; a line without a key gets one that is made of the file and its number, so the
same file under a higher ceiling joins what was decided before. An abort takes the id of a batch, and brings nothing.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import click

from service.cli import exit_codes
from service.cli.access import place
from service.cli.access.port import JSON, BatchAsked, Service
from service.cli.interruptions import interruptions
from service.cli.members import member
from service.cli.new_file import refuse_present, written
from service.cli.terminal_text import say
from service.errors import GainsayError, NotFound
from service.intake.batch_file import with_keys

LOOK_S = 0.5
"""How often the command asks how the batch stands."""
SHOWN_S, SHOWN_FILE_S = 1.0, 15.0
"""How often that is shown at most: on a terminal, and in a file."""
BESIDE = frozenset({"batch", "ceiling", "deadline", "out", "csv", "server", "detach", "batch_name"})
"""The options that a batch takes."""
BESIDE_ABORT = frozenset({"abort_batch", "server"})
"""The options of an abort: what a file would say is said by the batch's id."""
LISTED = 20
"""So many batches are named where an id is none."""


class Wanted(NamedTuple):
    """What the command was asked: the file, its terms, and where results go."""

    file: Path
    asked: BatchAsked
    out: Path | None
    table: Path | None
    detach: bool


def review_batch(server: str | None, wanted: Wanted) -> int:
    """Bring the file, watch its batch to the end, and write its results; the exit code."""
    for path in (wanted.out, wanted.table):
        if path is not None:
            refuse_present(path, force=None)
    raw = _read(wanted.file)
    digest = sha256(raw).hexdigest()
    lines = with_keys(raw, digest[:32])
    key = f"batch-{sha256(repr((digest, *wanted.asked)).encode()).hexdigest()}"
    state = place.ask(server, lambda service: _work(service, wanted, lines, key), quiet=True)
    return exit_code(state) if state is not None else exit_codes.FAILED


def abort_batch(server: str | None, batch: str) -> int:
    """Abort a batch by its id, and watch it to the end; nothing is created, whatever the id is. The exit code."""

    async def work(service: Service) -> JSON | None:
        try:
            await service.abort_batch(batch, "aborted by gainsay review --abort")
        except GainsayError as error:
            if error.code != NotFound.code:
                raise
            raise NotFound(f"there is no batch {batch[:80]!r}; {_listed(await service.batches(LISTED))}") from error
        return await _watch(service, batch)

    state = place.ask(server, work, quiet=True)
    if state is None:
        return exit_codes.FAILED
    late = state.get("endedBy") != "aborted"
    say(f"{'too late: ' if late else ''}batch {member(state, 'batchId')} is {member(state, 'endedBy')}")
    return exit_codes.NEGATIVE if late else exit_codes.DONE


def _listed(page: JSON) -> str:
    """The batches under way, in words: one of them is meant."""
    open_ = [found for found in page["batches"] if found["status"] != "ended"]
    shown = (f"{found['batchId']}{_name(found)} of {found['cases']} cases" for found in open_)
    return f"under way are: {', '.join(shown)}" if open_ else f"of the newest {LISTED} none is under way"


def _name(state: JSON) -> str:
    return f" ({state['name']})" if state.get("name") else ""


def exit_code(state: JSON) -> int:
    """0 where each line has its decision, 3 where some were refused, failed or aborted."""
    counts = state["counts"]
    unwell = counts["refused"] + counts["failed"] + counts["aborted"]
    return exit_codes.FAILED if unwell else exit_codes.DONE


def refuse_others(context: click.Context) -> None:
    """Raise `click.UsageError` for options of a single case beside ``--batch``."""
    for shown in _others(context, BESIDE):
        raise click.UsageError(f"--batch has its cases in its file, which say it all themselves; leave out {shown}")


def refuse_beside_abort(context: click.Context) -> None:
    """Raise `click.UsageError` for any option beside ``--abort``."""
    for shown in _others(context, BESIDE_ABORT):
        raise click.UsageError(f"--abort takes the id of a batch, and nothing beside it; leave out {shown}")


def _others(context: click.Context, known: frozenset[str]) -> Iterator[str]:
    """What the command line has that is not among these, as it is written there."""
    parameters = {parameter.name: parameter for parameter in context.command.params}
    for name, value in context.params.items():
        given = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if name not in known and given and value != ():  # an argument that is left out is ()
            yield "FILE" if name == "files" else _written(parameters[name], value)


def _written(option: click.Parameter, value: object) -> str:
    """An option by its name on the command line; a switch by that of the side that was given."""
    return (option.secondary_opts if value is False and option.secondary_opts else option.opts)[0]


async def _work(service: Service, wanted: Wanted, lines: bytes, key: str) -> JSON | None:
    state = await service.bring_batch(lines, wanted.asked, key)
    batch = member(state, "batchId")
    if wanted.detach:
        say(batch)
        return _left(state)
    say(f"gainsay: batch {batch}: {state['cases']} cases, at most {member(state, 'ceilingUSD')} USD", err=True)
    found = await _watch(service, batch)
    if found is None:
        return None
    await _write(service, batch, wanted)
    return found


def _left(state: JSON) -> JSON:
    """A batch that is left to its service counts as well so far."""
    return {**state, "counts": dict.fromkeys(state["counts"], 0)}


async def _watch(service: Service, batch: str) -> JSON | None:
    """How the batch stands at its end; ``None`` after Ctrl-C, which leaves it as it is."""
    shown = _Reporter()
    with interruptions() as interrupted:
        async with service.feeding() as afterwards:
            while True:
                state = await service.batch(batch)
                shown.show(state)
                if state["status"] == "ended":
                    shown.show(state, last=True)
                    return state
                if await _interrupted(interrupted.first):
                    words = f"batch {batch} is stored, and {afterwards}; give the command again to watch it"
                    exit_codes.print_error("detached", f"{words}, or `gainsay review --abort {batch}` to abort it")
                    return None


async def _interrupted(event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(LOOK_S):
            await event.wait()
    except TimeoutError:
        return False
    return True


class _Reporter:
    """Shows how a batch stands, where that has changed and was not shown a moment ago."""

    def __init__(self) -> None:
        self._every_s = SHOWN_S if sys.stderr.isatty() else SHOWN_FILE_S
        self._at, self._before = float("-inf"), ""

    def show(self, state: JSON, *, last: bool = False) -> None:
        """Say it, if it is due."""
        words = progress_of(state)
        if words == self._before or not (last or time.monotonic() - self._at >= self._every_s):
            return
        self._at, self._before = time.monotonic(), words
        say(f"gainsay: {words}", err=True)


def progress_of(state: JSON) -> str:
    """How a batch stands, in one line."""
    counts = state["counts"]
    over = sum(counts[name] for name in ("completed", "truncated", "declined", "failed", "aborted"))
    parts = [f"{over} of {state['cases']} ended", f"{counts['queued'] + counts['running']} under way"]
    parts += [f"{counts['refused']} refused"] if counts["refused"] else []
    parts += [f"{counts['failed']} failed"] if counts["failed"] else []
    parts += [f"{state['joined']} joined"] if state.get("joined") else []
    parts.append(f"{member(state, 'spentUSD')} of {member(state, 'ceilingUSD')} USD spent")
    waits: Any = state.get("paused")
    parts += [f"waits for {member(waits, 'waitsFor')}"] if waits else []
    return ", ".join(parts)


async def _write(service: Service, batch: str, wanted: Wanted) -> None:
    """Write the results where they were asked for, or print them."""
    with ExitStack() as stack:
        if wanted.out is not None:
            await service.batch_results(batch, "jsonl", _file(stack, wanted.out))
        if wanted.table is not None:
            await service.batch_results(batch, "csv", _file(stack, wanted.table))
    if wanted.out is None and wanted.table is None:
        text = BytesIO()
        await service.batch_results(batch, "jsonl", text)
        say(text.getvalue().decode(errors="replace").rstrip("\n"))


def _file(stack: ExitStack, path: Path) -> IO[bytes]:
    return stack.enter_context(written(path, force=False))


def _read(path: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise click.UsageError(f"expected a file of JSON Lines at {path}, found: {error.strerror}") from error
