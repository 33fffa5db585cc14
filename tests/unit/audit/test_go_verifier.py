"""A verifier in Go, written from docs/format alone, finds what ours finds about the integrity of evidence.

`tests/go/verifier` needs Go's standard library and nothing else. It is built here without a network, and kept in
pytest's cache. Where Go is not at hand, these tests are skipped.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import struct
import subprocess
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from service.audit.bundle import Bundle, pack, unpack
from service.audit.checkpoint import add_lines, cosign, parse_checkpoint
from service.audit.earlier_head import parse_earlier_head
from service.audit.note import SigningKey, parse_note
from service.audit.timestamp_forms import Accuracy
from service.cli import main
from service.cli.audit.verify import tools
from service.unseen import PATTERN
from service.verify.bundle import verify_bundle
from service.verify.steps import Trust
from tests.fixtures.bundles import BEFORE as BEFORE_IT
from tests.fixtures.bundles import LOG_KEY, WITNESSES, Draft, Tree, earlier, moved
from tests.fixtures.go import program
from tests.fixtures.sealing import BUNDLES, Leaf, Recorded, compact, exported, indented, packed, zipped
from tests.fixtures.stamped_bundles import stamped
from tests.fixtures.stamping import AUTHORITY
from tests.mutations.harness import WITNESSED
from tests.mutations.resealed import Original, member, openings, originals

pytestmark = pytest.mark.many

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "tests" / "go" / "verifier"
RECORDED = sorted(BUNDLES.glob("*.zip"))
INTEGRITY = (
    "file",
    "signature",
    "witnesses",
    "tree",
    "records",
    "context",
    "chain",
    "complete",
    "logs",
    "parts",
    "lines",
    "prompts",
    "policy",
    "times",
    "approval",
    "issued",
    "chains",
)
NOT_MADE = ("findings", "fences")
"""Vectors of engines, and of what a model is shown: the verifier in Go has no engine and lays out no request."""
RECOMPUTED = ("gate", "charges", "money")
FAILED = 1
Files = dict[str, bytes]
Go = Callable[..., tuple[int, str]]


def key_of(name: str) -> str:
    return (BUNDLES / name).read_text().strip()


@pytest.fixture(scope="session")
def go(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Go:
    """Calls the verifier in Go, and gives its exit code and what it said; it is built when its sources changed."""
    sources = {path.name: path.read_bytes() for path in [*sorted(SOURCES.glob("*.go")), SOURCES / "go.mod"]}
    verifier = program(request, tmp_path_factory.mktemp("go"), sources)

    def ask(*args: str | Path) -> tuple[int, str]:
        done = subprocess.run([verifier, *args], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return ask


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The JSON Schemas of a recorded bundle, as somebody has them who trusts that bundle."""
    folder = tmp_path_factory.mktemp("schemas")
    with zipfile.ZipFile(BUNDLES / "declined.zip") as archive:
        for name in archive.namelist():
            if name.startswith("schema/"):
                (folder / Path(name).name).write_bytes(archive.read(name))
    return folder


def test_every_vector_ends_as_it_says(go: Go) -> None:
    code, said = go("vectors", ROOT / "docs" / "format" / "vectors")
    read = [path for path in (ROOT / "docs" / "format" / "vectors").glob("*.json") if path.stem not in NOT_MADE]
    cases = sum(len(json.loads(path.read_text())) for path in read)
    assert (code, said) == (0, f"{cases} cases, 0 disagree\n")


def test_a_vector_that_ends_otherwise_is_named(go: Go, tmp_path: Path) -> None:
    """The comparison can fail: a proof that holds is said to hold not."""
    folder = tmp_path / "vectors"
    shutil.copytree(ROOT / "docs" / "format" / "vectors", folder)
    cases = json.loads((folder / "proofs.json").read_text())
    cases[0]["holds"] = False
    (folder / "proofs.json").write_text(json.dumps(cases))
    code, said = go("vectors", folder)
    assert code == FAILED
    assert said.startswith("proofs.json: case 0: ")


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_every_recorded_bundle_holds(go: Go, schemas: Path, path: Path) -> None:
    seen = path.stem in WITNESSED
    witness = ("--witness", key_of("witness.vkey")) if seen else ("--quorum", "0")
    code, said = go("verify", path, "--key", key_of("log.vkey"), *witness, "--schemas", schemas, "--recompute")
    lines = [line.split() for line in said.splitlines()]
    assert [line[0] for line in lines] == [*INTEGRITY[:-1], *RECOMPUTED]
    assert [line for line in lines if line[1] != "OK"] == []
    assert code == 0


def test_a_file_whose_witness_or_signer_is_unknown_is_not_taken(go: Go) -> None:
    path = BUNDLES / "declined.zip"
    code, said = go("verify", path, "--key", key_of("log.vkey"))
    assert code == 4
    assert "no witness is pinned" in said
    code, said = go("verify", path, "--key", LOG_KEY.public.encode(), "--quorum", "0")
    assert code == FAILED
    assert "no pinned key" in said


# -- edits of the bytes of a recorded bundle: (name, bundle, what is made of its files)

Edit = Callable[[Files], bytes | None]


def put(name: str, change: Callable[[bytes], bytes]) -> Edit:
    """Another content of a file; the manifest follows."""
    return lambda files: files.update({name: change(files.get(name, b""))})


def replaced(name: str, old: bytes, new: bytes) -> Edit:
    return put(name, lambda content: content.replace(old, new, 1))


def without(name: str) -> Edit:
    return lambda files: files.pop(name) and None


def manifest(**changes: object) -> Edit:
    return lambda files: packed(files, **changes)


def raw_manifest(change: Callable[[bytes], bytes]) -> Edit:
    return lambda files: zipped({**files, "manifest.json": change(files["manifest.json"])})


def lines(change: Callable[[bytes], bytes]) -> Edit:
    """The same change in the checkpoint and in all proofs."""

    def edit(files: Files) -> None:
        for name in files:
            if name.startswith(("checkpoints/", "proofs/")):
                files[name] = change(files[name])

    return edit


def index(change: Callable[[list[Any]], object]) -> Edit:
    def edit(content: bytes) -> bytes:
        listed = json.loads(content)
        change(listed)
        return indented(listed)

    return put("documents/index.json", edit)


def swapped(files: Files) -> None:
    one, two = "proofs/0000.tlog-proof", "proofs/0001.tlog-proof"
    files[one], files[two] = files[two], files[one]


def last_again(note: bytes) -> bytes:
    return note + note.splitlines(keepends=True)[-1]


STRANGER = f"\u2014 stranger.example {'A' * 91}=\n"

DECLINED: dict[str, Edit] = {
    "leaf": replaced("records/0001.leaf.json", b'"n":1', b'"n":2'),
    "payload": replaced("records/0001.payload.json", b"worthIt", b"worthit"),
    "salt with a newline": put("records/0001.salt", lambda salt: salt + b"\n"),
    "salt in capitals": put("records/0001.salt", bytes.upper),
    "salt": put("records/0001.salt", lambda _: b"0" * 64),
    "proof with extra": replaced("proofs/0001.tlog-proof", b"\nindex", b"\nextra AAAA\nindex"),
    "proof with a leading zero": replaced("proofs/0001.tlog-proof", b"index ", b"index 0"),
    "proof with a longer path": replaced("proofs/0001.tlog-proof", b"\n\n", b"\n" + b"A" * 43 + b"=\n\n"),
    "proofs swapped": swapped,
    "proof with another checkpoint": put("proofs/0001.tlog-proof", last_again),
    "checkpoint of another size": lines(lambda note: note.replace(b"\n163\n", b"\n164\n")),
    "checkpoint with a fourth line": lines(lambda note: note.replace(b"\n\n\xe2", b"\nmore\n\n\xe2")),
    "a stranger's line": lines(lambda note: note + STRANGER.encode()),
    "two lines of one key": lines(last_again),
    "document": put("documents/0001.txt", lambda text: text + b" "),
    "index of another title": index(lambda listed: listed[0].update(title="another")),
    "index out of order": index(lambda listed: listed.reverse()),
    "index that lacks one": index(lambda listed: listed.pop()),
    "index that says more": index(lambda listed: listed[0].update(more="1")),
    "index in another spelling": put("documents/index.json", lambda content: compact(json.loads(content))),
    "context": replaced("context.json", b'"high"', b'"low"'),
    "salt of the context": put("context.salt", bytes.upper),
    "policy": put("policy.json", lambda content: content + b"\n"),
    "no policy": without("policy.json"),
    "no document": without("documents/0002.txt"),
    "no context": without("context.json"),
    "no schema": without("schema/leaf.v1.json"),
    "another schema": put("schema/leaf.v3.json", lambda _: b"{}"),
    "a record too many": put("records/0002.salt", lambda _: b"0" * 64),
    "a file too many": put("extra.txt", lambda _: b"x"),
    "an opening too many": put("heads/0001.leaf.json", lambda _: b"{}"),
    "an approval of nothing": put("approval.txt", lambda _: b"x"),
    "words": put("README.txt", lambda _: b"other words"),
    "manifest of another tenant": manifest(tenant="other"),
    "manifest of another log": manifest(logs=["localhost/default/2"]),
    "manifest of another format": manifest(format="gainsay-bundle/3"),
    "manifest of more records": manifest(records=3),
    "manifest that says more": manifest(more=1),
    "manifest in another spelling": raw_manifest(lambda content: compact(json.loads(content))),
    "manifest with another hash": raw_manifest(lambda content: content.replace(b'": "b7', b'": "a7', 1)),
    "manifest with a member twice": raw_manifest(lambda content: content.replace(b"{\n", b'{\n  "debate": "x",\n', 1)),
    "a name of a device": put("schema/con.json", lambda _: b"{}"),
    "a name of another case": put("readme.txt", lambda _: b"{}"),
    "a name that is no path": put("a//b", lambda _: b"{}"),
}
APPROVED: dict[str, Edit] = {
    "a prompt": put("prompts/house.v2.md", lambda text: text + b" "),
    "a prompt too many": put("prompts/more.md", lambda _: b"x"),
    "the prompts' manifest": put("prompts/manifest.json", lambda content: content + b"\n"),
    "configuration": put("configuration.json", lambda content: content + b"\n"),
    "no configuration": without("configuration.json"),
    "approval": replaced("approval.txt", b"06Z", b"07Z"),
    "no approval": without("approval.txt"),
}


def apart(name: str, edit: Edit) -> bytes:
    files = Recorded(name).files
    return edit(files) or packed(files)


@pytest.mark.parametrize("name", DECLINED)
def test_an_edit_ends_alike(go: Go, schemas: Path, tmp_path: Path, name: str) -> None:
    alike(go, schemas, tmp_path, apart("declined.zip", DECLINED[name]), key_of("log.vkey"))


@pytest.mark.parametrize("name", APPROVED)
def test_an_edit_of_a_debate_ends_alike(go: Go, schemas: Path, tmp_path: Path, name: str) -> None:
    alike(go, schemas, tmp_path, apart("approved.zip", APPROVED[name]), key_of("log.vkey"))


@pytest.mark.parametrize("seed", range(12))
def test_bits_of_the_archive_end_alike(go: Go, schemas: Path, tmp_path: Path, seed: int) -> None:
    """One bit of the headers of a member, of the list or of the end, or of any byte."""
    rng, data = random.Random(seed), bytearray((BUNDLES / "declined.zip").read_bytes())
    (start,) = struct.unpack_from("<I", data, len(data) - 6)
    low, high = [(0, 30), (start, start + 46), (len(data) - 22, len(data)), (0, len(data))][seed % 4]
    data[rng.randrange(low, high)] ^= 1 << rng.randrange(8)
    alike(go, schemas, tmp_path, bytes(data), key_of("log.vkey"))


# -- edits under a seal: the log's key signed what was changed


@pytest.fixture(scope="module")
def rotated() -> Original:
    """A declined case in a tenant's third log."""
    return originals({"rotated": Draft.of(unpack((BUNDLES / "rotated-declined.zip").read_bytes()))})["rotated"]


@pytest.mark.parametrize("seed", range(16))
def test_an_edit_of_what_opened_a_log_ends_alike(
    go: Go, schemas: Path, tmp_path: Path, rotated: Original, seed: int
) -> None:
    rng = random.Random(seed)
    names = [name for name in rotated.places if name.startswith(("log.opened.", "opened."))]
    edited = openings(rotated, rng) if seed % 2 else None
    while edited is None:  # a value that no type holds cannot be sealed
        edited = member(rotated, rng, rng.choice(names))
    draft = edited.draft
    data = pack(draft.bundle(draft.tree(witnesses=())))
    alike(go, schemas, tmp_path, data, LOG_KEY.public.encode())


def leaf(number: int, **changes: object) -> Callable[[Recorded], Files]:
    """Other members of a leaf, or of all of them where the number is below 0."""

    def spoil(n: int, content: Leaf) -> None:
        if number in (n, -1):
            content.update(changes)

    return lambda bundle: bundle.seal(leaf=spoil)


def spelt(change: Callable[[bytes], bytes]) -> Callable[[Recorded], Files]:
    """The payload of record 1 in another spelling."""
    return lambda bundle: bundle.seal(payload=lambda n, content: change(content) if n == 1 else content)


def tempered(spelling: bytes) -> Callable[[Recorded], Files]:
    """A seat of a vendor's model with a temperature, a number that is no integer, in some spelling."""

    def edit(bundle: Recorded) -> Files:
        bundle.payloads[2]["seats"][0]["parameters"] = {"temperature": 0.2}
        return bundle.seal(payload=lambda _, content: content.replace(b":0.2}", b":" + spelling + b"}"))

    return edit


def said(number: int, *path: str, to: object) -> Callable[[Recorded], Files]:
    """Another value of a member of a payload."""

    def edit(bundle: Recorded) -> Files:
        *outer, name = path
        place = bundle.payloads[number]
        for part in outer:
            place = place[part]
        place[name] = to
        return bundle.seal()

    return edit


def context(**changes: object) -> Callable[[Recorded], Files]:
    def edit(bundle: Recorded) -> Files:
        bundle.files["context.json"] = compact(json.loads(bundle.files["context.json"]) | changes)
        return bundle.seal()

    return edit


def only(*numbers: int) -> Callable[[Recorded], Files]:
    return lambda bundle: bundle.only(*numbers).seal()


SEALED: dict[str, tuple[str, Callable[[Recorded], Files]]] = {
    "nothing": ("declined.zip", leaf(0)),
    "another version of the leaf": ("declined.zip", leaf(1, v=3)),
    "another version of the payload": ("declined.zip", leaf(1, schema=2)),
    "a member too many": ("declined.zip", leaf(1, more=1)),
    "a day of no calendar": ("declined.zip", leaf(1, occurred="2026-02-30T00:00:00Z")),
    "an id in capitals": ("declined.zip", leaf(1, debate="01A2082C-8779-7C59-AB14-F832EF942AB4")),
    "another debate": ("declined.zip", leaf(1, debate="01a2082c-8779-7c59-ab14-f832ef942ab5")),
    "another tenant": ("declined.zip", leaf(1, tenant="other")),
    "another policy": ("declined.zip", leaf(-1, policy="a" * 64)),
    "a policy that changes": ("declined.zip", leaf(1, policy="a" * 64)),
    "no context in one leaf": ("declined.zip", leaf(1, context="")),
    "another kind": ("declined.zip", leaf(1, kind="turn.spoke")),
    "another number": ("declined.zip", leaf(1, n=2)),
    "another record before": ("declined.zip", leaf(1, prev="a" * 64)),
    "a payload with spaces": ("declined.zip", spelt(lambda content: content.replace(b":", b": ", 1))),
    "a payload with an escape": ("declined.zip", spelt(lambda content: content.replace(b"worthIt", b"worthI\\u0074"))),
    "a payload that says more": ("declined.zip", said(1, "more", to=1)),
    "a payload of another type": ("declined.zip", said(1, "decision", "factor", to="x")),
    "another hash of the policy": ("declined.zip", said(1, "decision", "policyHash", to="a" * 64)),
    "a later version of the schemas": ("declined.zip", said(1, "versions", "schemas", to="schemas/9")),
    "a debate without its records": ("declined.zip", said(1, "decision", "debate", to=True)),
    "another context than the case's": ("declined.zip", context(useCase="other")),
    "a later version of the context": ("declined.zip", context(v=2)),
    "the case alone": ("declined.zip", only(0)),
    "a debate without its end": ("approved.zip", only(*range(24))),
    "a debate without its start": ("approved.zip", only(0, 1, *range(3, 25))),
    "a declined case that goes on": ("approved.zip", said(1, "decision", "debate", to=False)),
    "another price": ("approved.zip", said(2, "priceHash", to="a" * 64)),
    "another build": ("approved.zip", said(2, "buildHash", to="a" * 64)),
    "another pin": ("approved.zip", said(2, "pins", "critic", to="v9:" + "a" * 64)),
    "a temperature": ("approved.zip", tempered(b"0.2")),
    "a temperature with a zero": ("approved.zip", tempered(b"0.20")),
    "a temperature with an exponent": ("approved.zip", tempered(b"2e-1")),
    "another approver": ("approved.zip", said(2, "approvedBy", to="other.example")),
}


@pytest.mark.parametrize("name", SEALED)
def test_an_edit_under_a_seal_ends_alike(go: Go, schemas: Path, tmp_path: Path, name: str) -> None:
    bundle, edit = SEALED[name]
    alike(go, schemas, tmp_path, packed(edit(Recorded(bundle))), LOG_KEY.public.encode())


# -- what was decided, reserved, charged and spent, computed again


def nth(kind: str, *path: str | int, to: Callable[[Any], object], at: int = 0) -> Callable[[Recorded], Files]:
    """Another value of a member of the nth payload of a kind."""

    def edit(bundle: Recorded) -> Files:
        *outer, name = path
        place = [body for body in bundle.payloads if body["kind"] == kind][at]
        for part in outer:
            place = place[part]
        place[name] = to(place[name])
        return bundle.seal()

    return edit


def declared(**changes: object) -> Callable[[Recorded], Files]:
    """What the case says besides its question."""

    def edit(bundle: Recorded) -> Files:
        bundle.payloads[0]["case"].update(changes)
        return bundle.seal()

    return edit


def more(value: int) -> int:
    return value + 1


COMPUTED: dict[str, tuple[str, str, Callable[[Recorded], Files]]] = {
    "a rule that holds": (
        "gate",
        "declined.zip",
        nth("gate.decided", "decision", "rules", 5, "holds", to=lambda _: True),
    ),
    "another rule decided": ("gate", "declined.zip", nth("gate.decided", "decision", "decidedBy", to=lambda _: "risk")),
    "another factor": ("gate", "declined.zip", nth("gate.decided", "decision", "factor", to=more)),
    "a matter that is not contested": ("gate", "declined.zip", declared(contested=False)),
    "a case that was forced": ("gate", "declined.zip", declared(force={"debate": True, "reason": "The board asks."})),
    "another cost expected": ("gate", "approved.zip", nth("debate.started", "expectedBySeat", "critic", to=more)),
    "another sum expected": ("gate", "approved.zip", nth("debate.started", "expectedCost", to=more)),
    "another reservation": ("charges", "approved.zip", nth("turn.asked", "held", to=more)),
    "another request's tokens": ("charges", "approved.zip", nth("turn.asked", "inputTokens", to=lambda n: n + 9_000)),
    "another charge": ("charges", "approved.zip", nth("turn.spoke", "charge", "amount", to=more, at=3)),
    "a charge by reservation": (
        "charges",
        "approved.zip",
        nth("turn.spoke", "charge", "basis", to=lambda _: "reserved"),
    ),
    "another usage": ("charges", "approved.zip", nth("turn.spoke", "usage", "output_tokens", to=lambda n: n + 9_000)),
    "a usage below the floor": ("charges", "approved.zip", nth("turn.spoke", "usage", "output_tokens", to=lambda _: 0)),
    "a usage that is none": ("charges", "approved.zip", nth("turn.spoke", "usage", "input_tokens", to=lambda _: -1)),
    "a dearer row": (
        "gate",
        "approved.zip",
        nth("debate.started", "seats", 0, "price", "output", to=lambda n: 9 * n),
    ),
    "a larger floor": ("charges", "approved.zip", nth("debate.started", "usageFloorPerMille", to=lambda _: 100_000)),
    "a ceiling below what was held": ("money", "approved.zip", nth("debate.started", "ceiling", to=lambda _: 20_000)),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_what_is_computed_again_ends_alike(go: Go, schemas: Path, tmp_path: Path, name: str) -> None:
    """An edit under a seal of what the gate, the prices or the ceiling lead to fails in the same step of both."""
    due, bundle, edit = COMPUTED[name]
    path, key = tmp_path / "bundle.zip", LOG_KEY.public.encode()
    path.write_bytes(packed(edit(Recorded(bundle))))
    _, found = go("verify", path, "--key", key, "--quorum", "0", "--schemas", schemas, "--recompute")
    ours = our_steps(["audit", "verify", str(path), "--json", "--all", "--key", key])
    failed = [one["name"] for one in ours if one["state"] == "FAILED" and one["name"] in (*INTEGRITY, *RECOMPUTED)]
    assert (failed[0], found.splitlines()[-1].split()[:2]) == (due, [due, "FAILED"])


EXPORTED: dict[str, Callable[[list[Any]], object]] = {
    "nothing": lambda _: None,
    "another size": lambda lines: lines[0].update(size=3),
    "another log": lambda lines: lines[0].update(log="localhost/default/2"),
    "a filter": lambda lines: lines[0].update(filters={"taskType": "contract"}),
    "another format": lambda lines: lines[0].update(format="gainsay-export/2"),
    "no path where one is due": lambda lines: lines[0].update(complete=False),
    "a path where none is due": lambda lines: lines[1].update(path=[]),
    "another index": lambda lines: lines[2].update(index=2),
    "a member too many": lambda lines: lines[1].update(more=1),
    "another payload": lambda lines: lines[2].update(payload=lines[2]["payload"] + " "),
    "no payload": lambda lines: lines[2].update(payload=None, salt=None),
    "no context": lambda lines: lines[2].update(context=None, contextSalt=None),
    "a salt in capitals": lambda lines: lines[2].update(salt=lines[2]["salt"].upper()),
    "another count": lambda lines: lines[-1].update(records=3),
    "no last line": lambda lines: lines.pop(),
    "a line behind the last": lambda lines: lines.append(lines[-1]),
    "a record twice": lambda lines: lines.insert(2, lines[1]),
}


BACKWARDS: dict[str, Callable[[Recorded], Files]] = {
    "written before it occurred": leaf(1, occurred="2036-01-01T00:00:00Z"),
    "an id of another millisecond": leaf(-1, debate="01a2082c-8779-7c59-ab14-f832ef942ab4"),
    "a time before that of the record before": leaf(
        1, occurred="2001-01-01T00:00:00Z", recorded="2001-01-01T00:00:00Z"
    ),
}


@pytest.mark.parametrize("name", BACKWARDS)
def test_an_export_whose_times_run_backwards_ends_alike(go: Go, schemas: Path, tmp_path: Path, name: str) -> None:
    bundle = Recorded("declined.zip")
    key = LOG_KEY.public.encode()
    alike(go, schemas, tmp_path, packed(BACKWARDS[name](bundle)), key)
    data = exported(bundle, seal=BACKWARDS[name])
    alike(go, schemas, tmp_path, data, key)
    assert "chains     FAILED" in go("verify", tmp_path / "bundle.zip", "--key", key, "--quorum", "0")[1]


@pytest.mark.parametrize("spelling", ["escaped", "as it is"])
def test_unseen_characters_of_an_export_have_one_spelling(go: Go, schemas: Path, tmp_path: Path, spelling: str) -> None:
    some = (chr(c) for c in (0x9B, 0x202E, *range(0x7F, 0x10000), *range(0x10000, 0x110000, 251)))
    unseen = "".join(c for c in some if re.match(f"[{PATTERN}]", c))
    asked = re.compile(rb'(?<="question":")')
    question = unseen.encode("utf-8", "ignore")

    def ask(n: int, payload: bytes) -> bytes:
        return payload if n else asked.sub(question, payload)

    data = exported(Recorded("declined.zip"), seal=lambda bundle: bundle.seal(payload=ask))
    assert rb"\u202e" in data
    if spelling == "as it is":
        data = data.replace(b"\\u202e", "\u202e".encode()).replace(b"\\u009b", "\x9b".encode())

    alike(go, schemas, tmp_path, data, LOG_KEY.public.encode())


@pytest.mark.parametrize("name", EXPORTED)
def test_an_edit_of_an_export_ends_alike(go: Go, schemas: Path, tmp_path: Path, name: str) -> None:
    data = exported(Recorded("declined.zip"), EXPORTED[name])
    alike(go, schemas, tmp_path, data, LOG_KEY.public.encode())


# -- records and heads that other times are given, by whoever has the keys of log and witnesses

DAY = 86_400
HOUR_OFF = Accuracy(seconds=3_600, millis=None, micros=None)


def dated(seconds: float) -> Callable[[Draft], tuple[Draft, Tree]]:
    """All records and the id so much later, and the heads of the log as they were countersigned."""
    return lambda draft: (moved(draft, seconds), moved(draft, seconds).tree(witnesses=WITNESSES, seconds=draft.seconds))


def countersigned(**made: Callable[[Tree, int, int], bytes | None]) -> Callable[[Draft], tuple[Draft, Tree]]:
    """Other earlier heads, made of the log, and of the seconds at which the debate began and ended."""

    def forge(draft: Draft) -> tuple[Draft, Tree]:
        whole = draft.tree(witnesses=WITNESSES)
        own = {f"times/{name}.txt": make(whole, *draft.seconds) for name, make in made.items()}
        times = {name: body for name, body in {**whole.times, **own}.items() if body is not None}
        return draft, whole._replace(times=times)

    return forge


def head_of(
    size: int, began: int = 0, ended: int | None = None, witnesses: Sequence[SigningKey] = WITNESSES
) -> Callable[[Tree, int, int], bytes]:
    """A head of this size, countersigned so many seconds after the debate began, or after it ended."""
    return lambda whole, first, last: earlier(
        whole, size, LOG_KEY, witnesses, first + began if ended is None else last + ended
    )


def apart_in_time(whole: Tree, first: int, last: int) -> bytes:
    """The head with all of the debate, which each witness signed at another time."""
    head = earlier(whole, WHOLE_DEBATE, LOG_KEY, (), 0)
    checkpoint = parse_earlier_head(head).checkpoint
    parts = parse_checkpoint(parse_note(checkpoint).text)
    lines = [cosign(parts, last + 4_000 * n, witness) for n, witness in enumerate(WITNESSES)]
    return head.replace(checkpoint, add_lines(checkpoint, lines))


Dated = tuple[str, int, Callable[[Draft], tuple[Draft, Tree]]]
OK, LOOSE, LIES = "OK", "NOT CHECKABLE", "FAILED"
WHOLE_DEBATE = BEFORE_IT + 2
DATED: dict[str, Dated] = {
    "as it was": (OK, 3, dated(0)),
    "dated back by years": (LIES, 2, dated(-200 * DAY)),
    "dated back by the tolerance": (OK, 2, dated(-6)),
    "dated back by more": (LIES, 2, dated(-9)),
    "dated ahead by days": (LIES, 2, dated(10 * DAY)),
    "dated ahead by the tolerance": (OK, 2, dated(7)),
    "dated ahead by more": (LIES, 2, dated(9)),
    "no head before": (LOOSE, 2, countersigned(before=lambda *_: None)),
    "no head after": (LIES, 2, countersigned(first=lambda *_: None)),
    "a head before that has a record": (LIES, 2, countersigned(before=head_of(BEFORE_IT + 1))),
    "a head after that lacks a record": (LIES, 2, countersigned(first=head_of(BEFORE_IT + 1, ended=1))),
    "a head before that is signed after": (LIES, 2, countersigned(before=head_of(BEFORE_IT, began=DAY))),
    "a head before that no witness signed": (LOOSE, 2, countersigned(before=head_of(BEFORE_IT, witnesses=()))),
    "a head after that no witness signed": (
        LOOSE,
        2,
        countersigned(first=head_of(WHOLE_DEBATE, ended=1, witnesses=())),
    ),
    "a head after that one of two signed": (LOOSE, 2, countersigned(first=head_of(WHOLE_DEBATE, 0, 1, WITNESSES[:1]))),
    "a head after that the one signed": (OK, 1, countersigned(first=head_of(WHOLE_DEBATE, 0, 1, WITNESSES[:1]))),
    "a head after, signed within the hour": (OK, 2, countersigned(first=head_of(WHOLE_DEBATE, ended=3_600))),
    "a head after, signed behind the hour": (LOOSE, 2, countersigned(first=head_of(WHOLE_DEBATE, ended=3_601))),
    "the first of three times": (OK, 1, countersigned(first=apart_in_time)),
    "the second of three times": (LOOSE, 2, countersigned(first=apart_in_time)),
}
"""What the step says, how many of three witnesses have to agree, and what is made of records and heads."""


@pytest.mark.parametrize("name", DATED)
def test_signed_times_end_alike(go: Go, schemas: Path, tmp_path: Path, name: str) -> None:
    """All three witnesses are pinned; the tolerance is 6 seconds, of which the policy says 5."""
    state, quorum, forge = DATED[name]
    draft, whole = forge(Draft.of(unpack((BUNDLES / "declined.zip").read_bytes())))
    pinned = [word for key in WITNESSES for word in ("--witness", key.public.encode())]
    trust = [*pinned, "--quorum", str(quorum)]
    assert both(go, schemas, tmp_path, pack(draft.bundle(whole)), LOG_KEY.public.encode(), trust) == (state, state)


STAMPED: dict[str, tuple[str, Callable[[Draft], Bundle]]] = {
    "within": (OK, stamped),
    "first by an hour": (OK, lambda draft: stamped(draft, first=3_600)),
    "first by more": (LOOSE, lambda draft: stamped(draft, first=3_601)),
    "no head before": (LOOSE, lambda draft: stamped(draft, before=None)),
    "no head after": (LOOSE, lambda draft: stamped(draft, first=None)),
    "before the debate by the tolerance": (OK, lambda draft: stamped(draft, before=5)),
    "a head before that is stamped after": (LIES, lambda draft: stamped(draft, before=DAY)),
    "an accuracy that hides that": (LOOSE, lambda draft: stamped(draft, before=9, accuracy=HOUR_OFF)),
}
"""What the step says where an authority alone is pinned, and what is stamped when."""


@pytest.mark.parametrize("name", STAMPED)
def test_stamped_times_end_alike(go: Go, schemas: Path, tmp_path: Path, name: str) -> None:
    """No witness is pinned. Without the authority's certificate the stamps are listed as lines that nothing checked."""
    state, make = STAMPED[name]
    bundle = make(Draft.of(unpack((BUNDLES / "declined.zip").read_bytes())))
    pem = tmp_path / "stamps.pem"
    pem.write_text(AUTHORITY)
    key = LOG_KEY.public.encode()

    assert both(go, schemas, tmp_path, pack(bundle), key, ["--tsa", str(pem)]) == (state, state)
    _, said = go("verify", tmp_path / "bundle.zip", "--key", key, "--schemas", schemas)
    assert "lines      NOT CHECKABLE" in said


def test_two_keys_of_one_witness_count_once(go: Go, schemas: Path, tmp_path: Path) -> None:
    """A witness that rotated its key signed with both, and another one is asked for as well."""
    first, other = WITNESSES[0], WITNESSES[1]
    rotated = SigningKey.from_seed(first.public.name, bytes([99]) * 32, first.public.algorithm)
    draft = Draft.of(unpack((BUNDLES / "declined.zip").read_bytes()))
    data = pack(draft.bundle(draft.tree(witnesses=(first, rotated))))
    path = tmp_path / "bundle.zip"
    path.write_bytes(data)
    pinned = (first.public, rotated.public, other.public)
    trust = Trust(keys=(LOG_KEY.public,), witnesses=pinned, quorum=2)
    given = ["--key", LOG_KEY.public.encode(), "--schemas", str(schemas)]
    given += [word for key in pinned for word in ("--witness", key.encode())]

    assert [step.name for step in verify_bundle(data, trust, tools()).failed] == ["witnesses"]
    assert "witnesses  FAILED  1 of 2" in go("verify", path, *given, "--quorum", "2")[1]
    assert "witnesses  OK" in go("verify", path, *given, "--quorum", "1")[1]
    assert "as many --witness as --quorum" in go("verify", path, *given[:-2], "--quorum", "2")[1]


def both(go: Go, schemas: Path, folder: Path, data: bytes, key: str, trust: Sequence[str]) -> tuple[str, str]:
    """How the step `times` ends in both verifiers."""
    path = folder / "bundle.zip"
    path.write_bytes(data)
    _, said = go("verify", path, "--key", key, *trust, "--schemas", schemas)
    theirs = next(line.split(maxsplit=1)[1] for line in said.splitlines() if line.startswith("times "))
    ours = next(
        one
        for one in our_steps(["audit", "verify", str(path), "--json", "--key", key, *trust])
        if one["name"] == "times"
    )
    return str(ours["state"]), theirs.split("  ")[0].strip()


def alike(go: Go, schemas: Path, folder: Path, data: bytes, key: str) -> None:
    """Both verifiers find the same first step that fails, or none of them finds one."""
    path = folder / "bundle.zip"
    path.write_bytes(data)
    code, said = go("verify", path, "--key", key, "--quorum", "0", "--schemas", schemas)
    ours = our_failure(["audit", "verify", str(path), "--json", "--allow-unwitnessed", "--key", key])
    assert (code == FAILED, code in (0, 4)) == (ours is not None, ours is None), (ours, said)
    if ours is not None:
        assert said.splitlines()[-1].split()[:2] == [ours, "FAILED"]


def our_failure(args: Sequence[str]) -> str | None:
    """The step of integrity that ours fails at first."""
    failed = [step["name"] for step in our_steps(args) if step["state"] == "FAILED" and step["name"] in INTEGRITY]
    return failed[0] if failed else None


def our_steps(args: Sequence[str]) -> list[dict[str, Any]]:
    """The steps that ours carries out."""
    out = Path(args[2]).with_suffix(".json")
    with out.open("w") as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", file)
        main(list(args))
    steps: list[dict[str, Any]] = json.loads(out.read_text())["steps"]
    return steps
