"""Addresses of databases: which are taken, and that a refusal shows nothing of them."""

from __future__ import annotations

import pytest

from service.errors import SettingsError
from service.store.schema.address import check_address

WRITING = "target_session_attrs=read-write"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://gainsay_service:secret@db.example/gainsay",
        "postgresql:///gainsay?host=/run/postgresql",
        f"postgresql://gainsay_service:secret@one.example:5432,two.example:5433/gainsay?{WRITING}",
        f"postgresql://gainsay_service:secret@one.example,two.example,[::1]:5434/gainsay?{WRITING}",
        "postgresql://gainsay_service:secret@one.example,two.example/gainsay?target_session_attrs=primary",
        f"host=one.example,two.example port=5432 dbname=gainsay {WRITING}",
    ],
)
def test_one_host_is_taken_and_several_with_the_one_to_write_to(url: str) -> None:
    check_address(url, "GAINSAY_DATABASE_URL")


@pytest.mark.parametrize("asked", ["", "?target_session_attrs=any", "?target_session_attrs=prefer-standby"])
def test_several_hosts_of_which_a_standby_may_be_taken_are_refused(asked: str) -> None:
    with pytest.raises(SettingsError) as refused:
        check_address(f"postgresql://gainsay_service:secret@one.example,two.example/gainsay{asked}", "THE_URL")

    assert refused.value.detail.startswith("expected target_session_attrs=read-write in THE_URL, which names 2 hosts")
    assert "secret" not in refused.value.detail


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://gainsay_service:se/cret@db.example/gainsay",
        "postgresql://gainsay_service:s@cret@db.example/gainsay",
        "postgresql://db.example/gainsay?nonsense=secret",
        f"postgresql://gainsay_service:secret@one.example:5432,two.example:no/gainsay?{WRITING}",
    ],
)
def test_what_cannot_be_read_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(SettingsError) as refused:
        check_address(url, "THE_URL")

    assert "THE_URL" in refused.value.detail
    assert not any(part in refused.value.detail for part in ("secret", "cret@", "se/cret"))
