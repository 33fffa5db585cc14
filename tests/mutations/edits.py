"""Edits of a bundle that need no key, each drawn at random.

around     the ZIP itself: bytes flipped, cut, put in; headers, extra fields, comments, names
files      contents, names and numbers of files, with the manifest's hashes made right again
words      the manifest's own words and spelling
lines      lines of signatures below a checkpoint, the same in every proof
openings   the records that open the tenant's logs, and the checkpoints of earlier ones
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO
from random import Random
from typing import Any, NamedTuple

import msgspec

from service.audit import archive
from service.audit.bundle import MANIFEST, Bundle, Manifest, digests, encode_manifest, pack, unpack
from service.audit.note import Signature

WORDS = b"Approved by the board on 3 May. Confidence: HIGH.\n"
STRANGE = (
    *("approval.txt", "configuration.json", "prompts/board.md", "prompts/manifest.json", "schema/approved.json"),
    *("heads/0001.leaf.json", "heads/0099.payload.json", "heads/0099.salt", "heads/0003.leaf.json", "APPROVED.txt"),
    *("checkpoints/0002.txt", "checkpoints/0003.txt", "heads/0002.tlog-proof", "heads/0003.salt"),
    *("documents/0009.txt", "documents/index.json", "records/0099.leaf.json", "proofs/0099.tlog-proof", "report.txt"),
    *("times/before.txt", "times/first.txt", "times/last.txt", "issued/0099.leaf.json"),
    *("times/stamped-first.txt", "times/stamped-first.tst"),
)
LINE = "a line of signatures by another key below the checkpoint of the debate's log"
UNDATED = "times/before.txt left out"
UNSIGNED = "a witness's line left out of an earlier head"
UNISSUED = "issued left out"
"""A bundle without the records of issued PDFs is as one that was made before: no edit that could be seen."""
LISTED = {LINE: "lines", UNDATED: "times", UNSIGNED: "times"}
"""The edits that end with exit 4, as docs/verification.md has them, and at which step; every other one is FAILED."""


class Original(NamedTuple):
    """A recorded bundle, and others to take files from."""

    data: bytes
    bundle: Bundle
    files: dict[str, bytes]
    others: tuple[Mapping[str, bytes], ...]


class Edit(NamedTuple):
    """The edited bundle, and what was done in words."""

    data: bytes
    what: str


Draw = Callable[[Original, Random], Edit]


def opened(data: bytes, others: tuple[bytes, ...] = ()) -> Original:
    """A recorded bundle taken apart."""
    bundle = unpack(data)
    return Original(data, bundle, dict(bundle.files), tuple(dict(unpack(other).files) for other in others))


# Around the files.


def flip(one: Original, random: Random) -> Edit:
    """One byte anywhere."""
    at = random.randrange(len(one.data))
    changed = bytearray(one.data)
    changed[at] ^= random.randrange(1, 256)
    return Edit(bytes(changed), f"a byte flipped at {at}")


def cut(one: Original, random: Random) -> Edit:
    """The end or a piece cut out."""
    at, size = random.randrange(len(one.data)), random.choice((1, 2, 30, 1000, len(one.data)))
    return Edit(one.data[:at] + one.data[at + size :], f"{size} bytes cut at {at}")


def put_in(one: Original, random: Random) -> Edit:
    """Bytes in front, behind or between."""
    at = random.choice((0, len(one.data), random.randrange(len(one.data))))
    size = random.choice((1, 22, 60_000, 70_000))
    return Edit(one.data[:at] + random.randbytes(size) + one.data[at:], f"{size} bytes put in at {at}")


def header(one: Original, random: Random) -> Edit:
    """A field of a local header, of the list or of the end."""
    members = archive.scan(BytesIO(one.data))
    member = random.choice(members)
    local, listed = member.at - len(member.header), one.data.index(member.listed)
    base, size = random.choice(((local, 30), (listed, 46), (len(one.data) - 22, 22)))
    at, width = base + random.randrange(size), random.choice((1, 2, 4))
    changed = bytearray(one.data)
    changed[at : at + width] = random.randbytes(width)
    return Edit(bytes(changed[: len(one.data)]), f"{width} bytes of a header of {member.path} at {at - base}")


def rewritten(one: Original, random: Random) -> Edit:
    """The same files by another writer, as it would: with its fields, an extra field, a comment, or deflated."""
    how = random.choice(("stored", "deflated", "extra field", "comment of a file", "comment", "Unicode path", "date"))
    out, victim = BytesIO(), random.choice(sorted(one.files))
    method = zipfile.ZIP_DEFLATED if how == "deflated" else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", method) as written:
        for path, body in [(MANIFEST, encode_manifest(one.bundle.manifest)), *sorted(one.files.items())]:
            info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr, info.compress_type = 3, 0o100644 << 16, method
            if how == "date":
                info.date_time = (2026, 5, 3, 1, 2, 4)
            if path == victim and how in ("extra field", "Unicode path"):
                told = b"\x01" + struct.pack("<L", random.getrandbits(32)) + b"report.md"
                info.extra = struct.pack("<HH", 0x7075 if how == "Unicode path" else 0xCAFE, len(told)) + told
            if path == victim and how == "comment of a file":
                info.comment = WORDS
            written.writestr(info, body)
        written.comment = WORDS if how == "comment" else b""
    return Edit(out.getvalue(), f"written by another program: {how}")


def renamed(one: Original, random: Random) -> Edit:
    """Two names in each other's place, in the headers, in the list, or in both."""
    first, other = (path.encode() for path in random.sample(sorted(one.files), 2))
    where = random.choice(("headers", "list", "both"))
    listed = one.data.index(b"PK\x01\x02" + archive.scan(BytesIO(one.data))[0].listed[4:])
    front, back = one.data[:listed], one.data[listed:]

    def swap(part: bytes) -> bytes:
        return part.replace(first, b"\x00\x00").replace(other, first).replace(b"\x00\x00", other)

    front, back = (swap(front) if where != "list" else front), (swap(back) if where != "headers" else back)
    return Edit(front + back, f"{first.decode()} and {other.decode()} swapped in {where}")


# The files, with the manifest made right again.


def packed(one: Original, files: Mapping[str, bytes], **claims: Any) -> bytes:
    """The bundle with these files, and with the hashes that its manifest should have."""
    manifest = msgspec.structs.replace(one.bundle.manifest, files=digests(files), **claims)
    return pack(Bundle(files, manifest))


def content(one: Original, random: Random) -> Edit:
    """Another content of a file."""
    path = random.choice(sorted(one.files))
    body, how = one.files[path], random.choice(("flipped", "cut", "extended", "emptied", "replaced", "spaced"))
    at = random.randrange(len(body) or 1)
    bodies = {
        "flipped": body[:at] + bytes([(body[at] if body else 0) ^ random.randrange(1, 256)]) + body[at + 1 :],
        "cut": body[:at],
        "extended": body + random.choice((b"\n", b" ", WORDS)),
        "emptied": b"",
        "replaced": WORDS,
        "spaced": body.replace(b"\n", b"\r\n") if b"\n" in body else body + b" ",
    }
    return Edit(packed(one, {**one.files, path: bodies[how]}), f"{path} {how}")


def text(one: Original, random: Random) -> Edit:
    """Other words in a text that people read."""
    path = random.choice(("README.txt", "report.md"))
    pairs = ((b"MODERATE", b"HIGH"), (b"--key VKEY", b"--key OURS"), (b"the", b"our"), (b"\n\n", b"\n"), (b".", b"!"))
    old, new = random.choice([pair for pair in pairs if pair[0] in one.files[path]])
    return Edit(packed(one, {**one.files, path: one.files[path].replace(old, new)}), f"{path}: {old!r} to {new!r}")


def dropped(one: Original, random: Random) -> Edit:
    """A file, or all files of a folder, left out."""
    path = random.choice(sorted(one.files))
    if random.random() < 0.3:
        path = path.partition("/")[0]
    kept = {name: body for name, body in one.files.items() if name != path and not name.startswith(f"{path}/")}
    return Edit(packed(one, kept), f"{path} left out")


def added(one: Original, random: Random) -> Edit:
    """A file more."""
    names = [path for path in STRANGE if path not in one.files]
    path = random.choice(names)
    sources = [files[path] for files in one.others if path in files]
    return Edit(packed(one, {**one.files, path: random.choice([WORDS, b"", *sources])}), f"{path} added")


def exchanged(one: Original, random: Random) -> Edit:
    """Two files in each other's places, or a file of another bundle."""
    path, other = random.sample(sorted(one.files), 2)
    if random.random() < 0.5:
        swapped = {**one.files, path: one.files[other], other: one.files[path]}
        return Edit(packed(one, swapped), f"{path} and {other} exchanged")
    files = random.choice(one.others)
    taken = random.choice(sorted(set(files) & set(one.files)))
    return Edit(packed(one, {**one.files, taken: files[taken]}), f"{taken} of another bundle")


def records(one: Original, random: Random) -> Edit:
    """A record dropped, doubled, or swapped with another, all numbers and counts made right again."""
    count = one.bundle.manifest.records
    order, how = list(range(count)), random.choice(("dropped", "doubled", "swapped", "cut off"))
    n, m = random.randrange(count), random.randrange(count)
    if how == "dropped":
        del order[n]
    elif how == "doubled":
        order.insert(m, n)
    elif how == "swapped":
        order[n], order[m] = order[m], order[n]
    else:
        order = order[: n or 1]
    parts = (("records", "leaf.json"), ("records", "payload.json"), ("records", "salt"), ("proofs", "tlog-proof"))
    files = {path: body for path, body in one.files.items() if not path.startswith(("records/", "proofs/"))}
    for folder, part in parts:
        files |= {f"{folder}/{to:04d}.{part}": one.files[f"{folder}/{at:04d}.{part}"] for to, at in enumerate(order)}
    return Edit(packed(one, files, records=len(order)), f"record {n} {how}")


# The manifest's words.


def words(one: Original, random: Random) -> Edit:
    """Another claim of the manifest, or another spelling of the same."""
    manifest: Manifest = one.bundle.manifest
    claims: list[dict[str, Any]] = [
        *({"debate": "0199c0de-0000-7000-8000-000000000001"}, {"tenant": "other"}, {"status": "truncated"}),
        *({"status": "approved by the CRO"}, {"records": manifest.records + 1}, {"records": 10**15}, {"records": 0}),
        *({"logs": ()}, {"logs": (*manifest.logs, "localhost/default/2")}, {"logs": ("localhost/other/1",)}),
    ]
    body, how = encode_manifest(manifest), random.choice(("a claim", "spelling", "a member more"))
    if how == "a claim":
        claim = random.choice(claims)
        return Edit(packed(one, one.files, **claim), f"manifest says {claim}")
    if how == "spelling":
        body = random.choice(
            (msgspec.json.format(body, indent=-1), body.replace(b"\n", b"\r\n"), body + b"\n", body.rstrip(b"\n"))
        )
    else:
        name = random.choice((b"made", b"build", b"reason", b"blocks"))
        body = body.replace(b"{", b'{\n  "' + name + b'": "approved by the CRO",', 1)
    return Edit(archive.write([(MANIFEST, body), *sorted(one.files.items())]), f"manifest with {how}")


# Lines of signatures.


def noted(one: Original, change: Callable[[bytes], bytes], path: str = "checkpoints/0001.txt") -> bytes:
    """The bundle with another note of a checkpoint, the same in every proof."""
    before = one.files[path]
    after = change(before)
    return packed(one, {name: body.replace(before, after) for name, body in one.files.items()})


def _checkpoint(one: Original, random: Random) -> str:
    """The checkpoint of the debate's log, or that of an earlier one."""
    return random.choice(sorted(path for path in one.files if path.startswith("checkpoints/")))


def line(one: Original, random: Random) -> Edit:
    """A line of a key that nobody knows."""
    name = random.choice(("sec-examiner.gov", "model-risk.example", "witness.example"))
    other = Signature(name, random.randbytes(4), random.randbytes(random.choice((64, 72)))).line().encode()
    path = _checkpoint(one, random)
    what = LINE if path == "checkpoints/0001.txt" else f"a line of another key below {path}"
    return Edit(noted(one, lambda note: note + other, path), what)


def lines(one: Original, random: Random) -> Edit:
    """The lines below the checkpoint doubled, left out, damaged or made those of another."""
    hows = ("doubled", "left out", "the last left out", "damaged", "of another bundle")
    how, path = random.choice(hows), _checkpoint(one, random)
    text_, _, signed = one.files[path].rpartition(b"\n\n")
    other = random.choice(one.others)["checkpoints/0001.txt"].rpartition(b"\n\n")[2]
    damaged = signed[:-10] + (b"A" if signed[-10:-9] != b"A" else b"B") + signed[-9:]
    fewer = b"".join(signed.splitlines(keepends=True)[:-1])
    made = {
        "doubled": signed + signed,
        "left out": b"",
        "the last left out": fewer,
        "damaged": damaged,
        "of another bundle": other,
    }[how]
    return Edit(noted(one, lambda _: text_ + b"\n\n" + made, path), f"the lines below {path} {how}")


# The earlier logs.


def openings(one: Original, random: Random) -> Edit:
    """A record that opens a log left out, doubled or in another's place, or an earlier log's checkpoint of another."""
    count = sum(path.endswith(".salt") for path in one.files if path.startswith("heads/"))
    if not count:
        source = random.choice([files for files in one.others if "heads/0001.salt" in files])
        taken = {path: body for path, body in source.items() if path.startswith(("heads/", "checkpoints/0002"))}
        return Edit(packed(one, {**one.files, **taken}), "records that open logs, of another bundle")
    files = {path: body for path, body in one.files.items() if not path.startswith("heads/")}
    logs, order = [*one.bundle.manifest.logs], list(range(1, count + 1))
    how = random.choice(("left out", "the last left out", "doubled", "exchanged", "without their logs", "one head"))
    if how == "left out":
        order.pop(0)
    elif how == "the last left out":
        order.pop()
    elif how == "doubled":
        order.append(order[-1])
    elif how == "exchanged":
        order.reverse()
        order += order[: count == 1]
    elif how == "one head":
        files |= {path: one.files["checkpoints/0001.txt"] for path in files if path.startswith("checkpoints/")}
        order += order[: count == 1]
    if how in ("left out", "without their logs"):
        logs = logs[:1]
        files = {path: body for path, body in files.items() if not path.startswith("checkpoints/") or "0001" in path}
        order = order if how == "left out" else []
    for to, at in enumerate(order, 1):
        for part in ("leaf.json", "payload.json", "salt", "tlog-proof"):
            files[f"heads/{to:04d}.{part}"] = one.files[f"heads/{at:04d}.{part}"]
    return Edit(packed(one, files, logs=tuple(logs)), f"the records that open logs: {how}")


# The times.


def times(one: Original, random: Random) -> Edit:
    """An earlier head left out, in the other's place, said to be later, or of another bundle."""
    before, first = "times/before.txt", "times/first.txt"
    if first not in one.files:
        return Edit(packed(one, {**one.files, random.choice((before, first)): WORDS}), "words as an earlier head")
    path = random.choice((before, first))
    how = random.choice(("left out", "of the other", "damaged", "without its last line", "with a hash more"))
    note = one.files[path]
    files = {name: body for name, body in one.files.items() if name != path}
    at = random.randrange(len(note) - 120, len(note) - 10)  # in the witness's line, its time at the beginning
    bodies = {
        "of the other": one.files[first if path == before else before],
        "damaged": note[:at] + (b"B" if note[at : at + 1] != b"B" else b"C") + note[at + 1 :],
        "without its last line": note[: note.rindex(b"\n", 0, -1) + 1],
        "with a hash more": note.replace(b"\n\n", b"\n" + b"A" * 43 + b"=\n\n", 1),
    }
    if how == "left out":
        return Edit(packed(one, files), f"{path} left out")
    what = UNSIGNED if how == "without its last line" else f"{path} {how}"
    return Edit(packed(one, {**files, path: bodies[how]}), what)


DRAWS: tuple[Draw, ...] = (
    *(flip, cut, put_in, header, rewritten, renamed),
    *(content, text, dropped, added, exchanged, records),
    *(words, line, lines, openings, times),
)


def drawn(one: Original, random: Random) -> Edit:
    """An edit that changes something."""
    while True:
        edit = random.choice(DRAWS)(one, random)
        if edit.data != one.data:
            return edit
