"""Settings that are well written and yet hardly what was meant: paths that lead nowhere here."""

import stat
from pathlib import Path

from bcon_exporter.settings.model import Settings

_JSON_SIGNS = frozenset("[]{}\"'")


def find_path_warnings(settings: Settings) -> tuple[str, ...]:
    """Return a sentence for each path that cannot be of use as it stands; the program starts all the same."""
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
