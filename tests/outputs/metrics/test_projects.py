"""What a drift scan found stands on /metrics; what could not be judged has no zeros."""

from __future__ import annotations

from bcon_exporter.model.desired import ProjectProblem
from bcon_exporter.model.findings import DriftType
from bcon_exporter.model.reports import DriftStatus, ServiceReplicas
from tests.factories import ago
from tests.outputs.scenes import difference, drift_report, drift_scan, exposition_of, samples_of, scrape_text

P = 'project="shop",service="api"'


def text_of(*reports: object, untracked: tuple[str, ...] = ()) -> str:
    """The answer after a drift scan."""
    return scrape_text(exposition_of(drift=drift_scan(*reports, untracked=untracked))[0])  # type: ignore[arg-type]  # reports


def test_a_judged_service_has_every_drift_type_and_none_is_0() -> None:
    lines = samples_of(text_of(drift_report()), "bcon_drift_items")

    assert lines == [f'bcon_drift_items{{{P},drift="{drift.value}"}} 0' for drift in DriftType]


def test_differences_are_counted_by_service_and_type() -> None:
    text = text_of(
        drift_report(
            "shop",
            difference(DriftType.CONFIG_MISMATCH, field="command"),
            difference(DriftType.CONFIG_MISMATCH, field="environment.A"),
            difference(DriftType.EXTRA_CONTAINER, service="old"),
        )
    )

    assert f'bcon_drift_items{{{P},drift="config_mismatch"}} 2\n' in text
    assert 'bcon_drift_items{project="shop",service="old",drift="extra_container"} 1\n' in text
    assert 'bcon_drifts{drift="config_mismatch"} 2\n' in text
    assert 'bcon_drifts{drift="missing_service"} 0\n' in text


def test_the_start_of_a_drift_is_the_earliest_of_its_differences() -> None:
    text = text_of(
        drift_report(
            "shop",
            difference(DriftType.CONFIG_MISMATCH, field="command", first_seen=ago(minutes=5)),
            difference(DriftType.CONFIG_MISMATCH, field="user", first_seen=ago(hours=5)),
        )
    )

    name = "bcon_drift_start_timestamp_seconds"
    assert samples_of(text, name) == [f'{name}{{{P},drift="config_mismatch"}} {int(ago(hours=5).timestamp())}']


def test_a_project_that_cannot_be_judged_has_no_zeros() -> None:
    text = text_of(drift_report("shop", reason=ProjectProblem.PARSE_ERROR))

    assert not samples_of(text, "bcon_drift_items")
    assert 'bcon_compose_project_status{project="shop",status="unknown"} 1\n' in text
    assert 'bcon_compose_unreadable{project="shop",reason="parse_error"} 1\n' in text
    assert 'bcon_compose_unreadable{project="shop",reason="not_found"} 0\n' in text


def test_what_hangs_on_an_unknown_variable_has_no_zero_and_the_rest_has() -> None:
    doubt = difference(DriftType.CONFIG_MISMATCH, field="environment.A")
    text = text_of(drift_report("shop", status=DriftStatus.UNKNOWN, doubts=(doubt,)))

    judged = [drift for drift in DriftType if drift is not DriftType.CONFIG_MISMATCH]
    assert samples_of(text, "bcon_drift_items") == [
        f'bcon_drift_items{{{P},drift="{each.value}"}} 0' for each in judged
    ]


def test_a_service_that_could_not_be_read_has_no_zero_of_what_needs_its_configuration() -> None:
    web = ServiceReplicas(service_name="web", desired=1, running=1, unread=True)
    text = text_of(drift_report("shop", difference(DriftType.CONFIG_MISMATCH, "db"), services=(web,)))

    of_web = [line for line in samples_of(text, "bcon_drift_items") if 'service="web"' in line]
    needing = ("image_mismatch", "config_mismatch")
    assert of_web == [
        f'bcon_drift_items{{project="shop",service="web",drift="{each.value}"}} 0'
        for each in DriftType
        if each.value not in needing
    ]


def test_remarks_are_not_counted() -> None:
    text = text_of(drift_report("shop", remarks=(difference(DriftType.IMAGE_MISMATCH),)))

    assert f'bcon_drift_items{{{P},drift="image_mismatch"}} 0\n' in text
    assert 'bcon_drifts{drift="image_mismatch"} 0\n' in text


def test_a_rule_that_raised_has_no_zero() -> None:
    text = text_of(drift_report("shop", status=DriftStatus.UNKNOWN, rule_errors=(DriftType.IMAGE_MISMATCH,)))

    assert 'drift="image_mismatch"' not in "".join(samples_of(text, "bcon_drift_items"))
    assert f'bcon_drift_items{{{P},drift="not_running"}} 0\n' in text


def test_containers_that_could_not_be_read_leave_no_zeros() -> None:
    assert not samples_of(text_of(drift_report("shop", status=DriftStatus.UNKNOWN)), "bcon_drift_items")


def test_replicas_and_requested_stops_are_told() -> None:
    text = text_of(drift_report())

    assert f"bcon_service_replicas_desired{{{P}}} 2\n" in text
    assert f"bcon_service_replicas_running{{{P}}} 1\n" in text
    assert f"bcon_service_stop_requested{{{P}}} 0\n" in text


def test_two_reports_of_one_project_make_no_duplicate_series() -> None:
    lines = samples_of(text_of(drift_report(), drift_report()), "bcon_compose_project_status")

    assert len(lines) == len(set(lines))


def test_untracked_containers_are_counted() -> None:
    assert "bcon_untracked_containers 2\n" in text_of(untracked=("a", "b"))
