"""Promise: a secret in any place of a Compose file, drifted, stands in no report, face, metric or error of drift.

A password of no shape stands only where a name announces it (or in the environment, of which nothing is shown); where
none does, the secret has a shape of its own.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from bcon_exporter.compose import ComposeOptions, ComposeReader, find_binary
from bcon_exporter.drift import detect_drift
from bcon_exporter.errors import BconError
from bcon_exporter.model.container_facts import ComposeIdentity, ConfigFacts
from bcon_exporter.model.findings import DriftType
from bcon_exporter.outputs.text import render_markdown, render_text
from bcon_exporter.secrets.masking import Sealer
from tests.docker.canaries import BROKEN, Canaries
from tests.factories import NOON, container, snapshot
from tests.outputs.scenes import drift_scan, exposition_of, scrape_text
from tests.table_rows import table

if TYPE_CHECKING:
    from pathlib import Path

    from bcon_exporter.model.container_facts import ContainerFacts
    from bcon_exporter.model.desired import DesiredProject
    from bcon_exporter.model.reports import DriftReport

pytestmark = pytest.mark.integration

SEALER = Sealer(b"k" * 32)
LEAST_PLACES = 45
LEAST_DIFFERENCES = 35


def write_project(folder: Path, canaries: Canaries, name: str) -> Path:
    """Write a project in which every value that can be a secret is one."""

    def password(place: str) -> str:
        return canaries.password(f"{place} ({name})")

    def token(place: str, kind: str = "github") -> str:
        return canaries.token(f"{place} ({name})", kind)

    plain = password("env_file, plain name")
    (folder / f"{name}.env").write_text(f"FILE_PASSWORD={password('env_file')}\nFILE_OTHER={plain}\n")
    (folder / f"{name}.labels").write_text(f"file.secret={password('label_file')}\n")
    (folder / ".env").write_text(f"DOTENV={password('.env')}\nHANGING=--password={password('.env in a command')}\n")
    file = folder / f"{name}.yaml"
    file.write_text(f"""
x-note: {{password: "{password("extension")}"}}
services:
  web:
    image: "registry.example/{token("image", "gitlab").lower()}:{token("tag", "gitlab")}"
    command: ["run", "--password", "{password("command flag")}", "--token={password("command option")}", "$HANGING"]
    entrypoint: ["sh", "-c", "curl -u bob:{password("entrypoint")} https://u:{password("entrypoint URL")}@h/"]
    build:
      context: .
      args: {{TOKEN: "{password("build argument")}"}}
      secrets: [s1]
    environment:
      DB_PASSWORD: "{password("environment")}"
      PLAIN: "{password("environment, plain name")}"
      FROM_DOTENV: $DOTENV
      DEFAULTED: "${{NOT_SET:-{password("default of a variable")}}}"
    env_file: ["{name}.env"]
    label_file: ["{name}.labels"]
    labels:
      app.secret: "{password("label")}"
      app.home: "https://u:{password("label URL")}@h/"
      app.note: "{token("label, plain name", "slack")}"
      app.auth: "bob:{token("label hash", "apr1")}"
    annotations: {{app.password: "{password("annotation")}", note: "{token("annotation, plain name")}"}}
    hostname: "{token("hostname", "gitlab")}"
    domainname: "{token("domainname", "gitlab")}"
    container_name: "{token("container_name", "gitlab")}"
    user: "{token("user", "gitlab")}"
    working_dir: "/{token("working_dir", "gitlab")}"
    stop_signal: "{token("stop_signal", "gitlab")}"
    networks:
      default:
        aliases: ["{token("alias", "gitlab")}"]
        driver_opts: {{api.key: "{token("endpoint option")}"}}
    volumes:
      - "./{token("bind source", "gitlab")}:/data"
      - "./x:/{token("bind target", "gitlab")}"
      - {{type: volume, source: data, target: /v, volume: {{subpath: "{token("subpath", "gitlab")}"}}}}
    tmpfs: ["/t:mode=700,{token("tmpfs option", "gitlab")}"]
    configs: [{{source: c1, target: "/{token("config target", "gitlab")}"}}, c2]
    secrets: [s1, s2]
    healthcheck:
      test: ["CMD", "sh", "-c", "wget --header 'Authorization: Bearer {password("health check")}' h"]
    extra_hosts: ["{token("extra host", "gitlab")}:10.0.0.9"]
    dns_search: ["{token("dns_search", "gitlab")}"]
    dns_opt: ["{token("dns_opt", "gitlab")}"]
    logging:
      driver: splunk
      options: {{splunk-token: "{password("log option")}", splunk-url: "https://u:{password("log option URL")}@h/"}}
    sysctls: {{net.core.note: "{token("sysctl")}"}}
    storage_opt: {{note: "{token("storage_opt")}"}}
    security_opt: ["label=user:{token("security_opt", "gitlab")}"]
    devices: ["/dev/null:/dev/{token("device", "gitlab")}"]
    group_add: ["{token("group_add", "gitlab")}"]
    cgroup_parent: "{token("cgroup_parent", "gitlab")}"
    runtime: "{token("runtime", "gitlab")}"
    cap_add: ["{token("cap_add", "aws")}"]
    gpus: [{{driver: "{token("gpu driver", "gitlab")}", options: {{password: "{token("gpu option", "gitlab")}"}}}}]
    external_links: ["other:{token("link", "gitlab")}"]
    post_start: [{{command: ["x", "--password", "{password("hook")}"]}}]
networks:
  default:
    name: "{token("network name", "gitlab")}"
    driver_opts: {{password: "{password("network option")}"}}
    labels: {{password: "{password("network label")}"}}
volumes:
  data:
    name: "{token("volume name", "gitlab")}"
    driver_opts: {{type: cifs, o: "username=bob,password={password("volume option")}", device: //h/x}}
configs:
  c1: {{content: "password={password("config content")}"}}
  c2: {{file: "./{token("config file", "gitlab")}"}}
secrets:
  s1: {{environment: DOTENV}}
  s2: {{file: "./{token("secret file", "gitlab")}"}}
""")
    return file


INTERPOLATED = (
    *("tag", "command", "entrypoint", "label", "hostname", "user", "directory", "bind", "target", "host", "search"),
    *("probe", "option", "alias", "tmpfs"),
)


def write_interpolating(folder: Path, canaries: Canaries, name: str) -> Path:
    """Write a project whose fields take secrets of `.env`, and a default: nothing there says that they are secrets."""
    values = {field: canaries.password(f".env in {field} ({name})") for field in INTERPOLATED}
    (folder / ".env").write_text("".join(f"{field.upper()}_SECRET={value}\n" for field, value in values.items()))
    file = folder / f"{name}.yaml"
    file.write_text(f"""
services:
  web:
    image: "app:$TAG_SECRET"
    command: ["x", "$COMMAND_SECRET", "${{DEFAULT_TOKEN:-{canaries.password(f"default of a variable ({name})")}}}"]
    entrypoint: ["x", "y:$ENTRYPOINT_SECRET"]
    labels: {{x.basicauth: "u:$LABEL_SECRET"}}
    hostname: "$HOSTNAME_SECRET"
    user: "$USER_SECRET"
    working_dir: "/$DIRECTORY_SECRET"
    volumes: ["./$BIND_SECRET:/$TARGET_SECRET"]
    tmpfs: ["/$TMPFS_SECRET"]
    extra_hosts: ["$HOST_SECRET:10.0.0.9"]
    dns_search: ["$SEARCH_SECRET"]
    healthcheck: {{test: ["CMD", "x", "$PROBE_SECRET"]}}
    logging: {{driver: json-file, options: {{tag: "t-$OPTION_SECRET"}}}}
    networks: {{default: {{aliases: ["$ALIAS_SECRET"]}}}}
""")
    return file


def make_reader() -> ComposeReader:
    """A reader like that of the command line."""
    environ = {"PATH": os.environ["PATH"]}
    binary = find_binary(os.environ["PATH"])
    return ComposeReader(ComposeOptions(binary=binary, environ=environ, trusted=True), SEALER)


def report_between(wanted: DesiredProject, running: DesiredProject | None) -> DriftReport:
    """The report on a container that was made from another round of the files, or has nothing of them at all."""
    return detect_drift(wanted, snapshot(made_from(running)))


def made_from(project: DesiredProject | None) -> ContainerFacts:
    """A container that has all that a project's one service asks for."""
    (service,) = (project.services or (None,)) if project is not None else (None,)
    return container(
        name="web",
        image=service.image if service else "x",
        compose=ComposeIdentity(project="shop", service="web", config_hash="h0", version="0"),
        config=ConfigFacts(
            fields=service.fields if service else {},
            image_fields={},
            image_fingerprint=service.image_fingerprint if service else None,
        ),
    )


def texts_of(report: DriftReport) -> dict[str, str]:
    """Everything that is shown of a report."""
    screen = io.StringIO()
    Console(file=screen, width=300).print(render_text(report))
    exposition, _ = exposition_of(drift=drift_scan(report))
    return {
        "JSON": report.model_dump_json(),
        "table": screen.getvalue(),
        "markdown": render_markdown(report),
        "metrics": scrape_text(exposition),
    }


@pytest.mark.promise("S9")
def test_no_secret_of_a_drifted_project_is_shown_anywhere(tmp_path: Path) -> None:
    canaries = Canaries()
    wanted, running = (
        make_reader().resolve_file(str(write_project(tmp_path, canaries, name)), "shop", NOON)
        for name in ("wanted", "running")
    )
    assert running.services is not None
    bare = running.model_copy(update={"services": (running.services[0].model_copy(update={"fields": {}}),)})
    reports = {
        "changed": report_between(wanted, running),
        "changed back": report_between(running, wanted),
        "not there yet": report_between(wanted, None),
        "there still": report_between(bare, wanted),
        "extra": report_between(wanted.model_copy(update={"services": ()}), wanted),
        "missing": detect_drift(wanted, snapshot()),
    }
    leaks = [
        f"{place}: {case}, {face}"
        for case, report in reports.items()
        for face, text in texts_of(report).items()
        for place in canaries.found_in(text)
    ]
    assert len(canaries.by_place) >= 2 * LEAST_PLACES
    for case in ("changed", "changed back", "not there yet", "there still"):
        assert len(reports[case].differences) >= LEAST_DIFFERENCES, case
    assert {one.drift_type for one in reports["missing"].differences} == {DriftType.MISSING_SERVICE}
    assert not leaks, "\n".join(leaks)


@pytest.mark.promise("S9")
def test_no_secret_that_was_interpolated_is_shown_anywhere_and_each_change_is_seen(tmp_path: Path) -> None:
    canaries = Canaries()
    wanted, running = (
        make_reader().resolve_file(str(write_interpolating(tmp_path, canaries, name)), "shop", NOON)
        for name in ("wanted", "running")
    )
    reports = {"changed": report_between(wanted, running), "back": report_between(running, wanted)}
    leaks = [
        f"{place}: {case}, {face}"
        for case, report in reports.items()
        for face, text in texts_of(report).items()
        for place in canaries.found_in(text)
    ]
    assert not leaks, "\n".join(leaks)
    fields = {one.field.partition(".")[0] for one in reports["changed"].differences if one.field}
    assert fields >= {"image", "command", "entrypoint", "labels", "hostname", "user", "working_dir", "volumes", "tmpfs"}
    assert fields >= {"extra_hosts", "dns_search", "healthcheck", "logging", "networks"}


@pytest.mark.promise("S9")
@table("kind", BROKEN)
def test_no_secret_of_a_broken_file_stands_in_the_error(kind: str, tmp_path: Path) -> None:
    canaries = Canaries()
    file = tmp_path / "compose.yaml"
    secret, token = canaries.password(f"{kind}, password"), canaries.token(f"{kind}, token", "gitlab")
    file.write_text(BROKEN[kind].format(secret=secret, token=token))
    try:
        said = detect_drift(make_reader().resolve_file(str(file), None, NOON), snapshot()).model_dump_json()
    except BconError as error:
        said = f"{error.code} {error.message} {error.details}"
    assert canaries.found_in(said) == []
