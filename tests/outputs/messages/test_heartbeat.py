"""A dead man's switch hears of good scans, of bad ones by /fail, and its address stands nowhere."""

from __future__ import annotations

import http.client
import logging
import socket
import ssl
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from bcon_exporter.errors import InternalError, SettingsError
from bcon_exporter.latest_scans import LatestScans
from bcon_exporter.outputs.messages import Heartbeat
from bcon_exporter.outputs.messages.heartbeat import ask_switch, describe, failing_address
from bcon_exporter.settings import load_settings
from tests.factories import NOON, snapshot
from tests.outputs.messages.receivers import HttpReceiver
from tests.outputs.scenes import ENGINE, Clock, make_context, scan_of
from tests.table_rows import table

if TYPE_CHECKING:
    from bcon_exporter.latest_scans import ScanName

TOKEN = "b9f2c5e8-token"
URL = f"https://switch.example/{TOKEN}?x=1"
FAIL = f"https://switch.example/{TOKEN}/fail?x=1"


class Scene:
    """A heartbeat with a clock, whose switch answers with `problem`."""

    def __init__(self) -> None:
        self.clock, self.scans = Clock(), LatestScans()
        self.hang: str | None = None
        self.problem = ""
        self.asked: list[str] = []
        host = snapshot(engine=ENGINE)
        self.context = make_context(host, scans=self.scans, monotonic=self.clock)
        self.scans.publish_diagnosis(scan_of(host))
        self.heartbeat = Heartbeat(SecretStr(URL), lambda: self.context, lambda: self.hang, self._ask)

    def _ask(self, url: str) -> str:
        self.asked.append(url)
        return self.problem

    def after(self, seconds: float) -> list[str]:
        """What is asked for at a time after the last."""
        self.clock.at += seconds
        self.asked.clear()
        self.heartbeat.beat()
        return list(self.asked)

    def fail(self, scan: ScanName = "diagnose") -> None:
        """Have a scan fail."""
        self.scans.record_failure(scan, NOON, 1.0, InternalError("it failed"))


@pytest.mark.promise("SER-1")
def test_good_scans_ping_once_a_minute_and_the_first_bad_one_at_once() -> None:
    scene = Scene()
    assert scene.after(0) == [URL]
    assert scene.after(59.9) == []
    assert scene.after(0.1) == [URL]
    scene.fail()
    assert scene.after(1) == [FAIL]
    assert scene.after(59.9) == []
    assert scene.after(0.1) == [FAIL]
    scene.scans.publish_diagnosis(scan_of(snapshot(engine=ENGINE)))
    assert scene.after(1) == []
    assert scene.after(59) == [URL]


@pytest.mark.promise("SER-1")
@table("scan", ["diagnose", "drift", "hangs"])
def test_each_scan_that_fails_or_hangs_is_told(scan: str) -> None:
    scene = Scene()
    assert scene.after(0) == [URL]
    if scan == "hangs":
        scene.hang = "the drift scan hangs"
    else:
        scene.fail("drift" if scan == "drift" else "diagnose")
    assert scene.after(1) == [FAIL]


def test_a_ping_that_does_not_arrive_is_said_once_and_tried_again_soon(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene()
    scene.problem = "no answer in time"
    with caplog.at_level(logging.INFO):
        assert [scene.after(seconds) for seconds in (0, 9.9, 0.1, 10)] == [[URL], [], [URL], [URL]]
        scene.problem = ""
        assert scene.after(10) == [URL]
    assert [record.getMessage() for record in caplog.records] == [
        "the heartbeat does not arrive at its address: no answer in time",
        "the heartbeat arrives again",
    ]


@table(("url", "expected"), [
    ("https://h/ping/x", "https://h/ping/x/fail"),
    ("https://h/ping/x/", "https://h/ping/x/fail"),
    ("https://h", "https://h/fail"),
    ("http://h:3001/x?status=up&msg=a/b", "http://h:3001/x/fail?status=up&msg=a/b"),
])  # fmt: skip
def test_the_address_of_a_failure(url: str, expected: str) -> None:
    assert failing_address(url) == expected


@table("url", [
    TOKEN, f"ftp://h/{TOKEN}", f"https:///{TOKEN}", f"https://u:{TOKEN}@h/", f"https://h:x{TOKEN}/", f"https://h/{TOKEN}#a",
    f"https://h/ {TOKEN}", f"https://h/{TOKEN}\n", f"https://h/{TOKEN}\u00e4", f"https://[{TOKEN}/", "",
])  # fmt: skip
def test_an_address_that_is_none_is_refused_and_not_quoted(url: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load_settings({}, {"BCON_NOTIFY__HEARTBEAT_URL": url or " "})
    assert TOKEN not in refused.value.message
    assert "BCON_NOTIFY__HEARTBEAT_URL" in refused.value.message


@pytest.mark.promise("SER-2")
def test_settings_do_not_show_the_address() -> None:
    settings = load_settings({}, {"BCON_NOTIFY__HEARTBEAT_URL": URL})
    assert settings.notify.heartbeat_url is not None
    assert settings.notify.heartbeat_url.get_secret_value() == URL
    assert TOKEN not in f"{settings!r} {settings} {settings.model_dump_json()}"


@pytest.mark.promise("SER-2")
@table("error", [
    socket.gaierror(-2, TOKEN),
    ssl.SSLCertVerificationError(1, TOKEN),
    ssl.SSLError(1, TOKEN),
    ConnectionRefusedError(111, TOKEN),
    http.client.InvalidURL(TOKEN),
    http.client.BadStatusLine(TOKEN),
    TimeoutError(TOKEN),
])  # fmt: skip
def test_no_error_quotes_the_address(error: Exception) -> None:
    assert describe(error)
    assert TOKEN not in describe(error)


@pytest.mark.promise("SER-2")
@pytest.mark.integration
def test_only_success_counts_and_no_redirect_is_followed() -> None:
    with HttpReceiver() as elsewhere, HttpReceiver() as switch:
        url = f"http://127.0.0.1:{switch.port}/{TOKEN}?x=1"
        assert ask_switch(url) == ""
        switch.status, switch.to = 301, f"http://127.0.0.1:{elsewhere.port}/"
        assert ask_switch(url) == "HTTP status 301"
        assert [one.path for one in switch.got] == [f"/{TOKEN}?x=1"] * 2
        assert elsewhere.got == []
    assert ask_switch(url) == "the connection is refused"
