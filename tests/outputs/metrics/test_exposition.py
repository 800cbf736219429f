"""A scrape is one bytes object of one generation, in the format asked for, and parses as Prometheus parses it."""

from __future__ import annotations

import gzip
import logging
import shutil
import subprocess
import threading
import zlib
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from bcon_exporter.errors import DockerConnectionError
from bcon_exporter.latest_scans import DiagnoseScan, LatestScans
from bcon_exporter.memory import DiskMemory, fold_disk
from bcon_exporter.model.container_facts import Limits, NetworkCounters, Pressure, PressureTotals
from bcon_exporter.model.disk import LogFile, LogReading, StoredData, StoredLayer, StoredVolume
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.outputs.metrics import FAMILIES
from bcon_exporter.outputs.metrics.writing import LABEL_MAX_CHARS, Samples, cap_series, label_value
from bcon_exporter.settings import Settings
from tests.factories import NOON, compose, container, crowd, exited, health, snapshot, usage
from tests.outputs.scenes import (
    ENGINE,
    Clock,
    cause,
    diagnosis,
    difference,
    drift_report,
    drift_scan,
    exposition_of,
    make_context,
    make_exposition,
    samples_of,
    scan_of,
    scrape_text,
    symptom,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from bcon_exporter.outputs.metrics import Exposition
    from bcon_exporter.outputs.metrics.families import Family
    from bcon_exporter.outputs.metrics.writing import Format

from bcon_exporter.model.findings import DriftType

FORMATS: tuple[Format, ...] = ("text", "openmetrics")


def full_exposition(**options: Any) -> Exposition:
    """An exposition in which every stored family has a sample."""
    ailing = container(name="api", compose=compose(config_files=("/srv/compose.yaml",)), health=health())
    stopped = exited(name="job")
    host = snapshot(ailing, stopped, engine=ENGINE)
    report = diagnosis(
        ailing,
        status="error",
        symptoms=(symptom(SymptomType.NETWORK_ERROR, Severity.ERROR),),
        likely_causes=(cause("peer_down", peer="db"),),
    )
    scan = scan_of(host, report, diagnosis(stopped), log_events={ailing.id: {"error": 1}})
    drift = drift_scan(drift_report("shop", difference(DriftType.IMAGE_MISMATCH)), untracked=("job",))
    return exposition_of(scan, drift, **options)[0]


@pytest.mark.parametrize("fmt", FORMATS)
def test_parsers_of_the_client_library_read_it(fmt: Format) -> None:
    text = scrape_text(full_exposition(), fmt)

    families = list((parse_text if fmt == "text" else parse_openmetrics)(text))

    series = [(sample.name, tuple(sorted(sample.labels.items()))) for family in families for sample in family.samples]
    assert len(series) == len(set(series))
    assert "bcon_container_symptom" in {family.name for family in families}


def test_both_formats_carry_the_same_samples() -> None:
    exposition = full_exposition()

    texts = [scrape_text(exposition, fmt) for fmt in FORMATS]

    ours = [sorted(line for line in text.splitlines() if line.startswith("bcon_")) for text in texts]
    assert ours[0] == ours[1]
    assert texts[1].endswith("# EOF\n")


@pytest.mark.integration
@pytest.mark.promise("F7")
@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed (Debian package prometheus)")
def test_promtool_accepts_it() -> None:
    text = scrape_text(full_exposition())

    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)

    # promtool's advice on names ("use base unit") ends in 3; what it cannot parse ends in 1
    assert checked.returncode in (0, 3), checked.stderr
    assert "error while linting" not in checked.stderr


@pytest.mark.parametrize("fmt", FORMATS)
def test_every_family_in_the_table_is_written_under_its_name_and_type(fmt: Format) -> None:
    text = scrape_text(full_exposition(), fmt)

    for family in FAMILIES:
        name = family.name if fmt == "text" else family.base_name
        kind = "gauge" if family.kind == "info" and fmt == "text" else family.kind
        assert f"# TYPE {name} {kind}\n" in text
        assert f"# HELP {name} " in text


def test_stored_values_say_that_they_are_as_of_the_last_scan() -> None:
    text = scrape_text(full_exposition())

    assert "# HELP bcon_containers Containers by status; as of the last scan\n" in text
    assert "as of the last scan" not in next(line for line in text.splitlines() if line.startswith("# HELP bcon_up"))


@pytest.mark.parametrize("fmt", FORMATS)
def test_the_compressed_answer_is_one_gzip_member_of_the_same_text(fmt: Format) -> None:
    exposition = full_exposition()

    packed = exposition.answer(fmt, compress=True)

    assert packed.encoding == "gzip"
    unpacked = zlib.decompressobj(zlib.MAX_WBITS | 16)
    text = unpacked.decompress(packed.body).decode()
    assert unpacked.eof
    assert unpacked.unused_data == b""
    plain = scrape_text(exposition, fmt)
    assert samples_of(text, "bcon_container_symptom") == samples_of(plain, "bcon_container_symptom")
    assert len(packed.body) < len(plain) / 2


def test_chosen_families_only() -> None:
    exposition = full_exposition()

    text = scrape_text(exposition, names=("bcon_up", "bcon_scans_total", "bcon_container_info", "python_info"))

    types = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert sorted(types) == ["bcon_container_info", "bcon_scans_total", "bcon_up", "python_info"]
    packed = exposition.answer("text", compress=True, names=("bcon_up",)).body
    assert gzip.decompress(packed).decode().endswith("bcon_up 1\n")


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_chosen_family_that_does_not_exist_gives_an_empty_answer(fmt: Format) -> None:
    text = scrape_text(full_exposition(), fmt, names=("nothing",))

    assert text == ("" if fmt == "text" else "# EOF\n")


@pytest.mark.parametrize(("age", "there"), [(89.9, True), (90.0, True), (90.1, False)])
def test_container_series_are_withheld_after_three_intervals(age: float, there: bool) -> None:
    clock = Clock(1000.0)
    exposition = full_exposition(clock=clock)

    clock.at += age

    text = scrape_text(exposition)
    assert ("bcon_container_symptom{" in text) is there
    assert "bcon_drift_items{" in text  # its interval is longer
    assert "bcon_up 1\n" in text
    unpacked = gzip.decompress(exposition.answer("text", compress=True).body).decode()
    assert ("bcon_container_symptom{" in unpacked) is there


@pytest.mark.parametrize(("age", "there"), [(180.0, True), (180.1, False)])
def test_drift_series_are_withheld_after_three_of_their_own_intervals(age: float, there: bool) -> None:
    clock = Clock(1000.0)
    exposition = full_exposition(clock=clock)

    clock.at += age

    assert ("bcon_drift_items{" in scrape_text(exposition)) is there


def test_a_failed_scan_keeps_the_last_good_values_and_says_so() -> None:
    exposition, context = exposition_of(scan_of(snapshot(container())))

    context.scans.record_failure("diagnose", NOON, 5.0, DockerConnectionError("away"))
    exposition.publish("diagnose")

    text = scrape_text(exposition)
    assert 'bcon_scan_success{scan="diagnose"} 0\n' in text
    assert "bcon_container_status{" in text


def test_before_the_first_scan_only_the_own_state_is_there() -> None:
    exposition, _ = exposition_of()

    text = scrape_text(exposition)

    assert "bcon_up 1\n" in text
    assert "bcon_container" not in text
    assert not samples_of(text, "bcon_scan_success")
    assert 'bcon_scans_total{scan="diagnose"} 0\n' in text


def test_status_and_stored_values_are_of_one_generation() -> None:
    exposition, context = exposition_of(scan_of(snapshot(container())))

    context.scans.publish_diagnosis(scan_of(snapshot(container(), container(name="b"))))

    text = scrape_text(exposition)  # the new scan is there and not rendered yet
    assert 'bcon_scans_total{scan="diagnose"} 1\n' in text
    assert 'bcon_containers{status="healthy"} 1\n' in text


@pytest.mark.promise("F11")
def test_no_answer_mixes_two_generations_while_scans_are_published() -> None:
    sizes = (3, 40)
    scans = {size: scan_of(snapshot(*crowd(size))) for size in sizes}
    exposition, context = exposition_of(scans[3])
    stop = threading.Event()

    def publish() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            context.scans.publish_diagnosis(scans[sizes[turn % 2]])
            exposition.publish("diagnose")

    publisher = threading.Thread(target=publish)
    publisher.start()
    try:
        for number in range(400):
            scrape = exposition.answer("text", compress=number % 2 == 0)
            text = (gzip.decompress(scrape.body) if scrape.encoding else scrape.body).decode()
            total = int(samples_of(text, "bcon_containers")[0].split()[-1])
            assert len(samples_of(text, "bcon_container_status")) == total
            assert len(samples_of(text, "bcon_container_running")) == total
    finally:
        stop.set()
        publisher.join()


class DriftEndsMeanwhile(LatestScans):
    """Latest scans of which the drift scan ends while the diagnosis is being rendered."""

    meanwhile: Callable[[], None] = staticmethod(lambda: None)

    @property
    def diagnosis(self) -> DiagnoseScan | None:
        self.meanwhile()
        return super().diagnosis


def test_a_scan_that_ends_while_the_other_is_rendered_is_not_lost() -> None:
    scans = DriftEndsMeanwhile()
    exposition = make_exposition(replace(make_context(), scans=scans))
    scans.publish_diagnosis(scan_of(snapshot(*crowd(3))))
    scans.publish_drift(drift_scan(drift_report("shop")))
    drift = threading.Thread(target=exposition.publish, args=("drift",))

    def end_drift() -> None:
        drift.start()
        drift.join(0.3)

    scans.meanwhile = end_drift
    exposition.publish("diagnose")
    drift.join(10)

    text = scrape_text(exposition)
    assert samples_of(text, "bcon_container_status")
    assert samples_of(text, "bcon_compose_project_status")


@pytest.mark.promise("S8")
@pytest.mark.parametrize(("cap", "dropped"), [(100_000, False), (20, True)])
def test_above_the_cap_whole_informational_families_go_and_are_counted(cap: int, dropped: bool) -> None:
    scan = scan_of(snapshot(*crowd(5)))

    text = scrape_text(exposition_of(scan, series_cap=cap)[0])

    assert (not samples_of(text, "bcon_container_info")) is dropped
    assert len(samples_of(text, "bcon_container_symptom")) == 5 * len(SymptomType)
    count = int(samples_of(text, "bcon_series_dropped")[0].split()[-1])
    assert (count > 0) is dropped


CAPPED = [family for family in FAMILIES if family.drop_order] + [
    family for family in FAMILIES if not family.drop_order
][:5]


@given(st.dictionaries(st.sampled_from(CAPPED), st.integers(1, 6), min_size=2, max_size=4), st.integers(1, 12))
def test_what_is_left_out_does_not_depend_on_the_order_in_which_families_come(
    counts: dict[Family, int], cap: int
) -> None:
    samples = [Samples(family, (b"x 1\n",) * count) for family, count in counts.items()]
    shown, dropped = cap_series(iter(samples), cap)

    by_order = sorted((item for item in samples if item.family.drop_order), key=lambda item: item.family.drop_order)
    total = sum(counts.values())
    fit = next((n for n in range(len(by_order)) if total - sum(map(series, by_order[:n])) <= cap), len(by_order))
    assert shown == [item for item in samples if item not in by_order[:fit]]
    assert dropped == sum(map(series, by_order[:fit]))


def series(samples: Samples) -> int:
    return samples.series


def test_series_that_are_left_out_are_logged_once_and_a_reload_can_bring_them_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    exposition, context = exposition_of(scan_of(snapshot(*crowd(5))), series_cap=20)
    for cap in (20, 80_000, 60_000):
        exposition.reload((), cap)
        context.scans.publish_diagnosis(scan_of(snapshot(*crowd(5))))
        exposition.publish("diagnose")

    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "metrics.series-cap" in caplog.records[0].getMessage()
    assert "bcon_series_dropped 0\n" in scrape_text(exposition)


@pytest.mark.promise("S8")
def test_a_thousand_containers_are_whole_by_default() -> None:
    cap = Settings().metrics.series_cap
    totals = PressureTotals(1, 1)
    counted = usage(
        network=NetworkCounters(1, 1, 1, 1, 1, 1),
        pressure=Pressure(totals, totals, totals),
        open_files=4,
        memory_limit_bytes=1,
    )
    limits = Limits(memory_bytes=1, pids=9)
    busy = tuple(one.model_copy(update={"usage": counted, "limits": limits}) for one in crowd(1000))
    disk, size = DiskMemory(), 1
    for at in (NOON - timedelta(hours=2), NOON):
        logs = tuple(LogFile(container_id=one.id, name=one.name, is_bounded=True, size_bytes=size) for one in busy)
        layers = tuple(StoredLayer(container_id=one.id, name=one.name, size_bytes=size) for one in busy)
        volumes = tuple(StoredVolume(name=f"v-{one.name}", size_bytes=size, containers=1) for one in busy)
        disk, _ = fold_disk(disk, LogReading(at=at, logs=logs), at)
        disk, _ = fold_disk(disk, StoredData(at=at, layers=layers, volumes=volumes), at)

    text = scrape_text(exposition_of(scan_of(snapshot(*busy), disk=disk), series_cap=cap)[0])

    assert cap == 80_000
    for name in ("cpu_usage_ratio", "open_files", "log_file_growth_bytes_per_day", "network_receive_packets_total"):
        assert len(samples_of(text, f"bcon_container_{name}")) == 1000
    assert "bcon_series_dropped 0\n" in text


def test_the_cap_takes_the_least_important_family_first() -> None:
    host = snapshot(*(one.model_copy(update={"usage": usage()}) for one in crowd(5)))
    whole = scrape_text(exposition_of(scan_of(host))[0])
    size = len(
        [line for line in whole.splitlines() if line.startswith(("bcon_container", "bcon_symptom", "bcon_docker_i"))]
    )

    text = scrape_text(exposition_of(scan_of(host), series_cap=size - 1)[0])

    assert "bcon_series_dropped 5\n" in text
    assert not samples_of(text, "bcon_container_image_info")
    assert samples_of(text, "bcon_container_info") == samples_of(whole, "bcon_container_info")
    assert samples_of(text, "bcon_container_network_receive_bytes_total") == samples_of(
        whole, "bcon_container_network_receive_bytes_total"
    )


@pytest.mark.promise("S8")
@pytest.mark.parametrize(("length", "hashed"), [(127, False), (128, False), (129, True)])
def test_long_label_values_end_in_a_hash(length: int, hashed: bool) -> None:
    value = label_value("x" * length)

    assert len(value) == min(length, LABEL_MAX_CHARS)
    assert ("~" in value) is hashed
    assert label_value("x" * length + "a") != label_value("x" * length + "b")


@pytest.mark.promise("S8")
@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(codec=None), max_size=200))
def test_any_text_gives_a_label_that_parses_back(raw: str) -> None:
    line = f'# TYPE m gauge\nm{{a="{label_value(raw)}"}} 1\n'

    line.encode()
    (family,) = parse_text(line)
    assert len(family.samples[0].labels["a"]) <= max(LABEL_MAX_CHARS, len(raw) * 6)
