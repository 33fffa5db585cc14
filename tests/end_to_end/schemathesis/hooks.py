"""What schemathesis cannot know of the service: how its media types are read, and which rules no schema can say.

schemathesis loads this file by itself (SCHEMATHESIS_HOOKS). Its own check of accepted requests allows refusals here,
and `refused_by_a_rule_that_no_schema_says` takes its place: a request that fits the document may be refused for the
reasons of `RULES` alone.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from typing import Any

import schemathesis
from schemathesis import CheckContext, DeserializationContext, Response, SerializationContext

RULES = (
    # They depend on the time, on what is recorded, or on what runs.
    r"deadline '.*' has passed",
    r"the key belongs to debate \S+, which has another case",
    r"the key belongs to evaluation \S+, which has another plan",
    r"this case was already recorded under this key",
    r"Last-Event-ID must be the id of an event of this stream",
    r"expected Accept to allow",
    r"expected from= to be at most \d+, the size",
    r"this service has no identities",
    r"no key was issued|nothing was revoked|the case was not assigned",
    r"expected a name that no tenant has",
    r"expected the id of a subject of the tenant",
    r"expected \d+ to \d+ days",  # the file of identities says how many
    # They are of the text of a plan, which has a form of its own.
    r"^the plan is not TOML|^the plan is nested too deeply|: there is no such member",
    r"^(line \d+: )?(plan|sets|arms|comparisons|models|effect|pins|the file)(\.\w+)*: ",
    # They compare members with each other.
    r"expected the roles .* alone for a key without a tenant|expected roles of a tenant",
    r"expected some of the scopes that",
    r"expected operator among the roles of the first operator",
    r"expected exactly one of prompt, manifest, configuration",
    r"expected sources with distinct ids",
    r"expected two to \d+ positions with distinct ids",
    r"unknown seat",
    r"unknown model",
    r"documents is empty, and the format 'adversarial'",
    r"role '\w+' may not force the gate",  # of the caller
    r"consensusThreshold must be from 1 to",  # the number of debaters
    r"maxRounds must be from 1 to",  # of `auto`, by the format that policy chooses
    r"votes have to differ in more than case and punctuation",
    r"debaters need names that differ in more than case",
    r"judgeInstructions are for a judge, and judge is false",
    # A schema can say them, but not in a form that every reader of schemas knows.
    r"costCeilingUSD must be above 0 and at most",  # as a text
    r"costCeilingUSD: expected US dollars with at most six decimal places",  # as a number
    r"debater '.*' needs a stance of one line",
    r"no pinned prompt '",
    r"must be a name of at most \d+ printed characters",
    r"taskType must be the name of one, found another text",
    r"(estimatedDownside|confidenceScore) must be below 10\^15 and have at most 40 digits",  # as a number, 10^-259
    r"convergenceSimilarity must be from 0 to 1 with at most three decimals",  # as a number
    r", found ''$",  # drawn for a parameter that may be left out
    r"printable characters",  # which an expression can only list by ranges
    r"holds characters that no model is shown",
    r"the endpoint is disabled, so nothing is sent to it",
    r"the URL cannot be asked: ",  # one strict form of an address, and which networks policy allows
    r"since must be before until",
    r"line [0-9]+: ",  # a line of a file of cases is a text, and then a case
    r"found no line with one",
    r"the batch must be JSON Lines",
    r"policy names no ceiling for batches",
    r"expected ceilingUSD above 0",
    r"deadline .* has passed",
    r"deadline must be RFC 3339",
    r"after must be the value of next on a page of this list",
    r"expected 'integer.*', got 'number'",  # 7.0, which is an integer to a schema
)
"""Rules of the service that stand between members or outside the request: words of each refusal."""
OF_CHATS = ("model_not_found", "unsupported_parameter", "stake_missing")
"""Codes of chat requests that members of OpenAI's API have: each is known, and refused for its value."""
_KEYS = itertools.cycle(os.environ.get("GAINSAY_TEST_SCHEMATHESIS_KEYS", "").split())
"""Keys that are sent in turn, each with one request; none where the run sends one key or no key."""
_KEPT = frozenset(os.environ.get("GAINSAY_TEST_SCHEMATHESIS_KEPT", "").split())
"""Ids of the keys that are sent, and of their subjects, which the run learns from lists and must not revoke."""
_RULE = re.compile("|".join(RULES))
_REFUSED = (400, 402, 406, 409, 413, 415, 422)


@schemathesis.deserializer("text/event-stream")
def events(_: DeserializationContext, response: Response) -> Any:
    """A stream as its events, each a text; one of them as an object whose data is read."""
    text = response.content.decode()
    if "request-id" in response.headers:
        return [block for block in text.split("\n\n") if "\nevent: " in f"\n{block}"]
    fields = dict(line.split(": ", 1) for line in text.split("\n"))
    return {**fields, "data": json.loads(fields["data"])}


@schemathesis.deserializer("application/jsonl", "application/x-ndjson", "text/csv", "text/markdown", "text/html")
def text(_: DeserializationContext, response: Response) -> str:
    """A text as a whole."""
    return response.content.decode()


@schemathesis.serializer("application/jsonl", "application/x-ndjson")
def lines(_: SerializationContext, value: Any) -> bytes:
    """A text as it is, and any other value as the one line of a file."""
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


@schemathesis.hook
def before_call(_: schemathesis.HookContext, case: schemathesis.Case[Any], _sent: dict[str, Any]) -> None:
    """Send the next key; what would end a key that is sent is asked of one that is not there."""
    if (key := next(_KEYS, None)) is not None:
        case.headers["authorization"] = f"Bearer {key}"
    if case.path.endswith(("/revoke", "/rotate")):
        named = {name: value for name, value in case.path_parameters.items() if value in _KEPT}
        case.path_parameters |= {name: f"{value[:4]}{'0' * len(value[4:])}" for name, value in named.items()}


@schemathesis.check
def refused_by_a_rule_that_no_schema_says(_: CheckContext, response: Response, case: schemathesis.Case[Any]) -> None:
    """A request that fits the document is taken, or one of the rules refuses it."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code not in _REFUSED:
        return
    problem = response.json()
    if (chat := problem.get("error")) is not None:
        faults = [] if chat["code"] in OF_CHATS else [chat["message"]]
    else:
        faults = [fault["detail"] for fault in problem.get("errors", ())] or [problem["detail"]]
    others = [fault for fault in faults if not _RULE.search(fault)]
    assert not others, f"the document allows what the service refuses: {others}"
