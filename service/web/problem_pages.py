"""The pages of problems, to which ``type`` of a problem document leads: HTML, Markdown or JSON by Accept."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape as escaped
from typing import ClassVar

import msgspec
from litestar import Response, get
from msgspec import Struct

from service.errors import NotFound, did_you_mean
from service.report.document.html_text import escape, escape_plain
from service.report.document.stylesheet import STYLE
from service.report.sent import as_json, encode
from service.web import headers
from service.web.app_state import HttpRequest
from service.web.debates import known_query
from service.web.pages import closed_policy, hashed_source, own_file, up
from service.web.problem_text import AGAIN, Again, ProblemText
from service.web.problem_texts import TEXTS
from service.web.problems import TYPE, Problem, problem
from service.web.refusals import NotAcceptable

HTML, MARKDOWN, JSON = "text/html", "text/markdown", "application/json"
FORMS = (HTML, MARKDOWN, JSON)
POLICY = closed_policy(f"style-src {hashed_source(STYLE)}")
_INTRODUCTION = (
    "Every error of this service is a problem document (RFC 9457). Its type is the address of one of these pages, and "
    "its code is the same word alone. Programs compare either as a text; they are stable."
)
_EXAMPLE_REQUEST, _EXAMPLE_TRACE = "req_4f2a", "4bf92f3577b34da6a3ce929d0e0e4736"


class ProblemDetail(Struct, frozen=True, kw_only=True, rename="camel"):
    """A problem that the service may answer: what it means, what a caller does, and whether to send it again.

    ``again`` is ``unchanged`` (there is nothing to send), ``corrected``, ``later`` (after Retry-After), ``underKey``
    (as ``later``, a case under its Idempotency-Key), or ``operator`` (after a repair).
    """

    type: str
    """The address of the page, which is the `type` of the problem."""
    code: str
    """The code by which clients branch."""
    status: int
    """The status of the answer, from 400 to 599."""
    title: str
    """The kind of the problem in words."""
    meaning: str
    """What the problem means."""
    todo: tuple[str, ...]
    """What a caller does about it, step by step."""
    again: Again
    """Whether and when the request may be sent again."""
    document: Problem
    """A problem document as the service answers it."""

    @classmethod
    def of(cls, text: ProblemText) -> ProblemDetail:
        """The same with an example of the whole document."""
        error = text.example
        named = {"request_id": _EXAMPLE_REQUEST, "trace_id": _EXAMPLE_TRACE}
        example = msgspec.structs.replace(problem(error, text.instance), **named)
        return cls(
            type=TYPE + error.code,
            code=error.code,
            status=error.status,
            title=error.title,
            meaning=text.meaning,
            todo=text.todo,
            again=text.again,
            document=example,
        )


class ProblemList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Every problem that the service may answer, by status and code."""

    always_sent: ClassVar = ("problems",)

    problems: tuple[ProblemDetail, ...]
    """The problems by status and code."""


def every_problem() -> tuple[ProblemDetail, ...]:
    """Every problem, by status and code."""
    return tuple(sorted(map(ProblemDetail.of, TEXTS.values()), key=lambda one: (one.status, one.code)))


@get("/problems")
async def problem_list(request: HttpRequest) -> Response[bytes]:
    """The list of all problems."""
    known_query(request, ())
    found, form = every_problem(), _form(request)
    if form == JSON:
        return _answer(request, encode(ProblemList(problems=found)), form)
    rows = _list_html(found, up(request), described=_has_docs(request)) if form == HTML else _list_markdown(found)
    page = _page("Problems", "type of every error", rows) if form == HTML else "".join(rows)
    return _answer(request, page.encode(), form)


@get("/problems/{code:str}")
async def problem_page(request: HttpRequest) -> Response[bytes]:
    """The page of one problem."""
    known_query(request, ())
    code, form = str(request.path_params["code"]), _form(request)
    if (text := TEXTS.get(code)) is None:
        raise NotFound(f"there is no problem {code[:80]!r}; /problems lists all{did_you_mean(code, TEXTS)}")
    found = ProblemDetail.of(text)
    if form == JSON:
        return _answer(request, encode(found), form)
    page = _page(found.title, found.code, _html(found, up(request))) if form == HTML else "".join(_markdown(found))
    return _answer(request, page.encode(), form)


HANDLERS = (problem_list, problem_page)


def _form(request: HttpRequest) -> str:
    wanted = headers.best_media_type(request.headers.get("accept"), FORMS)
    if wanted is None:
        raise NotAcceptable(f"a page of problems comes as {', '.join(FORMS)}; accept one of them")
    return wanted


def _answer(request: HttpRequest, content: bytes, form: str) -> Response[bytes]:
    return own_file(request, content, form, policy=POLICY, vary="Accept")


def _page(title: str, subtitle: str, body: Iterator[str]) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape_plain(title)} - Gainsay</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header>\n<p>Gainsay</p>\n<h1>{escape(title)}</h1>\n<p><code>{escape(subtitle)}</code></p>\n</header>\n<main>\n"
        f"{''.join(body)}</main>\n</body>\n</html>\n"
    )


def _has_docs(request: HttpRequest) -> bool:
    """Whether this application has a description for people: a signer and a port of probes have none."""
    return any(route.path == "/docs" for route in request.app.routes)


def _list_html(found: tuple[ProblemDetail, ...], up: str, *, described: bool) -> Iterator[str]:
    yield f"<p>{escape(_INTRODUCTION)}</p>\n"
    yield '<div class="wide" tabindex="0" role="region" aria-label="All problems">\n<table>\n<thead><tr>'
    yield '<th scope="col" class="number">Status</th><th scope="col">Code</th><th scope="col">Meaning</th>'
    yield "</tr></thead>\n<tbody>\n"
    for one in found:
        yield (
            f'<tr><td class="number">{one.status}</td><th scope="row"><a href="{up}problems/{one.code}">'
            f"<code>{one.code}</code></a></th><td>{escape(one.title)}</td></tr>\n"
        )
    yield "</tbody>\n</table>\n</div>\n"
    if described:
        yield f'<p class="note"><a href="{up}docs">The description of every operation</a></p>\n'


def _html(one: ProblemDetail, up: str) -> Iterator[str]:
    yield f'<p class="lead">{escape(one.meaning)}</p>\n'
    yield (
        f"<dl><div><dt>Status</dt><dd>{one.status}</dd></div><div><dt>Type</dt><dd><code>{one.type}</code></dd></div>"
        f"<div><dt>Send it again?</dt><dd>{escape(AGAIN[one.again])}</dd></div></dl>\n"
    )
    yield "<section>\n<h2>What to do</h2>\n<ul>"
    yield "".join(f"<li>{escape(step)}</li>" for step in one.todo) + "</ul>\n</section>\n"
    yield '<section>\n<h2 id="example">An example</h2>\n<pre tabindex="0" role="region" aria-labelledby="example">'
    yield f"{escaped(_example(one))}</pre>\n</section>\n"
    yield f'<nav aria-label="Problems"><a href="{up}problems">All problems</a></nav>\n'


def _list_markdown(found: tuple[ProblemDetail, ...]) -> Iterator[str]:
    yield f"# Problems\n\n{_INTRODUCTION}\n\n| status | code | meaning |\n|---|---|---|\n"
    for one in found:
        yield f"| {one.status} | [{one.code}]({one.type}) | {one.title} |\n"


def _markdown(one: ProblemDetail) -> Iterator[str]:
    yield f"# {one.title}\n\n`{one.code}`, status {one.status}, type `{one.type}`\n\n{one.meaning}\n\n"
    yield f"**Send it again?** {AGAIN[one.again]}\n\n## What to do\n\n"
    yield "".join(f"- {step}\n" for step in one.todo)
    yield f"\n## An example\n\n```json\n{_example(one)}\n```\n"


def _example(one: ProblemDetail) -> str:
    return msgspec.json.format(msgspec.json.encode(as_json(one.document))).decode()
