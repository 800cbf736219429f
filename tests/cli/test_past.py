"""Commands about the past: the state file, else the daemon of the engine, else "not known" and exit code 3."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.main import main
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.tools import TOOLS
from bcon_exporter.tools.digest import DIGEST
from tests.factories import ago

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NO_ENGINE = "unix:///nowhere.sock"
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "list_incidents": ("incidents",),
    "get_incident": ("incidents", "2026-01-01-db-exit_error-1"),
    "get_history": ("history",),
    "get_history of changes": ("changes",),
    "digest": ("digest",),
    "list_deployments": ("deployments",),
}
ROOT = {"container": "db", "project": "shop", "service": "db", "code": "exit_error"}
LINE: Mapping[str, object] = {
    "id": "2026-01-01-db-exit_error-1",
    "started_at": "2026-01-01T11:00:00Z",
    "severity": "error",
    "ended_at": None,
    "root": ROOT,
    "suffers": [],
    "ended_by": None,
    "merged_into": None,
    "acknowledged_at": None,
    "title": "db ended\nwith \x1b[31m1",
}
WINDOW = {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z", "known_since": None}
LISTED = {"since": WINDOW["since"], "total": 1, "incidents": [LINE], "known_since": None}
ANSWERS: Mapping[str, object] = {
    "list_incidents": LISTED,
    "get_incident": LISTED,
    "get_history": {**WINDOW, "total": 0, "entries": []},
    "digest": {**WINDOW, "began": 1, "ended": 0, "worst": [], "going_on": [LINE], "flapping": [], "drifted": [],
               "failed_deployments": []},
    "list_deployments": {"total": 0, "deployments": [], "known_since": None},
}  # fmt: skip


@contextmanager
def daemon(answers: Mapping[str, object], status: int = 200) -> Iterator[tuple[str, list[str]]]:
    """A daemon that answers tools by name; yields its address, and the paths and bodies that it is sent."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            name = self.path.rpartition("/")[2].partition("?")[0]
            if name != "memory":
                asked.append(f"{self.path} {body}".strip())
            known = {"memory": {"engine_id": "ABCD", "pasts": {}}, **answers}
            raw = json.dumps({"result": known.get(name)} if status == 200 else {"error": {"message": "who?"}}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_GET = do_POST = _answer  # noqa: N815 -- as the base class looks for them

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def run(words: tuple[str, ...], address: str, capsys: pytest.CaptureFixture[str], state: str = "none") -> Any:
    """Run a command as JSON; returns exit code, output and error output."""
    where = ("--docker.host", NO_ENGINE, "--web.listen-address", address, "--state.path", state)
    code = main([*words, "--format", "json", *where], {})
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_every_tool_about_the_past_has_a_command_that_is_tried_here() -> None:
    of_past = {tool.name for tool in (*TOOLS, DIGEST) if tool.of_past}
    assert of_past == {name.split()[0] for name in COMMANDS}


def test_without_daemon_and_state_file_the_past_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    answers = {name: run(words, "127.0.0.1:1", capsys) for name, words in COMMANDS.items()}
    assert {name: code for name, (code, _, _) in answers.items()} == dict.fromkeys(COMMANDS, Exit.NO_ENGINE)
    for code, out, err in answers.values():
        message = json.loads(out)["error"]["message"] if out else err
        assert "not known: no daemon answers at 127.0.0.1:1" in message, (code, out, err)
        assert "there is no state file to read" in message


def test_the_daemon_answers_where_there_is_no_state_file(capsys: pytest.CaptureFixture[str]) -> None:
    with daemon(ANSWERS) as (address, asked):
        answers = {name: run(words, address, capsys) for name, words in COMMANDS.items()}
    assert {name: code for name, (code, _, _) in answers.items()} == dict.fromkeys(COMMANDS, Exit.FINE)
    (incident,) = json.loads(answers["list_incidents"][1])["result"]["incidents"]
    assert incident["title"].startswith("db ended\nwith ")
    assert "\x1b" not in incident["title"]
    assert json.loads(answers["digest"][1])["result"]["began"] == 1
    assert [line.split(" ")[0] for line in asked] == [
        "/api/v1/tools/list_incidents",
        "/api/v1/tools/get_incident",
        "/api/v1/tools/get_history",
        "/api/v1/tools/get_history",
        "/api/v1/digest",
        "/api/v1/tools/list_deployments",
    ]
    assert '"changes": true' in asked[3]


def test_a_daemon_that_refuses_or_talks_otherwise_leaves_the_past_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    with daemon({}, status=401) as (address, _):
        code, out, err = run(("incidents",), address, capsys)
    assert code == Exit.NO_ENGINE
    assert "name yourself with --user" in out + err
    with daemon({"list_incidents": {"something": "else"}}) as (address, _):
        code, out, err = run(("incidents",), address, capsys)
    assert code == Exit.NO_ENGINE
    assert "no bcon-exporter of this version" in out + err


@pytest.mark.usefixtures("histories_are_closed")
def test_a_state_file_is_read_but_where_the_daemon_tells_that_it_keeps_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state.db"
    MemoryKeeper.open(state, retention_seconds=3600, now=ago()).close()
    found = state.stat()
    own = {"engine_id": "ABCD", "state_file": f"{found.st_dev}:{found.st_ino}"}
    memories = {
        "does not tell": ({"engine_id": "ABCD"}, 0),
        "this one": (own, 0),
        "another": (own | {"state_file": "1:2"}, 1),
        "none": (own | {"state_file": ""}, 1),
    }
    totals = {}
    for name, (memory, _) in memories.items():
        with daemon({**ANSWERS, "memory": memory}) as (address, _):
            code, out, _ = run(("incidents",), address, capsys, str(state))
        assert code == Exit.FINE, (name, out)
        totals[name] = json.loads(out)["result"]["total"]
    assert totals == {name: total for name, (_, total) in memories.items()}
    code, out, _ = run(("incidents",), "127.0.0.1:1", capsys, str(state))
    assert (code, json.loads(out)["result"]["total"]) == (Exit.FINE, 0), "without a daemon"


def test_people_read_each_loop_as_one_row_and_of_changes_the_images_first(capsys: pytest.CaptureFixture[str]) -> None:
    def row(at: str, kind: str, text: str) -> dict[str, object]:
        return {"at": at, "kind": kind, "container": "web", "service": "web", "project": "shop", "text": text,
                "data": {"exit_code": 1} if kind == "crash" else {}}  # fmt: skip

    crashes = [row(f"2026-01-01T21:{minute:02}:00Z", "crash", "crashed, exit code 1") for minute in range(43)]
    rows = [*reversed(crashes), row("2026-01-01T09:00:00Z", "image_change", "another image: web:2")]
    with daemon({**ANSWERS, "get_history": {**WINDOW, "total": len(rows), "entries": rows}}) as (address, asked):
        where = ("--docker.host", NO_ENGINE, "--web.listen-address", address, "--state.path", "none")
        assert main(["changes", "--since", "yesterday", *where], {}) == Exit.FINE
        shown = capsys.readouterr().out
        code, out, _ = run(("changes", "--since", "yesterday"), address, capsys)
    assert shown.index("another image: web:2") < shown.index("crashed 43 times, 21:00 to 21:42 UTC, exit code 1")
    assert '"since": "2' in asked[0]
    assert (code, len(json.loads(out)["result"]["entries"])) == (Exit.FINE, 44), "JSON is complete"
