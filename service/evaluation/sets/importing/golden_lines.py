"""The one-line form of golden samples: id, task_type, question, context, label, label_meaning, origin, licence.

id, question      the item's
context           its one document, with the title Context
label             the label's answer
label_meaning     the label's note, and which questions have answers of the same kind
origin            the label's note: it may say what a model could look up
task_type         the set's, so it is the same on every line
licence           the set's, every one of them
"""

from __future__ import annotations

from msgspec import Struct

from service.evaluation.sets.faults import Fault
from service.evaluation.sets.form import AnswerText, LongText, Question, Text
from service.evaluation.sets.importing.mapped import ImportOptions, Mapped, objects, opaque
from service.evaluation.sets.manifest import Words
from service.evaluation.sets.shape import read_shape


class GoldenLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A golden sample."""

    id: Words
    task_type: Words
    question: Question
    context: LongText
    label: AnswerText
    label_meaning: Text
    origin: Text
    licence: Words


def read_golden(file: str, text: str, options: ImportOptions, faults: list[Fault]) -> list[Mapped]:
    """Every line as a question; notes what cannot be mapped."""
    mapped = []
    for number, written in objects(file, text, options.ignore, faults):
        found, wrong = read_shape(written, GoldenLine, {})
        faults.extend(Fault(file, number, place, words) for place, words in wrong)
        if found is not None:
            mapped.append(
                Mapped(
                    file=file,
                    line=number,
                    id=opaque(found.id),
                    question=found.question,
                    documents=(("Context", found.context),),
                    answer=found.label,
                    note=f"{found.label_meaning}\nOrigin: {found.origin}",
                    likeness=(found.question, found.label_meaning),
                    task_type=found.task_type,
                    licence=found.licence,
                )
            )
    return mapped
