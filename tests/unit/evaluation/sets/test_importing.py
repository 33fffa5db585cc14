"""Sets from the files of others: every line is mapped, or all that cannot be is refused by line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from service.evaluation.sets.faults import BadSet
from service.evaluation.sets.form import ITEMS, LABELS
from service.evaluation.sets.importing import Built, Form, ImportOptions, import_set
from service.evaluation.sets.items import QuestionItem
from service.evaluation.sets.labels import QuestionLabel
from tests.fixtures.golden_sets import TODAY

OPTIONS = ImportOptions(
    id="my-set",
    labelled_by="two clerks",
    labelling="Each read the clause.",
    basis="expert",
    published=TODAY,
    task_type="contract",
    licence="CC0-1.0",
    proposition='The answer is "{answer}".',
)


def golden_line(n: int, **more: object) -> dict[str, object]:
    """A line of golden samples; every third is labelled no."""
    return {
        "id": f"g-{n:02}",
        "task_type": "contract",
        "question": f"Does clause {n} limit liability?",
        "context": f"Clause {n}. The liability is {'not ' if n % 3 else ''}limited.",
        "label": "yes" if n % 3 else "no",
        "label_meaning": "yes: it does; no: it does not",
        "origin": f"a contract, clause {n}",
        "licence": "CC-BY-4.0",
        **more,
    }


def sample(n: int, **more: object) -> dict[str, object]:
    return {"id": n, "input": f"What is {n} and {n}?", "target": "even" if n % 2 else "odd", **more}


def lines(rows: Sequence[object]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def made(form: Form, raw: bytes, **options: Any) -> Built:
    return import_set(form, [("in", raw)], OPTIONS._replace(**options), TODAY)


def refused(form: Form, raw: bytes, **options: Any) -> list[str]:
    with pytest.raises(BadSet) as found:
        made(form, raw, **options)
    return [str(fault) for fault in found.value.faults]


def items(built: Built) -> list[QuestionItem]:
    return [item for item in built.golden.asked.items if isinstance(item, QuestionItem)]


def label(built: Built, id: str) -> QuestionLabel:
    found = built.golden.sealed[id]
    assert isinstance(found, QuestionLabel)
    return found


TWENTY = lines([golden_line(n) for n in range(1, 21)])


def test_golden_samples_become_questions_with_one_document_each() -> None:
    built = made("golden", TWENTY, task_type=None, licence=None)
    manifest, first = built.golden.manifest, items(built)[0]

    assert (manifest.id, manifest.task_type, manifest.licence) == ("my-set", "contract", "CC-BY-4.0")
    assert manifest.answers == ("no", "yes")
    assert manifest.provenance == "labels by experts, by two clerks"
    assert "half of them in each split state the labelled answer" in manifest.labelling
    assert (first.id, first.question) == ("g-01", "Does clause 1 limit liability?")
    assert [(one.title, one.text) for one in built.golden.asked.documents(first)] == [
        ("Context", "Clause 1. The liability is not limited.")
    ]
    assert label(built, "g-01").note == "yes: it does; no: it does not\nOrigin: a contract, clause 1"
    assert label(built, "g-03").answer == "no"


def test_propositions_are_two_sided_within_each_split_and_state_another_answer_on_the_other_side() -> None:
    built = made("golden", TWENTY)
    sides = {
        split: [one.states == label(built, one.id).answer for one in items(built) if one.split == split]
        for split in ("open", "held")
    }

    assert {split: (sum(side), len(side)) for split, side in sides.items()} == {"open": (5, 10), "held": (5, 10)}
    assert {one.proposition for one in items(built)} == {'The answer is "yes".', 'The answer is "no".'}
    assert all(one.proposition == f'The answer is "{one.states}".' for one in items(built))


def test_the_same_files_and_options_make_the_same_bytes_and_another_seed_draws_otherwise() -> None:
    assert made("golden", TWENTY).files == made("golden", TWENTY).files
    assert made("golden", TWENTY, seed="2").files[ITEMS] != made("golden", TWENTY).files[ITEMS]
    assert made("golden", TWENTY, seed="2").files[LABELS] == made("golden", TWENTY).files[LABELS]


def test_a_wrong_answer_is_one_that_questions_of_the_same_kind_have() -> None:
    years = [
        golden_line(n, question=f"Which year was higher, {n}?", label=str(2018 + n % 2), label_meaning="a year")
        for n in range(10)
    ]
    trends = [golden_line(10 + n, question="What happened?", label=("up", "down")[n % 2]) for n in range(10)]

    built = made("golden", lines([*years, *trends]))

    states = {one.id: one.states for one in items(built)}
    assert {states[f"g-{n:02}"] for n in range(10)} <= {"2018", "2019"}
    assert {states[f"g-{n:02}"] for n in range(10, 20)} <= {"up", "down"}


@pytest.mark.parametrize(("held", "n"), [(0, 0), (25, 5), (50, 10), (100, 20)])
def test_so_many_per_cent_are_held_back(held: int, n: int) -> None:
    assert len(made("golden", TWENTY, held_per_cent=held).golden.asked.active("held")) == n


def test_items_with_one_document_are_a_group_and_stay_in_one_split() -> None:
    rows = [golden_line(n, context=f"The lease {n // 4}.") for n in range(20)]

    built = made("golden", lines(rows))

    splits: dict[str, set[str]] = {}
    for one in items(built):
        splits.setdefault(one.group, set()).add(one.split)
    assert sorted(map(len, splits.values())) == [1] * 5
    assert len(built.files) == 3 + 5


def test_all_that_cannot_be_mapped_is_refused_by_line() -> None:
    rows = [golden_line(n) for n in range(1, 7)]
    rows[1]["task_type"] = "security"
    rows[2]["hint"] = "x"
    del rows[3]["label"]
    rows[4]["context"] = ""
    raw = lines(rows) + b'{"id": "x", "id": "y"}\nnot json\n'

    found = refused("golden", raw, task_type=None, licence=None)

    assert [fault.partition(";")[0] for fault in found] == [
        "in:2: task_type: 'security' is not the set's, 'contract'",
        "in:3: hint: this member is unknown",
        "in:4: label: this member is missing",
        "in:5: context: expected a text of 1 to 8388608 characters, found 0 of them",
        "in:7: an object has the member 'id' twice",
        "in:8: expected one JSON object, found other text at column 1: Expecting value",
    ]


def test_what_a_finished_set_would_be_refused_for_is_said_by_the_line_of_the_source() -> None:
    rows = [golden_line(1), golden_line(2, id="g-01"), golden_line(3, context="\ufeffClause"), golden_line(4)]
    rows[3]["label_meaning"] = "Clause 4. The liability is not limited."

    found = refused("golden", lines(rows))

    assert [fault.partition(";")[0] for fault in found if "stands in" not in fault] == [
        "in:2: id: line 1 has the id 'g-01' with other content",
        "in:3: document: the file begins with a byte order mark",
    ]
    assert any(fault.startswith("in:4: note: its sentence 'The liability is not limited.'") for fault in found)


def test_a_member_is_left_out_where_that_is_said() -> None:
    raw = lines([golden_line(n, hint="x") for n in range(4)])

    assert refused("golden", raw)
    assert len(items(made("golden", raw, ignore=frozenset({"hint"})))) == 4


def test_without_a_template_each_line_is_refused_and_a_closed_list_that_is_given_counts() -> None:
    assert len(refused("golden", TWENTY, proposition=None)) == 20
    assert refused("golden", TWENTY, answers=("yes", "unknown"))[0].startswith("in:3: answer: 'no' is not one of")
    assert made("golden", TWENTY, answers=("yes", "no", "unclear")).golden.manifest.answers == ("yes", "no", "unclear")
    alike = lines([golden_line(n, label="yes") for n in range(4)])
    assert refused("golden", alike)[0].startswith("in:1: answer: all answers are 'yes'; give the closed list")


def test_line_ends_with_cr_become_lf_and_are_counted() -> None:
    rows = [golden_line(1, context="1.\r\n2.\r3."), golden_line(3)]

    built = made("golden", lines(rows))

    assert built.rewritten == 1
    assert built.golden.asked.documents(items(built)[0])[0].text == "1.\n2.\n3."


@pytest.mark.parametrize("form", ["golden", "inspect", "csv"])
def test_a_file_that_is_no_utf8_or_has_nothing_is_refused(form: Form) -> None:
    assert refused(form, b"x\n\xff")[0].startswith("in:2: expected UTF-8, found the byte 0xff")
    assert refused(form, b"")


def test_samples_of_inspect_become_questions() -> None:
    rows = [
        sample(1, files={"a.txt": "Two words."}, metadata={"context": "The sum is even.", "note": "It is doubled."}),
        sample(2, input=[{"role": "user", "content": "Is it odd?"}], target=["odd"], sandbox=None),
        {"input": "Without an id?", "target": "odd"},
    ]

    built = made("inspect", b"\xef\xbb\xbf" + lines(rows))
    first, second, third = items(built)

    assert [(one.title, one.text) for one in built.golden.asked.documents(first)] == [
        ("Context", "The sum is even."),
        ("a.txt", "Two words."),
    ]
    assert label(built, "1").note == "It is doubled."
    assert (second.question, second.documents, label(built, "2").answer) == ("Is it odd?", (), "odd")
    assert third.id.startswith("q-")
    assert len(third.id) == 14


def test_a_target_that_is_a_number_is_its_text() -> None:
    built = made("inspect", lines([sample(n, target=n % 2) for n in range(4)]))

    assert built.golden.manifest.answers == ("0", "1")


def test_choices_that_are_the_same_throughout_are_the_closed_list() -> None:
    rows = [sample(n, choices=["odd", "even", "neither"], target="AB"[n % 2]) for n in range(4)]

    built = made("inspect", lines(rows))

    assert label(built, "0").answer == "odd"
    assert label(built, "1").answer == "even"
    assert built.golden.manifest.answers == ("even", "odd")


def test_of_choices_that_differ_the_letters_are_the_answers_and_the_question_has_them() -> None:
    rows = [sample(n, choices=[f"{n}", f"{2 * n}"], target="AB"[n % 2]) for n in range(1, 5)]

    built = made("inspect", lines(rows))

    assert built.golden.manifest.answers == ("A", "B")
    assert items(built)[1].question == "What is 2 and 2?\n\nA) 2\nB) 4"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"input": ""}, "in:2: input: expected the question as a text"),
        (
            {"input": [{"role": "system", "content": "x"}, {"role": "user", "content": "y"}]},
            "in:2: input: expected a text, or one",
        ),
        (
            {"input": [{"role": "user", "content": [{"type": "image", "image": "x"}]}]},
            "in:2: input: expected a text, or one",
        ),
        ({"target": ["odd", "even"]}, "in:2: target: expected one answer as a text, found ['odd', 'even']"),
        ({"target": None}, "in:2: target: expected one answer as a text"),
        ({"id": {}}, "in:2: id: expected a text or a number"),
        ({"id": "//"}, "in:2: id: expected a text or a number"),
        ({"files": {"a": "data/a.txt"}}, "in:2: files.a: a path or a data URL is not read"),
        ({"files": {"a": "data:text/plain;base64,eA=="}}, "in:2: files.a: a path or a data URL is not read"),
        ({"files": {"a": " "}}, "in:2: files.a: expected the document as a text"),
        ({"files": ["a"]}, "in:2: files: expected an object of names and texts"),
        ({"sandbox": "docker"}, "in:2: sandbox: a debate runs nothing; leave it out knowingly with --ignore sandbox"),
        ({"setup": "ls"}, "in:2: setup: a debate runs nothing"),
        ({"metadata": {"level": 3}}, "in:2: metadata.level: this member is unknown"),
        ({"metadata": {"split": "train"}}, "in:1: split: other lines have split and this one has none"),
        ({"choices": ["a"]}, "in:2: choices: expected a list of 2 to 26"),
        (
            {"choices": ["odd", "even"], "target": "odd"},
            "in:2: target: with choices the target is one of their letters, A to B",
        ),
        ({"choices": ["odd", "even"], "target": "C"}, "in:2: target: with choices the target is one of their letters"),
    ],
)
def test_a_sample_that_cannot_be_mapped_is_refused(more: dict[str, object], expected: str) -> None:
    found = refused("inspect", lines([sample(1), sample(2, **more), sample(3)]))

    assert any(fault.startswith(expected) for fault in found), found


def test_what_a_debate_does_not_run_is_left_out_where_that_is_said() -> None:
    rows = [sample(n, sandbox="docker", metadata={"level": 3}) for n in range(4)]

    built = made("inspect", lines(rows), ignore=frozenset({"sandbox", "metadata.level"}))

    assert len(items(built)) == 4


TABLE = """\
id,question,answer,context,title,context_2,proposition,states,group,split,note
r/1,"Is it capped, at all?",yes,"Clause 1.
It is ""capped"".",Lease,Annex.,It is capped.,yes,lease,open,Plain.
r/2,Is it long?,no,,,,It is short.,no,lease,open,
r/3,Is it old?,no,Clause 3.,,,It is old.,yes,b,open,
"""


def test_a_table_becomes_questions() -> None:
    built = made("csv", TABLE.encode(), proposition=None)
    first, second, _ = items(built)

    assert (first.id, first.question, first.states, first.split) == ("r-1", "Is it capped, at all?", "yes", "open")
    assert [(one.title, one.text) for one in built.golden.asked.documents(first)] == [
        ("Lease", 'Clause 1.\nIt is "capped".'),
        ("Context 2", "Annex."),
    ]
    assert (second.documents, second.group) == ((), "lease")
    assert label(built, "r-1").note == "Plain."
    assert "template" not in built.golden.manifest.labelling


def test_a_table_of_a_spreadsheet_has_a_mark_and_crlf() -> None:
    raw = b"\xef\xbb\xbf" + TABLE.replace("\n", "\r\n").encode()

    assert made("csv", raw).files[LABELS] == made("csv", TABLE.encode()).files[LABELS]
    assert made("csv", raw).golden.hash == made("csv", TABLE.encode()).golden.hash


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("id,question", "id,frage", "in:1: frage: this column is unknown"),
        ("id,question", "id,qestion", "in:1: qestion: this column is unknown; did you mean 'question'"),
        ("id,question", "id,frage", "in:1: question: this column is missing"),
        ("title,context_2", "title,context_21", "in:1: context_21: this column is unknown"),
        ("group,split", "group,group", "in:1: group: this column stands 2 times"),
        ("r/2,", "r/2,more,", "in:4: expected 11 cells, found 12"),
        ("r/2,Is it long?", "r/2,", "in:4: question: this cell is empty"),
        ("r/2", "//", "in:4: id: '//' has no letter or digit"),
        ("r/2", 'r"2', "^$"),
        ("Is it old?", '"Is" it old?', "in:5: expected a row of CSV"),
        ("r/3", "r/1", "in:5: id: line 1 has the id 'r-1' with other content"),
        ("Is it long?,no", "Is it long?,no", "^$"),
        ("It is short.,no", "It is short.,", "in:4: states: a proposition is given and not which answer it states"),
        ("It is old.,yes", "It is old.,maybe", "in:5: states: 'maybe' is not in the closed list"),
        ("b,open", "b,train", "in:5: split: expected one of held, open"),
        ("b,open", "b,", "in:5: split: other lines have split and this one has none"),
    ],
)
def test_a_row_that_cannot_be_mapped_is_refused_by_the_line_on_which_it_begins(
    old: str, new: str, expected: str
) -> None:
    assert old in TABLE
    raw = TABLE.replace(old, new, 1).encode()

    if expected == "^$":
        assert len(items(made("csv", raw))) == 3
    else:
        found = refused("csv", raw, proposition=None)
        assert any(fault.startswith(expected) for fault in found), found


def test_ids_that_become_one_are_refused() -> None:
    raw = "id,question,answer\na/b,Q one?,yes\na b,Q two?,no\n"

    assert any(
        fault.startswith("in:3: id: line 1 has the id 'a-b' with other content")
        for fault in refused("csv", raw.encode())
    )


def test_a_task_type_and_a_licence_are_said_somewhere() -> None:
    raw = b"id,question,answer\na,Q one?,yes\nb,Q two?,no\n"

    found = refused("csv", raw, task_type=None, licence=None)

    assert [fault.partition(": the line")[0] for fault in found] == [
        "in:2: task_type",
        "in:2: licence",
        "in:3: task_type",
        "in:3: licence",
    ]
    assert made("csv", raw).golden.manifest.licence == "CC0-1.0"


def test_texts_of_every_kind_are_kept_in_set_toml() -> None:
    odd = 'A "quote", a \\ and a tab\t, ä, 😀, \x7f, and\na line.'

    built = made("golden", TWENTY, labelling=odd)

    assert built.golden.manifest.labelling.startswith(odd)
