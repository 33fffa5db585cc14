"""A rendered pod laid out on this machine: its mounted files in a folder, which its variables and words then name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.chart.rendering import Object

Secrets = Mapping[tuple[str, str], str]
"""The text of each key of a Secret."""


class Started(NamedTuple):
    """What a container starts: the words behind `gainsay`, and the variables."""

    words: tuple[str, ...]
    environment: dict[str, str]


def lay_out(
    container: Object, pod: Object, maps: Mapping[str, Mapping[str, str]], secrets: Secrets, folder: Path
) -> Started:
    """Write what the container mounts below the folder; a path that is not mounted is not there.

    ``maps`` has the data of each ConfigMap. Files get the mode 0600: here they belong to the process's own user.
    """
    volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
    for mount in container["volumeMounts"]:
        place = folder / mount["mountPath"].removeprefix("/")
        place.mkdir(parents=True, exist_ok=True)
        for path, text in _files(volumes.get(mount["name"], {}), maps, secrets).items():
            file = place / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(mode=0o600)
            file.write_text(text, "utf-8")
    mounted = re.compile("|".join(re.escape(mount["mountPath"]) for mount in container["volumeMounts"]))

    def moved(text: str) -> str:
        return mounted.sub(lambda path: f"{folder}{path[0]}", text)

    env = {row["name"]: moved(row.get("value", "")) for row in container.get("env", [])}
    return Started(tuple(moved(word) for word in container["args"]), env)


def _files(volume: Object, maps: Mapping[str, Mapping[str, str]], secrets: Secrets) -> dict[str, str]:
    found: dict[str, str] = {}
    for source in volume.get("projected", {}).get("sources", []):
        part = source["secret"]
        found |= {item["path"]: secrets[part["name"], item["key"]] for item in part["items"]}
    if given := volume.get("secret"):
        found |= {item["path"]: secrets[given["secretName"], item["key"]] for item in given["items"]}
    if given := volume.get("configMap"):
        data = maps[given["name"]]
        items = given.get("items") or [{"key": key, "path": key} for key in data]
        found |= {item["path"]: data[item["key"]] for item in items}
    return found


def maps_of(objects: tuple[Object, ...]) -> dict[str, dict[str, str]]:
    """The data of each ConfigMap that was rendered."""
    return {x["metadata"]["name"]: x.get("data", {}) for x in objects if x["kind"] == "ConfigMap"}
