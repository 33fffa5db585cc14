"""What Go modules have of Kubernetes: the sources of its API server, and the definitions of custom resources."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.fixtures.debian import shared_folder

VERSION: Final = "1.36.3"
"""Of Kubernetes: the newest one that Go 1.26 builds."""
BUILD_S: Final = 1_200
FETCH_S: Final = 300
CUSTOM: Final[Mapping[str, tuple[str, str]]] = {
    "ScaledObject": ("github.com/kedacore/keda/v2@v2.18.0", "config/crd/bases/keda.sh_scaledobjects.yaml"),
    "HTTPRoute": ("sigs.k8s.io/gateway-api@v1.4.1", "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml"),
    "Cluster": (
        "github.com/cloudnative-pg/cloudnative-pg@v1.27.0",
        "config/crd/bases/postgresql.cnpg.io_clusters.yaml",
    ),
    "ExternalSecret": (
        "github.com/external-secrets/external-secrets@v0.20.1",
        "config/crds/bases/external-secrets.io_externalsecrets.yaml",
    ),
}
"""The module with the definition of each custom resource, and its file there."""


def api_server() -> Path:
    """The API server of Kubernetes, built once for all checkouts; the test is skipped where it cannot be built."""
    folder = shared_folder("kube-apiserver")
    built = folder / f"kube-apiserver-{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "building.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            try:
                _build(folder, built)
            except subprocess.TimeoutExpired:
                pytest.skip(f"kube-apiserver {VERSION} was not built in {BUILD_S // 60} minutes")
    return built


def definition(kind: str) -> Any:
    """The CustomResourceDefinition of a kind, as its project publishes it."""
    module, path = CUSTOM[kind]
    return yaml.load((_downloaded(module) / path).read_text("utf-8"), Loader=yaml.CSafeLoader)


def operator_types(to: Path) -> Path:
    """The program of `operator/`, which reads objects of the Prometheus Operator into its own types."""
    _go("build", "-o", str(to), ".", folder=Path(__file__).parent / "operator", limit_s=BUILD_S)
    return to


def _go(*words: str, folder: Path | None = None, limit_s: int = FETCH_S) -> str:
    """What `go` prints; the test is skipped without a compiler or where it fails."""
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not Path(go).exists():
        pytest.skip("no Go here (Debian: golang-go)")
    environment = {
        **os.environ,
        "GOFLAGS": "-mod=mod -buildvcs=false",
        "PATH": f"{Path(go).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = ["nice", "-n", "10", go, *words]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=limit_s, check=False
    )
    if done.returncode:
        pytest.skip(f"go {words[0]} {words[-1]}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def _downloaded(module: str) -> Path:
    """The folder of a module, which Go keeps."""
    return Path(json.loads(_go("mod", "download", "-json", module))["Dir"])


def _build(folder: Path, to: Path) -> None:
    """Build from a copy of the module, in which the modules beside it are replaced by their published versions."""
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(_downloaded(f"k8s.io/kubernetes@v{VERSION}"), source, copy_function=shutil.copyfile)
    for path in (source, *source.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for left_over in ("go.work", "go.work.sum"):
        (source / left_over).unlink(missing_ok=True)
    shutil.rmtree(source / "vendor", ignore_errors=True)
    beside = [each["Old"]["Path"] for each in json.loads(_go("mod", "edit", "-json", folder=source))["Replace"]]
    published = VERSION.replace("1.", "0.", 1)
    edits = [edit for name in beside for edit in (f"-dropreplace={name}", f"-require={name}@v{published}")]
    _go("mod", "edit", *edits, folder=source)
    major, minor, _ = VERSION.split(".")
    said = {"gitVersion": f"v{VERSION}", "gitMajor": major, "gitMinor": minor}
    stamps = " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in said.items())
    fresh = to.with_suffix(".building")
    words = ("build", "-p", "2", "-trimpath", "-ldflags", f"-s -w {stamps}", "-o", str(fresh), "./cmd/kube-apiserver")
    _go(*words, folder=source, limit_s=BUILD_S)
    fresh.replace(to)
    shutil.rmtree(source)
