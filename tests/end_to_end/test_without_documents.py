"""Cases without documents over HTTP: debated in every format that policy allows, proved, and never checked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from service.cli import main
from service.policy.settings import SHIPPED_POLICY
from tests.end_to_end.test_http_refusals import pointers
from tests.fixtures.postgres import Database
from tests.fixtures.serving import JSON, SIGNING_KEY, Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEYS = ("--key", SIGNING_KEY.public.encode(), "--allow-unwitnessed")
QUESTION = "Should we ship feature X this week?"
OPTIONS: Mapping[str, JSON] = {
    "stances": {"debaters": [{"name": "a", "stance": "ship now"}, {"name": "b", "stance": "do not ship now"}]},
    "ballot": {"votes": ["release", "revise"]},
    "panel": {"maxRounds": 2},
    "convergence": {"maxRounds": 1},
    "adversarial": {},
}
MISLEADING = ("0 of 0", "100 %", "all verified", "No argument was struck", "100.0 %", "fully cited", "all of the text")
"""What a reader could take for a check that was made."""


def case(form: str) -> JSON:
    """A case of a format, without documents."""
    return {
        "question": QUESTION,
        "taskType": "architecture",
        "estimatedDownside": 500000,
        "options": {"format": form, **OPTIONS[form]},
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def allowing(module_database: Database, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """A service whose policy allows the adversarial format without documents."""
    policy = tmp_path_factory.mktemp("policy") / "policy.toml"
    refused, allowed = (f'adversarial_without_documents = "{word}"' for word in ("refused", "allowed"))
    policy.write_text(SHIPPED_POLICY.read_text("utf-8").replace(refused, allowed), "utf-8")
    async with served(module_database.service_url, GAINSAY_POLICY=str(policy)) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def debated(allowing: Served) -> Mapping[str, str]:
    """The debate of each format, by its id, all at once."""

    async def run(form: str) -> str:
        debate = (await allowing.submit(case(form)))["debateId"]
        await allowing.events(debate)
        return str(debate)

    return dict(zip(OPTIONS, await asyncio.gather(*map(run, OPTIONS)), strict=True))


async def result_of(site: Served, debate: str) -> JSON:
    """The result of a debate."""
    answered = await site.http.get(f"/v1/debates/{debate}?view=full")
    found: JSON = answered.json()
    return found


@pytest.mark.parametrize("form", OPTIONS)
async def test_it_is_debated_and_the_result_says_that_nothing_was_checked(
    allowing: Served, debated: Mapping[str, str], form: str
) -> None:
    r = await result_of(allowing, debated[form])

    assert (r["format"], r["status"]) == (f"{form}/1", "completed")
    assert "documents" not in r["case"]
    assert r["decision"]["confidence"] in ("MODERATE", "LOW")
    assert {"reason": "noDocuments", "atMost": "MODERATE"} in r["caps"]
    assert "noDocuments" in r["decision"]["humanReview"]["reasons"]
    assert (r.get("coverage"), r["coverageAbsent"]) == (None, "noDocuments")
    assert set(r["citationCounts"].values()) == {0}
    assert not {"struck", "criticalValidationFailures"} & set(r)


@pytest.mark.parametrize("form", OPTIONS)
async def test_its_bundle_is_verified(
    allowing: Served, debated: Mapping[str, str], form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answered = await allowing.http.get(f"/v1/debates/{debated[form]}/audit")
    bundle = tmp_path / "case.zip"
    bundle.write_bytes(answered.content)

    code = main(["audit", "verify", str(bundle), *KEYS])

    said = capsys.readouterr().out
    assert code == 0, said
    assert said.splitlines()[-1].startswith("VERIFIED")


@pytest.mark.parametrize("form", OPTIONS)
async def test_no_page_or_report_of_it_looks_as_if_its_citations_were_checked(
    allowing: Served, debated: Mapping[str, str], form: str
) -> None:
    for kind in ("text/html", "text/markdown"):
        answered: httpx.Response = await allowing.http.get(
            f"/v1/debates/{debated[form]}/report", headers={"accept": kind}
        )

        assert answered.is_success, answered.text
        assert "No documents were given" in answered.text
        assert "No document was given, so nothing could be cited" in answered.text
        assert not [words for words in MISLEADING if words in answered.text]


async def test_a_quote_of_such_a_case_is_what_its_debate_needs(allowing: Served) -> None:
    answered = await allowing.http.post("/v1/quotes", json=case("panel"))

    assert answered.is_success, answered.text
    assert "documents" not in answered.json()


async def test_the_shipped_policy_refuses_the_adversarial_format_and_says_how_to_go_on(
    module_database: Database,
) -> None:
    bare = {name: value for name, value in case("panel").items() if name != "options"}
    async with served(module_database.service_url, work=False, sequence=False) as shipped:
        refusals = [
            await shipped.http.post("/v1/debates", json={**bare, **asked})
            for asked in (
                {"options": {"format": "adversarial"}},
                {},
                {"options": {"format": "auto"}, "taskType": "contract"},
            )
        ]

    for refusal in refusals:
        assert refusal.status_code == 422
        said = refusal.json()
        assert (said["code"], pointers(said)) == ("invalid_case", ["/documents"])
        assert "stances, ballot, panel, convergence" in said["detail"]
        assert 'debate.adversarial_without_documents = "allowed"' in said["detail"]
    assert "auto: policy names no format for the task type contract" in refusals[2].json()["detail"]
