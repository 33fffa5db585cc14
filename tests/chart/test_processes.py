"""What the chart gives to each container is what the program takes: settings, words, files, the pin of the prompts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from service.cli import gainsay
from service.observing.otlp import read_destination
from service.policy.settings import KNOWN, is_secret, read_environment
from service.proving.signing.open import read_place
from tests.chart.laid_out import Secrets, Started, lay_out, maps_of
from tests.chart.rendering import Object, containers, every_set, merged, pods, render, rendered
from tests.chart.sets import NEEDED
from tests.end_to_end.test_approval import APPROVER
from tests.fixtures.certificates import Authority
from tests.fixtures.postgres import Database
from tests.fixtures.running import repository

NOT_IN_A_POD = {
    "GAINSAY_DATA_DIR": "the image names it",
    "GAINSAY_WARM_S": "is of the embedded server",
    "GAINSAY_HEADS_DIR": "signer and witness have the option --heads, and no other process keeps heads",
    "GAINSAY_SIMULATED_KEY": "is of trials of the measuring, with simulated models",
    "GAINSAY_SERVER": "the prober has the option --server",
}
"""Settings without a value of the chart, with the reason."""
ADDRESS = "postgresql://someone:sesame@127.0.0.1:9/gainsay"


def secrets_of(objects: tuple[Object, ...], issuers: str) -> Secrets:
    """A text for each key of a Secret that a pod mounts, which fits the file that it becomes."""
    texts = {"url": ADDRESS, "key": APPROVER.encode(), "crt": issuers}
    found = {}
    for _, pod in pods(objects):
        for volume in pod["spec"]["volumes"]:
            for source in volume.get("projected", {}).get("sources", []):
                for item in source["secret"]["items"]:
                    end = item["path"].rsplit("-", 1)[-1]
                    found[source["secret"]["name"], item["key"]] = texts.get(end, "t0ken-of-sixteen-characters")
            if given := volume.get("secret"):
                found[given["secretName"], given["items"][0]["key"]] = issuers
    return found


@pytest.mark.parametrize("name", every_set())
def test_every_container_starts_with_words_and_settings_that_the_program_knows(
    name: str, tmp_path: Path, issuers: str
) -> None:
    objects = rendered(name)
    own = {"own-policy": {"bank.toml": "x"}, "own-approval": {"note": "x"}, "own-identity": {"who.toml": "x"}}
    maps = {**maps_of(objects), **own, "bank-issuers": {"ca.crt": issuers}}
    for owner, pod in pods(objects):
        for container in containers(pod):
            folder = tmp_path / f"{owner['kind']}-{owner['metadata']['name']}-{container['name']}"
            found = lay_out(container, pod, maps, secrets_of(objects, issuers), folder)
            expect_known(found, folder)


def expect_known(found: Started, folder: Path) -> None:
    """Fail for a word, a setting, a value or a file that the program does not take."""
    assert [key for key in found.environment if key.startswith("GAINSAY_") and key not in KNOWN] == []
    assert read_environment(found.environment).faults == ()
    assert [key for key, value in found.environment.items() if is_secret(key) and not value.startswith("file:")] == []
    for key in ("GAINSAY_POLICY", "GAINSAY_APPROVAL", "GAINSAY_IDENTITY", "GAINSAY_CA_FILE"):
        assert key not in found.environment or Path(found.environment[key]).is_file()
    collector = {key: value for key, value in found.environment.items() if key.startswith("OTEL_")}
    assert (read_destination(collector, "TRACES", usual="otlp") is not None) == (
        "OTEL_EXPORTER_OTLP_ENDPOINT" in collector
    )
    context = gainsay.make_context("gainsay", list(found.words))
    command = gainsay.get_command(context, found.words[0])
    assert command is not None
    params = command.make_context(found.words[0], list(found.words[1:]), parent=context).params
    if "place" in params:
        assert [key.public for key in read_place(params["place"], found.environment)] == [APPROVER.public]
        assert params["folder"].is_relative_to(folder)


def test_every_setting_is_set_by_the_chart_or_has_no_place_in_a_pod() -> None:
    found = {
        row["name"]
        for name in every_set()
        for _, pod in pods(rendered(name))
        for c in containers(pod)
        for row in c["env"]
    }

    assert {*KNOWN} - found == {*NOT_IN_A_POD}


@pytest.fixture(scope="module")
def issuers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file of issuers' certificates."""
    return Authority(tmp_path_factory.mktemp("issuers")).path.read_text("ascii")


def test_a_word_that_the_program_does_not_know_is_noticed() -> None:
    with pytest.raises(click.UsageError):
        gainsay.get_command(click.Context(gainsay), "serve").make_context("serve", ["--no-work"])  # type: ignore[union-attr]


@pytest.mark.parametrize("component", ["api", "worker"])
def test_other_prompts_than_the_pinned_ones_start_no_process(
    component: str, tmp_path: Path, database: Database
) -> None:
    """A pod whose process ends never answers a probe, so it is not ready, and a rolling update stops at it."""
    policy = (repository() / "service" / "gainsay.toml").read_text("utf-8")
    objects = tuple(render(merged(NEEDED, {"policy": {"toml": policy}, "settings": {"logFormat": "text"}})))
    (pod,) = (pod for owner, pod in pods(objects) if owner["metadata"]["name"] == f"r-gainsay-{component}")
    urls = {"service-url": database.service_url, "api-url": database.serving_url}
    secrets = {("gainsay-database", key): url for key, url in urls.items()}
    found = lay_out(pod["spec"]["containers"][0], pod, maps_of(objects), secrets, tmp_path)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GAINSAY_")}

    ended = subprocess.run(
        [sys.executable, "-m", "service", *found.words],
        env={**kept, **found.environment},
        cwd=repository(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "prompt_changed: " in ended.stderr
    assert "GAINSAY_PROMPTS_PIN" in ended.stderr
    assert ended.returncode == 3
