"""Both packages: generated types are those of the document, wheels install offline, versions move together."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

import gainsay_client
import service
from clients import generate
from service.web.openapi import document
from tests.fixtures.client_drivers import TYPESCRIPT, npm_tools

ROOT = Path(__file__).resolve().parents[3]
ANEW = "run `make clients`, and commit what it writes"


def test_each_call_stands_on_the_page_of_its_client() -> None:
    calls = {name for name in vars(gainsay_client.Gainsay) if not name.startswith("_")}
    calls |= {name for name in vars(gainsay_client.AsyncGainsay) if not name.startswith("_")}
    source = (TYPESCRIPT / "src/client.ts").read_text("utf-8")
    camel_cased = set(re.findall(r"^  (?:async |get |\*|async \*)?([a-z]\w+)(?:<.*?>)?\(", source, re.MULTILINE)) - {
        "constructor"
    }
    assert {"create_batch", "evaluation_report"} <= calls
    assert {"createBatch", "evaluationReport", "apiVersion"} <= camel_cased

    assert calls - _named(ROOT / "clients/python/README.md") == {"close", "aclose"} & calls
    assert camel_cased - _named(TYPESCRIPT / "README.md") == set()


def _named(page: Path) -> set[str]:
    """The calls that a page names, each at the beginning of its code."""
    return set(re.findall(r"`(\w+)[`(]", page.read_text("utf-8")))


def test_the_types_for_python_are_those_of_the_document() -> None:
    if importlib.util.find_spec("datamodel_code_generator") is None:
        pytest.skip("datamodel-code-generator is not installed")

    assert generate.python_types(document()) == generate.PYTHON.read_text("utf-8"), ANEW


def test_the_types_for_typescript_are_those_of_the_document(pytestconfig: pytest.Config) -> None:
    programs = npm_tools(pytestconfig) / "node_modules" / ".bin"

    assert generate.typescript_types(document(), programs) == generate.TYPESCRIPT.read_text("utf-8"), ANEW


def test_the_tests_use_the_generator_and_the_compiler_that_the_package_names() -> None:
    package = json.loads((TYPESCRIPT / "package.json").read_text("utf-8"))
    tools = json.loads((ROOT / "tests/end_to_end/typescript/package.json").read_text("utf-8"))["dependencies"]

    assert package["devDependencies"].items() <= tools.items()
    assert "dependencies" not in package


def test_all_versions_move_together() -> None:
    package = json.loads((TYPESCRIPT / "package.json").read_text("utf-8"))

    assert service.__version__ == gainsay_client.__version__ == package["version"]


@pytest.mark.parametrize("lock", ["requirements.txt", "requirements-dev.txt", "requirements-build.txt"])
def test_no_index_is_asked_for_a_package_of_this_repository(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")

    assert not re.search(r"^gainsay", text, re.MULTILINE)


def run(*command: str | Path, folder: Path, **variables: str) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, **variables}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pip(*words: str | Path, folder: Path) -> str:
    options = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-index", "--no-deps")
    return run(sys.executable, "-m", "pip", *words[:1], *options, *words[1:], folder=folder)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both wheels, as the image builds them: without a network."""
    folder = tmp_path_factory.mktemp("wheels")
    pip("wheel", "--no-build-isolation", "--wheel-dir", folder, ROOT / "clients/python", ROOT, folder=folder)
    return folder


def test_both_wheels_install_without_a_network_and_know_each_other(wheels: Path, tmp_path: Path) -> None:
    pip("install", "--target", tmp_path, *sorted(wheels.glob("*.whl")), folder=tmp_path)
    asked = "import gainsay_client, service; print(gainsay_client.Gainsay.__module__, gainsay_client.__file__)"

    version = run(tmp_path / "bin" / "gainsay", "--version", folder=tmp_path, PYTHONPATH=str(tmp_path))
    told = run(sys.executable, "-c", asked, folder=tmp_path, PYTHONPATH=str(tmp_path)).split()

    assert service.__version__ in version
    assert told[0] == "gainsay_client.client"
    assert Path(told[1]).is_relative_to(tmp_path)


def test_a_wheel_says_what_it_needs_and_carries_its_types(wheels: Path) -> None:
    (ours,) = wheels.glob("gainsay-*.whl")
    (client,) = wheels.glob("gainsay_client-*.whl")
    with ZipFile(ours) as archive:
        (metadata,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
        assert not [name for name in archive.namelist() if "client" in name and "gainsay_client" in name]
    with ZipFile(client) as archive:
        names = {name for name in archive.namelist() if not name.startswith("gainsay_client-")}

    assert "Requires-Dist: gainsay-client\n" in metadata
    assert {"gainsay_client/py.typed", "gainsay_client/types.py"} <= names
    assert all(name.startswith("gainsay_client/") for name in names)


def test_an_examiner_verifies_without_the_client(root: Path) -> None:
    without = (
        "import sys; sys.modules['gainsay_client'] = None\n"
        "from service.cli import main\n"
        "sys.exit(main(['audit', 'verify', '--help']))"
    )

    assert "verify" in run(sys.executable, "-c", without, folder=root)


def test_the_sources_carry_both_clients_and_no_packages_of_npm(tmp_path: Path) -> None:
    made = "from hatchling.build import build_sdist; import sys; print(build_sdist(sys.argv[1]))"
    name = run(sys.executable, "-c", made, str(tmp_path), folder=ROOT).split()[-1]

    with tarfile.open(tmp_path / name) as archive:
        names = {each.partition("/")[2] for each in archive.getnames()}

    assert {
        "clients/python/src/gainsay_client/types.py",
        "clients/typescript/src/schema.ts",
        "clients/generate.py",
    } <= names
    assert not [each for each in names if "node_modules" in each or each.startswith("clients/typescript/dist")]


def test_the_package_of_npm_has_what_is_built_and_nothing_else(node_program: Path) -> None:
    if (npm := shutil.which("npm")) is None:
        pytest.skip("npm is not on the PATH")
    package = node_program.parent / "node_modules" / "gainsay-client"

    told = json.loads(run(npm, "pack", "--dry-run", "--json", "--ignore-scripts", folder=package))

    files = {each["path"] for each in told[0]["files"]}
    assert {"dist/index.js", "dist/index.d.ts", "dist/schema.d.ts", "README.md", "LICENSE", "package.json"} <= files
    assert all(path.startswith("dist/") for path in files - {"README.md", "LICENSE", "package.json"})


def test_the_image_is_built_from_both_packages() -> None:
    dockerfile, ignored = (ROOT / "Dockerfile").read_text("utf-8"), (ROOT / ".dockerignore").read_text("utf-8")

    assert re.search(r"^COPY clients/python clients/python$", dockerfile, re.MULTILINE)
    assert re.search(r"pip wheel --no-deps --no-build-isolation --wheel-dir /dist \./clients/python \.", dockerfile)
    for needed in ("pyproject.toml", "README.md", "LICENSE", "src"):
        assert f"!clients/python/{needed}" in ignored
