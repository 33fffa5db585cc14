"""Who may vouch for a vendor's server: a list that cannot be read stops the start with the variable to correct."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.errors import SettingsError
from service.providers import transport


@pytest.fixture(autouse=True)
def unread() -> Iterator[None]:
    """Read the issuers anew, before the test and after it."""
    transport._trusted.cache_clear()
    yield
    transport._trusted.cache_clear()


@pytest.mark.parametrize(("text", "why"), [(None, "No such file"), ("no certificate", "certificate")])
def test_issuers_that_cannot_be_read_are_named_by_their_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, why: str
) -> None:
    path = tmp_path / "issuers.pem"
    if text is not None:
        path.write_text(text, "utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))

    with pytest.raises(SettingsError, match=rf"the file that SSL_CERT_FILE names, found none .*{why}"):
        transport._trusted()


def test_the_issuers_of_a_file_are_trusted_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = transport._trusted().get_ca_certs(binary_form=True)
    transport._trusted.cache_clear()
    path = tmp_path / "issuers.pem"
    path.write_text(ssl.DER_cert_to_PEM_cert(usual[0]), "ascii")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))

    assert transport._trusted().get_ca_certs(binary_form=True) == usual[:1]
