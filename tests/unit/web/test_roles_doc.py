"""docs/roles.md shows the table of roles and the scope of each operation as they are.

`python -m tests.unit.web.test_roles_doc` writes both tables anew.
"""

from __future__ import annotations

import re
from pathlib import Path

from service.identity.roles import GRANTS, ROLES, SCOPES, holders
from service.web.operations import OPERATIONS

PAGE = Path(__file__).parents[3] / "docs" / "roles.md"


def scopes_table() -> str:
    """Scope by role: how far it reaches."""
    rows = ["| scope | " + " | ".join(f"`{role}`" for role in ROLES) + " |", "|---|" + "---|" * len(ROLES)]
    rows += [
        f"| `{scope}` | " + " | ".join(GRANTS[role].get(scope, "") for role in ROLES) + " |"
        for scope in SCOPES
        if holders(scope)
    ]
    return "\n".join(rows)


def operations_table() -> str:
    """Route by scope, with the roles that have it."""
    rows = ["| route | operation | scope | roles |", "|---|---|---|---|"]
    for each in OPERATIONS:
        entitled = (
            ""
            if each.scope == "public"
            else ", ".join(
                role for role in holders(each.scope) if not each.whole or GRANTS[role][each.scope] == "tenant"
            )
        )
        scope = each.scope if each.scope == "public" else f"`{each.scope}`{' over the tenant' if each.whole else ''}"
        rows.append(
            f"| `{each.method.upper()} {each.path}` | `{each.id}` | {scope} | {entitled or _every(each.scope)} |"
        )
    return "\n".join(rows)


def _every(scope: str) -> str:
    return "every caller" if scope == "public" else "every caller that is known"


def written(page: str) -> str:
    """The page with both tables as they are."""
    for name, table in (("roles", scopes_table()), ("operations", operations_table())):
        place = re.compile(rf"<!-- {name} -->\n(\n\|.*?\n(?=\n))?", re.DOTALL)
        assert len(place.findall(page)) == 1, name
        page = place.sub(f"<!-- {name} -->\n\n{table}\n", page)
    return page


def test_the_page_shows_both_tables_as_they_are() -> None:
    page = PAGE.read_text("utf-8")

    assert page == written(page), "python -m tests.unit.web.test_roles_doc writes them"


def test_a_changed_grant_would_be_seen() -> None:
    page = PAGE.read_text("utf-8")

    assert written(page.replace("| `case.submit` | own |", "| `case.submit` | tenant |")) == page
    assert written(page.replace("`submitCase` | `case.submit`", "`submitCase` | public")) == page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8")), "utf-8")
