"""A table as CSV, with a row of headers.

    id, question, answer              needed
    context, title                    a document and its title; context_2, title_2, ... to context_20 for more of them
    proposition, states               what is argued, and the answer that it states
    group, split, note                the item's and the label's
    task_type, licence                the set's

An empty cell is one that is left out. A column of another name is refused, unless it is ignored.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from service.errors import did_you_mean
from service.evaluation.sets.faults import Fault, said
from service.evaluation.sets.form import DOCUMENT_BYTES, DOCUMENTS_OF_AN_ITEM
from service.evaluation.sets.importing.mapped import ImportOptions, Mapped, opaque

NEEDED = ("id", "question", "answer")
OPTIONAL = ("proposition", "states", "group", "split", "note", "task_type", "licence")
_DOCUMENT = re.compile(r"(context|title)(?:_([1-9]\d?))?")
_CELL_MAX = DOCUMENT_BYTES


def read_csv(file: str, text: str, options: ImportOptions, faults: list[Fault]) -> list[Mapped]:
    """Every row as a question; notes what cannot be mapped, by the line on which the row begins."""
    csv.field_size_limit(_CELL_MAX)
    rows = _rows(file, text, faults)
    first = next(rows, None)
    if first is None:
        faults.append(Fault(file, 1, "", f"expected a row of headers, such as {','.join(NEEDED)}; found none"))
        return []
    headers = [name.strip() for name in first[1]]
    wrong = [Fault(file, first[0], name, words) for name, words in _of_headers(headers, options.ignore)]
    faults.extend(wrong)
    mapped: list[Mapped] = []
    for line, cells in rows:
        if len(cells) != len(headers):
            words = f"expected {len(headers)} cells, found {len(cells)}; write a cell with a comma or a quote in quotes"
            faults.append(Fault(file, line, "", words))
        elif not wrong:
            mapped.extend(_mapped(file, line, dict(zip(headers, cells, strict=True)), faults))
    return mapped


def _rows(file: str, text: str, faults: list[Fault]) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not empty, with the line on which it begins."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        faults.append(Fault(file, line, "", f"expected a row of CSV: {error}; nothing after it was read"))


def _of_headers(headers: list[str], ignore: frozenset[str]) -> Iterator[tuple[str, str]]:
    known = (*NEEDED, "context", "title", *OPTIONAL)
    for name, times in Counter(headers).items():
        number = found[2] if (found := _DOCUMENT.fullmatch(name)) else None
        if times > 1:
            yield name, f"this column stands {times} times; keep one"
        elif name not in known and name not in ignore and not (number and 2 <= int(number) <= DOCUMENTS_OF_AN_ITEM):
            yield name, f"this column is unknown{did_you_mean(name, known)}; leave it out with --ignore {name}"
    for name in NEEDED:
        if name not in headers:
            yield name, "this column is missing; add it"


def _mapped(file: str, line: int, row: Mapping[str, str], faults: list[Fault]) -> Iterator[Mapped]:
    missing = [name for name in NEEDED if not row[name].strip()]
    faults.extend(Fault(file, line, name, "this cell is empty; fill it") for name in missing)
    if not opaque(row["id"]) and "id" not in missing:
        faults.append(Fault(file, line, "id", f"{said(row['id'])} has no letter or digit; take another id"))
        return
    if not missing:
        documents = tuple(_documents(row))
        given: dict[str, Any] = {name: row[name] for name in OPTIONAL if row.get(name, "").strip() and name != "note"}
        yield Mapped(
            file=file,
            line=line,
            id=opaque(row["id"]),
            question=row["question"],
            documents=documents,
            answer=row["answer"].strip(),
            note=row.get("note", ""),
            **given,
        )


def _documents(row: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for ending in ("", *(f"_{n}" for n in range(2, DOCUMENTS_OF_AN_ITEM + 1))):
        if (text := row.get(f"context{ending}", "")).strip():
            yield row.get(f"title{ending}", "").strip() or f"Context{ending.replace('_', ' ')}", text
