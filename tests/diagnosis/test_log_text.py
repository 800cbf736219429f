"""Promise: a log read from a file is the same as one read from the engine: no prefixes, stamps, colours or secrets."""

from datetime import UTC, datetime

import pytest

from bcon_exporter.diagnosis import lines_of
from bcon_exporter.diagnosis.log_text import split_stamp, without_prefix


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("web-1  | GET / 200", "GET / 200"),
        ("shop_api_1                 | ready", "ready"),
        ("db | ", ""),
        ("db |", ""),
        ("2026-01-01 10:00:00 | stdout | ready", "2026-01-01 10:00:00 | stdout | ready"),
        ("a || b", "a || b"),
        ("plain", "plain"),
    ],
)
def test_the_prefix_of_compose_is_taken_off(raw: str, text: str) -> None:
    assert without_prefix(raw) == text


def test_the_stamp_of_docker_logs_becomes_the_time() -> None:
    at, rest = split_stamp("2026-03-01T10:00:00.123456789+01:00 ready")
    assert (at, rest) == (datetime(2026, 3, 1, 9, 0, 0, 123456, tzinfo=UTC), "ready")


@pytest.mark.parametrize(
    "raw", ["2026-13-01T10:00:00Z ready", "2026-03-01 10:00:00 ready", "2026-03-01T10:00:00Zx", ""]
)
def test_what_is_no_stamp_stays(raw: str) -> None:
    assert split_stamp(raw) == (None, raw)


def test_what_a_runtime_split_is_joined() -> None:
    stamp = "2026-03-01T10:00:00.5Z"
    lines = lines_of([f"{stamp} stdout P no space ", f"{stamp} stdout F left on device", f"{stamp} stderr F next"])
    assert [line.text for line in lines] == ["no space left on device", "next"]


def test_the_last_part_of_a_split_line_is_kept() -> None:
    assert [line.text for line in lines_of(["2026-03-01T10:00:00.5Z stdout P half"])] == ["half"]


def test_colours_carriage_returns_and_secrets_are_gone() -> None:
    (line,) = lines_of(["\x1b[31mERROR\x1b[0m password=hunter2-very-secret\r\n"])
    assert line.text.startswith("ERROR password=")
    assert "hunter2" not in line.text
