"""A daemon starts without waiting for its receivers, and says which of them cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bcon_exporter.app import check_settings
from bcon_exporter.errors import SettingsError
from bcon_exporter.settings import Settings
from tests.docker.daemon import Daemon
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration

MANY = "name=phone ntfy://127.0.0.1:1/one/s3cr3t-canary"


def test_the_check_of_the_settings_takes_no_address_with_several_targets() -> None:
    settings = Settings(notify={"url": [MANY]})  # type: ignore[arg-type]  # raw values
    with pytest.raises(SettingsError) as refused:
        check_settings(settings)
    assert refused.value.message.startswith("notify.url: phone: its address has several targets")
    assert "canary" not in refused.value.message


@pytest.mark.promise("F23")
def test_the_start_waits_for_no_check_of_a_receiver_and_what_is_wrong_is_told_later(tmp_path: Path) -> None:
    flags = ("--notify.url", MANY, "--notify.url", "name=hook json://127.0.0.1:1/", "--scan.diagnose-interval=1s")
    with Daemon(tmp_path, f"unix://{tmp_path}/absent.sock", *flags) as daemon:
        daemon.wait_for_sample('bcon_message_receiver_usable{receiver="phone"}', 0)
        daemon.wait_for_sample('bcon_message_receiver_usable{receiver="hook"}', 1)
        states = wait_until(lambda: known_receivers(daemon), "the alerts to show the receivers")
        log, page = daemon.log, daemon.ask("/alerts").text
    problem = "its address has several targets: give each an address of its own; see docs/notify.md"
    assert log.index("serving on ") < log.index(f"messages to phone: {problem}")
    assert states == {"phone": problem, "hook": None}
    assert problem in page
    assert "canary" not in log + page


def known_receivers(daemon: Daemon) -> dict[str, str | None]:
    """Receivers with what is wrong with them; none while that is not known of all."""
    receivers = daemon.ask("/api/v1/alerts").json().get("result", {}).get("receivers", [])
    known = all(receiver["usable"] is not None for receiver in receivers)
    return {receiver["name"]: receiver["error"] for receiver in receivers} if known else {}
