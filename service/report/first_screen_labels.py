"""The words of a report's first screen beside the decision."""

from __future__ import annotations

VIA = {
    "apiKey": "authenticated by an API key of this service",
    "oidc": "authenticated by a token of an identity provider",
    "proxy": "authenticated by a proxy before this service",
    "databaseRole": "a process of this service",
    "none": "the caller was not authenticated: the service ran without identities",
    "keyboard": "a person at the keyboard of the machine, who was not authenticated",
}
AUTHENTICATED = frozenset({"apiKey", "oidc", "proxy"})
"""How a caller shows who it is. Beside any other word role and kind are the writer's claim, and not shown."""
KIND_OF_ACTOR = {"person": "a person", "service": "a service", "unknown": "of unknown kind"}
SIGNED_TIMES = (
    "not in this report: where a witness countersigns the log, the command below prints between which of its times the "
    "debate lies"
)
DOOR = {"completions": "the endpoint of chat completions", "batch": "a batch", "evaluation": "an evaluation"}
"""The ways by which a case came in, other than the usual one."""
MEASURES = (
    "This debate is an item of an evaluation: it measures models over a golden set, whose answer is known. No caller "
    "has asked for its decision, and it decides nothing."
)
NO_HUMAN_DECISION = "none is recorded"
NO_DISSENT = "Dissent: none that stands at the end"
SETTLED = frozenset({"upheld", "modified", "rejected", "chosen", "ranked", "agreed"})
"""The outcomes that conclude something, from which a seat can dissent."""
VERIFY = (
    "This command compares this file with the records of the debate. BUNDLE is its evidence (gainsay audit bundle, or "
    "GET /v1/debates/ID/audit), and FILE this file:"
)
KEYS = (
    "LOG_KEY is the verifier key of the log, and WITNESS_KEY that of its witness. Ask each of the two for its own key: "
    "a key that comes with the evidence proves nothing. If the log has no witness, write --allow-unwitnessed in the "
    "place of --witness WITNESS_KEY; the result then says UNWITNESSED. README.txt in the bundle says more."
)
APPROVER_KEY = "An approver signed the configuration: pin that key, too, with another --key."
