"""Promise: settings and environment become what tools work with, without talking to an engine."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bcon_exporter.app import build_context
from bcon_exporter.settings import load_settings
from bcon_exporter.tools import Context


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    plugin = tmp_path / ".docker/cli-plugins/docker-compose"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("#!/bin/sh\n")
    plugin.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    context = build_context(load_settings({"state": {"path": "none"}}, {}))
    with closing(context.memory), closing(context.host):
        yield context


def test_the_compose_plugin_that_a_user_installed_is_found_by_the_daemon_too(built: Context, tmp_path: Path) -> None:
    assert built.compose._options.binary == (str(tmp_path / ".docker/cli-plugins/docker-compose"),)  # type: ignore[attr-defined]  # the protocol hides it


def test_the_daemons_compose_sees_nothing_of_the_daemons_environment(built: Context) -> None:
    assert set(built.compose._options.environ) == {"PATH"}  # type: ignore[attr-defined]  # the protocol hides it
