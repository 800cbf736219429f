"""Promise: analyze-log says what a file or standard input tells, in three forms, and needs no engine."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bcon_exporter.cli import analyze_log, main
from tests.table_rows import table

REFUSED = "ERROR dial tcp db:5432: connect: connection refused\n"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: str) -> tuple[int, str, str]:
        code = main(("analyze-log", *words), {})
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def refused(tmp_path: Path) -> str:
    (tmp_path / "api.log").write_text("INFO started\n" + REFUSED)
    return str(tmp_path / "api.log")


def test_it_prints_json_with_symptoms_categories_causes_suggestions_and_events(run: Run, refused: str) -> None:
    code, out, err = run(refused, "--format", "json")
    result = json.loads(out)
    assert (code, err) == (0, "")
    assert [(one["type"], one["severity"]) for one in result["symptoms"]] == [
        ("network_error", "error"),
        ("log_error", "error"),
    ]
    assert result["categories"] == ["network"]
    assert result["lines"] == 2
    assert result["causes"]
    assert result["suggestions"]
    assert result["events"][0]["line"] == 2


@pytest.mark.parametrize("words", [("--format", "json"), ("-", "--format", "json")])
def test_standard_input_is_read(run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(REFUSED.encode() + b"\xff")))
    assert json.loads(run(*words)[1])["categories"] == ["network"]


def test_people_and_chats_get_words(run: Run, refused: str) -> None:
    table, markdown = run(refused)[1], run(refused, "--format", "markdown")[1]
    assert table.splitlines()[0] == "2 log lines"
    assert "network_error" in table
    assert "connection refused" in table
    assert re.search(r"- error: .* `network_error`\n", markdown)


@pytest.mark.parametrize(("fail_on", "code"), [("never", 0), ("warning", 1), ("error", 1), ("critical", 0)])
def test_it_exits_with_1_for_symptoms_only_when_asked(run: Run, refused: str, fail_on: str, code: int) -> None:
    assert run(refused, "--fail-on", fail_on)[0] == code


def test_a_quiet_log_is_said_to_be_quiet(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.log").write_text("")
    code, out, _ = run(str(tmp_path / "empty.log"), "--format", "table", "--fail-on", "warning")
    assert (code, "Nothing that counts." in out) == (0, True)


def test_a_file_that_is_not_there_is_bad_input(run: Run, tmp_path: Path) -> None:
    code, _, err = run(str(tmp_path / "none.log"), "--format", "table")
    assert code == 2
    assert "cannot be read: No such file or directory" in err


class Pipe(io.BytesIO):
    """Bytes that come once, as through a pipe."""

    def seekable(self) -> bool:
        return False


@table("kind", [io.BytesIO, Pipe])
@table(
    ("max_bytes", "kept"), [(12, "one\ntwo\nfour"), (13, "one\ntwo\nfour"), (11, "two\nfour"), (8, "four"), (5, "four")]
)
def test_of_a_huge_log_the_newest_whole_lines_are_read(kind: type[io.BytesIO], max_bytes: int, kept: str) -> None:
    assert analyze_log.read_newest(kind(b"one\ntwo\nfour"), max_bytes).decode() == kept
