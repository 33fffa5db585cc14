"""The certificates that a process reads from files and from its policy, by the settings that name them."""

from __future__ import annotations

from pathlib import Path

from service.identity.opening import identities_of
from service.policy import TimeStamps
from service.policy.settings import Settings
from service.store.ends import files_of_address


def files_with_certificates(settings: Settings) -> dict[str, Path | bytes]:
    """The files, or what is in them: issuers, those of PostgreSQL and identity providers, and the time stamps'."""
    found = {
        **files_of_address("GAINSAY_DATABASE_URL", settings.database_url),
        **files_of_address("GAINSAY_API_URL", settings.api_url),
    }
    if settings.ca_file is not None:
        found["GAINSAY_CA_FILE"] = settings.ca_file
    if isinstance(settings.policy.audit.timestamps, TimeStamps):
        found["audit.timestamps.certificate"] = settings.policy.audit.timestamps.certificate.encode()
    identities = identities_of(settings.identity)
    for provider in identities.oidc if identities is not None else ():
        if provider.ca is not None:
            found[f"oidc.{provider.name}.ca"] = Path(provider.ca)
    return found
