"""What stands in a bundle beside the evidence, by version: the words of README.txt, and the JSON Schemas of its files.

A debate's records name both versions (`service.debate.versions`), and its bundle is written by them, by whatever build.
Other words, another schema or one more of them make a new version beside the old one.
"""

from __future__ import annotations

from collections.abc import Mapping

READMES: Mapping[str, str] = {
    "readme/1": """\
Debate {debate}
===========================================

This is the evidence of one decision: a case, whether it was debated and why, everything that was said, what was
checked, what it cost, and proof that the records were in the log {log} when its head was signed.

Any program that unpacks ZIP files opens it. Begin with report.md. To check it, give the whole file, not what was
unpacked from it, and a verifier key that you have from somebody else than whoever gave you the file:

    gainsay audit verify BUNDLE --key VKEY --witness VKEY

--witness is the key of somebody outside who countersigns the log's heads; where there is none, --allow-unwitnessed says
that you know. With --report FILE the command also compares a report that you hold, as Markdown, HTML or PDF. It needs
no database and no network. It recomputes every byte of the file, every hash, the proofs, the signatures, what each
model was asked, every citation, every charge, the gate's decision and every move of the debate, and names the first
difference. An approved configuration needs the approver's key, too: another --key. docs/verification.md of Gainsay's
sources says what each step proves, and what it does not. Until that command says VERIFIED, these are only words.

Two kinds of steps: file, signature, witnesses, tree, records, context, chain, complete, logs, parts, lines, prompts,
policy, times, approval and issued prove that nothing was altered since it was sealed. docs/format specifies every byte
that they need, so that a third party can write them again. The other steps recompute by this program what was sealed.

manifest.json       what is here, and the SHA-256 of each file
report.md           the readable report: begin here
report.html         the same report for a browser
issued/             the record of each PDF of the report that was handed out: its hash, and its proof; often none
records/            each record: the leaf as it was hashed, its payload, and the salt of the payload's commitment
proofs/             that each leaf lies in the log (C2SP tlog-proof), all under one checkpoint
checkpoints/        the signed head of each log (C2SP tlog-checkpoint), with the cosignatures of its witnesses
times/              the heads that witnesses countersigned before the debate and first with all of it, where there are
heads/              the records that opened the logs after the first, each with the last signed head of the log before
context.json        what the case was about in the words of model risk; every record commits to it
documents/          the source documents, exactly as they were given; none where the case has none
prompts/            the texts, templates and schemas that the debate promised to use; none where the case was declined
policy.json         the policy that held, with models and prices; the register of keys in it is words, and pins nothing
configuration.json  what an approval is of: the hashes of policy, prices and prompts; none where the case was declined
approval.txt        the signed approval of that configuration, where there was one
schema/             JSON Schemas of these files, by version
""",
}
"""The words of README.txt; ``{debate}`` and ``{log}`` are filled in."""

_FIRST = (
    "context.v1",
    "documents.v1",
    "leaf.v1",
    "leaf.v2",
    "manifest.v2",
    "payload.access.changed.v1",
    "payload.attempt.failed.v1",
    "payload.audit.checked.v1",
    "payload.audit.read.v1",
    "payload.audit.remembered.v1",
    "payload.budget.refused.v1",
    "payload.case.received.v1",
    "payload.check.found.v1",
    "payload.content.read.v1",
    "payload.debate.concluded.v1",
    "payload.debate.started.v1",
    "payload.debate.stopped.v1",
    "payload.evaluation.concluded.v1",
    "payload.evaluation.proven.v1",
    "payload.evaluation.registered.v1",
    "payload.evaluation.stopped.v1",
    "payload.gate.decided.v1",
    "payload.item.asked.v1",
    "payload.item.scored.v1",
    "payload.log.opened.v1",
    "payload.moderator.found.v1",
    "payload.moderator.resolved.v1",
    "payload.report.issued.v1",
    "payload.turn.asked.v1",
    "payload.turn.given.v1",
    "payload.turn.silent.v1",
    "payload.turn.spoke.v1",
)
SCHEMAS: Mapping[str, Mapping[str, int]] = {
    "schemas/1": dict.fromkeys(_FIRST, 1),
}
"""The forms whose JSON Schemas are in the folder ``schema``, each with the version that brought its file:
``service/audit/schemas/VERSION/NAME.json``.

A later version names each form again, those that it changes or adds under its own number:
``"schemas/2": {**dict.fromkeys(_FIRST, 1), "context.v1": 2}``. No file of an earlier version ever changes.
"""
