"""Every process starts from the words, settings and files of its rendered pod alone, and a case comes out proven.

`make test-pods` runs this, on an embedded PostgreSQL. What differs from a cluster: ports are free ones of this machine,
and names of Services are 127.0.0.1.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.audit.note import COSIGNATURE, SigningKey
from service.prompts.manifest import DIRECTORY
from service.store.embedded.supervisor import free_port
from tests.chart.laid_out import Started, lay_out, maps_of
from tests.chart.rendering import Object, merged, pods, render
from tests.chart.sets import NEEDED
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository

if "GAINSAY_TEST_PODS" not in os.environ:
    pytest.skip("`make test-pods` runs this: it starts every process", allow_module_level=True)

pytestmark = [pytest.mark.no_replay, pytest.mark.timeout(300)]

LOG = SigningKey.from_seed("audit.bank.example", bytes(range(32)))
APPROVER = SigningKey.from_seed("model-risk.bank.example", bytes(range(1, 33)))
WITNESS = SigningKey.from_seed("witness.example", bytes(range(2, 34)), COSIGNATURE)
TOKEN = "token-of-sixteen-characters"
PORTS = {"api": 8321, "witness": 8322, "signer": 8323, "sequencer": 8324, "worker": 8325}
READY_S = 60.0
PATH = {"PATH": os.environ["PATH"]}


class Site:
    """A release whose containers are processes of this machine."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.folder = folder
        self.ports = {name: free_port() for name in PORTS}
        self._secrets = {
            ("gainsay-database", "service-url"): database.service_url,
            ("gainsay-database", "api-url"): database.serving_url,
            ("gainsay-database", "sequencer-url"): database.sequencer_url,
            ("gainsay-database", "migrate-url"): database.migrate_url,
            ("gainsay-signer", "token"): TOKEN,
            ("gainsay-metrics", "token"): TOKEN[::-1],
            ("gainsay-log-key", "log.key"): LOG.encode(),
            ("gainsay-witness-key", "witness.key"): WITNESS.encode(),
        }
        self.values = self._approved()
        self.objects = tuple(render(self.values))

    def _approved(self) -> dict[str, Any]:
        """Values with a policy, its approvals and the pin, as the approver signs them at a desk of its own."""
        desk = self.folder / "desk"
        desk.mkdir()
        run(desk, PATH, "policy", "init", "--vendor", "simulated", "--out", "policy.toml")
        with (desk / "policy.toml").open("a") as policy:
            policy.write(
                f'[[audit.witnesses]]\nurl = "http://127.0.0.1:{self.ports["witness"]}"\n'
                f'key = "{WITNESS.public.encode()}"\n'
                f'[approval]\nkey = "{APPROVER.public.encode()}"\nrequired = true\n'
                '[tenants.probe]\npurpose = "probe"\nday_usd = "unlimited"\nmonth_usd = "unlimited"\n'
                'approval = "probe.txt"\n'
            )
        secret(desk / "approver.key", APPROVER.encode())
        own = {**PATH, "GAINSAY_POLICY": "policy.toml"}
        run(desk, own, "approve", "--key", "file:approver.key", "--out", "approval.txt")
        run(desk, own, "approve", "--key", "file:approver.key", "--tenant", "probe", "--out", "probe.txt")
        said = {name: (desk / name).read_text("utf-8") for name in ("policy.toml", "approval.txt", "probe.txt")}
        keys = [LOG.public.encode(), APPROVER.public.encode()]
        return merged(
            NEEDED,
            {
                "policy": {"toml": said["policy.toml"], "files": {"probe.txt": said["probe.txt"]}},
                "approval": {"note": said["approval.txt"]},
                "prompts": {"pin": sha256((DIRECTORY / "manifest.json").read_bytes()).hexdigest()},
                "witness": {"enabled": True, "logKeys": [LOG.public.encode()]},
                "metrics": {"token": {"secret": "gainsay-metrics", "key": "token"}},
                "settings": {"drainS": 1, "logFormat": "text"},
                "prober": {"enabled": True, "keys": keys, "witnesses": [WITNESS.public.encode()]},
            },
        )

    def keep(self, name: str, key: str, text: str) -> None:
        """Add a key to a Secret."""
        self._secrets[name, key] = text

    def started(self, kind: str, end: str) -> tuple[Started, Object]:
        """What the only container of an object starts, on this machine, and its pod."""
        (pod,) = (pod for x, pod in pods(self.objects) if x["kind"] == kind and x["metadata"]["name"].endswith(end))
        (container,) = pod["spec"]["containers"]
        found = lay_out(container, pod, maps_of(self.objects), self._secrets, self.folder / kind / end.strip("-"))
        here = {name: self._here(value) for name, value in found.environment.items()}
        return Started(tuple(self._here(word) for word in found.words), here), pod

    def _here(self, text: str) -> str:
        text = text.replace("http://r-gainsay-api:80", f"http://127.0.0.1:{self.ports['api']}")
        for name, port in PORTS.items():
            text = text.replace(f"r-gainsay-{name}:{port}", f"127.0.0.1:{self.ports[name]}")
            text = str(self.ports[name]) if text == str(port) else text
        return text


def secret(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, "utf-8")


def run(folder: Path, environment: Mapping[str, str], *words: str) -> str:
    """What a command of the program prints, in an environment with nothing else; it has to succeed."""
    command = [sys.executable, "-m", "service", *words]
    own = {**environment, "PYTHONPATH": str(repository())}
    done = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{words}: {done.stderr}{done.stdout}"
    return done.stdout


@contextmanager
def process(site: Site, kind: str, component: str) -> Iterator[None]:
    """The process of a component, from its start-up probe until it has stopped within its pod's time."""
    found, pod = site.started(kind, f"-{component}")
    said = site.folder / f"{component}.txt"
    with said.open("wb") as log:
        own = {**PATH, **found.environment, "PYTHONPATH": str(repository())}
        running = subprocess.Popen(
            [sys.executable, "-m", "service", *found.words], cwd=site.folder, env=own, stdout=log, stderr=log
        )
    try:
        until_answered(site, component, pod["spec"]["containers"][0]["startupProbe"], running, said)
        yield
        running.send_signal(signal.SIGTERM)
        assert running.wait(pod["spec"]["terminationGracePeriodSeconds"]) == 0, said.read_text()
    finally:
        running.kill()
        running.wait()


def until_answered(
    site: Site, component: str, probe: Object, running: subprocess.Popen[bytes] | None = None, said: Path | None = None
) -> None:
    """Wait until a probe of a container has its answer."""
    address = f"http://127.0.0.1:{site.ports[component]}{probe['httpGet']['path']}"
    until = time.monotonic() + READY_S
    said_last = "no answer"
    while time.monotonic() < until:
        try:
            answer = httpx.get(address)
            if answer.status_code == 200:
                return
            said_last = answer.text
        except httpx.TransportError as error:
            said_last = str(error)
        if running is not None and said is not None and running.poll() is not None:
            raise AssertionError(f"{component} has ended: {said.read_text('utf-8')}")
        time.sleep(0.1)
    raise AssertionError(f"{address}: {said_last}")


def test_a_release_of_processes_probes_itself_to_a_proof(empty_database: Database, tmp_path: Path) -> None:
    site = Site(empty_database, tmp_path)
    migration, _ = site.started("Job", "-migrate")
    run(tmp_path, {**PATH, **migration.environment}, *migration.words)

    with ExitStack() as stack:
        for kind, component in (
            ("StatefulSet", "signer"),
            ("StatefulSet", "witness"),
            ("Deployment", "sequencer"),
            ("Deployment", "worker"),
            ("Deployment", "api"),
        ):
            stack.enter_context(process(site, kind, component))
        for component in PORTS:
            until_answered(site, component, {"httpGet": {"path": "/readyz"}})
            metrics = f"http://127.0.0.1:{site.ports[component]}/metrics"
            shown = {"Authorization": f"Bearer {TOKEN[::-1]}", "Host": "10.0.0.7"}
            assert httpx.get(metrics, headers=shown).status_code == 200, component
            assert httpx.get(metrics, headers={"Host": "10.0.0.7"}).status_code in (401, 403), component

        api, _ = site.started("Deployment", "-api")
        own = {**PATH, **api.environment}  # as `kubectl exec` in the API's pod has it
        run(tmp_path, own, "tenants", "create", "probe")
        roles = ("--role", "requester", "--role", "auditor")
        operator = ("--tenant", "probe", "--role", "operator", *roles, "--name", "Ada Lovelace", "--kind", "person")
        secret(tmp_path / "operator.txt", run(tmp_path, own, "keys", "create", *operator, "--days", "90"))
        caller = {"GAINSAY_SERVER": f"http://127.0.0.1:{site.ports['api']}", "GAINSAY_TOKEN": "file:operator.txt"}
        key = run(tmp_path, {**PATH, **caller}, "keys", "create", *roles, "--name", "prober", "--days", "366")
        site.keep("gainsay-prober", "token", key)
        probe, _ = site.started("Pod", "-test-probe")
        assert "probe: good" in run(tmp_path, {**PATH, **probe.environment}, *probe.words)
