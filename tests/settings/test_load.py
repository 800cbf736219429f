"""Promise: flags win over variables, those over the file, that over defaults; every mistake is one line by its name."""

from argparse import ArgumentParser
from datetime import timedelta
from pathlib import Path

import pytest

from bcon_exporter.errors import SettingsError
from bcon_exporter.settings import Settings, add_setting_flags, env_name, list_settings, load_settings
from bcon_exporter.settings.load import ROOT_STATE_FILE, default_state_file
from bcon_exporter.settings.warnings import find_warnings
from tests.table_rows import table

SECRET = "hunter2-very-secret"


def load(*words: str, environ: dict[str, str] | None = None) -> Settings:
    """Load settings from flags and variables as a command does."""
    parser = ArgumentParser(allow_abbrev=False)
    read = add_setting_flags(parser)
    return load_settings(read(parser.parse_args(words)), environ or {})


def refuse(*words: str, environ: dict[str, str] | None = None) -> str:
    """Return the one line with which settings are refused."""
    with pytest.raises(SettingsError) as caught:
        load(*words, environ=environ)
    line: str = caught.value.message
    assert "\n" not in line
    return line


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "bcon.yml"


def test_defaults_are_the_documented_ones() -> None:
    settings = load()
    assert (str(settings.web.listen_address), settings.web.listen_address.is_loopback) == ("127.0.0.1:19877", True)
    assert settings.scan.diagnose_interval == timedelta(seconds=30)
    assert settings.scan.drift_interval == timedelta(seconds=60)
    assert settings.scan.deadline == timedelta(seconds=15)
    assert settings.state.retention == timedelta(days=32)
    assert (settings.log.level, settings.log.format) == ("info", "text")
    assert not settings.web.allow_insecure


def test_flags_win_over_variables_over_the_file_over_defaults(file: Path) -> None:
    file.write_text("scan:\n  diagnose-interval: 41s\n  drift-interval: 42s\n  deadline: 11s\nlog: {level: debug}\n")
    environ = {"BCON_SCAN__DRIFT_INTERVAL": "43s", "BCON_SCAN__DEADLINE": "12s", "BCON_CONFIG__FILE": str(file)}
    scan = load("--scan.deadline", "13s", environ=environ).scan
    seconds = [each.total_seconds() for each in (scan.diagnose_interval, scan.drift_interval, scan.deadline)]
    assert seconds == [41, 43, 13]


@table("dotted", list_settings())
def test_every_setting_has_flag_variable_and_help(dotted: str) -> None:
    parser = ArgumentParser(allow_abbrev=False)
    add_setting_flags(parser)
    assert f"--{dotted}" in parser.format_help()
    assert env_name(dotted).startswith("BCON_")
    assert list_settings()[dotted].description


def test_help_shows_no_python_types() -> None:
    parser = ArgumentParser(prog="x", allow_abbrev=False)
    add_setting_flags(parser)
    for word in ("timedelta", "tuple", "None", "str]", "Path", "()"):
        assert word not in parser.format_help()


def test_lists_come_by_comma_repetition_and_yaml(file: Path) -> None:
    assert load("--compose.roots", "/a,/b", "--compose.roots=/c").compose.roots == (Path("/a"), Path("/b"), Path("/c"))
    assert load(environ={"BCON_FILTER__EXCLUDE_NAMES": "a, b"}).filter.exclude_names == ("a", "b")
    file.write_text("compose:\n  roots: [/a, /b]\n  path-map: {/in: /out}\nmetrics: {container_labels: team}\n")
    settings = load("--config.file", str(file))
    assert settings.compose.roots == (Path("/a"), Path("/b"))
    assert settings.compose.path_map == (("/in", "/out"),)
    assert settings.metrics.container_labels == ("team",)


def test_thresholds_are_settings() -> None:
    thresholds = load("--thresholds.cpu-ratio", "0.5", environ={"BCON_THRESHOLDS__RESTART_COUNT": "7"}).thresholds
    assert (thresholds.cpu_ratio, thresholds.restart_count) == (0.5, 7)


def test_an_empty_variable_or_yaml_value_counts_as_unset(file: Path) -> None:
    file.write_text("scan:\n  deadline:\nweb:\n")
    assert load("--config.file", str(file), environ={"BCON_DOCKER__HOST": ""}).docker.host is None


def test_service_links_of_orchestrators_are_left_alone() -> None:
    load(environ={"BCON_EXPORTER_PORT": "tcp://10.0.0.1:19877", "BCON_EXPORTER_SERVICE_HOST": "10.0.0.1"})


@pytest.mark.parametrize(
    ("variable", "near"),
    [
        ("BCON_SCAN_DIAGNOSE_INTERVAL", "BCON_SCAN__DIAGNOSE_INTERVAL"),
        ("BCON_SCAN__DIAGNOSE_INTERVALL", "BCON_SCAN__DIAGNOSE_INTERVAL"),
        ("BCON_DOCKER_HOST", "BCON_DOCKER__HOST"),
    ],
)
def test_an_unknown_variable_is_refused_with_a_near_match(variable: str, near: str) -> None:
    line = refuse(environ={variable: SECRET})
    assert variable in line
    assert f"did you mean {near}?" in line
    assert SECRET not in line


@table(
    ("text", "line_number", "said"),
    [
        ("scan:\n  diagnose-intervall: 5s\n", 2, "unknown setting scan.diagnose-intervall; did you mean"),
        ("sacn: {deadline: 5s}\n", 1, "unknown setting sacn"),
        ("scan: 5\n", 1, "scan is a group of settings"),
        ("- a\n", 1, "mapping"),
        ("a: b: c\n", 1, "not valid YAML"),
        ("log:\n  level: debug\n  level: info\n", 3, "given twice"),
        ("config: {file: x}\n", 1, "unknown setting config"),
        ("log:\n  level: {a: [b]}\n", 2, "deeper"),
        ("scan:\n  deadline: 15\n", 2, "with its unit"),
        ("docker: {host: 5}\n", 1, "docker.host: is not a text"),
        ("web: {allow-insecure: maybe}\n", 1, "web.allow-insecure: must be true or false"),
        ("scan: {deadline: !!python/object:os.system 5}\n", 1, "cannot read"),
        ("&a scan: *a\n", 1, ""),
        ("\x00", 1, "not valid YAML"),
        (f"scan: {'[' * 1_000}\n", 1, "nested too deeply"),
        ("scan:\n  deadline: 2026-13-45\n", 2, "has a value that YAML cannot read"),
        ("scan:\n  deadline: !!bool x\n", 2, "has a value that YAML cannot read"),
        (f"scan:\n  deadline: {'9' * 5_000}\n", 2, "has a value that YAML cannot read"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, line_number: int, said: str) -> None:
    file = tmp_path / "bcon.yml"
    file.write_text(text)
    line = refuse("--config.file", str(file))
    assert line.startswith(f"{file}:{line_number}: ")
    assert said in line


@pytest.mark.parametrize("path", ["/nonexistent/bcon.yml", "/tmp", "/dev/zero"])
def test_an_unreadable_file_is_refused_by_what_named_it(path: str) -> None:
    assert refuse("--config.file", path).startswith(f"--config.file: {path} ")
    assert refuse(environ={"BCON_CONFIG__FILE": path}).startswith(f"BCON_CONFIG__FILE: {path} ")


def test_a_setting_tells_where_it_was_written(file: Path) -> None:
    file.write_text("log: {level: debug}\ndocker:\n  host: unix:///a\n")
    environ = {"BCON_CONFIG__FILE": str(file)}
    assert load(environ=environ).origin_of("docker.host") == f"{file}:3: docker.host"
    environ["BCON_DOCKER__HOST"] = "unix:///b"
    assert load(environ=environ).origin_of("docker.host") == "BCON_DOCKER__HOST"
    assert load("--docker.host=unix:///c", environ=environ).origin_of("docker.host") == "--docker.host"
    assert load().origin_of("docker.host") == "--docker.host"


@pytest.mark.parametrize("variable", ["BCON_BOGUS", "BCON_X", "BCON_METERS"])
def test_a_variable_like_none_is_refused_without_a_guess(variable: str) -> None:
    assert "did you mean" not in refuse(environ={variable: "1"})


@table(
    ("words", "said"),
    [
        (["--scan.deadline", "15"], "--scan.deadline: is not a duration"),
        (["--scan.diagnose-interval", "500ms"], "between 1s and 1d"),
        (["--thresholds.cpu-ratio", "1.01"], "--thresholds.cpu-ratio: must be less than or equal to 1"),
        (["--thresholds.cpu-ratio", "nan"], "--thresholds.cpu-ratio"),
        (["--web.listen-address", "19877"], "--web.listen-address: is not an address"),
        (["--web.external-url", "ftp://x"], "--web.external-url: is not a web address"),
        (["--web.external-url", f"http://u:{SECRET}@x"], "without user name"),
        (["--log.level", SECRET], "--log.level: must be 'debug'"),
        (["--state.retention", "23h"], "at least 1d"),
        (["--compose.env-file", "/nonexistent"], "cannot be read: No such file"),
        (["--catalogue.directory", "/nonexistent"], "there is no directory"),
        (["--docker.host", ""], "--docker.host"),
    ],
)
def test_a_wrong_value_is_refused_by_its_flag(words: list[str], said: str) -> None:
    line = refuse(*words)
    assert said in line
    assert SECRET not in line


def test_a_deadline_longer_than_an_interval_contradicts_it() -> None:
    assert load("--scan.deadline", "30s").scan.deadline_seconds == 30
    assert "scan.diagnose-interval (30s)" in refuse("--scan.deadline", "31s")
    assert "scan.drift-interval (20s)" in refuse("--scan.deadline", "21s", "--scan.drift-interval", "20s")


def test_the_default_deadline_gives_way_to_a_short_interval() -> None:
    assert load("--scan.diagnose-interval", "5s").scan.deadline_seconds == 5


def test_two_listeners_at_one_address_contradict_each_other() -> None:
    assert "the same" in refuse("--api.listen-address", "127.0.0.1:19877")


def test_the_state_file_follows_the_xdg_folder() -> None:
    assert default_state_file({"XDG_STATE_HOME": "/s"}) == Path("/s/bcon-exporter/state.db")
    assert default_state_file({"HOME": "/h"}) in (ROOT_STATE_FILE, Path("/h/.local/state/bcon-exporter/state.db"))
    assert load(environ={"XDG_STATE_HOME": "/s"}).state.path == Path("/s/bcon-exporter/state.db")
    assert load("--state.path", "none").state.path is None


URL = "--alertmanager.url=http://am:9093/x/"


def test_alertmanagers_may_be_repeated_and_lose_their_last_slash() -> None:
    who = ("--alertmanager.job=docker", "--alertmanager.instance=h1")
    wanted = load(URL, "--alertmanager.url", "https://other", *who, "--alertmanager.labels=team=shop").alertmanager

    assert wanted.url == ("http://am:9093/x", "https://other")
    assert (wanted.job, wanted.instance, wanted.labels) == ("docker", "h1", (("team", "shop"),))


@pytest.mark.parametrize("given", [(), ("--alertmanager.job=docker",), ("--alertmanager.instance=h1",)])
def test_alerts_without_job_and_instance_are_refused(given: tuple[str, ...]) -> None:
    assert "alertmanager.job and alertmanager.instance" in refuse(URL, *given)


@table(
    ("word", "said"),
    [
        (f"--alertmanager.url=http://me:{SECRET}@am", "without user name"),
        ("--alertmanager.url=am:9093", "web address"),
        ("--alertmanager.url=http://am/?x=1", "query"),
        ("--alertmanager.url=http://am,http://am/", "twice"),
        ("--alertmanager.labels=severity=none", "alerts have already"),
        ("--alertmanager.labels=a-b=c", "Prometheus does not take"),
        ("--alertmanager.timeout=999ms", "between 1s and 1m"),
        ("--alertmanager.timeout=61s", "between 1s and 1m"),
    ],
)
def test_a_wrong_alertmanager_is_refused_without_its_value(word: str, said: str) -> None:
    line = refuse(word, "--alertmanager.job=j", "--alertmanager.instance=i")

    assert said in line
    assert line.startswith(word.partition("=")[0])
    assert SECRET not in line


def test_a_path_that_cannot_be_looked_at_is_doubted_and_no_defect(tmp_path: Path) -> None:
    beyond = tmp_path / ("x" * 300)  # no name can be so long; a folder that may not be entered raises alike
    doubts = find_warnings(load(f"--state.path={beyond}", f"--compose.roots={beyond}", f"--compose.files={beyond}"))

    assert doubts == (f"compose.roots: {beyond} does not exist here", f"compose.files: {beyond} does not exist here")


@table(
    ("words", "place"),
    [
        ((), None),
        (("--web.external-url", "https://b.example/ops/"), "https://b.example/ops/docs/runbooks/"),
        (("--alerts.runbooks-url", "https://w.example/x"), "https://w.example/x/"),
        (
            ("--alerts.runbooks-url", "https://w.example/x", "--web.external-url", "https://b.example"),
            "https://w.example/x/",
        ),
    ],
)
def test_runbooks_lie_where_one_said_else_at_the_exporter_if_it_is_known_how_it_is_reached(
    words: tuple[str, ...], place: str | None
) -> None:
    assert load(*words).runbooks_url == place
