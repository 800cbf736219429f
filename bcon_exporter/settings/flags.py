"""Adds every setting to an argument parser, through pydantic-settings, and reads what was given."""

from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_settings import CliSettingsSource

from bcon_exporter.settings.fields import Address, show_default
from bcon_exporter.settings.model import Settings, list_settings, stage_of

_WITH_COMMAS = "notify.url"
"""Addresses hold commas, and pydantic-settings joins repeated flags with them."""
_METAVARS: tuple[tuple[type, str], ...] = (
    (timedelta, "DURATION"),
    (Address, "ADDRESS"),
    (Path, "PATH"),
    (tuple, "LIST"),
    (int, "NUMBER"),
    (float, "NUMBER"),
)


def add_setting_flags(
    parser: ArgumentParser, shown: Callable[[str], bool] = lambda _: True
) -> Callable[[Namespace], Mapping[str, Any]]:
    """Give the parser a flag for each setting and return the function that reads them from its namespace.

    Args:
        parser: Of the command; it refuses what neither it nor the settings know.
        shown: Tells for a dotted name whether `--help` lists it; all are accepted.
    """
    described = list_settings()

    def add_argument(group: ArgumentParser, *names: str, **options: Any) -> Any:
        dotted = names[0].removeprefix("--")
        if dotted not in described:  # a whole section as JSON: nobody's flag
            return None
        field = described[dotted]
        options["help"] = _help(field) if shown(dotted) else SUPPRESS
        if "action" not in options or options["action"] in ("store", "append"):
            options["metavar"] = _metavar(field.annotation)
            options.pop("choices", None)  # pydantic's own message does not quote the value
        return ArgumentParser.add_argument(group, *names, **options)

    def add_group(host: ArgumentParser, **options: Any) -> Any:
        section = str(options.get("title", "")).removesuffix(" options")
        if not any(shown(dotted) for dotted in described if dotted.startswith(section + ".")):
            return host.add_argument_group()
        summary = str(options.get("description") or "").strip().splitlines()
        return host.add_argument_group(f"{section} settings", summary[0] if summary else None)

    source: CliSettingsSource[ArgumentParser] = CliSettingsSource(
        Settings,
        root_parser=parser,
        cli_kebab_case=True,
        cli_implicit_flags=True,
        cli_hide_none_type=True,
        cli_avoid_json=True,
        cli_use_class_docs_for_groups=True,
        add_argument_method=add_argument,
        add_argument_group_method=add_group,
    )

    def read(namespace: Namespace) -> Mapping[str, Any]:
        known = {dotted.replace("-", "_") for dotted in described}
        given = {name: value for name, value in vars(namespace).items() if name in known}
        return _with_whole_texts(source(parsed_args=given)(), given)

    return read


def _with_whole_texts(read: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what was read with the texts of a repeated flag one by one, where a comma is part of a value."""
    if _WITH_COMMAS not in given:
        return read
    section, name = _WITH_COMMAS.split(".")
    return {**read, section: {**read[section], name: given[_WITH_COMMAS]}}


def _help(field: FieldInfo) -> str:
    shown = show_default(field.default)
    text = (field.description or "").replace("%", "%%")
    text = f"{text} (default: {shown})" if shown and not isinstance(field.default, bool) else text
    return stage_of(field).add_to(text)


def _metavar(annotation: Any) -> str:
    """Return the word that stands for a value in `--help`."""
    if get_origin(annotation) is Literal:
        return "{" + ",".join(get_args(annotation)) + "}"
    for python_type, word in _METAVARS:
        if annotation is python_type or get_origin(annotation) is python_type:
            return word
    words = (_metavar(part) for part in get_args(annotation))
    return next((word for word in words if word != "TEXT"), "TEXT")
