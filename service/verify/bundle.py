"""The steps over a bundle; each rests on those before it.

 1  file         the archive has one reading; no file is missing or extra, and each has the hash in the manifest
 2  signature    the pinned key signed the checkpoint of the records' log
 3  witnesses    a quorum of the pinned witnesses cosigned it
 4  tree         every record is under the one checkpoint
 5  records      each leaf has its exact form, each payload its salted hash
 6  context      the context of the case and its documents have their salted hashes
 7  chain        n has no gap, and each record names the one before it
 8  complete     one debate from its case to its end; envelopes agree with payloads
 9  logs         the tenant's earlier logs end where the next one says
10  parts        the files are those that the records ask for, and no others
11  lines        every line of signatures was checked
12  prompts      files, manifest and pins agree
13  policy       policy, prices and configuration have their hashes
14  times        the records say when, between two times that others signed
15  seats        models and price rows are those of the policy on that day
16  approval     the configuration has its approval
17  gate         the decision follows from its inputs; this build has every version that it seals
18  moves        every entry is legal after those before it
19  requests     each request, rendered again, has its hash
20  checks       every citation and every other check gives the same finding
21  charges      each charge follows from usage and price row
22  money        the ceiling holds at every entry; its refusals are right
23  outcome      the outcome follows from the entries
24  report       report.md, report.html, README.txt and the schemas equal those written from the records
25  issued       each record of a PDF that was handed out is of this debate, and under a checkpoint
26  shown        the report that the verifier was given is one of them; only where one was given

Signatures come first: of a file that no pinned key signed, no payload is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any

from service.audit.bundle import BadBundle, Bundle, unpack
from service.audit.note import Note
from service.verify import (
    checks,
    earlier_logs,
    files,
    gate,
    issued,
    lines,
    log,
    money,
    parts,
    policy,
    prompts,
    records,
    replay,
    report,
    requests,
    times,
)
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import NotCheckable, Tools, Trust, VerificationReport, VerificationStep, perform_all

UNREADABLE = "the file is not a bundle that can be opened"
COMMITTED = frozenset(
    {
        *("signature", "tree", "records", "context", "chain", "complete", "logs", "parts", "prompts", "policy"),
        *("times", "issued"),
    }
)
"""The steps that compare what is there with what commits to it."""


def verify_bundle(
    data: bytes | IO[bytes], trust: Trust, tools: Tools, *, every: bool = False, shown: bytes | None = None
) -> VerificationReport:
    """Verify a bundle: its bytes, or a file that can be read at any place; never raises.

    Steps after the first that fails are left out, so that a forged file costs no more than what shows the forgery. With
    ``every`` they are carried out too. ``shown`` is a report of the debate in hand.
    """
    try:
        bundle = unpack(data)
    except BadBundle as error:
        return _unopened(error.detail)
    except Exception as fault:  # noqa: BLE001 - a malformed ZIP may raise any error
        return _unopened(f"{UNREADABLE} ({type(fault).__name__})")
    return verify_opened(bundle, trust, tools, every=every, shown=shown)


def verify_opened(
    bundle: Bundle, trust: Trust, tools: Tools, *, every: bool = False, shown: bytes | None = None
) -> VerificationReport:
    """Verify an opened bundle, as `verify_bundle`; never raises."""
    evidence = OpenedBundle(bundle)
    steps = _steps(evidence, trust, tools)
    if shown is not None:
        steps.append(("shown", lambda: issued.check_shown(evidence, trust, tools, shown)))
    done, left = perform_all(steps, every=every)
    return VerificationReport("bundle", _about(evidence), done, left, tuple(sorted(evidence.words)))


def find_damage(bundle: Bundle, trust: Trust) -> VerificationStep | None:
    """The first step that fails of those that compare hashes, chain and proofs; ``None`` where all agree. Never raises.

    Who hands a bundle out asks this first, with the keys of all logs of the tenant. So a head of a later log that none
    of them signed is damage, where a verifier may lack its key. What follows from the entries (gate, moves, requests,
    checks, money, report) is left to the verifier.
    """
    evidence = OpenedBundle(bundle)
    steps = dict(_steps(evidence, trust, Tools(ready=lambda _: False)))
    steps["issued"] = lambda: issued.check_issued(evidence, trust, own=True)
    done, _ = perform_all([(name, check) for name, check in steps.items() if name in COMMITTED], every=False)
    return done[-1] if done[-1].state == "FAILED" else None


def _steps(evidence: OpenedBundle, trust: Trust, tools: Tools) -> list[tuple[str, Callable[[], str]]]:
    return [
        ("file", lambda: files.check_files(evidence)),
        ("signature", lambda: log.signature(evidence, trust)),
        ("witnesses", lambda: log.check_witnesses(evidence, trust)),
        ("tree", lambda: log.check_inclusion(evidence)),
        ("records", lambda: records.sealed(evidence)),
        ("context", lambda: records.context(evidence)),
        ("chain", lambda: records.chain(evidence)),
        ("complete", lambda: records.complete(evidence)),
        ("logs", lambda: earlier_logs.check_earlier_logs(evidence, trust)),
        ("parts", lambda: parts.check_parts(evidence)),
        ("lines", lambda: lines.check_lines(_notes(evidence), trust, times.stamps(evidence))),
        ("prompts", lambda: prompts.check_promised(evidence)),
        ("policy", lambda: policy.policy(evidence)),
        ("times", lambda: times.check_times(evidence, trust)),
        ("seats", lambda: policy.seats(evidence)),
        ("approval", lambda: policy.check_approval(evidence, trust)),
        ("gate", lambda: gate.check_gate(evidence, tools)),
        ("moves", lambda: replay.check_seed(evidence)),
        ("requests", lambda: requests.check_requests(evidence, tools)),
        ("checks", lambda: checks.check_findings(evidence)),
        ("charges", lambda: money.check_charges(evidence.debate, tools.ready)),
        ("money", lambda: _kept(evidence, tools)),
        ("outcome", lambda: replay.check_outcome(evidence.debate, evidence.manifest.status)),
        ("report", lambda: report.check_report(evidence, tools)),
        ("issued", lambda: issued.check_issued(evidence, trust)),
    ]


def _kept(evidence: OpenedBundle, tools: Tools) -> str:
    """The money step, with rendered requests where they can be rendered."""
    started = evidence.debate.started
    try:
        rendering = requests.Rendering(evidence, started, tools) if started else None
    except NotCheckable:
        rendering = None
    return money.check_ceiling(evidence.debate, rendering)


def _notes(evidence: OpenedBundle) -> Iterator[tuple[str, str, Note, Note | None]]:
    """Every note of the file, as `lines` reads them."""
    yield from earlier_logs.checkpoints(evidence)
    yield from times.notes(evidence)
    yield from issued.notes(evidence)


def _about(evidence: OpenedBundle) -> dict[str, Any]:
    """The bundle's claims on its object, which the steps compare with the records, and the signed times of it."""
    manifest = evidence.manifest
    return {
        "debate": manifest.debate,
        "tenant": manifest.tenant,
        "status": manifest.status,
        "records": manifest.records,
        "logs": list(manifest.logs),
        "recorded": evidence.interval.as_json(),
        "toleranceS": evidence.interval.tolerance_s,
    }


def _unopened(detail: str) -> VerificationReport:
    return VerificationReport("unknown", {}, (VerificationStep(1, "file", "FAILED", detail),))
