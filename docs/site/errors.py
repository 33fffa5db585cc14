"""Writes `docs/errors.md`: ``python -m docs.site.errors``, after a change to a problem or its text."""

from __future__ import annotations

from docs.site.fences import ROOT
from service.web.problem_text import AGAIN, ProblemText
from service.web.problem_texts import TEXTS

PAGE = ROOT / "docs" / "errors.md"
_AGAIN = {
    "unchanged": "no: ask for something else",
    "corrected": "corrected",
    "later": "after `Retry-After`",
    "underKey": "after `Retry-After`, a case under its key",
    "operator": "once an operator has repaired it",
}
_HEAD = """\
# Every error

Whatever is not a success is a problem document (RFC 9457): `application/problem+json` with `type`, `title`, `status`,
`code`, `detail`, `instance`, `requestId`, and `errors` where single fields are wrong. Programs go by `code`; `detail`
says in words what was found, what was expected and what to do. `type` leads to a page on the service itself with an
example: `GET /problems/CODE`, and `GET /problems` lists them. [tutorial.md](tutorial.md#when-it-is-refused) handles
one in three languages.

The table is written by `python -m docs.site.errors` from the list of which the service makes those pages, and a test
compares the two.

"""


def written() -> str:
    """The page, with a row for each problem that HTTP answers, by status and code."""
    rows = "".join(map(_row, sorted(TEXTS.values(), key=lambda text: (text.example.status, text.example.code))))
    again = "".join(f"| {_AGAIN[each]} | {text} |\n" for each, text in AGAIN.items())
    return (
        f"{_HEAD}There are {len(TEXTS)}.\n\n"
        f"| status | code | what it means | what to do | send it again |\n|---|---|---|---|---|\n{rows}\n"
        f"| send it again | means |\n|---|---|\n{again}"
    )


def _row(text: ProblemText) -> str:
    error = text.example
    todo = " ".join(text.todo)
    cells = (str(error.status), f"`{error.code}`", _cell(text.meaning), _cell(todo), _AGAIN[text.again])
    return f"| {' | '.join(cells)} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(written(), "utf-8")
