"""The operations that find debates and read the documents of a case, as data for OpenAPI."""

from __future__ import annotations

from collections.abc import Mapping

from service.policy.task_types import CHARACTERS_MAX
from service.reviews.cursor import LONGEST
from service.reviews.query_parameters import CLOSED, TEXT_MAX, VALUES_MAX, WORDS_MAX
from service.store.debate_query import COUNTED, SORTS
from service.web.documents import TEXT, DocumentList
from service.web.list_types import DebateList
from service.web.operation import DEBATE, IF_NONE_MATCH, INSTANT, JSON, LIMIT, Answer, Operation, Parameter, Schema

_NO_NUL = r"^[^\x00]*\S[^\x00]*$"


def _several(name: str, description: str, item: Schema) -> Parameter:
    """A parameter that may be given several times."""
    schema = {"type": "array", "items": item, "maxItems": VALUES_MAX}
    return Parameter(name, "query", description, schema)


def _text(most: int) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": most, "pattern": _NO_NUL}


def _closed(name: str, description: str) -> Parameter:
    return _several(name, description, {"type": "string", "enum": list(CLOSED[name])})


_END = "A debate passes when its end is provable."
_PARAMETERS = (
    Parameter("since", "query", "Created at this time or later: a day in UTC, or a time with its zone.", INSTANT),
    Parameter("until", "query", "Created before this time.", INSTANT),
    _several("taskType", "One of these task types.", _text(CHARACTERS_MAX)),
    _closed("status", "One of these statuses, as the list shows them."),
    _closed("format", "One of these formats. A declined case has none."),
    _closed("outcome", f"One of these outcomes of the decision. {_END}"),
    _closed("confidence", f"One of these confidences of the decision. {_END}"),
    _closed("flag", f"One of these flags. {_END}"),
    Parameter(
        "humanReview",
        "query",
        f"Whether the decision requires a person. {_END}",
        {"type": "boolean"},
    ),
    _several("useCase", "One of these use cases, word for word.", _text(TEXT_MAX)),
    _closed("materiality", "One of these materialities of the case."),
    _closed("purpose", "Brought to decide something, or as an item of an evaluation. Without it the list has both."),
    _several(
        "model",
        "It rests on one of these models: an alias, the name sent to the vendor, or the one in a response.",
        _text(200),
    ),
    _several(
        "metadata",
        "KEY=VALUE: the metadata of the case has this very pair. KEY alone: it has the key. The first = divides, so a "
        "key that holds one cannot be asked for. Of several all must hold.",
        {"type": "string", "minLength": 1, "maxLength": TEXT_MAX, "pattern": r"^[^=\x00][^\x00]*$"},
    ),
    Parameter(
        "q",
        "query",
        "Words of the question, in any form that an English stemmer takes for the same; a phrase in quotes, `or` "
        "between words, `-` before a word that must be absent (PostgreSQL's websearch_to_tsquery).",
        _text(WORDS_MAX),
    ),
    Parameter(
        "sort",
        "query",
        "The order; with - the greatest first. Where two are level, the order of their ids. A debate that has not "
        "ended comes last in both orders of its cost.",
        {"type": "string", "enum": list(SORTS), "default": SORTS[0]},
    ),
    LIMIT,
    Parameter(
        "after",
        "query",
        "The value of next on the previous page, with the same filters and sort.",
        {"type": "string", "minLength": 1, "maxLength": LONGEST, "pattern": "^[A-Za-z0-9_-]+$"},
    ),
    _closed(
        "facets",
        f"Count the debates by value. Counts are exact up to {COUNTED:,} debates; of more, the newest are counted.",
    ),
)
_DOCUMENT = Parameter(
    "document",
    "path",
    "The document's id, or sha256: and the SHA-256 of its text.",
    {"type": "string", "minLength": 1},
    required=True,
)

LISTS: Mapping[str, Operation] = {
    operation.id: operation
    for operation in (
        Operation(
            method="get",
            path="/v1/debates",
            id="listDebates",
            scope="case.read",
            tag="debates",
            summary="Find debates and declined cases: filters, an order, pages, counts.",
            description=(
                "Of several values of one parameter any passes; filters of different names must all pass. Shows the "
                "projection that lists are made of. It is compared with the records in the background, within "
                "audit.row_hours of the policy; a read of one debate is compared at once. A debate that another "
                "version recorded is in the list by time without filters. Filters, other orders and facets have it "
                "after `gainsay rebuild`."
            ),
            parameters=_PARAMETERS,
            answers={200: Answer("One page of debates.", {JSON: (DebateList,)}, ("Link",))},
            problems=(400, 414, 503),
        ),
        Operation(
            method="get",
            path="/v1/debates/{debate}/documents",
            id="listDocuments",
            scope="case.read",
            tag="debates",
            summary="List the documents of a case, as they were recorded.",
            description=(
                "Each with the SHA-256 and the length of its text, which is compared with the commitment of the case "
                "first. href leads to the text."
            ),
            parameters=(DEBATE,),
            answers={200: Answer("The documents, in the order of the case.", {JSON: (DocumentList,)})},
            problems=(400, 404, 503),
        ),
        Operation(
            method="get",
            path="/v1/debates/{debate}/documents/{document}",
            id="readDocument",
            scope="case.read",
            tag="debates",
            summary="Read the text of a document, compared with the commitment of the case first.",
            description=(
                "Sent as plain text that no browser runs, byte for byte as the caller gave it in UTF-8. Citations "
                "count code points of this text. A text that does not match its commitment is 500 evidence_damaged."
            ),
            parameters=(DEBATE, _DOCUMENT, IF_NONE_MATCH),
            answers={
                200: Answer("The text, in UTF-8.", {TEXT: ()}, ("ETag", "Content-Disposition")),
                304: Answer("The client has this text already.", headers=("ETag",)),
            },
            problems=(400, 404, 503),
        ),
    )
}
