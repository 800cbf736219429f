"""Names that Tab completes: containers, projects and tools, asked for at that moment only.

What is asked weighs (the settings, the engine's list), so it is imported when somebody presses Tab at such a place.
"""

from argparse import Namespace
from collections.abc import Mapping

LIST_SECONDS = 2.0
"""How long an engine may keep somebody waiting who has pressed Tab."""


def complete_containers(*, parsed_args: Namespace, **_: object) -> list[str]:
    """Return the names of all containers; none where no engine answers."""
    return list(_list_names(parsed_args))


def complete_projects(*, parsed_args: Namespace, **_: object) -> list[str]:
    """Return the names of all Compose projects that have containers."""
    return sorted({project for project in _list_names(parsed_args).values() if project is not None})


def complete_containers_and_projects(*, parsed_args: Namespace, **_: object) -> list[str]:
    """Return both."""
    return [*complete_containers(parsed_args=parsed_args), *complete_projects(parsed_args=parsed_args)]


def complete_tools(**_: object) -> list[str]:
    """Return the names of all tools."""
    from bcon_exporter.tools import TOOLS

    return [tool.name for tool in TOOLS]


def _list_names(parsed_args: Namespace) -> Mapping[str, str | None]:
    from bcon_exporter.app import build_host
    from bcon_exporter.errors import BconError
    from bcon_exporter.settings import load_settings

    host = None
    try:
        host = build_host(load_settings(_read_flags(parsed_args)))
        return host.list_names(LIST_SECONDS)
    except BconError:  # a Tab is no place for a message
        return {}
    finally:
        if host is not None:
            host.close()


def _read_flags(parsed_args: Namespace) -> dict[str, dict[str, str]]:
    """Return the flags that say which engine is meant, nested as settings are."""
    given = {name: getattr(parsed_args, name, None) for name in ("docker.host", "config.file")}
    split = ((name.split("."), value) for name, value in given.items() if value is not None)
    return {section: {key: value} for (section, key), value in split}
