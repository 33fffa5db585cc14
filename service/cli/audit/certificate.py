"""A certificate of verification: what was verified, against which keys, with the result of each step.

It says what one run of this program found. It proves nothing by itself: a reader who doubts it runs the command again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import click
import msgspec
from msgspec import Struct

from service.cli.audit.result_words import recorded_words, result_line
from service.policy.own_build import own_build
from service.report.document.blocks import Banner, Block, Fact, FactList, ReportBlocks, ReportPart, TableBlock, Text
from service.verify.steps import FAILED, GAPS, Trust, VerificationReport

FORMAT = "gainsay-certificate/1"
SUFFIXES = (".json", ".pdf")
PIECE = 1 << 20
VERDICTS = {0: "verified", FAILED: "failed", GAPS: "gaps"}
SIGNED = ("recorded", "toleranceS")
"""What is said of a debate's signed times, which have a row of their own."""
PINNED_KEY = "Pinned key (of a log or an approver)"
SCOPE = (
    "This certificate says what one run of the program named below found in the file with this SHA-256. It proves "
    "nothing by itself: to check it, verify the file again with the same keys. docs/verification.md of the program "
    "says what each step proves and what it does not. The steps do not say that a decision was right."
)


class Certified(Struct, frozen=True):
    """The file: its name without folders, bytes and SHA-256."""

    name: str
    bytes: int
    sha256: str


def suffix_of(path: Path) -> str:
    """The form that a name asks for; raises `click.UsageError` for one that is neither."""
    if path.suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"--out {path}: expected a name that ends in {' or '.join(SUFFIXES)}")
    return path.suffix.lower()


def certified(name: str, stream: IO[bytes]) -> Certified:
    """Hash a file from its beginning; the stream stands there again."""
    hashed, size = sha256(), 0
    while piece := stream.read(PIECE):
        hashed.update(piece)
        size += len(piece)
    stream.seek(0)
    return Certified(Path(name).name, size, hashed.hexdigest())


def encode(file: Certified, compared: Certified | None, report: VerificationReport, trust: Trust, form: str) -> bytes:
    """The certificate of a verification that has just ended, as ``.json`` or ``.pdf``; raises `CannotTypeset`.

    ``compared`` is the report in hand that was compared with the file.
    """
    found = facts(file, compared, report, trust, build=own_build(), at=datetime.now(UTC))
    return encode_json(found) if form == ".json" else encode_pdf(found)


def facts(
    file: Certified, compared: Certified | None, report: VerificationReport, trust: Trust, *, build: str, at: datetime
) -> dict[str, Any]:
    """The certificate as JSON has it. ``build`` is the SHA-256 of the program that verified, ``at`` its clock."""
    allowed = [
        name
        for name in ("unsigned", "unwitnessed", "unchecked_lines", "loose_times", "self_approved")
        if getattr(trust, f"allow_{name}")
    ]
    return {
        "format": FORMAT,
        "verdict": VERDICTS[report.code],
        "result": result_line(report),
        "exit": report.code,
        "file": msgspec.to_builtins(file),
        "report": msgspec.to_builtins(compared),
        "kind": report.kind,
        "about": report.about,
        "keys": [key.encode() for key in trust.keys],
        "witnesses": [key.encode() for key in trust.witnesses],
        "quorum": trust.quorum if trust.witnesses else 0,
        "periods": {key.encode(): str(period) for key, period in trust.periods.items()},
        "authorities": [digest.hex() for digest in trust.authorities],
        "allowed": [*(name.replace("_", "-") for name in allowed), *(["records-only"] if trust.records_only else [])],
        "steps": msgspec.to_builtins(report.steps),
        "left": list(report.left),
        "words": list(report.words),
        "verifiedAt": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "verifierBuild": build,
        "says": SCOPE,
    }


def encode_json(found: dict[str, Any]) -> bytes:
    """The certificate as JSON, in ASCII."""
    return json.dumps(found, indent=2).encode() + b"\n"


def encode_pdf(found: dict[str, Any]) -> bytes:
    """The certificate as PDF; raises `CannotTypeset`."""
    from service.report.document.pdf import write

    file, code = found["file"], found["exit"]
    tone: Any = "good" if code == 0 else "bad" if code == FAILED else "warn"
    blocks: tuple[Block, ...] = (
        Banner(tone, found["result"], (f"{file['name']}: SHA-256 {file['sha256']}",)),
        Text(SCOPE, "note"),
        ReportPart("file", "The file and the keys"),
        FactList(tuple(_rows(found))),
        ReportPart("steps", "The steps"),
        TableBlock(
            "Each step with its result",
            ("", "Step", "Result", "What was found"),
            tuple(_step(step) for step in found["steps"])
            + tuple(("", name, "LEFT OUT", "a step before it failed") for name in found["left"]),
            numeric=(0,),
        ),
    )
    return write(ReportBlocks("Certificate of verification", file["name"], "en", False, found["verifiedAt"], blocks))


def _step(step: dict[str, Any]) -> tuple[str, ...]:
    state = f"{step['state']}{' (allowed)' if step.get('allowed') else ''}"
    return str(step["number"]), step["name"], state, step["detail"]


def _rows(found: dict[str, Any]) -> Sequence[Fact]:
    file, about = found["file"], {name: said for name, said in found["about"].items() if name not in SIGNED}
    return [
        Fact("File", file["name"]),
        Fact("Bytes", str(file["bytes"])),
        Fact("SHA-256", file["sha256"], code=True),
        *_compared(found["report"]),
        Fact("It says that it holds", f"{found['kind']}: {', '.join(_said(*item) for item in about.items())}"),
        *_recorded(found),
        *(
            Fact("Pinned key (of a log or an approver)", _pinned(key, found), code=True)
            for key in found["keys"] or ["none"]
        ),
        *(Fact("Pinned witness", _pinned(key, found), code=True) for key in found["witnesses"] or ["none"]),
        Fact("Witnesses that must have signed", str(found["quorum"])),
        *(
            Fact("Pinned authority for time stamps (SHA-256 of its certificate)", digest, code=True)
            for digest in found["authorities"]
        ),
        Fact("Accepted by option", ", ".join(found["allowed"]) or "nothing"),
        Fact("Files that are only words", ", ".join(found["words"]) or "none"),
        Fact("Verified at, by the verifier's clock", found["verifiedAt"]),
        Fact("Build of the verifier", found["verifierBuild"], code=True),
    ]


def _compared(report: dict[str, Any] | None) -> Sequence[Fact]:
    """The report in hand, where one was given."""
    if report is None:
        return ()
    return [Fact("Report compared", f"{report['name']}, {report['bytes']} bytes, SHA-256 {report['sha256']}")]


def _recorded(found: dict[str, Any]) -> Sequence[Fact]:
    """The signed times of a debate; a file of another kind has none."""
    if "recorded" not in found["about"]:
        return ()
    differs = any(step["name"] == "times" and step["state"] == "FAILED" for step in found["steps"])
    unsigned = "at no time that a pinned witness or authority signed"
    nothing = "at times that the step times found to differ" if differs else unsigned
    return [Fact("Recorded", recorded_words(found["about"], differs=differs) or nothing)]


def _pinned(key: str, found: dict[str, Any]) -> str:
    """A key, with what it is pinned for where that is not everything."""
    return f"{key} {found['periods'].get(key, '')}".rstrip()


def _said(name: str, value: Any) -> str:
    """A member of what the file says of itself."""
    listed = value if isinstance(value, list | tuple) else [value]
    return f"{name} {' '.join(map(str, listed))}"
