"""The scraper's preference decides the format; what nobody asked for is plain text."""

from __future__ import annotations

import pytest

from bcon_exporter.outputs.metrics.negotiation import accepts_gzip, choose_format
from tests.table_rows import table

PROMETHEUS_2 = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
PROMETHEUS_3_TEXT = "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.2"


@table(
    ("accept", "fmt"),
    [
        ("", "text"),
        ("*/*", "text"),
        ("text/html", "text"),
        (PROMETHEUS_2, "openmetrics"),
        (PROMETHEUS_3_TEXT, "text"),
        ("application/openmetrics-text", "openmetrics"),
        ("application/openmetrics-text;version=2.0.0", "text"),
        ("application/openmetrics-text;q=0.1,text/plain;q=0.9", "text"),
        ("application/openmetrics-text;q=0,*/*;q=0.1", "text"),
        ("application/openmetrics-text;q=broken", "text"),
        (";;;,,,=", "text"),
    ],
)
def test_the_preferred_format_is_chosen(accept: str, fmt: str) -> None:
    assert choose_format(accept) == fmt


@pytest.mark.parametrize(
    ("encoding", "accepted"),
    [("", False), ("gzip", True), ("deflate, gzip;q=0.5", True), ("gzip;q=0", False), ("identity", False), ("*", True)],
)
def test_gzip_is_used_only_where_accepted(encoding: str, accepted: bool) -> None:
    assert accepts_gzip(encoding) is accepted
