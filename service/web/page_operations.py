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
        tag="probes",
        summary="List every problem that the service answers, as HTML, Markdown or JSON.",
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
        tag="probes",
        summary="Read what a problem means and what a caller does: the page to which type of a problem leads.",
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
        tag="probes",
        summary="Read the description of every operation in a browser; it works without a network.",
        parameters=(_TAGS,),
        answers={200: Answer("The page.", {HTML: ()}, ("ETag",)), 304: _KNOWN},
        problems=(400,),
    ),
    Operation(
        method="get",
        path="/docs/{version}/{name}",
        id="docsFile",
        tag="probes",
        summary="Read a file of that page. Its address changes with its bytes.",
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
