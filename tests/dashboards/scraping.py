"""A real Prometheus over the processes of a test: it scrapes every second, loads our rules, and answers queries."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from service.store.embedded.supervisor import free_port
from tests.dashboards.rules import ALERTS, RECORDING, read
from tests.fixtures.prometheus import program

PATIENCE_S = 60.0
STEP_S = 1
NAMESPACE = "gainsay-load"


@dataclass(frozen=True)
class Line:
    """One series of an answer: its labels, and its values by time; NaN stands among them."""

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]

    @property
    def values(self) -> list[float]:
        """The values that are numbers."""
        return [value for _, value in self.points if not math.isnan(value)]


@dataclass(frozen=True)
class Prometheus:
    """Prometheus, from when on it scraped."""

    http: httpx.AsyncClient
    began: float

    async def get(self, path: str, **params: Any) -> Any:
        """The data of an answer; what Prometheus refuses is an error with its reason."""
        answer = await self.http.get(f"/api/v1/{path}", params=params)
        told = answer.json()
        assert told["status"] == "success", f"{told.get('error')}: {params}"
        return told["data"]

    async def over_time(self, expr: str, until: float | None = None) -> list[Line]:
        """What an expression gave from the first scrape on, each second; the last step is not before now."""
        span = {"start": self.began, "end": until or time.time() + STEP_S, "step": STEP_S}
        found = (await self.get("query_range", query=expr, **span))["result"]
        return [Line(each["metric"], tuple((at, float(value)) for at, value in each["values"])) for each in found]

    async def targets(self) -> dict[str, str]:
        """The health of every job that is scraped."""
        found = (await self.get("targets", state="active"))["activeTargets"]
        return {f"{each['labels']['job']} {each['labels']['instance']}": each["health"] for each in found}


@asynccontextmanager
async def scraping(folder: Path, targets: Mapping[str, list[str]], credentials: str) -> AsyncIterator[Prometheus]:
    """Prometheus in a folder, which scrapes these addresses by job with a key of its own; each was scraped once."""
    port = free_port()
    for path in (RECORDING, ALERTS):
        (folder / path.name).write_text(json.dumps(_hurried(read(path))), "utf-8")
    config = folder / "prometheus.yml"
    config.write_text(json.dumps(_config(folder, targets, credentials)), "utf-8")  # JSON is YAML
    words = [
        str(program("prometheus")),
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    ]
    with (folder / "prometheus.stderr.txt").open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(*words, stdout=stderr, stderr=stderr)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
            found = Prometheus(http, time.time())
            await _until_scraped(found, process, folder)
            yield found
    finally:
        process.kill()
        await process.wait()


def _config(folder: Path, targets: Mapping[str, list[str]], credentials: str) -> dict[str, Any]:
    labels, key = {"namespace": NAMESPACE}, {"credentials": credentials}
    return {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(folder / path.name) for path in (RECORDING, ALERTS)],
        "scrape_configs": [
            {"job_name": job, "authorization": key, "static_configs": [{"targets": addresses, "labels": labels}]}
            for job, addresses in targets.items()
        ],
    }


def _hurried(rules: Any) -> Any:
    """The same rules, all of them evaluated each second: some groups wait minutes, and a load lasts one."""
    return {"groups": [{"name": group["name"], "rules": group["rules"]} for group in rules["groups"]]}


async def _until_scraped(found: Prometheus, process: asyncio.subprocess.Process, folder: Path) -> None:
    until = time.monotonic() + PATIENCE_S
    health: dict[str, str] = {}
    while time.monotonic() < until:
        said = (folder / "prometheus.stderr.txt").read_text("utf-8")
        assert process.returncode is None, f"Prometheus has ended: {said[-2_000:]}"
        try:
            health = await found.targets()
        except (httpx.TransportError, json.JSONDecodeError):
            health = {}
        if health and set(health.values()) == {"up"}:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"not every process was scraped: {health}")
