"""A golden set is read whole, or refused with every fault by file and line."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from hashlib import sha256

import pytest

from service.evaluation.sets import form, reading
from service.evaluation.sets.faults import SHOWN_MAX, BadSet, Fault
from service.evaluation.sets.lines import read_object
from tests.fixtures.golden_sets import (
    CRITIC,
    PAIRS,
    QUESTIONS,
    Files,
    document,
    edited,
    faults_of,
    files_of,
    read,
    rows,
    with_document,
    with_rows,
    with_text,
)

ITEMS, LABELS, SET = form.ITEMS, form.LABELS, form.SET


def put(file: str, line: int, **members: object) -> Callable[[Files], Files]:
    """Members with other values on a line."""
    return lambda files: edited(files, file, line, lambda row: row.update(members))


def drop(file: str, line: int, member: str) -> Callable[[Files], Files]:
    return lambda files: edited(files, file, line, lambda row: row.pop(member))


def said(old: str, new: str, file: str = SET) -> Callable[[Files], Files]:
    return lambda files: with_text(files, file, old, new)


def line_added(file: str, text: str) -> Callable[[Files], Files]:
    return lambda files: {**files, file: files[file] + text.encode()}


def without_line(file: str, line: int) -> Callable[[Files], Files]:
    return lambda files: with_rows(files, file, [row for i, row in enumerate(rows(files, file), 1) if i != line])


def first_again(file: str, **members: object) -> Callable[[Files], Files]:
    def change(files: Files) -> Files:
        found = rows(files, file)
        return with_rows(files, file, [*found, {**found[0], **members}])

    return change


def renamed_document(files: Files) -> Files:
    path = document(files, "Lease")
    return {**{name: raw for name, raw in files.items() if name != path}, f"documents/{'0' * 64}.txt": files[path]}


def proposal(line: int, change: Callable[[dict[str, list[dict[str, object]]]], object]) -> Callable[[Files], Files]:
    return lambda files: edited(files, ITEMS, line, lambda row: change(row["proposal"]))


def without_file(name: str) -> Callable[[Files], Files]:
    return lambda files: {path: raw for path, raw in files.items() if path != name}


def doubled(files: Files, file: str) -> Files:
    """Each line of the tiny pairs twice, the second time as another pair."""
    found = rows(files, file)
    again = [{**row, "id": f"{row['id']}-2", **({"pair": "w2"} if "pair" in row else {})} for row in found]
    return with_rows(files, file, [*found, *again])


FLAWED = "The lease makes the landlord care for the roof, so it must repair it."
SPOILT: list[tuple[str, str, Callable[[Files], Files], str]] = [
    # set.toml
    (
        QUESTIONS,
        "an unknown key",
        said("version", 'author = "me"\nversion'),
        r"set.toml: author: this member is unknown",
    ),
    (QUESTIONS, "no TOML", said('id = "tiny-questions"', "id = tiny"), r"set.toml:1: expected TOML"),
    (QUESTIONS, "a set without an id", said('id = "tiny-questions"\n', ""), r"set.toml: id: this member is missing"),
    (QUESTIONS, "an id in capitals", said("tiny-questions", "Tiny"), r"set.toml: id: expected a text of the form"),
    (QUESTIONS, "version 0", said("version = 1", "version = 0"), r"set.toml: version: expected a whole number of 1 to"),
    (QUESTIONS, "an unknown kind", said('"questions"', '"question"'), r"set.toml: kind: .*did you mean 'questions'"),
    (QUESTIONS, "a date to come", said("published = false", "published = 2026-11-28"), r"published: .* in the future"),
    (
        QUESTIONS,
        "a date as a text",
        said("published = false", 'published = "2026-11-01"'),
        r"published: expected a date",
    ),
    (QUESTIONS, "a time", said("published = false", "published = 2026-11-01T10:00:00Z"), r"published: expected a date"),
    (QUESTIONS, "no date", said("published = false\n", ""), r"published: this key is missing"),
    (QUESTIONS, "one answer", said('["yes", "no"]', '["yes"]'), r"answers: expected a list of 2 to"),
    (QUESTIONS, "an answer twice", said('["yes", "no"]', '["yes", "no", "Yes"]'), r"answers: .*'yes' stands 2 times"),
    (QUESTIONS, "no answers", said('answers = ["yes", "no"]\n', ""), r"set.toml: answers: this key is missing"),
    (
        CRITIC,
        "answers of a critic's set",
        said("version", 'answers = ["yes", "no"]\nversion'),
        r"answers: .* remove it",
    ),
    (
        QUESTIONS,
        "no word on held",
        said('held = "For the tests of what a look at held labels needs."\n', ""),
        r"splits.held: .* missing",
    ),
    (
        QUESTIONS,
        "a word on held",
        said('"For the tests of what a look at held labels needs."', '"secret"'),
        r"splits.held: expected a sentence",
    ),
    (
        QUESTIONS,
        "a retired item that is gone",
        said("[splits]", '[retired]\nq9 = "wrong"\n[splits]'),
        r"set.toml: retired.q9: no item",
    ),
    (
        QUESTIONS,
        "retired for nothing",
        said("[splits]", '[retired]\nq1 = ""\n[splits]'),
        r"retired.'q1': expected the reason",
    ),
    (
        QUESTIONS,
        "retired as a list",
        said("version = 1", 'version = 1\nretired = ["q1"]'),
        r"retired: expected a table",
    ),
    (QUESTIONS, "nested TOML", lambda files: {**files, SET: b"a = " + b"[" * 60_000}, r"set.toml: a value is nested"),
    (
        QUESTIONS,
        "a date as a name",
        said('"the authors"', "2026-11-01"),
        r"labelled_by: expected a text, found 2026-11-01",
    ),
    (
        QUESTIONS,
        "a retired id of another form",
        said("[splits]", '[retired]\n"q/1" = "x"\n[splits]'),
        r"retired.'q/1': this is the id of no item",
    ),
    (QUESTIONS, "a task type of two lines", said('"contract"', '"a\\nb"'), r"set.toml: task_type: expected one line"),
    # Lines
    (QUESTIONS, "a member twice", line_added(ITEMS, '{"id": "q9", "id": "q8"}\n'), r"items.jsonl:5: .*'id' twice"),
    (QUESTIONS, "a blank line", line_added(ITEMS, "\n"), r"items.jsonl:5: the line is blank"),
    (
        QUESTIONS,
        "no JSON",
        line_added(LABELS, "q9: yes\n"),
        r"labels.jsonl:5: expected one JSON object, found other text",
    ),
    (QUESTIONS, "a list", line_added(LABELS, "[]\n"), r"labels.jsonl:5: expected one JSON object a line"),
    (QUESTIONS, "NaN", line_added(LABELS, '{"id": "q9", "kappa": NaN}\n'), r"labels.jsonl:5: NaN is no number"),
    (
        QUESTIONS,
        "half of a pair",
        line_added(ITEMS, '{"id": "\\ud800"}\n'),
        r"items.jsonl:5: .*half of a surrogate pair",
    ),
    (QUESTIONS, "U+0000 escaped", line_added(ITEMS, '{"id": "\\u0000"}\n'), r"items.jsonl:5: a text has U\+0000"),
    (QUESTIONS, "nested", line_added(ITEMS, '{"id": ' + "[" * 40 + "]" * 40 + "}\n"), r"items.jsonl:5: .* too deeply"),
    (QUESTIONS, "nested far", line_added(ITEMS, "[" * 100_000 + "\n"), r"items.jsonl:5: .* too deeply"),
    (
        QUESTIONS,
        "a long line",
        line_added(ITEMS, " " * form.LINE_BYTES + "{}\n"),
        r"items.jsonl:5: a line may have 1,048,576",
    ),
    (
        QUESTIONS,
        "a byte order mark",
        lambda files: {**files, ITEMS: b"\xef\xbb\xbf" + files[ITEMS]},
        r"items.jsonl:1: .*byte order mark",
    ),
    (QUESTIONS, "CR", said("\n", "\r\n", ITEMS), r"items.jsonl:1: the file has CR"),
    (QUESTIONS, "U+0000", line_added(SET, "# \0\n"), r"set.toml:\d+: the file has the character U\+0000"),
    (
        QUESTIONS,
        "not UTF-8",
        lambda files: {**files, LABELS: files[LABELS] + b"\xff\n"},
        r"labels.jsonl:5: expected UTF-8, found the byte 0xff",
    ),
    (QUESTIONS, "no items at all", lambda files: {**files, ITEMS: b""}, r"items.jsonl: the file has no line"),
    (QUESTIONS, "no file of labels", without_file(LABELS), r"labels.jsonl: this file is missing"),
    (QUESTIONS, "a further file", lambda files: {**files, "README.md": b"x"}, r"README.md: this file has no place"),
    (
        QUESTIONS,
        "a path that leaves",
        lambda files: {**files, "documents/../x.txt": b"x"},
        r"documents/../x.txt: this file has no place",
    ),
    # Members
    (
        QUESTIONS,
        "an unknown member",
        put(ITEMS, 2, hint="x"),
        r"items.jsonl:2: hint: this member is unknown; known here: id",
    ),
    (QUESTIONS, "a slip", put(ITEMS, 2, quesiton="x"), r"items.jsonl:2: quesiton: .*did you mean 'question'"),
    (
        QUESTIONS,
        "an answer in an item",
        put(ITEMS, 2, answer="yes"),
        r"items.jsonl:2: answer: this is a label's member",
    ),
    (CRITIC, "a family in an item", put(ITEMS, 1, family="x"), r"items.jsonl:1: family: this is a label's member"),
    (
        CRITIC,
        "a note in a proposal",
        proposal(1, lambda one: one.update(note=[])),
        r"items.jsonl:1: proposal.note: this is a label's",
    ),
    (
        CRITIC,
        "a seat in a proposal",
        proposal(1, lambda one: one.update(seat=[])),
        r"items.jsonl:1: proposal.seat: a given reply has no seat",
    ),
    (QUESTIONS, "a split in a label", put(LABELS, 1, split="open"), r"labels.jsonl:1: split: this is an item's member"),
    (QUESTIONS, "no question", drop(ITEMS, 3, "question"), r"items.jsonl:3: question: this member is missing"),
    (
        QUESTIONS,
        "a blank question",
        put(ITEMS, 3, question="  "),
        r"items.jsonl:3: question: expected a text, found blanks",
    ),
    (
        QUESTIONS,
        "a number as a question",
        put(ITEMS, 3, question=7),
        r"items.jsonl:3: question: expected a text, found 7",
    ),
    (QUESTIONS, "another split", put(ITEMS, 3, split="test"), r"items.jsonl:3: split: expected one of held, open"),
    (QUESTIONS, "documents that are none", put(ITEMS, 3, documents="D1"), r"items.jsonl:3: documents: expected a list"),
    (
        QUESTIONS,
        "a document that is none",
        put(ITEMS, 3, documents=["D1"]),
        r"items.jsonl:3: documents\[0\]: expected an object",
    ),
    (
        QUESTIONS,
        "too many documents",
        put(ITEMS, 3, documents=[{}] * 21),
        r"items.jsonl:3: documents: expected a list of 0 to 20",
    ),
    (QUESTIONS, "an id with a slash", put(ITEMS, 3, id="../q3"), r"items.jsonl:3: id: expected a text of the form"),
    (
        CRITIC,
        "an argument twice",
        proposal(1, lambda one: one["arguments"][1].update(n=1)),
        r"items.jsonl:1: proposal: .*distinct numbers",
    ),
    (QUESTIONS, "kappa of 2", put(LABELS, 1, kappa=2), r"labels.jsonl:1: kappa: expected a number from -1 to 1"),
    (QUESTIONS, "a very large kappa", put(LABELS, 1, kappa=10**400), r"labels.jsonl:1: kappa: expected a number from"),
    (QUESTIONS, "kappa true", put(LABELS, 1, kappa=True), r"labels.jsonl:1: kappa: .*found true"),
    (CRITIC, "argument 0", put(LABELS, 1, argument=0), r"labels.jsonl:1: argument: expected a whole number of 1 to 99"),
    (CRITIC, "argument true", put(LABELS, 1, argument=True), r"labels.jsonl:1: argument: .*found true"),
    # Ids, items and labels
    (QUESTIONS, "an item twice", first_again(ITEMS), r"items.jsonl:5: id: line 1 is the same"),
    (
        QUESTIONS,
        "an id with other content",
        first_again(ITEMS, states="no"),
        r"items.jsonl:5: id: line 1 has the id 'q1' with other",
    ),
    (
        QUESTIONS,
        "a label twice",
        first_again(LABELS, answer="yes"),
        r"labels.jsonl:5: id: line 1 has the id 'q1' with other",
    ),
    (QUESTIONS, "an item without a label", without_line(LABELS, 2), r"items.jsonl:2: id: the item 'q2' has no label"),
    (QUESTIONS, "a label without an item", without_line(ITEMS, 2), r"labels.jsonl:2: id: the label 'q2' has no item"),
    # Documents
    (QUESTIONS, "another name", renamed_document, r"documents/0{64}.txt: the SHA-256 of its bytes is"),
    (
        QUESTIONS,
        "a document that is not there",
        renamed_document,
        r"items.jsonl:1: documents\[0\].sha256: there is no file",
    ),
    (QUESTIONS, "a document that is not named", renamed_document, r"documents/0{64}.txt: no item has this document"),
    (
        QUESTIONS,
        "changed bytes",
        lambda files: {**files, document(files, "Lease"): b"x"},
        r"documents/\w+.txt: the SHA-256",
    ),
    (
        QUESTIONS,
        "a document with CR",
        lambda files: with_document(files, "Lease", b"1.\r\n2."),
        r"documents/\w+.txt:1: .*CR",
    ),
    (
        QUESTIONS,
        "a document with a mark",
        lambda files: with_document(files, "Lease", b"\xef\xbb\xbf1."),
        r"documents/\w+.txt:1: .*byte order mark",
    ),
    (
        QUESTIONS,
        "a document that is no text",
        lambda files: with_document(files, "Lease", b"1\n\xff"),
        r"documents/\w+.txt:2: expected UTF-8",
    ),
    (
        QUESTIONS,
        "an empty document",
        lambda files: with_document(files, "Lease", b"\n"),
        r"documents/\w+.txt: the document is empty",
    ),
    (
        QUESTIONS,
        "a large document",
        lambda files: with_document(files, "Lease", b"x" * (form.DOCUMENT_BYTES + 1)),
        r"documents/\w+.txt: the file may have 8,388,608 bytes",
    ),
    (QUESTIONS, "a large set.toml", line_added(SET, "#" * form.SET_BYTES), r"set.toml: the file may have 65,536 bytes"),
    (
        QUESTIONS,
        "a document under two ids",
        lambda files: edited(
            files, ITEMS, 3, lambda row: row["documents"][1].update(sha256=row["documents"][0]["sha256"])
        ),
        r"items.jsonl:3: documents: the sha256 .* 2 times",
    ),
    (
        QUESTIONS,
        "two documents under an id",
        lambda files: edited(files, ITEMS, 3, lambda row: row["documents"][1].update(id="D1")),
        r"items.jsonl:3: documents: the id 'D1' stands 2 times",
    ),
    # Answers and propositions
    (
        QUESTIONS,
        "a label outside the list",
        put(LABELS, 1, answer="maybe"),
        r"labels.jsonl:1: answer: 'maybe' is not in the closed list",
    ),
    (
        QUESTIONS,
        "a proposition outside the list",
        put(ITEMS, 1, states="maybe"),
        r"items.jsonl:1: states: 'maybe' is not in the closed",
    ),
    (
        QUESTIONS,
        "a rater outside the list",
        put(LABELS, 1, raters=[{"rater": "a", "answer": "x"}]),
        r"labels.jsonl:1: raters\[0\].answer",
    ),
    (
        QUESTIONS,
        "a rater twice",
        put(LABELS, 1, raters=[{"rater": "a", "answer": "no"}] * 2),
        r"labels.jsonl:1: raters: the rater 'a'",
    ),
    (
        QUESTIONS,
        "kappa of one rater",
        put(LABELS, 1, raters=[{"rater": "a", "answer": "no"}], kappa=1),
        r"labels.jsonl:1: kappa: agreement needs",
    ),
    (
        QUESTIONS,
        "a label of another basis",
        put(LABELS, 1, basis="expert"),
        r"labels.jsonl:1: basis: expert is not the basis",
    ),
    (
        QUESTIONS,
        "propositions that are all right",
        put(ITEMS, 1, states="no"),
        r"items.jsonl: states: in the split open 2 of 2 propositions",
    ),
    (
        QUESTIONS,
        "propositions that are all wrong",
        put(ITEMS, 2, states="no"),
        r"items.jsonl: states: in the split open 0 of 2 propositions",
    ),
    # Twins
    (
        CRITIC,
        "a twin without its pair",
        put(ITEMS, 2, pair="k9"),
        r"items.jsonl:1: pair: the pair 'k1' needs two items, found 1: line 1",
    ),
    (
        CRITIC,
        "three of a pair",
        put(ITEMS, 3, pair="k1"),
        r"items.jsonl:1: pair: the pair 'k1' needs two items, found 3",
    ),
    (
        CRITIC,
        "twins of two splits",
        put(ITEMS, 2, split="held"),
        r"items.jsonl:2: split: line 1 of the same pair has another split",
    ),
    (
        CRITIC,
        "twins of two questions",
        put(ITEMS, 2, question="Why?"),
        r"items.jsonl:2: question: line 1 of the same pair",
    ),
    (CRITIC, "twins of two groups", put(ITEMS, 2, group="x"), r"items.jsonl:2: group: line 1 of the same pair"),
    (
        CRITIC,
        "two flawed twins",
        put(LABELS, 2, answer="flawed"),
        r"labels.jsonl:2: answer: both items of the pair 'k1' are flawed",
    ),
    (
        CRITIC,
        "twins of two families",
        put(LABELS, 2, family="misreadFigure"),
        r"labels.jsonl:2: family: line 1, of its twin",
    ),
    (CRITIC, "twins of two arguments", put(LABELS, 2, argument=2), r"labels.jsonl:2: argument: line 1, of its twin"),
    (CRITIC, "one twin with a value", drop(LABELS, 3, "value"), r"labels.jsonl:4: value: line 3, of its twin"),
    (
        CRITIC,
        "twins that are alike",
        lambda files: edited(files, ITEMS, 2, lambda row: row.update(proposal=rows(files, ITEMS)[0]["proposal"])),
        r"items.jsonl:2: proposal: line 1, its twin, has the same proposal",
    ),
    (
        CRITIC,
        "a flaw planted elsewhere",
        proposal(2, lambda one: one["arguments"][0].update(text=FLAWED)),
        r"items.jsonl:2: proposal: argument 1 is the same as in line 1, its twin",
    ),
    (
        CRITIC,
        "a tenth family",
        put(LABELS, 1, family="misread"),
        r"labels.jsonl:1: family: expected one of .*did you mean 'misreadFigure'",
    ),
    (
        CRITIC,
        "an argument that is not there",
        put(LABELS, 1, argument=3),
        r"labels.jsonl:1: argument: the proposal of c1 has no argument 3; it has: 1, 2",
    ),
    (
        CRITIC,
        "one retired twin",
        said("[splits]", '[retired]\nc1 = "unclear"\n[splits]'),
        r"items.jsonl:1: pair: one item of the pair 'k1' is retired",
    ),
    (
        PAIRS,
        "a pair that is not crossed",
        put(LABELS, 2, favours="proposer"),
        r"labels.jsonl:2: favours: .* cross them",
    ),
    (PAIRS, "a pair of two answers", put(LABELS, 2, answer="rejected"), r"labels.jsonl:2: answer: .* one case"),
    (PAIRS, "a pair of two features", put(LABELS, 2, feature="family"), r"labels.jsonl:2: feature: .* one case"),
    (
        PAIRS,
        "a longer side that is the shorter one",
        put(LABELS, 1, favours="critic"),
        r"labels.jsonl:1: favours: the critic of m1 has \d+ characters and the proposer \d+; the side .* more",
    ),
    (
        PAIRS,
        "a more cited side that cites as often",
        put(LABELS, 2, feature="citations"),
        r"labels.jsonl:2: favours: the critic of m2 has 1 citations and the proposer 2; the side",
    ),
    (
        PAIRS,
        "judgements that all are one",
        lambda files: doubled(doubled(files, ITEMS), LABELS),
        r"labels.jsonl: answer: in the split open 2 of 2 pairs are to be upheld; expected half of them, within one",
    ),
    # Quotations
    (
        CRITIC,
        "a span that is not there",
        lambda files: edited(files, LABELS, 1, lambda row: row["span"].update(quote="The Landlord repairs")),
        r"labels.jsonl:1: span.quote: 'The Landlord repairs' does not stand in D1",
    ),
    (
        CRITIC,
        "a span in small letters",
        lambda files: edited(files, LABELS, 1, lambda row: row["span"].update(quote="the landlord may inspect")),
        r"labels.jsonl:1: span.quote: .* does not stand",
    ),
    (
        CRITIC,
        "a span that stands twice",
        lambda files: edited(files, LABELS, 1, lambda row: row["span"].update(quote="the")),
        r"labels.jsonl:1: span.quote: it stands \d times",
    ),
    (
        CRITIC,
        "a span in another document",
        lambda files: edited(files, LABELS, 1, lambda row: row["span"].update(document="D7")),
        r"labels.jsonl:1: span.document: the item c1 has no document 'D7'; it has: D1",
    ),
    (
        CRITIC,
        "a value that is not in the span",
        put(LABELS, 3, value="EUR 50,000"),
        r"labels.jsonl:3: value: 'EUR 50,000' does not stand in span.quote",
    ),
    (
        CRITIC,
        "a citation that is altered",
        proposal(
            1,
            lambda one: one["arguments"][1].update(
                citations=[{"quote": "begins on 1 April 2026 and runs for five years", "sourceId": "D1"}]
            ),
        ),
        r"items.jsonl:1: proposal argument 2: its citation 1 is altered",
    ),
    (
        CRITIC,
        "a citation of no document",
        proposal(
            1, lambda one: one["arguments"][1].update(citations=[{"quote": "runs for five years", "sourceId": "D9"}])
        ),
        r"items.jsonl:1: proposal argument 2: its citation 1 is not_found \(unknown_source\)",
    ),
    (
        CRITIC,
        "an argument that cites nothing",
        proposal(1, lambda one: one["arguments"][1].pop("citations")),
        r"items.jsonl:1: proposal argument 2: it claims evidence and cites nothing",
    ),
    (
        PAIRS,
        "a citation of a given critique",
        lambda files: edited(
            files,
            ITEMS,
            1,
            lambda row: row["given"]["critique"]["points"][0]["citations"][0].update(
                quote="The Seller's liability is unlimited in every case"
            ),
        ),
        r"items.jsonl:1: given.critique argument 1: its citation 1",
    ),
    # Blinding
    (
        CRITIC,
        "a note in an item",
        put(LABELS, 1, note="Clear. The lease makes the landlord care for the roof!"),
        r"labels.jsonl:1: note: its sentence .* stands in items.jsonl:1",
    ),
    (
        QUESTIONS,
        "a note in a document",
        put(LABELS, 4, note="THE SELLER delivers within\nten working days, he."),
        r"^$",
    ),
    (
        QUESTIONS,
        "a note's line in a document",
        put(LABELS, 4, note="The  SELLER delivers within ten, working days."),
        r"labels.jsonl:4: note: .* stands in documents/",
    ),
    (
        CRITIC,
        "a family in a question",
        put(ITEMS, 1, question="Is it a MisreadFigure?"),
        r"items.jsonl:1: it has 'MisreadFigure', the name of a family",
    ),
    (
        QUESTIONS,
        "a family in a document",
        lambda files: with_document(files, "Lease", b"partiesSwapped"),
        r"documents/\w+.txt: it has 'partiesSwapped'",
    ),
    (
        CRITIC,
        "an id that tells",
        lambda files: edited(
            edited(files, ITEMS, 1, lambda row: row.update(id="c1-flawed")),
            LABELS,
            1,
            lambda row: row.update(id="c1-flawed"),
        ),
        r"items.jsonl:1: id: 'flaw' in an id tells",
    ),
]


@pytest.mark.parametrize("name", [QUESTIONS, CRITIC, PAIRS])
def test_a_set_of_each_kind_is_read(name: str) -> None:
    files = files_of(name)
    golden = read(files)

    assert golden.manifest.id == name
    assert len(golden.asked.items) == len(rows(files, ITEMS)) == len(golden.sealed)
    assert faults_of(files) == []


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [case[:1] + case[2:] for case in SPOILT if case[3] != "^$"],
    ids=[case[1] for case in SPOILT if case[3] != "^$"],
)
def test_a_fault_is_said_with_its_file_and_line(name: str, change: Callable[[Files], Files], expected: str) -> None:
    found = faults_of(change(files_of(name)))

    assert any(re.search(expected, fault) for fault in found), found


def test_a_sentence_of_a_note_counts_from_five_words_on_and_across_line_ends_is_two() -> None:
    change = next(case[2] for case in SPOILT if case[1] == "a note in a document")
    assert faults_of(change(files_of(QUESTIONS))) == []
    assert faults_of(put(LABELS, 4, note="The Seller delivers within.")(files_of(QUESTIONS))) == []


def test_all_faults_of_all_files_are_said_at_once() -> None:
    files = files_of(CRITIC)
    for change in (
        said("published = false", "published = 2030-01-01"),
        put(ITEMS, 1, answer="flawed"),
        put(ITEMS, 2, split="held", hint=1),
        put(LABELS, 3, value="EUR 1"),
        put(LABELS, 4, family="none"),
        line_added(LABELS, "{\n"),
    ):
        files = change(files)

    found = faults_of({**files, "notes.txt": b"x"})

    places = [re.match(r"[\w.]+(?::\d+)?: [\w.]*", fault)[0] for fault in found]  # type: ignore[index]
    assert places == [
        "set.toml: published",
        "items.jsonl:1: answer",
        "items.jsonl:2: hint",
        "items.jsonl:2: split",
        "labels.jsonl:3: value",
        "labels.jsonl:4: family",
        "labels.jsonl:5: expected",
        "notes.txt: this",
    ]


def test_a_refusal_lists_so_many_faults_and_counts_the_others() -> None:
    error = BadSet(Fault("items.jsonl", n, "", "wrong") for n in range(1, SHOWN_MAX + 4))

    assert len(error.faults) == SHOWN_MAX + 3
    assert error.detail.splitlines()[-1] == "and 3 faults more; mend these first"
    assert len(error.parts) == SHOWN_MAX + 1


def test_a_set_has_so_many_items_documents_and_bytes_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    files = files_of(QUESTIONS)
    monkeypatch.setattr(reading, "ITEMS_MAX", 3)
    monkeypatch.setattr(reading, "DOCUMENTS_MAX", 2)
    monkeypatch.setattr(reading, "TOTAL_BYTES", 1_000)

    found = faults_of(files)

    assert "items.jsonl:4: a set may have 3 items, found more; divide it" in found
    assert "documents: a set may have 2 documents, found more; divide it" in found
    assert any(fault.startswith("documents: a set may have 1,000 bytes, found ") for fault in found)


def test_the_hash_is_that_of_the_paths_and_bytes_of_all_files() -> None:
    files = files_of(QUESTIONS)
    hashes = {path: sha256(raw).hexdigest() for path, raw in files.items()}
    canonical = json.dumps({"form": "gainsay.set/1", "files": hashes}, sort_keys=True, separators=(",", ":"))

    assert read(files).hash == sha256(canonical.encode()).hexdigest()
    assert read(files).files == hashes


@pytest.mark.parametrize("file", [SET, ITEMS, LABELS])
def test_every_byte_of_every_file_counts_for_the_hash(file: str) -> None:
    files = files_of(QUESTIONS)
    other = {**files, file: files[file].rstrip(b"\n") if file != SET else files[file] + b"# one word more\n"}

    assert read(other).hash != read(files).hash


def test_a_retired_item_stays_and_is_not_asked() -> None:
    files = said("[splits]", '[retired]\nk = "x"\n[splits]')(files_of(CRITIC))
    files = with_text(files, SET, 'k = "x"', 'c1 = "unclear"\nc2 = "unclear"')

    golden = read(files)

    assert [item.id for item in golden.asked.items] == ["c1", "c2", "c3", "c4"]
    assert [item.id for item in golden.asked.active()] == ["c3", "c4"]
    assert golden.labels("open") == {}
    assert golden.asked.item("c1").id == "c1"


def test_propositions_of_retired_items_do_not_count() -> None:
    files = put(ITEMS, 1, states="no")(files_of(QUESTIONS))
    retired = said("[splits]", '[retired]\nq1 = "unclear"\n[splits]')(files)

    assert faults_of(files) != []
    assert faults_of(retired) == []


@pytest.mark.parametrize(
    ("true", "of", "fits"),
    [
        (0, 1, True),
        (1, 1, True),
        (1, 3, True),
        (3, 3, False),
        (9, 20, True),
        (8, 20, False),
        (12, 20, False),
        (11, 20, True),
        (3, 7, True),
        (2, 7, False),
    ],
)
def test_half_of_a_split_within_one_states_the_right_answer(true: int, of: int, *, fits: bool) -> None:
    files = files_of(QUESTIONS)
    item, label = rows(files, ITEMS)[0], rows(files, LABELS)[0]
    ids = [f"n{i}" for i in range(of)]
    rest = [row for row in rows(files, ITEMS) if row["split"] == "held"]
    items = [{**item, "id": id, "states": "no" if i < true else "yes"} for i, id in enumerate(ids)]
    labels = [{**label, "id": id} for id in ids] + rows(files, LABELS)[2:]

    found = faults_of(with_rows(with_rows(files, ITEMS, [*items, *rest]), LABELS, labels))

    assert bool(found) is not fits
    assert all(f"in the split open {true} of {of}" in fault for fault in found)


def test_an_object_of_json_is_one_or_the_reason_is_said() -> None:
    assert read_object('{"a": [1, {"b": null}]}') == {"a": [1, {"b": None}]}
    with pytest.raises(ValueError, match="blank"):
        read_object(" ")


def test_documents_of_an_item_come_with_their_texts_in_its_order() -> None:
    asked = read(files_of(CRITIC)).asked
    documents = asked.documents(asked.item("c3"))

    assert [(one.id, one.title) for one in documents] == [("D1", "Supply"), ("D2", "Amendment")]
    assert all(map(operator.attrgetter("text"), documents))
    assert documents[1].text.startswith("AMENDMENT")
