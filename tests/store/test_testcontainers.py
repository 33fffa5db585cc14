"""GAINSAY_TEST_POSTGRES=testcontainers: as far as it can be shown without Docker."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.fixtures.postgres import _container, _start_container


def test_without_docker_the_reason_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")
    with warnings.catch_warnings(action="ignore"):
        container, reason = _start_container()
        gc.collect()  # the client of Docker leaves its socket open

    assert container is None
    assert reason.startswith("Docker does not answer: ")
    with pytest.raises(pytest.skip.Exception, match="GAINSAY_TEST_POSTGRES=testcontainers, but Docker does not answer"):
        _container().__enter__()


def started(container: Any) -> Any:
    """What `start` leaves of a container that Docker runs."""
    container._container = object()
    return container


def test_with_docker_the_address_of_a_superuser_is_lent_and_the_container_stopped() -> None:
    """Docker's own part is played: which image it is asked for, and where the container is said to listen."""
    from testcontainers.community.postgres import PostgresContainer

    with (
        patch("testcontainers.core.container.DockerClient"),
        patch.object(PostgresContainer, "start", autospec=True, side_effect=started) as start,
        patch.object(PostgresContainer, "stop", autospec=True) as stop,
        patch.object(PostgresContainer, "get_container_host_ip", return_value="localhost"),
        patch.object(PostgresContainer, "get_exposed_port", return_value=32768),
    ):
        with _container() as url:
            assert not stop.called
        container = start.call_args.args[0]

    parts = conninfo_to_dict(url)
    assert (parts["user"], parts["host"], parts["port"], parts["dbname"]) == (
        "postgres",
        "localhost",
        "32768",
        "postgres",
    )
    assert parts["password"] == container.password
    assert container.image == "postgres:18"
    assert stop.call_count == 1
