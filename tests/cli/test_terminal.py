"""Promise: Tab completes, a man page and the shipped files come along, and pipes are as wide as COLUMNS says."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from bcon_exporter.cli import main
from bcon_exporter.cli.commands import COMMANDS
from bcon_exporter.cli.shipped_files import ALERTMANAGER_EXAMPLE, DASHBOARDS, RULES
from bcon_exporter.tools.replay import write_snapshot
from deploy.terminal_files import MAN_PAGE, render_man_page
from tests.architecture.sources import ROOT
from tests.cli.shell import press_tab, put_program_in_path
from tests.engine.fleet_engine import FleetEngine
from tests.factories import compose, container, snapshot

SHIPPED = (*(f"grafana/{name}.json" for name in DASHBOARDS), ALERTMANAGER_EXAMPLE)


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    return put_program_in_path(tmp_path)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", {command.name for command in COMMANDS}),
        ("dia", {"diagnose"}),
        ("diagnose --fail", {"--fail-on"}),
        ("diagnose --fail-on c", {"critical"}),
        ("drift --docker", {"--docker.host"}),
        ("serve --scan.d", {"--scan.diagnose-interval", "--scan.drift-interval", "--scan.deadline"}),
        ("completion z", {"zsh"}),
        ("call diagnose_a", {"diagnose_all"}),
        ("info --docker.host=unix:///nowhere a", set()),
    ],
)
def test_tab_completes_in_bash(programs: dict[str, str], typed: str, offered: set[str]) -> None:
    words = press_tab(typed, programs)
    assert offered <= words if not typed else offered == words


@pytest.mark.integration
def test_containers_and_projects_are_completed_from_one_list(programs: dict[str, str], tmp_path: Path) -> None:
    with FleetEngine(tmp_path / "engine.sock", 2) as engine:
        words = press_tab(f"diagnose --docker.host={engine.url} ", programs)
    assert "fleet0" in words, "the Compose project of both"
    assert len(words) >= 3
    assert engine.requests["list"] == 1


@pytest.mark.integration
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_can_read_its_completion(programs: dict[str, str], shell: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bcon-exporter", "completion", shell], env=programs, capture_output=True, text=True, check=True
    )
    assert "bcon-exporter" in done.stdout
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = tmp_path / f"completion.{shell}"
    file.write_text(done.stdout)
    read = subprocess.run([shell, "-n", str(file)], env=programs, capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")


@pytest.mark.integration
def test_completion_loads_no_settings(programs: dict[str, str]) -> None:
    environ = programs | {"_ARGCOMPLETE": "1", "COMP_LINE": "bcon-exporter dia", "COMP_POINT": "17"}
    words = [sys.executable, "-X", "importtime", "-m", "bcon_exporter"]
    done = subprocess.run(
        ["bash", "-c", '"$@" 8>&1 9>/dev/null', "bash", *words],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["diagnose"]
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "argcomplete" in loaded
    assert not loaded & {"pydantic", "pydantic_settings", "yaml", "re2", "rich", "docker", "bcon_exporter.settings"}


def test_the_man_page_is_as_make_docs_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = MAN_PAGE.read_text()
    assert text == render_man_page()
    assert all(command.summary.split("--")[0] in text for command in COMMANDS)


def test_the_shipped_files_are_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for words, file in (
        (["dashboards", "bcon-overview"], "grafana/bcon-overview.json"),
        (["dashboards", "bcon-container"], "grafana/bcon-container.json"),
        (["alertmanager-example"], ALERTMANAGER_EXAMPLE),
    ):
        assert main(words, {}) == 0
        assert capsys.readouterr().out == (ROOT / file).read_text()
    assert main(["dashboards"], {}) == 0
    assert capsys.readouterr().out == "bcon-overview\nbcon-container\n"
    assert main(["dashboards", "--output", str(tmp_path)], {}) == 0
    assert {file.name for file in tmp_path.iterdir()} == {"bcon-overview.json", "bcon-container.json"}
    assert main(["dashboards", "--output", str(tmp_path / "new/folder")], {}) == 0
    assert len(list((tmp_path / "new/folder").iterdir())) == 2
    assert main(["dashboards", "--output", str(tmp_path / "bcon-overview.json")], {}) == 2
    assert "cannot be written: " in capsys.readouterr().err
    assert main(["dashboards", "bcon-overvew"], {}) == 2


@pytest.mark.integration
def test_the_wheel_carries_and_prints_them(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*build, "--no-build-isolation", "-w", str(tmp_path), str(ROOT)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "installed")
    assert any(name.endswith(".data/data/share/man/man1/bcon-exporter.1") for name in names)
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); import bcon_exporter; "
        "assert 'installed' in bcon_exporter.__file__; from bcon_exporter.cli import main; sys.exit(main())"
    )
    for words, file in (
        (["dashboards", "bcon-overview"], SHIPPED[0]),
        (["alertmanager-example"], ALERTMANAGER_EXAMPLE),
        (["rules"], RULES),
    ):
        done = subprocess.run(
            [sys.executable, "-c", program, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout == (ROOT / file).read_text()


@pytest.fixture
def wide(tmp_path: Path) -> str:
    facts = snapshot(container(name="a-container-with-a-long-name", image=f"registry.example.org/{'x' * 300}"))
    write_snapshot(tmp_path / "host.json", facts)
    return str(tmp_path / "host.json")


@pytest.mark.integration
@pytest.mark.parametrize(("columns", "widest"), [("60", 60), ("100", 100), ("1", 40), ("many", 160), (None, 160)])
def test_a_pipe_is_as_wide_as_columns_says(wide: str, columns: str | None, widest: int) -> None:
    environ = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    environ |= {} if columns is None else {"COLUMNS": columns}
    words = [sys.executable, "-m", "bcon_exporter", "info", "a-container-with-a-long-name", "--from-snapshot", wide]
    if columns is None:  # readline, which pytest loads, has set it in the environment behind os.environ
        words = ["env", "-u", "COLUMNS", *words]
    done = subprocess.run(words, env=environ, capture_output=True, text=True, check=True)
    assert max(map(len, done.stdout.splitlines())) == widest


def test_drift_of_a_project_lists_no_foreign_containers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from tests.cli.test_commands import SHOP

    stray = compose("stray", config_hash="abc")
    facts = snapshot(
        container(compose=compose("api", config_hash="abc")),
        container(name="shop-stray", compose=stray),
        container(name="foreign"),
        desired=(SHOP,),
    )
    write_snapshot(tmp_path / "host.json", facts)
    main(["drift", "-p", "shop", "--from-snapshot", str(tmp_path / "host.json")], {})
    shown = capsys.readouterr().out
    assert "foreign" not in shown
    assert "shop-stray" in shown
    main(["drift", "-p", "shop", "--format", "json", "--from-snapshot", str(tmp_path / "host.json")], {})
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["untracked"] == result["reports"][0]["untracked"] == ["shop-stray"]
