"""The Typst template of the PDF: constant markup that reads the report's blocks as data and never as markup."""

TEMPLATE = r"""
#let report = json(bytes(sys.inputs.report))
#let drawings = json(bytes(sys.inputs.drawings))
#let tones = (
  good: (rgb("#1d6b3c"), rgb("#edf6f0")), warn: (rgb("#855800"), rgb("#fdf5e3")),
  bad: (rgb("#a12020"), rgb("#fbeeee")), info: (rgb("#2b5c94"), rgb("#eef3f9")),
  plain: (rgb("#59616b"), rgb("#f5f6f8")),
)
#let soft = rgb("#59616b")
#let rule = rgb("#d5d9de")
#let accent = rgb("#1f3a5f")

#set document(title: report.title + " " + report.subtitle, author: "Gainsay")
#set text(font: "Libertinus Serif", size: 10.5pt, lang: report.language, fill: rgb("#1b1f24"))
#set par(leading: 0.64em, spacing: 0.95em)
#set page(
  paper: (a4: "a4", letter: "us-letter").at(report.paper),
  margin: (x: 21mm, top: 26mm, bottom: 24mm),
  header: context if counter(page).get().first() > 1 {
    set text(size: 8pt, fill: soft)
    grid(columns: (1fr, auto), report.title, report.subtitle)
    v(-0.6em)
    line(length: 100%, stroke: 0.4pt + rule)
  },
  footer: context {
    set text(size: 8pt, fill: soft)
    grid(
      columns: (1fr, auto),
      if report.simulated { text(fill: tones.warn.at(0), weight: "bold")[Simulated: no language model took part] },
      [Page #counter(page).display() of #counter(page).final().first()],
    )
  },
)
#show heading.where(level: 2): it => {
  v(1.1em, weak: true)
  block(sticky: true, below: 0.9em, {
    text(size: 14pt, weight: "semibold", fill: accent, it.body)
    v(-0.55em)
    line(length: 100%, stroke: 0.6pt + rule)
  })
}
#show heading.where(level: 3): it => block(above: 1.5em, below: 0.7em, sticky: true, text(size: 11.5pt, it.body))
#show heading.where(level: 4): it => block(above: 1.2em, below: 0.6em, sticky: true, text(size: 10.5pt, it.body))
#let mark-of-code = regex("\u{27e6}[^\u{27e6}\u{27e7}]*\u{27e7}")
#show mark-of-code: set text(weight: "bold", fill: tones.bad.at(0))
#show raw: set text(font: "DejaVu Sans Mono", size: 7.5pt)
#set table(stroke: none, inset: (x: 4pt, y: 3.5pt))
#show table: set text(size: 8.5pt)
#show table: set par(leading: 0.5em, justify: false)

#let value(it, code) = if code { raw(it) } else { it }

#let banner(b) = {
  let (ink, wash) = tones.at(b.tone)
  block(
    width: 100%, fill: wash, inset: (x: 11pt, y: 9pt), above: 1em, below: 1em, breakable: false,
    stroke: (left: 3.5pt + ink, rest: 0.5pt + ink),
    {
      text(fill: ink, weight: "bold", size: 12pt, b.title)
      for entry in b.lines { parbreak(); entry }
    },
  )
}

#let facts(b) = {
  set text(size: 9.5pt)
  block(above: 0.9em, below: 1em, for row in b.rows {
    block(width: 100%, above: 0pt, below: 0pt, inset: (y: 3pt), stroke: (bottom: 0.4pt + rule), breakable: false,
      grid(columns: (44mm, 1fr), column-gutter: 5mm, text(fill: soft, row.term), value(row.value, row.code)))
  })
}

#let tabled(b) = if b.rows.len() > 0 {
  // Widths follow the longest cell, less than in proportion, but leave room for the longest word. A line may break at a
  // hyphen before a letter, and not before a digit. The inset of a cell is as wide as two characters. Short codes have
  // all the width that they need: beside long cells a share would let them run into the next column.
  let column(i) = if i in b.numeric { auto } else {
    let cells = (b.head.at(i), ..b.rows.map(row => row.at(i)))
    if i in b.code and calc.max(..cells.map(cell => cell.len())) <= 20 { return auto }
    let words = cells.map(cell => cell.split(regex("[\\s\u{200b}]|-\\pL")).map(word => word.len())).flatten()
    let wanted = calc.pow(calc.min(calc.max(..cells.map(cell => cell.len())), 90), 0.75)
    calc.max(wanted, (calc.max(..words) + 2) * if i in b.code { 0.9 } else { 0.75 }, 4) * 1fr
  }
  block(above: 1em, below: 1.1em, {
    block(sticky: true, below: 0.5em, text(size: 9pt, fill: soft, style: "italic", b.caption))
    table(
      columns: range(b.head.len()).map(column),
      align: (x, _) => if x in b.numeric { right } else { left },
      table.header(..b.head.map(name => strong(name)), table.hline(stroke: 0.8pt + soft)),
      ..b.rows.map(row => (
        ..row.enumerate().map(((i, cell)) => value(cell, i in b.code)),
        table.hline(stroke: 0.4pt + rule),
      )).flatten(),
    )
  })
}

#let bar(b) = {
  let total = calc.max(b.total, 1)
  box(width: 100%, height: 7pt, fill: rule, clip: true, stack(
    dir: ltr,
    ..b.segments.map(s => rect(width: s.value / total * 100%, height: 7pt, fill: tones.at(s.tone).at(0))),
  ))
}

#let chart(b) = if b.bars.len() > 0 {
  block(above: 1em, below: 1.1em, breakable: false, {
    text(size: 9pt, fill: soft, style: "italic", b.title)
    table(
      columns: (38mm, 1fr, auto), align: (left + horizon, left + horizon, left + horizon),
      ..b.bars.map(it => (it.label, pdf.artifact(bar(it)), it.shown)).flatten(),
    )
  })
}

#let map-of(b) = {
  let drawn = drawings.at(b.name)
  block(above: 1em, below: 0.6em, text(size: 9pt, fill: soft, style: "italic", b.title))
  block(below: 1em, {
    set text(size: 8pt, fill: soft)
    let sign(i, key) = box({
      box(baseline: 15%, pdf.artifact(image(bytes(drawn.keys.at(i)), format: "svg", height: 7pt)))
      h(3pt)
      key.label
    })
    for (i, key) in b.keys.enumerate() { sign(i, key); h(1.2em); sym.zws }
  })
  for (i, strip) in b.strips.enumerate() {
    block(breakable: false, above: 1em, below: 1em, {
      text(size: 9.5pt, weight: "semibold", strip.label)
      block(
        above: 0.5em, below: 0.5em,
        image(bytes(drawn.strips.at(i)), format: "svg", width: 100%, alt: strip.label + ": " + strip.shown),
      )
      text(size: 9pt, strip.shown)
    })
  }
}

#let course(b) = block(breakable: false, above: 1em, below: 1.1em, {
  text(size: 9pt, fill: soft, style: "italic", b.title)
  block(
    above: 0.6em, below: 0.6em,
    image(bytes(drawings.at(b.name).course.at(0)), format: "svg", width: 100%, alt: b.title + ": " + b.shown),
  )
  text(size: 9pt, b.shown)
})

#let quotation(q) = {
  let (ink, wash) = tones.at(q.tone)
  block(
    width: 100%, fill: wash, inset: (x: 9pt, y: 6pt), above: 0.6em, below: 0.6em,
    stroke: (left: 2pt + ink), breakable: q.quote.len() > 1500,
    {
      emph("“" + q.quote + "”")
      set text(size: 8.5pt, fill: soft)
      parbreak()
      text(fill: ink, weight: "bold", q.verdict)
      " " + q.where
      for note in q.notes { parbreak(); text(fill: black, note) }
    },
  )
}

#let argued(b) = block(
  width: 100%, inset: (left: 10pt, y: 1pt), above: 0.9em, below: 0.9em,
  stroke: (left: if b.struck == "" { 1pt + rule } else { (paint: tones.bad.at(0), thickness: 1pt, dash: "dashed") }),
  {
    block(sticky: true, below: 0.55em, {
      strong(b.label)
      h(0.6em)
      text(size: 8.5pt, fill: soft, b.beside)
    })
    if b.struck == "" { b.text } else {
      let struck-through = strike.with(stroke: 0.5pt + tones.bad.at(0))
      let at = 0
      for found in b.text.matches(mark-of-code) {
        struck-through(b.text.slice(at, found.start))
        found.text // a mark is code's own: it must not look as if it were taken back
        at = found.end
      }
      struck-through(b.text.slice(at))
    }
    if b.struck != "" {
      parbreak()
      text(size: 9pt, fill: tones.bad.at(0), weight: "bold", b.struck)
    }
    for q in b.quotations { quotation(q) }
  },
)

#let paragraph(b) = if b.text != "" {
  if b.style == "lead" { block(above: 0.8em, below: 1em, text(size: 12pt, b.text)) }
  else if b.style == "note" {
    block(above: 1em, below: 0.7em, sticky: b.text.ends-with(":"), text(size: 9.5pt, fill: soft, b.text))
  }
  else { par(b.text) }
}

#let shown(b) = {
  if b.block == "part" { heading(level: 2, b.title) }
  else if b.block == "heading" {
    heading(level: b.level, b.title + if b.beside != "" { " (" + b.beside + ")" } else { "" })
  }
  else if b.block == "text" { paragraph(b) }
  else if b.block == "banner" { banner(b) }
  else if b.block == "facts" { facts(b) }
  else if b.block == "table" { tabled(b) }
  else if b.block == "bullets" { list(..b.items) }
  else if b.block == "argued" { argued(b) }
  else if b.block == "chart" { chart(b) }
  else if b.block == "map" { map-of(b) }
  else if b.block in ("course", "intervals", "scatter", "quarters", "overTime") { course(b) }
  else if b.block == "verbatim" { block(above: 1em, below: 1em, raw(b.lines.join("\n"), block: true)) }
}

#text(size: 8.5pt, fill: accent, tracking: 1.4pt, weight: "bold", upper("Gainsay"))
#v(-0.5em)
#heading(level: 1, text(size: 20pt, report.title))
#v(-0.1em)
#raw(report.subtitle)
#line(length: 100%, stroke: 0.8pt + accent)

#{
  set text(size: 9.5pt)
  set par(leading: 0.55em, spacing: 0.65em)
  for b in report.first { shown(b) }
}
#if report.first.len() > 0 { pagebreak(weak: true) }
#for b in report.blocks { shown(b) }
"""
