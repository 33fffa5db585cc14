"""``gainsay list``: the debates that pass filters, as a table, JSON or CSV."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from service.cli import exit_codes, help_sections
from service.cli.access import place
from service.cli.help_sections import option
from service.cli.list_options import FACETS, PAGE_MAX, Query, filters_in_words, list_options, query_of
from service.cli.members import items
from service.cli.terminal_text import json_lines, print_json, write_exactly

if TYPE_CHECKING:
    from service.cli.access.port import JSON, Service

FORMS = ("json", "jsonl", "csv")
OUTPUT = help_sections.OUTPUT


@click.command("list", cls=help_sections.Command)
@place.server_option
@list_options
@option(OUTPUT, "--facets", is_flag=True, help=f"Also how many debates have which {', '.join(FACETS)}.")
@option(OUTPUT, "--ids", is_flag=True, help="Whole ids.")
@option(OUTPUT, "--json", "as_json", is_flag=True, help="One JSON document, as GET /v1/debates answers it.")
@option(OUTPUT, "--jsonl", "as_jsonl", is_flag=True, help="A line of JSON for each debate.")
@option(OUTPUT, "--csv", "as_csv", is_flag=True, help="A row of CSV for each debate.")
def list_debates(server: str | None, facets: bool, ids: bool, **given: Any) -> int:
    """List debates: when, what came of it, whether a person has to review it, its cost and its question.

    Filters that are given several times pass any of their values, but --metadata passes all. Times are in UTC. The ids
    in the table are beginnings, which `gainsay show` takes too.

    \b
    gainsay list --since 7d --human-review
    gainsay list --outcome rejected --outcome escalated --task-type contract
    gainsay list --question "uncapped liability" --metadata ticket=LEGAL-31
    gainsay list --since 2026-01-01 --until 2026-02-01 --all --csv > january.csv
    """
    forms = [form for form in FORMS if given[f"as_{form}"]]
    if len(forms) > 1:
        raise click.UsageError(f"{' and '.join(f'--{form}' for form in forms)} contradict each other; give one")
    if facets and forms not in ([], ["json"]):
        raise click.UsageError(
            f"--{forms[0]} has a row for each debate and no counts; leave out --facets, or use --json"
        )
    query = query_of(given, datetime.now(UTC))
    most = None if given["every"] else given["limit"]
    write = _ROWS.get(forms[0]) if forms else None
    address = place.server_of(server)
    if write is not None:
        place.ask(address, lambda service: _written(service, query, most, write()), quiet=True)
        return exit_codes.DONE
    found = place.ask(address, lambda service: _collected(service, query, most, facets=facets), quiet=bool(forms))
    if forms:
        print_json(found)
    else:
        _show(found, filters_in_words(given), whole_ids=ids)
    return exit_codes.DONE


async def _pages(service: Service, query: Query, most: int | None) -> AsyncIterator[JSON]:
    """The pages of a list, with at most so many debates together."""
    after: Query = ()
    while most is None or most > 0:
        size = PAGE_MAX if most is None else min(most, PAGE_MAX)
        page = await service.find((*query, ("limit", str(size)), *after))
        yield page
        if not (following := page.get("next")) or after == (("after", str(following)),):
            return
        most = None if most is None else most - len(items(page, "debates"))
        # The counts are those of the whole list, and the first page has them.
        query = tuple(pair for pair in query if pair[0] != "facets")
        after = (("after", str(following)),)


async def _collected(service: Service, query: Query, most: int | None, *, facets: bool) -> Mapping[str, Any]:
    """The pages as one, with the counts."""
    whole: dict[str, Any] = {}
    asked = tuple(("facets", facet) for facet in FACETS) if facets else ()
    async for page in _pages(service, (*query, *asked), most):
        debates = [*whole.get("debates", ()), *items(page, "debates")]
        whole = {**page, **{name: whole[name] for name in ("total", "facets") if name in whole}, "debates": debates}
    return whole


async def _written(service: Service, query: Query, most: int | None, row: Callable[[Mapping[str, Any]], bytes]) -> None:
    """Write a row for each debate, as the pages come."""
    async for page in _pages(service, query, most):
        write_exactly(b"".join(map(row, items(page, "debates"))))


def _jsonl() -> Callable[[Mapping[str, Any]], bytes]:
    return partial(json_lines, indented=False)


def _csv() -> Callable[[Mapping[str, Any]], bytes]:
    from service.cli.list_rows import heading, row

    write_exactly(heading())
    return row


_ROWS: Mapping[str, Callable[[], Callable[[Mapping[str, Any]], bytes]]] = {"jsonl": _jsonl, "csv": _csv}


def _show(found: Mapping[str, Any], filters: str, *, whole_ids: bool) -> None:
    from service.cli.display import listing
    from service.cli.display.console import console, counted, text

    screen, debates = console(), items(found, "debates")
    if debates:
        listing.show(screen, debates, whole_ids=whole_ids)
        of = f" of {listing.count(found['total'])}" if "total" in found else ""
        more = "; there are more: --all, or a greater --limit" if found.get("next") else ""
        screen.print(text(f"{counted(len(debates), 'debate')}{of}; times are in UTC{more}", "dim"))
    else:
        none = f"no debate passes {filters}" if filters else "there is no debate yet; `gainsay review` makes one"
        screen.print(text(none))
    if facets := _with_values(items(found, "facets")):
        screen.print()
        listing.show_facets(screen, facets)


def _with_values(facets: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return [facet for facet in facets if items(facet, "values")]


list = list_debates  # as the list of commands calls it
