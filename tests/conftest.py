"""What every test may rely on: hypothesis profiles, the header, and the folder of shared material."""

import logging
import os
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, settings

from service import log_lines
from service.observing import labelled

pytest_plugins = ["tests.loops.collecting", "tests.fixtures.postgres", "tests.loops.timing"]

ROOT = Path(__file__).resolve().parent.parent
LOGGERS = [logging.getLogger(name) for name in ("", "gainsay", "psycopg")]

# A desk may be set up for a real deployment. No test may find its database, its policy or the keys that cost money.
for name in list(os.environ):
    if (name.startswith("GAINSAY_") and not name.startswith("GAINSAY_TEST_")) or name.endswith("_API_KEY"):
        del os.environ[name]

os.environ["GAINSAY_WARM_S"] = "0"  # a test leaves no server behind; those that are about warm ones name a time

os.environ["GAINSAY_LOG_FORMAT"] = "text"  # tests of the log name a form of their own

labelled.strict = log_lines.strict = True

# "ci" gives the same examples on every run, so a red build is red again on a desk. "replay" has fewer still, for the
# second hash seed of `make replay`. "thorough" looks for new ones: `make examples` runs it. A time limit per example
# would fail on a busy machine, not on a bug.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=25)
settings.register_profile("replay", derandomize=True, deadline=None, max_examples=12)
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=int(os.environ.get("GAINSAY_TEST_EXAMPLES", "2000")),
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.load_profile("ci")


def pytest_report_header() -> list[str]:
    """Say which PostgreSQL the tests use, without the password that its address may carry."""
    return [f"postgresql: {_postgresql()}", f"hash seed: {os.environ.get('PYTHONHASHSEED', 'random')}"]


def _postgresql() -> str:
    url = os.environ.get("GAINSAY_TEST_DATABASE_URL")
    if not url:
        return "embedded (GAINSAY_TEST_DATABASE_URL is not set)"
    parts = urlsplit(url)
    return f"GAINSAY_TEST_DATABASE_URL at {parts.hostname or 'local socket'}:{parts.port or 5432}{parts.path}"


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared references and data beside the checkout; a test that needs it is skipped without it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"no folder {folder.name!r} beside the checkout")
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Leave the log as it was: a command that runs in a test's own process sets it up for good.

    A hook, because a fixture costs each of the many small tests a third as much again.
    """
    levels = [logger.level for logger in LOGGERS]
    result = yield
    for logger, level in zip(LOGGERS, levels, strict=True):
        logger.setLevel(level)
    for handler in logging.getLogger().handlers[:]:
        if type(handler) is logging.StreamHandler:  # pytest's own are of other types
            logging.getLogger().removeHandler(handler)
    return result
