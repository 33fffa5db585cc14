"""Sets from the files of others: each line is mapped or refused, and a set is made of all of them or of none.

`read` has a module for each form, `build` makes the set. Here alone labels take part in making items: the propositions
of a source that has none are written so that half of them state the labelled answer. The set then stands by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Literal

from service.evaluation.sets.faults import BadSet, Fault
from service.evaluation.sets.importing.build import Built, build
from service.evaluation.sets.importing.csv_table import read_csv
from service.evaluation.sets.importing.golden_lines import read_golden
from service.evaluation.sets.importing.inspect_lines import read_inspect
from service.evaluation.sets.importing.mapped import ImportOptions, Mapped

Form = Literal["golden", "inspect", "csv"]
Reader = Callable[[str, str, ImportOptions, list[Fault]], list[Mapped]]
READERS: Mapping[Form, Reader] = {"golden": read_golden, "inspect": read_inspect, "csv": read_csv}


def import_set(form: Form, texts: Sequence[tuple[str, bytes]], options: ImportOptions, today: date) -> Built:
    """The set that these files make, each with its name; raises `BadSet` with all faults by file and line."""
    faults: list[Fault] = []
    mapped: list[Mapped] = []
    for name, raw in texts:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw.count(b"\n", 0, error.start) + 1
            words = f"expected UTF-8, found the byte 0x{raw[error.start]:02x}; re-encode the file"
            faults.append(Fault(name, line, "", words))
        else:
            mapped.extend(READERS[form](name, text, options, faults))
    return build(mapped, options, today, faults)


__all__ = ["READERS", "BadSet", "Built", "Form", "ImportOptions", "import_set"]
