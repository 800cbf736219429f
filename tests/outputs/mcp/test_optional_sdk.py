"""Agents are served only where that is safe and the extra is there; both are said in one line before anything runs."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from bcon_exporter.app import build_context, check_settings, refresh_context
from bcon_exporter.daemon import Daemon
from bcon_exporter.errors import SettingsError
from bcon_exporter.settings import Settings
from tests.left_open import close_later

if TYPE_CHECKING:
    from pathlib import Path

USERS = f"bearer_tokens: {{agent: 'sha256:{'0' * 64}'}}\n"
HIDE_SDK = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("mcp", "mcp_types"):
            raise ModuleNotFoundError(name)
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name == "mcp" else found(name, package)
sys.meta_path.insert(0, Absent())
"""
"""What a program begins with that is to run as where the library is not installed."""
NO_SDK = f"""{HIDE_SDK}
from bcon_exporter.cli import main
sys.exit(main(sys.argv[1:], {{}}))
"""


def settings(folder: Path, listen: str, **web: object) -> Settings:
    """Settings that serve agents."""
    return Settings(
        docker={"host": f"unix://{folder}/absent.sock"},  # type: ignore[arg-type]  # raw values
        web={"listen_address": listen, **web},  # type: ignore[arg-type]
        state={"path": "none"},  # type: ignore[arg-type]
        mcp={"enable": True},  # type: ignore[arg-type]
    )


def start(wanted: Settings) -> None:
    """Make a daemon, which binds its addresses, and let go of it."""
    context = build_context(wanted)
    close_later(context.memory)  # type: ignore[arg-type]  # a keeper
    try:
        daemon = Daemon(wanted, context, refresh_context, lambda: wanted)
        for listener in daemon._listeners:
            for bound in listener.sockets:
                bound.close()
    finally:
        context.host.close()


@pytest.mark.promise("S1")
@pytest.mark.parametrize("web", [{}, {"allow_insecure": True}])
def test_beyond_loopback_without_users_the_daemon_does_not_start_and_says_what_to_do(
    tmp_path: Path, web: dict[str, object]
) -> None:
    wanted = settings(tmp_path, "0.0.0.0:0", **web)

    for begin in (start, check_settings):
        with pytest.raises(SettingsError) as caught:
            begin(wanted)
        assert caught.value.message.startswith("mcp.enable: web.listen-address")
        assert "bearer_tokens" in caught.value.message


def test_on_loopback_and_beyond_it_with_users_agents_are_served(tmp_path: Path) -> None:
    (tmp_path / "web.yml").write_text(USERS)

    for wanted in (
        settings(tmp_path, "127.0.0.1:0"),
        settings(tmp_path, "0.0.0.0:0", config={"file": tmp_path / "web.yml"}),
    ):
        start(wanted)
        check_settings(wanted)


def test_where_the_api_has_a_listener_of_its_own_that_one_alone_counts(tmp_path: Path) -> None:
    wanted = settings(tmp_path, "0.0.0.0:0")
    wanted = wanted.model_copy(
        update={"api": Settings(api={"listen_address": "127.0.0.1:0"}).api}  # type: ignore[arg-type]
    )

    start(wanted)


def run_without_sdk(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command where the library is not installed."""
    program = [sys.executable, "-c", NO_SDK, *words]
    return subprocess.run(program, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.integration
def test_without_the_extra_the_command_says_how_to_get_it() -> None:
    done = run_without_sdk("mcp")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "bcon-exporter: bcon-exporter mcp needs the extra `mcp`: pip install 'bcon-exporter[mcp]',"
        " or '.[mcp]' in a clone\n"
    )


@pytest.mark.integration
def test_without_the_extra_a_daemon_that_shall_serve_agents_does_not_start(tmp_path: Path) -> None:
    where = ("--docker.host", f"unix://{tmp_path}/absent.sock", "--state.path=none", "--web.listen-address=127.0.0.1:0")

    for words in (("serve", *where), ("check-config", *where)):
        done = run_without_sdk(*words, "--mcp.enable")
        assert done.returncode == 2, done
        assert "mcp.enable needs the extra `mcp`" in done.stderr
    assert run_without_sdk("check-config", *where).returncode == 0


@pytest.mark.parametrize("written", ["core", "core,ops", ["ops", "core", "ops"]])
def test_toolsets_are_named_once_each(written: object) -> None:
    found = Settings(mcp={"toolsets": written}).mcp.toolsets  # type: ignore[arg-type]

    assert set(found) <= {"core", "ops"}
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("written", ["", "cores", "core,everything"])
def test_an_unknown_toolset_is_refused_with_those_there_are(written: str) -> None:
    with pytest.raises(ValueError, match="core, ops"):
        Settings(mcp={"toolsets": written})  # type: ignore[arg-type]
