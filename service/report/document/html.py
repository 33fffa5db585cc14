"""A report as one file of HTML: its style inside, without scripts and without loading other files.

The page's own policy forbids scripts, images, fonts and addresses, so even an error in escaping could load no file. The
page works with a screen reader, prints on paper, and follows the reader's choice of light or dark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.audit.report_forms import Paper
from service.report.document.bar_chart import figure
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
)
from service.report.document.contents import report
from service.report.document.html_text import escape, escape_plain
from service.report.document.plots import draw
from service.report.document.strip_chart import draw_strip, swatch
from service.report.document.stylesheet import RUNNING, STYLE, page_size
from service.report.result.types import Result

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html(result: Result, paper: Paper = "a4") -> str:
    """The report of a debate as one self-contained HTML document."""
    return write(report(result, paper))


def write(content: ReportBlocks) -> str:
    """A report's blocks as an HTML document."""
    return "".join(_page(content))


def _page(content: ReportBlocks) -> Iterator[str]:
    style = STYLE + page_size(content.paper) + (RUNNING if content.running else "")
    yield (
        f'<!DOCTYPE html>\n<html lang="{content.language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="robots" content="noindex">\n'
        f"<title>{escape_plain(f'{content.title} {content.subtitle}')}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n"
    )
    title, subtitle = escape(content.title), escape(content.subtitle)
    yield f"<header>\n<p>Gainsay</p>\n<h1>{title}</h1>\n<p><code>{subtitle}</code></p>\n</header>\n<main>\n"
    if content.first:
        yield '<div class="sheet">\n'
        yield from _sections(content.first)
        yield "</div>\n"
    yield _contents(content)
    yield from _sections(content.blocks)
    yield "</main>\n"
    if content.running:
        yield f'<footer class="running">{escape(content.running)}</footer>\n'
    yield "</body>\n</html>\n"


def _contents(content: ReportBlocks) -> str:
    entries = "".join(
        f'<li><a href="#{b.name}">{escape(b.title)}</a></li>' for b in content.blocks if isinstance(b, ReportPart)
    )
    return f'<nav aria-label="Contents"><ol>{entries}</ol></nav>\n'


def _sections(blocks: Sequence[Block]) -> Iterator[str]:
    """Each part as a section; the blocks before the first part come before all sections."""
    opened = False
    for block in blocks:
        if isinstance(block, ReportPart):
            yield "</section>\n" if opened else ""
            yield f'<section id="{block.name}" aria-labelledby="{block.name}-title">\n'
            yield f'<h2 id="{block.name}-title">{escape(block.title)}</h2>\n'
            opened = True
        else:
            yield _block(block) + "\n"
    yield "</section>\n" if opened else ""


def _block(block: Block) -> str:
    match block:
        case HeadingBlock():
            beside = f" <small>{escape(block.beside)}</small>" if block.beside else ""
            return f"<h{block.level}>{escape(block.title)}{beside}</h{block.level}>"
        case Text():
            return f'<p class="{block.style}">{escape(block.text)}</p>' if block.text else ""
        case Banner():
            lines = "".join(f"<p>{escape(line)}</p>" for line in block.lines)
            title = f"<p><strong>{escape(block.title)}</strong></p>"
            return f'<div class="banner {block.tone}" role="note">{title}{lines}</div>'
        case FactList():
            return _facts(block)
        case TableBlock():
            return _table(block)
        case Bullets():
            return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in block.items)}</ul>"
        case Argued():
            return "".join(_argued(block))
        case Verbatim():
            lines = "\n".join(map(escape, block.lines))
            return f'<pre tabindex="0">{lines}</pre>'
        case _:
            return _drawn(block)


def _drawn(block: Block) -> str:
    match block:
        case Chart():
            return figure(block)
        case Map():
            return _map(block)
        case _:
            return _plot(block) if isinstance(block, Plot) else ""


def _facts(facts: FactList) -> str:
    rows = (f"<div><dt>{escape(f.term)}</dt><dd>{_value(f.value, f.code)}</dd></div>" for f in facts.rows)
    return f"<dl>{''.join(rows)}</dl>"


def _value(value: str, code: bool) -> str:
    return f"<code>{escape(value)}</code>" if code else escape(value)


def _table(table: TableBlock) -> str:
    if not table.rows:
        return ""
    numeric = [' class="number"' if column in table.numeric else "" for column in range(len(table.head))]
    head = "".join(f'<th scope="col"{n}>{escape(name)}</th>' for name, n in zip(table.head, numeric, strict=True))
    rows = "".join(
        "<tr>"
        + "".join(f"<td{numeric[i]}>{_value(cell, i in table.code)}</td>" for i, cell in enumerate(row))
        + "</tr>"
        for row in table.rows
    )
    return (
        f'<div class="wide"><table><caption>{escape(table.caption)}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _argued(block: Argued) -> Iterator[str]:
    struck = " struck" if block.struck else ""
    yield f'<article class="argued{struck}"><p class="label"><strong>{escape(block.label)}</strong> '
    yield f"<small>{escape(block.beside)}</small></p><p>{escape(block.text)}</p>"
    if block.struck:
        yield f'<p class="verdict bad">{escape(block.struck)}</p>'
    yield from map(_quotation, block.quotations)
    yield "</article>"


def _map(block: Map) -> str:
    keys = "".join(f"<li>{swatch(key.sign)} {escape(key.label)}</li>" for key in block.keys)
    strips = "".join(
        f"<figure><figcaption>{escape(strip.label)}</figcaption>{draw_strip(strip, f'{block.name}-{i}')}"
        f"<p>{escape(strip.shown)}</p></figure>"
        for i, strip in enumerate(block.strips)
    )
    return f'<div class="map"><p class="note">{escape(block.title)}</p><ul>{keys}</ul>{strips}</div>'


def _plot(block: Plot) -> str:
    title, shown = escape(block.title), escape(block.shown)
    return f'<figure class="course"><figcaption>{title}</figcaption>{draw(block)}<p>{shown}</p></figure>'


def _quotation(given: Quotation) -> str:
    notes = "".join(f"<p>{escape(note)}</p>" for note in given.notes)
    return (
        f'<figure class="{given.tone}"><blockquote>“{escape(given.quote)}”</blockquote><figcaption>'
        f'<strong class="verdict">{escape(given.verdict)}</strong> {escape(given.where)}{notes}</figcaption></figure>'
    )
