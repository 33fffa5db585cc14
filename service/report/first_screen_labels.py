"""The words of a report's first screen beside the decision."""

from __future__ import annotations

VIA = {
    "none": "the caller was not authenticated",
    "keyboard": "a person at the keyboard of the machine, who was not authenticated",
}
SIGNED_TIMES = "witnesses sign the log by their own clocks; the command below says between which of their times this is"
NO_HUMAN_DECISION = "none is recorded"
VERIFY = (
    "This command compares this file with the records of the debate. BUNDLE is its evidence (gainsay audit bundle, or "
    "GET /v1/debates/ID/audit), and FILE this file:"
)
KEYS = (
    "LOG_KEY is the verifier key of the log, and WITNESS_KEY that of its witness. Ask each of the two for its own key: "
    "a key that comes with the evidence proves nothing. README.txt in the bundle says more."
)
APPROVER_KEY = "An approver signed the configuration: pin that key, too, with another --key."
