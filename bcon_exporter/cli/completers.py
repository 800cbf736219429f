"""Shell completion: the names of containers, projects and tools, listed when somebody presses Tab.

Listing names needs the settings and the engine, which are slow to import; so they are imported on Tab only.
"""

from argparse import Namespace
from collections.abc import Mapping

LIST_SECONDS = 2.0
"""The longest that Tab waits for the engine."""


def complete_containers(*, parsed_args: Namespace, **_: object) -> list[str]:
    """Return the names of all containers; none where no engine answers."""
    return list(_list_containers(parsed_args))


def complete_projects(*, parsed_args: Namespace, **_: object) -> list[str]:
    """Return the names of all Compose projects that have containers."""
    return _projects_of(_list_containers(parsed_args))


def complete_containers_and_projects(*, parsed_args: Namespace, **_: object) -> list[str]:
    """Return both, from one call to the engine."""
    containers = _list_containers(parsed_args)
    return [*containers, *_projects_of(containers)]


def complete_tools(**_: object) -> list[str]:
    """Return the names of all tools."""
    from bcon_exporter.tools import TOOLS

    return [tool.name for tool in TOOLS]


def _projects_of(containers: Mapping[str, str | None]) -> list[str]:
    return sorted({project for project in containers.values() if project is not None})


def _list_containers(parsed_args: Namespace) -> Mapping[str, str | None]:
    """Return each container's name with its Compose project; nothing where no engine answers."""
    from bcon_exporter.app import build_host
    from bcon_exporter.errors import BconError
    from bcon_exporter.settings import load_settings

    host = None
    try:
        host = build_host(load_settings(_read_flags(parsed_args)))
        return host.list_names(LIST_SECONDS)
    except BconError:  # Tab has no place for an error message
        return {}
    finally:
        if host is not None:
            host.close()


def _read_flags(parsed_args: Namespace) -> dict[str, dict[str, str]]:
    """Return the flags that say which engine is meant, nested as settings are."""
    given = {name: getattr(parsed_args, name, None) for name in ("docker.host", "config.file")}
    split = ((name.split("."), value) for name, value in given.items() if value is not None)
    return {section: {key: value} for (section, key), value in split}
