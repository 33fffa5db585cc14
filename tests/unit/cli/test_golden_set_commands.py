"""``gainsay evaluate sets`` and ``gainsay evaluate import``: what they print, write and end with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import click
import pytest

from service.cli import main
from service.cli.completion import set_names
from service.cli.evaluate import importing
from service.cli.evaluate.sets import show
from service.evaluation.sets import files
from service.evaluation.sets.register import read_register
from tests.fixtures.golden_sets import CRITIC, FOLDER, QUESTIONS, TODAY, with_text

Output = pytest.CaptureFixture[str]
STATED = [
    "--labelled-by",
    "two clerks",
    "--labelling",
    "Each read the clause.",
    "--basis",
    "expert",
    "--published",
    "no",
]
TEMPLATE = ["--proposition", 'The answer is "{answer}".']
TABLE = "id,question,answer,task_type,licence\n" + "".join(
    f"q{n},Is {n} even?,{'no' if n % 2 else 'yes'},arithmetic,CC0-1.0\n" for n in range(8)
)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two tiny sets, in the place of the shipped ones."""
    golden = tmp_path / "golden"
    for name in (QUESTIONS, CRITIC):
        shutil.copytree(FOLDER / name, golden / name)
    monkeypatch.setattr(files, "GOLDEN", golden)
    monkeypatch.setattr(files, "REGISTER", golden / "register.json")
    return golden


def spoil(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    path.write_bytes(with_text({name: path.read_bytes()}, name, old, new)[name])


def test_the_list_has_each_set_with_version_hash_splits_and_provenance(shipped: Path, capsys: Output) -> None:
    assert main(["evaluate", "sets"]) == 0

    out = capsys.readouterr().out
    first, second, third, _ = out.splitlines()
    assert first == "tiny-critic v1  contract, critic, n 4 (open 2, held 2)"
    assert second == f"    labels by construction, by the authors; SHA-256 {files.load(shipped / CRITIC, TODAY).hash}"
    assert third == "tiny-questions v1  contract, questions, n 4 (open 2, held 2)"
    assert "expert" not in out


def test_the_list_as_json_has_no_label(shipped: Path, capsys: Output) -> None:
    assert main(["evaluate", "sets", "--json"]) == 0

    critic, questions = json.loads(capsys.readouterr().out)
    assert (critic["id"], critic["version"], critic["n"], critic["pairs"]) == ("tiny-critic", 1, 4, 2)
    assert questions["provenance"] == "labels by construction, by the authors"
    assert questions["published"] is None
    assert critic.keys() == questions.keys()
    assert "labels" not in critic


def test_a_set_without_a_fault_is_checked_with_what_it_covers(capsys: Output) -> None:
    assert main(["evaluate", "sets", "check", str(FOLDER / CRITIC), str(FOLDER / QUESTIONS)]) == 0

    out = capsys.readouterr().out
    assert "2 pairs, 3 documents, 2 groups" in out
    assert "pairs by family: misreadFigure 0, deadlineOrDate 0, dutyAgainstRight 1" in out
    assert "       1 supersededVersion  (fewer than 12)" in out


def test_all_faults_of_all_folders_are_printed_and_a_sound_one_is_shown(shipped: Path, capsys: Output) -> None:
    folder = shipped / QUESTIONS
    spoil(folder, "set.toml", "version = 1", "version = 0")
    spoil(folder, "labels.jsonl", '"no"', '"maybe"')

    assert main(["evaluate", "sets", "check", str(folder), str(shipped / CRITIC)]) == 2

    printed, outside = capsys.readouterr(), "'maybe' is not in the closed list of set.toml ('yes', 'no')"
    assert printed.out.startswith("tiny-critic v1")
    assert printed.err.splitlines() == [
        f"gainsay: bad_set: {folder}/set.toml: version: expected a whole number of 1 to 100000, found 0",
        f"gainsay: bad_set: {folder}/labels.jsonl:1: answer: {outside}",
        "2 faults; nothing of the set is used",
    ]


def test_what_the_shipped_sets_would_lack_is_a_negative_answer(capsys: Output) -> None:
    assert main(["evaluate", "sets", "check", "--complete", str(FOLDER / QUESTIONS)]) == 1

    assert "missing: contract: expected at least 20 questions, found 4; add 16" in capsys.readouterr().out


def test_a_set_is_shown_by_id_and_by_folder_and_no_label_with_it(shipped: Path, capsys: Output) -> None:
    assert main(["evaluate", "sets", "show", CRITIC]) == 0
    by_id = capsys.readouterr().out
    assert main(["evaluate", "sets", "show", str(shipped / CRITIC)]) == 0

    assert capsys.readouterr().out == by_id
    assert "    licence: Apache-2.0; published: not published" in by_id
    assert "    held: For the tests of what a look at held labels needs." in by_id
    assert "duty to mend" not in by_id


def test_shipped_sets_are_completed(shipped: Path) -> None:
    assert set_names(click.Context(show), show.params[0], "tiny-c") == [CRITIC]
    assert set_names(click.Context(show), show.params[0], "") == [CRITIC, QUESTIONS]


def test_an_unknown_set_is_refused_with_the_known_ones(shipped: Path, capsys: Output) -> None:
    assert main(["evaluate", "sets", "show", "tiny"]) == 2

    assert "found 'tiny'; shipped are: tiny-critic, tiny-questions" in capsys.readouterr().err


def test_labels_of_open_are_shown_where_they_are_asked_for(shipped: Path, capsys: Output) -> None:
    assert main(["evaluate", "sets", "show", QUESTIONS, "--labels", "open"]) == 0

    labels = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(label["id"], label["answer"]) for label in labels] == [("q1", "no"), ("q2", "yes")]


def test_labels_of_held_are_not_shown_without_a_word_of_their_own(shipped: Path, capsys: Output) -> None:
    assert main(["evaluate", "sets", "show", QUESTIONS, "--labels", "held"]) == 2
    refused = capsys.readouterr()
    assert main(["evaluate", "sets", "show", QUESTIONS, "--labels", "held", "--held"]) == 0
    shown = capsys.readouterr()

    assert refused.out == ""
    assert "each look at them is counted; add --held" in refused.err
    assert [json.loads(line)["id"] for line in shown.out.splitlines()] == ["q3", "q4"]
    assert "This was a look at held labels" in shown.err


def test_the_register_is_written_once_and_refuses_a_changed_set(shipped: Path, capsys: Output) -> None:
    assert main(["evaluate", "sets", "register"]) == 0
    written = (shipped / "register.json").read_bytes()
    assert main(["evaluate", "sets", "register"]) == 0
    spoil(shipped / QUESTIONS, "set.toml", "Apache-2.0", "CC0-1.0")

    assert main(["evaluate", "sets", "register"]) == 2

    assert read_register(written).sets.keys() == {QUESTIONS, CRITIC}
    assert (shipped / "register.json").read_bytes() == written
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "2 sets, 2 versions new in the register",
        "2 sets, 0 versions new in the register",
    ]
    assert "raise its version" in printed.err


def imported(folder: Path, table: str, *options: str) -> int:
    (folder / "in.csv").write_bytes(table.encode())
    where = ["--form", "csv", "--to", str(folder / "my-set"), "--id", "my-set"]
    return main(["evaluate", "import", str(folder / "in.csv"), *where, *STATED, *options])


def test_an_imported_set_is_one_that_checks(tmp_path: Path, capsys: Output) -> None:
    assert imported(tmp_path, TABLE, *TEMPLATE) == 0
    assert main(["evaluate", "sets", "check", str(tmp_path / "my-set")]) == 0

    out = capsys.readouterr().out
    assert out.startswith(f"wrote {tmp_path}/my-set\nmy-set v1  arithmetic, questions, n 8 (open 4, held 4)\n")
    assert "    labels by experts, by two clerks; SHA-256 " in out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "my-set"]


def test_nothing_is_written_of_a_file_that_cannot_be_mapped(tmp_path: Path, capsys: Output) -> None:
    assert imported(tmp_path, TABLE.replace("q1,Is 1 even?,no", "q1,,no").replace("q3,", "q1,"), *TEMPLATE) == 2

    assert capsys.readouterr().err.splitlines() == [
        f"gainsay: bad_set: {tmp_path}/in.csv:3: question: this cell is empty; fill it",
        "1 fault; nothing of the set is used",
        "nothing was written",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_nothing_is_left_of_a_set_whose_files_cannot_all_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    write = Path.write_bytes

    def failing(path: Path, raw: bytes) -> int:
        if path.name == "labels.jsonl":
            raise OSError(28, "No space left on device")
        return write(path, raw)

    monkeypatch.setattr(Path, "write_bytes", failing)

    assert imported(tmp_path, TABLE, *TEMPLATE) == 3

    assert "expected to write" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--proposition", "It is so."], "--proposition needs {answer}"),
        ([*TEMPLATE, "--answer", "yes"], "--answer needs two answers or more"),
        ([*TEMPLATE, "--answer", "yes", "--answer", "yes"], "--answer needs two answers or more, each once"),
        ([*TEMPLATE, "--published", "soon"], "expected a date such as 2026-11-01, or no, found 'soon'"),
        ([*TEMPLATE, "--held", "101"], "101 is not in the range 0<=x<=100"),
    ],
)
def test_options_that_make_no_set_are_refused(tmp_path: Path, options: list[str], words: str, capsys: Output) -> None:
    assert imported(tmp_path, TABLE, *options) == 2

    assert words in capsys.readouterr().err
    assert not (tmp_path / "my-set").exists()


def test_no_folder_is_overwritten(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "my-set").mkdir()

    assert imported(tmp_path, TABLE, *TEMPLATE) == 2

    assert "my-set exists, and no set is overwritten; choose another name" in capsys.readouterr().err


def test_what_was_rewritten_is_said_and_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    table = TABLE.replace("licence\n", "licence,context\n", 1).replace("CC0-1.0\n", 'CC0-1.0,"a\r\nb"\n')

    assert imported(tmp_path, table, *TEMPLATE) == 0
    monkeypatch.setattr(importing, "TOTAL_BYTES", 10)
    shutil.rmtree(tmp_path / "my-set")
    assert imported(tmp_path, table, *TEMPLATE) == 2

    printed = capsys.readouterr()
    assert "note: documents with CR in their line ends, which are LF now: 8" in printed.out
    assert "in.csv has more than 10 bytes; divide it" in printed.err
