"""``gainsay evaluate tilts``: the recorded tilts of moderators, and their resolution by a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from service.cli import exit_codes
from service.cli.evaluate.here import Here, perform
from service.cli.help_sections import Command
from service.cli.terminal_text import line, print_json, say

if TYPE_CHECKING:
    from service.store.moderator_tilts import StoredTilt

WORDS_MAX = 2_000


@click.command(cls=Command)
@click.option("--tenant", metavar="NAME", help="The tenant.  [default: default]")
@click.option("--resolve", "finding", metavar="ID", help="Ask for no person any more because of this finding.")
@click.option("--by", metavar="TEXT", help="Who resolves it; it is recorded.")
@click.option("--why", metavar="TEXT", help="Why, in a sentence; it is recorded.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def tilts(tenant: str | None, finding: str | None, by: str | None, why: str | None, *, as_json: bool) -> int:
    """List the recorded tilts of moderators, the newest first, or resolve one.

    While a finding stands, each debate that its moderator decides asks for a person: the same model under the same
    prompt, and of the same task type if it names one. A debate that began before it is resolved still asks.

    \b
    gainsay evaluate tilts
    gainsay evaluate tilts --resolve 01890a5d-ac96-774b-bcce-b302099a8057 --by "Ada Lovelace" --why "True: see memo 12."

    Exit codes: 0 done, 2 no such finding, or it is resolved, 3 failed.
    """
    if finding is not None:
        for name, text in (("--by", by), ("--why", why)):
            if text is None or not text.strip() or len(text) > WORDS_MAX:
                raise click.UsageError(f"{name}: expected 1 to {WORDS_MAX} characters beside --resolve")
    elif by is not None or why is not None:
        raise click.UsageError("--by and --why belong to --resolve ID")

    async def work(here: Here) -> int:
        of = tenant or here.caller.tenant
        if finding is None:
            from service.store.moderator_tilts import tilts as stored

            _show(await stored(here.app.database, of), as_json=as_json)
            return exit_codes.DONE
        from service.audit.record import Writer
        from service.reviews.moderator_findings import FindingDesk

        writer = Writer(here.caller.actor, here.desk.deployment(here.caller.tenant).build_hash)
        await FindingDesk(here.app.database, here.desk.logs, writer).resolve(finding, by or "", why or "", of)
        say(f"the finding {finding} is resolved; debates that begin from now on ask for no person because of it")
        return exit_codes.DONE

    return perform("tilts", (), work)


def _show(found: list[StoredTilt], *, as_json: bool) -> None:
    if as_json:
        print_json([_members(one) for one in found])
        return
    for one in found:
        state = "stands" if one.resolved is None else f"resolved {one.resolved.isoformat(timespec='seconds')}"
        about = f"{line(one.alias)} ({line(one.model)}), prompt {line(one.prompt)} {one.pin[:15]}"
        say(f"{one.finding}  {about}, {line(one.task_type or 'all task types')}, {one.aspect}: {state}")
    if not found:
        say("no tilt is recorded; `gainsay evaluate moderator --record` records one that is above policy's limit")


def _members(one: StoredTilt) -> dict[str, object]:
    return {
        "finding": one.finding,
        "alias": one.alias,
        "model": one.model,
        "prompt": one.prompt,
        "pin": one.pin,
        "taskType": one.task_type,
        "aspect": one.aspect,
        "recorded": one.recorded.isoformat(),
        "resolved": None if one.resolved is None else one.resolved.isoformat(),
    }
