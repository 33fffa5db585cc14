"""Write the vectors and schemas of docs/format anew: `python -m tests.vectors.format`.

Everything follows from fixed seeds, so the same code gives the same bytes. A change of these files is a change of the
format; the verifier in Go of the tests reads them, and was written from docs/format alone.
"""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256

from service.audit import archive
from service.audit.checkpoint import Checkpoint, add_lines, cosign, sign_checkpoint
from service.audit.export import Footer, Header, Row, encode_footer, encode_header, encode_row
from service.audit.note import COSIGNATURE, ED25519, PublicKey, SigningKey, sign_note
from service.audit.proof import TlogProof
from service.audit.record import Actor, Context, Link, RecordPlace, Times, Writer, commit, encode_context, seal
from service.audit.timestamp_forms import MESSAGE_DIGEST, SIGNING_CERTIFICATE, Accuracy
from service.audit.tree import consistency_path, inclusion_path, leaf_hash, root_of
from tests.fixtures.stamping import (
    ANOTHER_KEY,
    CERTIFICATE,
    a_token,
    with_digest_parameters,
    with_large_s,
)
from tests.vectors import published, recomputed, unseen

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "format" / "vectors"
LOG = "example.org/default/1"
KEY = SigningKey.from_seed("example.org", bytes(range(32)))
OTHER = SigningKey.from_seed("example.org", bytes(range(1, 33)))
WITNESS = SigningKey.from_seed("witness.example", bytes(range(2, 34)), COSIGNATURE)
STRANGER = SigningKey.from_seed("stranger.example", bytes(range(3, 35)))
COSIGNED_AT = 1_795_000_000
BEGAN_MS = 1_795_424_400_000  # 2026-11-23T09:00:00.000Z, which the id of the debate begins with
DEBATE = str(UUID(int=(BEGAN_MS << 80) | (7 << 76) | (2 << 62) | 7))
CONTEXT = encode_context(Context("contract", "6150000", None, "renewal", None, "high"))
LEAVES = [b"", b"\x00", b"leaf 2", *(b"leaf %d" % n for n in range(3, 11))]

Case = dict[str, Any]


def hashes() -> list[bytes]:
    """The hashes of the example's leaves."""
    return [leaf_hash(leaf) for leaf in LEAVES]


def _node(level: int, index: int) -> bytes:
    return root_of(hashes()[index << level : (index + 1) << level])


def _b64(data: bytes) -> str:
    return b64encode(data).decode()


def commitments() -> Iterator[Case]:
    """Salted hashes."""
    for content in (b"", b"a", "Geschäftsgeheimnis\n".encode()):
        salt = bytes(range(32))
        yield {"salt": salt.hex(), "content": _b64(content), "commitment": commit(salt, content)}


def strings() -> Iterator[Case]:
    """Strings and their one spelling in JSON; ``code`` lists the code points."""
    for text in ("", "plain", 'a "quoted" \\ text/', "\x00\x01\x08\t\n\x0b\x0c\r\x1f\x7f", "é\u2028😀", "<&>"):
        yield {"code": [ord(c) for c in text], "spelt": _b64(msgspec.json.encode(text))}


def numbers() -> Iterator[Case]:
    """Numbers that are no integers, as the bits of a double (big-endian, hex), and their one spelling in JSON."""
    for double in (0.0, -0.0, 0.1, 0.2, 1.0, 100.0, 0.1 + 0.2, 1e-5, 9.9e-6, 1e-6, 1.5e-7, 1e15, 1e16, 1.5e16, 5e-324):
        yield {"double": struct.pack(">d", double).hex(), "spelt": _b64(msgspec.json.encode(double))}
        yield {"double": struct.pack(">d", -double * 3).hex(), "spelt": _b64(msgspec.json.encode(-double * 3))}


def keys() -> Iterator[Case]:
    """Verifier keys, and texts that are none."""
    for key, type_ in ((KEY, ED25519), (WITNESS, COSIGNATURE)):
        text = key.public.encode()
        yield {
            "text": text,
            "name": key.public.name,
            "type": type_,
            "id": key.public.id.hex(),
            "public": key.public.public.hex(),
        }
        yield {"text": text.replace("+", "+0", 1), "refused": "an id of another length"}
        yield {"text": text[:-4] + "AAAA", "refused": "an id that is not that of the key"}
        yield (
            {"text": text.rstrip("="), "refused": "base64 without padding"}
            if text.endswith("=")
            else {"text": text + "=", "refused": "base64 with more padding"}
        )
    yield {"text": "name with spaces+00000000+AAAA", "refused": "a name with spaces"}


def _head(size: int) -> Checkpoint:
    return Checkpoint(LOG, size, root_of(hashes()[:size]))


def trees() -> Iterator[Case]:
    """Roots of the first leaves, inclusion and consistency."""
    for size in range(len(LEAVES) + 1):
        yield {"leaves": [_b64(leaf) for leaf in LEAVES[:size]], "root": root_of(hashes()[:size]).hex()}


def inclusions() -> Iterator[Case]:
    """Proofs of leaves, true and changed."""
    for size in (1, 2, 3, 7, 8, 11):
        for index in range(size):
            path = inclusion_path(index, size, _node)
            case = {"leaf": _b64(LEAVES[index]), "index": index, "size": size, "root": root_of(hashes()[:size]).hex()}
            yield {**case, "path": [p.hex() for p in path], "holds": True}
            yield {**case, "path": [p.hex() for p in path] + ["00" * 32], "holds": False}
            yield {**case, "index": index + 1, "path": [p.hex() for p in path], "holds": False}
            if path:
                yield {**case, "path": [p.hex() for p in path[:-1]], "holds": False}


def consistencies() -> Iterator[Case]:
    """Proofs that one tree begins with another."""
    for old in range(1, 12):
        for new in range(old, 12):
            path = [p.hex() for p in consistency_path(old, new, _node)]
            case = {
                "old": old,
                "new": new,
                "oldRoot": root_of(hashes()[:old]).hex(),
                "newRoot": root_of(hashes()[:new]).hex(),
            }
            yield {**case, "path": path, "holds": True}
            yield {**case, "path": [*path, "00" * 32], "holds": False}


def checkpoints() -> Iterator[Case]:
    """Signed checkpoints with pinned keys; ``times`` says which witness cosigned when."""
    head = _head(11)
    note = sign_checkpoint(head, KEY)
    seen = add_lines(note, [cosign(head, COSIGNED_AT, WITNESS)])
    pins = {"keys": [KEY.public.encode()], "witnesses": [WITNESS.public.encode()]}
    read = {"origin": LOG, "size": 11, "root": head.root.hex()}
    yield {"note": _b64(note), **pins, **read, "signed": True, "times": {}}
    yield {"note": _b64(seen), **pins, **read, "signed": True, "times": {WITNESS.public.name: COSIGNED_AT}}
    yield {"note": _b64(sign_checkpoint(head, STRANGER)), **pins, "refused": "no signature of a pinned key"}
    forged = seen.replace(b"\n11\n", b"\n12\n")
    yield {"note": _b64(forged), **pins, "refused": "a signature that is not of this text"}
    body = head.body()
    for text, why in (
        (body + "more\n", "a fourth line"),
        (body.replace("\n11\n", "\n011\n"), "a size with a leading zero"),
        (body.replace("=", ""), "a root in base64 without padding"),
        (body.replace("\n11\n", "\n9223372036854775808\n"), "a size above 2^63 - 1"),
    ):
        yield {"note": _b64(sign_note(text, KEY).encode()), **pins, "refused": why}
    yield {
        "note": _b64(note.replace("—".encode(), b"-")),
        **pins,
        "refused": "a line that does not begin with a long dash",
    }
    yield {"note": _b64(note[:-1]), **pins, "refused": "a line without its newline"}
    wrong = PublicKey("example.net", ED25519, KEY.public.public)
    yield {"note": _b64(note), "keys": [wrong.encode()], "witnesses": [], "refused": "a key of another host"}


def proofs() -> Iterator[Case]:
    """Files ``.tlog-proof``."""
    note = sign_checkpoint(_head(11), KEY)
    for index in (0, 5, 10):
        proof = TlogProof(index, tuple(inclusion_path(index, 11, _node)), note).encode()
        yield {
            "leaf": _b64(LEAVES[index]),
            "checkpoint": _b64(note),
            "proof": _b64(proof),
            "index": index,
            "holds": True,
        }
        yield {"leaf": _b64(LEAVES[index] + b"."), "checkpoint": _b64(note), "proof": _b64(proof), "holds": False}
        extra = proof.replace(b"\n", b"\nextra AAAA\n", 1)
        yield {"leaf": _b64(LEAVES[index]), "checkpoint": _b64(note), "proof": _b64(extra), "holds": False}


def archives() -> Iterator[Case]:
    """Archives, whole and edited."""
    good = archive.write([("manifest.json", b"{}\n"), ("README.txt", b"words"), ("a/b.txt", b"")])
    yield {
        "archive": _b64(good),
        "files": {"manifest.json": _b64(b"{}\n"), "README.txt": _b64(b"words"), "a/b.txt": ""},
    }
    for edited, why in (
        (b"x" + good, "a byte before"),
        (good + b"x", "a byte behind"),
        (good[:-1] + b"\x01", "a length of the comment that is not 0"),
        (good.replace(b"words", b"Words", 1), "content with another CRC-32"),
        (good[:8] + b"\x08" + good[9:], "a method that is not stored"),
        (good[:6] + b"\x08" + good[7:], "a flag"),
        (good[:10] + b"\x01" + good[11:], "a time"),
        (good.replace(b"a/b.txt", b"a/B.txt", 1), "two names of one file"),
        (good.replace(b"a/b.txt", b"a/../.x"), "a path that is none"),
        (good[:-22], "no end"),
    ):
        yield {"archive": _b64(edited), "refused": why}


def _record(n: int, prev: bytes, kind: str, payload: bytes) -> Any:
    place = RecordPlace(LOG, "default", DEBATE, policy="11" * 32, context=commit(bytes(32), CONTEXT))
    return seal(
        payload,
        bytes([n]) * 32,
        kind,
        place=place,
        writer=Writer(Actor("u1", "person", "operator", "keyboard"), "22" * 32),
        link=Link(n, prev),
        times=Times("2026-11-23T09:00:00.000Z", f"2026-11-23T09:00:00.00{n}Z"),
    )


def records() -> Iterator[Case]:
    """A chain of two leaves with payload and salt. The payloads are examples: only their kind is that of an entry."""
    prev = b""
    for n, kind in enumerate(("case.received", "debate.stopped")):
        payload = b'{"kind":"%s"}' % kind.encode()
        record = _record(n, prev, kind, payload)
        prev = record.leaf_hash
        yield {
            "leaf": _b64(record.leaf),
            "leafHash": record.leaf_hash.hex(),
            "payload": _b64(payload),
            "salt": record.salt.hex(),
        }


def exports() -> Iterator[Case]:
    """Exports of two records, complete and with paths, whole and edited."""
    one = _record(0, b"", "case.received", b'{"kind":"case.received"}')
    two = _record(1, one.leaf_hash, "debate.stopped", b'{"kind":"debate.stopped"}')
    leaves = [one.leaf_hash, two.leaf_hash]
    note = sign_checkpoint(Checkpoint(LOG, 2, root_of(leaves)), KEY).decode()
    for complete in (True, False):
        header = Header(
            log=LOG,
            key=KEY.public.encode(),
            size=2,
            checkpoint=note,
            filters={} if complete else {"status": "declined"},
            complete=complete,
        )
        lines = [encode_header(header)]
        for index, record in enumerate((one, two)):
            path = (
                None
                if complete
                else inclusion_path(index, 2, lambda level, at: root_of(leaves[at << level : (at + 1) << level]))
            )
            row = Row.of(
                index, record.leaf, payload=(record.salt, record.payload), context=(bytes(32), CONTEXT), path=path
            )
            lines.append(encode_row(row))
        lines.append(encode_footer(Footer(2)))
        pins = {"keys": [KEY.public.encode()]}
        yield {"lines": _b64(b"".join(lines)), **pins, "holds": True}
        yield {"lines": _b64(b"".join(lines[:-1])), **pins, "holds": False}
        yield {"lines": _b64(b"".join([*lines[:1], *lines[2:]])), **pins, "holds": False}
        yield {"lines": _b64(b"".join(lines).replace(b"operator", b"Operator", 1)), **pins, "holds": False}
        yield {
            "lines": _b64(b"".join(lines).replace(b'"kind\\":\\"debate', b'"kind\\": \\"debate', 1)),
            **pins,
            "holds": False,
        }


def stamps() -> Iterator[Case]:
    """Tokens of time stamps: what they say of a text, or why they are refused."""
    text, certificate = "example.org/default/1\n11\nrootrootroot\n", CERTIFICATE.fingerprint(SHA256()).hex()
    for seconds, accuracy in ((COSIGNED_AT, None), (COSIGNED_AT + 0.5, Accuracy(seconds=1, millis=1, micros=None))):
        found = a_token(text, seconds, info={"accuracy": accuracy})
        off = 3 if accuracy else 0
        yield {
            "text": text,
            "token": _b64(found),
            "certificate": certificate,
            "seconds": COSIGNED_AT,
            "accuracy": off,
        }
    token = a_token(text, COSIGNED_AT)
    for edited, why in (
        (token + b"\0", "a byte behind"),
        (token[:-1], "a byte less"),
        (a_token(text, COSIGNED_AT, info={"version": 2}), "a TSTInfo of another version"),
        (a_token(text + ".", COSIGNED_AT), "of another text"),
        (a_token(text, COSIGNED_AT, key=ANOTHER_KEY), "a signature by another key"),
        (a_token(text, COSIGNED_AT, attributes={SIGNING_CERTIFICATE: []}), "no signed hash of the certificate"),
        (a_token(text, COSIGNED_AT, attributes={MESSAGE_DIGEST: [b"\x04\x20" + bytes(32)]}), "another digest"),
        (a_token(text, 1_700_000_000), "a time before the certificate was valid"),
        (with_large_s(token), "the larger s"),
        (with_digest_parameters(token), "a digest with parameters"),
    ):
        yield {"text": text, "token": _b64(edited), "refused": why}


VECTORS = (
    commitments,
    strings,
    numbers,
    keys,
    trees,
    inclusions,
    consistencies,
    checkpoints,
    proofs,
    archives,
    records,
    exports,
    stamps,
    unseen.fences,
    *recomputed.VECTORS,
)


def files() -> Mapping[str, str]:
    """Every file of the folder by its name."""
    return {f"{make.__name__}.json": json.dumps(list(make()), indent=1, ensure_ascii=False) + "\n" for make in VECTORS}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, "utf-8")
    published.FOLDER.mkdir(exist_ok=True)
    for name, text in published.files().items():
        (published.FOLDER / name).write_text(text, "utf-8")
    published.EDITORS.mkdir(exist_ok=True)
    for name, text in published.editors().items():
        (published.EDITORS / name).write_text(text, "utf-8")
    print(f"{len(VECTORS)} files in {FOLDER.relative_to(FOLDER.parents[2])}")  # noqa: T201 - a command
