"""The operations of the service's own pages: problems, and the description for people."""

from __future__ import annotations

from service.web.operation import JSON, Answer, Operation, Parameter
from service.web.problem_pages import HTML, MARKDOWN, ProblemDetail, ProblemList

_NAME = {"type": "string"}
_CODE = Parameter("code", "path", "The code of a problem.", _NAME, required=True)
_KNOWN = Answer("The page has not changed since that ETag.", headers=("ETag",))
_TAGS = Parameter("If-None-Match", "header", "The ETag of the page that the client has.", {"type": "string"})

PAGES: tuple[Operation, ...] = (
    Operation(
        method="get",
        path="/problems",
        id="listProblems",
        scope="public",
        tag="pages",
        summary="List every problem that the service answers, as HTML, Markdown or JSON.",
        description="Each with its status and title, and a link to its page. Accept chooses the form.",
        parameters=(_TAGS,),
        answers={
            200: Answer("The problems.", {HTML: (), MARKDOWN: (), JSON: (ProblemList,)}, ("ETag",)),
            304: _KNOWN,
        },
        problems=(400, 406),
    ),
    Operation(
        method="get",
        path="/problems/{code}",
        id="readProblem",
        scope="public",
        tag="pages",
        summary="Read what a problem means and what a caller does: the page to which type of a problem leads.",
        description=(
            "The page says whether and when the request may be sent again, and shows an example of the document. "
            "Accept chooses the form. A code that no problem has is answered with the nearest one."
        ),
        parameters=(_CODE, _TAGS),
        answers={
            200: Answer("The problem.", {HTML: (), MARKDOWN: (), JSON: (ProblemDetail,)}, ("ETag",)),
            304: _KNOWN,
        },
        problems=(400, 404, 406),
    ),
    Operation(
        method="get",
        path="/docs",
        id="docs",
        scope="public",
        tag="pages",
        summary="Read the description of every operation in a browser; it works without a network.",
        description="Reads /openapi.json. Only GET can be tried there: a POST would begin debates that are billed.",
        parameters=(_TAGS,),
        answers={200: Answer("The page.", {HTML: ()}, ("ETag",)), 304: _KNOWN},
        problems=(400,),
    ),
    Operation(
        method="get",
        path="/docs/{version}/{name}",
        id="docsFile",
        scope="public",
        tag="pages",
        summary="Read a file of that page. Its address changes with its bytes.",
        description="Scripts and styles of the page, and the licence of parts that others wrote. They never change.",
        parameters=(
            Parameter("version", "path", "The hash of the files, as the page has it.", _NAME, required=True),
            Parameter("name", "path", "The name of the file.", _NAME, required=True),
            _TAGS,
        ),
        answers={
            200: Answer("The file.", {"text/css": (), "text/javascript": (), "text/plain": ()}, ("ETag",)),
            304: _KNOWN,
        },
        problems=(400, 404),
    ),
)
