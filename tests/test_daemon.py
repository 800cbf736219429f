"""The daemon's log is clean and one line a message; a reload says what only a restart can change."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from bcon_exporter.daemon_log import JsonLines, OncePerMinute, TextLines, safe
from bcon_exporter.reload_on_sighup import find_restart_only
from bcon_exporter.settings import Settings


def record(message: str, *arguments: object, error: bool = False) -> logging.LogRecord:
    """A log record; with the exception that is being handled if wanted."""
    info = sys.exc_info() if error else None
    return logging.LogRecord("bcon_exporter.schedule.scheduler", logging.WARNING, "", 0, message, arguments, info)


def test_text_is_one_line_with_time_level_and_module() -> None:
    line = TextLines().format(record("scan of %s", "web"))

    assert line.endswith("Z WARNING scheduler: scan of web")


@pytest.mark.parametrize("hostile", ["a\nb", "\x1b[31mred", "x\u202ey", "\r\nFAKE INFO", "\u2028"])
def test_untrusted_text_cannot_forge_lines_or_move_the_cursor(hostile: str) -> None:
    for formatter in (TextLines(), JsonLines()):
        line = formatter.format(record("name %s", hostile))
        assert len(line.splitlines()) == 1
        assert "\x1b" not in line


def test_secrets_are_masked() -> None:
    assert "hunter2" not in safe("cannot reach tcp://me:hunter2@host:2375")


def record_of_a_defect() -> logging.LogRecord:
    """A record with a traceback."""
    try:
        int("x")
    except ValueError:
        return record("failed", error=True)
    pytest.fail("nothing was raised")


def test_json_has_one_object_a_line_with_the_traceback_in_it() -> None:
    fields = json.loads(JsonLines().format(record_of_a_defect()))

    assert fields["level"] == "warning"
    assert fields["logger"] == "bcon_exporter.schedule.scheduler"
    assert "ValueError" in fields["traceback"]


def test_a_traceback_in_text_is_indented_under_its_line() -> None:
    first, *rest = TextLines().format(record_of_a_defect()).splitlines()

    assert first.endswith("failed")
    assert rest
    assert all(line.startswith("  ") for line in rest)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"thresholds": {"cpu_ratio": 0.5}}, ()),
        ({"scan": {"diagnose_interval": "5s"}}, ()),
        ({"docker": {"host": "unix:///x"}}, ("docker",)),
        ({"web": {"listen_address": ":1", "allow_insecure": True, "allowed_hosts": ["x"]}}, ("web.listen-address",)),
        ({"thresholds": {"usage_window_seconds": 30}}, ("thresholds.usage-window-seconds",)),
    ],
)
def test_settings_that_need_a_restart_are_named(change: dict[str, object], named: tuple[str, ...]) -> None:
    assert find_restart_only(Settings(), Settings(**change)) == named  # type: ignore[arg-type]  # raw values


def kinds_written(logger: str, *seconds: float) -> list[str]:
    """What is written of one record with other details at these times."""
    limit = OncePerMinute()
    written = []
    for number, at in enumerate(seconds):
        one = logging.LogRecord(logger, logging.ERROR, "", 0, f"no descriptor is left\nsocket: <{number}>", None, None)
        one.created = at
        if limit.filter(one):
            written.append(one.getMessage())
    return written


@pytest.mark.parametrize("logger", ["asyncio", "uvicorn.error", "bcon_exporter.outputs.http.access_control"])
def test_what_clients_cause_is_written_once_a_minute_with_how_often_it_happened(logger: str) -> None:
    first, second = kinds_written(logger, 0.0, 1.0, 59.9, 60.0)

    assert "more like this" not in first
    assert "(2 more like this" in second


def test_a_clock_that_steps_back_silences_nothing() -> None:
    assert len(kinds_written("asyncio", 1000.0, 10.0)) == 2


def test_what_clients_cannot_cause_is_always_written() -> None:
    assert len(kinds_written("bcon_exporter.schedule.scheduler", 0.0, 0.1, 0.2)) == 3


def test_records_of_other_kinds_are_not_held_back() -> None:
    limit = OncePerMinute()
    records = [logging.LogRecord("asyncio", logging.ERROR, "", 0, name, None, None) for name in ("a", "b", "c", "a")]

    assert [limit.filter(one) for one in records] == [True, True, True, False]
