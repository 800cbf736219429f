"""Promise: as a process it ends quietly when interrupted or when its reader has gone."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bcon_exporter.tools.replay import write_snapshot
from tests.factories import container, snapshot
from tests.waiting import wait_until

pytestmark = pytest.mark.integration

COMMAND = [sys.executable, "-m", "bcon_exporter"]


@pytest.fixture
def file(tmp_path: Path) -> str:
    write_snapshot(tmp_path / "host.json", snapshot(*(container(name=f"c{number}") for number in range(400))))
    return str(tmp_path / "host.json")


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("BCON_")}


def test_a_closed_pipe_is_no_error(file: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "call", "list_containers", "{}", "--from-snapshot", file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize("words", [["list", "--from-snapshot"], ["version"], ["--help"]], ids=lambda words: words[0])
def test_a_full_disk_under_the_output_is_one_line(file: str, words: list[str]) -> None:
    given = [*words, file] if "--from-snapshot" in words else words
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, *given], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
    assert done.stderr == b"bcon-exporter: the output cannot be written: no space left on device\n"
    assert done.returncode == 4


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["list --from-snapshot", "list --format json --from-snapshot", "--version"])
def test_a_stream_that_came_closed_is_written_to_no_more(file: str, words: str, closed: str) -> None:
    given = f"{words} {file}" if "--from-snapshot" in words else words
    line = f"{sys.executable} -m bcon_exporter {given} {closed}"
    done = subprocess.run(["sh", "-c", line], capture_output=True, env=environment(), check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (done.stdout == b"") is (">&-" in closed.split())


@pytest.fixture
def heeding_ctrl_c() -> Iterator[None]:
    """Let children heed SIGINT, also where this run was started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


ENDED_BY_CTRL_C = (130, -signal.SIGINT)
"""A shell says 130 of both. `python -m` ends itself by the signal where KeyboardInterrupt has passed through `exec` of
a text, though it was caught later. A dataclass is made by one while its module is imported."""


@pytest.mark.usefixtures("heeding_ctrl_c")
def test_ctrl_c_ends_a_watch_cleanly(file: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "list", "--watch", "1s", "--from-snapshot", file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        wait_until(lambda: process.stdout and process.stdout.readline(), "the first table")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode in ENDED_BY_CTRL_C
    assert err == b""


LOST = """
import os, runpy, signal, sys
class Interrupted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass
seen = []
def lose(event, args):
    if not seen and event == "open" and args[0] == sys.argv[-1]:
        seen.append(args)
        Interrupted()
sys.addaudithook(lose)
runpy.run_module("bcon_exporter", run_name="__main__", alter_sys=True)
"""
"""Runs the program, which interrupts itself where Python can raise nothing: in a finaliser."""


@pytest.mark.usefixtures("heeding_ctrl_c")
def test_ctrl_c_is_heard_where_python_loses_it(file: str) -> None:
    command = [sys.executable, "-c", LOST, "list", "--watch", "1s", "--from-snapshot", file]

    done = subprocess.run(command, capture_output=True, env=environment(), check=False, timeout=30)

    assert (done.returncode, done.stderr) == (130, b"")


def test_the_module_is_the_console_script() -> None:
    done = subprocess.run([*COMMAND, "version"], capture_output=True, env=environment(), check=False, timeout=60)
    assert (done.returncode, done.stdout.split()[0]) == (0, b"bcon-exporter")


def test_a_defect_is_one_line_without_traceback(tmp_path: Path) -> None:
    """The defect is a tool that raises: no real one does so on demand."""
    program = (
        "import sys\n"
        "from bcon_exporter.cli import main, tool_commands\n"
        "from bcon_exporter.tools import host_views\n"
        "from bcon_exporter.tools.tool import Tool\n"
        "def fail(context, request):\n"
        "    raise ZeroDivisionError('password=hunter2secret')\n"
        "tool_commands.HOST_STATS = Tool('stats', 'Fails.', host_views.Nothing, int, fail)\n"
        f"sys.exit(main(['stats', '--from-snapshot', {str(tmp_path / 'host.json')!r}]))\n"
    )
    write_snapshot(tmp_path / "host.json", snapshot(container()))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment(), check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (4, "")
    assert "ZeroDivisionError" in done.stderr
    assert "Traceback" not in done.stderr
    assert "hunter2secret" not in done.stderr
