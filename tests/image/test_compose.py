"""compose.yaml: what it promises, read; and its services started in their order, in the image (`make image-check`)."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from service.cli import gainsay
from service.policy.settings import KNOWN, read_environment
from service.store.schema import roles
from tests.fixtures.prometheus import program
from tests.image.composed import NOT_PLAYED, Composed, read, words
from tests.image.conftest import Image
from tests.image.dockerfile import ROOT, stages

FILE = read()
SERVICES: dict[str, dict[str, Any]] = FILE["services"]
OURS = {name: each for name, each in SERVICES.items() if each["image"] == "gainsay:local"}
LONG = {name: each for name, each in SERVICES.items() if each["restart"] != "no"}
PROCESSES = {"signer", "witness", "sequencer", "worker", "api"}
built = pytest.mark.skipif(not os.environ.get("GAINSAY_TEST_IMAGE"), reason="make image-check starts the services")


def seconds(text: str) -> int:
    assert text.endswith("s")
    return int(text[:-1])


def sources(service: dict[str, Any]) -> list[list[str]]:
    return [line.split(":") for line in service.get("volumes", [])]


def test_there_are_the_five_processes_the_database_and_what_watches_them() -> None:
    others = {"keys", "migrate", "postgres", "prometheus", "grafana", "jaeger"}

    assert set(SERVICES) == PROCESSES | others
    assert set(OURS) == PROCESSES | {"keys", "migrate"}
    assert "build" in SERVICES["keys"], "one service builds the image, and all others use it"
    assert not [name for name, each in SERVICES.items() if "build" in each and name != "keys"]
    assert SERVICES["keys"]["build"]["args"] == stages()[0], "the base of the Dockerfile"


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_restricted(name: str) -> None:
    service = SERVICES[name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "devices", "pid", "ipc", "extra_hosts", "env_file"} & set(service)
    user = service["user"].split(":")
    assert user[1] == "0", "the group that may read its secrets"
    assert (user[0] == "0") is (name == "keys"), "which owns the volumes, and has no network"
    assert re.fullmatch(r"[\w./-]+:[\w.-]+", service["image"])
    assert not service["image"].endswith(":latest")


def test_the_one_that_makes_the_keys_has_no_network_and_all_others_read_their_own_secrets_alone() -> None:
    assert SERVICES["keys"]["network_mode"] == "none"
    writers = {source for source, *_ in sources(SERVICES["keys"])}
    for name, service in SERVICES.items():
        for source, inside, *mode in sources(service):
            if source.endswith("-secrets") and name != "keys":
                assert (source, inside, mode) == (f"{name}-secrets", "/secrets", ["ro"])
                assert source in writers
            if source == "config" and name != "keys":
                assert mode == ["ro"]
            if source.startswith("./"):
                assert mode == ["ro"]
                assert (ROOT / source).exists(), source
    used = {source for service in SERVICES.values() for source, *_ in sources(service) if not source.startswith("./")}
    assert used == set(FILE["volumes"])


def test_no_secret_stands_in_the_file_or_in_an_environment() -> None:
    secret = re.compile(r"_(URL|TOKEN|PASSWORD\w*|KEY)$")
    for name, service in SERVICES.items():
        for variable, value in service.get("environment", {}).items():
            if secret.search(variable):
                assert value.startswith(("file:/secrets/", "/secrets/", "http://")), (name, variable)
    assert "://" not in re.sub(r"http://[a-z0-9.]+:\d+", "", (ROOT / "compose.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", OURS)
def test_every_setting_and_command_is_one_that_the_program_has(name: str) -> None:
    environment = {key: str(value) for key, value in OURS[name].get("environment", {}).items()}
    line = words(OURS[name])
    context = click.Context(gainsay)

    assert {key for key in environment if not key.startswith("OTEL_")} <= set(KNOWN)
    plain = {key: value for key, value in environment.items() if not value.startswith("file:")}
    assert read_environment(plain).faults == ()
    if name != "keys":
        command = line[line.index("sh", 1) + 1 :] if line[0] == "sh" else line[1:]
        found = gainsay.get_command(context, command[0])
        assert found is not None
        given = [*command[1:], *(["--log", "a+b+c"] if name == "witness" else [])]
        found.make_context(command[0], given, parent=context)


@pytest.mark.parametrize("name", sorted(PROCESSES))
def test_every_process_is_asked_for_its_health_and_has_time_to_stop(name: str) -> None:
    service = SERVICES[name]

    assert service["healthcheck"]["test"] == ["CMD", "gainsay", "health"]
    assert "--port" in service["command"], "otherwise a worker and a sequencer answer nowhere"
    assert "0.0.0.0" in service["command"]
    assert seconds(service["stop_grace_period"]) > 20 + 10, (
        "longer than GAINSAY_GRACE_S, and than the drain and ten more"
    )
    assert service["restart"] == "unless-stopped"
    assert "init" not in service, "the health check reads the command line of process 1"


def test_golden_sets_are_laid_over_worker_and_api_read_only_and_over_no_other_service() -> None:
    over = yaml.safe_load((ROOT / "deploy" / "compose" / "sets.yaml").read_text("utf-8"))["services"]

    assert set(over) == {"worker", "api"}
    for service in over.values():
        (name,), (volume,) = service["environment"], service["volumes"]
        assert name in KNOWN
        assert re.fullmatch(r"\$\{GAINSAY_SETS:\?[\w ]+\}:/sets:ro", volume)
        assert service["environment"][name].startswith(f"${{{name}:?"), "unset it names nothing, and that is refused"


def test_every_service_that_stays_is_asked_or_says_why_not() -> None:
    assert [name for name, each in LONG.items() if each["healthcheck"].get("disable")] == ["jaeger"]


def test_what_a_service_waits_for_can_come_true_and_in_no_circle() -> None:
    for service in SERVICES.values():
        for other, said in service.get("depends_on", {}).items():
            ends = SERVICES[other]["restart"] == "no"
            assert said["condition"] == ("service_completed_successfully" if ends else "service_healthy")
    left = dict(SERVICES)
    while left:
        free = [name for name, each in left.items() if not set(each.get("depends_on", {})) & set(left)]
        assert free, f"a circle among {sorted(left)}"
        for name in free:
            del left[name]
    assert {"migrate"} <= set(SERVICES["api"]["depends_on"]) & set(SERVICES["worker"]["depends_on"])


def test_ports_are_of_this_machine_alone_and_networks_keep_apart() -> None:
    for name, service in SERVICES.items():
        ports = service.get("ports", [])
        assert all(port.startswith("127.0.0.1:") for port in ports)
        assert not ports or "out" in service["networks"], f"a port of {name} is published by no internal network"
    assert all(FILE["networks"][name]["internal"] for name in ("data", "signing", "watching"))
    within = {
        net: {name for name, each in SERVICES.items() if net in each.get("networks", [])} for net in FILE["networks"]
    }
    assert within["data"] == {"postgres", "migrate", "api", "worker", "sequencer"}
    assert within["signing"] == {"sequencer", "signer", "witness"}
    assert not within["out"] & {"postgres", "signer", "witness", "sequencer"}


def test_prometheus_knows_every_process_under_the_names_that_the_rules_ask_for() -> None:
    config = yaml.safe_load((ROOT / "deploy/compose/prometheus.yml").read_text("utf-8"))
    jobs = {each["job_name"]: each for each in config["scrape_configs"]}
    named = (ROOT / "docs/runbook.md").read_text("utf-8").partition("Name the jobs")[2].partition("Scrape every")[0]

    assert set(jobs) == {f"gainsay-{name}" for name in PROCESSES}
    for name in PROCESSES:
        job = jobs[f"gainsay-{name}"]
        command = SERVICES[name]["command"]
        assert job["static_configs"] == [
            {"targets": [f"{name}:{command[command.index('--port') + 1]}"], "labels": {"namespace": "gainsay"}}
        ]
        assert job["authorization"] == {"credentials_file": "/secrets/metrics-token"}
        assert f"`{job['job_name']}`" in named
    mounted = {Path(inside).name for _, inside, *_ in sources(SERVICES["prometheus"])}
    assert set(config["rule_files"]) <= mounted


def test_grafana_finds_prometheus_and_the_dashboards() -> None:
    folder = ROOT / "deploy/compose/grafana"
    found = yaml.safe_load((folder / "datasources.yaml").read_text("utf-8"))["datasources"]
    provider = yaml.safe_load((folder / "dashboards.yaml").read_text("utf-8"))["providers"][0]

    assert {each["type"]: each["url"] for each in found} == {
        "prometheus": "http://prometheus:9090",
        "jaeger": "http://jaeger:16686",
    }
    assert ["./dashboards/grafana", provider["options"]["path"], "ro"] in sources(SERVICES["grafana"])
    home = SERVICES["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (ROOT / "dashboards/grafana" / Path(home).name).exists()


def test_the_database_is_set_up_as_the_runbook_says() -> None:
    script = (ROOT / "deploy/compose/database.sh").read_text("utf-8")
    runbook = (ROOT / "docs/runbook.md").read_text("utf-8")
    block = re.search(r"```sql\n(CREATE ROLE gainsay_owner.*?)```", runbook, re.DOTALL)
    assert block
    of_people = {"ada", "rea"}
    expected = [
        re.sub(r"PASSWORD '...'", "PASSWORD", line)
        for line in block[1].splitlines()
        if not of_people & set(line.split())
    ]

    found = [re.sub(r"PASSWORD :'\w+'", "PASSWORD", line) for line in script.splitlines()]
    assert [line for line in found if line.startswith(("CREATE", "\\connect"))] == expected
    for login in (roles.MIGRATOR, roles.SERVICE, roles.SEQUENCING, roles.SERVING):
        assert f"cat /secrets/{login}`" in script


@pytest.mark.parametrize("name", ["keys.sh", "database.sh"])
def test_a_script_may_be_run_and_stops_at_the_first_failure(name: str) -> None:
    script = ROOT / "deploy/compose" / name

    assert script.stat().st_mode & stat.S_IXOTH
    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0
    assert "\nset -eu\n" in script.read_text("utf-8")


def keys(folder: Path, path: str) -> int:
    """Make the keys in a folder, with a shell's path; return the exit status."""
    readers = [inside for _, inside, *_ in sources(SERVICES["keys"]) if inside.startswith("/secrets/")]
    for inside in (*readers, "/config"):
        (folder / inside.strip("/")).mkdir(parents=True, exist_ok=True)
    script = str(ROOT / "deploy/compose/keys.sh")
    words = ["sh", script, str(folder / "secrets"), str(folder / "config")]
    return subprocess.run(words, env={"PATH": path, "HOME": str(folder)}, check=False, capture_output=True).returncode


def test_a_second_start_makes_no_key_anew_and_a_failure_leaves_no_half_of_one(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "python"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho half\nexit 1\n")
    program.chmod(0o755)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    assert keys(tmp_path, f"{program.parent}:{path}") != 0
    assert not [found for found in tmp_path.rglob("secrets/**/*") if found.is_file() and found.suffix != ".new"]
    assert keys(tmp_path, path) == 0
    made = {found: found.read_bytes() for found in tmp_path.rglob("*") if found.is_file()}
    assert keys(tmp_path, path) == 0

    assert {found: found.read_bytes() for found in tmp_path.rglob("*") if found.is_file()} == made
    assert len({text for found, text in made.items() if found.parent.name == "postgres"}) == 5
    for found in made:
        assert found.parent.name == "bin" or found.stat().st_mode & 0o777 == 0o440, found
    named = {
        value.removeprefix("file:/secrets/")
        for each in OURS.values()
        for value in map(str, each.get("environment", {}).values())
        if value.startswith("file:/secrets/")
    }
    assert named <= {found.name for found in made}


@pytest.fixture(scope="module")
def composed(image: Image) -> Iterator[Composed]:
    """All services that can be played, up."""
    with Composed(image, program("prometheus")) as found:
        found.up()
        yield found


def first_decision() -> str:
    """The commands of the README, but for the one that starts."""
    text = (ROOT / "docs/image.md").read_text("utf-8")
    block = re.search(r"```bash[^\n]*\n(docker compose up[^`]*)```", text)
    assert block
    first, rest = block[1].split("\n", 1)
    assert first == "docker compose up --build --detach --wait"
    return rest


@built
@pytest.mark.timeout(1800)
def test_the_services_start_in_their_order_and_decide_a_first_case(composed: Composed, tmp_path: Path) -> None:
    order = composed.order
    assert order[0] == "keys"
    assert order.index("migrate") > order.index("postgres")
    assert set(order) == set(SERVICES) - NOT_PLAYED

    shim = tmp_path / "bin" / "docker"
    shim.parent.mkdir()
    enters = {name: shlex.join(each.enter()) for name, each in composed.running.items()}
    cases = "\n".join(f'  {name}) exec {words} "$@" ;;' for name, words in enters.items())
    begin = '#!/bin/sh\n[ "$1 $2 $3" = "compose exec -T" ] || exit 2\nservice=$4; shift 4\n'
    shim.write_text(f"{begin}case $service in\n{cases}\nesac\n")
    shim.chmod(0o755)
    done = subprocess.run(
        ["nsenter", "--target", str(composed.network), "--net", "bash", "-euo", "pipefail", "-c", first_decision()],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "answer.json").read_text())["status"] == "completed"
    last = done.stdout.rpartition("UNWITNESSED")[2]  # what was verified before the witness had been asked
    assert "\nVERIFIED\n" in f"\n{last}", done.stdout + done.stderr


@built
@pytest.mark.timeout(1800)
def test_prometheus_reads_every_process_with_its_token_and_no_one_without(composed: Composed) -> None:
    ask = """
import json, sys, urllib.request
print(urllib.request.urlopen(sys.argv[1]).read().decode())
"""
    until = time.monotonic() + 60
    up: list[Any] = []
    while len(up) < len(PROCESSES) and time.monotonic() < until:
        said = composed.running["api"].run("python", "-c", ask, "http://127.0.0.1:9090/api/v1/query?query=up==1").stdout
        up = json.loads(said)["data"]["result"] if said else []
        time.sleep(1)

    assert {each["metric"]["job"] for each in up} == {f"gainsay-{name}" for name in PROCESSES}
    assert {each["metric"]["namespace"] for each in up} == {"gainsay"}
    refused = composed.running["api"].run("python", "-c", ask, "http://127.0.0.1:8321/metrics")
    assert "401" in refused.stderr


@built
@pytest.mark.timeout(1800)
def test_every_process_ends_in_its_time(composed: Composed) -> None:
    for name in ("api", "worker", "sequencer", "witness", "signer"):
        begun = time.monotonic()
        code, said = composed.running[name].end(signal.SIGTERM)

        assert code == 0, (name, said)
        assert time.monotonic() - begun < seconds(SERVICES[name]["stop_grace_period"])
