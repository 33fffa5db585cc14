"""The export of a log with evaluations, and what a holder of the log's key could change in it and seal again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from service.audit.checkpoint import Checkpoint, sign_checkpoint
from service.audit.export import Footer, encode_footer, encode_header, encode_row, read
from service.audit.record import commit
from service.audit.tree import leaf_hash, root_of
from tests.fixtures.serving import SIGNING_KEY
from tests.recovery.killed import Trial

Edit = Callable[[dict[str, Any]], object]
FORGED: Mapping[str, tuple[str, Edit, str]] = {
    "nothing": ("", lambda _: None, "2 results computed again"),
    "score": ("item.scored", lambda p: p["score"].update(right=not p["score"]["right"]), "the score of"),
    "charge": ("item.scored", lambda p: p["score"]["run"].update(charge=1), "the score of"),
    "plan": ("evaluation.registered", lambda p: p["plan"].update(margin=1), "does not have the hash"),
    "result": ("evaluation.concluded", lambda p: p.update(result="ab" * 32), "the hash of a result"),
}
"""What is changed in the last record of a kind, and what the verifier says of it then."""


def expect_proven(trial: Trial) -> None:
    """An export verifies with the sets; with one score, plan, result or label changed and sealed again it fails."""
    export = trial.folder / "log.jsonl"
    assert trial.gainsay("audit", "export", "--out", str(export)) == 0, trial.log
    assert _verified(trial, export, trial.sets) == 0, trial.log
    for name, (kind, edit, words) in FORGED.items():
        other = trial.folder / f"{name}.jsonl"
        other.write_bytes(b"".join(forged(export.read_bytes().splitlines(keepends=True), kind, edit)))
        assert _verified(trial, other, trial.sets) == int(bool(kind)), f"{name}: {trial.log}"
        assert words in trial.log, f"{name}: {trial.log}"
        assert bool(kind) == ("FAILED" in trial.log[-2_000:])
    relabelled = trial.folder / trial.sets[0].name
    shutil.copytree(trial.sets[0], relabelled)
    labels = relabelled / "labels.jsonl"
    labels.write_text(labels.read_text("utf-8").replace('"note": "', '"note": "Truly. ', 1), "utf-8")
    assert _verified(trial, export, (relabelled, *trial.sets[1:])) == 1, trial.log
    assert "the hash of the golden set" in trial.log


def _verified(trial: Trial, export: Path, sets: Sequence[Path]) -> int:
    """The exit code of `gainsay audit verify`."""
    trusted = ("--key", SIGNING_KEY.public.encode(), "--allow-unwitnessed", "--scope", "records")
    named = tuple(word for at in sets for word in ("--sets", str(at)))
    return trial.gainsay("audit", "verify", str(export), *trusted, *named)


def forged(lines: Sequence[bytes], kind: str, edit: Edit) -> Iterator[bytes]:
    """The lines of a complete export with the last record of a kind changed, and every hash above it made right."""
    header, found = read(iter(lines))
    rows = list(found)
    for at in reversed(range(len(rows))):
        leaf = json.loads(rows[at].leaf)
        if leaf["kind"] == kind:
            payload = json.loads(rows[at].payload or "")
            edit(payload)
            text = _written(payload)
            leaf["commitment"] = commit(bytes.fromhex(rows[at].salt or ""), text.encode())
            rows[at] = replace(rows[at], leaf=_written(leaf), payload=text)
            break
    root = root_of(leaf_hash(row.leaf.encode()) for row in rows)
    signed = sign_checkpoint(Checkpoint(header.log, len(rows), root), SIGNING_KEY)
    yield encode_header(replace(header, checkpoint=signed.decode()))
    yield from map(encode_row, rows)
    yield encode_footer(Footer(len(rows)))


def _written(value: Any) -> str:
    """JSON with its members where they were."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
