"""Promise: every command prints for people, scripts and chats, and its exit code says what happened."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bcon_exporter.cli import main
from bcon_exporter.cli.commands import COMMANDS
from bcon_exporter.cli.exits import Exit, exit_of_error
from bcon_exporter.cli.parsing import Command
from bcon_exporter.errors import DeadlineExceededError, PermissionDeniedError
from bcon_exporter.model.container_facts import EngineFacts, HostSnapshot
from bcon_exporter.model.desired import DesiredProject, DesiredService
from bcon_exporter.tools.replay import read_snapshot, write_snapshot
from tests.factories import NOON, compose, container, exited, logs, snapshot, usage
from tests.table_rows import table

SECRET = "hunter2-very-secret"
ENGINE = EngineFacts(name="h", server_version="20.10", api_version="1.41", memory_bytes=2**30)
SHOP = DesiredProject(
    name="shop",
    config_files=("/srv/shop/compose.yaml",),
    resolved_at=NOON,
    services=(DesiredService(name="api", image="app:1"), DesiredService(name="db", image="db:1")),
)
OWN = compose("api", config_hash="abc")
BROKEN = exited(3, name="job", logs=logs("panic: no config"))
BUSY = container(name="busy", usage=usage(cpu_ratio=0.99))

Run = Callable[..., tuple[int, str, str]]
Save = Callable[[HostSnapshot], str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command with an empty environment; returns exit code, output and error output."""

    def call(*words: str, environ: dict[str, str] | None = None) -> tuple[int, str, str]:
        code = main(words, environ or {})
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def save(tmp_path: Path) -> Callable[[HostSnapshot], str]:
    """Write a snapshot and return the path of its file."""

    def write(facts: HostSnapshot) -> str:
        write_snapshot(tmp_path / "host.json", facts)
        return str(tmp_path / "host.json")

    return write


@pytest.fixture
def healthy(save: Callable[[HostSnapshot], str]) -> str:
    return save(snapshot(container(compose=OWN), engine=ENGINE))


@pytest.fixture
def ailing(save: Callable[[HostSnapshot], str]) -> str:
    api = container(compose=OWN, logs=logs("GET / 200"))
    return save(snapshot(api, BROKEN, BUSY, engine=ENGINE, desired=(SHOP,)))


def test_a_snapshot_for_a_report_holds_little_and_says_what(run: Run, ailing: str, tmp_path: Path) -> None:
    code, out, err = run("snapshot", "--for-report", "job", "--from-snapshot", ailing)

    assert (code, [one["name"] for one in json.loads(out)["containers"]]) == (0, ["job"])
    assert err.startswith("bcon-exporter: 1 of 3 containers, ")
    assert "about job. The diagnosis says the same as with the whole host at hand.\n" in err
    assert err.endswith(
        "bcon-exporter: All else is as it was: names, images, addresses, mounts, log lines. Read it before "
        "you publish it.\n"
    )
    (tmp_path / "report.json").write_text(out)
    told = [run("diagnose", "job", "--from-snapshot", file)[1] for file in (ailing, str(tmp_path / "report.json"))]
    assert told[0] == told[1]


def test_a_snapshot_for_a_report_is_about_all_that_ails_where_nothing_is_named(run: Run, ailing: str) -> None:
    out = run("snapshot", "--from-snapshot", ailing, "--for-report")[1]
    assert [one["name"] for one in json.loads(out)["containers"]] == ["job", "busy"]


def test_a_snapshot_for_a_report_needs_a_name_where_nothing_ails(run: Run, healthy: str) -> None:
    code, out, err = run("snapshot", "--from-snapshot", healthy, "--for-report")
    assert (code, out) == (2, "")
    assert "name the container or project that the report is about" in err


def test_diagnose_puts_the_worst_first_and_names_the_healthy(run: Run, ailing: str) -> None:
    code, out, err = run("diagnose", "--from-snapshot", ailing)
    assert code == 1
    assert err == ""
    lines = out.splitlines()
    assert lines[0].startswith("3 containers")
    assert out.index("job") < out.index("busy") < out.index("HEALTHY")
    assert lines[-1].split() == ["HEALTHY", "api"]
    assert not any(line != line.rstrip() for line in lines)


@pytest.mark.parametrize(("fail_on", "code"), [("warning", 1), ("error", 1), ("critical", 0), ("never", 0)])
def test_findings_at_or_above_fail_on_exit_with_1(run: Run, ailing: str, fail_on: str, code: int) -> None:
    assert run("diagnose", "--from-snapshot", ailing, "--fail-on", fail_on)[0] == code


def test_a_warning_alone_exits_with_0_unless_asked(run: Run, ailing: str) -> None:
    assert run("diagnose", "busy", "--from-snapshot", ailing)[0] == 0
    assert run("diagnose", "busy", "--from-snapshot", ailing, "--fail-on", "warning")[0] == 1


def test_a_healthy_host_exits_with_0(run: Run, healthy: str) -> None:
    assert run("diagnose", "--from-snapshot", healthy)[0] == 0


def test_drift_exits_with_1_for_any_and_with_4_for_an_unknown_one(
    run: Run, save: Callable[[HostSnapshot], str]
) -> None:
    api = container(compose=OWN)
    for facts, code in (
        (snapshot(api, desired=(SHOP,)), 1),
        (snapshot(api, desired=()), 4),
        (snapshot(container(), desired=()), 0),
    ):
        assert run("drift", "--from-snapshot", save(facts))[0] == code


def test_drift_shows_each_service(run: Run, ailing: str) -> None:
    code, out, _ = run("drift", "--from-snapshot", ailing)
    assert code == 1
    assert "missing_service" in out
    assert out.splitlines()[-1] == "1 running container in no Compose file: busy"


def test_drift_of_one_project_shows_that_one_alone(run: Run, save: Callable[[HostSnapshot], str]) -> None:
    blog = DesiredProject(name="blog", config_files=("/srv/blog/compose.yaml",), resolved_at=NOON, services=())
    file = save(snapshot(container(compose=OWN), BUSY, desired=(SHOP, blog)))
    code, out, _ = run("drift", "-p", "blog", "--from-snapshot", file, "--format", "json")
    assert (code, [one["project_name"] for one in json.loads(out)["result"]["reports"]]) == (0, ["blog"])
    assert run("drift", "-p", "shop", "--from-snapshot", file)[0] == 1
    code, _, err = run("drift", "-p", "shpo", "--from-snapshot", file)
    assert code == 4
    assert "did you mean shop?" in err
    code, _, err = run("drift", "-p", "NOT A NAME", "--from-snapshot", file)
    assert code == 2
    assert "project_name" in err


def test_what_would_be_ignored_is_refused(run: Run, ailing: str) -> None:
    for words, said in (
        (["list", "-f", "label=a", "-f", "label=b"], "--filter label: give each key once"),
        (["diagnose", "--no-logs"], "--no-logs is for one container: name it"),
        (["diagnose", "--log-tail", "many"], "--log-tail is for one container: name it"),
    ):
        code, _, err = run(*words, "--from-snapshot", ailing)
        assert code == 2
        assert said in err


def test_json_is_the_envelope_and_nothing_else(run: Run, ailing: str) -> None:
    for words in (
        ["diagnose"],
        ["diagnose", "job"],
        ["drift"],
        ["list"],
        ["stats"],
        ["health"],
        ["call", "get_cost_report"],
        ["history"],
        ["changes"],
        ["digest"],
        ["disk"],
        ["deployments"],
        ["untracked"],
    ):
        _, out, err = run(*words, "--from-snapshot", ailing, "--format", "json")
        assert set(json.loads(out)) == {"result"}
        assert err == ""


@table(
    "words",
    [
        ["diagnose"],
        ["diagnose", "--all"],
        ["diagnose", "api"],
        ["drift"],
        ["drift", "/srv/shop/compose.yaml"],
        ["list"],
        ["list", "--all", "--filter", "project=shop"],
        ["list", "--filter", "name=nothing-like-it"],
        ["info", "job"],
        ["stats"],
        ["stats", "api"],
        ["logs", "api", "--tail", "5", "--since", "1h"],
        ["explain", "job", "panic"],
        ["explain", "job", "no such words"],
        ["untracked"],
        ["untracked", "/srv/shop/compose.yaml"],
        ["health"],
        ["call", "get_cost_report", '{"period": "week"}'],
        ["history", "web", "--since", "2h", "--kind", "crash", "--grep", "exit code", "--limit", "5"],
        ["changes", "web", "--since", "2h", "--limit", "5"],
        ["digest", "--since", "2d"],
        ["disk", "--limit", "3"],
    ],
    shared=["run", "ailing"],
)
@table("form", ["table", "markdown", "json"])
def test_every_tool_command_prints_every_format(run: Run, ailing: str, words: list[str], form: str) -> None:
    code, out, err = run(*words, "--from-snapshot", ailing, "--format", form)
    assert code in (0, 1)
    assert out.endswith("\n")
    assert err == ""
    assert "\x1b" not in out


def test_an_error_is_one_line_on_standard_error(run: Run, ailing: str) -> None:
    code, out, err = run("info", "jbo", "--from-snapshot", ailing)
    assert (code, out) == (4, "")
    assert err == "bcon-exporter: no container is named 'jbo', and no id begins so. Did you mean job?\n"


def test_an_error_in_json_is_the_envelope_too(run: Run, ailing: str) -> None:
    code, out, _ = run("info", "jbo", "--from-snapshot", ailing, "--format=json")
    assert code == 4
    assert json.loads(out)["error"]["code"] == "container_not_found"


@table(
    "words",
    [
        ["call", "health_check", "nojson"],
        ["call", "health_check", "[]"],
        ["call", "health_check", "--from-snapshot", "/nonexistent"],
        ["call", "health_check", "{}", "extra"],
        ["call", "health_check", "--fail-on", "nothing"],
        ["--docker.host", "nowhere", "call", "health_check"],
        ["analyze-log", "/nonexistent", "--format", "json"],
        ["list", "--format", "table", "--al", "--format", "json"],
    ],
    shared=["run"],
)
def test_a_command_that_answers_in_json_fails_in_json(run: Run, words: list[str]) -> None:
    """Whatever is wrong: a program that reads the envelope finds one."""
    code, out, err = run(*words)
    assert (code, json.loads(out)["error"]["code"]) == (2, "invalid_input")
    assert err.count("\n") == 1


def test_a_command_told_to_print_for_people_fails_without_an_envelope(run: Run) -> None:
    for words in (["call", "health_check", "nojson"], ["analyze-log", "/nonexistent"]):
        assert run(*words, "--format", "table")[:2] == run(*words, "--format=markdown")[:2] == (2, "")
    assert run("list", "--al")[:2] == run("diagnos")[:2] == (2, "")


@table(
    ("words", "code", "said"),
    [
        (["diagnos"], 2, "there is no command 'diagnos'; did you mean diagnose?"),
        (["bogus"], 2, "there is no command 'bogus'; see bcon-exporter --help"),
        (["cost"], 2, "there is no command 'cost' any more; it is `bcon-exporter call get_cost_report`"),
        (["status"], 2, "there is no command 'status'; did you mean diagnose?"),
        (["ps", "-a"], 2, "there is no command 'ps'; did you mean list?"),
        (["mute", "shop", "1h"], 2, "there is no command 'mute'; did you mean quiet?"),
        (["unmute", "shop"], 2, "there is no command 'unmute'; did you mean unquiet?"),
        (["history", "--kind", "crsh"], 2, "--kind: 'crsh' is none of start, stop, kill, crash, oom, pause,"),
        (["history", "--kind", "crsh"], 2, "gap; did you mean crash?; see bcon-exporter history --help"),
        (["list", "--format", "jsn"], 2, "'jsn' is none of table, json, markdown, agent; did you mean json?"),
        (["history", "--since", "yesteday", "--state.path", "none"], 2, "known: today, yesterday, last night"),
        (["verify", "--since", "tea time"], 2, "known: today, yesterday, last night"),
        (["list", "--al"], 2, "unknown flag --al; did you mean --all?"),
        (["diagnose", "--fail-onn", "error"], 2, "unknown flag --fail-onn; did you mean --fail-on?"),
        (["diagnose", "--scan.deadlin=5s"], 2, "unknown flag --scan.deadlin; did you mean --scan.deadline?"),
        (["info", "a", "b"], 2, "unexpected argument 'b'"),
        (["info"], 2, "CONTAINER"),
        (["list", "--format", "xml"], 2, "--format"),
        (["serve", "--web.listen-address", "nowhere"], 2, "--web.listen-address: is not an address"),
        (["list", "--log.level", SECRET], 2, "--log.level: must be 'debug'"),
        (["list", "--from-snapshot", "/nonexistent"], 2, "cannot be read"),
        (["call", "diagnose_all", "[1"], 2, "not JSON"),
        (["diagnose", "--watch", "web"], 2, "--watch"),
        ([], 2, "no command given"),
    ],
    shared=["run"],
)
def test_a_usage_mistake_exits_with_2_and_names_it(run: Run, words: list[str], code: int, said: str) -> None:
    found, _, err = run(*words)
    assert found == code
    assert said in err
    assert SECRET not in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["diagnose", "--watch", "web"], "; put the container before --watch"),
        (["drift", "--watch", "compose.yaml"], "; put the Compose file before --watch"),
        (["diagnose", "web", "--watch", "abc"], ""),
        (["list", "--watch", "abc"], ""),
        (["health", "--watch", "abc"], ""),
    ],
)
def test_a_watch_without_a_duration_is_told_what_it_may_have_swallowed(run: Run, words: list[str], hint: str) -> None:
    code, _, err = run(*words)
    assert code == 2
    assert err.endswith(f'for example "30s" or "1m30s"{hint}\n')


def test_bad_values_of_a_command_are_named_by_field(run: Run, ailing: str) -> None:
    for words, field in (
        (["logs", "api", "--tail", "-1"], "tail"),
        (["logs", "api", "--since", "9999-12-31T23:59:59-23:00"], "since: must lie between"),
        (["logs", "api", "--until", "0001-01-01T00:00:00+23:00"], "until: must lie between"),
        (["logs", "api", "--since", "999999999d"], "since: must be a time"),
        (["logs", "../api"], "container_id: must be a name, an id or the beginning of an id"),
        (["diagnose", "api-*"], "and no pattern such as web-*"),
        (["explain", "api", "x" * 300], "error_pattern"),
        (["list", "--filter", "nme=x"], "filters.nme"),
        (["drift", "/srv/shop/compose.yaml", "-p", "NOT A NAME"], "project_name"),
    ):
        code, _, err = run(*words, "--from-snapshot", ailing)
        assert code == 2
        assert field in err
        assert "[" not in err, "no regular expression"


def test_the_last_words_of_a_container_are_explained_without_a_pattern(run: Run, save: Save) -> None:
    talking = container(name="web", logs=logs("FATAL cannot bind to 0.0.0.0:80: address already in use", "INFO bye"))
    calm = container(name="db", logs=logs("INFO ready", "INFO checkpoint done"))
    host = save(snapshot(talking, calm, container(name="mute", logs=logs())))
    code, out, err = run("explain", "web", "--from-snapshot", host)
    assert (code, err) == (0, "")
    assert "cannot bind to 0.0.0.0:80" in out.splitlines()[0]
    assert "port" in out
    assert "checkpoint done" in run("explain", "db", "--from-snapshot", host)[1].splitlines()[0]
    code, _, err = run("explain", "mute", "--from-snapshot", host)
    assert (code, err) == (2, "bcon-exporter: mute has written nothing, so there are no last words to explain\n")


def test_an_empty_host_is_told_in_one_plain_line(run: Run, save: Save) -> None:
    code, out, _ = run("diagnose", "--from-snapshot", save(snapshot(engine=ENGINE)))
    assert (code, out) == (0, "This host has no containers.  2026-01-01 12:00:00 UTC\n")


def test_help_is_a_command_too(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("help") == run("--help")
    for words in (("help", "diagnose"), ("diagnose", "--help")):
        with pytest.raises(SystemExit) as left:
            main(words, {})
        assert left.value.code == 0
        assert capsys.readouterr().out.startswith("usage: bcon-exporter diagnose")


def test_an_unreachable_engine_exits_with_3(run: Run, tmp_path: Path) -> None:
    code, _, err = run("list", "--docker.host", f"unix://{tmp_path}/none.sock", "--state.path", "none")
    assert code == 3
    assert err.count("\n") == 1


def test_a_hung_engine_exits_with_3_and_a_slow_compose_with_4() -> None:
    hung = DeadlineExceededError("listing: did not answer in time", {"endpoint": "unix:///run/docker.sock"})
    slow = DeadlineExceededError("Compose did not resolve it in time", {"file": "/srv/compose.yaml"})
    assert (exit_of_error(hung), exit_of_error(slow)) == (Exit.NO_ENGINE, Exit.FAILED)


def test_a_forbidden_socket_exits_with_3_and_a_forbidden_file_with_4() -> None:
    socket = PermissionDeniedError("not allowed", {"endpoint": "unix:///run/docker.sock"})
    file = PermissionDeniedError("not allowed", {"file": "/srv/compose.yaml"})
    assert (exit_of_error(socket), exit_of_error(file)) == (Exit.NO_ENGINE, Exit.FAILED)


def test_an_unknown_variable_stops_every_command(run: Run, healthy: str) -> None:
    code, _, err = run("list", "--from-snapshot", healthy, environ={"BCON_LOG_LEVEL": SECRET})
    assert code == 2
    assert "BCON_LOG__LEVEL" in err
    assert SECRET not in err


def test_flags_stand_before_or_after_the_command(run: Run, healthy: str) -> None:
    for words in (
        ["--from-snapshot", healthy, "list"],
        ["list", "--from-snapshot", healthy],
        ["--log.level=debug", "list", "--from-snapshot", healthy],
        ["--all", "list", "--from-snapshot", healthy],
    ):
        assert run(*words)[0] == 0


def test_call_prints_the_envelope_of_the_api(run: Run, ailing: str) -> None:
    code, out, _ = run("call", "get_container_info", '{"container_id": "api"}', "--from-snapshot", ailing)
    assert (code, json.loads(out)["result"]["name"]) == (0, "api")


def test_call_takes_values_only_as_the_schema_says_and_commands_take_words(run: Run, ailing: str) -> None:
    payload = '{"container_id": "api", "tail": "5"}'
    code, _, err = run("call", "get_container_logs", payload, "--from-snapshot", ailing)
    assert code == 2
    assert "tail: must be a whole number" in err
    assert run("logs", "api", "--tail", "5", "--from-snapshot", ailing)[0] == 0


def test_call_exits_as_the_commands_do(run: Run, ailing: str) -> None:
    drift = ("detect_drift", '{"compose_file": "/srv/shop/compose.yaml"}')
    for words, code in (
        (("diagnose_all",), 1),
        (("diagnose_all", "--fail-on", "critical"), 0),
        (("diagnose_all", "--fail-on", "never"), 0),
        (("diagnose_container", '{"container_id": "job"}'), 1),
        (("diagnose_container", '{"container_id": "busy"}', "--fail-on", "warning"), 1),
        (drift, 1),
        (("list_containers",), 0),
        (("get_container_info", '{"container_id": "jbo"}'), 4),
    ):
        assert run("call", *words, "--from-snapshot", ailing)[0] == code, words


@pytest.mark.parametrize("tool", ["diagnose_all", "health_check"])
def test_call_exits_with_0_where_all_is_well(run: Run, healthy: str, tool: str) -> None:
    assert run("call", tool, "--from-snapshot", healthy)[0] == 0


def test_call_exits_with_3_where_the_engine_is_not_reached(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("call", "health_check", "--docker.host", f"unix://{tmp_path}/none.sock", "--state.path", "none")
    assert (code, json.loads(out)["result"]["status"]) == (3, "unhealthy")


def test_snapshot_writes_what_the_other_commands_read(run: Run, ailing: str, tmp_path: Path) -> None:
    file = tmp_path / "again.json"
    assert run("snapshot", "--from-snapshot", ailing, "--output", str(file))[0] == 0
    assert read_snapshot(file) == read_snapshot(Path(ailing))
    assert file.stat().st_mode & 0o777 == 0o600
    _, out, _ = run("snapshot", "--from-snapshot", ailing)
    assert HostSnapshot.model_validate_json(out) == read_snapshot(file)


def test_checking_the_settings_says_ok_or_the_line(run: Run, tmp_path: Path) -> None:
    assert run("check-config")[:2] == (0, "OK\n")
    assert run("--config.check")[:2] == (0, "OK\n")
    assert run("serve", "--config.check")[:2] == (0, "OK\n")
    file = tmp_path / "bcon.yml"
    file.write_text("scan: {deadlin: 5s}\n")
    code, out, err = run("check-config", "--config.file", str(file))
    assert (code, out) == (2, "")
    assert err == f"bcon-exporter: {file}:1: unknown setting scan.deadlin; did you mean scan.deadline?\n"


def test_checking_the_settings_warns_of_paths_that_lead_nowhere(run: Run, tmp_path: Path) -> None:
    (tmp_path / "compose.yaml").write_text("services: {}")
    for flag, value, said in (
        ("--compose.roots", f"{tmp_path}/none", f"compose.roots: {tmp_path}/none does not exist here"),
        ("--compose.roots", f'["{tmp_path}"]', "looks like JSON or has quotes; write plain paths"),
        ("--compose.roots", f"{tmp_path}/compose.yaml", "is a file; name the folder that holds it"),
        ("--compose.files", f"{tmp_path}/none.yaml", f"compose.files: {tmp_path}/none.yaml does not exist here"),
        ("--state.path", str(tmp_path), f"state.path: {tmp_path} is a folder; name a file in it"),
    ):
        code, out, err = run("check-config", f"{flag}={value}")
        assert (code, out) == (0, "OK\n")
        assert err.startswith("bcon-exporter: warning: ")
        assert said in err
    assert run("check-config", f"--compose.roots={tmp_path}", f"--state.path={tmp_path}/state.db")[2] == ""


def test_healthcheck_without_a_daemon_exits_with_1(run: Run) -> None:
    code, _, err = run("healthcheck", "--web.listen-address", "127.0.0.1:1")
    assert code == 1
    assert (
        err == "bcon-exporter: 127.0.0.1:1: nothing listens there; is `bcon-exporter serve` running at this address?\n"
    )


@table("command", [one for one in COMMANDS if one.group != "Daemon"], ids=lambda one: one.name)
def test_every_command_about_the_host_reads_a_snapshot(capsys: pytest.CaptureFixture[str], command: Command) -> None:
    if command.name in (
        "version",
        "analyze-log",
        "completion",
        "verify",
        "check",
        "tools",
    ):  # not about a host as it is
        return
    with pytest.raises(SystemExit):
        main([command.name, "--help"], {})
    text = capsys.readouterr().out
    assert "--from-snapshot" in text
    assert ("--watch" in text and "--format" in text) or command.name in (
        *("call", "snapshot", "run-tool-calls", "mcp", "flux", "scout"),
    )


def test_own_commands_answer_in_json_too(run: Run) -> None:
    assert json.loads(run("check-config", "--format", "json")[1]) == {"result": {"ok": True, "warnings": []}}
    assert "version" in json.loads(run("version", "--format", "json")[1])["result"]
    code, out, _ = run("healthcheck", "--web.listen-address", "127.0.0.1:1", "--format", "json")
    assert (code, json.loads(out)["result"]["healthy"]) == (1, False)


def test_logs_that_were_not_wanted_are_told_as_such(run: Run, ailing: str) -> None:
    out = run("diagnose", "api", "--no-logs", "--from-snapshot", ailing)[1]
    assert "log_error not judged: logs were not asked for" in out


def test_call_prints_for_people_when_asked(run: Run, ailing: str) -> None:
    words = ("call", "get_container_info", '{"container_id": "api"}', "--from-snapshot", ailing)
    assert run(*words, "--format", "table")[1].startswith("api\n")


def test_version_and_help_are_plain(run: Run) -> None:
    assert run("version")[1].startswith("bcon-exporter ")
    assert run("--version")[1] == run("version")[1]
    code, out, _ = run("--help")
    assert code == 0
    assert all(command.name in out for command in COMMANDS)


@table("command", COMMANDS, ids=lambda command: command.name)
def test_each_command_explains_itself(capsys: pytest.CaptureFixture[str], command: Command) -> None:
    name = command.name
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"], {})
    assert caught.value.code == 0
    assert f"usage: bcon-exporter {name}" in capsys.readouterr().out
