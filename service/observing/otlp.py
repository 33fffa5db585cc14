"""Where OpenTelemetry's variables send one kind of what is observed, by OTLP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from service.errors import SettingsError

Signal = Literal["TRACES", "LOGS"]
_PREFIX = "OTEL_EXPORTER_OTLP_"
_PROTOCOLS = ("http/protobuf", "grpc")


class Destination(Struct, frozen=True):
    """A collector, and whether it is spoken to by gRPC. The exporter reads the rest of the variables itself."""

    endpoint: str
    grpc: bool = False


def read_destination(environment: Mapping[str, str], signal: Signal, *, usual: str) -> Destination | None:
    """Where a signal is sent, ``None`` where it is not; ``usual`` is the exporter where none is named.

    Raises `SettingsError` for a variable that cannot be followed, without its value.
    """
    given = {name: value.strip() for name, value in environment.items() if name.startswith("OTEL_") and value.strip()}
    if given.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    exporter = given.get(f"OTEL_{signal}_EXPORTER", usual)
    if exporter not in ("otlp", "none"):
        raise SettingsError(f"expected otlp or none in OTEL_{signal}_EXPORTER: no other exporter is there")
    named = f"{_PREFIX}{signal}_ENDPOINT"
    endpoint = given.get(named) or given.get(f"{_PREFIX}ENDPOINT")
    protocol = given.get(f"{_PREFIX}{signal}_PROTOCOL") or given.get(f"{_PREFIX}PROTOCOL") or _PROTOCOLS[0]
    if protocol not in _PROTOCOLS:
        raise SettingsError(f"expected {' or '.join(_PROTOCOLS)} in {_PREFIX}PROTOCOL, found another one")
    if endpoint is not None:
        _check(endpoint)
    if exporter == "none":
        return None
    if endpoint is None:
        if f"OTEL_{signal}_EXPORTER" in given:
            raise SettingsError(f"expected a collector in {_PREFIX}ENDPOINT, because OTEL_{signal}_EXPORTER is otlp")
        return None
    return Destination(endpoint, protocol == "grpc")


def _check(endpoint: str) -> None:
    try:
        parts = urlsplit(endpoint)
        whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        whole = False
    if not whole or "@" in endpoint or "?" in endpoint:
        raise SettingsError(
            f"expected {_PREFIX}ENDPOINT as http://HOST:PORT or https://HOST:PORT, without a password in it: what a "
            f"collector asks for goes into {_PREFIX}HEADERS"
        )
