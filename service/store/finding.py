"""Finds debates by their projection: statements composed from the parts of finding.sql, values always as parameters.

A statement is planned with its values each time it runs: which index is best depends on how common a value is. The list
without filters, in an order of time, reads the head rows, so that it shows a debate that is not projected. Every other
statement reads ``found_by``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple
from uuid import UUID

from service.store.debate_query import COUNTED, FACET_VALUES, Count, DebateQuery, Facet, FacetCount, Position
from service.store.found_by import name_of_key, name_of_pair
from service.store.pool import Database, Row
from service.store.queries import named_parts
from service.store.reach import ReachLimit

FEW = 5_000
"""Cases with given words are few up to this number."""
BEGINS = 120
"""So many first characters of a free text are in its index."""
_OPEN = ("queued", "running", "failed")
"""The states that a debate without a provable end may be listed in; failed is one whose log was left."""
_ENDS = ("outcome", "confidence", "human_review", "flag")
"""Filters by facts of an end."""
_PLAIN = (
    *("task_type", "use_case", "format", "materiality", "model", "metadata", "words"),
    *("outcome", "confidence", "flag"),
)
"""Filters that are given if they say something."""
_IS = re.compile(rb"\{is (\w+)\}")
_EPOCH, _MILLISECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)
_LAST_MS = (1 << 48) - 1


class Counted(NamedTuple):
    """A facet: its column, and its own filter, which its counts leave out; ``lists`` says that the column has lists."""

    column: bytes
    own: str
    lists: bool = False


FACETS: dict[Facet, Counted] = {
    "taskType": Counted(b"task_type", "task_type"),
    "status": Counted(b"status", "status"),
    "format": Counted(b"format", "format"),
    "outcome": Counted(b"outcome", "outcome"),
    "confidence": Counted(b"confidence", "confidence"),
    "flag": Counted(b"flags", "flag", lists=True),
    "humanReview": Counted(b"human_review", "human_review"),
    "useCase": Counted(b"use_case", "use_case"),
    "materiality": Counted(b"materiality", "materiality"),
    "model": Counted(b"models", "model", lists=True),
}


class Order(NamedTuple):
    """An order of the list: what is sorted by beside the id, its type, and whether the greatest is first."""

    column: bytes | None
    kind: bytes
    name: str
    descends: bool

    @property
    def way(self) -> bytes:
        """Which way the order goes."""
        return b"DESC" if self.descends else b"ASC"

    @property
    def of_rows(self) -> bytes:
        """The order of the rows that are searched."""
        key = b"f.%s %s, " % (self.column, self.way) if self.column else b""
        return key + b"f.debate " + self.way

    def of_page(self, alias: bytes) -> bytes:
        """The order of the rows of a page."""
        key = b"%s.key %s NULLS LAST, " % (alias, self.way) if self.column else b""
        return key + b"%s.debate %s" % (alias, self.way)

    def behind(self, key: str | None) -> str:
        """The part that passes what lies behind a position, with this key if the order has one."""
        side = "below" if self.descends else "above"
        return side if key is None else f"{self.name}_{side}"


_TIME, _DOWNSIDE, _SPENT = (None, b"text", ""), (b"downside", b"numeric", "downside"), (b"spent", b"bigint", "spent")
ORDERS: dict[str, Order] = {
    "-createdAt": Order(*_TIME, True),
    "createdAt": Order(*_TIME, False),
    "-spentUSD": Order(*_SPENT, True),
    "spentUSD": Order(*_SPENT, False),
    "-estimatedDownsideUSD": Order(*_DOWNSIDE, True),
    "estimatedDownsideUSD": Order(*_DOWNSIDE, False),
}


class Search(NamedTuple):
    """A query of a tenant. Unless ``held``, every end is shown. ``few`` says that few cases have its words.

    ``limit`` passes the debates that the caller reaches, where these are not all of the tenant.
    """

    tenant: str
    query: DebateQuery
    held: bool
    few: bool = False
    limit: ReachLimit | None = None


async def find_page(database: Database, search: Search, after: Position | None) -> list[Row]:
    """The rows of a page and one more, if there is one. Raises `StoreUnavailable`."""
    sql, params = page_statement(search, after)
    return await database.read("find_page", sql, params)


async def count_found(database: Database, search: Search) -> tuple[Count, list[FacetCount]]:
    """How many debates pass the filters, and how many have each value; see `DebateQuery.facets`."""
    sql, params = count_statement(search)
    rows = await database.read("find_counts", sql, params)
    total = next(row for row in rows if row["facet"] is None)
    counts = [FacetCount(row["facet"], row["value"], _count(row)) for row in rows if row["facet"] is not None]
    return _count(total), counts


async def look_for_words(database: Database, search: Search) -> Search | None:
    """The search with what is known of its words; ``None`` if it has none that are looked for, but stop words.

    Where few cases have them, these are read by their index first. PostgreSQL would expect rare words as often in the
    newest debates as in all, and could read every debate where they are of long ago.
    """
    names = _worded(filters(search.query))
    if not names:
        return search
    conditions = b" AND ".join((parts()["cases"], *(parts()[name] for name in names)))
    sql = (
        b"-- find_words --\nSELECT %s AS searched, (SELECT count(*) FROM (SELECT %s LIMIT %%(few)s) AS c) AS cases"
        % (
            parts()["searched"],
            conditions,
        )
    )
    params = _params(search) | {"few": FEW + 1}
    (row,) = await database.read("find_words", sql, params)
    return search._replace(few=row["cases"] <= FEW) if row["searched"] else None


def _count(row: Row) -> Count:
    return Count(min(row["count"], COUNTED), row["passed"] > COUNTED)


# Statements, from here on without a database.


@cache
def parts() -> dict[str, bytes]:
    """The parts of finding.sql, by name, without their comments."""
    text = files("service.store").joinpath("finding.sql").read_text("utf-8")
    return {name: b"\n".join(_code(sql)) for name, sql in named_parts(text).items()}


def _code(sql: bytes) -> Iterator[bytes]:
    return (line for line in sql.split(b"\n") if not line.startswith(b"--"))


def page_statement(search: Search, after: Position | None) -> tuple[bytes, dict[str, Any]]:
    """The statement of a page with its parameters."""
    order, names = ORDERS[search.query.sort], filters(search.query)
    params = _params(search) | {"limit": search.query.limit + 1}
    if after is not None:
        params |= {"after": UUID(after.debate), "after_key": after.key}
    if order.name == "spent":
        branches = _spent_branches(search, order, names, after)
    else:
        behind = [order.behind(after.key)] if after else []
        branches = [_branch(search, order, [*names, *behind], keyed=True)]
    union = b"\nUNION ALL ".join(branches)
    page = b"SELECT * FROM (%s) AS u ORDER BY %s LIMIT %%(limit)s" % (union, order.of_page(b"u"))
    sql = b"-- find_page --\nWITH %s, page AS MATERIALIZED (%s)\n%s\nORDER BY %s" % (
        _first(search),
        page,
        parts()["shown"],
        order.of_page(b"p"),
    )
    return _filled(sql, params)


def _first(search: Search) -> bytes:
    """What a statement reads first: what is held, and where they are few the cases with the words."""
    first = b"held AS MATERIALIZED (%s\n)" % parts()["held"]
    if search.few:
        names = ("cases", *_worded(filters(search.query)))
        few = b"\n AND ".join(parts()[name] for name in names)
        first += b", worded AS MATERIALIZED (SELECT w.debate %s)" % few
    return first


def _worded(names: Sequence[str]) -> list[str]:
    """The filters among these that are about the words of a case."""
    return [name for name in names if name in ("words", "metadata")]


def _spent_branches(search: Search, order: Order, names: list[str], after: Position | None) -> list[bytes]:
    """Debates with a cost that may be shown, then those without; a page may begin among the latter."""
    branches = []
    if after is None or after.key is not None:
        behind = [order.behind(after.key)] if after else []
        branches.append(_branch(search, order, [*names, "spent_known", *behind], keyed=True))
    behind = [order.behind(None)] if after and after.key is None else []
    by_id = order._replace(column=None)
    branches.append(_branch(search, by_id, [*names, "spent_unknown", *behind], keyed=False))
    return branches


def _branch(search: Search, order: Order, names: list[str], *, keyed: bool) -> bytes:
    key = b"f.%s" % order.column if keyed and order.column else b"NULL::%s" % order.kind
    chosen = _chosen(search, names, b"SELECT f.debate, %s AS key" % key, heads=reads_heads(search.query))
    return b"(%s\nORDER BY %s LIMIT %%(limit)s)" % (chosen, order.of_rows)


def count_statement(search: Search) -> tuple[bytes, dict[str, Any]]:
    """The statement of the counts with its parameters.

    The newest debates that pass are counted, up to one more than `COUNTED`, so it takes no longer where there are more.
    A facet that is filtered by itself has a base of its own, without that filter.
    """
    query = search.query
    params = _params(search) | {"counted": COUNTED, "most": COUNTED + 1, "values": FACET_VALUES}
    every = filters(query)
    given = {name.split("_or_")[0] for name in every}
    bases: dict[str, list[Facet]] = {"": []}
    for facet in query.facets:
        own = FACETS[facet].own
        bases.setdefault(own if own in given else "", []).append(facet)
    ctes = b", ".join(_base(search, name, filters(query, without=name), facets) for name, facets in bases.items())
    total = b"size_"
    if reads_heads(query):  # counts a debate that is not projected as well
        heads = _chosen(search, every, b"SELECT", heads=True)
        total = b"(SELECT count(*) AS passed FROM (%s LIMIT %%(most)s) AS t)" % heads
    counts = [b"SELECT NULL AS facet, NULL AS value, n.passed AS count, n.passed FROM %s AS n" % total]
    counts += [_facet(facet, name.encode()) for name, facets in bases.items() for facet in facets]
    sql = b"-- find_counts --\nWITH %s, %s\n%s" % (_first(search), ctes, b"\nUNION ALL ".join(counts))
    return _filled(sql, params)


def _facet(facet: Facet, base: bytes) -> bytes:
    """The counts of a facet. Equal values, and equal lists, are counted together first: they are few."""
    column, _, lists = FACETS[facet]
    values = b"unnest(e.value) AS v (value)" if lists else b"LATERAL (SELECT e.value::text) AS v (value)"
    return (
        b"(SELECT '%s', v.value, sum(e.n)::bigint AS found, (SELECT passed FROM size_%s) "
        b"FROM (SELECT b.value, count(*) AS n FROM (SELECT %s AS value FROM base_%s LIMIT %%(counted)s) AS b "
        b"GROUP BY b.value) AS e, %s "
        b"WHERE v.value IS NOT NULL GROUP BY v.value ORDER BY found DESC, v.value LIMIT %%(values)s)"
    ) % (facet.encode(), base, column, base, values)


def _base(search: Search, name: str, names: list[str], facets: Sequence[Facet]) -> bytes:
    """The newest debates that pass, with the columns of these facets alone, and how many they are."""
    columns = [FACETS[facet].column for facet in facets]
    plain = b"".join(b", f.%s" % column for column in columns)
    shown = b"".join(b", %s" % parts().get("counted_" + column.decode(), b"c." + column) for column in columns)
    newest = b"%s ORDER BY f.debate DESC LIMIT %%(most)s" % _chosen(search, names, parts()["counted_of"] + plain)
    base = b"SELECT c.debate%s FROM (%s) AS c" % (shown, newest)
    of = name.encode()
    size = b"SELECT count(*) AS passed FROM base_%s" % of
    return b"base_%s AS MATERIALIZED (%s), size_%s AS MATERIALIZED (%s)" % (of, base, of, size)


def _chosen(search: Search, names: Sequence[str], columns: bytes, *, heads: bool = False) -> bytes:
    """Rows that pass the named parts; ``heads`` are read in the place of the projection."""
    worded = _worded(names)
    source = "heads" if heads else "rows_of_few" if worded and search.few else "worded_rows" if worded else "rows"
    left = [name for name in names if not (search.few and name in worded)]
    passing = b"\n AND ".join(parts()[name] for name in (source, *_reached(search.limit), *left))
    return b"%s %s" % (columns, passing)


def _reached(limit: ReachLimit | None) -> tuple[str, ...]:
    """The part that passes the debates that a caller reaches, where these are not all of the tenant."""
    if limit is None:
        return ()
    if limit.own and limit.assigned:
        return ("own_or_assigned",)
    return ("own",) if limit.own else ("assigned",) if limit.assigned else ("none",)


def reads_heads(query: DebateQuery) -> bool:
    """Whether the list is one of all debates of a time, in an order of time."""
    return ORDERS[query.sort].column is None and not set(filters(query)) - {"since", "until"}


def filters(query: DebateQuery, without: str = "") -> list[str]:
    """The parts of a query's filters, in one order, without one of them."""
    given = [name for name in ("since", "until") if getattr(query, name) is not None]
    given += [name for name in _PLAIN if getattr(query, name)]
    given += [f"purpose_{purpose}" for purpose in query.purpose] if len(query.purpose) == 1 else []
    given += ["human_review"] if query.human_review is not None else []
    given = [name for name in given if name != without]
    ends = [name for name in given if name in _ENDS]
    if query.status and without != "status":
        is_open = any(status in _OPEN for status in query.status)
        given.append("status_or_open" if is_open else "status")
        ends += [] if is_open else ["status"]
    return [*given, "provable"] if ends else given


def asks_of_ends(query: DebateQuery) -> bool:
    """Whether the query passes only debates whose end is provable."""
    return "provable" in filters(query)


def _params(search: Search) -> dict[str, Any]:
    """Every value that a part may name."""
    tenant, query = search.tenant, search.query
    return {
        "tenant": tenant,
        "subject": search.limit.subject if search.limit else None,
        "held": search.held,
        "since": None if query.since is None else first_id(query.since),
        "until": None if query.until is None else first_id(query.until),
        "task_type": query.task_type,
        "task_type_begins": _begins(query.task_type),
        "use_case": query.use_case,
        "use_case_begins": _begins(query.use_case),
        "format": query.format,
        "materiality": query.materiality,
        "model": query.model,
        "metadata": [
            name_of_key(tenant, key) if value is None else name_of_pair(tenant, key, value)
            for key, value in query.metadata
        ],
        "words": query.words,
        "outcome": query.outcome,
        "confidence": query.confidence,
        "human_review": query.human_review,
        "flag": list(query.flag),
        "status": query.status,
    }


def _begins(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({value[:BEGINS] for value in values}))


def _filled(sql: bytes, params: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """A statement whose comparisons are with one value or several, and its values in that form."""
    compared = {name.decode() for name in _IS.findall(sql)}
    single = {name for name in compared if len(params[name]) == 1}
    sql = _IS.sub(lambda at: b"= %%(%s)s" % at[1] if at[1].decode() in single else b"= ANY (%%(%s)s)" % at[1], sql)
    return sql, {
        name: value[0] if name in single else list(value) if isinstance(value, tuple) else value
        for name, value in params.items()
    }


def first_id(at: datetime) -> UUID:
    """The least id of a debate that was created at a time or later: ids of version 7 begin with the millisecond."""
    ms, rest = divmod(at - _EPOCH, _MILLISECOND)
    return UUID(int=min(max(0, ms + bool(rest)), _LAST_MS) << 80)
