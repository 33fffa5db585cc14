"""The style of the HTML report: one file, so it travels inside the page."""

from __future__ import annotations

from service.audit.report_forms import Paper

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b1f24; --soft: #59616b; --rule: #d5d9de; --wash: #f5f6f8; --accent: #1f3a5f;
  --good: #1d6b3c; --good-wash: #edf6f0; --warn: #855800; --warn-wash: #fdf5e3;
  --bad: #a12020; --bad-wash: #fbeeee; --info: #2b5c94; --info-wash: #eef3f9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --ink: #e4e7eb; --soft: #a2abb5; --rule: #363c44; --wash: #1c2026; --accent: #a9c5ea;
    --good: #7cc797; --good-wash: #17281d; --warn: #e0b35c; --warn-wash: #2b2414;
    --bad: #f09a9a; --bad-wash: #321a1a; --info: #8db7e8; --info-wash: #18222e;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1.25rem 4rem; max-width: 54rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.55 Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif; overflow-wrap: anywhere;
}
header { border-bottom: 3px double var(--rule); margin-bottom: 0.8rem; padding-bottom: 0.5rem; }
header > p:first-child { margin: 0; font: 600 0.8125rem/1.4 system-ui, sans-serif; letter-spacing: 0.14em;
  text-transform: uppercase; color: var(--accent); }
h1 { margin: 0.1rem 0; font-size: 1.75rem; line-height: 1.2; font-weight: 600; }
header > p { margin: 0; }
h2 { margin: 2.75rem 0 0.9rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--rule); font-size: 1.4rem;
  color: var(--accent); font-weight: 600; }
h3 { margin: 2rem 0 0.6rem; font-size: 1.125rem; }
h4 { margin: 1.25rem 0 0.5rem; font-size: 1rem; }
h3 small, .label small { margin-left: 0.5em; color: var(--soft); font: 400 0.875rem/1.4 system-ui, sans-serif; }
p { margin: 0.5rem 0; }
p.lead { font-size: 1.1875rem; line-height: 1.45; }
p.note { color: var(--soft); margin-top: 1rem; }
ul { margin: 0.4rem 0 1rem; padding-left: 1.3rem; }
li { margin: 0.3rem 0; }
code { font: 0.8125rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
nav ol { display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; margin: 1rem 0 0; padding: 0; list-style: none;
  font: 0.875rem/1.6 system-ui, sans-serif; }
a { color: var(--info); text-underline-offset: 0.2em; }
a:focus-visible { outline: 2px solid var(--info); outline-offset: 2px; }
.banner { margin: 1rem 0; padding: 0.8rem 1.1rem; border: 1px solid var(--tone); border-left-width: 6px;
  background: var(--tone-wash); }
.banner p { margin: 0.15rem 0; }
.banner strong { font-size: 1.1875rem; color: var(--tone); }
.good { --tone: var(--good); --tone-wash: var(--good-wash); }
.warn { --tone: var(--warn); --tone-wash: var(--warn-wash); }
.bad { --tone: var(--bad); --tone-wash: var(--bad-wash); }
.info { --tone: var(--info); --tone-wash: var(--info-wash); }
.plain { --tone: var(--soft); --tone-wash: var(--wash); }
dl { margin: 1rem 0; }
dl div { display: grid; grid-template-columns: 14rem 1fr; gap: 0 1rem; padding: 0.3rem 0;
  border-bottom: 1px solid var(--rule); }
dt { color: var(--soft); font: 0.875rem/1.6 system-ui, sans-serif; }
dd { margin: 0; }
.wide { overflow-x: auto; margin: 1.25rem 0; }
table { width: 100%; border-collapse: collapse; font: 0.875rem/1.45 system-ui, sans-serif; overflow-wrap: break-word; }
caption { text-align: left; color: var(--soft); padding-bottom: 0.4rem; font-style: italic; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.8rem 0.4rem 0; border-bottom: 1px solid var(--rule); }
thead th { border-bottom: 2px solid var(--rule); font-weight: 600; }
td code { overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.chart { margin: 1.25rem 0; }
.chart th { font-weight: 400; width: 11rem; }
.chart .bar { width: 45%; vertical-align: middle; }
svg { display: block; width: 100%; height: 0.9rem; }
rect { fill: var(--tone); }
rect.track { fill: var(--rule); }
.map svg { height: auto; min-width: 36rem; }
.map figure { overflow-x: auto; padding: 0.6rem 0; background: none; border: 0; break-inside: avoid; }
.map figure p { margin: 0; color: var(--ink); font: 0.875rem/1.5 system-ui, sans-serif; }
.map ul { display: flex; flex-wrap: wrap; gap: 0.2rem 1.4rem; padding: 0; list-style: none;
  font: 0.8125rem/1.5 system-ui, sans-serif; }
.map li { display: flex; align-items: center; gap: 0.5rem; margin: 0; }
.map li svg { flex: none; width: 1.9rem; min-width: 0; }
.map .track { fill: var(--rule); }
.map .soft { fill: var(--soft); }
.map .full { --side: var(--accent); }
.map .upright { --side: var(--bad); }
.map .level { --side: var(--good); }
.map .full, .map .upright, .map .level { fill: var(--side); }
.map .line { fill: none; stroke: var(--side, var(--soft)); }
.map .wrong { stroke: var(--bad); }
.course { background: none; border: 0; padding: 0.6rem 0; overflow-x: auto; break-inside: avoid; }
.course svg { height: auto; min-width: 30rem; }
.course .scale { stroke: var(--rule); }
.course .line.course { stroke: var(--accent); }
.course .dot { fill: var(--accent); }
.course .soft { fill: var(--soft); }
.course .line.wanted { stroke: var(--bad); }
.course text.wanted { fill: var(--bad); }
.sheet { font-size: 0.9375rem; line-height: 1.4; }
.sheet h2 { margin: 0 0 0.5rem; font-size: 1.2rem; }
.sheet dl { margin: 0.5rem 0; }
.sheet dl div { grid-template-columns: 9.5rem 1fr; padding: 0.12rem 0; }
.sheet .banner { margin: 0.5rem 0; padding: 0.4rem 0.9rem; }
.sheet .banner p { margin: 0.05rem 0; }
.sheet .banner strong { font-size: 1.0625rem; }
.sheet .note { margin: 0.4rem 0; font-size: 0.875rem; }
.sheet pre { margin: 0.4rem 0; padding: 0.4rem 0.7rem; }
pre { overflow-x: auto; padding: 0.7rem 0.9rem; background: var(--wash); border: 1px solid var(--rule);
  font: 0.8125rem/1.5 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.argued { margin: 1rem 0; padding: 0.1rem 0 0.1rem 1rem; border-left: 2px solid var(--rule); }
.argued.struck { border-left: 2px dashed var(--bad); }
.argued.struck > p:nth-of-type(2) { text-decoration: line-through; text-decoration-color: var(--bad); }
.argued.struck mark { display: inline-block; text-decoration: none; }
mark { padding: 0 0.15em; border: 1px solid var(--bad); background: var(--bad-wash); color: var(--bad);
  font-weight: 600; }
.label { margin-bottom: 0.1rem; }
figure { margin: 0.6rem 0 0.6rem 0.25rem; padding: 0.5rem 0.9rem; background: var(--tone-wash);
  border-left: 3px solid var(--tone); }
blockquote { margin: 0; font-style: italic; }
figcaption { margin-top: 0.25rem; color: var(--soft); font: 0.8125rem/1.5 system-ui, sans-serif; }
figcaption p { margin: 0.1rem 0; color: var(--ink); }
.verdict { color: var(--tone); font-weight: 600; }
@media (max-width: 40rem) { dl div { grid-template-columns: 1fr; } }
@media print {
  :root {
    color-scheme: light;
    --paper: #fff; --ink: #000; --soft: #444; --rule: #bbb; --wash: #f5f5f5; --accent: #1f3a5f;
    --good: #1d6b3c; --good-wash: #fff; --warn: #855800; --warn-wash: #fff;
    --bad: #a12020; --bad-wash: #fff; --info: #2b5c94; --info-wash: #fff;
  }
  html { font-size: 10pt; }
  body { max-width: none; padding: 0; }
  nav { display: none; }
  .sheet { break-after: page; }
  h2, h3, h4, .label { break-after: avoid; }
  figure, .banner, tr, dl div { break-inside: avoid; }
  rect { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


RUNNING = """
.running { position: sticky; bottom: 0; margin-top: 2rem; padding: 0.4rem 0.9rem; border: 1px solid var(--warn);
  background: var(--warn-wash); color: var(--warn); font: 600 0.8125rem/1.4 system-ui, sans-serif; }
@media print { .running { position: fixed; left: 0; right: 0; bottom: 0; margin: 0; } body { padding-bottom: 14mm; } }
"""
"""The style of a line that stands on each page: only a page with such a line has it."""

_SIZES: dict[Paper, str] = {"a4": "A4", "letter": "letter"}


def page_size(paper: Paper) -> str:
    """The rule for the size of printed pages: the only part of the style that a reader's choice changes."""
    return f"@page {{ size: {_SIZES[paper]}; margin: 20mm 18mm; }}\n"
