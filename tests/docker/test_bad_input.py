"""Promise: bad input has its code, a message that says what to do, no traceback and no secret, by both faces.

One table of requests is sent through `bcon-exporter call` and through `POST /api/v1/tools/…` of a daemon on the same
real engine; what only one of the two faces can meet (a socket, a port, a flag, a body) follows below.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.cli import main
from tests.docker.conftest import TestEngine
from tests.docker.daemon import Daemon
from tests.docker.nobody import as_nobody, needs_root
from tests.table_rows import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


pytestmark = pytest.mark.docker

CANARY = "hunter2-canary"
WEB = "bad-input-web"
LIKE_IDS = 17
"""One container more than there are hexadecimal digits: two ids begin alike."""
STATUS = {
    "invalid_input": 400,
    "container_not_found": 404,
    "compose_file_not_found": 404,
    "compose_parse_error": 422,
    "permission_denied": 403,
    "docker_connection_failed": 503,
}
EXIT = {"invalid_input": 2, "docker_connection_failed": 3}


@dataclass(frozen=True)
class Bad:
    """One bad request: the tool, its input, the code of the answer, and a word that its message must have.

    Attributes:
        outside: The word over HTTP, where it is another one: nothing about files outside the roots is told there.
    """

    tool: str
    payload: Any
    code: str
    says: str
    outside: str | None = None


def logs(**fields: Any) -> dict[str, Any]:
    return {"container_id": WEB, **fields}


NOT_FOUND = "compose_file_not_found"
NO_FILE = "No Compose file can be read at this path"
CASES = {
    "unknown container": Bad("get_container_info", {"container_id": "bad-input-wbe"}, "container_not_found", WEB),
    "unknown id": Bad("diagnose_container", {"container_id": "f" * 64}, "container_not_found", "no container"),
    "ambiguous id": Bad("get_container_info", {"container_id": "AMBIGUOUS"}, "invalid_input", "more digits"),
    "id with a slash": Bad("get_container_info", {"container_id": "a/json"}, "invalid_input", "container_id"),
    "id with dots": Bad("get_container_stats", {"container_id": "../images/x"}, "invalid_input", "container_id"),
    "id of dots": Bad("get_container_info", {"container_id": ".."}, "invalid_input", "container_id"),
    "id with an escape": Bad("get_container_info", {"container_id": "a%2fb"}, "invalid_input", "container_id"),
    "id of 1,000 characters": Bad("get_container_logs", {"container_id": "a" * 1000}, "invalid_input", "255"),
    "empty id": Bad("get_container_info", {"container_id": ""}, "invalid_input", "container_id"),
    "no id": Bad("get_container_info", {}, "invalid_input", "container_id: is required"),
    "id of a wrong type": Bad("get_container_info", {"container_id": 5}, "invalid_input", "container_id"),
    "negative tail": Bad("get_container_logs", logs(tail=-1), "invalid_input", "tail"),
    "tail of nothing": Bad("get_container_logs", logs(tail=0), "invalid_input", "tail"),
    "tail too long": Bad("get_container_logs", logs(tail=10_001), "invalid_input", "10000"),
    "fractional tail": Bad("get_container_logs", logs(tail=2.5), "invalid_input", "tail"),
    "tail of text": Bad("get_container_logs", logs(tail=CANARY), "invalid_input", "tail"),
    "negative log tail": Bad("diagnose_container", logs(log_tail=-5), "invalid_input", "log_tail"),
    "a time that is none": Bad("get_container_logs", logs(since=CANARY), "invalid_input", "since"),
    "unknown field": Bad("get_container_logs", logs(tial=5), "invalid_input", "did you mean tail?"),
    "unknown field of a tool without input": Bad("health_check", {CANARY[:7]: 1}, "invalid_input", "unknown field"),
    "wrong type": Bad("list_containers", {"all": CANARY}, "invalid_input", "all"),
    "unknown filter": Bad("list_containers", {"filters": {"stauts": "exited"}}, "invalid_input", "status"),
    "no object": Bad("diagnose_all", [CANARY], "invalid_input", "JSON object"),
    "unknown period": Bad("get_cost_report", {"period": CANARY}, "invalid_input", "'week'"),
    "broken pattern": Bad("explain_error", logs(error_pattern="re:(" + CANARY), "invalid_input", "literal text"),
    "long pattern": Bad("explain_error", logs(error_pattern="x" * 257), "invalid_input", "256"),
    "empty pattern": Bad("explain_error", logs(error_pattern=""), "invalid_input", "error_pattern"),
    "unknown container's pattern": Bad(
        "explain_error", {"container_id": "nobody", "error_pattern": "x"}, "container_not_found", "nobody"
    ),
    "bad project name": Bad(
        "detect_drift", {"compose_file": "{root}/ok.yaml", "project_name": "../x"}, "invalid_input", "project_name"
    ),
    "missing file": Bad("detect_drift", {"compose_file": "{root}/none.yaml"}, NOT_FOUND, "does not exist", NO_FILE),
    "directory": Bad("detect_drift", {"compose_file": "{root}"}, NOT_FOUND, "is a directory", NO_FILE),
    "device": Bad("detect_drift", {"compose_file": "/dev/zero"}, NOT_FOUND, "no regular file", NO_FILE),
    "missing file of untracked": Bad(
        "get_untracked_containers", {"compose_file": "/none"}, NOT_FOUND, "does not exist", NO_FILE
    ),
    "no YAML": Bad("detect_drift", {"compose_file": "{root}/torn.yaml"}, "compose_parse_error", "torn.yaml"),
    "not a mapping": Bad("detect_drift", {"compose_file": "{root}/list.yaml"}, "compose_parse_error", "list.yaml"),
    "unknown key": Bad("detect_drift", {"compose_file": "{root}/key.yaml"}, "compose_parse_error", "key.yaml"),
    "empty path": Bad("detect_drift", {"compose_file": ""}, "invalid_input", "compose_file"),
    "path with NUL": Bad("detect_drift", {"compose_file": "/a\0b"}, "invalid_input", "compose_file"),
}


@dataclass(frozen=True)
class Host:
    """A real engine, a daemon on it, and a directory of Compose files."""

    engine: TestEngine
    daemon: Daemon
    root: Path
    ambiguous: str

    def fill(self, payload: Any) -> Any:
        """Put the names that only this host knows into an input."""
        text = json.dumps(payload).replace("{root}", str(self.root)).replace("AMBIGUOUS", self.ambiguous)
        return json.loads(text)


@pytest.fixture(scope="module")
def host(engine_of_session: TestEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    engine, folder = engine_of_session, tmp_path_factory.mktemp("bad")
    root = folder / "root"
    root.mkdir()
    (root / "ok.yaml").write_text("services: {web: {image: bcon-test:1}}\n")
    (root / "torn.yaml").write_text(f"services: [\n  web: {{{CANARY}\n")
    (root / "list.yaml").write_text(f"- {CANARY}\n")
    (root / "key.yaml").write_text(f"services: {{web: {{image: bcon-test:1, imagge: {CANARY}}}}}\n")
    (folder / "outside.yaml").write_text("services: {web: {image: bcon-test:1}}\n")
    ids = [engine.docker("create", engine.image, "true").strip() for _ in range(LIKE_IDS)]
    engine.docker("run", "-d", "--name", WEB, engine.image, "sleep", "1000")
    first = [one[0] for one in ids]
    with Daemon(folder, engine.host, "--compose.roots", str(root)) as daemon:
        yield Host(engine, daemon, root, next(digit for digit in first if first.count(digit) > 1))
    engine.remove_everything()


@pytest.fixture
def run(host: Host, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def command(*words: str) -> tuple[int, str, str]:
        code = main([*words, "--docker.host", host.engine.host, "--state.path", "none"], {})
        out, err = capsys.readouterr()
        return code, out, err

    return command


def check(error: dict[str, Any], code: str, says: str) -> None:
    assert error["code"] == code, error
    assert says in error["message"]
    assert "\n" not in error["message"]
    assert "Traceback" not in str(error)
    assert CANARY not in str(error)


@table("name", CASES, shared=["run", "host"])
def test_a_bad_request_by_command(run: Callable[..., tuple[int, str, str]], host: Host, name: str) -> None:
    bad = CASES[name]
    code, out, err = run("call", bad.tool, json.dumps(host.fill(bad.payload)))
    check(json.loads(out)["error"], bad.code, bad.says)
    assert code == EXIT.get(bad.code, 4)
    assert err.count("\n") == 1
    assert err.startswith("bcon-exporter: ")
    assert CANARY not in err


@table("name", CASES, shared=["host"])
def test_a_bad_request_by_http(host: Host, name: str) -> None:
    bad = CASES[name]
    answer = host.daemon.ask(f"/api/v1/tools/{bad.tool}", "POST", host.fill(bad.payload))
    check(answer.json()["error"], bad.code, bad.outside or bad.says)
    assert answer.status == STATUS[bad.code]
    assert CANARY not in host.daemon.log


def test_near_matches_and_matches_stand_in_the_details(host: Host) -> None:
    near = host.daemon.ask("/api/v1/tools/get_container_info", "POST", {"container_id": "bad-input-wbe"}).json()
    assert near["error"]["details"]["near_matches"] == [WEB]
    several = host.daemon.ask("/api/v1/tools/get_container_info", "POST", {"container_id": host.ambiguous}).json()
    assert len(several["error"]["details"]["matches"]) > 1


def test_a_file_outside_the_roots_is_read_for_the_user_and_for_nobody_else(
    run: Callable[..., tuple[int, str, str]], host: Host
) -> None:
    outside = str(host.root.parent / "outside.yaml")
    assert run("drift", outside)[0] == 1
    told = {
        host.daemon.ask("/api/v1/tools/detect_drift", "POST", {"compose_file": path}).text
        for path in (outside, "/dev/zero", str(host.root), f"{host.root}/none.yaml", f"{host.root}/../outside.yaml")
    }
    assert len(told) == 1


@pytest.mark.parametrize(
    "words",
    [
        ["info", "bad-input-wbe"],
        ["logs", WEB, "--tail", "-1"],
        ["stats", "a/b"],
        ["explain", WEB, "re:("],
        ["diagnose", "x" * 1000],
        ["drift", "/nonexistent/compose.yaml"],
        ["untracked", "/dev/zero"],
        ["list", "--filter", "stauts=exited"],
        ["call", "diagnose_al"],
        ["call", "diagnose_all", "{"],
    ],
    ids=" ".join,
)
def test_the_commands_say_it_in_one_line_and_in_json_as_the_envelope(
    run: Callable[..., tuple[int, str, str]], words: list[str]
) -> None:
    code, _, err = run(*words)
    assert code in (2, 4)
    assert err.count("\n") == 1
    again, out, _ = run(*words, "--format", "json")
    assert again == code
    assert json.loads(out)["error"]["message"]


def test_bodies_that_are_no_json_or_too_large_are_refused(host: Host) -> None:
    for body, status in ((CANARY, 400), ('{"container_id": "' + "x" * 70_000 + '"}', 413), ("[" * 20_000, 400)):
        connection = http.client.HTTPConnection("127.0.0.1", host.daemon.port, timeout=10)
        connection.request("POST", "/api/v1/tools/get_container_info", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        assert answer.status == status
        check(json.loads(answer.read())["error"], "invalid_input", "")
        connection.close()


def test_an_unreachable_socket_says_where_it_looked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["list", "--docker.host", f"unix://{tmp_path}/none.sock", "--state.path", "none", "--format", "json"]
    assert main(words, {}) == 3
    out, err = capsys.readouterr()
    check(json.loads(out)["error"], "docker_connection_failed", "none.sock")
    assert "--docker.host" in err


def test_a_port_in_use_ends_the_daemon_with_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = "{}:{}".format(*taken.getsockname())
        done = command_of("serve", "--web.listen-address", address, "--state.path", "none")
    assert done.returncode == 2
    assert address in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_settings_are_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bcon.yml"
    file.write_text(f"scan: {{deadlin: {CANARY}}}\n")
    cases: list[tuple[list[str], dict[str, str], str]] = [
        (["list", f"--scan.deadlin={CANARY}"], {}, "--scan.deadline"),
        (["list", f"--scan.deadline={CANARY}"], {}, "--scan.deadline"),
        (["list"], {"BCON_SCAN__DEADLIN": CANARY}, "BCON_SCAN__DEADLINE"),
        (["list", "--config.file", str(file)], {}, "scan.deadline"),
    ]
    for words, environ, says in cases:
        assert main(words, environ) == 2
        err = capsys.readouterr().err
        assert says in err
        assert (CANARY in err, err.count("\n")) == (False, 1)


def command_of(*words: str, below: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BCON_", "DOCKER_"))}
    return subprocess.run(
        [*below, sys.executable, "-m", "bcon_exporter", *words],
        capture_output=True,
        text=True,
        env={**kept, "HOME": "/nonexistent"},
        timeout=60,
        check=False,
    )


def open_for_all(folder: Path) -> None:
    """Let every user enter a folder of the test's own under the temporary directory."""
    for one in (folder, *folder.parents):
        if one == Path(tempfile.gettempdir()) or one == Path("/"):
            return
        one.chmod(one.stat().st_mode | 0o055)


@pytest.mark.promise("F4")
@needs_root
def test_a_forbidden_socket_says_how_to_get_at_it(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as forbidden:
        path = str(tmp_path / "docker.sock")
        forbidden.bind(path)
        forbidden.listen()
        open_for_all(tmp_path)
        (tmp_path / "docker.sock").chmod(0o600)
        done = command_of(
            "list", "--docker.host", f"unix://{path}", "--state.path", "none", "--format=json", below=as_nobody()
        )
    assert done.returncode == 3
    error = json.loads(done.stdout)["error"]
    check(error, "permission_denied", path)
    assert "the socket's group" in error["message"]
    assert "root" in error["message"]
    assert done.stderr.count("\n") == 1


@needs_root
def test_an_unreadable_compose_file_is_told_to_its_reader(host: Host, tmp_path: Path) -> None:
    file, link = tmp_path / "compose.yaml", Path(host.engine.host.removeprefix("unix://"))
    file.write_text("services: {web: {image: bcon-test:1}}\n")
    file.chmod(0o600)
    open_for_all(tmp_path)
    open_for_all(link.parent)
    link.chmod(0o666)
    words = ("drift", str(file), "--docker.host", host.engine.host, "--state.path", "none", "--format=json")
    done = command_of(*words, below=as_nobody())
    check(json.loads(done.stdout)["error"], "permission_denied", "Change its rights")
    assert done.returncode == 4
