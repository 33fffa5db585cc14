"""Processes take a changed policy while they run: with its approval, as a whole, and without touching what runs."""

from __future__ import annotations

import asyncio
import signal
from copy import deepcopy
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

import httpx
import pytest

from service.audit import approval
from service.cli.audit.verify import tools
from service.debate.entries import DebateConcluded, DebateStarted, TurnSpoke
from service.intake.deployments import deploy
from service.verify.bundle import verify_bundle
from service.verify.steps import Trust
from tests.end_to_end.processes import Deployment, deployed, until_ready
from tests.end_to_end.test_approval import APPROVER
from tests.fixtures.policies import WRITTEN, policy_file
from tests.fixtures.postgres import Database
from tests.fixtures.running import bench
from tests.fixtures.serving import SIGNING_KEY, a_case, settings_for

TRUST = Trust(keys=(SIGNING_KEY.public,), allow_unwitnessed=True)
SLOW_MS, FAST_MS = 700, 1
TAKEN = r"a new configuration is in force: (\w{64})"
STATE = "SELECT FROM gainsay.debate_head WHERE debate = '{debate}' AND state = '{state}'"


class Mount:
    """A mounted policy as Kubernetes has it: each version in a folder, and a link that leads to one of them."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._version = folder, 0
        self.policy, self.approval = folder / "policy.toml", folder / "approval.txt"
        self.policy.symlink_to("..data/gainsay.toml")
        self.approval.symlink_to("..approved/approval.txt")

    def change(self, latency_ms: int, documents: int, dearer: int = 1) -> str:
        """Swap in another version; gives its configuration hash."""
        self._version += 1
        folder = self._folder / f"..{self._version}"
        folder.mkdir()
        providers = {name: {**row, "latency_ms": latency_ms} for name, row in WRITTEN["providers"].items()}
        models = deepcopy(WRITTEN["models"])
        for price in [price for model in models for price in model["prices"]]:
            price["output_usd"] = str(Decimal(price["output_usd"]) * dearer)
        whole = {
            **WRITTEN,
            "policy": {"version": f"v{self._version}"},
            "providers": providers,
            "models": models,
            "limits": {**WRITTEN["limits"], "documents": documents},
            "approval": {"key": APPROVER.public.encode(), "required": True},
        }
        path = policy_file(folder, **whole)
        (self._folder / "..next").symlink_to(folder.name)
        (self._folder / "..next").replace(self._folder / "..data")
        return sha256(deploy(settings_for("postgresql://", GAINSAY_POLICY=str(path))).configuration).hexdigest()

    def approve(self, configuration: str) -> None:
        """Swap in an approval, which is mounted in the same way."""
        note = approval.encode(approval.Approval(configuration, "1", "2026-11-22T09:30:00Z"), APPROVER)
        folder = self._folder / f"..approval-{configuration[:8]}"
        folder.mkdir()
        (folder / "approval.txt").write_bytes(note)
        (self._folder / "..next").symlink_to(folder.name)
        (self._folder / "..next").replace(self._folder / "..approved")
        for former in set(self._folder.glob("..approval-*")) - {folder}:
            rmtree(former)


class Desk:
    """A caller of the API, and what two processes say of themselves."""

    def __init__(self, deployment: Deployment, http: httpx.AsyncClient) -> None:
        self._deployment, self._http = deployment, http

    async def submit(self) -> str:
        """Post a case, and wait until its debate runs."""
        answer = await self._http.post("/v1/debates", json=a_case())
        assert answer.status_code == 202, answer.text
        debate: str = answer.json()["debateId"]
        await self._deployment.finds(STATE.format(debate=debate, state="running"))
        return debate

    async def hash_at(self, url: str) -> str:
        """The hash of the configuration that is in force in a process."""
        found = (await self._http.get(f"{url}/metrics")).text
        (line,) = [line for line in found.split("\n") if line.startswith("gainsay_config_info{")]
        return line.split('hash="')[1].split('"')[0]

    async def verified(self, debate: str) -> None:
        """Wait until a debate has ended, and verify its bundle."""
        await self._deployment.finds(STATE.format(debate=debate, state="completed"))
        # Its last record may not be provable yet, and only another process knows when it is.
        while (bundle := await self._http.get(f"/v1/debates/{debate}/audit")).status_code == 503:  # noqa: ASYNC110
            await asyncio.sleep(0.2)
        assert bundle.status_code == 200, bundle.text
        assert verify_bundle(bundle.content, TRUST, tools()).failed == ()

    async def read(self, path: str) -> httpx.Response:
        """What the API answers."""
        return await self._http.get(path)


@pytest.mark.timeout(180)
async def test_a_change_waits_for_its_approval_and_leaves_what_runs_as_it_began(
    database: Database, tmp_path: Path
) -> None:
    mount = Mount(tmp_path)
    before = mount.change(SLOW_MS, 20)
    mount.approve(before)
    variables = {"GAINSAY_POLICY": str(mount.policy), "GAINSAY_APPROVAL": str(mount.approval)}
    async with deployed(database, tmp_path, GAINSAY_RELOAD_S="0", **variables) as deployment:
        api = deployment.start("serve", "--port", "0", "--no-worker", GAINSAY_RELOAD_S="0.5")
        worker = deployment.start("work", "--port", "0")
        address, scraped = await api.address(), await worker.says(r"address=(http\S+)")
        await until_ready(address)
        async with httpx.AsyncClient(base_url=address, timeout=60) as http:
            desk = Desk(deployment, http)
            after = mount.change(FAST_MS, 7, dearer=2)
            assert await api.says(r"are not taken, (\w+) stays in force: the approval at \S+ is not valid") == before
            assert (await desk.read("/v1/policy")).json()["version"] == "v1"
            assert await desk.hash_at(address) == await desk.hash_at(scraped) == before

            early = await desk.submit()
            mount.approve(after)
            assert await api.says(TAKEN) == after
            policy = (await desk.read("/v1/policy")).json()
            assert (policy["version"], policy["limits"]["documents"]) == ("v2", 7)
            assert (await desk.hash_at(address), await desk.hash_at(scraped)) == (after, before), "for a while"
            between = await desk.submit()

            worker.send(signal.SIGHUP)
            assert await worker.says(TAKEN) == after
            assert deployment.ask(STATE.format(debate=early, state="running")), "it ran while all this happened"
            late = (await http.post("/v1/debates", json=a_case(), headers={"prefer": "wait=30"})).json()["debateId"]
            for debate in (early, between, late):
                await desk.verified(debate)
            replay = deployment.start("replay", early)
            assert await replay.ends() == 0, replay.told

            mount.policy.unlink()
            mount.policy.mkdir()
            for process in (api, worker):
                process.send(signal.SIGHUP)
                await process.says(f"are not taken, {after} stays in force: expected a policy file")
            assert 'gainsay_config_reloads_total{result="faulty"} 1.0' in (await desk.read("/metrics")).text
        for process in (api, worker):
            process.send(signal.SIGTERM)
            assert await process.ends() == 0, process.told[-2_000:]

    configurations, costs = [], []
    async with bench(database.service_url) as reader:
        for debate in (early, between, late):
            entries = await reader.entries(debate)
            (started,) = [entry for entry in entries if isinstance(entry, DebateStarted)]
            assert isinstance(entries[-1], DebateConcluded)
            configurations.append(started.configuration_hash)
            costs.append(sum(entry.charge.amount for entry in entries if isinstance(entry, TurnSpoke)))
    assert configurations == [before, after, after]
    assert costs[0] < costs[1] == costs[2], "each was charged by the prices of its own policy"
