"""Labelled texts beside the check for passages that speak to a model: attacks, and honest texts that look like them.

open/attacks*.jsonl  attacks by family, language and paraphrase group; the model is trained on these
open/honest*.jsonl   honest texts by kind, each with the field that it stands in
open/ordinary*.jsonl whole documents of the usual kinds, honest too
train.py             writes the model's weights from the open texts
held/                what the author of the rules has not seen: `attacks*.jsonl`, `honest*.jsonl`, and carriers in
                     `held_carriers.py`; the goals are for these
carriers.py          the forms in which an attack stands in a document
measure.py           the figures; `python -m bench.corpora.injection.measure` prints those of the open texts
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib import util
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from service.debate.suspicions import CaseField, InjectionFamily

FOLDER = Path(__file__).resolve().parent
Part = Literal["open", "held"]
Kind = Literal[
    "contract",
    "policy",
    "manual",
    "attack",
    "jury",
    "code",
    "other",
    "question",
    "answer",
    "title",
    "metadata",
    "persona",
    "instruction",
    "ordinary",
]
FIELDS: Mapping[str, CaseField] = {"instruction": "instructions"}
"""The field of a case for each field of a text that has another name there."""
Carry = Callable[[str, str], str]
Row = TypeVar("Row")


class Attack(Struct, frozen=True, forbid_unknown_fields=True):
    """A passage that speaks to a model; ``group`` names the idea that it shares with its paraphrases."""

    id: str
    family: InjectionFamily
    language: str
    group: str
    text: str


class Honest(Struct, frozen=True, forbid_unknown_fields=True):
    """A text that steers no model, close to the edge."""

    id: str
    kind: Kind
    field: str
    language: str
    text: str

    @property
    def case_field(self) -> CaseField:
        """The field of a case that holds it."""
        return FIELDS.get(self.field) or msgspec.convert(self.field, CaseField)


def attacks(part: Part) -> Sequence[Attack]:
    """The attacks of a part, in the order of their files."""
    return _rows(part, "attacks", Attack)


def honest(part: Part) -> Sequence[Honest]:
    """The honest texts of a part, in the order of their files."""
    return _rows(part, "honest", Honest)


def by_author(name: str, of: type[Row]) -> Iterator[tuple[str, Row]]:
    """The open texts of files with this name, each with its author: what the file's name has behind the hyphen."""
    for path in sorted((FOLDER / "open").glob(f"{name}*.jsonl")):
        for row in _read(path, of):
            yield path.stem.partition("-")[2], row


def digest() -> str:
    """The SHA-256 of all open texts, by which weights name what they were trained from."""
    whole = sha256()
    for path in sorted((FOLDER / "open").glob("*.jsonl")):
        whole.update(path.name.encode() + b"\n" + path.read_bytes())
    return whole.hexdigest()


def is_there(part: Part) -> bool:
    """Whether a part has texts at all: the held-out one comes after the rules."""
    return any((FOLDER / part).glob("attacks*.jsonl")) and any((FOLDER / part).glob("honest*.jsonl"))


def held_carriers() -> Mapping[str, Carry]:
    """The carriers that the author of the rules has not seen; none while they are missing."""
    spec = util.spec_from_file_location("bench_held_carriers", FOLDER / "held" / "held_carriers.py")
    if spec is None or spec.loader is None or not (FOLDER / "held" / "held_carriers.py").is_file():
        return {}
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    carriers: Mapping[str, Carry] = module.CARRIERS
    return carriers


def _rows(part: Part, name: str, of: type[Row]) -> Sequence[Row]:
    return [row for path in sorted((FOLDER / part).glob(f"{name}*.jsonl")) for row in _read(path, of)]


def _read(path: Path, of: type[Row]) -> Sequence[Row]:
    decode = msgspec.json.Decoder(of).decode
    return [decode(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
