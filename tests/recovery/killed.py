"""An evaluation whose processes are killed, beside the same one undisturbed, and what has to be so afterwards.

result      the recorded hash and the compared bytes are those of the undisturbed run
debates     each unit has one debate, which came to the same outcome
money       no turn is asked after its reply is recorded, and each call has its own recorded intent and its charge;
            what is charged for calls lost with a process, and nothing else, is `lostToInterruptions`
proof       an export of the log verifies, every score and result computed again
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import LiteralString, NamedTuple

import msgspec
import psycopg

from service.debate.entries import AttemptFailed, CaseReceived, DebateStarted, EvaluationItem
from service.evaluation.scoring.result import Result, compared, result_of
from service.evaluation.sets.files import GOLDEN, load_shipped
from service.evaluation.sets.golden_set import GoldenSet
from service.evaluation.sets.key import key_of, write_key
from service.prompts.fence import mark_of, nonce
from service.prompts.request import wire_texts
from tests.demo_evaluation.known import POLICY
from tests.end_to_end.processes import Deployment
from tests.faults.afterwards import asked_again, comparable, expect_every_call_recorded_and_paid
from tests.faults.books import Books, Told, assert_closed
from tests.faults.bringing import let_leases_run_out
from tests.faults.counting import Call
from tests.faults.foreman import Foreman, foreman
from tests.fixtures.postgres import Database
from tests.recovery import dying
from tests.recovery.dying import Life, Noted, When, noted

SCATTER, UNUSABLE = 'scatter = "0.5"', 'unusable = "0.02"'
"""Half of the cases are answered anew in each debate, and some replies cannot be used: repeats and repairs come too."""
ENDED = (0, 1, 5)
"""Exit codes of an evaluation that came to its end."""
FREE: LiteralString = "UPDATE gainsay.evaluation SET lease_until = '-infinity'"
NEWEST: LiteralString = "SELECT evaluation::text FROM gainsay.evaluation ORDER BY evaluation DESC LIMIT 1"
STORED: LiteralString = "SELECT ended IS NOT NULL, result FROM gainsay.evaluation WHERE evaluation = %s::uuid"


class Ended(NamedTuple):
    """An evaluation that has ended: its id, its result, and what its processes noted."""

    evaluation: str
    result: Result
    noted: Noted


def plan_of(sets: Sequence[GoldenSet], *, repeats: int, seed: str = "kills") -> str:
    """A debate against a vote on the open questions of these sets, several times over."""
    named = "".join(
        f'[[sets]]\nid = "{one.manifest.id}"\nversion = {one.manifest.version}\nsha256 = "{one.hash}"\n'
        'split = "open"\n\n'
        for one in sets
    )
    return (
        '[plan]\nname = "killed"\nquestion = "Is a result the same after kills?"\nkind = "lift"\nmetric = "accuracy"\n'
        f'alpha = 0.05\nmargin = 0.10\ncorrection = "holm"\nmissing = "wrong"\nrepeats = {repeats}\ngroups = "whole"\n'
        f'stopping = "fixed"\nseed = "{seed}"\nceiling_usd = "2000"\nexploratory = true\n\n{named}'
        '[[arms]]\nname = "debate"\ndoes = "debate"\nformat = "adversarial"\noptions = { max_rounds = 1 }\n\n'
        '[[arms]]\nname = "vote"\ndoes = "vote"\ndrafts = 3\n\n[[comparisons]]\nfirst = "debate"\nsecond = "vote"\n\n'
        "[effect]\ngain = 0.25\nloss = 0.05\n"
    )


class Trial:
    """Evaluations of one plan on one database, gone on with by `gainsay evaluate resume`, process after process."""

    def __init__(self, database: Database, lead: Foreman, folder: Path, sets: Sequence[Path], repeats: int) -> None:
        self.database, self.folder, self.sets = database, folder, tuple(sets)
        self._lead = lead
        self._log = folder / "processes.log"
        goldens = [load_shipped(at) for at in sets]
        (folder / "key.jsonl").write_bytes(write_key(key_of(goldens, allow_held=False)))
        (folder / "policy.toml").write_text(_policy(), "utf-8")
        self._plan = folder / "plan.toml"
        self._plan.write_text(plan_of(goldens, repeats=repeats), "utf-8")
        self._environment = Deployment(
            database,
            folder,
            GAINSAY_POLICY=str(folder / "policy.toml"),
            GAINSAY_SIMULATED_KEY=str(folder / "key.jsonl"),
        ).environment

    @property
    def log(self) -> str:
        """The end of what the processes have written."""
        return self._log.read_text("utf-8")[-4_000:]

    def register(self) -> str:
        """Register the plan; the id of the evaluation."""
        code = self._live(Life(("evaluate", "run", str(self._plan), "--detach", *self._folders), self._notes("none")))
        assert code == 0, self.log
        with psycopg.connect(self.database.admin_url) as admin:
            ((evaluation,),) = admin.execute(NEWEST).fetchall()
        return str(evaluation)

    def undisturbed(self) -> Ended:
        """An evaluation that one process brings to its end."""
        evaluation = self.register()
        assert self._resume(evaluation) in ENDED, self.log
        return self._ended(evaluation)

    def killed(self, deaths: Sequence[tuple[int, str, When]]) -> Ended:
        """One whose processes die at these places, each followed by the next; the last one lives."""
        evaluation = self.register()
        for at, kind, when in deaths:
            status = self._resume(evaluation, at, kind, when)
            assert status == -signal.SIGKILL, f"{status} instead of a death {when} {kind or 'place'} {at}: {self.log}"
            with psycopg.connect(self.database.admin_url, autocommit=True) as admin:
                admin.execute(FREE)
                let_leases_run_out(admin)
        assert self._resume(evaluation) in ENDED, self.log
        return self._ended(evaluation)

    def gainsay(self, *words: str) -> int:
        """The exit code of another command, whose output goes to the log."""
        return self._live(Life(words, self._notes("none")))

    def _resume(self, evaluation: str, at: int = 0, kind: str = "", when: When = "after") -> int:
        words = ("evaluate", "resume", evaluation, *self._folders)
        return self._live(Life(words, self._notes(evaluation), at, kind, when))

    def _live(self, life: Life) -> int:
        told = msgspec.to_builtins(life)
        return self._lead.start(dying.__name__, told, self._log, self._environment).wait(dying.LONGEST_S)

    @property
    def _folders(self) -> tuple[str, ...]:
        own = [at for at in self.sets if at.parent != GOLDEN]
        return tuple(word for at in own for word in ("--sets", str(at)))

    def _notes(self, name: str) -> str:
        return str(self.folder / f"notes-{name}.jsonl")

    def _ended(self, evaluation: str) -> Ended:
        with psycopg.connect(self.database.admin_url) as admin:
            ((ended, result),) = admin.execute(STORED, [evaluation]).fetchall()
        assert ended
        return Ended(evaluation, result_of(result), noted(Path(self._notes(evaluation))))


@contextmanager
def trial(database: Database, folder: Path, sets: Sequence[Path], repeats: int) -> Iterator[Trial]:
    """A trial with its processes; whatever is left of them at the end is killed."""
    with foreman(dying.__name__) as lead:
        yield Trial(database, lead, folder, sets, repeats)


def seeded(places: int, deaths: int, seed: int) -> list[tuple[int, str, When]]:
    """So many deaths, spread by a seed over the places that an undisturbed run has.

    Each is counted from the birth of its process. What a death costs is done again, so all of them are met.
    """
    at = sorted(Random(seed).sample(range(1, places), deaths))
    return [(later - earlier, "", "after") for earlier, later in zip([0, *at], at, strict=False)]


@cache
def _policy() -> str:
    """The policy of the examples, with scatter and some unusable replies."""
    text = POLICY.read_text("utf-8")
    heads = [line for line in text.splitlines() if line.startswith("[providers.offline.faults.")]
    for head in heads:
        text = text.replace(head, f"{head}\n{SCATTER}\n{UNUSABLE}")
    return text


# -- afterwards


def expect_alike(trial: Trial, whole: Ended, killed: Ended) -> None:
    """All that has to be so of a killed evaluation and of the undisturbed one beside it."""
    assert compared(whole.result) == compared(killed.result)
    books = Books.read(trial.database)
    assert_closed(books)
    first, second = (_by_unit(books, one.evaluation) for one in (whole, killed))
    assert first.keys() == second.keys()
    assert len(books.debates) == len(first) + len(second), "a unit has several debates"
    for unit, debate in first.items():
        assert comparable(debate.outcome) == comparable(second[unit].outcome), unit
    for one, debates in ((whole, first), (killed, second)):
        calls = _by_mark(one.noted.calls)
        for debate in debates.values():
            assert asked_again(debate.entries) == []
            expect_every_call_recorded_and_paid(debate, calls.get(_mark(debate), ()))
        lost = sum(entry.charge.amount for debate in debates.values() for entry in debate.charged if _is_lost(entry))
        assert one.result.lost_to_interruptions == lost
    assert not any(_is_lost(entry) for debate in first.values() for entry in debate.charged)


def _by_unit(books: Books, evaluation: str) -> dict[tuple[str, str, str, int], Told]:
    found = {}
    for debate in books.debates:
        item = _item(debate)
        if item.id == evaluation:
            found[item.set, item.item, item.arm, item.repeat] = debate
    return found


def _item(debate: Told) -> EvaluationItem:
    first = debate.entries[0]
    assert isinstance(first, CaseReceived)
    assert first.evaluation is not None
    return first.evaluation


def _mark(debate: Told) -> str:
    """The nonce of the fences of a debate's requests."""
    return nonce(next(entry.seed for entry in debate.entries if isinstance(entry, DebateStarted)))


def _by_mark(calls: Sequence[Call]) -> Mapping[str, Sequence[Call]]:
    found = dict[str, list[Call]]()
    for call in calls:
        marks = (mark_of(message.content) for message in wire_texts(call.body).messages)
        found.setdefault(next(mark for mark in marks if mark), []).append(call)
    return found


def _is_lost(entry: object) -> bool:
    return isinstance(entry, AttemptFailed) and entry.reason == "lost"
