"""Evidence for an examiner: the bundle of one debate or evaluation, and the records of a log.

The reader is recorded first, in the tenant's own log: no record, no evidence.
"""

from __future__ import annotations

from service.reviews.evidence.access_record import EvidenceDesk, EvidenceReader
from service.reviews.evidence.debate_bundle import NotOver, bundle
from service.reviews.evidence.evaluation_bundle import Bundled, bundle_evaluation
from service.reviews.evidence.log_export import Filters, Form, evaluation_export, export
from service.reviews.evidence.period_pack import Packed, pack

__all__ = [
    "Bundled",
    "EvidenceDesk",
    "EvidenceReader",
    "Filters",
    "Form",
    "NotOver",
    "Packed",
    "bundle",
    "bundle_evaluation",
    "evaluation_export",
    "export",
    "pack",
]
