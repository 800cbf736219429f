"""A failure that began with another image is connected with it; one that was there before is not."""

from typing import Any

import pytest

from bcon_exporter.model.container_facts import ContainerFacts, HealthStatus
from bcon_exporter.model.lifecycle import ExitFacts
from bcon_exporter.model.reports import DiagnosisReport
from tests.diagnosis.judging import diagnose
from tests.factories import ago, container, ended, exited, health, lifecycle, probe


def changed(seconds_ago: float, *exits: ExitFacts, **facts: Any) -> ContainerFacts:
    past = lifecycle(exits=exits, previous_image="app:1", image_changed_at=ago(seconds_ago))
    return exited(1, **{"image": "app:2", "exit_facts": exits[-1], "lifecycle": past, **facts})


def confidence(report: DiagnosisReport) -> float | None:
    return next((cause.confidence for cause in report.likely_causes if cause.id == "image_changed"), None)


@pytest.mark.parametrize(("after", "expected"), [(600, 0.75), (601, 0.45)])
def test_a_failure_soon_after_the_change_is_likely_its_consequence(after: float, expected: float) -> None:
    assert confidence(diagnose(changed(3000, ended(1, at=ago(3000 - after))))) == expected


def test_names_both_images_and_when() -> None:
    report = diagnose(changed(180, ended(1, at=ago(100))))

    top = report.likely_causes[0]
    assert top.description == "It fails since its image changed from app:1 to app:2, 3 min ago."
    assert any("from app:1 to app:2" in one.rationale for one in report.suggestions)


def test_names_short_ids_where_only_these_differ() -> None:
    past = lifecycle(
        exits=(ended(1, at=ago(100)),), previous_image="app:1", previous_image_id="sha256:0f343b0931126a20f133",
        image_changed_at=ago(180),
    )  # fmt: skip
    facts = exited(1, image="app:1", image_id="sha256:3f786850e387550fdab8", exit_facts=past.exits[0], lifecycle=past)

    report = diagnose(facts)

    told = "from app:1 (0f343b093112) to app:1 (3f786850e387)"
    assert report.likely_causes[0].description == f"It fails since its image changed {told}, 3 min ago."
    assert report.likely_causes[0].evidence[0].startswith("with app:1 (0f343b093112) it did not fail")
    assert any(told in one.rationale for one in report.suggestions)


def test_one_that_failed_before_is_not_the_images_fault() -> None:
    assert confidence(diagnose(changed(180, ended(1, at=ago(1000)), ended(1, at=ago(100))))) is None


def test_a_requested_stop_before_is_no_failure() -> None:
    stop = ended(143, at=ago(181), requested=True)

    assert confidence(diagnose(changed(180, stop, ended(1, at=ago(100))))) == 0.75


@pytest.mark.parametrize(("hours", "expected"), [(23.9, 0.45), (24.1, None)])
def test_a_change_of_long_ago_is_no_news(hours: float, expected: float | None) -> None:
    past = lifecycle(observed_since=ago(days=3), exits=(ended(1, at=ago(60)),), previous_image="app:1",
                     image_changed_at=ago(hours=hours))  # fmt: skip
    facts = exited(1, exit_facts=past.exits[0], lifecycle=past)

    assert confidence(diagnose(facts)) == expected


def test_a_health_that_fails_since_counts_without_an_exit() -> None:
    past = lifecycle(previous_image="app:1", image_changed_at=ago(300))
    sick = health(HealthStatus.UNHEALTHY, probes=(probe(exit_code=1),))

    assert confidence(diagnose(container(image="app:2", health=sick, lifecycle=past))) == 0.6


def test_a_healthy_container_is_not_told_of_its_new_image() -> None:
    past = lifecycle(previous_image="app:1", image_changed_at=ago(300))

    assert diagnose(container(lifecycle=past)).likely_causes == ()
