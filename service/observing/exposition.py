"""The metrics as text, in the two formats that every Prometheus from 2.5 on reads.

    text/plain; version=0.0.4                     without exemplars
    application/openmetrics-text; version=1.0.0   with exemplars

The library would also repeat a version that a caller asks for. Here a version is stated that is written.
"""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, exposition
from prometheus_client.openmetrics import exposition as openmetrics

from service.observing.labelled import REGISTRY

PLAIN, OPEN = "text/plain", "application/openmetrics-text"
FORMS: dict[str, tuple[Callable[[CollectorRegistry], bytes], str]] = {
    PLAIN: (exposition.generate_latest, exposition.CONTENT_TYPE_PLAIN_0_0_4),
    OPEN: (openmetrics.generate_latest, openmetrics.CONTENT_TYPE_LATEST),
}
"""By media type: what writes it, and its whole Content-Type with version and charset."""


def exposed(media_type: str) -> tuple[bytes, str]:
    """All metrics of this process and their Content-Type; ``media_type`` is a key of `FORMS`."""
    write, content_type = FORMS[media_type]
    return write(REGISTRY), content_type
