"""`make quick` chooses tests by what has changed: near ones first, within a budget, and what is left out is named."""

from __future__ import annotations

import pytest

from tests.loops.changed import imported, importers, main, ranked, within

TEXTS = {
    "service/store/pool.py": "",
    "service/store/log.py": "from service.store import pool\n",
    "service/web/serving.py": "from service.store.log import (\n    Log,\n)\n",
    "service/gate.py": 'RULES = "gate.toml"\n',
    "tests/fixtures/running.py": "import service.store.log\n",
    "service/store/schema/migrate.py": 'FOLDER = "migrations"\n',
    "service/cli/__init__.py": 'import_module(f"service.cli.{name}")\nNAMES = ("quote", "gate")\n',
    "service/cli/quote.py": "",
    "tests/store/test_pool.py": "from service.store.pool import Pool\n",
    "tests/store/test_pool_limits.py": "from tests.fixtures.running import bench\n",
    "tests/store/test_log.py": "    from service.store.log import Log\nfrom service.store.schema import migrate\n",
    "tests/end_to_end/test_cli.py": "from service.cli import main\n",
    "tests/web/test_serving.py": "from service.web import serving\n",
    "tests/unit/test_gate.py": "from service import gate\n",
    "tests/unit/test_shape.py": "",
}


def test_a_change_concerns_what_imports_it_directly_or_by_way_of_others() -> None:
    found = ranked(["service/store/pool.py"], TEXTS)

    assert found == {
        "tests/unit/test_shape.py": 0,
        "tests/store/test_pool.py": 1,
        "tests/store/test_pool_limits.py": 1,  # far by imports, near by name
        "tests/store/test_log.py": 4,  # imports what imports it, and lies in a folder of the same name
        "tests/web/test_serving.py": 7,
    }


def test_a_test_that_has_changed_comes_first_and_concerns_no_other() -> None:
    assert ranked(["tests/store/test_log.py"], TEXTS) == {"tests/unit/test_shape.py": 0, "tests/store/test_log.py": 0}


def test_what_tests_share_concerns_the_tests_that_use_it() -> None:
    assert "tests/store/test_pool_limits.py" in ranked(["tests/fixtures/running.py"], TEXTS)


def test_a_file_that_is_no_module_counts_for_what_names_it_and_for_what_stands_beside_it() -> None:
    assert "tests/unit/test_gate.py" in ranked(["docs/gate.toml"], TEXTS)
    assert "tests/store/test_log.py" in ranked(["service/store/queries.sql"], TEXTS)
    assert "tests/store/test_log.py" in ranked(["migrations/0001_all.sql"], TEXTS)
    assert ranked(["docs/other.md"], TEXTS) == {"tests/unit/test_shape.py": 0}


def test_a_command_that_is_imported_by_its_name_concerns_the_tests_of_the_command_line() -> None:
    assert "tests/end_to_end/test_cli.py" in ranked(["service/cli/quote.py"], TEXTS)


def test_a_change_of_the_client_concerns_the_tests_that_import_it() -> None:
    texts = {
        **TEXTS,
        "clients/python/src/gainsay_client/__init__.py": "from gainsay_client.wire import Answer\n",
        "clients/python/src/gainsay_client/wire.py": "",
        "tests/end_to_end/clients/test_parts.py": "from gainsay_client import Answer\n",
    }

    assert "tests/end_to_end/clients/test_parts.py" in ranked(["clients/python/src/gainsay_client/wire.py"], texts)


def test_imports_are_found_in_every_form_that_is_written_here() -> None:
    text = "import a.b, c\nfrom d import (\n    e,\n    f as g,\n)\ndef h():\n    from i.j import k\n"

    assert {"a.b", "c", "d", "d.e", "d.f", "i.j", "i.j.k"} <= imported(text)
    assert importers(TEXTS)["service/store/log.py"] >= {"service/web/serving.py", "tests/fixtures/running.py"}


def test_files_are_taken_nearest_and_shortest_first_while_the_budget_suffices() -> None:
    ranks = {"tests/unit/test_a.py": 1, "tests/unit/test_b.py": 1, "tests/store/test_c.py": 2, "tests/x/test_d.py": 3}
    took = {"tests/unit/test_a.py": 15.0, "tests/unit/test_b.py": 1.0, "tests/store/test_c.py": 16.0}

    chosen, left = within(ranks, 30.0, took)

    assert chosen == ["tests/unit/test_b.py", "tests/unit/test_a.py", "tests/x/test_d.py"]
    assert left == ["tests/store/test_c.py"]


def test_a_file_that_would_not_end_within_the_minute_is_left_out() -> None:
    assert within({"tests/unit/test_a.py": 1}, 70.0, {"tests/unit/test_a.py": 21.0}) == ([], ["tests/unit/test_a.py"])


def test_what_has_changed_itself_is_run_whatever_it_takes() -> None:
    assert within({"tests/unit/test_a.py": 0}, 1.0, {"tests/unit/test_a.py": 99.0}) == (["tests/unit/test_a.py"], [])


@pytest.mark.parametrize("path", [None, ""], ids=["git as it is", "no git"])
def test_a_commit_that_cannot_be_found_is_a_plain_error(monkeypatch: pytest.MonkeyPatch, path: str | None) -> None:
    monkeypatch.setattr("sys.argv", ["changed.py", "no-such-commit"])
    if path is not None:
        monkeypatch.setenv("PATH", path)

    with pytest.raises(SystemExit, match=r"git [\w-]+: "):
        main()
