"""Verify hostile files by the command, and print how long and how much memory each took: ``make hostile``.

A file that fails does so within 10 s and 300 MB. A person runs this; no test depends on a clock.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import msgspec

from service.audit import archive
from service.audit.bundle import Bundle, decode_manifest, digests, encode_manifest, pack, unpack
from tests.mutations.harness import FOLDER

SECONDS_MAX, BYTES_MAX = 10, 300 << 20
GAINSAY = Path(sys.executable).with_name("gainsay")
ZEROS = 900 << 20


def files() -> Iterator[tuple[str, bytes]]:
    """Each hostile file, named after what it is."""
    data = (FOLDER / "adversarial.zip").read_bytes()
    bundle = unpack(data)
    original = dict(bundle.files)

    def packed(**changes: bytes) -> bytes:
        changed = {**original, **{path.replace("__", "/"): body for path, body in changes.items()}}
        return pack(Bundle(changed, msgspec.structs.replace(bundle.manifest, files=digests(changed))))

    def case(old: bytes, new: bytes) -> bytes:
        path = "records/0000.payload.json"
        assert old in original[path]
        return packed(**{path: original[path].replace(old, new, 1)})

    yield "not edited", data
    amount = msgspec.json.decode(original["records/0000.payload.json"])["case"]["estimatedDownside"].encode()
    yield "an amount of 1e999999999", case(b'"' + amount + b'"', b'"1e999999999"')
    yield "a document of 30 MB", packed(**{"documents/0001.txt": b"a" * (30 << 20)})
    yield "900 MB of zeros as a schema", packed(**{"schema/leaf.v2.json": bytes(ZEROS)})
    yield "900 MB of zeros as a payload", packed(**{"records/0004.payload.json": bytes(ZEROS)})
    yield "900 MB of zeros as a leaf", packed(**{"records/0004.leaf.json": bytes(ZEROS)})
    yield "900 MB of zeros as the report", packed(**{"report.md": bytes(ZEROS)})
    yield "99,000 files more", packed(**{f"schema/x{n:06d}.json": b"{}" for n in range(99_000)})
    yield "99,000 files more under prompts", packed(**{f"prompts/x{n:06d}.md": b"{}" for n in range(99_000)})
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("manifest.json", bytes(ZEROS))
    yield "a bomb of 900 MB", out.getvalue()
    manifest = encode_manifest(decode_manifest(encode_manifest(bundle.manifest)))
    deep = b"[" * 200_000 + b"]" * 200_000
    yield "a manifest that goes deep", archive.write([("manifest.json", deep)])
    counted = manifest.replace(b'"records": 25', b'"records": 1000000000000000')
    yield "very many records", archive.write([("manifest.json", counted), *sorted(original.items())])
    yield "a payload that goes deep", packed(**{"records/0003.payload.json": deep})
    yield "a line of 200 MB", b'{"format":"' + b"x" * (200 << 20)
    yield "900 MB of no lines", b"x" * ZEROS


MEASURE = """
import os, subprocess, sys, time
for line in sys.stdin:
    began = time.perf_counter()
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(line.rstrip("\\n").split("\\t"), stdin=quiet, stdout=quiet, stderr=quiet)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    print(process.returncode, time.perf_counter() - began, used.ru_maxrss * 1024, flush=True)
"""
"""A process of its own starts the command, because the memory of what starts one counts as memory of the command."""


def verified(path: Path, measuring: subprocess.Popen[str]) -> tuple[int, float, int]:
    """Exit code, seconds, and the most bytes in memory of the command on a file."""
    key = (FOLDER / "log.vkey").read_text("ascii").strip()
    given, said = measuring.stdin, measuring.stdout
    assert given is not None
    assert said is not None
    given.write("\t".join([str(GAINSAY), "audit", "verify", str(path), "--key", key, "--allow-unwitnessed"]) + "\n")
    given.flush()
    code, seconds, memory = said.readline().split()
    return int(code), float(seconds), int(memory)


def main() -> int:
    """Exit 1 if a file that fails took longer, or more memory, than it may."""
    over = 0
    words = [sys.executable, "-c", MEASURE]
    with (
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as measuring,
        tempfile.TemporaryDirectory() as folder,
    ):
        path = Path(folder) / "file"
        for what, data in files():
            path.write_bytes(data)
            code, seconds, memory = verified(path, measuring)
            bad = code != 0 and (seconds > SECONDS_MAX or memory > BYTES_MAX)
            over += bad
            told = f"exit {code}  {seconds:5.1f} s  {memory >> 20:>5} MB  {what}{'  OVER' if bad else ''}"
            sys.stdout.write(f"{told}\n")
            sys.stdout.flush()
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
