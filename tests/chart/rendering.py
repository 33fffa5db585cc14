"""The chart, rendered by helm: each set of values once in a process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.chart.sets import NEEDED, SETS, Values

ROOT: Final = Path(__file__).resolve().parents[2]
CHART: Final = ROOT / "helm" / "gainsay"
HELM: Final = shutil.which("helm", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
"""Helm, of a package for Linux on x86-64, or else installed; tests that render are skipped without it."""
RELEASE, NAMESPACE = "r", "risk"
NEWEST, OLDEST = "1.37", "1.29"
Object = dict[str, Any]


class Strict(yaml.CSafeLoader):
    """Refuses a key that stands twice in one mapping, which a reader of YAML takes once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping whose keys are all different."""
        keys = [key.value for key, _ in node.value]
        assert len({*keys}) == len(keys), f"twice in one mapping: {keys}"
        return super().construct_mapping(node, deep)


class Refused(Exception):
    """Helm did not render; the text is what it said."""


def merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Values laid over others, as helm does with a second file."""
    both = {
        key: merged(below[key], value) if isinstance(value, dict) and isinstance(below.get(key), dict) else value
        for key, value in above.items()
    }
    return {**below, **both}


def helm(*words: str | Path, version: str = NEWEST) -> str:
    """What helm prints; raises `Refused`."""
    given = ["--kube-version", version] if words[0] in ("template", "lint") else []
    if HELM is None:
        pytest.skip("no helm on the PATH, and no package of it for this machine: install helm 3")
    done = subprocess.run([HELM, *words, *given], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(done.stderr + done.stdout)
    return done.stdout


def render(values: Values, chart: Path = CHART, release: str = RELEASE) -> list[Object]:
    """The objects that the values make; raises `Refused`."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(values, file)
        file.flush()
        text = helm("template", release, chart, "--namespace", NAMESPACE, "--values", file.name)
    return [found for found in yaml.load_all(text, Loader=Strict) if found]


@cache
def rendered(name: str) -> tuple[Object, ...]:
    """The objects of a set: one of `SETS`, an example by its file's name, or the chart inside of an umbrella."""
    if name == "umbrella":
        return tuple(_under_an_umbrella())
    if name.endswith(".yaml"):
        example = yaml.safe_load((CHART / "examples" / name).read_text("utf-8"))
        return tuple(render(merged(NEEDED, example)))
    return tuple(render(merged(NEEDED, SETS[name])))


def every_set() -> list[str]:
    """The name of every set that is rendered."""
    return [*SETS, "umbrella", *sorted(path.name for path in (CHART / "examples").glob("*.yaml"))]


def _under_an_umbrella() -> list[Object]:
    """The chart thrice as a part of another one: by its name, as a witness by an alias, and switched off."""
    with tempfile.TemporaryDirectory() as folder:
        umbrella = Path(folder) / "bank"
        shutil.copytree(CHART, umbrella / "charts" / "gainsay")
        parts = [
            {"name": "gainsay", "version": "*", "condition": "gainsay.enabled"},
            {"name": "gainsay", "version": "*", "condition": "second.enabled", "alias": "second"},
            {"name": "gainsay", "version": "*", "condition": "third.enabled", "alias": "third"},
        ]
        about = {"apiVersion": "v2", "name": "bank", "version": "1.0.0", "dependencies": parts}
        (umbrella / "Chart.yaml").write_text(yaml.safe_dump(about), "utf-8")
        everyone = {"imageRegistry": "registry.bank.example", "imagePullSecrets": ["pull"], "cluster": {"zone": "a"}}
        second = {**SETS["witness-alone"], "enabled": True}
        values = {"gainsay": {**NEEDED, "enabled": True}, "second": second, "third": {"enabled": False}}
        return render({"global": everyone, **values}, umbrella)


def pods(objects: tuple[Object, ...]) -> Iterator[tuple[Object, Object]]:
    """Each object that starts pods, with the template of its pod."""
    for found in objects:
        if found["kind"] == "Pod":
            yield found, found
        elif found["kind"] == "CronJob":
            yield found, found["spec"]["jobTemplate"]["spec"]["template"]
        elif "template" in found.get("spec", {}) and found["kind"] in ("Deployment", "StatefulSet", "Job"):
            yield found, found["spec"]["template"]


def containers(pod: Object) -> list[Object]:
    """Every container of a pod, also those before it."""
    found: list[Object] = [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
    return found


def one(objects: tuple[Object, ...], kind: str, end: str) -> Object:
    """The only object of a kind whose name ends so."""
    (found,) = (x for x in objects if x["kind"] == kind and x["metadata"]["name"].endswith(end))
    return found
