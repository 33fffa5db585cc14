"""The metrics as text: both formats are read by the library's own parsers, and say the same."""

from __future__ import annotations

from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open
from prometheus_client.parser import text_string_to_metric_families as read_plain
from prometheus_client.samples import Sample

from service import telemetry
from service.observing import exposition


def samples(media_type: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample of our own, by name and labels; those of the process move while they are read."""
    content, _ = exposition.exposed(media_type)
    read = read_open if media_type == exposition.OPEN else read_plain
    found: list[Sample] = [sample for family in read(content.decode()) for sample in family.samples]
    named = {(one.name, tuple(sorted(one.labels.items()))): one.value for one in found}
    assert len(named) == len(found), "a sample stands there twice"
    return {key: value for key, value in named.items() if key[0].startswith("gainsay_")}


def test_both_formats_are_read_and_say_the_same() -> None:
    telemetry.RUNNING.set(3)
    telemetry.LOG_SIGN_SECONDS.observe(0.02)

    plain, opened = samples(exposition.PLAIN), samples(exposition.OPEN)

    assert repr(plain) == repr(opened), "as text: NaN, which stands for what is not known, differs from itself"
    assert plain["gainsay_debates_running", ()] == 3
    assert plain["gainsay_log_sign_seconds_count", ()] >= 1


def test_no_series_says_when_another_began() -> None:
    telemetry.AUDIT_FAILURES.inc(0)

    for media_type in exposition.FORMS:
        content, _ = exposition.exposed(media_type)
        assert b"gainsay_audit_append_failures_total" in content
        assert b"_created" not in content


def test_the_process_and_its_python_are_among_them() -> None:
    content, _ = exposition.exposed(exposition.PLAIN)
    found = {family.name: family for family in read_plain(content.decode())}

    (memory,) = found["process_resident_memory_bytes"].samples
    assert memory.value > 1_000_000
    assert found["process_cpu_seconds"].samples[0].value > 0
    assert found["process_open_fds"].samples[0].value > 0
    assert {one.labels["generation"] for one in found["python_gc_collections"].samples} == {"0", "1", "2"}
    assert found["python_info"].samples[0].labels["implementation"] == "CPython"


def test_each_form_names_its_version_and_one_charset() -> None:
    assert [exposition.exposed(media_type)[1] for media_type in exposition.FORMS] == [
        "text/plain; version=0.0.4; charset=utf-8",
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
    ]
