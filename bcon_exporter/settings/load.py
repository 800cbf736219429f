"""Merges the sources, checks the result, and says in one line what is wrong."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bcon_exporter.errors import SettingsError
from bcon_exporter.model.receivers import Receiver, name_apart, parse_receivers
from bcon_exporter.model.validation_messages import tell_refusal
from bcon_exporter.regular_files import UnreadableFileError, check_regular_file, read_regular_file
from bcon_exporter.settings.model import Settings
from bcon_exporter.settings.sources import Source, env_name, read_environment, read_flags, read_yaml

_RECEIVERS_MAX_BYTES = 64 * 1024
ROOT_STATE_FILE = Path("/var/lib/bcon-exporter/state.db")


def current_environment() -> dict[str, str]:
    """Return the process's environment: the only place that reads it."""
    return dict(os.environ)  # noqa: TID251 -- the settings are its one reader


def load_settings(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Return all settings: flags win over BCON_* variables, those over the YAML file, that over the defaults.

    Args:
        flags: Nested, as `add_setting_flags` reads them.
        environ: The environment; the process's own when absent.

    Raises:
        SettingsError: One line that names the flag, variable or file and line; never a value.
    """
    environ = current_environment() if environ is None else environ
    given = read_flags(flags or {})
    variables = read_environment(environ)
    written = _read_file(given if given.values.get("config.file") else variables)
    default = Source(values={"state.path": str(default_state_file(environ))})
    sources = (default, written, variables, given)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for source in sources:
        values |= source.values
        origins |= source.origins
    try:
        settings = Settings(**_nest(values))
    except ValidationError as error:
        raise _one_line(error, origins) from None
    _check_paths(settings, origins)
    return settings.written_at(origins)


def _read_file(source: Source) -> Source:
    """Return the settings of the file that a source names, nothing when it names none."""
    file = source.values.get("config.file")
    return read_yaml(Path(str(file)).expanduser(), source.origins["config.file"]) if file else Source()


def default_state_file(environ: Mapping[str, str]) -> Path:
    """Return where the history is kept: system-wide for root, else in the XDG state folder."""
    if environ.get("XDG_STATE_HOME", "").startswith("/"):
        return Path(environ["XDG_STATE_HOME"]) / "bcon-exporter" / "state.db"
    if os.geteuid() == 0:
        return ROOT_STATE_FILE
    home = environ.get("HOME") or "~"
    return Path(home).expanduser() / ".local" / "state" / "bcon-exporter" / "state.db"


def list_receivers(settings: Settings) -> tuple[Receiver, ...]:
    """Return who gets messages, by the settings and by the file that they name.

    Raises:
        SettingsError: The file cannot be read or is written wrong; never quotes it.
    """
    wanted, file = settings.notify, settings.notify.url_file
    if file is None:
        return wanted.url
    try:
        lines = read_regular_file(file, _RECEIVERS_MAX_BYTES).decode().splitlines()
        return name_apart((*wanted.url, *_read_receivers(lines)))
    except (UnreadableFileError, UnicodeDecodeError, ValueError) as error:
        reason = "is not text" if isinstance(error, UnicodeDecodeError) else error
        msg = f"{settings.origin_of('notify.url-file')}: {file} {reason}"
        raise SettingsError(msg, {"setting": "notify.url-file", "file": str(file)}) from None


def _read_receivers(lines: Iterable[str]) -> Iterator[Receiver]:
    """Yield the receivers of a file's lines; empty ones and comments are left out.

    Raises:
        ValueError: A line is written wrong; the message names it by its number.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            yield from parse_receivers(line)
        except ValueError as error:
            msg = f"line {number}: {error}"
            raise ValueError(msg) from None


def _nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for dotted, value in flat.items():
        *groups, leaf = dotted.replace("-", "_").split(".")
        node = nested
        for group in groups:
            node = node.setdefault(group, {})
        node[leaf] = value
    return nested


def _one_line(error: ValidationError, origins: Mapping[str, str]) -> SettingsError:
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    first = problems[0]
    path = [str(part).replace("_", "-") for part in first["loc"]]
    message = tell_refusal(first)
    dotted = next((".".join(path[:n]) for n in range(len(path), 0, -1) if ".".join(path[:n]) in origins), None)
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    where = origins[dotted] if dotted else ""
    line = f"{where}: {message}{more}" if where else f"{message}{more}"
    return SettingsError(line, {"setting": dotted or "", "variable": env_name(dotted) if dotted else ""})


def _check_paths(settings: Settings, origins: Mapping[str, str]) -> None:
    """Refuse at start what would fail at every scan."""
    files = {
        "compose.env-file": settings.compose.env_file,
        "web.config.file": settings.web.config.file,
        "alertmanager.config.file": settings.alertmanager.config.file,
        "notify.url-file": settings.notify.url_file,
    }
    for dotted, path in files.items():
        try:
            if path is not None:
                check_regular_file(path)
        except UnreadableFileError as error:
            msg = f"{origins.get(dotted, dotted)}: {path} {error}"
            raise SettingsError(msg, {"setting": dotted, "file": str(path)}) from None
    directory = settings.catalogue.directory
    if directory is not None and not directory.is_dir():
        msg = f"{origins.get('catalogue.directory', 'catalogue.directory')}: there is no directory {directory}"
        raise SettingsError(msg, {"setting": "catalogue.directory", "file": str(directory)})
