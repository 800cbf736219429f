"""What needs a look is shown first."""

from bcon_exporter.model.reports import DRIFT_STATUS_RANK, DriftStatus


def test_drifted_projects_come_first_and_every_status_has_its_place() -> None:
    assert sorted(DriftStatus, key=DRIFT_STATUS_RANK.__getitem__) == ["drifted", "unknown", "synced"]
