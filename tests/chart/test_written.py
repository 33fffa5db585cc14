"""What is written into the chart is current, and what it says of itself is true."""

from __future__ import annotations

import json
import re

import yaml

import service
from helm.written import readme, rows, texts
from tests.chart.rendering import CHART, merged, one, render
from tests.chart.sets import NEEDED, SETS, Values

DOCS = CHART.parents[1] / "docs" / "kubernetes.md"


def notes(values: Values) -> str:
    """What helm says after an install, by way of an object: helm prints notes with a cluster alone."""
    text = (CHART / "templates" / "NOTES.txt").read_text("utf-8")
    shown = 'kind: ConfigMap\nmetadata: {name: notes}\ndata: {notes: {{ include "notes" . | quote }}}'
    way = f'{{{{ define "notes" }}}}{text}{{{{ end }}}}\n{shown}'
    objects = render(merged(NEEDED, {**values, "extraObjects": [way]}))
    said: str = one(tuple(objects), "ConfigMap", "notes")["data"]["notes"]
    return said


def test_what_make_chart_writes_is_current() -> None:
    old = [name for name, text in texts().items() if (CHART / name).read_text("utf-8") != text]
    assert old == [], "run `make chart`"
    known = {CHART / name for name in texts()}
    assert [path for path in (CHART / "files").rglob("*.*") if path not in known] == []


def test_every_value_stands_in_the_readme_once() -> None:
    found = [row.path for row in rows((CHART / "values.yaml").read_text("utf-8"))]

    assert len(found) == len({*found}) > 100
    assert [row.path for row in rows((CHART / "values.yaml").read_text("utf-8")) if not row.words] == []
    assert [row.path for row in rows("a:\n  # -- of b,\n  # and more\n  b: {c: 1}\n  d: {e: 2}\n")] == ["a.b", "a.d.e"]
    assert "| `a` | `1` | of a, and more |" in readme("# -- of a,\n# and more\na: 1\n")


def test_the_chart_has_the_version_of_the_service() -> None:
    about = yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))

    assert (about["version"], about["appVersion"]) == (service.__version__, service.__version__)


def test_the_schema_knows_every_value_and_no_others() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))

    assert {*schema["properties"]} == {*values, "global", "enabled"}


def test_the_notes_warn_of_what_is_left_open() -> None:
    plain, open_ones = notes({}), notes(SETS["approved"])

    assert "prompts.pin is `image`" not in plain
    assert "no approval" in plain
    assert "prompts.pin is `image`" in open_ones
    assert "no approval" not in open_ones
    assert "a tag, which can come to mean another one" in plain
    assert "a tag" not in notes(SETS["digest"])
    assert "helm --namespace risk test r" in notes(SETS["probed"])


def test_the_values_that_the_docs_show_are_taken() -> None:
    (shown,) = re.findall(r"^```yaml\n(.*?)^```$", DOCS.read_text("utf-8"), re.MULTILINE | re.DOTALL)

    assert render(merged(NEEDED, yaml.safe_load(shown)))


def test_the_docs_name_every_secret_and_every_mode() -> None:
    said = DOCS.read_text("utf-8")
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    secrets = [row.default for row in rows((CHART / "values.yaml").read_text("utf-8")) if is_secret(row.default)]
    modes = schema["properties"]["migrations"]["properties"]["mode"]["enum"]

    assert len(secrets) > 8
    assert [x for x in secrets if x["secret"] and not all(f"`{text}`" in said for text in x.values())] == []
    assert [mode for mode in modes if f"| `{mode}` |" not in said] == []
    assert [way for way in values["networkPolicy"]["egress"] if way not in said and way != "dns"] == []


def is_secret(default: object) -> bool:
    return isinstance(default, dict) and {*default} == {"secret", "key"}


def test_the_examples_are_named_in_the_docs() -> None:
    said = DOCS.read_text("utf-8")

    assert [path.name for path in (CHART / "examples").iterdir() if path.name not in said] == []
