"""``gainsay audit verify``: the examiner's command, which needs only a file and pinned keys.

It reads no setting and no variable, opens no connection, and imports neither database nor HTTP.
"""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator
from datetime import date
from functools import partial
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Literal

import click
from msgspec.structs import replace

from service.audit.archive import BYTES_MAX, PIECE
from service.audit.bundle_texts import SCHEMAS
from service.audit.note import COSIGNATURE, ED25519, BadKey, PublicKey
from service.audit.proof import parse_proof
from service.audit.record import leaf_hash
from service.audit.report_forms import Form, Paper
from service.audit.timestamp import read_certificate
from service.cli.audit.in_hand import SNIFFED, Asked, Unreadable, golden_sets, held, neither
from service.cli.audit.result_words import place, recorded_words, result_line
from service.cli.option_types import Choice
from service.cli.terminal_text import say, unbroken
from service.errors import GainsayError, SettingsError
from service.policy import RegisteredKey
from service.verify import log
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import FAILED, GAPS, Period, Tools, Trust, VerificationReport

ZIP = b"PK"
LINE_MAX = 1 << 26
"""The longest line of an export: a leaf has 64 kB at most, its payload as much as one reply."""


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(allow_dash=True, path_type=str))
@click.option("--key", "keys", multiple=True, metavar="VKEY", help="A pinned key, of log or approver; may be repeated.")
@click.option("--witness", "witnesses", multiple=True, metavar="VKEY", help="A pinned witness's key; may be repeated.")
@click.option(
    "--keys",
    "pins",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="A file of pinned keys, each with its use, its logs and its time (docs/keys.md).",
)
@click.option(
    "--quorum", type=click.IntRange(min=1), metavar="N", help="The number of witnesses that must have signed (1)."
)
@click.option(
    "--tsa",
    "authorities",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="CERT",
    help="A pinned authority for time stamps: the file of its certificate (PEM); may be repeated.",
)
@click.option("--allow-unsigned", is_flag=True, help="Accept a file without a checked signature of the log.")
@click.option("--allow-unwitnessed", is_flag=True, help="Accept a file without a checked cosignature of a witness.")
@click.option("--allow-unchecked-lines", is_flag=True, help="Accept lines of signatures by keys that were not pinned.")
@click.option(
    "--scope",
    type=Choice(["all", "records"]),
    default="all",
    show_default=True,
    help="What an export is verified for; `records` leaves out what only bundles hold.",
)
@click.option(
    "--allow-loose-times", is_flag=True, help="Accept a debate whose signed times are missing or long after it."
)
@click.option("--allow-self-approved", is_flag=True, help="Accept an approval by a key that was not pinned.")
@click.option(
    "--report",
    "shown",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="A report of the debate that you hold: Markdown, HTML or PDF.",
)
@click.option(
    "--sets",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="FOLDER",
    help="A golden set, with which the scores of an export's evaluations are computed again; may be repeated.",
)
@click.option("--all", "every", is_flag=True, help="Carry out the steps after the first that fails, too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write a certificate, .json or .pdf.",
)
def verify(
    file: str,
    *,
    keys: tuple[str, ...],
    witnesses: tuple[str, ...],
    pins: Path | None,
    quorum: int | None,
    scope: str,
    out: Path | None,
    **flags: Any,
) -> int:
    """Verify a bundle, a pack or an export offline by recomputing it.

    FILE is a bundle or a pack (a ZIP) or an export (lines of JSON), under any name; `-` is standard input. Get the keys
    from the log's operator, separately from the file, and pin them once in writing. The verifier ignores the keys that
    the file itself names.

    With --report the last step compares a report that you hold: one in Markdown or HTML with the report
    that the records give, and a PDF with the hashes that the log holds of the PDFs that were issued. With --sets an
    export has one step more: every score and result of an evaluation is computed again from records and labels.

    Each step ends OK, FAILED with the first difference, or NOT CHECKABLE with its reason. docs/verification.md says
    what each step proves and what it does not. An export has no policy, prompts or documents, so steps that need them
    are not checkable there; with `--scope records` that is accepted.

    \b
    gainsay audit verify bundle.zip --key VKEY --witness VKEY
    gainsay audit verify bundle.zip --key VKEY --witness VKEY --out certificate.pdf
    gainsay audit verify bundle.zip --key VKEY --witness VKEY --report report.pdf
    gainsay audit verify bundle.zip --key VKEY --witness VKEY --tsa stamps.pem
    Exit codes: 0 all OK, 1 a step failed, 2 usage, 3 the certificate cannot be written, 4 no step failed but one was
    not checkable.
    """
    as_json, every, shown, authorities = (flags.pop(name) for name in ("as_json", "every", "shown", "authorities"))
    folders: tuple[Path, ...] = flags.pop("folders")
    trust = _trust(keys, witnesses, pins, quorum, flags["allow_unwitnessed"])
    trust = replace(trust, **flags, authorities=pinned_authorities(authorities), records_only=scope == "records")
    asked = Asked(every, None if shown is None else held(shown), golden_sets(folders))
    report = _verified(file, trust, asked) if out is None else _certified(file, trust, asked, out)
    say(_json(report) if as_json else "\n".join(verification_lines(report)))
    return report.code


def verification_lines(report: VerificationReport) -> Iterator[str]:
    """The report as lines for a terminal."""
    yield _title(report)
    if report.words:
        files = ", ".join(report.words)
        yield unbroken(f"only words, which no step has compared with the records: {files}")
    if between := recorded_words(report.about, differs=any(step.name == "times" for step in report.failed)):
        yield unbroken(f"recorded {between}")
    wide = max(len(step.name) for step in report.steps)
    for step in report.steps:
        state = f"{step.state}{' (allowed)' if step.allowed else ''}"
        yield unbroken(f"{step.number:>2}  {step.name:<{wide}}  {state:<13}  {step.detail}{place(step)}")
    if report.left:
        yield f"{len(report.left)} steps after it were left out; --all carries them out"
    yield result_line(report)


def _title(report: VerificationReport) -> str:
    about = report.about
    match report.kind:
        case "bundle":
            return unbroken(f"bundle of debate {about['debate']}, tenant {about['tenant']}, {about['records']} records")
        case "pack":
            period = f"from {about['since']} to before {about['until']}"
            return unbroken(f"pack of {about['decisions']} decisions of tenant {about['tenant']}, {period}")
        case "evaluation":
            return unbroken(
                f"bundle of evaluation {about['evaluation']}, tenant {about['tenant']}, {about['debates']} debates"
            )
        case "export":
            return unbroken(f"export of {about['records']} records of {about['log']}")
        case _:
            return "neither a bundle, a pack nor an export that can be read"


def _json(report: VerificationReport) -> str:
    return ascii_json(
        {
            "kind": report.kind,
            "verdict": {0: "verified", FAILED: "failed", GAPS: "gaps"}[report.code],
            "result": result_line(report),
            "exit": report.code,
            "about": report.about,
            "steps": report.steps,
            "left": report.left,
            "words": report.words,
        }
    )


def ascii_json(found: dict[str, Any]) -> str:
    """What a command has found as every ``--json`` says it, in ASCII: what a file says of itself steers no terminal."""
    from service.report import sent

    return json.dumps(sent.as_json(found), indent=2)


# What was pinned.


def _trust(
    keys: tuple[str, ...], witnesses: tuple[str, ...], pins: Path | None, quorum: int | None, allow_unwitnessed: bool
) -> Trust:
    ours, seen = pinned("--key", keys, ED25519), pinned("--witness", witnesses, COSIGNATURE)
    if len({key.name for key in seen}) < len(seen):
        raise click.UsageError("two --witness keys have one name; a quorum counts names, so give one of each")
    periods = pinned_periods(pins)
    if twice := sorted(key.name for key in periods if key in (*ours, *seen)):
        raise click.UsageError(f"the key of {unbroken(twice[0])} is pinned by an option and in --keys; pin it once")
    ours += tuple(key for key in periods if key.algorithm == ED25519)
    seen += tuple(key for key in periods if key.algorithm == COSIGNATURE)
    holders = {key.public for key in seen}
    if len(holders) < len(seen) or holders & {key.public for key in ours}:
        raise click.UsageError("a --witness key is also another key under another name; its holder would count twice")
    if seen and allow_unwitnessed:
        raise click.UsageError("--witness asks for what --allow-unwitnessed does without; give one of them")
    if quorum is not None and quorum > (found := len({key.name for key in seen})):
        raise click.UsageError(f"--quorum {quorum} needs as many witnesses with pinned keys, found {found}")
    return Trust(ours, seen, quorum=quorum or 1, periods=periods)


def pinned_periods(path: Path | None) -> dict[PublicKey, Period]:
    """The keys of an auditor's file, each with what it is pinned for; raises `click.UsageError`."""
    if path is None:
        return {}
    from service.policy.file.pins import read_pins

    try:
        rows = read_pins(path)
    except SettingsError as error:
        raise click.UsageError(f"--keys: {unbroken(error.detail)}") from None
    return {PublicKey.parse(row.key): _period(row) for row in rows}


def pinned_authorities(paths: tuple[Path, ...]) -> tuple[bytes, ...]:
    """The certificates of authorities for time stamps, by their SHA-256; raises `click.UsageError`."""
    from cryptography.hazmat.primitives.hashes import SHA256

    found = []
    for path in paths:
        try:
            certificate = read_certificate(path.read_text("utf-8-sig"))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no certificate in PEM"
            raise click.UsageError(f"--tsa {unbroken(str(path))}: {reason}") from None
        except GainsayError as error:
            raise click.UsageError(f"--tsa {unbroken(str(path))}: {error.detail}") from None
        found.append(certificate.fingerprint(SHA256()))
    return tuple(dict.fromkeys(found))


def _period(row: RegisteredKey) -> Period:
    since, until = (day and date.fromisoformat(day) for day in (row.since, row.until))
    return Period(row.use, row.logs, since or None, until or None)


def pinned(option: str, texts: tuple[str, ...], algorithm: int) -> tuple[PublicKey, ...]:
    """The keys that an option names; raises `click.UsageError` for a text that is no key of this type."""
    keys = []
    for text in texts:
        try:
            key = PublicKey.parse(text)
        except BadKey as error:
            raise click.UsageError(f"{option}: {error.detail}") from None
        if key.algorithm != algorithm:
            wanted = "signs heads" if algorithm == ED25519 else "countersigns them"
            raise click.UsageError(f"{option}: expected a key that {wanted} (type {algorithm}), found {key.algorithm}")
        keys.append(key)
    return tuple(dict.fromkeys(keys))


# The file.


def _verified(name: str, trust: Trust, asked: Asked) -> VerificationReport:
    """The report on a file, by its content: a ZIP is a bundle or a pack, any other file must be an export."""
    try:
        with opened(name) as stream:
            return _report(name, stream, trust, asked)
    except OSError as error:
        raise Unreadable(f"{unbroken(name)} cannot be read: {error.strerror or type(error).__name__}") from None


def _report(name: str, stream: Any, trust: Trust, asked: Asked) -> VerificationReport:
    if stream.peek(2)[:2] == ZIP:
        if trust.records_only:
            raise click.UsageError(f"--scope records is for an export, and {unbroken(name)} is none; leave it out")
        return _bundle(stream, trust, asked)
    if (found := neither(stream.peek(SNIFFED)[:SNIFFED])) is not None:
        return found
    _refuse_options("export", trust, asked)
    from service.report.versions import REPORTS
    from service.verify.evaluations import Evaluations
    from service.verify.export import verify_export

    followed = Evaluations(asked.sets)
    return verify_export(lines(stream), trust, reports=REPORTS, ready=_ready, every=asked.every, evaluations=followed)


def _certified(name: str, trust: Trust, asked: Asked, out: Path) -> VerificationReport:
    """The report on a file, with a certificate beside it; the file must not change meanwhile."""
    from service.cli.audit import certificate
    from service.cli.new_file import refuse_present, written

    form = certificate.suffix_of(out)
    compared = asked.shown and certificate.certified(asked.shown.name, BytesIO(asked.shown.content))
    refuse_present(out, force=None)
    if name == "-":
        raise click.UsageError("--out certifies a file by its SHA-256, so it needs the file and not standard input")
    try:
        with opened(name) as stream:
            file = certificate.certified(name, stream)
            report = _report(name, stream, trust, asked)
        with opened(name) as stream:
            if certificate.certified(name, stream) != file:
                raise Unreadable(
                    f"{unbroken(name)} was changed while it was verified; verify a file that stays as it is"
                )
    except OSError as error:
        raise Unreadable(f"{unbroken(name)} cannot be read: {error.strerror or type(error).__name__}") from None
    with written(out, force=False) as target:
        target.write(certificate.encode(file, compared, report, trust, form))
    return report


def opened(name: str) -> Any:
    """The file to read, with a buffer that makes reading lines fast."""
    if name == "-":
        return open(sys.stdin.fileno(), "rb", buffering=1 << 20, closefd=False)
    path = Path(name)
    if stat.S_ISDIR(path.stat().st_mode):
        raise Unreadable(f"{unbroken(name)} is a folder; give the bundle or the export in it")
    return path.open("rb", buffering=1 << 20)


def _bundle(stream: IO[bytes], trust: Trust, asked: Asked) -> VerificationReport:
    if stream.seekable():
        return _zip(stream, trust, asked)
    from service.audit.evaluation_bundle import is_evaluation
    from service.audit.pack import is_pack

    with TemporaryFile() as copy:  # a pipe can be read once, and a bundle is read where it is needed
        first = stream.read(PIECE)
        copy.write(first)
        large = is_pack(BytesIO(first)) or is_evaluation(BytesIO(first))
        most = None if large else BYTES_MAX  # of a bundle that is too long no more is kept
        while (most is None or copy.tell() <= most) and (piece := stream.read(PIECE)):
            copy.write(piece)
        copy.seek(0)
        return _zip(copy, trust, asked)


def _zip(stream: IO[bytes], trust: Trust, asked: Asked) -> VerificationReport:
    from service.audit.evaluation_bundle import is_evaluation
    from service.audit.pack import is_pack
    from service.verify.bundle import verify_bundle

    if is_pack(stream):
        _refuse_options("pack", trust, asked)
        return _pack(stream, trust, asked.every)
    if is_evaluation(stream):
        _refuse_options("evaluation", trust, asked)
        from service.verify.evaluation_bundle import verify_evaluation

        return verify_evaluation(stream, trust, tools(), every=asked.every, sets=asked.sets)
    _refuse_options("bundle", trust, asked)
    return verify_bundle(stream, trust, tools(), every=asked.every, shown=asked.content)


def _refuse_options(kind: Literal["bundle", "evaluation", "export", "pack"], trust: Trust, asked: Asked) -> None:
    """Raise `click.UsageError` for an option that this kind of file has nothing for: before a step is carried out, and
    before a certificate says that it verifies."""
    if asked.shown is not None and kind != "bundle":
        what = {"evaluation": "that of an evaluation", "export": "an export", "pack": "a pack"}[kind]
        raise click.UsageError(f"--report compares a report with the bundle of its debate, and this file is {what}")
    if asked.sets and kind in ("bundle", "pack"):
        raise click.UsageError(f"--sets: this file has no evaluation, it is another one ({kind})")
    if trust.authorities and kind in ("export", "pack"):
        raise click.UsageError(f"--tsa: only bundles have time stamps, and this file is another ({kind})")


def _pack(stream: IO[bytes], trust: Trust, every: bool) -> VerificationReport:
    from service.report.pack_row import pack_row
    from service.verify.pack import verify_pack

    return verify_pack(stream, trust, tools(), pack_row, every=every)


def lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of an export. A line longer than any record comes in pieces, none of which is a record."""
    while line := stream.readline(LINE_MAX):
        yield line


def tools() -> Tools:
    """The parts of this build that the verifier uses: rank files, and the words of reports."""
    from service.report.versions import REPORTS

    return Tools(_ready, {version: partial(_write_report, version) for version in REPORTS}, _schemas)


def _schemas(version: str) -> dict[str, bytes]:
    """The JSON Schemas of a version as they are shipped, by their paths in a bundle."""
    folder = files("service.audit").joinpath("schemas")
    return {
        f"schema/{name}.json": folder.joinpath(str(brought_by), f"{name}.json").read_bytes()
        for name, brought_by in SCHEMAS[version].items()
    }


def _ready(tokenizer: str) -> bool:
    """Whether this build can count tokens with a tokenizer; its rank file is read on first use."""
    from service.money import tokenizers

    try:
        tokenizers.load([tokenizer])
    except SettingsError:
        return False
    return True


def _write_report(version: str, evidence: OpenedBundle, form: Form, paper: Paper) -> bytes:
    """The report of a bundle's records, in the words of a version."""
    from service.report.result.types import Line, LogPosition
    from service.report.versions import REPORTS

    head, last = log.head(evidence)[1], evidence.records[-1]
    proof = parse_proof(evidence.file(f"proofs/{last.n:04d}.tlog-proof"))
    sealed_entries = zip(evidence.envelopes, evidence.debate.entries, strict=True)
    return REPORTS[version](
        evidence.manifest.debate,
        [Line(envelope.n, envelope.occurred, entry, envelope.actor) for envelope, entry in sealed_entries],
        last_record=leaf_hash(last.leaf).hex(),
        position=LogPosition(log=head.origin, index=proof.index, size=head.size, root=head.root.hex()),
        texts=evidence.sources,
        form=form,
        paper=paper,
    )
