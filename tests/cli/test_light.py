"""Promise: help, version and tab completion load next to nothing, and yet say what the real parser says."""

import subprocess
import sys
from pathlib import Path

import pytest

from bcon_exporter.cli import parsing
from bcon_exporter.cli.commands import COMMANDS
from bcon_exporter.cli.main import main
from bcon_exporter.cli.parsing import Command, make_parser
from bcon_exporter.cli.setting_flags import list_switches
from bcon_exporter.model.filter_keys import FILTER_KEYS
from bcon_exporter.model.tool_inputs import ListContainersInput
from bcon_exporter.settings import add_setting_flags, list_settings
from deploy.terminal_files import TABLE, render_table
from tests.table_rows import table

HEAVY = ("pydantic", "yaml", "re2", "rich", "docker", "asyncio", "sqlite3", "logging", "dataclasses")
if sys.version_info >= (3, 14):  # where argparse itself loads them, for its colours
    HEAVY = tuple(name for name in HEAVY if name != "dataclasses")
PROGRAM = """
import sys
from bcon_exporter.cli import main
try:
    main(sys.argv[1:], {})
finally:
    print("loaded:", *sorted(set(%r) & sys.modules.keys()), file=sys.stderr)
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    "words",
    [
        *(["version"], ["version", "--format", "json"], ["--version"], ["--help"], ["diagnose", "--help"]),
        *(["serve", "-h"], ["analyze-log", "--help"], ["--format", "json", "version"]),
    ],
    ids=" ".join,
)
def test_what_answers_at_once_loads_next_to_nothing(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM % (HEAVY,), *words], capture_output=True, text=True, check=False
    )
    assert done.stderr == "loaded:\n", done.stderr
    assert done.returncode == 0


@pytest.mark.integration
@pytest.mark.parametrize("module", ["bcon_exporter.settings", "bcon_exporter.cli.daemon_commands"])
def test_settings_load_neither_engine_nor_judges(module: str) -> None:
    others = ("bcon_exporter.drift", "bcon_exporter.diagnosis", "bcon_exporter.engine", "bcon_exporter.compose")
    wanted = (*others, "bcon_exporter.tools", "docker", "rich")
    program = f"import sys, {module}; print(*sorted(set({wanted!r}) & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@table("command", COMMANDS, ids=lambda command: command.name)
def test_the_table_of_settings_gives_the_help_of_the_real_parser(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    real = parsing._make_bare_parser(command)
    add_setting_flags(real, command.shows_setting)
    assert make_parser(command).format_help() == real.format_help()


def test_the_table_of_settings_is_as_make_docs_writes_it() -> None:
    assert TABLE.read_text() == render_table()
    settings = list_settings()
    assert set(list_switches()) == {f"--{name}" for name, field in settings.items() if field.annotation is bool}


@table("command", COMMANDS, ids=lambda command: command.name)
def test_each_command_can_be_started(command: Command) -> None:
    module, _, function = command.run.partition(":")
    assert callable(getattr(__import__(f"bcon_exporter.cli.{module}", fromlist=[function]), function))


def test_the_filters_that_help_names_are_those_of_the_tool() -> None:
    filters = ListContainersInput.model_json_schema()["properties"]["filters"]["anyOf"][0]
    assert filters["propertyNames"]["enum"] == list(FILTER_KEYS)


@pytest.mark.parametrize(
    ("words", "environ", "said"),
    [
        (["version", "--nonsense"], {}, "unknown flag --nonsense"),
        (["version", "--forma", "json"], {}, "unknown flag --forma; did you mean --format?"),
        (["version", "extra"], {}, "unexpected argument 'extra'"),
        (["version", "--log.level", "loud"], {}, "--log.level: must be 'debug'"),
        (["version", "--config.file", "/nonexistent/x.yml"], {}, "/nonexistent/x.yml"),
        (["version"], {"BCON_LOG_LEVEL": "info"}, "BCON_LOG__LEVEL"),
    ],
)
def test_what_loads_little_refuses_what_is_wrong_all_the_same(
    capsys: pytest.CaptureFixture[str], words: list[str], environ: dict[str, str], said: str
) -> None:
    assert main(words, environ) == 2
    assert said in capsys.readouterr().err


def test_a_setting_given_to_version_is_heeded(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["version", "--config.check"], {}) == 0
    assert capsys.readouterr().out == "OK\n"
    (tmp_path / "bcon.yml").write_text("log: {level: debug}\n")
    assert main(["version"], {"BCON_CONFIG__FILE": str(tmp_path / "bcon.yml")}) == 0


@pytest.mark.parametrize(
    ("name", "shown", "hidden"),
    [
        ("analyze-log", "--catalogue.directory", "--docker.host"),
        ("healthcheck", "--web.listen-address", "--docker.host"),
        ("alerts", "--api.listen-address", "--docker.host"),
        ("rules", "--alerts.runbooks-url", "--docker.host"),
        ("diagnose", "--docker.host", "--web.listen-address"),
        ("version", "--format", "--docker.host"),
    ],
)
def test_help_lists_the_settings_that_the_command_reads(name: str, shown: str, hidden: str) -> None:
    text = make_parser(next(command for command in COMMANDS if command.name == name)).format_help()
    assert shown in text
    assert hidden not in text
