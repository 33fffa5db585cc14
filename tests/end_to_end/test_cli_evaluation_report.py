"""`gainsay evaluate report`: the report of an evaluation in each form, by the suffix of its file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.processes import deployed
from tests.end_to_end.test_cli_evaluate import a_file, asked
from tests.fixtures.evaluating import GOLDEN, a_plan
from tests.fixtures.postgres import Database

pytestmark = pytest.mark.long
ENDINGS = (".html", ".md", ".json", ".pdf")


async def test_a_report_is_written_in_the_form_of_its_suffix(database: Database, tmp_path: Path) -> None:
    sets = ("--sets", str(GOLDEN / "tiny-critic"))
    async with deployed(database, tmp_path) as deployment:
        await asked(deployment, "run", a_file(tmp_path, a_plan("critic")), *sets)
        evaluation = (await asked(deployment, "show")).out.split()[0]
        shown = await asked(deployment, "show", evaluation, "--json")
        reports = [await asked(deployment, "report", evaluation, "-o", str(tmp_path / f"r{end}")) for end in ENDINGS]
        printed = await asked(deployment, "report", evaluation)
        unknown = await asked(deployment, "report", "01890a5d-ac96-774b-bcce-b302099a8057")
        wrong = await asked(deployment, "report", evaluation, "-o", "r.txt")

    assert [one.code for one in (*reports, printed, unknown, wrong)] == [0, 0, 0, 0, 0, 2, 2]
    html, markdown, written, pdf = ((tmp_path / f"r{end}").read_bytes() for end in ENDINGS)
    assert markdown.decode() == printed.out
    assert b"Trial of a critic on planted flaws" in html
    assert pdf.startswith(b"%PDF")
    assert json.loads(written) == json.loads(shown.out)["result"]
    assert ".json, .md, .html, .htm, .pdf" in wrong.err
