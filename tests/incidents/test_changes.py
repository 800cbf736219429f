"""Of all that changed before an incident one is told where there is room for one."""

from __future__ import annotations

from datetime import timedelta

from bcon_exporter.incidents import find_telling_change
from bcon_exporter.model.incidents import Incident, IncidentChange
from bcon_exporter.model.journal_kinds import JournalKind
from tests.factories import NOON
from tests.incidents.test_quiet import incident


def change(kind: JournalKind, seconds: float, project: str | None = "shop") -> IncidentChange:
    return IncidentChange(
        kind=kind, at=NOON - timedelta(seconds=seconds), seconds_before=seconds, project=project, text=kind.value
    )


def with_changes(*changes: IncidentChange) -> Incident:
    return incident("db", changes=changes)


def test_a_new_image_tells_more_than_the_start_that_comes_with_it() -> None:
    start, image = change(JournalKind.START, 10), change(JournalKind.IMAGE_CHANGE, 12)
    older = change(JournalKind.IMAGE_CHANGE, 900)
    assert find_telling_change(with_changes(start, older, image)) == image


def test_what_changed_in_another_project_is_not_told_but_a_restart_of_the_engine_is() -> None:
    other, restart = change(JournalKind.IMAGE_CHANGE, 5, "blog"), change(JournalKind.ENGINE_RESTART, 300, None)
    assert find_telling_change(with_changes(other)) is None
    assert find_telling_change(with_changes(other, restart)) == restart
    assert find_telling_change(with_changes()) is None
