"""Bundles and exports of real debates, and a forger who seals again whatever was changed, with whichever key it has.

A `Draft` is everything that one debate left behind, as bytes. `bundle` puts it into a log with other records, signs the
head and packs it. A forger edits the bytes, calls `reseal`, which makes hashes, chain and commitments right again, and
signs with a key of its own, or with the log's: what is then found wrong is found by recomputing and by nothing else.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
import psycopg

from service.audit.bundle import (
    BLOCKS,
    PRESENT,
    Block,
    BlockName,
    Bundle,
    DocumentFile,
    Manifest,
    absent,
    digests,
    encode_index,
    pack,
)
from service.audit.checkpoint import Checkpoint, add_lines, cosign, sign_checkpoint
from service.audit.export import Footer, Header, Row, encode_footer, encode_header, encode_row
from service.audit.note import COSIGNATURE, SigningKey
from service.audit.proof import TlogProof
from service.audit.record import Envelope, commit, leaf_hash, open_leaf
from service.audit.tree import inclusion_path, root_of
from service.intake import Deployment
from service.policy import encode_policy
from service.verify.bundle import verify_opened
from service.verify.steps import Report, Tools, Trust
from tests.postgres import Database

LOG_KEY = SigningKey.from_seed("localhost", bytes([1]) * 32)
OTHER_KEY = SigningKey.from_seed("localhost", bytes([2]) * 32)
WITNESSES = tuple(SigningKey.from_seed(f"witness-{n}", bytes([10 + n]) * 32, COSIGNATURE) for n in range(3))
PINNED = Trust(keys=(LOG_KEY.public,), witnesses=(WITNESSES[0].public,))
TOOLS = Tools(lambda name: name == "bytes/4")
BEFORE, AFTER = 5, 3
"""How many records of others lie before and after a debate's own in its log."""

_sorted = msgspec.json.Encoder(order="sorted")
_encoder = msgspec.json.Encoder()


class Tree(NamedTuple):
    """A log: its leaves, and the signed note of its head."""

    leaves: list[bytes]
    checkpoint: Checkpoint
    note: bytes


@dataclass
class Draft:
    """What a debate left behind. ``documents`` are (id, title, text, salt); ``prompts`` are by path."""

    leaves: list[bytes]
    payloads: list[bytes]
    salts: list[bytes]
    context: tuple[bytes, bytes]
    documents: list[tuple[str, str, bytes, bytes]]
    prompts: dict[str, bytes]
    policy: bytes
    configuration: bytes
    status: str
    approval: bytes | None = None
    reasons: dict[BlockName, str] = field(default_factory=dict)

    @classmethod
    def read(cls, database: Database, debate: str, deployment: Deployment) -> Draft:
        """A debate as the database has it, with what its deployment ran by."""
        with psycopg.connect(database.admin_url) as connection:
            records = connection.execute(
                "SELECT e.leaf, p.body, p.salt FROM gainsay.entry e JOIN gainsay.payload p USING (debate, n) "
                "WHERE e.debate = %s ORDER BY e.n",
                (debate,),
            ).fetchall()
            stored = connection.execute("SELECT id, body, salt FROM gainsay.document WHERE debate = %s", (debate,))
            texts = {name: (bytes(body), bytes(salt)) for name, body, salt in stored}
            context = connection.execute("SELECT salt, body FROM gainsay.context WHERE debate = %s", (debate,))
            salt, body = context.fetchone() or (b"", b"")
        payloads = [bytes(payload) for _, payload, _ in records]
        case = msgspec.json.decode(payloads[0])["case"]
        last = msgspec.json.decode(payloads[-1])
        return cls(
            [bytes(leaf) for leaf, _, _ in records],
            payloads,
            [bytes(salt) for _, _, salt in records],
            (bytes(salt), bytes(body)),
            [(d["id"], d["title"], *texts[d["id"]]) for d in case["documents"]],
            {"manifest.json": deployment.prompts.manifest, **deployment.prompts.files()},
            encode_policy(deployment.policy),
            deployment.configuration,
            last["outcome"]["status"] if "outcome" in last else "declined",
        )

    def copy(self) -> Draft:
        """One to change."""
        return copy.deepcopy(self)

    # -- changing

    def entry(self, n: int) -> dict[str, Any]:
        """A payload as JSON."""
        found: dict[str, Any] = msgspec.json.decode(self.payloads[n])
        return found

    def find(self, kind: str, nth: int = 0) -> int:
        """The number of the nth record of a kind."""
        return [n for n in range(len(self.payloads)) if self.entry(n)["kind"] == kind][nth]

    def change(self, n: int, edit: Callable[[dict[str, Any]], object]) -> Draft:
        """The draft with a payload edited, and everything that seals it made right again."""
        changed, content = self.copy(), self.entry(n)
        edit(content)
        changed.payloads[n] = _sorted.encode(content)
        return changed.reseal()

    def reseal(self, edit: Callable[[int, dict[str, Any]], object] = lambda _n, _envelope: None) -> Draft:
        """Every leaf sealed anew over the payloads as they are; ``edit`` may change envelopes first."""
        prev = b""
        for n, payload in enumerate(self.payloads):
            content: dict[str, Any] = msgspec.json.decode(self.leaves[n])
            content.update(n=n, prev=prev.hex(), commitment=commit(self.salts[n], payload))
            content["kind"] = msgspec.json.decode(payload).get("kind", content["kind"])
            edit(n, content)
            self.leaves[n] = _encoder.encode(msgspec.convert(content, Envelope))
            prev = leaf_hash(self.leaves[n])
        return self

    def drop(self, n: int) -> Draft:
        """The draft without a record, sealed again."""
        changed = self.copy()
        for part in (changed.leaves, changed.payloads, changed.salts):
            del part[n]
        return changed.reseal()

    def swap(self, n: int, m: int) -> Draft:
        """The draft with two records in each other's places, sealed again."""
        changed = self.copy()
        for part in (changed.leaves, changed.payloads, changed.salts):
            part[n], part[m] = part[m], part[n]
        return changed.reseal()

    # -- packing

    @property
    def envelope(self) -> Envelope:
        """The first record's."""
        return open_leaf(self.leaves[0])

    def tree(self, key: SigningKey = LOG_KEY, witnesses: Sequence[SigningKey] = WITNESSES[:1]) -> Tree:
        """The debate's log: some records of others, its own, some more."""
        others = [f'{{"other":{n}}}'.encode() for n in range(BEFORE + AFTER)]
        return tree([*others[:BEFORE], *self.leaves, *others[BEFORE:]], self.envelope.log, key, witnesses)

    def files(self, tree: Tree) -> dict[str, bytes]:
        """All files but the manifest."""
        files: dict[str, bytes] = {"README.txt": b"A bundle.\n", "schema/leaf.v2.json": b"{}\n"}
        for n, (leaf, payload, salt) in enumerate(zip(self.leaves, self.payloads, self.salts, strict=True)):
            files[f"records/{n:04d}.leaf.json"] = leaf
            files[f"records/{n:04d}.payload.json"] = payload
            files[f"records/{n:04d}.salt"] = salt.hex().encode()
        if "context" not in self.reasons:
            files["context.salt"], files["context.json"] = self.context[0].hex().encode(), self.context[1]
        if "documents" not in self.reasons:
            files |= self._documents()
        if "prompts" not in self.reasons:
            files |= {f"prompts/{path}": content for path, content in self.prompts.items()}
        if "policy" not in self.reasons:
            files |= {"policy.json": self.policy}
        if "configuration" not in self.reasons and self.status != "declined":
            files |= {"configuration.json": self.configuration}
        if self.approval is not None:
            files["approval.txt"] = self.approval
        if "checkpoints" not in self.reasons:
            files |= proofs(tree, self.leaves) | {"checkpoints/0001.txt": tree.note}
        return files

    def bundle(self, tree: Tree | None = None, **changes: Any) -> Bundle:
        """The bundle of this draft; ``changes`` are of its manifest."""
        tree = tree or self.tree()
        files, envelope = self.files(tree), self.envelope
        firsts = {path.partition("/")[0].removesuffix(".txt").partition(".")[0] for path in files}
        blocks: dict[BlockName, Block] = {
            name: PRESENT if name in firsts else absent(self.reasons.get(name, "it has none")) for name in BLOCKS
        }
        parts: dict[str, Any] = {
            "debate": envelope.debate,
            "tenant": envelope.tenant,
            "status": self.status,
            "made": "2026-11-21T10:00:00.000Z",
            "build": "00" * 32,
            "records": len(self.leaves),
            "logs": (envelope.log,),
            "files": digests(files),
            "blocks": blocks,
        }
        return Bundle(files, Manifest(**{**parts, **changes}))

    def packed(self, **changes: Any) -> bytes:
        """The bundle as a ZIP."""
        return pack(self.bundle(**changes))

    def _documents(self) -> dict[str, bytes]:
        names = [f"documents/{i:04d}.txt" for i in range(1, len(self.documents) + 1)]
        listed = [
            DocumentFile(id_, title, name, salt.hex())
            for name, (id_, title, _, salt) in zip(names, self.documents, strict=True)
        ]
        texts = {name: text for name, (_, _, text, _) in zip(names, self.documents, strict=True)}
        return {"documents/index.json": encode_index(tuple(listed)), **texts}


def tree(leaves: list[bytes], log: str, key: SigningKey, witnesses: Sequence[SigningKey]) -> Tree:
    """A log of these leaves under a head that these keys sign."""
    checkpoint = Checkpoint(log, len(leaves), root_of(map(leaf_hash, leaves)))
    lines = [cosign(checkpoint, 1_795_000_000, witness) for witness in witnesses]
    return Tree(leaves, checkpoint, add_lines(sign_checkpoint(checkpoint, key), lines))


def proofs(tree: Tree, leaves: Sequence[bytes]) -> dict[str, bytes]:
    """The proof of each leaf, as the files of a bundle."""
    return {
        f"proofs/{n:04d}.tlog-proof": TlogProof(i, tuple(path(tree, i)), tree.note).encode()
        for n, leaf in enumerate(leaves)
        for i in [tree.leaves.index(leaf)]
    }


def path(tree: Tree, index: int) -> list[bytes]:
    """The path of a leaf to the root."""

    def node(level: int, at: int) -> bytes:
        width = 1 << level
        return root_of(map(leaf_hash, tree.leaves[at * width : (at + 1) * width]))

    return inclusion_path(index, len(tree.leaves), node)


def rehashed(bundle: Bundle, files: Mapping[str, bytes]) -> Bundle:
    """The bundle with other files, and the manifest's hashes made right again."""
    return Bundle(files, msgspec.structs.replace(bundle.manifest, files=digests(files)))


def verify(bundle: Bundle, trust: Trust = PINNED, tools: Tools = TOOLS) -> Report:
    """What the verifier says."""
    return verify_opened(bundle, trust, tools)


def failed(report: Report) -> list[str]:
    """The names of the steps that failed."""
    return [step.name for step in report.failed]


def uncheckable(report: Report) -> list[str]:
    """The names of the steps that could not be carried out, allowed or not."""
    return [step.name for step in report.steps if step.state == "NOT CHECKABLE"]


def export(
    drafts: Sequence[Draft], *, complete: bool = True, key: SigningKey = LOG_KEY, others: Sequence[Draft] = ()
) -> list[bytes]:
    """The lines of an export of these debates' records, interleaved; ``others`` lie in the log and are left out."""
    rows = interleaved([*drafts, *others])
    log = tree([leaf for _, leaf, _, _ in rows], drafts[0].envelope.log, key, WITNESSES[:1])
    header = Header(
        log=log.checkpoint.origin,
        key=key.public.encode(),
        size=log.checkpoint.size,
        checkpoint=log.note.decode(),
        filters={} if complete else {"taskType": "contract"},
        complete=complete,
    )
    lines = [encode_header(header)]
    for i, (draft, leaf, payload, salt) in enumerate(rows):
        if any(draft is kept for kept in drafts):
            proof = None if complete else path(log, i)
            row = Row.of(i, leaf, payload=(salt, payload), context=draft.context, path=proof)
            lines.append(encode_row(row))
    return [*lines, encode_footer(Footer(len(lines) - 1))]


def interleaved(drafts: Sequence[Draft]) -> list[tuple[Draft, bytes, bytes, bytes]]:
    """The records of several debates as a log might have them: one of each in turn."""
    found = []
    for n in range(max(len(draft.leaves) for draft in drafts)):
        found += [(d, d.leaves[n], d.payloads[n], d.salts[n]) for d in drafts if n < len(d.leaves)]
    return found


def sha(content: bytes) -> str:
    """SHA-256, hex."""
    return sha256(content).hexdigest()
