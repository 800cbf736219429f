"""The corpus on a private engine: projects brought up, changed, and judged by the program and by Compose itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import yaml

import docker
from bcon_exporter.compose import ComposeOptions, ComposeReader
from bcon_exporter.drift import detect_drift, find_projects
from bcon_exporter.engine import DockerHost, HostOptions, Wants, find_endpoint
from bcon_exporter.errors import BconError
from bcon_exporter.journal import MemoryKeeper
from bcon_exporter.secrets.masking import Sealer
from tests.drift_corpus.dry_run import Verdict, read_verdict
from tests.drift_corpus.images import build_images, read_names
from tests.drift_corpus.rewriting import REWRITINGS, WHOLE_PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from bcon_exporter.model.container_facts import HostSnapshot
    from bcon_exporter.model.reports import DriftReport
    from tests.docker.engine import PrivateEngine
    from tests.drift_corpus.cases import Case, Change

T = TypeVar("T")
BINARY = Path(sys.executable).parent / "docker-compose"
AT_ONCE = 4


class _AnyTag(yaml.SafeLoader):
    """Reads Compose's `!reset` and `!override` too."""


_AnyTag.add_multi_constructor("!", lambda _loader, _suffix, _node: None)


class Stack:
    """One project of the corpus, in a folder of its own."""

    def __init__(self, case: Case, engine: PrivateEngine, folder: Path) -> None:
        self.case, self.engine, self.folder = case, engine, folder
        shutil.copytree(case.folder, folder, ignore=shutil.ignore_patterns("expect.yaml"))
        self.project = case.project or ""

    @property
    def file(self) -> Path:
        """The Compose file that a user would give."""
        return self.folder / self.case.main_file

    def up(self, *more: str) -> None:
        """Bring it up as its user does."""
        arguments = ("up", "-d", "--no-build", "--pull", "never", "-t", "0", *more)
        self._run([str(BINARY), *self.case.flags, *arguments])

    def prepare(self) -> None:
        """Make what must be there first, bring it up, and do what changes nothing."""
        for command in self.case.before:
            self.do(command)
        self.up()
        for command in self.case.after:
            self.do(command)

    def find_name(self) -> None:
        """Ask Compose what the project is called."""
        self.project = json.loads(self._run([str(BINARY), *self.case.flags, "config", "--format", "json"]))["name"]

    def do(self, command: str) -> None:
        """Run one command of expect.yaml."""
        words = command.replace("{p}", self.project).split()
        match words:
            case ["docker", *rest]:
                self._run(["docker", *rest])
            case ["compose", *rest]:
                self._run([str(BINARY), *self.case.flags, *rest])
            case ["imitate", name, setting]:
                imitate(self.engine.host, name, setting)
            case ["rm", file]:
                (self.folder / file).unlink()
            case _:
                raise AssertionError(command)

    def apply(self, change: Change) -> None:
        """Change files and engine."""
        for name, replaced in change.edits.items():
            text = (self.folder / name).read_text()
            for old, new in replaced.items():
                assert old in text, f"{self.case.name}: {name} has no {old!r}"
                text = text.replace(old, new)
            (self.folder / name).write_text(text)
        for name, text in change.writes.items():
            (self.folder / name).write_text(text)
        for command in change.commands:
            self.do(command)

    def rewrite(self, name: str) -> bool:
        """Write the files another way; False where this project's cannot be written so."""
        files = self.case.compose_files
        if name in self.case.plain or (name in WHOLE_PROJECT and len(files) > 1):
            return False
        for file in files if name not in WHOLE_PROJECT else (self.case.main_file,):
            path = self.folder / file
            for other, text in REWRITINGS[name](path.read_text()).items():
                (path.with_name(other) if other else path).write_text(text)
        return True

    def restore_files(self) -> None:
        """Bring back the files as they are in the repository."""
        for path in self.case.folder.rglob("*"):
            if path.is_file() and path.name != "expect.yaml":
                shutil.copy2(path, self.folder / path.relative_to(self.case.folder))
        for path in self.folder.rglob("*"):
            if path.is_file() and not (self.case.folder / path.relative_to(self.folder)).exists():
                path.unlink()

    def rebuild(self) -> None:
        """Bring everything back after a change of the engine."""
        self.restore_files()
        labelled = self._run(["docker", "ps", "-aq", "--filter", f"label=com.docker.compose.project={self.project}"])
        named = self._run(["docker", "ps", "-aq", "--filter", f"name=^{self.project}-"])
        if containers := sorted({*labelled.split(), *named.split()}):
            self._run(["docker", "rm", "-f", *containers])
        self.up()

    def dry_run(self, environment: Mapping[str, str] | None = None) -> Verdict:
        """Ask Compose what it would do."""
        listed = self._run(["docker", "ps", "-a", "--format", '{{.Names}}={{.Label "com.docker.compose.service"}}'])
        known = {name: service for name, _, service in (line.partition("=") for line in listed.splitlines()) if service}
        known.update(self._container_names())
        command = [str(BINARY), *self.case.flags, "--progress", "json", "--dry-run", "up", "-d", "--no-build"]
        output = self._run([*command, "--pull", "never"], environment, check=False)
        return read_verdict(output, self.project, known)

    def _container_names(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in self.case.compose_files:
            try:
                document = yaml.load((self.folder / name).read_text(), Loader=_AnyTag) or {}
            except (OSError, yaml.YAMLError):
                continue
            for service, body in (document.get("services") or {}).items():
                if isinstance(body, dict) and body.get("container_name"):
                    found[str(body["container_name"])] = str(service)
        return found

    def environ(self, environment: Mapping[str, str] | None = None) -> dict[str, str]:
        """The variables of its user's shell."""
        shell = {"PATH": os.environ["PATH"], "HOME": str(self.folder.parent)}
        return {**shell, **self.case.environment, **(environment or {})}

    def _run(self, command: list[str], environment: Mapping[str, str] | None = None, *, check: bool = True) -> str:
        client = {"DOCKER_HOST": self.engine.host, "DOCKER_CONFIG": str(self.engine.state / "client")}
        environ = {**self.environ(environment), **client}
        done = subprocess.run(
            command, cwd=self.folder, env=environ, capture_output=True, text=True, timeout=180, check=False
        )
        if check and done.returncode != 0:
            message = f"{self.case.name}: {' '.join(command)} ended with status {done.returncode}: {done.stderr[-800:]}"
            raise AssertionError(message)
        return done.stdout if check else f"{done.stdout}\n{done.stderr}"


class Corpus:
    """All projects of the corpus that this machine can run, on one engine."""

    def __init__(self, engine: PrivateEngine, folder: Path, cases: Iterable[Case]) -> None:
        self.engine, self.folder = engine, folder
        self.stacks = {case.name: Stack(case, engine, folder / case.name) for case in cases}
        self._sealer = Sealer.random()
        self._readers: dict[str, ComposeReader] = {}

    def each(self, work: Callable[[Stack], T], names: Iterable[str] | None = None) -> dict[str, T]:
        """Do something with every project, some at a time."""
        chosen = list(self.stacks if names is None else names)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(chosen, pool.map(lambda name: work(self.stacks[name]), chosen), strict=True))

    def bring_up(self) -> None:
        """Build the images and bring every project up."""
        build_images(self.engine.host)
        self.each(Stack.find_name)
        self.each(Stack.prepare)

    def restore_images(self) -> None:
        """Let every name stand for its own image again."""
        for variant, names in read_names().items():
            for name in names:
                self.engine.docker("tag", f"corpus/{variant}", name)

    def take_snapshot(self) -> HostSnapshot:
        """Look at the engine as the program does."""
        now = datetime.now(UTC)
        host = DockerHost(find_endpoint(self.engine.host, {}, home=Path("/")), HostOptions(), self._sealer)
        with closing(host), closing(MemoryKeeper.open(None, retention_seconds=3600, now=now)) as history:
            history.add_events(host.drain_events(), now)
            return history.observe(host.observe(now, 60, Wants(logs=False, usage=False, config=True)).snapshot)

    def judge(
        self, stack: Stack, snapshot: HostSnapshot, environment: Mapping[str, str] | None = None
    ) -> DriftReport | BconError:
        """Compare as `bcon-exporter drift FILE` does."""
        environ = stack.environ(environment)
        reader = self._reader(environ)
        known = find_projects(snapshot)
        try:
            project = reader.resolve_file(str(stack.file), stack.case.project, snapshot.taken_at, known)
        except BconError as error:
            return error
        return detect_drift(project, snapshot)

    def judge_as_daemon(self, stack: Stack, snapshot: HostSnapshot) -> DriftReport:
        """Compare as the daemon does, which knows only what the containers' labels tell."""
        running = next(one for one in find_projects(snapshot) if one.name == stack.project)
        return detect_drift(self._reader({}, root=stack.folder).resolve_running(running, snapshot.taken_at), snapshot)

    def _reader(self, environ: dict[str, str], root: Path | None = None) -> ComposeReader:
        """Return a reader: a daemon's, which reads below one root, or a user's."""
        key = json.dumps([sorted(environ.items()), str(root)])
        if key not in self._readers:
            roots = () if root is None else (root,)
            options = ComposeOptions(binary=(str(BINARY),), environ=environ, trusted=root is None, roots=roots)
            self._readers[key] = ComposeReader(options, self._sealer)
        return self._readers[key]


def imitate(host: str, name: str, setting: str) -> None:
    """Make a container anew by hand: everything is copied, its labels too, but one variable is another."""
    client = docker.APIClient(base_url=host, version="auto", timeout=60)
    try:
        old = client.inspect_container(name)
        key = setting.partition("=")[0]
        config = {
            **old["Config"],
            "Env": [one for one in old["Config"]["Env"] if not one.startswith(f"{key}=")] + [setting],
        }
        endpoints = {
            network: {"Aliases": [alias for alias in one["Aliases"] if alias != old["Id"][:12]]}
            for network, one in old["NetworkSettings"]["Networks"].items()
        }
        client.remove_container(name, force=True)
        config |= {"HostConfig": old["HostConfig"], "NetworkingConfig": {"EndpointsConfig": endpoints}}
        made = client.create_container_from_config(config, name)  # type: ignore[no-untyped-call]  # not in types-docker
        client.start(made["Id"])
    finally:
        client.close()
