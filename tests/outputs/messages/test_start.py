"""A daemon does not start with receivers to whom messages would be repeated without an end."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.app import build_context, check_settings, refresh_context
from bcon_exporter.daemon import Daemon
from bcon_exporter.errors import SettingsError
from bcon_exporter.settings import Settings
from tests.left_open import close_later

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration


def test_neither_the_daemon_nor_the_check_of_its_settings_takes_an_address_with_several_targets(tmp_path: Path) -> None:
    settings = Settings(
        docker={"host": f"unix://{tmp_path}/absent.sock"},  # type: ignore[arg-type]  # raw values
        web={"listen_address": "127.0.0.1:0"},  # type: ignore[arg-type]
        state={"path": "none"},  # type: ignore[arg-type]
        notify={"url": ["name=phone ntfy://127.0.0.1:1/one/s3cr3t-canary"]},  # type: ignore[arg-type]
    )
    context = build_context(settings)
    close_later(context.memory)  # type: ignore[arg-type]  # a keeper
    start = partial(Daemon, settings, context, refresh_context, lambda: settings)
    for begin in (start, partial(check_settings, settings)):
        with pytest.raises(SettingsError) as refused:
            begin()
        assert refused.value.message.startswith("notify.url: phone: its address has several targets")
        assert "canary" not in refused.value.message
    context.host.close()
