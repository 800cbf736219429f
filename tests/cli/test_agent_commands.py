"""Promise: tools are listed for every client, what a model wrote is run, --select chooses of every answer in JSON."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bcon_exporter.agents import time_limits
from bcon_exporter.agents.schemas import describe_tools
from bcon_exporter.cli import main
from bcon_exporter.cli.commands import COMMANDS, TOOL_FORMATS
from bcon_exporter.cli.parsing import make_parser
from bcon_exporter.tools import TOOLS
from bcon_exporter.tools.replay import write_snapshot
from tests.factories import container, exited, logs, snapshot

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command with an empty environment; returns exit code, output and error output."""

    def call(*words: str) -> tuple[int, str, str]:
        code = main(words, {})
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def host(tmp_path: Path) -> str:
    """A snapshot of a host with a container that failed; its log has what ends a block."""
    facts = snapshot(container(), exited(3, name="job", logs=logs("panic: ```no config```")))
    write_snapshot(tmp_path / "host.json", facts)
    return str(tmp_path / "host.json")


def test_tools_are_listed_for_people(run: Run) -> None:
    code, out, _ = run("tools")
    assert code == 0
    rows = [line.split(maxsplit=2) for line in out.splitlines()]
    assert rows == [[tool.name, tool.toolset, tool.stage.add_to(tool.summary)] for tool in TOOLS]


def test_tools_are_listed_as_the_api_lists_them(run: Run) -> None:
    listed = json.loads(run("tools", "--format", "json")[1])["result"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in TOOLS]
    assert set(listed[0]) == {"name", "summary", "stage", "input_schema", "output_schema"}
    core = json.loads(run("tools", "--toolsets", "core", "--select", "[].name")[1])["result"]
    assert core == [tool.name for tool in TOOLS if tool.toolset == "core"]


@pytest.mark.parametrize("form", TOOL_FORMATS)
def test_tools_are_listed_in_a_clients_form_alone(run: Run, form: str) -> None:
    assert json.loads(run("tools", "--format", form)[1]) == describe_tools(form, ["core"])
    both = run("tools", "--format", form, "--toolsets", "core,ops")[1]
    assert json.loads(both) == describe_tools(form, ["core", "ops"])


def test_the_strict_list_is_openais_alone(run: Run) -> None:
    strict = run("tools", "--format", "openai", "--strict")[1]
    assert json.loads(strict) == describe_tools("openai", ["core"], strict=True)
    for words in (["--strict"], ["--strict", "--format", "mcp"], ["--toolsets", "cores"]):
        code, out, err = run("tools", *words)
        assert (code, out, err.count("\n")) == (2, "", 1)


def transcript(*bodies: str) -> str:
    return "".join(f"I call:\n```tool_call\n{body}\n```\n" for body in bodies)


def results_in(out: str) -> list[dict[str, Any]]:
    """Return what stands in the blocks of an output, which holds nothing else."""
    results = []
    lines = iter(out.splitlines())
    for line in lines:
        marks = line.removesuffix("tool_result")
        assert set(marks) == {"`"}
        results.append(json.loads(next(lines)))
        assert next(lines) == marks
    return results


def test_the_calls_of_a_transcript_are_answered_in_their_order(run: Run, host: str, tmp_path: Path) -> None:
    written = transcript(
        '{"tool": "get_container_logs", "arguments": {"container_id": "job"}}',
        '{"tool": "diagnose_container", "arguments": {"container_id": "api", "log_tail": null}}',
    )
    (tmp_path / "said.md").write_text(written)
    code, out, err = run("run-tool-calls", str(tmp_path / "said.md"), "--from-snapshot", host)
    assert (code, err) == (0, "")
    logs_of_job, diagnosis = results_in(out)
    assert "```no config```" in json.dumps(logs_of_job)
    assert "api" in json.dumps(diagnosis)


def test_a_call_that_fails_is_told_in_its_place_and_the_others_run(
    run: Run, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = transcript(
        "{broken",
        '{"tool": "diagnose_al"}',
        '{"tool": "get_container_info", "arguments": {"container_id": "nobody"}}',
        '{"tool": "get_container_info", "arguments": {"container": "api"}}',
        '{"tool": "health_check"}',
    )
    give_input(monkeypatch, f"````\n{transcript('{}')}````\n{written}")
    code, out, err = run("run-tool-calls", "--from-snapshot", host)
    assert code == 1
    assert err == "bcon-exporter: line 3: a tool_call within another block is quoted, and not run\n"
    *failed, last = results_in(out)
    said = [json.dumps(result) for result in failed]
    assert "not JSON" in said[0]
    assert "did you mean diagnose_all?" in said[1]
    assert "nobody" in said[2]
    assert "unknown field; did you mean container_id?" in said[3]
    assert "healthy" in json.dumps(last)


def test_a_watch_is_waited_for_as_long_as_it_is_to_take(run: Run, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    def run_within(_: object, seconds: float, call: Callable[[], Any]) -> Any:
        waited.append(seconds)
        return call()

    monkeypatch.setattr(time_limits, "run_within", run_within)
    words = {"task": "watch", "container": "api", "for": "10m"}
    give_input(monkeypatch, transcript(json.dumps({"tool": "schedule_task", "arguments": words})))
    run("run-tool-calls", "--from-snapshot", host)
    assert waited == [630]


def test_a_twenty_first_call_is_told_and_not_run(run: Run, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    give_input(monkeypatch, transcript(*['{"tool": "health_check"}'] * 21))
    code, out, _ = run("run-tool-calls", "-", "--from-snapshot", host)
    assert code == 1
    assert ["only the first 20 are run" in json.dumps(result) for result in results_in(out)] == [False] * 20 + [True]


@pytest.mark.parametrize(
    ("written", "said"), [("nothing to run", "there is no tool_call block"), ("x" * 65_537, "longer than 64 KiB")]
)
def test_a_text_without_calls_or_too_long_is_refused(
    run: Run, host: str, monkeypatch: pytest.MonkeyPatch, written: str, said: str
) -> None:
    give_input(monkeypatch, written)
    code, out, err = run("run-tool-calls", "--from-snapshot", host)
    assert (code, out) == (2, "")
    assert said in err


def test_a_file_that_cannot_be_read_is_named(run: Run, host: str) -> None:
    code, _, err = run("run-tool-calls", "/nonexistent", "--from-snapshot", host)
    assert (code, "/nonexistent cannot be read: No such file" in err) == (2, True)


def give_input(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (["list", "--all", "--select", "[].name"], ["api", "job"]),
        (["diagnose", "--select=summaries[?status!='healthy'].container_name"], ["job"]),
        (["diagnose", "api", "--format", "json", "--select", "status"], "healthy"),
        (["health", "--select", "nothing"], None),
        (["call", "list_containers", "--select", "length(@)"], 1),
        (["logs", "job", "--select", "entries[-1].message"], "panic: ```no config```"),
    ],
)
def test_select_chooses_of_a_tools_answer_and_prints_json(
    run: Run, host: str, words: list[str], chosen: object
) -> None:
    _, out, err = run(*words, "--from-snapshot", host)
    assert json.loads(out) == {"result": chosen}
    assert err == ""


def test_select_leaves_the_exit_code_as_it_is(run: Run, host: str) -> None:
    assert run("diagnose", "--select", "status", "--from-snapshot", host)[0] == 1


def test_select_chooses_of_what_needs_no_engine(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("panic: no config\n")
    assert json.loads(run("analyze-log", str(tmp_path / "log"), "--select", "keys(@) | length(@) > `0`")[1]) is True
    assert "python_version" not in run("version", "--select", "version")[1]
    assert json.loads(run("check-config", "--select", "ok")[1]) == {"result": True}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["health", "--select", "a.[b"], "at character 5"),
        (["health", "--select", "nofunction(@)"], "there is no function nofunction()"),
        (["health", "--format", "table", "--select", "a"], "--select and --format table exclude each other"),
        (["logs", "api", "--follow", "--select", "a"], "leave --select out"),
    ],
)
def test_a_wrong_expression_ends_with_2(run: Run, host: str, words: list[str], said: str) -> None:
    code, _, err = run(*words, "--from-snapshot", host)
    assert (code, err.count("\n")) == (2, 1)
    assert said in err


def test_an_error_of_the_tool_is_told_whole(run: Run, host: str) -> None:
    code, out, _ = run("info", "nobody", "--select", "name", "--from-snapshot", host)
    assert code == 4
    assert json.loads(out)["error"]["code"] == "container_not_found"


def test_every_command_that_prints_json_selects() -> None:
    for command in COMMANDS:
        text = make_parser(command).format_help()
        own = text.partition("\nDaemon")[0]
        assert ("--select" in own) is ("json" in own.partition("--format")[2].partition("}")[0]), command.name
