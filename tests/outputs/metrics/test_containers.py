"""What a scan found about containers stands on /metrics under the contract's names, and nothing that was not found."""

from __future__ import annotations

from typing import Any

import pytest

from bcon_exporter.model.container_facts import (
    ContainerState,
    HealthStatus,
    Limits,
    NetworkCounters,
    Pressure,
    PressureTotals,
)
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.image_versions import VERSION_LABEL
from bcon_exporter.model.quiet import Muting, QuietLine
from bcon_exporter.outputs.metrics.families import RESOURCE_FAMILIES
from tests.factories import (
    NOON,
    ago,
    compose,
    container,
    exited,
    health,
    lifecycle,
    looping,
    snapshot,
    usage,
)
from tests.outputs.scenes import (
    cause,
    diagnosis,
    exposition_of,
    not_judged,
    samples_of,
    scan_of,
    scrape_text,
    symptom,
)

C = 'container="api",project="",service=""'


def text_of(*facts: object, **options: Any) -> str:
    """The answer after a scan of healthy containers."""
    host = snapshot(*facts)  # type: ignore[arg-type]  # container facts
    return scrape_text(exposition_of(scan_of(host), **options)[0])


def test_every_judged_symptom_is_0_or_1() -> None:
    facts = container()
    ailing = diagnosis(facts, symptoms=(symptom(SymptomType.HIGH_CPU, Severity.WARNING),), status="warning")

    lines = samples_of(scrape_text(exposition_of(scan_of(snapshot(facts), ailing))[0]), "bcon_container_symptom")

    assert len(lines) == len(SymptomType)
    assert f'bcon_container_symptom{{{C},symptom="high_cpu"}} 1' in lines
    assert f'bcon_container_symptom{{{C},symptom="oom_killed"}} 0' in lines


def test_a_symptom_that_was_not_judged_has_no_sample() -> None:
    facts = container()
    unjudged = (not_judged(SymptomType.LOG_ERROR), not_judged(SymptomType.LOG_UNBOUNDED))
    report = diagnosis(facts, not_evaluated=unjudged, rule_errors=(SymptomType.PAUSED,))

    text = scrape_text(exposition_of(scan_of(snapshot(facts), report))[0])

    assert 'symptom="log_error"' not in "".join(samples_of(text, "bcon_container_symptom"))
    assert 'symptom="paused"' not in "".join(samples_of(text, "bcon_container_symptom"))
    assert 'symptom="log_unbounded"' not in "".join(samples_of(text, "bcon_container_symptom"))
    assert f"bcon_container_not_evaluated{{{C}}} 1\n" in text, "advice that cannot be given holds no alert"


def test_history_counts_as_absent() -> None:
    facts = exited()
    report = diagnosis(facts, symptoms=(symptom(SymptomType.EXIT_ERROR, Severity.INFO),))

    text = scrape_text(exposition_of(scan_of(snapshot(facts), report))[0])

    assert f'bcon_container_symptom{{{C},symptom="exit_error"}} 0\n' in text
    assert not samples_of(text, "bcon_container_symptom_start_timestamp_seconds")
    assert 'bcon_symptoms{symptom="exit_error"} 0\n' in text


def test_the_start_of_a_symptom_is_when_it_was_first_seen() -> None:
    facts = container()
    seen = symptom(SymptomType.HIGH_CPU, first_seen=ago(hours=1))
    report = diagnosis(facts, symptoms=(seen,), status="error")

    text = scrape_text(exposition_of(scan_of(snapshot(facts), report))[0])

    name = "bcon_container_symptom_start_timestamp_seconds"
    assert samples_of(text, name) == [f'{name}{{{C},symptom="high_cpu"}} {int(ago(hours=1).timestamp())}']


@pytest.mark.parametrize(("status", "value"), [("healthy", 0), ("warning", 1), ("error", 2), ("critical", 3)])
def test_status_is_a_number(status: str, value: int) -> None:
    facts = container()

    text = scrape_text(exposition_of(scan_of(snapshot(facts), diagnosis(facts, status=status)))[0])

    assert f"bcon_container_status{{{C}}} {value}\n" in text
    assert f'bcon_containers{{status="{status}"}} 1\n' in text


def test_the_top_cause_of_an_ailing_container_is_named() -> None:
    facts = container()
    causes = (cause("dns", 0.4), cause("peer_down", 0.9, peer="db"))
    ailing = diagnosis(facts, status="error", likely_causes=causes)
    well = diagnosis(facts, status="healthy", likely_causes=causes)

    text = scrape_text(exposition_of(scan_of(snapshot(facts), ailing))[0])

    line = f'bcon_container_cause_info{{{C},cause="peer_down",peer="db"}} 1'
    assert samples_of(text, "bcon_container_cause_info") == [line]
    healthy_text = scrape_text(exposition_of(scan_of(snapshot(facts), well))[0])
    assert not samples_of(healthy_text, "bcon_container_cause_info")


def test_only_the_info_family_carries_an_id() -> None:
    facts = container(compose=compose(config_files=("/srv/shop/compose.yaml",)))

    text = text_of(facts)

    with_id = [line for line in text.splitlines() if facts.short_id in line]
    assert with_id == [
        'bcon_container_info{container="api",project="shop",service="api",'
        f'id="{facts.short_id}",image="app:1",compose_file="/srv/shop/compose.yaml"}} 1'
    ]


def test_chosen_container_labels_stand_in_the_info_family_under_safe_names() -> None:
    facts = container(labels={"team": "web", "com.example/env": "prod", "image": "mine", "secret": "x"})

    text = text_of(facts, label_names=("team", "com.example/env", "image", "absent"))

    line = samples_of(text, "bcon_container_info")[0]
    assert 'team="web",com_example_env="prod",label_image="mine",absent=""' in line
    assert "secret" not in text


@pytest.mark.parametrize(
    ("facts", "running", "exit_line"),
    [
        (container(), 1, []),
        (exited(3), 0, [f"bcon_container_exit_code{{{C}}} 3"]),
        (container(state=ContainerState.PAUSED), 1, []),
        (container(state=ContainerState.RESTARTING, exit_code=1), 0, []),
    ],
)
def test_only_a_stopped_container_has_an_exit_code(facts: object, running: int, exit_line: list[str]) -> None:
    text = text_of(facts)

    assert f"bcon_container_running{{{C}}} {running}\n" in text
    assert samples_of(text, "bcon_container_exit_code") == exit_line


def test_health_is_told_of_running_containers_only() -> None:
    sick = health(HealthStatus.UNHEALTHY)

    alive, stopped = text_of(container(health=sick)), text_of(exited(health=sick))

    assert f'bcon_container_health{{{C},health="unhealthy"}} 1\n' in alive
    assert f'bcon_container_health{{{C},health="healthy"}} 0\n' in alive
    assert not samples_of(stopped, "bcon_container_health")


def test_a_container_without_a_health_check_has_none() -> None:
    assert f'bcon_container_health{{{C},health="none"}} 1\n' in text_of(container())
    assert not samples_of(text_of(container(unread={"inspect": "timed out"})), "bcon_container_health")


def test_restarts_count_over_all_time_and_over_the_last_hour() -> None:
    past = lifecycle(restarts=(ago(hours=2), ago(minutes=59), ago(1)), restarts_total=17, oom_kills_total=4)

    text = text_of(container(lifecycle=past))

    assert f"bcon_container_restarts_total{{{C}}} 17\n" in text
    assert f"bcon_container_oom_kills_total{{{C}}} 4\n" in text
    assert f"bcon_container_restarts_last_hour{{{C}}} 2\n" in text


def test_an_unknown_past_has_no_counters() -> None:
    assert "bcon_container_restarts" not in "".join(
        line for line in text_of(container(lifecycle=None)).splitlines() if not line.startswith("#")
    )


def test_usage_is_told_as_it_was_read() -> None:
    facts = container(
        usage=usage(cpu_ratio=0.25, cpu_seconds_total=12.5, network_rx_bytes=100, block_write_bytes=None),
        limits=Limits(memory_bytes=2**20),
    )

    text = text_of(facts)

    assert f"bcon_container_cpu_usage_ratio{{{C}}} 0.25\n" in text
    assert f"bcon_container_cpu_seconds_total{{{C}}} 12.5\n" in text
    assert f"bcon_container_network_receive_bytes_total{{{C}}} 100\n" in text
    assert f"bcon_container_memory_limit_bytes{{{C}}} 1048576\n" in text
    assert not samples_of(text, "bcon_container_block_write_bytes_total")


def test_an_image_is_told_with_its_version_and_id() -> None:
    labelled = container(image="postgres:16", image_id="sha256:ab", labels={VERSION_LABEL: "16.4"})
    line = f'bcon_container_image_info{{{C},image="postgres:16",version="16.4",digest="sha256:ab"}} 1'
    assert samples_of(text_of(labelled), "bcon_container_image_info") == [line]
    plain = f'bcon_container_image_info{{{C},image="postgres",version="",digest=""}} 1'
    assert samples_of(text_of(container(image="postgres", image_id=None)), "bcon_container_image_info") == [plain]


COUNTED = usage(
    pids=12,
    open_files=40,
    network=NetworkCounters(1, 2, 3, 4, 5, 6),
    pressure=Pressure(cpu=PressureTotals(1_500_000, 250_000), io=PressureTotals(0)),
)
COUNTED_FAMILIES = tuple(
    family.name for family in RESOURCE_FAMILIES if family.name.startswith("bcon_container") and family.kind != "info"
)


def test_processes_packets_and_pressure_are_told_as_they_were_read() -> None:
    text = text_of(container(usage=COUNTED, limits=Limits(pids=100)))

    assert samples_of(text, *COUNTED_FAMILIES) == [
        f"bcon_container_pids{{{C}}} 12",
        f"bcon_container_open_files{{{C}}} 40",
        f"bcon_container_pids_limit{{{C}}} 100",
        f"bcon_container_network_receive_packets_total{{{C}}} 1",
        f"bcon_container_network_receive_errors_total{{{C}}} 2",
        f"bcon_container_network_receive_dropped_total{{{C}}} 3",
        f"bcon_container_network_transmit_packets_total{{{C}}} 4",
        f"bcon_container_network_transmit_errors_total{{{C}}} 5",
        f"bcon_container_network_transmit_dropped_total{{{C}}} 6",
        f'bcon_container_pressure_waiting_seconds_total{{{C},resource="cpu"}} 1.5',
        f'bcon_container_pressure_waiting_seconds_total{{{C},resource="io"}} 0',
        f'bcon_container_pressure_stalled_seconds_total{{{C},resource="cpu"}} 0.25',
    ]


@pytest.mark.promise("SER-3")
def test_what_was_not_read_of_a_container_is_absent() -> None:
    assert samples_of(text_of(container(usage=usage(pids=None))), *COUNTED_FAMILIES) == []
    assert samples_of(text_of(container(usage=COUNTED.model_copy(update={"stale": True}))), *COUNTED_FAMILIES) == []
    assert samples_of(text_of(container(usage=None)), *COUNTED_FAMILIES) == []


def test_pressure_of_the_host_is_told_where_it_was_read() -> None:
    host = snapshot(container()).model_copy(update={"pressure": Pressure(cpu=PressureTotals(2_000_000))})
    names = ("bcon_host_pressure_waiting_seconds_total", "bcon_host_pressure_stalled_seconds_total")

    assert samples_of(scrape_text(exposition_of(scan_of(host))[0]), *names) == [f'{names[0]}{{resource="cpu"}} 2']
    assert samples_of(text_of(container()), *names) == []


def test_stale_usage_is_withheld() -> None:
    assert not samples_of(text_of(container(usage=usage(stale=True))), "bcon_container_cpu_usage_ratio")


def test_log_events_are_counted_by_level() -> None:
    facts = container()
    scan = scan_of(snapshot(facts), log_events={facts.id: {"error": 7}})

    text = scrape_text(exposition_of(scan)[0])

    name = "bcon_container_log_events_total"
    assert samples_of(text, name) == [
        f'{name}{{{C},level="warning"}} 0',
        f'{name}{{{C},level="error"}} 7',
        f'{name}{{{C},level="critical"}} 0',
    ]


def test_a_temporary_compose_name_counts_as_the_name_and_makes_no_duplicate() -> None:
    old = container(name="0123456789ab_shop-api-1", compose=compose(), state=ContainerState.EXITED, exit_code=0)
    new = container(name="shop-api-1", compose=compose())

    lines = samples_of(text_of(old, new), "bcon_container_running")

    assert lines == ['bcon_container_running{container="shop-api-1",project="shop",service="api"} 1']


def test_of_two_stopped_containers_with_the_same_labels_the_newest_counts() -> None:
    first = exited(1, name="0123456789ab_a", compose=compose(), created_at=ago(hours=5))
    second = exited(2, name="a", compose=compose(), created_at=ago(hours=1))

    assert samples_of(text_of(first, second), "bcon_container_exit_code")[0].endswith(" 2")


def test_a_name_that_only_looks_temporary_stays_outside_compose() -> None:
    assert 'container="0123456789ab_job"' in text_of(container(name="0123456789ab_job"))


def test_one_off_runs_have_no_series_and_sums_agree_with_what_has() -> None:
    text = text_of(container(name="a"), container(name="a-run-1", compose=compose(oneoff=True)))

    assert len(samples_of(text, "bcon_container_status")) == 1
    assert 'bcon_containers{status="healthy"} 1\n' in text
    assert 'bcon_containers_by_state{state="running"} 1\n' in text


def test_line_ends_in_a_label_become_visible() -> None:
    facts = container(labels={"team": "a\nb\\n"})

    text = scrape_text(exposition_of(scan_of(snapshot(facts)), label_names=("team",))[0])

    assert 'team="a\\\\nb\\\\n"' in text


def test_a_container_left_out_by_a_filter_has_no_series() -> None:
    seen, ignored = container(name="a"), container(name="b")

    text = scrape_text(exposition_of(scan_of(snapshot(seen, ignored), diagnosis(seen)))[0])

    assert 'container="b"' not in text


def test_a_removed_container_leaves_no_series() -> None:
    exposition, context = exposition_of(scan_of(snapshot(container(name="gone"), container(name="stays"))))
    before = scrape_text(exposition)

    context.scans.publish_diagnosis(scan_of(snapshot(container(name="stays"))))
    exposition.publish("diagnose")

    assert 'container="gone"' in before
    assert 'container="gone"' not in scrape_text(exposition)


def test_states_of_all_kinds_are_counted() -> None:
    text = text_of(container(name="a"), container(name="b"), exited(name="c"))

    assert 'bcon_containers_by_state{state="running"} 2\n' in text
    assert 'bcon_containers_by_state{state="exited"} 1\n' in text
    assert 'bcon_containers_by_state{state="dead"} 0\n' in text


def test_thresholds_are_there_to_draw_the_line() -> None:
    assert 'bcon_symptom_threshold_ratio{symptom="high_cpu"} 0.8\n' in text_of(container())


def test_a_looping_container_is_counted_once_over_the_host() -> None:
    facts = container(lifecycle=looping())
    both = (symptom(SymptomType.RESTART_LOOP), symptom(SymptomType.RESTART_LOOP, first_seen=NOON))

    text = scrape_text(exposition_of(scan_of(snapshot(facts), diagnosis(facts, symptoms=both, status="error")))[0])

    assert 'bcon_symptoms{symptom="restart_loop"} 1\n' in text


def test_a_container_is_quiet_only_while_it_is_muted() -> None:
    muting = Muting(projects={"shop": QuietLine(name="shop", source="command", until=NOON)})
    host = snapshot(container(name="web", compose=compose("web")), container(name="api"))

    text = scrape_text(exposition_of(scan_of(host, muting=muting))[0])

    assert samples_of(text, "bcon_container_quiet") == [
        'bcon_container_quiet{container="web",project="shop",service="web"} 1'
    ]
