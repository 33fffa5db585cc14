"""What the file of GAINSAY_IDENTITY says: by which credentials a service finds out who calls.

Each member of `Identities` is a section of the file, and there is no other. Without that file a service knows no
identities, and every caller is `service.identity.caller.LOCAL`.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from service.identity.provider_settings import OidcSetting, providers
from service.identity.proxy_settings import ProxySetting, proxy_table
from service.policy.keys import whole


class KeySettings(Struct, frozen=True):
    """[keys]: API keys of this service are accepted. None lives longer than ``most_days``."""

    most_days: Annotated[int, whole(1, 3_660)] = 366


class Identities(Struct, frozen=True):
    """The sections of the file; at least one is there."""

    keys: KeySettings | None = None
    oidc: Annotated[tuple[OidcSetting, ...], providers()] = ()
    proxy: Annotated[ProxySetting | None, proxy_table()] = None
