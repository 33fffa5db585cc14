"""The bundle of an evaluation that has ended: its records, its sets and the bundle of each of its debates.

The files are written one after the other; of a debate no more is in memory than its bundle.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import IO

from msgspec import Struct

from service.audit.checkpoint import parse_checkpoint
from service.audit.earlier_head import EarlierHead
from service.audit.evaluation_bundle import (
    CHECKPOINT,
    PLAN,
    README,
    RECORDS,
    RESULT,
    SET_FILES,
    SUMMARY,
    EvaluationSummary,
    SetFiles,
    debate_file,
    encode_plan,
    encode_set_files,
    encode_summary,
    readme,
    set_folder,
)
from service.audit.export import decode_header
from service.audit.note import parse_note
from service.audit.proof import parse_proof
from service.evaluation.run.progress import Progress
from service.evaluation.sets.form import LABELS
from service.evaluation.sets.reading import FORM
from service.reviews.evaluation_sets import WholeSet
from service.reviews.evidence.access_record import EvidenceDesk
from service.reviews.evidence.debate_bundle import bundle
from service.reviews.evidence.hashed_archive import HashedArchive
from service.reviews.evidence.log_export import evaluation_export, export
from service.store.proofs import consistency

SetOf = Callable[[str], WholeSet | None]
"""The golden set with a hash, with its files; ``None`` where it is not at hand."""


class Bundled(Struct, frozen=True):
    """What a bundle holds, for the one who made it: sets without labels, and those that were not at hand."""

    debates: int
    withheld: tuple[str, ...]
    absent: tuple[str, ...]


async def bundle_evaluation(
    desk: EvidenceDesk, progress: Progress, result: bytes | None, set_of: SetOf, out: IO[bytes], *, held: bool
) -> Bundled:
    """Write the bundle of an evaluation whose end is proven to ``out``; each reading is recorded, as of any bundle.

    Labels of a set that has a split held are there with ``held`` alone; without it their hash is. Raises what `export`
    and `bundle` raise.
    """
    database, evaluation, tenant = desk.database, progress.evaluation, desk.caller.tenant
    log, filters = await evaluation_export(database, evaluation, tenant)
    made = HashedArchive(out)
    made.write(PLAN, encode_plan(progress.registered.plan))
    made.write(README, readme(evaluation, log))
    lines = _FirstLine()
    async with aclosing(await export(database, desk.logs, log, filters, desk.caller, desk.writer)) as chunks:
        await made.stream(RECORDS, lines.read(chunks))
    if progress.proven is not None:
        note = parse_proof(progress.proven.proof.encode()).checkpoint
        older = parse_checkpoint(parse_note(note).text).size
        path = await consistency(database, tenant, log, older, lines.size)
        made.write(CHECKPOINT, EarlierHead(tuple(path), note).encode())
    withheld, absent = await asyncio.to_thread(_write_sets, progress, set_of, made, held)
    for debate in progress.asked.values():
        made.write(debate_file(debate), await bundle(database, desk.logs, debate, desk.caller, desk.writer))
    if result is not None:
        made.write(RESULT, result)
    files = dict(sorted(made.files.items()))
    summary = EvaluationSummary(evaluation=evaluation, tenant=tenant, log=log, withheld=withheld, files=files)
    made.write(SUMMARY, encode_summary(summary))
    made.close()
    return Bundled(len(progress.asked), withheld, absent)


def _write_sets(
    progress: Progress, set_of: SetOf, made: HashedArchive, held: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write the sets of the plan; returns those whose labels were withheld, and those that are not at hand."""
    withheld, absent = list[str](), list[str]()
    for number, asked in enumerate(progress.registered.sets, 1):
        found = set_of(asked.sha256)
        if found is None:
            absent.append(asked.id)
            continue
        contents = {SET_FILES: encode_set_files(SetFiles(FORM, dict(found.golden.files))), **found.files}
        if not held and any(item.split == "held" for item in found.golden.asked.items):
            del contents[LABELS]
            withheld.append(asked.id)
        for path in sorted(contents):
            made.write(set_folder(number) + path, contents[path])
    return tuple(withheld), tuple(absent)


class _FirstLine:
    """The chunks of an export as they pass, and the size of the head that its first line names."""

    def __init__(self) -> None:
        self.size = 0

    async def read(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The chunks, unchanged."""
        async for chunk in chunks:
            if not self.size:
                self.size = decode_header(chunk[: chunk.index(b"\n") + 1]).size
            yield chunk
