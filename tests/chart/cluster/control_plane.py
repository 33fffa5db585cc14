"""A control plane: etcd and the API server of Kubernetes, without a controller, a scheduler or a node."""

from __future__ import annotations

import os
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from service.store.embedded.supervisor import free_port
from tests.chart.cluster.go_modules import api_server
from tests.chart.rendering import HELM, Object, Refused
from tests.fixtures import debian

START_S: Final = 120.0
_TOKEN: Final = "token-of-the-administrator-of-a-test"


class ControlPlane:
    """An API server that answers; what is asked of it, and helm against it."""

    def __init__(self, http: httpx.Client, folder: Path) -> None:
        self._http, self._folder = http, folder
        self._paths: dict[tuple[str, str], tuple[str, bool]] = {}

    def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json", **query: str) -> Any:
        """The JSON of an answer; raises `Refused` with the server's words."""
        headers = {"Content-Type": kind}
        answer = self._http.request(method, path, json=body, params=query, headers=headers)
        if answer.is_error:
            raise Refused(f"{answer.status_code} {answer.json().get('message', '')}")
        if warning := answer.headers.get("warning"):
            raise Refused(f"a warning: {warning}")
        return answer.json()

    def path(self, found: Object, namespace: str) -> str:
        """Where objects of the kind of this one are made."""
        version, kind = found["apiVersion"], found["kind"]
        if (version, kind) not in self._paths:
            root = f"/api/{version}" if version == "v1" else f"/apis/{version}"
            for each in self.ask("GET", root)["resources"]:
                if "/" not in each["name"]:
                    self._paths[version, each["kind"]] = (f"{root}{{}}/{each['name']}", each["namespaced"])
        template, namespaced = self._paths[version, kind]
        return template.format(f"/namespaces/{namespace}" if namespaced else "")

    def make(self, found: Object, namespace: str, *, dry: bool = False) -> Any:
        """Make an object, with every field known to the server, or only ask whether it would be made."""
        query = {"fieldValidation": "Strict", **({"dryRun": "All"} if dry else {})}
        placed = {**found, "metadata": {**found["metadata"], **({"namespace": namespace} if namespace else {})}}
        return self.ask("POST", self.path(found, namespace), placed, **query)

    def objects(self, namespace: str, *kinds: tuple[str, str]) -> dict[tuple[str, str], Object]:
        """The objects of these kinds, ``(apiVersion, kind)``, by kind and name."""
        found: dict[tuple[str, str], Object] = {}
        for version, kind in kinds:
            listed = self.ask("GET", self.path({"apiVersion": version, "kind": kind}, namespace))["items"]
            found |= {(kind, x["metadata"]["name"]): {"apiVersion": version, "kind": kind, **x} for x in listed}
        return found

    def namespace(self, name: str) -> None:
        """A namespace that enforces the restricted profile, and warns of what it would refuse."""
        enforced = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
        about = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": enforced}}
        self.ask("POST", "/api/v1/namespaces", about)

    def helm(self, *words: str | Path) -> str:
        """What helm prints; raises `Refused`."""
        if HELM is None:
            pytest.skip("no helm on the PATH: install helm 3")
        done = subprocess.run(
            [HELM, *words],
            env={**os.environ, "KUBECONFIG": str(self._folder / "kubeconfig"), "HOME": str(self._folder)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise Refused(done.stderr + done.stdout)
        return done.stdout


@contextmanager
def running(folder: Path) -> Iterator[ControlPlane]:
    """A control plane that is ready; its processes are gone at the end."""
    server, etcd = api_server(), debian.program("etcd-server", "etcd")
    kept, peer, port = free_port(), free_port(), free_port()
    _write_keys(folder)
    store = f"http://127.0.0.1:{kept}"
    peers = f"http://127.0.0.1:{peer}"
    words = [
        *(
            str(etcd),
            "--data-dir",
            str(folder / "etcd"),
            "--listen-client-urls",
            store,
            "--advertise-client-urls",
            store,
        ),
        *("--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}"),
    ]
    serving = {
        "etcd-servers": store,
        "cert-dir": folder / "certificates",
        "secure-port": port,
        "bind-address": "127.0.0.1",
        "service-cluster-ip-range": "10.0.0.0/24",
        "authorization-mode": "RBAC",
        "token-auth-file": folder / "tokens.csv",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-signing-key-file": folder / "accounts.key",
        "service-account-key-file": folder / "accounts.pub",
    }
    flags = [f"--{name}={value}" for name, value in serving.items()]
    with (
        _process(words, folder / "etcd.log"),
        _process([str(server), *flags], folder / "api.log") as process,
        _client(folder, port, process) as http,
    ):
        yield ControlPlane(http, folder)


@contextmanager
def _process(words: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as said:
        process = subprocess.Popen(words, stdout=said, stderr=said)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def _client(folder: Path, port: int, process: subprocess.Popen[bytes]) -> Iterator[httpx.Client]:
    """A client of the administrator's, once the server is ready, and the same for helm in a file."""
    issuer, address = folder / "certificates" / "apiserver.crt", f"https://127.0.0.1:{port}"
    until = time.monotonic() + START_S
    while not issuer.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.1)
    user = {"name": "admin", "user": {"token": _TOKEN}}
    server = {"name": "test", "cluster": {"server": address, "certificate-authority": str(issuer)}}
    context = {"name": "test", "context": {"cluster": "test", "user": "admin"}}
    about = {"apiVersion": "v1", "kind": "Config", "clusters": [server], "users": [user], "contexts": [context]}
    (folder / "kubeconfig").write_text(yaml.safe_dump({**about, "current-context": "test"}))
    trusted = ssl.create_default_context(cafile=str(issuer))
    shown = {"Authorization": f"Bearer {_TOKEN}"}
    with httpx.Client(base_url=address, verify=trusted, headers=shown, timeout=60) as http:
        while not _ready(http):
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError((folder / "api.log").read_text("utf-8", "replace")[-2_000:])
            time.sleep(0.2)
        yield http


def _ready(http: httpx.Client) -> bool:
    try:
        return http.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def _write_keys(folder: Path) -> None:
    """The key of service accounts, and the token of the administrator."""
    key = rsa.generate_private_key(65_537, 2_048)
    pem, form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "accounts.key").write_bytes(private)
    (folder / "accounts.pub").write_bytes(key.public_key().public_bytes(pem, form))
    (folder / "tokens.csv").write_text(f"{_TOKEN},admin,admin,system:masters\n")
