"""The demonstration: the whole service on this machine, once as it should go and once with everything going wrong.

The second run is of the adversarial format alone; any other format is shown once, on the variant of the sample that is
named after it. It listens on this machine alone, needs no network, and uses the embedded PostgreSQL even where a
database is configured: what it records are demonstrations, and records cannot be deleted.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

from msgspec import Struct
from rich.console import Console
from rich.rule import Rule

from service import report, samples
from service.app import open_app, running_sequencer, running_worker
from service.cli import startup
from service.cli.access.over_http import connected
from service.cli.display import page
from service.cli.display.console import dollars, row, text
from service.cli.display.progress import Progress
from service.cli.foreground import show_events, wait_over
from service.cli.own_worker import wait_finished
from service.cli.replay import RecordsDisagree, Replayed, replay_debate
from service.cli.report import write
from service.debate.amounts import micro, usd
from service.policy import AUTO
from service.policy.settings import SHIPPED_POLICY, Settings, read_settings
from service.proving.signing.keys import read_keys
from service.report import Result
from service.store.startup import DatabaseAddresses

SAMPLE = "contract"
CHOSEN = "architecture"
"""The sample for whose task type the shipped policy has a format of its own."""
FAULTY = "adversarial"
"""The format that is shown going wrong too."""
OTHERS = ("ballot", "panel")
"""Formats to look at next: the first, or the second where the first is the one that was shown."""
RUNS = ("honest-run", "scripted-run")
CEILING_USD = "0.21"
"""Of the scripted run: enough for a round, a proposal and a moderation, too little for a second critique."""


class ShownStep(Struct, frozen=True):
    """A run of the demo: its result and its bundle as they came over HTTP, and what going through its records found."""

    result: Result
    replayed: Replayed
    bundle: bytes


async def show_demo(
    screen: Console, settings: Settings, where: DatabaseAddresses, environment: Mapping[str, str], format_: str
) -> None:
    """Both runs, or the one of another format than `FAULTY`, and what comes of them."""
    folder = settings.data_dir / "demo"
    await _demo(screen, settings, scripted(folder, environment), where, folder, format_)


def scripted(folder: Path, environment: Mapping[str, str]) -> Settings:
    """The settings of the second run: the shipped policy, with replies from a file in the models' place.

    Both files are written to the folder, to be looked at and run again.
    """
    replies = folder / "replies.json"
    write(replies, files("service.cli.demo").joinpath("replies.json").read_bytes())
    policy = SHIPPED_POLICY.read_text("utf-8")
    played = f'[providers.script]\nkind = "scripted"\nscript = {json.dumps(str(replies))}'
    policy = policy.replace('[providers.offline]\nkind = "offline"', played)
    policy = policy.replace('provider = "offline"', 'provider = "script"')
    path = folder / "gainsay.toml"
    write(path, policy.encode())
    return read_settings({**environment, "GAINSAY_POLICY": str(path)})


async def _demo(
    screen: Console, honest: Settings, script: Settings, where: DatabaseAddresses, folder: Path, format_: str
) -> None:
    case = _case(format_)
    screen.print(Rule(text("1  An honest run"), align="left"))
    runs = [await _run(screen, honest, where, case)]
    write(_bundle(folder, 0), runs[0].bundle)
    with _verifying(honest, _bundle(folder, 0)) as verifying:
        page.show_brief(screen, runs[0].result)
        if format_ == FAULTY:
            runs.append(await _go_wrong(screen, script, where, case))
            write(_bundle(folder, 1), runs[1].bundle)
        screen.print(Rule(text(f"{len(runs) + 1}  What was recorded"), align="left"))
        _replayed(screen, *runs)
        _written(screen, folder, *runs)
        screen.print()
        screen.print(Rule(text(f"{len(runs) + 2}  What an examiner can check without us"), align="left"))
        _verified(screen, verifying)
    _next(screen, honest, folder, runs, OTHERS[format_ == OTHERS[0]])


def _case(format_: str) -> dict[str, Any]:
    """The case of a demonstration: the format's own variant, or the sample itself."""
    sample = CHOSEN if format_ == AUTO else SAMPLE
    variant = format_ if format_ in samples.variants(sample) else None
    case = samples.load(sample, variant).case
    return {**case, "options": {**case.get("options", {}), "format": format_}}


async def _go_wrong(screen: Console, script: Settings, where: DatabaseAddresses, case: dict[str, Any]) -> ShownStep:
    """The second run, whose replies come from a file."""
    screen.print(Rule(text("2  A run in which things go wrong on purpose"), align="left"))
    screen.print(
        text(
            "The same case. The replies come from a file now: a critic that does not try, a quotation that is in no "
            f"document, and a ceiling of {dollars(CEILING_USD, 2)}, which two rounds do not fit under."
        )
    )
    found = await _run(screen, script, where, {**case, "costCeilingUSD": CEILING_USD})
    page.show_brief(screen, found.result)
    return found


async def _run(screen: Console, settings: Settings, where: DatabaseAddresses, case: Mapping[str, Any]) -> ShownStep:
    """One debate over HTTP, shown as it happens, then replayed from the database."""
    from service.web.server import listening

    progress = Progress(screen)
    async with open_app(settings, where, pool=4) as opened, running_sequencer(opened):
        app, trouble = wait_finished(opened, only=None)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(running_worker(app))
            address = await stack.enter_async_context(listening(app))
            client = await stack.enter_async_context(connected(address, settings.data_dir))
            debate = (await client.submit(case)).debate
            screen.print()
            screen.print(row("POST", text(f"{address}/v1/debates"), "202"))
            screen.print(row("GET", text(f"/v1/debates/{debate}/events")))
            following = asyncio.create_task(show_events(client, debate, progress))
            try:
                await wait_over(debate, following, trouble)
            finally:
                progress.stop()
                following.cancel()
            replayed = await replay_debate(app.database, debate, startup.LOCAL.tenant)
            bundle = BytesIO()
            await client.bundle(debate, bundle)
            return ShownStep(await client.result(debate), replayed, bundle.getvalue())


def _replayed(screen: Console, *runs: ShownStep) -> None:
    """Say that records, entries and money agree; anything else has raised by now."""
    for number, run in enumerate(runs, start=1):
        same = micro(run.result.overall_cost.spent_usd) == run.replayed.spent
        if run.result.entries != run.replayed.entries or not same:
            raise RecordsDisagree(f"the result of run {number} over HTTP is not what its records say")
        words = (
            f"{run.replayed.entries} entries read back from PostgreSQL: each is legal after those before it, each "
            f"record names the one before it, and the ledger agrees with the head row at {usd(run.replayed.spent)} USD."
        )
        screen.print(row(text(f"Run {number}", "bold"), text(words)))
    words = "Both debates agree with themselves." if len(runs) > 1 else "The debate agrees with itself."
    screen.print(row(text("Replay", "bold"), text(words, "green")))


def _bundle(folder: Path, number: int) -> Path:
    """Where the bundle of a run is, counted from 0."""
    return folder / f"{RUNS[number]}.zip"


def _written(screen: Console, folder: Path, *runs: ShownStep) -> None:
    screen.print()
    for number, (name, run) in enumerate(zip(RUNS, runs, strict=False)):
        path = folder / f"{name}.html"
        write(path, report.html(run.result).encode())
        screen.print(f"Report       {path}", soft_wrap=True)
        screen.print(f"Bundle       {_bundle(folder, number)}", soft_wrap=True)


@contextmanager
def _verifying(settings: Settings, bundle: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Verify a bundle as an examiner would, beside the second run: another process that is given the file and a pinned
    key alone."""
    words = ["audit", "verify", str(bundle), "--key", _pinned(settings), "--allow-unwitnessed"]
    command = [sys.executable, "-m", "service", *words]
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, env={}, cwd="/", stdin=silent, stdout=subprocess.PIPE, stderr=silent) as verifying:  # noqa: S603 - our own command
        try:
            yield verifying
        finally:
            verifying.kill()  # where the second run has failed; one that has ended is not touched


def _verified(screen: Console, verifying: subprocess.Popen[bytes]) -> None:
    """Show what the verification found."""
    screen.print(text("No database, no network, no setting: the file and the log's public key. There is no witness."))
    lines = verifying.communicate()[0].decode().splitlines()
    if verifying.returncode:
        raise RecordsDisagree(f"the bundle does not verify: {lines[-1:]}")
    for line in lines:
        screen.print(line, markup=False, highlight=False, soft_wrap=True)


def _pinned(settings: Settings) -> str:
    """The verifier key of the logs on this machine."""
    return read_keys(settings.data_dir / "keys" / "log.key")[0].public.encode()


def _next(screen: Console, settings: Settings, folder: Path, runs: list[ShownStep], other: str) -> None:
    """Commands to go on with; ``other`` is a format that has not been shown."""
    screen.print()
    screen.print(text("What to try next", "bold"))
    command = "gainsay" if shutil.which("gainsay") else sys.argv[0]
    bundle = _bundle(folder, len(runs) - 1)
    for words in (
        f"gainsay show {runs[-1].result.debate_id}",
        f"gainsay audit verify {bundle} --key {_pinned(settings)} --allow-unwitnessed",
        f"gainsay demo --format {other}",
        "gainsay review --sample security",
        'gainsay review --task-type contract --downside 500000 --question "..." FILE',
        "gainsay gate --task-type contract --downside 5",
        "gainsay serve",
    ):
        screen.print(f"  {words.replace('gainsay', command, 1)}", soft_wrap=True)
