"""What is handed to an examiner: the bundle of one debate, and the records of a log.

Whoever is handed evidence is recorded first, in the tenant's own log: no record, no evidence.
"""

from __future__ import annotations

from service.evidence.bundling import NotOver, bundle
from service.evidence.exporting import Filters, Form, export
from service.evidence.noting import Reader

__all__ = ["Filters", "Form", "NotOver", "Reader", "bundle", "export"]
