"""What the clients' pages and docs/tutorial.md show is run: the blocks of a page are one program."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

from tests.fixtures.client_drivers import npm_tools
from tests.fixtures.serving import Served, a_case

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOT = Path(__file__).resolve().parents[3]
ADDRESS = "http://127.0.0.1:8321"


def program(page: Path, language: str, site: Served) -> str:
    """The blocks of a page, one after the other."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 4
    return "\n".join(blocks).replace(ADDRESS, site.url)


def pages(language: str, of_client: str, site: Served) -> list[str]:
    """The programs of a language, of its client's page and of the tutorial."""
    return [program(ROOT / page, language, site) for page in (of_client, "docs/tutorial.md")]


async def run(*command: str | Path, folder: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    async with asyncio.timeout(100):
        out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()
    return out.decode()


async def test_the_page_for_python(site: Served, tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(json.dumps(a_case()))
    of_client, tutorial = pages("python", "clients/python/README.md", site)
    (tmp_path / "page.py").write_text(f"{of_client}\n{tutorial}")

    told = await run(sys.executable, "-W", "error", "page.py", folder=tmp_path)

    assert (tmp_path / "tutorial-case.zip").read_bytes().startswith(b"PK")
    assert "invalid_case [('/taskType', " in told
    assert (tmp_path / "bundle.zip").read_bytes().startswith(b"PK")
    assert "final" in told
    assert "/taskType" in told
    assert json.loads((tmp_path / "gainsay-heads.json").read_text())["heads"]


async def test_the_page_for_typescript(
    site: Served, tmp_path: Path, node_program: Path, pytestconfig: pytest.Config
) -> None:
    tools = npm_tools(pytestconfig) / "node_modules" / ".bin"
    (tmp_path / "node_modules").symlink_to(node_program.parent / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    for file, text in zip(("page.ts", "tutorial.ts"), pages("ts", "clients/typescript/README.md", site), strict=True):
        (tmp_path / file).write_text(text)
    options = (
        "--strict",
        "--skipLibCheck",
        "--target",
        "es2022",
        "--lib",
        "es2022,dom,dom.asynciterable",
        "--module",
        "nodenext",
    )

    await run(tools / "tsc", *options, "page.ts", "tutorial.ts", folder=tmp_path)
    told = await run("node", "page.js", folder=tmp_path)
    learnt = await run("node", "tutorial.js", folder=tmp_path)

    assert "final" in told
    assert "/taskType" in told
    assert re.search(r"invalid_case \[\s+.?/taskType ", learnt)


async def test_the_tutorial_at_a_shell(site: Served, tmp_path: Path) -> None:
    (tmp_path / "page.sh").write_text(program(ROOT / "docs/tutorial.md", "sh", site))

    told = await run("bash", "-eu", "page.sh", folder=tmp_path)

    assert (tmp_path / "tutorial-case.zip").read_bytes().startswith(b"PK")
    assert '"worstUSD":"' in told
    assert '"outcome":"' in told
    assert '"code":"invalid_case"\n"pointer":"/taskType"' in told
