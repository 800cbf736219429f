"""A log is known to be unchanged only by what cannot stay the same when something was written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.engine.read_logs import read_log_mark

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.readings import LogMark

ID = "a" * 64
NOW = 1000.0


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    path = tmp_path / f"{ID}-json.log"
    path.write_text("one\n")
    return path


def look(path: Path, now: float = NOW) -> LogMark:
    mark = read_log_mark(str(path), "json-file", ID, now)
    assert mark is not None
    return mark


def test_an_untouched_log_is_current(log_file: Path) -> None:
    assert look(log_file).is_current(look(log_file, NOW + 30))


def test_a_line_more_is_seen(log_file: Path) -> None:
    before = look(log_file)
    with log_file.open("a") as log:
        log.write("two\n")
    assert not before.is_current(look(log_file, NOW + 30))


def test_a_rotated_log_is_seen_though_it_is_as_long(log_file: Path) -> None:
    before, times = look(log_file), log_file.stat()
    log_file.rename(log_file.with_suffix(".log.1"))
    log_file.write_text("two\n")
    os.utime(log_file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert not before.is_current(look(log_file, NOW + 30))


def test_a_log_that_can_no_longer_be_seen_does_not_hold(log_file: Path) -> None:
    assert not look(log_file).is_current(None)


def test_none_is_trusted_for_ever(log_file: Path) -> None:
    assert not look(log_file).is_current(look(log_file, NOW + 301))


@pytest.mark.parametrize("driver", ["journald", "local", None])
def test_other_drivers_are_not_looked_at(log_file: Path, driver: str | None) -> None:
    assert read_log_mark(str(log_file), driver, ID, NOW) is None


def test_what_is_not_this_containers_file_is_not_looked_at(log_file: Path) -> None:
    assert read_log_mark(str(log_file), "json-file", "b" * 64, NOW) is None


@pytest.mark.parametrize("path", [None, f"/nonexistent/{ID}-json.log", f"/{ID}\0"])
def test_a_file_that_cannot_be_seen_has_no_mark(path: str | None) -> None:
    assert read_log_mark(path, "json-file", ID, NOW) is None
