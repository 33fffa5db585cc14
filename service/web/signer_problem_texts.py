"""The errors of signers and witnesses, in words for their pages."""

from __future__ import annotations

from service.audit.checkpoint import BadCheckpoint
from service.audit.note import BadKey, BadNote
from service.audit.proof import BadProof
from service.audit.tree import ProofError
from service.audit.witness import BadSubmission
from service.proving.signing import SignerUnavailable
from service.proving.signing.checkpoint_files import CheckpointFilesUnusable
from service.web.problem_text import ProblemText

SIGNERS = (
    ProblemText(
        BadSubmission("expected a line 'old' with a decimal number, hashes and an empty line, found another text"),
        "A witness cannot read what was submitted to it.",
        ("Send the body as C2SP tlog-witness has it.",),
        "corrected",
        "/add-checkpoint",
    ),
    ProblemText(
        BadNote("expected a text, an empty line and lines of signatures, found no such parts"),
        "A signed note cannot be read, or a signature of it does not hold.",
        ("Send the note as it was published, byte for byte.",),
        "corrected",
        "/sign",
    ),
    ProblemText(
        BadCheckpoint("expected the three lines origin, size and root, found 2"),
        "A checkpoint cannot be read.",
        ("Send the checkpoint as C2SP tlog-checkpoint has it.",),
        "corrected",
        "/sign",
    ),
    ProblemText(
        BadKey("expected a key of the form name+id+base64, found another text"),
        "A verifier key cannot be read.",
        ("Copy the whole key, without line breaks.",),
        "corrected",
        "/sign",
    ),
    ProblemText(
        BadProof("expected at most 63 hashes in a path, found 64"),
        "A proof cannot be read.",
        ("Send the proof as C2SP tlog-proof has it.",),
        "corrected",
        "/sign",
    ),
    ProblemText(
        ProofError("the consistency path leads to another root of size 12: 5f... instead of 9a..."),
        "A proof can be read and does not hold: two heads are not of one log.",
        ("Keep both heads and tell the operator of the log: one of them is not what was signed before.",),
        "operator",
        "/sign",
    ),
    ProblemText(
        SignerUnavailable("the signer at https://signer.example does not answer: connection refused", retry_after=5),
        "The heads of a log cannot be signed: the signer does not answer, or does not hold the log's key.",
        ("Compare the log's key with those of GET /keys of the signer.",),
        "later",
        "/sign",
    ),
    ProblemText(
        CheckpointFilesUnusable("the last heads of logs cannot be kept: no space left on device"),
        "A signer or a witness cannot read or keep the last heads, so it signs nothing.",
        ("Have the operator look at the folder of heads.",),
        "operator",
        "/sign",
    ),
)
