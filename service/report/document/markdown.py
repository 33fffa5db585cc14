r"""A report as Markdown: headings, lists and tables of CommonMark and GFM, and every text escaped.

A text is put on one line, and every character in it that could begin markup gets a backslash. So a quotation can hold
``# heading``, ``<script>``, ``[link](…)`` or ``| a cell`` and is shown as these characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.report.document.blocks import (
    Argued,
    Banner,
    Block,
    Bullets,
    Chart,
    FactList,
    HeadingBlock,
    Map,
    Plot,
    Quotation,
    ReportBlocks,
    ReportPart,
    TableBlock,
    Text,
    Verbatim,
    legible,
)
from service.report.document.contents import report
from service.report.result.types import Result

_MARKUP = re.compile(r"[\\`*_\[\]<>#|~&!@${}^]")
_AT_START = re.compile(r"^(?:[-+=]|\d{1,9}(?=[.)](?:\s|$)))")
_TICKS = re.compile("`+")
_MAIL = re.compile(r"@(?=[\w-]+\.)|(?<!\w)@(?=\w)")
"""GitHub makes links of mail addresses and of names, also behind a backslash."""
_JOINER, _JOINED = "\u2060", "&#8288;"
"""A word joiner is not seen, and there is no link behind one. A legible text has none of its own."""
_ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def markdown(result: Result) -> str:
    """The report of a debate as one Markdown text, without a size of paper."""
    return write(report(result))


def write(content: ReportBlocks) -> str:
    """A report's blocks as Markdown."""
    head = f"# {escape(content.title)}\n\n{escape(content.subtitle)}"
    rule = ("---",) if content.first else ()
    blocks = (*map(_block, content.first), *rule, *map(_block, content.blocks))
    return "\n\n".join([head, *filter(None, blocks)]) + "\n"


def escape(text: str) -> str:
    """A text as Markdown that shows it unchanged in every place of a line."""
    apart = _MAIL.sub(f"@{_JOINER}", legible(text))
    escaped = _ADDRESS.sub(r"\\\g<0>", _MARKUP.sub(r"\\\g<0>", apart)).replace(_JOINER, _JOINED)
    if match := _AT_START.match(escaped):
        # A digit cannot be escaped, so the dot or bracket that would make it a list is.
        at = match.end() if match.group().isdigit() else 0
        return f"{escaped[:at]}\\{escaped[at:]}"
    return escaped


def _block(block: Block) -> str:
    match block:
        case ReportPart():
            return f"## {escape(block.title)}"
        case HeadingBlock():
            return f"{'#' * block.level} {escape(block.title)}" + (f" ({escape(block.beside)})" if block.beside else "")
        case Text():
            return _text(block)
        case Banner():
            return "\n>\n".join(f"> {line}" for line in (f"**{escape(block.title)}**", *map(escape, block.lines)))
        case FactList():
            return "\n".join(f"- **{escape(fact.term)}:** {escape(fact.value)}" for fact in block.rows)
        case TableBlock():
            return _table(block)
        case Bullets():
            return "\n".join(f"- {escape(item)}" for item in block.items)
        case Argued():
            return "\n\n".join(_argued(block))
        case Verbatim():
            return _verbatim(block)
        case _:
            return _drawn(block)


def _verbatim(block: Verbatim) -> str:
    """Lines as code between fences that are longer than any row of backticks in them."""
    lines = tuple(map(legible, block.lines))
    longest = max((len(ticks) for line in lines for ticks in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((fence, *lines, fence))


def _drawn(block: Block) -> str:
    """The words of a block that the other renderings draw."""
    match block:
        case Chart():
            rows = tuple((bar.label, bar.shown) for bar in block.bars)
            return _table(TableBlock(block.title, ("", "Value"), rows)) if rows else ""
        case Map():
            return _table(
                TableBlock(block.title, ("Document", "Cited"), tuple((s.label, s.shown) for s in block.strips))
            )
        case _:
            return f"*{escape(block.title)}:* {escape(block.shown)}" if isinstance(block, Plot) else ""


def _text(block: Text) -> str:
    escaped = escape(block.text)
    if not escaped:
        return ""
    return {"plain": escaped, "lead": f"**{escaped}**", "note": f"*{escaped}*"}[block.style]


def _table(table: TableBlock) -> str:
    if not table.rows:
        return ""
    rules = ("---:" if column in table.numeric else "---" for column in range(len(table.head)))
    lines = [_row(table.head), f"| {' | '.join(rules)} |", *map(_row, table.rows)]
    return f"*{escape(table.caption)}*\n\n" + "\n".join(lines)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(escape, cells))} |"


def _argued(block: Argued) -> Iterator[str]:
    yield f"**{escape(block.label)}** ({escape(block.beside)})"
    yield escape(block.text)
    if block.struck:
        yield f"> **{escape(block.struck)}**"
    if block.quotations:
        yield "\n".join(line for quotation in block.quotations for line in _quotation(quotation))


def _quotation(given: Quotation) -> Iterator[str]:
    yield f"- **{escape(given.verdict)}:** “{escape(given.quote)}” ({escape(given.where)})"
    for note in given.notes:
        yield f"  - {escape(note)}"
