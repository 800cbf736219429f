"""Promise: of 200 places in which a container, a Compose file, an image or a client can hold a secret, none is shown.

Looked at is all that leaves the process: every tool over HTTP and as a command in every format, the snapshot and what
is read back from it, metrics, pages, the OpenAPI document, alerts and messages as they are sent, incidents and their
hand-over, the daemon's log at its most talkative, errors, and the state file with its journal. Names of containers,
services, projects, images, networks and volumes are identities and are shown: a secret there is none.
"""

from __future__ import annotations

import html
import http.client
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bcon_exporter.cli.main import main
from bcon_exporter.cli.report_formats import CHECK_FORMATS
from bcon_exporter.engine import read_usage
from bcon_exporter.tools import TOOLS
from tests.docker.canaries import (
    Canaries,
    EncodedCanaries,
    encode_canaries,
    start_containers,
    start_encoder,
    start_interpolated,
    start_more,
    start_project,
    write_broken,
    write_interpolated,
)
from tests.docker.conftest import TestEngine
from tests.docker.daemon import Answer, Daemon
from tests.long_forms import IS_NIGHTLY
from tests.outputs.alertmanager.receiver import Receiver, receiving
from tests.outputs.mcp.talking import DIAGNOSE_ALL
from tests.outputs.messages.receivers import HttpReceiver
from tests.secrets.encodings import CANARIES, ENCODINGS
from tests.tools.operation_inputs import good_inputs
from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.promises.plugin import Figure

pytestmark = pytest.mark.docker

NAMES = ("everything", "terminal", "refused", "shapes", "steady", "built", "intruder")
ENCODER = "encodes"
DRAWN = ("table", "markdown", "agent")
"""The formats besides JSON that commands draw."""
LOGGED = {"tail": 10_000, "detail": True, "max_bytes": 2**20}
"""All that the container has logged that writes what it knows in every encoding."""
LEAST_PLACES = 200
QUICK = ("--scan.diagnose-interval=2s", "--scan.drift-interval=5s")
PAGES = (
    *("/", "/metrics", "/-/healthy", "/-/ready", "/openapi.json", "/api/v1/tools", "/api/v1/health", "/api/v1/cost"),
    *(
        "/api/v1/diagnosis",
        "/api/v1/drift",
        "/api/v1/alerts",
        "/api/v1/memory",
        "/api/v1/status",
        "/api/v1/digest",
        "/api/v1/disk",
        "/api/v1/incidents",
        "/api/v1/history?since=1d",
        "/api/v1/deployments",
        "/api/v1/containers?all=true",
        "/api/v1/nowhere",
        "/history?since=1d",
        "/alerts",
    ),
)


FIELDS_WITH_SECRETS = frozenset(
    ("image", "command", "entrypoint", "hostname", "labels", "healthcheck", "logging", "extra_hosts", "volumes")
)


SHOWS_FILES = ("POST read_config ", "POST scout peek ", "POST scout emit ")
PLAIN_IN_FILES = ("Compose file with ", "compose note")
"""Where a file says something outside of variables and secrets (a port, a note): its lines are what is asked for."""


class Shown:
    """All that was shown, by where."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, where: str, text: str) -> None:
        assert text, where
        self.texts[where] = text

    def add_files(self, folder: Path, when: str) -> None:
        """Add the state file with its journal; not the lock, which is empty."""
        for file in folder.glob("state.db*"):
            if file.suffix != ".lock":
                self.add(f"{file.name} {when}", file.read_bytes().decode("latin-1"))

    def leaks_of_encoded(self, encoded: EncodedCanaries) -> list[str]:
        """The encoded values that are shown, each with where."""
        return [f"{what}, {where}" for where, text in self.texts.items() for what in encoded.found_in(text)]

    def leaks(self, canaries: Canaries) -> list[str]:
        """The secrets that are shown, each with where and what stands around it."""
        found: dict[str, list[str]] = {}
        for where, text in self.texts.items():
            for place in canaries.found_in(text):
                if not (where.startswith(SHOWS_FILES) and place.startswith(PLAIN_IN_FILES)):
                    found.setdefault(place, []).append(where)
        return [
            f"{place}: {len(where)} times, {where[0]}: {excerpt(self.texts[where[0]], canaries.by_place[place])}"
            for place, where in found.items()
        ]


def excerpt(text: str, secret: str) -> str:
    """What stands around a leak."""
    at = text.find(secret[-10:])
    return repr(text[max(0, at - 120) : at + 60])


OF_EACH = ("container:inspect", "container:recreate")
"""Operations that are asked about every container."""


def payloads(name: str, containers: list[str], files: list[Path], canaries: Canaries) -> list[dict[str, Any]]:
    """Inputs for a tool, good ones and bad ones with a secret in them."""
    by_container = [{"container_id": one} for one in containers]
    logged = [{**one, **LOGGED} for one in by_container if one["container_id"] == ENCODER]
    file = files[0] if files else Path("/srv/shop/compose.yaml")
    good: dict[str, list[dict[str, Any]]] = {
        **dict.fromkeys(("get_container_info", "get_container_stats", "diagnose_container"), by_container),
        "get_container_logs": [*by_container, *logged],
        "explain_error": [{**one, "error_pattern": "re:.", "context_lines": 50} for one in by_container],
        "detect_drift": [{"compose_file": str(file)} for file in files],
        "get_untracked_containers": [{}, *({"compose_file": str(file)} for file in files[:2])],
        "list_containers": [{"all": True}],
        "diagnose_all": [{"include_healthy": True}],
        "read_logs": [{"unit": one} for one in containers],
        "restart_service": [{"service": one} for one in containers],
        **{
            tool: [
                payload
                for container in containers
                for operation, payload in good_inputs(
                    tool, container=container, project=file.parent.name, file=str(file)
                )
                if container == containers[0] or operation.key in OF_EACH
            ]
            for tool in ("flux", "scout")
        },
        "read_config": [{"path": str(file), "limit": 10_000} for file in files],
        "modify_config": [{"path": str(file), "content": file.read_text() + "\n# edited\n"} for file in files],
        "schedule_task": [{"task": task} for task in ("diagnose", "drift")],
        "system_status": [{"include_disk": True}],
    }
    bad = {"container_id": 7, "password": canaries.password(f"input of {name}")}
    return [bad, *good.get(name, [{}])]


def ask_as_agent(daemon: Daemon, shown: Shown, containers: list[str]) -> None:
    """Ask over MCP, without a handshake."""
    agent: dict[str, Any] = DIAGNOSE_ALL["params"]  # type: ignore[assignment]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("diagnose_all", {}),
        ("list_containers", {"all": True}),
        *(("diagnose_container", {"container_id": one}) for one in containers),
        *(("get_container_logs", {"container_id": one, "tail": 10_000}) for one in containers),
        *(("explain_error", {"container_id": one, "error_pattern": "re:."}) for one in containers),
    ]
    for tool, arguments in calls:
        body = DIAGNOSE_ALL | {"params": agent | {"name": tool, "arguments": arguments}}
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Mcp-Method": "tools/call"}
        headers |= {"Mcp-Name": tool, "MCP-Protocol-Version": "2026-07-28"}
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=20)
        connection.request("POST", "/mcp", json.dumps(body), headers)
        answer = connection.getresponse()
        said = answer.read().decode()
        connection.close()
        assert answer.status == HTTPStatus.OK, said
        assert '"isError":false' in said.replace(" ", ""), said[:500]
        shown.add(f"MCP {tool} {next(iter(arguments.values()), '')}", said)


ASKED_AT_ONCE = 3
"""Much of an answer is waiting, for Compose and for the engine."""
AGENTS_QUERY = "?view=agent"
ALL_OF_IT = {"detail": True, "max_bytes": 65536}


def answer_of(daemon: Daemon, tool: str, payload: dict[str, Any]) -> Answer | None:
    """A tool's answer, or that for agents; none while Compose still resolves what it is asked of."""
    answer = daemon.ask(f"/api/v1/tools/{tool}", "POST", payload)
    return None if answer.status == HTTPStatus.GATEWAY_TIMEOUT else answer


def ask_daemon(daemon: Daemon, shown: Shown, canaries: Canaries, containers: list[str], files: list[Path]) -> None:
    for path in PAGES:
        shown.add(f"GET {path}", daemon.ask(path).text)
    for one in containers:
        for query in (
            "",
            "?lines=2000",
            "?lines=2000&part=previous",
            "?lines=2000&part=crash",
            "?find=re:.&lines=2000",
        ):
            shown.add(f"GET page of {one}{query}", daemon.ask(f"/c/{one}{query}").text)
        shown.add(f"GET tail of {one}", daemon.first_event(f"/tail/{one}"))
        for tail in ("", "/stats", "/logs", "/diagnosis"):
            shown.add(f"GET container {one}{tail}", daemon.ask(f"/api/v1/containers/{one}{tail}").text)
    for incident in json.loads(daemon.ask("/api/v1/incidents").text)["result"]["incidents"]:
        shown.add(f"GET page of {incident['id']}", daemon.ask(f"/i/{incident['id']}").text)
        shown.add(f"GET incident {incident['id']}", daemon.ask(f"/api/v1/incidents/{incident['id']}").text)
    for file in files:
        shown.add(f"GET page of project {file.parent.name}", daemon.ask(f"/p/{file.parent.name}").text)
    inputs = [(tool.name, one) for tool in TOOLS for one in payloads(tool.name, containers, files, canaries)]
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        for answers in pool.map(lambda asked: ask_tool(daemon, *asked), inputs):
            for where, text in answers.items():
                shown.add(where, text)


def ask_tool(daemon: Daemon, tool: str, payload: dict[str, Any]) -> dict[str, str]:
    """What a tool answers, and what it answers agents."""
    answer = wait_until(partial(answer_of, daemon, tool, payload), f"an answer of {tool}")
    is_fine = answer.status < HTTPStatus.INTERNAL_SERVER_ERROR or answer.status == HTTPStatus.NOT_IMPLEMENTED
    assert is_fine or payload.get("container_id") == 7, answer.text
    about = " ".join(map(str, list(payload.values())[:3]))
    for_agents = partial(answer_of, daemon, f"{tool}{AGENTS_QUERY}", payload | ALL_OF_IT)
    return {
        f"POST {tool} {about}": answer.text,
        f"POST {tool} {about} for agents": wait_until(for_agents, f"what {tool} tells").text,
    }


def commands(containers: list[str], files: list[Path], snapshot: Path) -> list[list[str]]:
    """Every command in every format; what shows one container is asked for each as JSON, and in one format more.

    All four formats are drawn from one report, so each command and each container meets each of them; TEST_NIGHTLY=1
    asks for every container in every format.
    """
    found = [["snapshot"], ["snapshot", "--output", str(snapshot)], ["check-config"], ["rules"], ["health"]]
    found.append(["call", "get_cost_report"])
    past = [["history", "--since", "1h"], ["changes", "--since", "1h"], ["digest", "--since", "1h"], ["disk"]]
    past += [["incidents"]]
    found += [[*words, "--format", form] for words in past for form in ("table", "json", "markdown")]
    plain = [["diagnose"], ["drift"], ["list", "--all"], ["untracked", "--all"]]
    found += [[*words, "--format", form] for words in plain for form in ("json", *DRAWN)]
    for number, name in enumerate(containers):
        about = [["info", name], ["logs", name], ["diagnose", name], ["explain", name, "re:."]]
        for place, words in enumerate(about):
            drawn = DRAWN if IS_NIGHTLY else [DRAWN[(number + place) % len(DRAWN)]]
            found += [[*words, "--format", form] for form in ("json", *drawn)]
    found += [["drift", str(file)] for file in files]
    forms = ("table", "json", "markdown", "junit", "github")
    found += [["verify", "-f", str(file), "--for", "0s", "--format", form] for file in files[:3] for form in forms]
    found += [["check", "-f", str(file), "--format", form] for file in files[:3] for form in CHECK_FORMATS]
    found += [["check", "-f", str(file), "--format", "json"] for file in files[3:]]
    return [*found, ["stats", "everything"], ["info", "unmounted"]]


def about_project(container: str, file: Path) -> list[list[str]]:
    """What shows something of one container and of its file."""
    plain = [["info", container], ["logs", container], ["explain", container, "re:."], ["diagnose", container]]
    return [
        [*words, "--format", form] for words in [["drift", str(file)], *plain] for form in ("table", "json", "markdown")
    ]


def replays(snapshot: Path) -> list[list[str]]:
    """What reads a snapshot back."""
    plain = [
        ["diagnose"],
        ["drift"],
        ["list", "--all"],
        ["info", "everything"],
        ["logs", "shapes"],
        ["logs", "encodes"],
    ]
    return [[*words, "--from-snapshot", str(snapshot), "--format", "json"] for words in plain]


def run_here(shown: Shown, lists: list[list[str]], capfd: pytest.CaptureFixture[str], *flags: str) -> None:
    """Run commands in this process, which saves a second each."""
    for words in lists:
        code = main([*words, *flags], {})
        out, err = capfd.readouterr()
        shown.add(f"$ {' '.join(words)}", f"{out}{err}exit {code}")


def run_as_process(shown: Shown, words: list[str], environ: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bcon_exporter", *words], capture_output=True, env=environ, timeout=120, check=False
    )
    shown.add(f"$ {' '.join(words)} (a process)", done.stdout.decode() + done.stderr.decode())


def write_own_files(canaries: Canaries, folder: Path, phone: HttpReceiver) -> tuple[str, ...]:
    """Write what the daemon itself is given as a secret; the flags that name the files."""
    password = canaries.password("password towards a receiver of messages")
    (folder / "receivers").write_text(f"name=phone json://u:{password}@127.0.0.1:{phone.port}/\n")
    (folder / "alertmanager.yml").write_text(
        f"basic_auth: {{username: me, password: {canaries.password('password towards Alertmanager')}}}\n"
    )
    heartbeat = f"http://127.0.0.1:1/{canaries.token('path of the heartbeat')}"
    return (
        *("--notify.heartbeat-url", heartbeat),
        *("--alertmanager.config.file", str(folder / "alertmanager.yml")),
        *("--notify.url-file", str(folder / "receivers")),
    )


def ask_wrongly(daemon: Daemon, shown: Shown, canaries: Canaries) -> None:
    """Send secrets where none belongs; what is answered is told to the asker alone, what is kept must not hold them."""
    password = canaries.password
    headers = {
        "Authorization": f"Basic {canaries.basic('Authorization of a request')}",
        "Cookie": f"session={password('cookie of a request')}",
        "Referer": f"http://localhost/?x={password('referrer of a request')}",
        "User-Agent": password("agent of a request"),
    }
    query = f"/api/v1/containers?password={password('query of a request')}"
    for path in (query, f"/{password('path of a request')}", "/metrics"):
        connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=20)
        connection.request("GET", path, headers=headers)
        shown.add(f"GET {path[:10]}, wrongly", connection.getresponse().read().decode())
        connection.close()
    body = {"container_id": "everything", "error_pattern": f"password={password('pattern of a request')}"}
    daemon.ask("/api/v1/tools/explain_error", "POST", body)
    body = {"compose_file": f"/nowhere/{canaries.token('file of a request')}"}
    daemon.ask("/api/v1/tools/detect_drift", "POST", body)


def run_wrongly(shown: Shown, canaries: Canaries, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Give settings wrong values."""
    elsewhere = f"tcp://u:{canaries.password('engine address')}@127.0.0.1:1"
    run_here(shown, [["list"], ["check-config"]], capfd, "--docker.host", elsewhere)
    (folder / "wrong.yml").write_text(f"scan: {{deadline: {canaries.password('settings file')}}}\n")
    run_here(shown, [["check-config"]], capfd, "--config.file", str(folder / "wrong.yml"))
    run_here(shown, [["check-config"]], capfd, "--scan.deadline", canaries.password("flag"))
    address = f"http://u:{canaries.password('address of Alertmanager')}@127.0.0.1:1"
    run_here(shown, [["check-config"]], capfd, "--alertmanager.url", address)
    variables = {"BCON_SCAN__DEADLINE": canaries.password("variable of a setting")}
    code = main(["check-config"], variables)
    out, err = capfd.readouterr()
    shown.add("$ check-config with a wrong variable", f"{out}{err}exit {code}")


def fields_in_drift(report: str) -> set[str]:
    """The fields that a report of drift names."""
    found = json.loads(report.rpartition("exit")[0])["result"]["reports"]
    return {one["field"].partition(".")[0] for report in found for one in report["differences"] if one["field"]}


@dataclass(frozen=True)
class Scene:
    """A host full of secrets.

    Attributes:
        folder: Holds the projects, and what the daemon writes.
        projects: The folders of the projects that interpolate, by where they have their secrets from besides `.env`.
        files: Every Compose file, broken ones too.
        watched: The containers of those projects, one that runs and one that is refused of each.
    """

    engine: TestEngine
    canaries: Canaries
    folder: Path
    projects: dict[str, Path]
    files: list[Path]
    watched: list[str]
    containers: list[str]
    default: str

    def change(self) -> None:
        """Give new secrets to the projects that interpolate; their containers keep those of before."""
        for kind, project in self.projects.items():
            write_interpolated(self.engine, self.canaries, project, project.name, f"{kind}, wanted", self.default)


def start_scene(engine: TestEngine, canaries: Canaries, folder: Path, name: str) -> Scene:
    """Start everything, and wait until it has failed and come back."""
    full = folder / f"{name}-full"
    projects = {kind: folder / f"{name}-{kind.replace(' ', '-')}" for kind in ("of the files", "own")}
    for project in (full, *projects.values()):
        project.mkdir()
    start_containers(engine, canaries, folder)
    start_more(engine, canaries, folder)
    default = canaries.password("default of a variable")
    files = [start_project(engine, canaries, full, full.name)]
    for kind, project in projects.items():
        files.append(write_interpolated(engine, canaries, project, project.name, f"{kind}, running", default))
        start_interpolated(engine, project)
    files += write_broken(canaries, folder)
    watched = [f"{project.name}-{service}-1" for project in projects.values() for service in ("web", "refused")]
    for container in ("everything", watched[0], watched[2]):
        wait_until(
            lambda container=container: engine.docker("inspect", "-f", "{{.RestartCount}}", container) != "0",  # type: ignore[misc]  # a bound default
            "a restart",
            timeout_seconds=60,
        )
    containers = [*NAMES, f"{full.name}-web-1", *watched]
    return Scene(engine, canaries, folder, projects, files, watched, containers, default)


def look_everywhere(
    scene: Scene, daemon: Daemon, shown: Shown, capfd: pytest.CaptureFixture[str], here: tuple[str, ...]
) -> None:
    """Ask every face as everything runs."""
    daemon.wait_until_ready()
    wait_until(lambda: daemon.ask("/api/v1/drift").status == 200, "a drift scan", timeout_seconds=60)
    snapshot = scene.folder / "host.json"
    ask_daemon(daemon, shown, scene.canaries, scene.containers, scene.files)
    ask_as_agent(daemon, shown, scene.containers)
    ask_wrongly(daemon, shown, scene.canaries)
    run_here(shown, commands(scene.containers, scene.files, snapshot), capfd, *here)
    run_here(shown, replays(snapshot), capfd)
    served_at = ("--web.listen-address", f"127.0.0.1:{daemon.port}")
    run_here(shown, [["alerts", "--format", form] for form in ("table", "json", "markdown")], capfd, *served_at)
    run_wrongly(shown, scene.canaries, scene.folder, capfd)
    shown.add("snapshot file", snapshot.read_text())


def look_again(scene: Scene, daemon: Daemon, receiver: Receiver, phone: HttpReceiver, shown: Shown) -> None:
    """Ask the daemon after the files have changed, so that both sides of a difference are secrets."""
    scene.change()
    changed = f"/api/v1/drift/{scene.projects['own'].name}"
    wait_until(lambda: "labels.x.basicauth" in daemon.ask(changed).text, "the drift", timeout_seconds=60)
    wait_until(lambda: scene.watched[0] in str(receiver.batches), "an alert about the container", timeout_seconds=60)
    wait_until(
        lambda: any("suffer" in one.text or "failed" in one.text for one in phone.got), "a message", timeout_seconds=60
    )
    later = Shown()
    ask_daemon(daemon, later, Canaries(), scene.watched, scene.files[: 1 + len(scene.projects)])
    shown.texts |= {f"{where}, drifted": text for where, text in later.texts.items()}
    shown.add_files(scene.folder, "while it runs")
    daemon.end()
    shown.add("daemon log", daemon.log)
    shown.add("alerts", str(receiver.batches))
    shown.add("messages", "\n".join(one.text for one in phone.got))
    shown.add_files(scene.folder, "at the end")


def look_without_daemon(
    scene: Scene, shown: Shown, capfd: pytest.CaptureFixture[str], here: tuple[str, ...], environ: dict[str, str]
) -> str:
    """Run commands after that: only the daemon has seen the values of before, so of those they show drift alone."""
    later = Shown()
    run_here(later, [["drift", "--format", form] for form in ("table", "json", "markdown")], capfd, *here)
    run_here(later, about_project(scene.watched[2], scene.files[2]), capfd, *here)
    run_here(later, [["verify", "-f", str(scene.files[2]), "--for", "0s", "--format", "github"]], capfd, *here)
    run_as_process(later, ["drift", "--log.level", "debug"], environ)
    run_as_process(later, ["diagnose", "everything", "--log.level", "debug"], environ)
    scene.engine.pause()
    run_here(later, [["list"], ["diagnose"]], capfd, *here, "--scan.deadline", "1s")
    scene.engine.resume()
    shown.texts |= {f"{where}, drifted": text for where, text in later.texts.items()}
    return later.texts["$ drift --format json"]


@pytest.fixture
def no_wait_for_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands in this process take their second sample of usage at once: hundreds of them wait a second each."""
    monkeypatch.setattr(read_usage, "SECOND_SAMPLE_AFTER_SECONDS", 0.01)


@pytest.mark.promise("S9")
@pytest.mark.usefixtures("no_wait_for_usage")
def test_no_secret_of_200_places_is_shown_on_any_face(
    engine: TestEngine, project_name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], figure: Figure
) -> None:
    canaries, shown = Canaries(), Shown()
    scene = start_scene(engine, canaries, tmp_path, project_name)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("BCON_", "DOCKER_"))}
    environ |= {
        "AWS_SECRET_ACCESS_KEY": canaries.password("the exporter's own environment"),
        "HTTP_PROXY": f"http://u:{canaries.password('proxy of the exporter')}@127.0.0.1:1",
        "DOCKER_HOST": engine.host,
    }
    here = ("--docker.host", engine.host, "--state.path", str(tmp_path / "state.db"))
    labels = "com.example.api-key,com.example.home,com.example.note,traefik.users,vcs,maintainer.password,x.basicauth"
    flags = (
        *("--log.level=debug", "--compose.roots", str(tmp_path), "--compose.files", ",".join(map(str, scene.files))),
        *("--mcp.enable", "--metrics.container-labels", labels, "--alertmanager.job=j", "--alertmanager.instance=i"),
    )
    with receiving() as receiver, HttpReceiver() as phone:
        own = (*write_own_files(canaries, tmp_path, phone), f"--alertmanager.url={receiver.url}")
        with Daemon(tmp_path, engine.host, *QUICK, *flags, *own, environ=environ) as daemon:
            look_everywhere(scene, daemon, shown, capfd, here)
            look_again(scene, daemon, receiver, phone, shown)
    drift = look_without_daemon(scene, shown, capfd, here, environ)
    private = [tmp_path / "host.json", *tmp_path.glob("state.db*")]
    assert {file.stat().st_mode & 0o777 for file in private} == {0o600}
    assert "exit_error" in shown.texts["$ diagnose --format json"], "the scene must be one that tells much"
    assert fields_in_drift(drift) >= FIELDS_WITH_SECRETS
    places, leaks = canaries.places(), shown.leaks(canaries)
    figure(f"{len(canaries.by_place)} secrets in {len(places)} places, {len(shown.texts)} faces, {len(leaks)} leaks")
    assert not leaks, "\n".join(leaks[:40])
    assert len(places) >= LEAST_PLACES, len(places)


@pytest.mark.promise("S9")
@pytest.mark.usefixtures("no_wait_for_usage")
def test_no_known_value_in_any_encoding_is_shown_on_any_face(
    engine: TestEngine, tmp_path: Path, capfd: pytest.CaptureFixture[str], figure: Figure
) -> None:
    encoded, shown = encode_canaries(), Shown()
    log = "\n".join(encoded.lines)
    for shape in (log, json.dumps(log, ensure_ascii=False), html.escape(log)):
        assert set(encoded.found_in(shape)) == set(encoded.needles.values()), "each is seen where nothing is hidden"
    start_encoder(engine, encoded, tmp_path, ENCODER)
    snapshot = tmp_path / "host.json"
    here = ("--docker.host", engine.host, "--state.path", str(tmp_path / "state.db"))
    everything = ["logs", ENCODER, "--tail", str(LOGGED["tail"])]
    read_back = [["diagnose"], ["info", ENCODER], ["logs", ENCODER]]
    with receiving() as receiver, HttpReceiver() as phone:
        (tmp_path / "receivers").write_text(f"name=phone json://127.0.0.1:{phone.port}/\n")
        flags = (
            "--mcp.enable",
            "--alertmanager.job=j",
            "--alertmanager.instance=i",
            f"--alertmanager.url={receiver.url}",
        )
        told = ("--notify.url-file", str(tmp_path / "receivers"))
        with Daemon(tmp_path, engine.host, *QUICK, "--log.level=debug", *flags, *told) as daemon:
            daemon.wait_until_ready()
            wait_until(lambda: ENCODER in str(receiver.batches), "an alert", timeout_seconds=60)
            wait_until(lambda: phone.got, "a message", timeout_seconds=60)
            ask_daemon(daemon, shown, Canaries(), [ENCODER], [])
            ask_as_agent(daemon, shown, [ENCODER])
            run_here(shown, [*commands([ENCODER], [], snapshot), everything], capfd, *here)
            run_here(shown, [[*words, "--from-snapshot", str(snapshot)] for words in read_back], capfd)
            served_at = ("--web.listen-address", f"127.0.0.1:{daemon.port}")
            run_here(shown, [["alerts"], ["search", "ERROR"]], capfd, *served_at)
            shown.add_files(tmp_path, "while it runs")
            daemon.end()
            shown.add("daemon log", daemon.log)
    shown.add("alerts", str(receiver.batches))
    shown.add("messages", "\n".join(one.text for one in phone.got))
    shown.add("snapshot file", snapshot.read_text())
    shown.add_files(tmp_path, "at the end")
    leaks = shown.leaks_of_encoded(encoded)
    figure(f"{len(CANARIES)} values in {len(ENCODINGS)} encodings, {len(shown.texts)} faces, {len(leaks)} leaks")
    assert not leaks, "\n".join(leaks[:40])
    assert "***" in shown.texts["alerts"], "the alert tells of a line with a secret"
    assert shown.texts[f"$ {' '.join(everything)}"].count("***") > len(encoded.lines) // 2
