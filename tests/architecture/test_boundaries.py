"""Data flows one way, and clock, environment, Docker and standard output each have one door."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import PACKAGE, ROOT, dotted, find_modules_with, parse, show

CLOCKS = {
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "datetime.datetime.now",
    "time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns",
}  # fmt: skip
BOUNDARIES = (  # the job, the request (a tool call, a command, an HTTP request) and the rule
    "bcon_exporter/schedule",
    "bcon_exporter/engine/events.py",  # threads of their own are jobs too: nobody is above them
    "bcon_exporter/engine/background_checks.py",
    "bcon_exporter/engine/read_usage.py",
    "bcon_exporter/outputs/alertmanager",  # likewise
    "bcon_exporter/outputs/messages",  # likewise
    "bcon_exporter/reload_on_sighup.py",  # the reload, likewise
    "bcon_exporter/tools",
    "bcon_exporter/cli/main.py",  # a command is a request
    "bcon_exporter/outputs/http",
    "bcon_exporter/outputs/mcp/server.py",  # an agent's request
    "bcon_exporter/diagnosis/diagnose.py",
    "bcon_exporter/drift/compare.py",
    "bcon_exporter/deployments/verify/judge.py",
    "bcon_exporter/deployments/check/judge.py",
)


def find_uses(names: set[str]) -> set[str]:
    """Files of the package in which one of these dotted names is used."""
    return {
        show(path)
        for path in find_modules_with(PACKAGE, *("".join(name.rpartition(".")[1:]) for name in names))
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Attribute | ast.Name) and dotted(node) in names
    }


def is_in(path: str, homes: tuple[str, ...]) -> bool:
    return any(path == home or path.startswith(f"{home}/") for home in homes)


def catches_everything(handler: ast.ExceptHandler) -> bool:
    """`except:`, `except Exception` or `except BaseException` that does not raise again."""
    broad = handler.type is None or dotted(handler.type) in ("Exception", "BaseException")
    return broad and not any(isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler))


@pytest.mark.integration
def test_every_import_contract_is_kept() -> None:
    lint = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert lint.returncode == 0, lint.stdout + lint.stderr


def test_only_clock_reads_the_clock() -> None:
    assert find_uses(CLOCKS) == {"bcon_exporter/clock.py"}


def test_only_settings_reads_the_environment() -> None:
    uses = find_uses({"os.environ", "os.environb", "os.getenv"})
    # These two ask for names only: whether a shell completes a word, and whether any setting is there to be read.
    uses -= {"bcon_exporter/__main__.py", "bcon_exporter/cli/parsing.py"}
    assert all(is_in(path, ("bcon_exporter/settings",)) for path in uses), uses


def test_only_the_command_line_prints() -> None:
    uses = find_uses({"print", "sys.stdout"})
    uses -= {"bcon_exporter/outputs/messages/send_process.py"}  # a program of its own: its answer to the daemon
    assert all(is_in(path, ("bcon_exporter/cli",)) for path in uses), uses


def test_only_the_command_line_and_the_log_write_to_standard_error() -> None:
    uses = find_uses({"sys.stderr"})
    assert all(is_in(path, ("bcon_exporter/cli", "bcon_exporter/daemon_log.py")) for path in uses), uses


@pytest.mark.promise("S11")
def test_nothing_runs_code_from_data() -> None:
    assert find_uses({"eval", "exec", "pickle.loads", "marshal.loads", "os.system", "os.popen"}) == set()


@pytest.mark.promise("S11")
def test_no_program_runs_through_a_shell() -> None:
    shells = [
        show(path)
        for path in find_modules_with(PACKAGE, "shell")
        for node in ast.walk(parse(path))
        if isinstance(node, ast.keyword) and node.arg == "shell"
    ]
    assert shells == []


def test_only_the_three_boundaries_swallow_every_exception() -> None:
    elsewhere = [
        f"{show(path)}:{node.lineno}"
        for path in find_modules_with(PACKAGE, "except")
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ExceptHandler) and catches_everything(node) and not is_in(show(path), BOUNDARIES)
    ]
    assert elsewhere == []
