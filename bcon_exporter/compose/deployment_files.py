"""Which files a user's words for `docker compose` mean, and copies of those that are judged with an edit in them."""

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bcon_exporter.compose.edited_files import EditedView
from bcon_exporter.compose.env_files import parse_env_file
from bcon_exporter.compose.file_signatures import ABSENT, Signature, read_file, sign
from bcon_exporter.compose.files import check_file, find_default_file, find_override, is_directory
from bcon_exporter.compose.invocation import ComposeInvocation
from bcon_exporter.compose.key_locations import find_key_locations
from bcon_exporter.compose.wanted_deployment import Deployment, make_deployment
from bcon_exporter.errors import BconError, ComposeFileNotFoundError
from bcon_exporter.host_secrets import HostSecrets
from bcon_exporter.model.deployment import ComposeRefusal, DeploymentWords, KeyLocation, MissingEnvFile
from bcon_exporter.model.desired import DesiredProject
from bcon_exporter.secrets.known_secrets import NO_SECRETS, KnownSecrets
from bcon_exporter.secrets.masking import safe_text

_NO_ENV_FILE = "/dev/null"


@dataclass(frozen=True)
class ResolvedDeployment:
    """What the files of a deployment say.

    Attributes:
        deployment: What it would make; None where even a lenient reading fails.
        desired: For drift; None where Compose refuses the files.
        refusal: Why Compose refuses them.
        problem: Why it could not be asked, or not be believed.
        programs: Program that Compose would call on this machine → whether it is there.
        places: Where each key stands.
        files: Path of each file that was read → its SHA-256.
    """

    deployment: Deployment | None = None
    desired: DesiredProject | None = None
    refusal: ComposeRefusal | None = None
    problem: str | None = None
    programs: Mapping[str, bool] = field(default_factory=dict)
    places: Mapping[str, KeyLocation] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResolvedEdit:
    """What a project's files say with an edit, and without.

    Attributes:
        file: The edited one, as the Docker host knows it.
        before, after: Its texts; never to be shown as they are.
        plain, edited: Without the edit, and with it.
        book: What is known as a secret with the edit; kept apart, for nobody has written it.
    """

    file: str
    before: str = field(repr=False)
    after: str = field(repr=False)
    plain: ResolvedDeployment
    edited: ResolvedDeployment
    book: HostSecrets


@dataclass(frozen=True, slots=True)
class FoundText:
    """A file that a known project reads, or that lies below compose.roots.

    Attributes:
        file: As the Docker host knows it.
        text: Never to be shown as it is.
        projects: Those that read it.
    """

    file: str
    text: str = field(repr=False)
    projects: tuple[str, ...] = ()


def find_named_files(words: DeploymentWords, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the Compose files that words name, without any those that Compose takes by itself; empty without one.

    Raises:
        ComposeFileNotFoundError, PermissionDeniedError: One is not there, or may not be read.
    """
    here = Path.cwd()
    return tuple(map(_readable, [here / name for name in words.files] or _find_files_of_shell(here, environ)))


def no_file_error() -> ComposeFileNotFoundError:
    """Return the error for words that lead to no file."""
    here = Path.cwd()
    msg = f"There is no Compose file in {here} or above it. Name one with -f, or a running project with -p."
    return ComposeFileNotFoundError(msg, {"directory": str(here)})


def _find_files_of_shell(here: Path, environ: Mapping[str, str]) -> list[Path]:
    """Return the files that Compose takes when it is given none: those of COMPOSE_FILE, else the nearest default file.

    COMPOSE_FILE may stand in `.env` as well.
    """
    values = dict(parse_env_file((read_file(here / ".env") or b"").decode("utf-8-sig", "replace"))) | dict(environ)
    separator = values.get("COMPOSE_PATH_SEPARATOR") or os.pathsep
    if named := [here / name for name in values.get("COMPOSE_FILE", "").split(separator) if name]:
        return named
    default = next((file for folder in (here, *here.parents) if (file := find_default_file(folder))), None)
    return [] if default is None else [file for file in (default, find_override(default)) if file]


def _readable(file: Path) -> Path:
    if is_directory(file):
        file = find_default_file(file) or file
    if (wrong := check_file(file)) is not None:
        raise wrong
    return Path(os.path.normpath(file))


def find_places(invocation: ComposeInvocation, edited: Mapping[str, str]) -> dict[str, KeyLocation]:
    """Return where the keys of a project's files stand."""

    def read(file: str) -> str | None:
        if file in edited:
            return edited[file]
        content = read_file(Path(file))
        return None if content is None else content.decode("utf-8-sig", "replace")

    def join(file: str, name: str) -> str:
        return os.path.normpath(os.path.join(os.path.dirname(file), name))  # noqa: PTH118, PTH120 -- strings

    return find_key_locations(tuple(map(str, invocation.files)), read, join)


def name_originals(
    resolved: ResolvedDeployment,
    view: EditedView,
    places: Mapping[str, KeyLocation],
    looked_at: Mapping[str, Signature],
) -> ResolvedDeployment:
    """Return what was resolved with the originals' paths in place of the edits', and hashes of what was read."""
    hashes = {
        view.original(path): hashlib.sha256(content).hexdigest()
        for path in sorted(looked_at)
        if (content := read_file(Path(path))) is not None
    }
    refusal, desired = resolved.refusal, resolved.desired
    if refusal is not None:
        file = refusal.file and view.original(refusal.file)
        refusal = refusal.model_copy(update={"message": view.original(refusal.message), "file": file})
    if desired is not None:
        desired = desired.model_copy(
            update={
                "config_files": tuple(map(view.original, desired.config_files)),
                "working_dir": desired.working_dir and view.original(desired.working_dir),
            }
        )
    return replace(resolved, refusal=refusal, desired=desired, places=places, files=hashes)


def make_refusal(error: BconError) -> ComposeRefusal:
    """Return Compose's refusal as a value."""
    file, line = error.details.get("file"), error.details.get("line")
    return ComposeRefusal(
        message=error.message,
        file=str(file) if file else None,
        line=line if isinstance(line, int) else None,
    )


def missing_env_files(files: Iterable[Path]) -> frozenset[str]:
    """Return those of the env files that are not there."""
    return frozenset(str(file) for file in files if str(file) != _NO_ENV_FILE and sign(str(file)) is ABSENT)


def make_lenient(
    model: Mapping[str, Any],
    active_profiles: Collection[str],
    missing: Iterable[str],
    known: KnownSecrets = NO_SECRETS,
) -> Deployment:
    """Return what Compose reads of files that it refuses, with the env files that are not there.

    Args:
        model: What a lenient reading gives; empty where that fails too.
        active_profiles: Of the command line and the environment.
        missing: Env files of the command line that are not there.
        known: Values to hide.

    Raises:
        ValueError, TypeError, AttributeError, KeyError: A value is not what it must be.
    """
    services = model.get("services") or {}
    enabled = {
        name
        for name, service in services.items()
        if not service.get("profiles") or not {"*", *service["profiles"]}.isdisjoint(active_profiles)
    }
    deployment = make_deployment(model, enabled, known, is_lenient=True)
    found = [MissingEnvFile(path=safe_text(path)) for path in sorted(missing)]
    for name in sorted(enabled):
        needed = [entry for entry in services[name].get("env_file") or () if entry.get("required") is not False]
        absent = missing_env_files(Path(str(entry["path"])) for entry in needed)
        found += [MissingEnvFile(path=safe_text(path), service=name) for path in sorted(absent)]
    wanted = deployment.wanted.model_copy(update={"missing_env_files": tuple(found)})
    return replace(deployment, wanted=wanted)
