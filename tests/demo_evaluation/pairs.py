"""The trial set for moderators, from the open proposals of contract-critic: ``python -m tests.demo_evaluation.pairs``.

No set of the kind `pairs` is shipped. This one is for trying the measuring alone: each proposal, sound or flawed,
stands beside a critique once shorter and once longer than itself. The longer critique says the same, in more words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from service.evaluation.sets.files import GOLDEN

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "evaluation" / "contract-pairs"
_SOURCE = GOLDEN / "contract-critic"
_DOUBT = "It does not follow."
_WORDS = (
    "A reader who goes through this step slowly is left to supply the link between its first half and its second half, "
    "and that link is the very thing that was to be shown. It may well be that there is one, but the step itself does "
    "not have it, and it is not for a reader to find it. The same words would stand as well beside the opposite "
    "conclusion, which is a sign that they carry less than they seem to carry. "
)
_SET = """id = "contract-pairs"
version = 1
task_type = "contract"
kind = "pairs"
labelled_by = "the authors of Gainsay"
labelling = "made by code from the open proposals of contract-critic v1, whose labels say which \
are sound; replies beside them are the same for all"
basis = "construction"
licence = "Apache-2.0"
published = 2026-11-27

[splits]
open = "for trying how a moderator is measured, with simulated models"
held = "none: a trial set supports no claim"
"""


def files() -> dict[str, bytes]:
    """The files of the set, by their paths."""
    items, labels, documents = list[str](), list[str](), dict[str, bytes]()
    for item, label in _made():
        items.append(json.dumps(item, ensure_ascii=False))
        labels.append(json.dumps(label, ensure_ascii=False))
        for document in item["documents"]:
            path = f"documents/{document['sha256']}.txt"
            documents[path] = (_SOURCE / path).read_bytes()
    lines = {"items.jsonl": items, "labels.jsonl": labels}
    written = {path: "".join(f"{line}\n" for line in of).encode() for path, of in lines.items()}
    return {"set.toml": _SET.encode(), **written, **documents}


def _made() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Items with their labels, in the order of their ids, which tell nothing."""
    sealed = {label["id"]: label["answer"] for label in _read("labels.jsonl")}
    found = [
        _twin(item, longer, sound=sealed[item["id"]] == "sound")
        for item in _read("items.jsonl")
        if item["split"] == "open"
        for longer in ("proposer", "critic")
    ]
    yield from sorted(found, key=lambda made: str(made[0]["id"]))


def _read(name: str) -> Iterator[Mapping[str, Any]]:
    return map(json.loads, (_SOURCE / name).read_text("utf-8").splitlines())


def _twin(item: Mapping[str, Any], longer: str, *, sound: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    id_, pair = (sha256(words.encode()).hexdigest()[:4] for words in (f"{item['id']} {longer}", item["id"]))
    shared = {name: item[name] for name in ("question", "documents", "group", "split")}
    made = {"id": f"cm-{id_}", "pair": f"cw-{pair}", **shared, "given": _given(item["proposal"], longer)}
    label = {
        "id": f"cm-{id_}",
        "answer": "upheld" if sound else "rejected",
        "basis": "construction",
        "feature": "length",
        "favours": longer,
        "note": f"The proposal is {'sound' if sound else 'flawed'} by its label in contract-critic v1.",
    }
    return made, label


def _given(proposal: Mapping[str, Any], longer: str) -> dict[str, Any]:
    attacked = proposal["arguments"] if longer == "critic" else proposal["arguments"][:1]
    points = [
        {
            "n": n,
            "text": _WORDS + _DOUBT if longer == "critic" else _DOUBT,
            "attacks": [one["n"]],
            "basis": "reasoning",
        }
        for n, one in enumerate(attacked, start=1)
    ]
    return {
        "framing": {
            "thesis": "Whether the proposal follows from the documents.",
            "scope": "The documents of the case.",
            "criteria": ["What the documents say decides."],
            "keyDocuments": [],
        },
        "proposal": proposal,
        "critique": {"thesis": _DOUBT, "points": points, "challengeStrength": 7, "conclusion": "rejected"},
        "rebuttal": {
            "thesis": "It stands.",
            "rebuttals": [{"n": point["n"], "text": "They do.", "basis": "reasoning"} for point in points],
            "concessions": [],
            "conclusion": "upheld",
        },
    }


if __name__ == "__main__":
    for path, raw in files().items():
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_bytes(raw)
