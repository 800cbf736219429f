"""Settings that are well written and yet to be warned of: paths that lead nowhere here, names that will go."""

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic.fields import FieldInfo

from bcon_exporter.settings.model import Settings, list_settings, stage_of

_JSON_SIGNS = frozenset("[]{}\"'")


def find_warnings(settings: Settings, described: Mapping[str, FieldInfo] | None = None) -> tuple[str, ...]:
    """Return a sentence for each setting that will go, and for each path that cannot be of use as it stands.

    The program starts all the same.

    Args:
        settings: As they were given.
        described: All settings there are, by dotted name; those of the model when absent.
    """
    return (*_warn_of_stages(settings, list_settings() if described is None else described), *_warn_of_paths(settings))


def _warn_of_stages(settings: Settings, described: Mapping[str, FieldInfo]) -> Iterator[str]:
    for name, field in described.items():
        notice = stage_of(field).notice
        if notice and settings.was_given(name):
            yield f"{settings.origin_of(name)}: the setting {name} is {notice}"


def _warn_of_paths(settings: Settings) -> tuple[str, ...]:
    named = [("compose.roots", path) for path in settings.compose.roots]
    named += [("compose.files", path) for path in settings.compose.files]
    warnings = [doubt for setting, path in named if (doubt := _warn_of_path(setting, path)) is not None]
    state = settings.state.path
    if isinstance(state, Path) and stat.S_ISDIR(_mode_of(state)):
        warnings.append(f"state.path: {state} is a folder; name a file in it, for example {state / 'state.db'}")
    return tuple(warnings)


def _warn_of_path(setting: str, path: Path) -> str | None:
    if _JSON_SIGNS.intersection(str(path)):
        return f"{setting}: {path} looks like JSON or has quotes; write plain paths, with commas between them"
    mode = _mode_of(path)
    if setting == "compose.roots" and mode and not stat.S_ISDIR(mode):
        return f"{setting}: {path} is a file; name the folder that holds it, or use compose.files"
    return None if mode else f"{setting}: {path} does not exist here"


def _mode_of(path: Path) -> int:
    """Return what is at a path, 0 for nothing that can be seen; pathlib raises where a folder may not be entered."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0
