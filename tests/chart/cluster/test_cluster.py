"""A real API server takes what the chart renders, admits its pods as restricted, and lives through its releases.

`make test-cluster` runs this. There are no controllers: none makes pods, and a thread of the test ends the Job.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.chart.cluster.control_plane import ControlPlane, running
from tests.chart.cluster.go_modules import CUSTOM, VERSION, definition, operator_types
from tests.chart.rendering import CHART, Object, Refused, every_set, merged, one, pods, rendered
from tests.chart.sets import NEEDED, SETS, Values

if "GAINSAY_TEST_CLUSTER" not in os.environ:
    pytest.skip("`make test-cluster` runs these: it builds an API server", allow_module_level=True)

pytestmark = [pytest.mark.no_replay, pytest.mark.timeout(1_800)]

OTHERS = {"ServiceMonitor", "PrometheusRule"}
"""Kinds whose definitions no registry has: their project's types read them instead."""
KINDS = (
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "Job"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("policy/v1", "PodDisruptionBudget"),
    ("v1", "ConfigMap"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
)
IMMUTABLE = {"openshift"}
"""Sets that give the signer a claim of its own in place of the StatefulSet's, which no release can change."""


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The control plane, which knows the custom resources that can be had."""
    with running(tmp_path_factory.mktemp("plane")) as found:
        for kind in CUSTOM:
            found.make(definition(kind), "")
        for kind in CUSTOM:
            until_served(found, kind)
        found.namespace("rendered")
        found.namespace("admitted")
        specs = [template["spec"] for name in every_set() for _, template in pods(rendered(name))]
        for name in sorted({spec.get("serviceAccountName", "default") for spec in specs}):
            found.make({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}, "admitted")
        yield found


def until_served(plane: ControlPlane, kind: str) -> None:
    """Wait until the server has a path for a custom resource."""
    spec = definition(kind)["spec"]
    group, version = spec["group"], spec["versions"][0]["name"]
    for _ in range(300):
        try:
            plane.ask("GET", f"/apis/{group}/{version}/{spec['names']['plural']}")
        except (Refused, ValueError):
            threading.Event().wait(0.1)
        else:
            return
    raise AssertionError(f"{kind} is not served")


def test_the_server_is_the_version_that_is_named(plane: ControlPlane) -> None:
    assert plane.ask("GET", "/version")["gitVersion"] == f"v{VERSION}"


@pytest.mark.parametrize("name", every_set())
def test_the_server_would_make_every_object_and_warns_of_none(name: str, plane: ControlPlane) -> None:
    found = [x for x in rendered(name) if x["kind"] not in {*OTHERS, "Pod"}]

    for each in found:
        plane.make(each, "rendered", dry=True)
    assert found


@pytest.mark.parametrize("name", every_set())
def test_every_pod_is_admitted_as_restricted(name: str, plane: ControlPlane) -> None:
    for owner, template in pods(rendered(name)):
        plane.make(as_pod(owner, template), "admitted", dry=True)


def test_a_pod_that_is_not_restricted_is_refused(plane: ControlPlane) -> None:
    ((owner, template), *_) = pods(rendered("needed"))
    pod = as_pod(owner, template)
    loose = merged(pod, {"spec": {**pod["spec"], "hostNetwork": True}})

    with pytest.raises(Refused, match="violates PodSecurity"):
        plane.make(loose, "admitted", dry=True)


@pytest.mark.parametrize("kind", CUSTOM)
def test_a_custom_resource_that_is_wrong_is_refused(kind: str, plane: ControlPlane) -> None:
    found = next(x for name in every_set() for x in rendered(name) if x["kind"] == kind)

    with pytest.raises(Refused, match="unknown field"):
        plane.make(merged(found, {"spec": {**found["spec"], "unheard": 1}}), "rendered", dry=True)


def test_the_types_of_the_prometheus_operator_read_its_objects_and_no_others(tmp_path: Path) -> None:
    program, file = operator_types(tmp_path / "decode"), tmp_path / "object.json"

    def read(found: Object) -> subprocess.CompletedProcess[str]:
        file.write_text(json.dumps(found))
        return subprocess.run([program, found["kind"], file], capture_output=True, text=True, check=False)

    objects = [x for x in rendered("watched") if x["kind"] in OTHERS]
    assert {x["kind"] for x in objects} == OTHERS
    assert [said for x in objects if (said := read(x).stderr)] == []
    for found in objects:
        assert "unknown field" in read(merged(found, {"spec": {**found["spec"], "unheard": 1}})).stderr


def as_pod(owner: Object, template: Object) -> Object:
    """The pod that a controller would make, with the volume of a claim where a StatefulSet has one."""
    spec = dict(template["spec"])
    if claims := owner["spec"].get("volumeClaimTemplates"):
        given = [{"name": x["metadata"]["name"], "persistentVolumeClaim": {"claimName": "x"}} for x in claims]
        spec["volumes"] = [*spec["volumes"], *given]
    spec.setdefault("restartPolicy", "Always")
    metadata = {**template.get("metadata", {}), "name": owner["metadata"]["name"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@contextmanager
def ending_jobs(plane: ControlPlane, namespace: str, *, well: bool = True) -> Iterator[list[dict[str, int]]]:
    """End each Job of a namespace, well or badly; gives how many objects of each kind were there when it was found."""
    seen: list[dict[str, int]] = []
    over = threading.Event()

    def end() -> None:
        while not over.wait(0.05):
            for found in plane.objects(namespace, ("batch/v1", "Job")).values():
                if "conditions" not in found["status"]:
                    there = plane.objects(namespace, *KINDS)
                    seen.append({kind: sum(1 for key in there if key[0] == kind) for _, kind in KINDS})
                    finish(plane, found, well=well)

    thread = threading.Thread(target=end)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def finish(plane: ControlPlane, job: Object, *, well: bool) -> None:
    """Write the status that a controller writes at the end of a Job."""
    at = "2026-11-26T00:00:00Z"
    types = ("SuccessCriteriaMet", "Complete") if well else ("FailureTarget", "Failed")
    conditions = [{"type": name, "status": "True", "lastTransitionTime": at, "reason": "Test"} for name in types]
    status: dict[str, Any] = {"conditions": conditions, "startTime": at}
    status |= {"succeeded": 1, "completionTime": at} if well else {"failed": 1}
    where = f"{plane.path(job, job['metadata']['namespace'])}/{job['metadata']['name']}/status"
    plane.ask("PATCH", where, {"status": status}, "application/merge-patch+json")


@pytest.fixture
def release(plane: ControlPlane, tmp_path: Path) -> Callable[..., str]:
    """Run helm on the release `r` of a namespace with values."""

    def run(command: str, namespace: str, values: Values | None = None) -> str:
        words = [command, "r", *([str(CHART)] if values else []), "--namespace", namespace]
        if values is not None:
            (tmp_path / "values.json").write_text(json.dumps(values))
            words += ["--values", str(tmp_path / "values.json")]
        return plane.helm(*words)

    return run


def said(found: Object) -> Any:
    """What an object says, without what the server and helm count."""
    counted = {"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"}
    about = {key: value for key, value in found["metadata"].items() if key not in counted}
    return {**found, "metadata": about, "status": None}


def test_a_release_is_installed_upgraded_and_rolled_back_to_the_same_objects(
    plane: ControlPlane, release: Callable[..., str]
) -> None:
    plane.namespace("lived")
    first = merged(NEEDED, {"image": {"tag": "1.0.0"}})
    second = merged(NEEDED, {"image": {"tag": "1.1.0"}, "worker": {"replicas": 5}, "policy": {"toml": "# next"}})
    with ending_jobs(plane, "lived") as seen:
        release("install", "lived", first)
        installed = plane.objects("lived", *KINDS)
        release("upgrade", "lived", second)
        upgraded = plane.objects("lived", *KINDS)
        plane.helm("rollback", "r", "1", "--namespace", "lived")
        rolled_back = plane.objects("lived", *KINDS)
        plane.helm("uninstall", "r", "--namespace", "lived")
        left = plane.objects("lived", *KINDS)

    # The hook ran before the rest was made, behind its own way to the database, and is gone when it is done.
    assert [found["Deployment"] for found in seen] == [0, 3]
    assert [found["NetworkPolicy"] for found in seen] == [1, 5]
    assert not [key for key in installed if "migrate" in key[1]]
    wanted = {(x["kind"], x["metadata"]["name"]) for x in rendered("needed") if "migrate" not in x["metadata"]["name"]}
    assert {key for key in installed if key[1].startswith("r-")} == wanted
    images = {key: containers(found) for key, found in upgraded.items() if key[0] in ("Deployment", "StatefulSet")}
    assert set(images.values()) == {"gainsay:1.1.0"}
    assert upgraded["Deployment", "r-gainsay-worker"]["spec"]["replicas"] == 5
    assert {key: said(found) for key, found in rolled_back.items()} == {
        k: said(found) for k, found in installed.items()
    }
    assert [key for key in left if key[1].startswith("r-")] == []


def containers(found: Object) -> str:
    (image,) = {each["image"] for each in found["spec"]["template"]["spec"]["containers"]}
    return str(image)


def test_a_migration_that_fails_ends_the_install_before_a_process_is_made(
    plane: ControlPlane, release: Callable[..., str]
) -> None:
    plane.namespace("failed")

    with ending_jobs(plane, "failed", well=False), pytest.raises(Refused, match="pre-install"):
        release("install", "failed", NEEDED)

    there = plane.objects("failed", *KINDS)
    assert [key for key in there if key[0] in ("Deployment", "StatefulSet")] == []
    assert ("Job", "r-gainsay-migrate") in there  # it stays, so that its log can be read


def test_helm_test_probes_and_says_whether_it_went_well(plane: ControlPlane, release: Callable[..., str]) -> None:
    plane.namespace("probed")
    release("install", "probed", merged(NEEDED, {"prober": {"enabled": True}, "migrations": {"mode": "external"}}))

    for phase in ("Succeeded", "Failed"):
        over = threading.Event()
        thread = threading.Thread(target=end_pods, args=(plane, "probed", phase, over))
        thread.start()
        try:
            if phase == "Succeeded":
                assert "Phase:          Succeeded" in plane.helm("test", "r", "--namespace", "probed")
            else:
                with pytest.raises(Refused, match="r-gainsay-test-probe failed"):
                    plane.helm("test", "r", "--namespace", "probed")
        finally:
            over.set()
            thread.join()


def end_pods(plane: ControlPlane, namespace: str, phase: str, over: threading.Event) -> None:
    """Write the status that a kubelet writes at the end of a pod."""
    while not over.wait(0.05):
        for pod in plane.objects(namespace, ("v1", "Pod")).values():
            if pod["status"]["phase"] == "Pending":
                where = f"{plane.path(pod, namespace)}/{pod['metadata']['name']}/status"
                plane.ask("PATCH", where, {"status": {"phase": phase}}, "application/merge-patch+json")


def test_each_set_can_follow_another(plane: ControlPlane, release: Callable[..., str]) -> None:
    plane.namespace("changed")
    with ending_jobs(plane, "changed"):
        release("install", "changed", NEEDED)
        for name in SETS:
            if name not in IMMUTABLE and not OTHERS & {x["kind"] for x in rendered(name)}:
                release("upgrade", "changed", merged(NEEDED, SETS[name]))

    assert one(tuple(plane.objects("changed", *KINDS).values()), "Deployment", "-api")
