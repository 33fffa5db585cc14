"""examples/page prints the stream of any format in a browser, from its own origin, with twenty lines of script.

The browser is Debian's chromium, headless. Where it or node is missing, the tests are skipped.
"""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from service import samples
from tests.fixtures.chromium import needs_browser, shown
from tests.fixtures.serving import Event, Served, a_declined_case

pytestmark = pytest.mark.asyncio(loop_scope="module")

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node to serve examples/page")
VARIANTS = (None, "stances", "ballot", "panel", "convergence", "declined")
MOST = 20


@pytest_asyncio.fixture(loop_scope="module")
async def page(site: Served, root: Path) -> AsyncIterator[str]:
    """The address of the page, served beside the service."""
    server = await asyncio.create_subprocess_exec(
        NODE or "node", str(root / "examples/page/serve.mjs"), site.url, "0", stdout=asyncio.subprocess.PIPE
    )
    try:
        assert server.stdout is not None
        async with asyncio.timeout(60):
            yield (await server.stdout.readline()).decode().strip()
    finally:
        server.terminate()
        await server.wait()


async def items(address: str, folder: Path) -> list[tuple[str, str]]:
    """The events that the page lists once it has loaded and its stream has ended: name and words."""
    found = re.findall(r"<li><b>(.*?)</b>(.*?)</li>", (await shown(address, folder)).dom, re.DOTALL)
    return [(name, unescape(words)) for name, words in found]


async def raw(address: str, path: str) -> bytes:
    """The answer to a GET of a path as it is written here: clients resolve dots themselves."""
    host = httpx.URL(address)
    reader, writer = await asyncio.open_connection(host.host, host.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host.host}:{host.port}\r\nConnection: close\r\n\r\n".encode())
    async with asyncio.timeout(60):
        answer = await reader.read()
    writer.close()
    return answer


def argues(event: Event) -> bool:
    """Whether a debater speaks in arguments alone, without an answer beside them."""
    return event.name == "round" and "answer" not in event.members and "arguments" in event.members


@needs_browser
@needs_node
@pytest.mark.parametrize("variant", VARIANTS)
async def test_the_page_lists_every_event_of_any_format(
    site: Served, page: str, tmp_path: Path, variant: str | None
) -> None:
    case = a_declined_case() if variant == "declined" else samples.load("contract", variant).case
    debate = (await site.finished(case))["debateId"]
    events = await site.events(debate)

    listed = await items(f"{page}#{debate}", tmp_path)

    assert [name for name, _ in listed] == [event.name for event in events]
    silent = re.compile(r"|undefined|.*: (undefined|null|)|.*\[object .*")
    assert [item for item in listed if silent.fullmatch(item[1])] == []
    own = [
        (e.members["arguments"][0]["text"], words) for e, (_, words) in zip(events, listed, strict=True) if argues(e)
    ]
    assert [text for text, words in own if text not in words] == [], "each debater is heard"
    final = events[-1].members
    assert (final.get("result") if "event" in final else final)["decision"]["answer"] in listed[-1][1]  # type: ignore[index]


@needs_node
async def test_the_server_of_the_page_forwards_debates_alone(site: Served, page: str) -> None:
    debate = (await site.finished())["debateId"]

    async with httpx.AsyncClient(base_url=page, verify=False) as http:
        streamed = await http.get(f"v1/debates/{debate}/events", headers={"last-event-id": "3"})
        refused = [(await http.get(path)).status_code for path in ("v1/policy", "metrics", "v1/debates", "index.html")]
        posted = await http.post("v1/debates/", json={})
        foreign = await http.get(f"v1/debates/{debate}", headers={"host": "bank.example:8400"})
    dotted = await raw(page, "/v1/debates/../policy")

    assert streamed.headers["content-type"].startswith("text/event-stream")
    direct = await site.http.get(f"/v1/debates/{debate}/events", headers={"last-event-id": "3"})
    assert streamed.text == direct.text, "a reader resumes through it"
    assert (refused, posted.status_code) == ([404] * 4, 405)
    assert foreign.status_code == 421, "a name that was made to resolve to this machine"
    assert dotted.startswith(b"HTTP/1.1 404 ")


async def test_the_script_of_the_page_has_at_most_twenty_lines(root: Path) -> None:
    script = (root / "examples/page/index.html").read_text("utf-8").partition("<script>\n")[2].partition("</script>")[0]

    assert len(script.splitlines()) <= MOST
    assert "innerHTML" not in script, "what models write never becomes markup"
