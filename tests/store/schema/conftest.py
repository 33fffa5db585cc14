"""Databases for tests of the schema: with every partition that the migrations make."""

from __future__ import annotations

import pytest

from tests.fixtures.postgres import Database


@pytest.fixture(scope="session")
def template(whole_template: Database) -> Database:
    """A migrated database without connections, as the template of copies."""
    return whole_template
