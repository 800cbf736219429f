"""Whatever a file makes the binary do, it ends in time, within its memory, writes nothing and contacts nobody."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bcon_exporter.compose import ComposeOptions, ComposeReader
from bcon_exporter.compose.sandbox import can_confine, run_compose
from bcon_exporter.limited_launcher import NOT_STARTED, landlock_version, main
from bcon_exporter.limited_process import RunLimits, RunOutcome
from bcon_exporter.model.desired import RunningProject
from tests.compose.conftest import NOW, SEALER
from tests.waiting import wait_until

pytestmark = pytest.mark.integration

HERE = Path("/")
PYTHON_NEEDS = (Path(sys.base_prefix) / "lib", Path(sys.prefix))
FILE_OPENED_FOR_WRITING = ("O_WRONLY", "O_RDWR", "O_CREAT")


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-c", code)


@pytest.mark.promise("S6")
def test_only_the_given_environment_is_seen_and_remote_includes_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY", "ours")
    code = "import os; print(sorted(os.environ.items()))"
    environ = {"GIVEN": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "COMPOSE_EXPERIMENTAL_GIT_REMOTE": "1"}
    seen = dict(eval(run_compose(python(code), cwd=HERE, environ=environ, limits=RunLimits()).output))
    assert seen["GIVEN"] == "1"
    assert seen["COMPOSE_EXPERIMENTAL_GIT_REMOTE"] == seen["COMPOSE_EXPERIMENTAL_OCI_REMOTE"] == "0"
    assert not {"CANARY", "OTEL_EXPORTER_OTLP_ENDPOINT"} & seen.keys()
    assert not Path(seen["DOCKER_CONFIG"]).exists(), "the user's Docker configuration is neither read nor written"


@pytest.mark.promise("S6")
def test_a_run_that_hangs_is_ended_with_everything_it_started(tmp_path: Path) -> None:
    shell = ["/bin/sh", "-c", "/bin/sleep 100 & echo $!; wait"]  # begins at once, also on a busy machine
    started = time.monotonic()
    outcome = run_compose(shell, cwd=tmp_path, environ={}, limits=RunLimits(timeout_seconds=2))
    assert outcome.timed_out
    assert time.monotonic() - started < 60, "before it would have ended by itself"
    child = Path("/proc") / outcome.output.strip() / "stat"
    wait_until(lambda: not child.exists() or ") Z " in child.read_text(), "the grandchild has ended")


@pytest.mark.parametrize(("code", "printed"), [("print(sys.stdin.read())", "services: {}"), ("print(1)", "1")])
def test_what_is_given_is_on_the_standard_input_whether_it_is_read_or_not(code: str, printed: str) -> None:
    given = b"services: {}"
    outcome = run_compose(python(f"import sys; {code}"), cwd=HERE, environ={}, limits=RunLimits(), standard_input=given)
    assert (outcome.exit_code, outcome.output.strip()) == (0, printed)


@pytest.mark.parametrize("code", ["print(len(sys.stdin.read()))", "sys.stdin.close(); print(1_000_000)"])
def test_the_standard_input_may_be_more_than_a_pipe_holds(code: str) -> None:
    given = b"x" * 1_000_000
    outcome = run_compose(python(f"import sys; {code}"), cwd=HERE, environ={}, limits=RunLimits(), standard_input=given)
    assert (outcome.exit_code, outcome.output.strip()) == (0, "1000000")


def test_endless_output_is_cut() -> None:
    code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    outcome = run_compose(python(code), cwd=HERE, environ={}, limits=RunLimits(timeout_seconds=20))
    assert outcome.timed_out
    assert len(outcome.output) < 40 * 1024 * 1024


@pytest.mark.promise("S6")
def test_memory_beyond_the_limit_is_refused() -> None:
    limits = RunLimits(memory_bytes=300 * 1024 * 1024)
    outcome = run_compose(python("x = bytearray(400 << 20)"), cwd=HERE, environ={}, limits=limits)
    assert outcome.exit_code != 0
    assert "MemoryError" in outcome.errors


def test_nothing_can_be_written(tmp_path: Path) -> None:
    code = "open('made', 'wb', buffering=0).write(b'x' * 10)"
    outcome = run_compose(python(code), cwd=tmp_path, environ={}, limits=RunLimits())
    assert outcome.exit_code != 0
    assert (tmp_path / "made").stat().st_size == 0


def test_a_binary_that_is_not_there_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError):
        run_compose(("/nonexistent/docker-compose", "config"), cwd=HERE, environ={}, limits=RunLimits())


def test_the_launcher_says_when_the_program_cannot_be_started() -> None:
    command = [
        sys.executable,
        "-c",
        "import sys; from bcon_exporter.limited_launcher import main; sys.exit(main(sys.argv[1:]))",
    ]
    done = subprocess.run([*command, str(1 << 32), "10", "0", "--", "/nonexistent"], check=False)
    assert done.returncode == NOT_STARTED
    assert callable(main)


def test_the_program_goes_before_the_daemon_where_memory_runs_out() -> None:
    command = [sys.executable, "-m", "bcon_exporter.limited_launcher", str(1 << 32), "10", "0", "--"]
    done = subprocess.run([*command, "/bin/cat", "/proc/self/oom_score_adj"], capture_output=True, check=False)
    assert int(done.stdout) >= 500


def test_the_default_limits_let_the_binary_start_every_time(binary: tuple[str, ...]) -> None:
    limits = RunLimits()
    runs = [run_compose((*binary, "version"), cwd=HERE, environ={}, limits=limits) for _ in range(10)]
    assert [run.exit_code for run in runs] == [0] * 10


@pytest.mark.promise("S6")
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_resolving_opens_no_connection_and_writes_no_file(binary: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text("include: [more.yaml]\nservices:\n  web:\n    image: app:${TAG:-1}\n")
    (tmp_path / "more.yaml").write_text("services:\n  db:\n    image: app:1\n")
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-qq", "-e", "trace=connect,bind,openat,unlink,mkdir,rename", "-o", str(trace)]
    subprocess.run(
        [*command, *binary, "config", "-q"],
        cwd=tmp_path,
        check=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home"), "DOCKER_CONFIG": str(tmp_path / "none")},
    )
    lines = [line for line in trace.read_text().splitlines() if " = -1 " not in line]
    assert lines, "strace has seen the run"
    assert [line for line in lines if "connect(" in line or "bind(" in line] == []
    written = [line for line in lines if any(flag in line for flag in FILE_OPENED_FOR_WRITING)]
    assert [line for line in written if "/dev/null" not in line and "/proc/" not in line and "/sys/" not in line] == []


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A project folder whose Compose file includes one that lies beside it."""
    (tmp_path / "root").mkdir()
    (tmp_path / "outside.yaml").write_text("services: {far: {image: 'canary:1'}}\n")
    (tmp_path / "root" / "compose.yaml").write_text("include: [../outside.yaml]\nservices: {web: {image: 'x:1'}}\n")
    return tmp_path


@pytest.mark.skipif(not can_confine(), reason="this kernel has no Landlock, or seccomp forbids it")
def test_a_confined_binary_cannot_read_a_file_outside_although_the_compose_file_includes_it(
    binary: tuple[str, ...], outside: Path
) -> None:
    def resolve(*readable: Path) -> RunOutcome:
        command = (*binary, "-f", f"{outside}/root/compose.yaml", "config")
        return run_compose(command, cwd=outside / "root", environ={}, limits=RunLimits(), readable=readable)

    assert "canary" in resolve().output, "it can where it is not confined"
    assert "canary" in resolve(outside).output
    refused = resolve(outside / "root")
    assert refused.exit_code != 0
    assert "permission denied" in refused.errors
    assert "canary" not in refused.output + refused.errors


@pytest.mark.skipif(not can_confine(), reason="this kernel has no Landlock, or seccomp forbids it")
@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("open('{0}/root/compose.yaml').read()", True),
        ("open('{0}/outside.yaml').read()", False),
        ("open('/proc/self/environ').read()", False),
        ("open('{0}/root/new', 'w')", False),
        ("import os; os.mkdir('{0}/root/new')", False),
        ("import os; os.rename('{0}/root/compose.yaml', '{0}/root/new')", False),
        ("import os; os.execv('/usr/bin/env', ['env'])", False),
    ],
)
def test_what_a_confined_program_may_do(outside: Path, code: str, allowed: bool) -> None:
    text = f"try:\n    {code.format(outside)}\nexcept PermissionError:\n    print('refused')\nelse:\n    print('done')"
    readable = (outside / "root", *PYTHON_NEEDS)
    outcome = run_compose(python(text), cwd=outside, environ={}, limits=RunLimits(), readable=readable)
    assert outcome.output.strip() == ("done" if allowed else "refused"), outcome.errors


@pytest.mark.skipif(landlock_version() < 4, reason="this kernel's Landlock knows no network")
def test_a_confined_program_makes_no_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
        assert run_compose(python(code), cwd=HERE, environ={}, limits=RunLimits()).exit_code == 0
        refused = run_compose(python(code), cwd=HERE, environ={}, limits=RunLimits(), readable=PYTHON_NEEDS)
    assert "PermissionError" in refused.errors


def test_a_binary_that_cannot_be_confined_runs_all_the_same(tmp_path: Path) -> None:
    """A wrapper script needs a shell, which is not among what may be read."""
    (tmp_path / "compose.yaml").write_text("services: {}\n")
    script = tmp_path / "docker-compose"
    script.write_text(
        '#!/bin/sh\ncase "$*" in version*) echo 5.6.1;; *) echo \'{"name": "a", "services": {}}\';; esac\n'
    )
    script.chmod(0o755)
    reader = ComposeReader(ComposeOptions(binary=(str(script),), roots=(tmp_path,), wait_seconds=60.0), SEALER)
    running = RunningProject(name="a", config_files=(str(tmp_path / "compose.yaml"),))
    assert reader.resolve_running(running, NOW).services == ()


def test_where_the_system_calls_are_forbidden_the_program_runs_unconfined() -> None:
    """As below Docker's older seccomp profiles; strace makes the calls fail here."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    inject = ["-e", "inject=landlock_create_ruleset:error=EPERM"]
    launcher = [sys.executable, "-I", "-S", str(Path(main.__code__.co_filename)), str(1 << 32), "10", "0"]
    command = [
        "strace",
        "-qq",
        "-o",
        "/dev/null",
        *inject,
        *launcher,
        "/nonexistent",
        "--",
        "/bin/cat",
        "/etc/hostname",
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, bool(done.stdout)) == (0, True)
