"""Two files against each other, offline: whether what they show can belong to one log (RFC 9162, section 8.1.3).

A log only grows, so of two heads the smaller is a beginning of the larger, and every subtree that is complete in both
has one hash. The files decide this where leaves or proofs give the subtrees of the smaller head under the larger one.
Two heads under signatures of the log's key that contradict each other prove that its holder forked the log.

One step reads each file, and one step compares each log that both show. What the records say is not looked at: that is
`gainsay audit verify` on each file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

from msgspec import Struct

from service.audit.tree import root_at
from service.verify.steps import Differs, NotCheckable, VerificationReport, VerificationStep, perform
from service.verify.times import FILES
from service.verify.views import ExportFile, LogView, RecordName, Wanted

Views = list[LogView]
UNSIGNED = "UNSIGNED: no key was pinned, or the head has no signature"
FORK = "FORK PROVEN"


class File(Struct):
    """A file to compare: its name, and how its views are read once those of the other file are known."""

    name: str
    kind: str
    views: Callable[[Wanted], Views]
    first: LogView | None = None
    """The head of an export, which is known before its lines are read."""
    complete: bool = False
    """Whether it is a complete export, which has every subtree but keeps only those that are wanted."""


def export_file(name: str, export: ExportFile) -> File:
    """An export as a file to compare."""
    return File(name, "export", lambda wanted: [export.view(wanted)], export.head, export.header.complete)


def compare_files(one: File, other: File) -> VerificationReport:
    """Compare two files; raises only errors of their streams. The steps are A, B, and one for each log in both."""
    files = {"A": one, "B": other}
    read: dict[str, Views] = {}
    steps: dict[str, VerificationStep] = {}
    for letter in _order(one, other):
        against = [*(view for views in read.values() for view in views), *_first(files["B" if letter == "A" else "A"])]
        steps[letter] = perform(
            "AB".index(letter) + 1, letter, partial(_read, files[letter], Wanted.of(against), read, letter)
        )
    found = [steps["A"], steps["B"]]
    if len(read) == 2:
        found += _compared(read["A"], read["B"])
    about = {
        letter: {"file": file.name, "kind": file.kind, "heads": _heads(read.get(letter, []))}
        for letter, file in files.items()
    }
    return VerificationReport("comparison", about, tuple(found))


def _order(one: File, other: File) -> str:
    """Which file is read first: complete exports last, because they keep only what the other asks for."""
    if one.complete and other.complete and one.first and other.first:
        return "AB" if one.first.head.size <= other.first.head.size else "BA"
    return "BA" if one.complete else "AB"


def _first(file: File) -> Views:
    return [file.first] if file.first else []


def _read(file: File, wanted: Wanted, read: dict[str, Views], letter: str) -> str:
    views = file.views(wanted)
    read[letter] = views
    own = views[0]
    signed = f"signed by {', '.join(own.signers)}" if own.signers else "with no signature that was checked"
    more = f", and {len(views) - 1} heads of earlier logs" if len(views) > 1 else ""
    return f"{file.kind} under {own.head.origin} at size {own.head.size}, {signed}{more}"


def _heads(views: Views) -> list[dict[str, object]]:
    return [
        {
            "log": v.head.origin,
            "size": v.head.size,
            "root": v.head.root.hex(),
            "signers": list(v.signers),
            "note": v.note,
        }
        for v in views
    ]


# The logs that both show.


def _compared(ours: Views, theirs: Views) -> Iterator[VerificationStep]:
    logs = [log for log in dict.fromkeys(view.head.origin for view in ours) if log in {v.head.origin for v in theirs}]
    if not logs:
        yield perform(3, "logs", partial(_nothing_common, ours[0].head.origin, theirs[0].head.origin))
    for number, log in enumerate(logs, start=3):
        yield perform(number, log, partial(_compare_log, _of(ours, log), _of(theirs, log)))


def _nothing_common(ours: str, theirs: str) -> str:
    raise NotCheckable(f"A is under {ours} and B under {theirs}: no log is in both files, so nothing can be compared")


def _of(views: Views, log: str) -> Views:
    return [view for view in views if view.head.origin == log]


def _compare_log(ours: Views, theirs: Views) -> str:
    """What the views of one log come to; raises `Differs` at the first contradiction, then `NotCheckable` for a gap."""
    details, gaps, own = list[str](), list[NotCheckable](), (ours[0], theirs[0])
    for a, b in product(ours, theirs):
        try:
            details.append(compare_views(a, b))
        except NotCheckable as gap:
            if (a, b) == own or not any(view.place in FILES for view in (a, b)):
                gaps.append(gap)  # a head that dates a bundle is proven to be of the tree of its own head
    if gaps:
        raise gaps[0]
    return "; ".join(dict.fromkeys(details))


def compare_views(a: LogView, b: LogView) -> str:
    """How two heads of one log belong together, A's and B's.

    Raises `Differs` where they cannot both be of one log, and `NotCheckable` where the files do not decide it.
    """
    _expect_one_tree(a, b)
    _expect_one_record(a, b)
    small, large, names = (a, b, "AB") if a.head.size <= b.head.size else (b, a, "BA")
    if small.head.size == large.head.size:
        return f"both have the head of size {small.head.size} with the root {small.head.root.hex()}"
    root = _root(large, small.head.size)
    if root is None:
        raise NotCheckable(
            f"the files do not show whether the {small.head.size} records of {names[0]} are the first of the "
            f"{large.head.size} of {names[1]}; nothing in both differs. Compare with a complete export of the log at "
            f"size {large.head.size}"
        )
    if root != small.head.root:
        raise _fork(a, b, f"the first {small.head.size} records", small.head.root, root, small is a)
    return f"the {small.head.size} records of {names[0]} are the first of the {large.head.size} of {names[1]}"


def _root(view: LogView, size: int) -> bytes | None:
    """The root that the log of a view had at a size, if the view has the subtrees for it."""
    try:
        return root_at(size, lambda level, index: view.subtrees[level, index])
    except KeyError:
        return None


def _expect_one_tree(a: LogView, b: LogView) -> None:
    """Every subtree in both views has one hash; raises `Differs` for the largest that has two."""
    if a.head.size == b.head.size and a.head.root != b.head.root:
        raise _fork(a, b, f"all {a.head.size} records", a.head.root, b.head.root, True)
    for place in sorted(a.subtrees.keys() & b.subtrees.keys(), reverse=True):
        if a.subtrees[place] != b.subtrees[place]:
            level, index = place
            what = f"the records {index << level} to {(index + 1 << level) - 1}"
            raise _fork(a, b, what, a.subtrees[place], b.subtrees[place], True)


def _fork(a: LogView, b: LogView, what: str, one: bytes, other: bytes, a_first: bool) -> Differs:
    """The contradiction of two heads; a fork is proven where both are signed by pinned keys."""
    word = FORK if a.signers and b.signers else f"CONTRADICTED, and one head is {UNSIGNED}"
    hashes = (one.hex(), other.hex()) if a_first else (other.hex(), one.hex())
    return Differs(
        f"{word}: {what} of {a.head.origin} have two hashes, so the head of size {a.head.size} in A and that of size "
        f"{b.head.size} in B cannot be of one log: A has {hashes[0]}, B has {hashes[1]}",
    )


def _expect_one_record(a: LogView, b: LogView) -> None:
    """Every record in both views is the same leaf at the same place; raises `Differs`."""
    for name in sorted(a.records.keys() & b.records.keys()):
        if a.records[name] != b.records[name]:
            raise _twice(name, a, b)


def _twice(name: RecordName, a: LogView, b: LogView) -> Differs:
    (debate, n), (at, leaf), (there, other) = name, a.records[name], b.records[name]
    return Differs(
        f"the log {a.head.origin} has record {n} of debate {debate} twice: A has it at index {at} with the leaf hash "
        f"{leaf.hex()}, B at index {there} with {other.hex()}",
        record=n,
    )
