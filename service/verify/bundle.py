"""The steps over a bundle; each rests on those before it.

 1  file         no file is missing or extra, and each has the hash in the manifest
 2  records      each leaf has its exact form, each payload its salted hash
 3  context      the context of the case and its documents have their salted hashes
 4  chain        n has no gap, and each record names the one before it
 5  complete     one debate from its case to its end; envelopes agree with payloads
 6  tree         every record is under the one checkpoint
 7  signature    the pinned key signed the checkpoint of the records' log
 8  witnesses    a quorum of the pinned witnesses cosigned it
 9  logs         the tenant's earlier logs end where the next one says
10  prompts      files, manifest and pins agree
11  policy       policy, prices and configuration have their hashes
12  seats        models and price rows are those of the policy on that day
13  approval     the configuration has its approval
14  gate         the decision follows from its inputs; this build has every version that it seals
15  moves        every entry is legal after those before it
16  requests     each request, rendered again, has its hash
17  checks       every citation and every other check gives the same finding
18  charges      each charge follows from usage and price row
19  money        the ceiling holds at every entry; its refusals are right
20  outcome      the outcome follows from the entries
21  report       report.md and README.txt equal those written from the records
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from service.audit.bundle import BadBundle, Bundle, unpack
from service.verify import (
    checks,
    earlier_logs,
    files,
    gate,
    log,
    money,
    policy,
    prompts,
    records,
    replay,
    report,
    requests,
)
from service.verify.opened_bundle import OpenedBundle
from service.verify.steps import NotCheckable, Tools, Trust, VerificationReport, VerificationStep, perform

UNREADABLE = "the file is not a bundle that can be opened"


def verify_bundle(data: bytes, trust: Trust, tools: Tools) -> VerificationReport:
    """Verify the bytes of a bundle; never raises."""
    try:
        bundle = unpack(data)
    except BadBundle as error:
        return _unopened(error.detail)
    except Exception as fault:  # noqa: BLE001 - a malformed ZIP may raise any error
        return _unopened(f"{UNREADABLE} ({type(fault).__name__})")
    return verify_opened(bundle, trust, tools)


def verify_opened(bundle: Bundle, trust: Trust, tools: Tools) -> VerificationReport:
    """Verify an opened bundle; never raises."""
    evidence = OpenedBundle(bundle)
    named: list[tuple[str, Callable[[], str]]] = [
        ("file", lambda: files.check_files(evidence)),
        ("records", lambda: records.sealed(evidence)),
        ("context", lambda: records.context(evidence)),
        ("chain", lambda: records.chain(evidence)),
        ("complete", lambda: records.complete(evidence)),
        ("tree", lambda: log.check_inclusion(evidence, trust)),
        ("signature", lambda: log.signature(evidence, trust)),
        ("witnesses", lambda: log.check_witnesses(evidence, trust)),
        ("logs", lambda: earlier_logs.check_earlier_logs(evidence, trust)),
        ("prompts", lambda: prompts.check_promised(evidence)),
        ("policy", lambda: policy.policy(evidence)),
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
    ]
    steps = tuple(perform(n, name, check) for n, (name, check) in enumerate(named, start=1))
    return VerificationReport("bundle", _about(evidence), steps)


def _kept(evidence: OpenedBundle, tools: Tools) -> str:
    """The money step, with rendered requests where they can be rendered."""
    started = evidence.debate.started
    try:
        rendering = requests.Rendering(evidence, started, tools) if started else None
    except NotCheckable:
        rendering = None
    return money.check_ceiling(evidence.debate, rendering)


def _about(evidence: OpenedBundle) -> dict[str, Any]:
    """The bundle's claims on its object; the steps compare them with the records."""
    manifest = evidence.manifest
    return {
        "debate": manifest.debate,
        "tenant": manifest.tenant,
        "status": manifest.status,
        "records": manifest.records,
        "logs": list(manifest.logs),
        "made": manifest.made,
        "build": manifest.build,
    }


def _unopened(detail: str) -> VerificationReport:
    return VerificationReport("unknown", {}, (VerificationStep(1, "file", "FAILED", detail),))
