"""What helm renders of the chart holds what an installation relies on, for every set of values."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from typing import Any

import kubernetes_validate
import pytest
import yaml

import service
from tests.chart.rendering import (
    CHART,
    NAMESPACE,
    NEWEST,
    OLDEST,
    RELEASE,
    Object,
    Refused,
    containers,
    every_set,
    helm,
    merged,
    one,
    pods,
    render,
    rendered,
)
from tests.chart.sets import NEEDED, POLICY, REFUSED, SETS

CREDENTIALS = re.compile(r"_(URL|TOKEN|KEY)$")
CUSTOM = {"ScaledObject", "ServiceMonitor", "PrometheusRule", "HTTPRoute", "Cluster", "ExternalSecret"}
"""Kinds that Kubernetes does not know by itself; their own schemas are asked by `make test-cluster`."""
everything = pytest.mark.parametrize("name", every_set())


def settings(container: Object) -> dict[str, str]:
    return {row["name"]: row.get("value", "") for row in container.get("env", [])}


def form(found: Any) -> str:
    """What an object looks like without its texts and numbers, but for its kind."""
    if isinstance(found, dict):
        return (
            "{" + ",".join(f"{key}:{found[key] if key == 'kind' else form(found[key])}" for key in sorted(found)) + "}"
        )
    return f"[{','.join(sorted({form(x) for x in found}))}]" if isinstance(found, list) else type(found).__name__


def test_the_chart_has_no_lint(tmp_path: Any) -> None:
    (tmp_path / "needed.json").write_text(json.dumps(NEEDED))

    assert "0 chart(s) failed" in helm("lint", "--strict", CHART)
    assert "0 chart(s) failed" in helm("lint", "--strict", CHART, "--values", tmp_path / "needed.json")


def test_there_are_enough_sets() -> None:
    assert len(every_set()) >= 15


@pytest.mark.parametrize("version", [OLDEST, "1.33", NEWEST])
def test_three_versions_of_kubernetes_take_every_object(version: str) -> None:
    """Objects of one form, which differ in texts and numbers alone, are asked about once."""
    forms = {form(x): x for name in every_set() for x in rendered(name) if x["kind"] not in CUSTOM}

    assert len(forms) > 50
    for found in forms.values():
        kubernetes_validate.validate(found, version, strict=True)


@pytest.mark.parametrize("version", ["1.33", NEWEST])
def test_a_field_that_kubernetes_does_not_know_is_noticed(version: str) -> None:
    found = one(rendered("needed"), "Deployment", "-api")
    wrong = merged(found, {"spec": {**found["spec"], "replica": 2}})

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, version, strict=True)


@everything
def test_nothing_is_rendered_twice(name: str) -> None:
    objects = rendered(name)
    names = Counter((x["apiVersion"].split("/")[0], x["kind"], x["metadata"]["name"]) for x in objects)

    assert [key for key, number in names.items() if number > 1] == []
    for _, pod in pods(objects):
        volumes = Counter(volume["name"] for volume in pod["spec"].get("volumes", []))
        assert max(volumes.values()) == 1
        for container in containers(pod):
            env = Counter(row["name"] for row in container.get("env", []))
            paths = Counter(mount["mountPath"] for mount in container["volumeMounts"])
            assert max([*env.values(), *paths.values()]) == 1
            assert {mount["name"] for mount in container["volumeMounts"]} <= {*volumes, "heads"}


@everything
def test_every_pod_is_restricted(name: str) -> None:
    for owner, pod in pods(rendered(name)):
        spec, ids = pod["spec"], name != "openshift"
        assert (spec["enableServiceLinks"], spec["automountServiceAccountToken"]) == (False, False), owner["kind"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert [key in spec["securityContext"] for key in ("runAsUser", "fsGroup")] == [ids, ids]
        assert [key for key in ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace") if key in spec] == []
        assert [volume for volume in spec["volumes"] if "hostPath" in volume] == []
        for container in containers(pod):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "runAsNonRoot": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"]["memory"]


@everything
def test_no_secret_stands_in_plain(name: str) -> None:
    objects = rendered(name)
    kinds = {x["kind"] for x in objects if x["metadata"]["name"] != "r-gainsay-extra"}
    assert "Secret" not in kinds
    for _, pod in pods(objects):
        for volume in pod["spec"]["volumes"]:
            modes = [part["defaultMode"] for part in (volume.get("projected"), volume.get("secret")) if part]
            assert set(modes) <= {0o440}
        for container in containers(pod):
            for key, value in settings(container).items():
                if CREDENTIALS.search(key) and key.startswith("GAINSAY_") and "SIGNING_KEY" not in key:
                    assert value.startswith("file:/etc/gainsay/secrets/"), key


@everything
def test_a_process_mounts_its_own_secrets_alone(name: str) -> None:
    allowed = {
        "api": {"database-url", "api-url", "webhook-key", "metrics-token"},
        "worker": {"database-url", "webhook-key", "metrics-token", "vendors/.+", "files/proxy"},
        "sequencer": {"sequencer-url", "signer-token", "metrics-token"},
        "signer": {"signing-key", "signer-token", "metrics-token", "files/proxy"},
        "witness": {"signing-key", "metrics-token"},
        "migrate": {"migrate-url"},
        "probe": {"token"},
    }
    for _, pod in pods(rendered(name)):
        volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
        for container in containers(pod):
            for mount in container["volumeMounts"]:
                parts = volumes.get(mount["name"], {}).get("projected", {}).get("sources", [])
                paths = [item["path"] for part in parts for item in part["secret"]["items"]]
                pattern = "|".join(allowed[container["name"]])
                assert [path for path in paths if not re.fullmatch(pattern, path)] == []


def test_workers_alone_mount_the_keys_of_vendors() -> None:
    """The API runs without a worker, and asks no vendor."""
    mounting = set()
    for _, pod in pods(rendered("every-way-out")):
        if '"vendors/openai"' in json.dumps(pod["spec"]["volumes"]):
            mounting |= {container["name"] for container in containers(pod)}

    assert mounting == {"worker"}


@pytest.mark.parametrize(("name", "expected"), [("sets", {"worker"}), ("sets-for-callers", {"worker", "api"})])
def test_golden_sets_are_mounted_read_only_where_values_say_and_nowhere_else(name: str, expected: set[str]) -> None:
    """Their labels say what is right, so a process that neither scores nor registers has none."""
    told, having = set(), set()
    for _, pod in pods(rendered(name)):
        volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
        for container in containers(pod):
            if "GAINSAY_EVALUATION_SETS" in settings(container):
                told.add(container["name"])
            for mount in container["volumeMounts"]:
                if mount["name"] == "sets":
                    having.add(container["name"])
                    assert mount["readOnly"] is volumes["sets"]["persistentVolumeClaim"]["readOnly"] is True

    assert having == told == expected
    worker = one(rendered("sets"), "Deployment", "-worker")["spec"]["template"]["spec"]["containers"][0]
    folders = "/etc/gainsay/sets/lease-questions,acme=/etc/gainsay/sets/leases/critic"
    assert settings(worker)["GAINSAY_EVALUATION_SETS"] == folders


@everything
def test_selectors_find_the_pods_of_their_own_component_alone(name: str) -> None:
    objects = rendered(name)
    labels = {}
    for owner, pod in pods(objects):
        labels[owner["kind"], owner["metadata"]["name"]] = pod["metadata"]["labels"]
        own = pod["metadata"]["labels"]
        assert own["app.kubernetes.io/instance"] == RELEASE
        component = own["app.kubernetes.io/component"]
        assert component == "prober" or owner["metadata"]["name"].endswith(component)
        for spread in pod["spec"].get("topologySpreadConstraints", []):
            assert spread["labelSelector"]["matchLabels"].items() <= own.items()
    for found in objects:
        spec = found.get("spec", {})
        selector = spec.get("selector") or spec.get("podSelector")
        if not selector or found["kind"] in CUSTOM:
            continue
        wanted = selector.get("matchLabels", selector)
        matching = [key for key, value in labels.items() if wanted.items() <= value.items()]
        components = {labels[key]["app.kubernetes.io/component"] for key in matching}
        assert components == {wanted["app.kubernetes.io/component"]}, found["metadata"]["name"]
        assert not [key for key in wanted if key in ("helm.sh/chart", "app.kubernetes.io/version")]


@everything
def test_every_object_has_its_namespace_and_the_chart_s_labels(name: str) -> None:
    for found in rendered(name):
        if found["metadata"]["name"] not in ("of-r", "r-gainsay-extra") and found["kind"] not in (
            "Cluster",
            "ExternalSecret",
        ):
            assert found["metadata"]["namespace"] == NAMESPACE
            assert found["metadata"]["labels"]["app.kubernetes.io/part-of"] == "gainsay"


@everything
def test_a_pod_has_time_to_start_and_to_stop(name: str) -> None:
    said = merged(yaml.safe_load((CHART / "values.yaml").read_text()), SETS.get(name, {}))["settings"]
    for owner, pod in pods(rendered(name)):
        container = pod["spec"]["containers"][0]
        if owner["kind"] not in ("Deployment", "StatefulSet"):
            continue
        probe = container["startupProbe"]
        assert probe["periodSeconds"] * probe["failureThreshold"] > said["waitS"] + 60
        least = {"api": max(said["graceS"], said["drainS"] + 10), "worker": said["graceS"]}.get(container["name"], 20)
        assert pod["spec"]["terminationGracePeriodSeconds"] > least
        paths = [container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "liveness", "readiness")]
        assert paths == ["/livez", "/livez", "/readyz"]
    if name == "needed":
        ready = one(rendered(name), "Deployment", "-api")["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]
        assert ready["periodSeconds"] * ready["failureThreshold"] + ready["timeoutSeconds"] < said["drainS"]


@everything
def test_an_old_pod_works_until_a_new_one_is_ready_and_a_drain_takes_one_at_a_time(name: str) -> None:
    objects = rendered(name)
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}

    assert all(x["spec"]["strategy"] == rolling for x in objects if x["kind"] == "Deployment")
    assert all(x["spec"]["maxUnavailable"] == 1 for x in objects if x["kind"] == "PodDisruptionBudget")
    guarded = [
        {x["metadata"]["name"] for x in objects if x["kind"] == kind} for kind in ("Deployment", "PodDisruptionBudget")
    ]
    assert guarded[0] == guarded[1]


def test_the_api_runs_no_debate_and_signs_nothing() -> None:
    args = one(rendered("needed"), "Deployment", "-api")["spec"]["template"]["spec"]["containers"][0]["args"]

    assert args == ["serve", "--host", "0.0.0.0", "--port", "8321", "--no-worker", "--no-sequencer"]


def test_a_hook_migrates_before_the_rest_and_needs_nothing_of_the_release() -> None:
    objects = rendered("needed")
    hooks = sorted(
        (
            int(x["metadata"]["annotations"]["helm.sh/hook-weight"]),
            x["kind"],
            x["metadata"]["annotations"]["helm.sh/hook"],
            x["metadata"]["annotations"]["helm.sh/hook-delete-policy"],
        )
        for x in objects
        if "helm.sh/hook" in x["metadata"].get("annotations", {})
    )
    when, gone = "pre-install,pre-upgrade", "before-hook-creation,hook-succeeded"
    assert hooks == [(-10, "NetworkPolicy", when, gone), (-5, "Job", when, gone)]

    spec = one(objects, "Job", "-migrate")["spec"]["template"]["spec"]
    made = {x["metadata"]["name"] for x in objects if x["kind"] in ("ConfigMap", "ServiceAccount")}
    assert [name for name in made if name in json.dumps(spec)] == []
    assert "serviceAccountName" not in spec


def test_argo_cd_migrates_in_a_wave_before_the_rest_and_sees_no_hook_of_helm() -> None:
    objects = rendered("argocd")
    annotations = {(x["kind"], x["metadata"]["name"]): x["metadata"].get("annotations", {}) for x in objects}

    waves = {key: int(found["argocd.argoproj.io/sync-wave"]) for key, found in annotations.items() if found}
    assert waves == {("NetworkPolicy", "r-gainsay-migrate"): -2, ("Job", "r-gainsay-migrate"): -1}
    assert annotations["Job", "r-gainsay-migrate"]["argocd.argoproj.io/hook-delete-policy"] == "BeforeHookCreation"
    assert "helm.sh/hook" not in str(annotations)


@pytest.mark.parametrize(("name", "where"), [("init-container", "sequencer"), ("workers-alone", "worker")])
def test_an_init_container_migrates_in_the_pods_of_one_process(name: str, where: str) -> None:
    found = {
        owner["metadata"]["name"]: [container["name"] for container in pod["spec"]["initContainers"]]
        for owner, pod in pods(rendered(name))
        if "initContainers" in pod["spec"]
    }
    assert found == {f"r-gainsay-{where}": ["migrate"]}
    (pod,) = (pod for owner, pod in pods(rendered(name)) if owner["metadata"]["name"] == f"r-gainsay-{where}")
    mounts = {mount["name"] for mount in pod["spec"]["containers"][0]["volumeMounts"]}
    assert "migrator" not in mounts  # the process itself never sees the owner's login


def test_external_migrations_render_none() -> None:
    assert "migrate" not in json.dumps(rendered("external-migrations"))
    assert "migrate" not in json.dumps(rendered("witness-alone"))


def test_a_scaler_and_a_number_of_replicas_are_never_on_one() -> None:
    for name in every_set():
        objects = rendered(name)
        targets = [x["spec"]["scaleTargetRef"]["name"] for x in objects if "scaleTargetRef" in x.get("spec", {})]
        counted = {x["metadata"]["name"] for x in objects if "replicas" in x.get("spec", {})}
        assert len({*targets}) == len(targets)
        assert counted.isdisjoint(targets)
    assert one(rendered("scaled"), "HorizontalPodAutoscaler", "-api")
    trigger = one(rendered("scaled"), "ScaledObject", "-worker")["spec"]["triggers"][0]
    assert trigger["metadata"]["query"] == f'max(gainsay_debates_queued_seconds{{namespace="{NAMESPACE}"}}) >= 0'
    assert "replicas" not in one(rendered("placed"), "Deployment", "-worker")["spec"]


@pytest.mark.parametrize("name", ["needed", "watched", "placed"])
def test_signer_and_witness_keep_their_memory_on_a_volume_that_stays(name: str) -> None:
    found = one(rendered(name), "StatefulSet", "-signer")
    (claim,) = found["spec"]["volumeClaimTemplates"]
    (mount,) = (m for m in found["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] if m["name"] == "heads")
    args = found["spec"]["template"]["spec"]["containers"][0]["args"]

    assert found["spec"]["replicas"] == 1
    assert found["spec"]["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert claim["metadata"]["name"] == "heads"
    assert args[args.index("--heads") + 1].startswith(mount["mountPath"] + "/")


@pytest.mark.parametrize(
    ("change", "rolled"),
    [
        ({"policy": {"toml": POLICY + "# changed"}}, {"api", "worker", "sequencer"}),
        ({"identity": {"toml": "[keys]\nmost_days = 9\n"}}, {"api"}),
        ({"approval": {"note": "another"}}, {"api", "worker", "sequencer"}),
        ({"prompts": {"pin": "ff" * 32}}, {"api", "worker", "sequencer"}),
        ({"monitoring": {"dashboards": {"enabled": True}}}, set()),
    ],
)
def test_a_change_replaces_the_pods_that_read_it_and_no_others(change: dict[str, Any], rolled: set[str]) -> None:
    before = {owner["metadata"]["name"]: pod for owner, pod in pods(rendered("needed"))}
    after = {owner["metadata"]["name"]: pod for owner, pod in pods(tuple(render(merged(NEEDED, change))))}

    assert {name.removeprefix("r-gainsay-") for name in before if before[name] != after[name]} == rolled


def test_pods_that_read_a_policy_again_need_not_be_replaced_for_it() -> None:
    def found(policy: str) -> dict[str, Object]:
        values = merged(NEEDED, {"policy": {"toml": policy, "replacePods": False}})
        return {owner["metadata"]["name"].removeprefix("r-gainsay-"): pod for owner, pod in pods(tuple(render(values)))}

    before, after = found(POLICY), found(POLICY + "# changed")
    assert {name for name in before if before[name] != after[name]} == {"sequencer"}


def test_the_name_of_no_object_is_too_long_however_long_the_release_s_is() -> None:
    values = merged(NEEDED, merged(SETS["probed"], SETS["watched"]))
    most = {"StatefulSet": 52, "CronJob": 52, "Service": 63, "Pod": 63, "Job": 63, "Deployment": 63}
    objects = render(values, release="a-release-whose-name-has-all-of-fifty-three-letters-x")

    assert len({(x["kind"], x["metadata"]["name"]) for x in objects}) == len(objects)
    assert [x for x in objects if len(x["metadata"]["name"]) > most.get(x["kind"], 253)] == []


def test_a_part_of_another_chart_is_rendered_where_it_is_switched_on() -> None:
    kept = {x["metadata"]["name"] for x in rendered("umbrella") if x["kind"] == "StatefulSet"}

    assert kept == {"r-gainsay-signer", "r-second-witness"}


def test_the_image_is_named_by_digest_where_there_is_one() -> None:
    images = {c["image"] for _, pod in pods(rendered("digest")) for c in containers(pod)}
    assert images == {f"registry.bank.example/gainsay@sha256:{'0a' * 32}"}
    (pod, *_) = (pod for _, pod in pods(rendered("digest")))
    assert pod["spec"]["imagePullSecrets"] == [{"name": "pull"}, {"name": "pull-too"}]
    images = {c["image"] for _, pod in pods(rendered("umbrella")) for c in containers(pod)}
    assert images == {f"registry.bank.example/gainsay:{service.__version__}"}


def test_prometheus_finds_the_jobs_that_the_alerts_know() -> None:
    objects = rendered("watched")
    for found in (x for x in objects if x["kind"] == "ServiceMonitor"):
        wanted = found["spec"]["selector"]["matchLabels"]
        (front,) = (x for x in objects if x["kind"] == "Service" and wanted.items() <= x["metadata"]["labels"].items())
        (endpoint,) = found["spec"]["endpoints"]
        assert endpoint["port"] in [port["name"] for port in front["spec"]["ports"]]
        assert endpoint["relabelings"][0]["replacement"] == front["metadata"]["name"].replace("r-", "", 1)
        assert endpoint["authorization"]["credentials"] == {"name": "metrics", "key": "token"}


def test_the_rules_are_those_of_the_repository_with_their_addresses() -> None:
    found = one(rendered("watched"), "PrometheusRule", "-alerts")
    alerts = {rule["alert"]: rule for group in found["spec"]["groups"] for rule in group["rules"]}
    own = yaml.safe_load((CHART.parents[1] / "dashboards/rules/gainsay-alerts.yml").read_text("utf-8"))
    said = {rule["alert"]: rule for group in own["groups"] for rule in group["rules"]}

    assert alerts.keys() == said.keys()
    for name, rule in alerts.items():
        assert {**rule, "annotations": None} == {**said[name], "annotations": None}  # with labels, for, keep_firing_for
        assert (
            rule["annotations"]["runbook_url"]
            == "https://docs.bank.example/" + said[name]["annotations"]["runbook_url"]
        )
        assert rule["annotations"]["summary"] == said[name]["annotations"]["summary"]
    boards = [x for x in rendered("watched") if x["metadata"]["labels"].get("grafana_dashboard") == "1"]
    assert len(boards) == 7
    assert all(json.loads(text)["panels"] for board in boards for text in board["data"].values())


@pytest.mark.parametrize(("name", "kind"), [("ingress", "Ingress"), ("gateway", "HTTPRoute")])
def test_probes_and_metrics_are_not_shown_outside(name: str, kind: str) -> None:
    text = json.dumps(one(rendered(name), kind, "-api"))

    assert all(path in text for path in ("/v1", "/docs", "/problems", "/openapi.json"))
    assert [path for path in ("/metrics", "/livez", "/readyz", '"/"') if path in text] == []


@pytest.mark.parametrize("name", REFUSED)
def test_values_that_cannot_be_meant_are_refused_with_what_to_do(name: str) -> None:
    values, said = REFUSED[name]

    with pytest.raises(Refused) as refused:
        render(merged(NEEDED, values))
    assert said in str(refused.value)


def test_every_missing_value_is_named_at_once() -> None:
    with pytest.raises(Refused) as refused:
        render({})
    assert [word in str(refused.value) for word in ("logHost", "prompts.pin", "policy.toml", "identity.toml")] == [
        True
    ] * 4


def test_what_is_packed_has_no_examples(tmp_path: Any) -> None:
    helm("package", CHART, "--destination", tmp_path)
    packed = tmp_path / f"gainsay-{service.__version__}.tgz"
    listed = subprocess.run(["tar", "-tzf", packed], capture_output=True, text=True, check=True)

    assert "gainsay/values.schema.json" in listed.stdout
    assert "examples" not in listed.stdout
