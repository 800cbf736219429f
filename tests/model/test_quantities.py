"""Counts and lengths of time read the same in every text."""

from bcon_exporter.model.findings import STATUSES, Severity
from bcon_exporter.model.quantities import show_count, show_duration, show_times
from tests.table_rows import table


@table(
    ("seconds", "shown"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (119.4, "119 s"),
        (119.5, "2 min"),
        (7199, "119 min"),
        (7200, "2 h 0 min"),
        (7260, "2 h 1 min"),
        (172_799, "47 h 59 min"),
        (172_800, "2 days"),
        (259_199, "2 days"),
    ],
)
def test_a_length_of_time_has_at_least_two_digits(seconds: float, shown: str) -> None:
    assert show_duration(seconds) == shown


def test_one_is_counted_as_one() -> None:
    assert [show_count(count, "container") for count in (0, 1, 2)] == ["0 containers", "1 container", "2 containers"]
    assert [show_times(count) for count in (1, 2)] == ["once", "2 times"]


def test_severities_and_statuses_have_one_order() -> None:
    assert [severity.status for severity in Severity] == list(STATUSES) == ["healthy", "warning", "error", "critical"]
    assert [severity.rank for severity in Severity] == [0, 1, 2, 3]
