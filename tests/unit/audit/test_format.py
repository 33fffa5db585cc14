"""The vectors of docs/format are what this code writes, and it takes and refuses what they say."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
import pytest

from service.audit import archive
from service.audit.checkpoint import cosignatures, open_checkpoint
from service.audit.note import PublicKey, parse_note
from service.audit.proof import parse_proof
from service.audit.record import commit, leaf_hash, open_leaf
from service.audit.tree import root_of, verify_consistency, verify_inclusion
from service.errors import GainsayError
from service.verify.export import verify_export
from service.verify.log import proven
from service.verify.steps import Differs, Trust
from tests.vectors import format as vectors

Case = dict[str, Any]
INTEGRITY = {"file", "signature", "records", "chains", "tree"}
BUNDLES = Path(__file__).resolve().parents[2] / "vectors" / "bundles"


def cases(name: str) -> list[Case]:
    found: list[Case] = json.loads((vectors.FOLDER / f"{name}.json").read_text("utf-8"))
    return found


def holds(check: Callable[[], object]) -> bool:
    try:
        check()
    except (GainsayError, Differs, ValueError):
        return False
    return True


def test_the_files_are_what_the_code_writes() -> None:
    assert {path.name: path.read_text("utf-8") for path in vectors.FOLDER.glob("*.json")} == vectors.files()


def test_primitives_and_records_are_as_they_say() -> None:
    for case in cases("commitments"):
        assert commit(bytes.fromhex(case["salt"]), b64decode(case["content"])) == case["commitment"]
    for case in cases("strings"):
        assert msgspec.json.encode("".join(map(chr, case["code"]))) == b64decode(case["spelt"])
    prev = ""
    for n, case in enumerate(cases("records")):
        envelope = open_leaf(b64decode(case["leaf"]))
        assert (envelope.n, envelope.prev) == (n, prev)
        assert envelope.commitment == commit(bytes.fromhex(case["salt"]), b64decode(case["payload"]))
        prev = case["leafHash"]


def test_keys_and_notes_are_taken_and_refused_as_they_say() -> None:
    for case in cases("keys"):
        assert holds(lambda case=case: PublicKey.parse(case["text"])) == ("refused" not in case), case  # type: ignore[misc]
    for case in cases("checkpoints"):
        data, keys = b64decode(case["note"]), [PublicKey.parse(key) for key in case["keys"]]
        keys = [key for key in keys if key.name == "example.org"]  # the host of the log
        assert holds(lambda data=data, keys=keys: open_checkpoint(data, keys)) == ("refused" not in case), case  # type: ignore[misc]
        if "refused" not in case:
            head, _ = open_checkpoint(data, keys)
            witnesses = [PublicKey.parse(key) for key in case["witnesses"]]
            assert (head.origin, head.size, head.root.hex()) == (case["origin"], case["size"], case["root"])
            assert cosignatures(parse_note(data), head, witnesses) == case["times"]


def test_trees_and_proofs_hold_or_not_as_they_say() -> None:
    for case in cases("trees"):
        assert root_of(leaf_hash(b64decode(leaf)) for leaf in case["leaves"]).hex() == case["root"]
    for case in cases("inclusions"):
        path, root = [bytes.fromhex(p) for p in case["path"]], bytes.fromhex(case["root"])
        arguments: tuple[Any, ...] = (leaf_hash(b64decode(case["leaf"])), case["index"], case["size"], path, root)
        assert holds(lambda a=arguments: verify_inclusion(*a)) == case["holds"], case  # type: ignore[misc]
    for case in cases("consistencies"):
        path = [bytes.fromhex(p) for p in case["path"]]
        arguments = (case["old"], case["new"], path, *(bytes.fromhex(case[name]) for name in ("oldRoot", "newRoot")))
        assert holds(lambda a=arguments: verify_consistency(*a)) == case["holds"], case  # type: ignore[misc]
    for case in cases("proofs"):
        note = b64decode(case["checkpoint"])
        head = open_checkpoint(note, [vectors.KEY.public])[0]
        arguments = (b64decode(case["proof"]), b64decode(case["leaf"]), note, head)
        assert holds(lambda a=arguments: proven(*a)) == case["holds"], case  # type: ignore[misc]
        assert not case["holds"] or parse_proof(b64decode(case["proof"])).index == case["index"]


def test_archives_are_read_or_refused_as_they_say() -> None:
    for case in cases("archives"):
        stream = BytesIO(b64decode(case["archive"]))

        def read(stream: BytesIO = stream) -> dict[str, bytes]:
            return {member.path: b"".join(archive.contents(stream, member)) for member in archive.scan(stream)}

        assert holds(read) == ("refused" not in case), case
        if "refused" not in case:
            assert read() == {name: b64decode(text) for name, text in case["files"].items()}


def test_exports_hold_or_fail_as_they_say() -> None:
    for case in cases("exports"):
        trust = Trust(keys=tuple(PublicKey.parse(key) for key in case["keys"]))
        lines = b64decode(case["lines"]).splitlines(keepends=True)
        report = verify_export(lines, trust, replay=False, every=True)

        failed = {step.name for step in report.failed}
        assert (not failed) == case["holds"], (failed, case)
        assert failed <= INTEGRITY


@pytest.mark.parametrize("name", ["adversarial", "panel"])
def test_the_hashes_of_a_bundle_are_what_its_page_says(name: str) -> None:
    with ZipFile(BUNDLES / f"{name}.zip") as found:
        started = json.loads(found.read("records/0002.payload.json"))
        policy, listed = found.read("policy.json"), found.read("prompts/manifest.json")
        configuration, first = found.read("configuration.json"), found.read("records/0000.leaf.json")
        entries = json.loads(listed)["entries"]
        files = {entry["file"]: sha256(found.read(f"prompts/{entry['file']}")).hexdigest() for entry in entries}
    models = json.loads(policy)["models"]
    rows = [models[model]["prices"] for model in sorted(models)]
    prices = json.dumps(rows, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    parts = {"policy": started["policyHash"], "prices": started["priceHash"], "prompts": started["pin"]}
    written = json.dumps({"format": "gainsay-configuration/1", **parts}, separators=(",", ":")).encode()

    assert started["policyHash"] == sha256(policy).hexdigest()
    assert started["priceHash"] == sha256(prices).hexdigest()
    assert (configuration, started["configurationHash"]) == (written, sha256(written).hexdigest())
    assert started["pin"] == sha256(listed).hexdigest()
    assert started["pins"] == {e["id"]: f"v{e['version']}:{e['sha256']}" for e in entries if e["current"]}
    assert files == {entry["file"]: entry["sha256"] for entry in entries}
    assert started["seed"] == leaf_hash(first).hex()
    assert started["buildHash"] == json.loads(first)["build"]
