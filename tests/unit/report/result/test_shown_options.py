"""Options as callers see them: shares from 0 to 1, where the record has whole per mille."""

from __future__ import annotations

from msgspec import to_builtins
from msgspec.structs import replace

from service.debate.options import ConvergenceOptions, PanelOptions, TrackRecord
from service.report.result.shown_options import shown_options
from tests.fixtures import formats


def test_thresholds_and_track_records_of_a_panel_are_shares() -> None:
    options = formats.plain("panel/1")
    assert isinstance(options, PanelOptions)
    records = (TrackRecord("oak-1", 3, 612),)

    told = to_builtins(shown_options(replace(options, thresholds={"factual": 850}, track_records=records)))

    assert told["format"] == "panel/1"
    assert told["thresholds"] == {"factual": 0.85}
    assert told["trackRecords"] == ({"model": "oak-1", "debates": 3, "score": 0.612},)


def test_the_similarity_of_convergence_is_a_share_also_where_it_is_the_usual_one() -> None:
    options = formats.plain("convergence/1")
    assert isinstance(options, ConvergenceOptions)

    told = to_builtins(shown_options(options))

    assert told["convergenceSimilarity"] == 0.85
    assert {"judge", "convergenceCheck", "ties"} <= set(told)
