"""What the push is judged by is what a scrape shows: the same samples under the same labels."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from bcon_exporter.model.findings import DriftType, Severity, SymptomType
from bcon_exporter.outputs.alertmanager.samples import drift_vectors, read_diagnosis, row_vectors
from tests.factories import compose, container, snapshot
from tests.outputs.alertmanager.stage import Stage
from tests.outputs.scenes import diagnosis, exposition_of, not_judged, scan_of, scrape_text, symptom


def scraped(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """The samples of an exposition as a Prometheus keeps them: without empty labels."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = tuple(sorted((name, value) for name, value in sample.labels.items() if value))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def test_containers_have_the_samples_of_the_exposition() -> None:
    twin = compose("web", 'shop \\ "quoted"\n')
    host = snapshot(
        container(name="0123456789ab_shop-web-1", compose=compose("web")),
        container(name="a" * 200, compose=twin),
        container(name="plain"),
        container(name="once", compose=compose("web", oneoff=True)),
    )
    kinds = (symptom(SymptomType.UNHEALTHY), symptom(SymptomType.EXIT_ERROR, Severity.INFO))
    first = diagnosis(
        host.containers[0], status="error", symptoms=kinds, not_evaluated=(not_judged(SymptomType.HIGH_CPU),)
    )
    second = diagnosis(host.containers[1], status="critical", rule_errors=(SymptomType.PAUSED,))
    scan = scan_of(host, first, second, *map(diagnosis, host.containers[2:]))

    text = scraped(scrape_text(exposition_of(scan)[0]))
    everything = frozenset(text["bcon_container_status"])
    ours = read_diagnosis(scan, everything).vectors

    assert {name: ours[name] for name in ours if name != "bcon_containers"} == {
        name: text[name] for name in ours if name != "bcon_containers"
    }
    assert len(ours["bcon_container_status"]) == 3
    assert sum(("symptom", "high_cpu") in labels for labels in ours["bcon_container_symptom"]) == 2


def test_of_a_quiet_container_nothing_is_told_unless_something_was_held() -> None:
    host = snapshot(container(name="quiet"), container(name="held"))
    scan = scan_of(host)

    assert read_diagnosis(scan, frozenset()).vectors["bcon_container_symptom"] == {}
    held = read_diagnosis(scan, {(("container", "held"),)}).vectors
    assert list(held["bcon_container_status"]) == [(("container", "held"),)]
    assert set(held["bcon_container_symptom"].values()) == {0.0}
    assert held["bcon_containers"] == {(): 2.0}


def test_services_and_the_exporter_have_the_samples_of_the_exposition() -> None:
    stage = Stage()
    stage.scene.drifts = {("shop", "web", DriftType.IMAGE_MISMATCH), ("shop", "job", DriftType.NOT_RUNNING)}
    stage.scene.stopped, stage.scene.unknown = {("shop", "job")}, {"other"}
    stage.beat()
    drift, moment = stage.context.store.drift, stage.exposition.moment()
    assert drift is not None

    text = scraped(stage.text())
    ours = {**drift_vectors(drift), **row_vectors(stage.own.rows(moment.statuses, moment.series_dropped))}

    assert {name: samples for name, samples in ours.items() if samples} == {
        name: text[name] for name, samples in ours.items() if samples
    }
    assert len(ours["bcon_drift_items"]) > 10
