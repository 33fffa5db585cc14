"""The cases of a key file, as a simulated model with known faults knows them again by what it is shown.

A case that is shown with given replies is looked for with all of the first round's replies, then with each of them, and
then with none: a critic sees the given proposal, a moderator also what was spoken after it. Nothing else of the service
reads a key file, and models of vendors never see one.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from service.errors import SettingsError
from service.evaluation.sets.key_line import HashedArgument, KeyLine, hash_of_material, hash_of_reply
from service.simulated.request_reader import Reading, ShownTurn

SETTING = "GAINSAY_SIMULATED_KEY"
BYTES_MAX = 200_000_000
_decoder = msgspec.json.Decoder(KeyLine)


class KnownCase(NamedTuple):
    """A case of the key file: its line there, from 1, and what is right in it.

    ``debate`` is the mark of the debate where draws are anew in each one.
    """

    number: int
    line: KeyLine
    debate: str = ""

    @property
    def shown(self) -> str:
        """What names the case in draws: the hash of what a seat is shown of it, with the mark of its debate if any."""
        return f"{self.line.shown}\n{self.debate}" if self.debate else self.line.shown


class KnownCases:
    """The cases of a key file by the hash of their material; of one material the longest question that is asked counts.

    Several cases of one question differ in their proposition.
    """

    def __init__(self, lines: Sequence[KeyLine]) -> None:
        self._by_material: dict[str, list[KnownCase]] = {}
        for number, line in enumerate(lines, start=1):
            self._by_material.setdefault(line.material, []).append(KnownCase(number, line))

    def find(self, reading: Reading) -> KnownCase | None:
        """The case that a reading shows; ``None`` for one that is not in the key file."""
        documents = {document.id: document.text for document in reading.documents}
        for replies in _candidates(reading):
            cases = self._by_material.get(hash_of_material(documents, replies), ())
            if asked := [case for case in cases if case.line.question in reading.question]:
                most = max(len(case.line.question) for case in asked)
                return _stated(reading, [case for case in asked if len(case.line.question) == most])
        return None


def _stated(reading: Reading, cases: Sequence[KnownCase]) -> KnownCase:
    """Of cases with one question that whose proposition a reading has; the first where it has none."""
    beside = (reading.proposition, reading.answer or "", reading.question)
    stated = [c for c in cases if any(c.line.proposition in text for text in beside)]
    return max(stated or cases[:1], key=lambda case: len(case.line.proposition))


def load(environment: Mapping[str, str]) -> KnownCases:
    """The cases of the key file that the setting names; raises `SettingsError` for none or a wrong line."""
    name = environment.get(SETTING, "").strip()
    if not name:
        raise SettingsError(
            f"a model has known faults, and {SETTING} names no key file by which it knows its cases: make one with "
            "`gainsay evaluate key SET... --to FILE`, or take the faults out of the policy"
        )
    return KnownCases(parse(_bytes(Path(name)), name))


def parse(raw: bytes, name: str) -> tuple[KeyLine, ...]:
    """The lines of a key file; raises `SettingsError` with the first line that is none."""
    lines = []
    for number, text in enumerate(raw.splitlines(), start=1):
        try:
            lines.append(_decoder.decode(text))
        except msgspec.DecodeError as error:
            raise SettingsError(
                f"line {number} of the key file {name} is no line of a key: {error}; make the file anew with "
                "`gainsay evaluate key`"
            ) from error
    return tuple(lines)


def _bytes(path: Path) -> bytes:
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > BYTES_MAX:
            raise SettingsError(f"expected a key file of at most {BYTES_MAX:,} bytes in {SETTING}, found {path}")
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(
            f"expected a key file at {path}, which {SETTING} names, found none that can be read ({error.strerror})"
        ) from error


def _candidates(reading: Reading) -> Iterator[tuple[str, ...]]:
    first = min((said.round for said in reading.statements), default=1)
    hashes = tuple(_hash(said) for said in reading.statements if said.round == first)
    yield hashes
    if len(hashes) > 1:
        yield from ((one,) for one in hashes)
    if hashes:
        yield ()


def _hash(said: ShownTurn) -> str:
    """The hash of a statement by its numbered arguments; expected objections have no number."""
    numbered = [argument for argument in said.arguments if argument.n]
    quoted = (HashedArgument(a.n, a.text, tuple((c.quote, c.source_id) for c in a.citations)) for a in numbered)
    return hash_of_reply(said.thesis, quoted)
