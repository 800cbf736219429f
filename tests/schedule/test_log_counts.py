"""Each log event counts once however often its line is read, and nothing from before the exporter counts."""

from __future__ import annotations

from datetime import timedelta

from bcon_exporter.catalogue import load_catalogue
from bcon_exporter.schedule.log_counts import LogCounts
from tests.factories import NOON, container, line, logs, snapshot

CATALOGUE = load_catalogue(None)


def scan(counts: LogCounts, seconds: float, *lines: object, name: str = "api") -> dict[str, int]:
    """Count one scan of a container with these lines."""
    facts = container(name=name, logs=logs(*lines))  # type: ignore[arg-type]  # log lines
    host = snapshot(facts, taken_at=NOON + timedelta(seconds=seconds))
    return dict(counts.count(host, CATALOGUE)[facts.id])


def error(seconds: float, text: str = "level=error msg=boom") -> object:
    """A line so long after noon."""
    return line(text, at=NOON + timedelta(seconds=seconds))


def test_lines_from_before_the_first_scan_do_not_count() -> None:
    assert scan(LogCounts(), 0, error(-5), error(0)) == {}


def test_a_line_in_two_windows_counts_once() -> None:
    counts = LogCounts()
    scan(counts, 0)
    first = scan(counts, 30, error(10))

    second = scan(counts, 60, error(10), error(40))

    assert (first["error"], second["error"]) == (1, 2)


def test_levels_are_told_apart() -> None:
    counts = LogCounts()
    scan(counts, 0)

    counted = scan(counts, 30, error(1), error(2, "level=warning msg=hm"), error(3, "level=info msg=error"))

    assert counted == {"warning": 1, "error": 1, "critical": 0}


def test_counts_stay_when_the_log_is_quiet() -> None:
    counts = LogCounts()
    scan(counts, 0)
    scan(counts, 30, error(10))

    assert scan(counts, 700)["error"] == 1


def test_a_container_that_is_gone_is_forgotten() -> None:
    counts = LogCounts()
    scan(counts, 0, error(1))

    assert container(name="api").id not in counts.count(snapshot(container(name="b")), CATALOGUE)
