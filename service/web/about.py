"""What the OpenAPI document says of the service as a whole: its title, how it is used, and its groups of operations."""

from __future__ import annotations

from collections.abc import Mapping

from service.web.about_access import ACCESS
from service.web.operation import Schema
from service.web.versions import API_VERSION

INFO: Schema = {
    "title": "Gainsay",
    "version": API_VERSION,
    "summary": "Effective challenge for high-stakes answers, with a record of it.",
    "description": (
        "Post a case: a question with its source documents, what a wrong answer may cost, and how sure you are. A gate "
        "decides whether it deserves a debate. The debate runs under a cost ceiling that is never crossed, code checks "
        "every citation, and each step is recorded in an append-only log that can be verified offline.\n\n"
        "**Start** with `POST /v1/debates` and the header `Prefer: wait=60`. If the answer is 202, read the debate "
        "again, or follow its events.\n\n"
        "**Values.** Money is a decimal string in US dollars, exact to the micro-dollar; a request may also have a "
        "number. Shares, confidences and similarities are numbers from 0 to 1. Times are RFC 3339 in UTC. Spans count "
        "Unicode code points and leave the end out. Hashes are SHA-256 in lower-case hexadecimal. A member that has "
        "nothing to say is left out, so clients have to accept that it is absent. They also have to accept members "
        "and codes of flags and reasons that they do not know: later versions add some.\n\n"
        "**Errors** are problem documents (RFC 9457). Branch on `code`.\n\n"
        "**Versions.** Every answer names the version of the API in `Gainsay-Version`. Within the first, answers get "
        "more members and more values, and nothing is taken away. A deprecated operation says so here and in the "
        "`Deprecation`, `Sunset` and `Link` of its answers, for twelve months at least. A request may send "
        f"`Gainsay-Version: {API_VERSION}` to be refused by a service that has less.\n\n"
        "**Traces.** A request may send `traceparent` (W3C Trace Context). Its trace is in the answer's "
        "`traceresponse`, in the service's log, and in the record of a case that the request submits.\n\n" + ACCESS
    ),
    "contact": {"name": "The operator of this service"},
    "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
}
TAGS: Mapping[str, str] = {
    "debates": "Submit a case, read its result, follow it while it runs, end it, and read its report.",
    "batches": "Submit many cases as one file, see how far they are, and read their results as JSON Lines or CSV.",
    "evaluations": "Measure critics, moderators and debates on golden sets, under a plan that is registered first.",
    "audit": "The evidence: bundles, the append-only log with its heads and proofs, exports, and recall.",
    "gate": "Ask before paying: whether a case deserves a debate, and what the debate would cost.",
    "citations": "Compare quotations with their sources, without a debate.",
    "drop-in": "Cases as chat requests, for clients of OpenAI's API. The answer is the decision of the debate.",
    "what runs": "The prompts, models and policy that debates go by, each with the hash that records name.",
    "identity": "Who the caller is; and for operators and administrators: keys, subjects, tenants, reviewers of cases.",
    "webhooks": "Endpoints to which the ends of cases are posted, signed, and the log of what became of each message.",
    "pages": "For people: what each problem means, and this description in a browser.",
    "probes": "For machines that watch the service, and this description.",
}
"""Every tag of an operation, with its words."""
