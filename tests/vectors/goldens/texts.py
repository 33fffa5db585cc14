"""The words and forms which a verifier compares: reports, README.txt, schemas, ``policy.json``.

report-N/FORMAT.sha256     of each recorded debate's report
report-N/NAME.md           one of them for each format, and of a case that was declined
readme-N/README.txt
schemas-N/schema.sha256    of each file of the folder
policy-N/shipped.json      gainsay.toml of the day on which the version was made
policy-N/every-key.json    every key, away from its default
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import inspect

from service.audit.bundle_texts import READMES, SCHEMAS
from service.audit.record import Via
from service.debate.entries import CaseReceived, Entry, decode
from service.debate.kernel import FORMATS
from service.policy import FORMS, Policy, decode_policy, encode_policy
from service.policy.settings import SHIPPED_POLICY, read_policy
from service.report.result.types import Line, LogPosition
from service.report.versions import REPORTS, Teller
from service.reviews.evidence.bundle_files import schemas
from tests.fixtures.debates import DECLINED, a_case
from tests.vectors.goldens import FOLDER, Golden
from tests.vectors.rarely_worded import OTHER_TEXTS, rarely_worded
from tests.vectors.record import folder
from tests.vectors.worded import worded

DEBATE, LOG = "01a20000-0000-7000-8000-000000000001", "example.org/default/1"
TEXTS = {
    "D1": "\n\n".join(
        (
            "# 9 Liability",
            "9.1 The Supplier's liability shall not exceed the Fees, except for breach of clause 12.",
            "9.2 It is silent on fines.",
            *(
                f"{n}.1 Notices are given in writing, and count from the day on which they arrive."
                for n in range(10, 19)
            ),
        )
    ).ljust(1_000, "."),
    "D2": "12.1 A breach of confidence is not capped.\n\n12.2 It lasts for five years.".ljust(1_000, "."),
}
"""As long as the records say that they are, so that a report names their parts."""
SHOWN = {
    "adversarial/1": "truncated",
    "stances/1": "order-sensitive",
    "ballot/1": "split",
    "panel/1": "debater-missing",
    "convergence/1": "vote",
}
"""The recorded debate of each format whose report is kept whole."""


def goldens() -> dict[str, Golden]:
    """Every file by its path in the folder."""
    return {
        f"{folder_of(version)}/{name}": Golden(version, partial(_made, make, version, name))
        for versions, names, make in (
            (REPORTS, (*map(_sums, FORMATS), *map(_whole, FORMATS), "declined.md"), _reports),
            (READMES, ("README.txt",), _readmes),
            (SCHEMAS, ("schema.sha256",), _schemas),
            (FORMS, ("shipped.json", "every-key.json"), _policies),
        )
        for version in versions
        for name in names
    }


def folder_of(version: str) -> str:
    """The folder of a version's files: ``report/1`` has ``report-1``."""
    return version.replace("/", "-")


def _made(make: Callable[[str], Mapping[str, bytes]], version: str, name: str) -> bytes:
    return make(version)[name]


def _sums(form: str) -> str:
    return f"{folder_of(form)}.sha256"


def _whole(form: str) -> str:
    return f"{folder_of(form)}.md"


def recorded() -> Iterator[tuple[str, str, list[Entry]]]:
    """Every recorded debate: its format, its name and its entries."""
    for form in FORMATS:
        for path in sorted(folder(form).glob("*.jsonl")):
            if ".moves." not in path.name:
                yield form, path.stem, [decode(line) for line in path.read_bytes().splitlines()]


def told(teller: Teller, entries: Sequence[Entry], texts: Mapping[str, str] = TEXTS, via: Via = "none") -> bytes:
    """The report of a debate, as a bundle has it."""
    lines = [Line(n, f"2026-11-21T10:{n // 60:02d}:{n % 60:02d}Z", entry, via) for n, entry in enumerate(entries)]
    position = LogPosition(log=LOG, index=len(lines) - 1, size=len(lines), root="ab" * 32)
    return teller(DEBATE, lines, last_record="cd" * 32, position=position, texts=texts, form="markdown", paper="a4")


def all_told() -> Iterator[tuple[Any, ...]]:
    """Every debate that is told: recorded, in other words, and without the documents' texts."""
    yield from recorded()
    yield from worded(recorded())
    yield from rarely_worded(recorded())
    form, name, entries = next(recorded())
    for what, texts in OTHER_TEXTS.items():
        yield form, f"{name}, {what}", entries, texts


@cache
def all_reports(version: str) -> Sequence[tuple[str, str, bytes]]:
    """Every report that a golden of a version holds: its format, the debate's name, and its bytes."""
    teller = REPORTS[version]
    declined = "", "declined", told(teller, [CaseReceived(a_case(), "local"), DECLINED], via="keyboard")
    return [declined, *((form, name, told(teller, entries, *texts)) for form, name, entries, *texts in all_told())]


def _reports(version: str) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    sums: dict[str, list[str]] = {form: [] for form in FORMATS}
    for form, name, report in all_reports(version):
        if form:
            sums[form].append(f"{sha256(report).hexdigest()}  {name}\n")
        if not form or SHOWN.get(form) == name:
            found[_whole(form) if form else "declined.md"] = report
    return found | {_sums(form): "".join(lines).encode() for form, lines in sums.items()}


def _readmes(version: str) -> Mapping[str, bytes]:
    return {"README.txt": READMES[version].format(debate=DEBATE, log=LOG).encode()}


def _schemas(version: str) -> Mapping[str, bytes]:
    sums = [f"{sha256(found).hexdigest()}  {path}\n" for path, found in sorted(schemas(version).items())]
    return {"schema.sha256": "".join(sums).encode()}


def _policies(version: str) -> Mapping[str, bytes]:
    shipped = FOLDER / folder_of(version) / "shipped.json"  # of its day: a new price in gainsay.toml is no new form
    policy = decode_policy(shipped.read_bytes(), version) if shipped.exists() else read_policy(SHIPPED_POLICY)
    return {"shipped.json": encode_policy(policy, version), "every-key.json": encode_policy(every_key(), version)}


def every_key() -> Policy:
    """A policy in which every key that there is stands with another value than its default."""
    return msgspec.convert(_filled(inspect.type_info(Policy), "policy"), Policy)


def _filled(kind: inspect.Type, path: str, default: Any = None) -> Any:
    match kind:
        case inspect.StructType():
            return {f.encode_name: _filled(f.type, f"{path}.{f.encode_name}", f.default) for f in kind.fields}
        case inspect.UnionType():
            return _filled(next(one for one in kind.types if not isinstance(one, inspect.NoneType)), path, default)
        case inspect.DictType():
            return {_filled(kind.key_type, "a key"): _filled(kind.value_type, path)}
        case inspect.VarTupleType():
            return [_filled(kind.item_type, path)]
        case inspect.LiteralType():
            return next(value for value in kind.values if value != default)
        case inspect.BoolType():
            return default is not True
        case inspect.IntType():
            return 1_000 + len(path)
        case inspect.DecimalType() | inspect.FloatType():
            return "0.25"
        case inspect.AnyType():
            return ["anything"]
        case inspect.StrType():
            return path
    raise TypeError(f"a policy with a key of the type {kind} at {path}: say here what stands for it")
