"""The steps over the bundle of an evaluation: its records as an export, then what stands beside them.

 1  file         the archive has one reading; the files are those of the summary, in their order, each with its hash
 2 to 15         the steps of an export over records.jsonl, from `signature` to `outcome`, `plans` and `looks`
    head         the checkpoint that proves the plan continues in that of the records
    sets         plan.json and the files of each set are those of the registered plan
    evaluations  every score follows from records and label, the result from all scores, and result.json is that result
    debates      each debate that was asked has its bundle, which verifies in every step and ends where the records do

Files are read one after the other; of a debate no more is in memory than its bundle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from functools import partial
from hashlib import sha256
from typing import IO, Any

from msgspec.structs import replace

from service.audit.bundle import unpack
from service.audit.earlier_head import open_earlier_head
from service.audit.evaluation_bundle import (
    CHECKPOINT,
    DEBATES,
    PLAN,
    README,
    RECORDS,
    RESULT,
    SET_FILES,
    SETS,
    SUMMARY,
    BadEvaluation,
    EvaluationSummary,
    debate_file,
    decode_set_files,
    decode_summary,
    encode_plan,
    readme,
    set_folder,
)
from service.audit.evaluation_events import SetAsked
from service.audit.export import decode_header
from service.audit.proof import parse_proof
from service.audit.record import leaf_hash
from service.evaluation.run.progress import Progress
from service.evaluation.scoring.result import headline, result_hash, result_of
from service.evaluation.sets.form import LABELS, TOTAL_BYTES
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.reading import hash_of, read_set
from service.verify.bundle import verify_bundle
from service.verify.evaluations import Evaluations
from service.verify.export import verify_export
from service.verify.log import HEAD_MAX, PROOF_MAX, read_head
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import (
    Differs,
    NotCheckable,
    Tools,
    Trust,
    VerificationReport,
    VerificationStep,
    at,
    expect,
    fail,
    heading,
    perform,
    perform_all,
)
from service.verify.summarized_files import SummarizedFiles

LINE_MAX = 1 << 26
RESULT_MAX = 1 << 28
IN_DEBATES = frozenset({"sources", "money"})
"""The steps of an export that the bundles of debates make up for."""
OWN = ("head", "sets", "evaluations", "debates")


class _Files(SummarizedFiles):
    """The files of the bundle."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream, SUMMARY, BadEvaluation)
        self.summary: EvaluationSummary = decode_summary(self.raw_summary)

    def lines(self) -> Iterator[bytes]:
        """The lines of the records."""
        with self.open(RECORDS) as file:
            while line := file.readline(LINE_MAX):
                yield line

    def check(self) -> str:
        """Compare the files with the summary; raises `Differs`."""
        summary = self.summary
        self.compare(summary.files, self._ordered)
        words = readme(summary.evaluation, summary.log)
        expect("the words", words, self.read(README, len(words)), file=README)
        return f"{len(self.named)} files of evaluation {summary.evaluation}, tenant {summary.tenant}"

    def _ordered(self) -> list[str]:
        """The files in the order of the format; which debates there are is for the step `debates`."""
        first, last = (PLAN, README, RECORDS, CHECKPOINT), (RESULT, SUMMARY)
        return [
            *(path for path in first if path in self.members),
            *sorted(path for path in self.named if path.startswith(SETS)),
            *(path for path in self.named if path.startswith(DEBATES)),
            *(path for path in last if path in self.members),
        ]


def verify_evaluation(
    stream: IO[bytes],
    trust: Trust,
    tools: Tools,
    *,
    every: bool = False,
    sets: Mapping[str, GoldenSet] | None = None,
) -> VerificationReport:
    """Verify the bundle of an evaluation; raises only errors of the stream.

    ``sets`` are golden sets in hand, by id: they stand in for a set whose labels were withheld.
    """
    try:
        files = _Files(stream)
    except Exception as fault:  # noqa: BLE001 - a malformed ZIP may raise any error
        return VerificationReport("unknown", {}, (perform(1, "file", partial(_again, fault)),))
    summary = files.summary
    about: dict[str, Any] = {"evaluation": summary.evaluation, "tenant": summary.tenant, "log": summary.log}
    about["debates"] = sum(path.startswith(DEBATES) for path in files.members)
    first = perform(1, "file", files.check)
    if first.state == "FAILED" and not every:
        return VerificationReport("evaluation", about, (first,), ("records", *OWN))
    found = Evaluations(keeps=True)
    records = verify_export(
        files.lines(),
        replace(trust, records_only=True),
        reports=tools.reports,
        ready=tools.ready,
        every=every,
        evaluations=found,
    )
    steps = [first, *_of_records(records)]
    if records.failed and not every:
        return VerificationReport("evaluation", about, tuple(steps), (*records.left, *OWN))
    parts = _Parts(files, found, trust, tools, sets or {})
    named: list[tuple[str, Callable[[], str]]] = [
        ("head", parts.head),
        ("sets", parts.sets),
        ("evaluations", parts.evaluations),
        ("debates", parts.debates),
    ]
    done, left = perform_all(named, every=every, first=len(steps) + 1)
    return VerificationReport("evaluation", about, (*steps, *done), left)


def _again(fault: Exception) -> str:
    raise fault


def _of_records(report: VerificationReport) -> Iterator[VerificationStep]:
    """The steps over the records, numbered behind the first, but for what the bundles of debates make up for.

    That the choice of records is the exporter's word does not hold here: debates and entries are counted below.
    """
    number = 1
    for step in report.steps:
        if (step.name in IN_DEBATES and step.allowed) or (step.name == "file" and step.state == "OK"):
            continue
        number += 1
        yield replace(step, number=number, file=RECORDS if step.file is None else f"{RECORDS}, {step.file}")


class _Parts:
    """The steps over what stands beside the records."""

    def __init__(
        self, files: _Files, found: Evaluations, trust: Trust, tools: Tools, in_hand: Mapping[str, GoldenSet]
    ) -> None:
        self._files, self._found, self._trust, self._tools = files, found, trust, tools
        self._in_hand = in_hand
        self._sets: dict[str, GoldenSet] = {}
        self._lacking: dict[str, str] = {}

    @property
    def _progress(self) -> Progress:
        """The one evaluation of the records, as far as these are read.

        Raises `Differs` for another one, or several, and `NotCheckable` where its registration may be unread.
        """
        wanted, found = [self._files.summary.evaluation], [*self._found.followed]
        if not found:
            self._found.expect_read()
        expect("the evaluations of the records", wanted, found)
        return self._found.followed[self._files.summary.evaluation].progress

    def head(self) -> str:
        """Check that the checkpoint over the plan is one of the records' log, and continues in theirs."""
        progress = self._progress
        header = decode_header(next(self._files.lines(), b""))
        expect("the log", header.log, self._files.summary.log, file=SUMMARY)
        expect("the tenant of the log", self._files.summary.tenant, (*header.log.split("/"), "")[1], file=SUMMARY)
        expect("the filters of the records", {"evaluation": progress.evaluation}, header.filters, file=RECORDS)
        if progress.proven is None:
            self._found.expect_read()
            expect("a checkpoint of a plan that nothing proves", False, CHECKPOINT in self._files.members)
            return "nothing was asked, so no checkpoint over the plan is needed"
        later = read_head(header.checkpoint.encode())[1]
        with at(file=CHECKPOINT):
            data = self._files.read(CHECKPOINT, HEAD_MAX + PROOF_MAX)
            note, head = open_earlier_head(data, later)
            same = parse_proof(progress.proven.proof.encode()).checkpoint
            expect("the checkpoint that proves the plan", same, note.encode())
        self._found.expect_read()
        return f"the checkpoint of {head.size} records over the plan continues in that of {later.size}"

    def sets(self) -> str:
        """Check that plan and sets are those of the registration; raises `Differs` with the file that is not."""
        registered = self._progress.registered
        plan = encode_plan(registered.plan)
        if not self._found.unread:  # which may have been registered again
            expect("the plan", plan, self._files.read(PLAN, len(plan)), file=PLAN)
        wanted = {set_folder(number): asked for number, asked in enumerate(registered.sets, 1)}
        for path in self._files.members:
            if path.startswith(SETS) and path[: len(set_folder(1))] not in wanted:
                raise Differs("a set of no plan", "nothing", path, file=path)
        said = [self._set(folder, asked) for folder, asked in wanted.items()]
        withheld = tuple(name for name, lacks in self._lacking.items() if lacks == LABELS)
        expect("the sets whose labels are withheld", withheld, self._files.summary.withheld, file=SUMMARY)
        self._found.expect_read()
        return "; ".join(said)

    def _set(self, folder: str, asked: SetAsked) -> str:
        """Read a set; returns what is there of it."""
        paths = [path.removeprefix(folder) for path in self._files.members if path.startswith(folder)]
        if not paths:
            self._lacking[asked.id] = "folder"
            return f"{asked.id}: not in the bundle"
        listed = decode_set_files(self._files.read(folder + SET_FILES, TOTAL_BYTES))
        with at(file=folder + SET_FILES):
            expect(f"the hash of the golden set {asked.id}", asked.sha256, hash_of(listed.files))
        contents = {}
        for path in paths:
            if path != SET_FILES:
                contents[path] = raw = self._files.read(folder + path, TOTAL_BYTES)
                expect(
                    f"the SHA-256 of a file of {asked.id}",
                    listed.files.get(path),
                    sha256(raw).hexdigest(),
                    file=folder + path,
                )
        missing = sorted(listed.files.keys() - contents.keys())
        if missing == [LABELS]:
            self._lacking[asked.id] = LABELS
            return f"{asked.id}: {len(contents)} files; its labels were withheld, with the SHA-256 of {LABELS}"
        if missing:
            raise Differs(f"a file of {asked.id}", missing[0], "nothing", file=folder + missing[0])
        with at(file=folder + SET_FILES):
            self._sets[asked.id] = read_set(contents, date.max)
        return f"{asked.id}: {len(contents)} files with its hash"

    def evaluations(self) -> str:
        """Compute scores and result again; raises `NotCheckable` for a set without labels."""
        progress = self._progress
        concluded = progress.concluded
        if concluded is not None or not self._found.unread:
            expect("whether there is a result", concluded is not None, RESULT in self._files.members, file=RESULT)
        if concluded is not None:
            with at(file=RESULT):
                result = result_of(self._files.read(RESULT, RESULT_MAX))
                expect("the hash of the result", concluded.result, result_hash(result))
                expect("the finding of the result", concluded.finding, headline(result))
        self._found.sets = {**self._in_hand, **self._sets}
        gap, said = None, ""
        try:
            said = self._found.end()
        except NotCheckable as raised:
            gap = raised
        self._found.expect_read()
        if lacking := [name for name in self._lacking if name not in self._in_hand]:
            what = "its labels were withheld" if self._lacking[lacking[0]] == LABELS else "it is not in the bundle"
            raise NotCheckable(
                f"scores of {', '.join(lacking)} are not computed again, because {what}: name a folder of the set "
                "with --sets"
            )
        if gap is not None:
            raise gap
        return said

    def debates(self) -> str:
        """Verify the bundle of each debate; raises `Differs`, and `NotCheckable` for gaps."""
        wanted = [debate_file(debate) for debate in self._progress.asked.values()]
        found = [path for path in self._files.members if path.startswith(DEBATES)]
        if missing := sorted(set(wanted) - set(found)):
            raise Differs("the bundle of a debate that was asked", missing[0], "nothing", file=missing[0])
        unread = self._found.unread
        if not unread and (extra := sorted(set(found) - set(wanted))):
            raise Differs("the bundle of a debate that was not asked", "nothing", extra[0], file=extra[0])
        ordered = [path for path in found if path in set(wanted)]
        expect("the bundles in the order in which their debates were asked", wanted, ordered)
        gaps, allowed = list[str](), set[str]()
        for debate in self._progress.asked.values():
            path = debate_file(debate)
            with at(file=path):
                report = verify_bundle(self._files.open(path), self._trust, self._tools)
                fail(report)
                gaps += [f"{debate}: {gap.name}: {gap.detail}" for gap in report.gaps]
                allowed |= {heading(step.detail) for step in report.steps if step.allowed}
                if not unread or self._found.debates[debate].over:  # else its last record may be unread
                    self._expect_same(debate, OpenedBundle(unpack(self._files.open(path))))
        self._found.expect_read()
        if gaps:
            raise NotCheckable(f"{gaps[0]}{f' and {len(gaps) - 1} more gaps' if len(gaps) > 1 else ''}")
        if allowed:  # what the options accept stands in the last line, as for a bundle
            short = ", ".join(sorted(allowed))
            raise NotCheckable(f"{short}: accepted in {len(wanted)} bundles, else verified in every step", allowed=True)
        return f"{len(wanted)} bundles, each verified in every step"

    def _expect_same(self, debate: str, opened: OpenedBundle) -> None:
        """Check that a bundle is of the debate, and ends with the record with which the debate ends in the records."""
        expect("the debate of the bundle", debate, opened.first.debate)
        index, leaf = self._found.debates[debate].last
        last = opened.records[-1]
        expect("the hash of the last leaf", leaf.hex(), leaf_hash(last.leaf).hex())
        found = parse_proof(opened.file(f"proofs/{last.n:04d}.tlog-proof")).index
        expect("the index of the last record", index, found)
