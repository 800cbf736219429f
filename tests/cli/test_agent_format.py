"""Promise: `--format agent` prints what AI agents read, in every command that runs a tool."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.cli import main
from bcon_exporter.tools.replay import write_snapshot
from tests.factories import compose, container, exited, logs, snapshot
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

HOST = snapshot(
    container(name="web", compose=compose("web"), logs=logs("hello")), exited(3, name="job", logs=logs("ERROR no"))
)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    write_snapshot(tmp_path / "host.json", HOST)

    def run(*words: str) -> tuple[int, Any, str]:
        code = main([*words, "--format", "agent", "--from-snapshot", str(tmp_path / "host.json")], {})
        captured = capsys.readouterr()
        return code, json.loads(captured.out), captured.err

    return run


@table(
    ("words", "key"),
    [
        (("diagnose",), "findings"),
        (("diagnose", "job"), "findings"),
        (("diagnose", "job", "web"), "findings"),
        (("drift",), "findings"),
        (("list", "--all"), "rows"),
        (("untracked",), "rows"),
        (("stats",), "rows"),
        (("logs", "web"), "untrusted"),
        (("info", "web"), "report"),
        (("history",), "rows"),
        (("incidents",), "rows"),
        (("digest",), "report"),
        (("disk",), "rows"),
        (("call", "diagnose_all", '{"limit": 1}'), "findings"),
    ],
    shared=["run"],
)
def test_a_command_prints_the_answer_for_agents(run: Any, words: tuple[str, ...], key: str) -> None:
    _, page, err = run(*words)
    assert (page["isError"], err) == (False, "")
    assert key in page


def test_the_exit_code_is_that_of_the_command(run: Any) -> None:
    assert run("diagnose")[0] == 1
    assert run("diagnose", "web")[0] == 0
    assert run("call", "diagnose_container", '{"container_id": "job"}')[0] == 1


def test_an_error_is_printed_for_agents_and_said_to_people(run: Any) -> None:
    code, page, err = run("diagnose", "jbo")
    assert (code, page["error"]["code"], page["isError"]) == (4, "INVALID_INPUT", True)
    assert err.startswith("bcon-exporter: no container is named 'jbo'")
    code, page, _ = run("call", "no_such_tool")
    assert (page["error"]["code"], page["isError"]) == ("INVALID_INPUT", True)
    code, page, _ = run("call", "diagnose_all", '{"limit": 1000}')
    assert page["error"]["message"] == "limit: must be less than or equal to 100"


def test_a_log_that_is_followed_has_no_end_to_tell_an_agent(run: Any) -> None:
    code, page, _ = run("logs", "web", "--follow")
    assert (code, page["error"]["message"]) == (2, "--follow and --format agent exclude each other")
