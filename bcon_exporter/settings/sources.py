"""Reads settings from flags, environment and YAML into flat maps, each value with where it was written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bcon_exporter.errors import SettingsError
from bcon_exporter.model.name_suggestions import did_you_mean
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.settings.model import list_settings
from bcon_exporter.yaml_faults import YAML_FAULTS, line_of_fault, tell_fault

ENV_PREFIX = "BCON_"
FOREIGN_PREFIX = "BCON_EXPORTER_"
"""Kubernetes and Docker links set such variables for every service named bcon-exporter: not ours to judge."""

_NOT_IN_FILE = ("config.file", "config.check")


@dataclass(frozen=True, slots=True)
class Source:
    """Raw values of one source.

    Attributes:
        values: Dotted name ("scan.deadline") → raw value.
        origins: Dotted name → where it was written, as a message names it.
    """

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)


def env_name(dotted: str) -> str:
    """Return the variable of a setting: scan.deadline → BCON_SCAN__DEADLINE."""
    return ENV_PREFIX + dotted.replace(".", "__").replace("-", "_").upper()


def read_environment(environ: Mapping[str, str]) -> Source:
    """Return the BCON_* variables; an empty one counts as unset, as Compose passes absent ones.

    Raises:
        SettingsError: A variable is none of ours.
    """
    by_variable = {env_name(dotted): dotted for dotted in list_settings()}
    source = Source()
    for variable, value in sorted(environ.items()):
        if not variable.startswith(ENV_PREFIX) or variable.startswith(FOREIGN_PREFIX):
            continue
        dotted = by_variable.get(variable)
        if dotted is None:
            shown = clean_name(variable)[:100]
            msg = f"unknown environment variable {shown}{did_you_mean(shown, by_variable)}"
            raise SettingsError(msg, {"variable": shown})
        if value != "":
            source.values[dotted] = value
            source.origins[dotted] = variable
    return source


def read_flags(nested: Mapping[str, Any]) -> Source:
    """Return the flags that pydantic-settings parsed."""
    source = Source()
    for dotted in list_settings():
        node: Any = nested
        for part in dotted.replace("-", "_").split("."):
            node = node.get(part) if isinstance(node, Mapping) else None
        if node is not None:
            source.values[dotted] = node
            source.origins[dotted] = f"--{dotted}"
    return source


def read_yaml(path: Path, origin: str = "--config.file") -> Source:
    """Return the settings of a YAML file.

    Args:
        path: The file.
        origin: The flag or variable that named it.

    Raises:
        SettingsError: The file cannot be read, is no YAML, or has an unknown or repeated key; names file and line,
            never quotes its content.
    """
    try:
        raw = read_regular_file(path)
    except UnreadableFileError as error:
        msg = f"{origin}: {path} {error}"
        raise SettingsError(msg, {"file": str(path)}) from None
    try:
        root = yaml.compose(raw, Loader=yaml.SafeLoader)
    except YAML_FAULTS as error:
        raise _fault(path, line_of_fault(error) or 1, tell_fault(error)) from None
    source = Source()
    if root is not None:
        _walk(path, root, "", source)
    return source


def _walk(path: Path, node: yaml.Node, prefix: str, source: Source) -> None:
    """Collect the leaves below a mapping; a leaf is what is named by a setting, whatever its shape."""
    line = node.start_mark.line + 1
    if not isinstance(node, yaml.MappingNode):
        what = f"{prefix[:-1]} is a group of settings" if prefix else "the file must be a mapping of settings"
        raise _fault(path, line, what)
    known = [name for name in list_settings() if name not in _NOT_IN_FILE]
    for key, value in node.value:
        key_line = key.start_mark.line + 1
        dotted = prefix + str(getattr(key, "value", "")).replace("_", "-")
        if dotted in source.origins:
            raise _fault(path, key_line, f"{clean_name(dotted)[:100]} is given twice")
        if dotted in known:
            source.origins[dotted] = f"{path}:{key_line}: {dotted}"
            if not _is_empty(value):
                source.values[dotted] = _construct(path, value)
        elif any(name.startswith(dotted + ".") for name in known):
            if not _is_empty(value):
                _walk(path, value, dotted + ".", source)
        else:
            shown = clean_name(dotted)[:100]
            if dotted in _NOT_IN_FILE:
                raise _fault(path, key_line, f"{shown} cannot stand in the file itself")
            raise _fault(path, key_line, f"unknown setting {shown}{did_you_mean(shown, known)}")


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _construct(path: Path, node: yaml.Node) -> Any:
    """Return the plain value of a leaf: a scalar, a list of scalars or a mapping of scalars."""
    children = node.value if isinstance(node.value, list) else []
    flat = [part for child in children for part in (child if isinstance(child, tuple) else (child,))]
    if any(not isinstance(child, yaml.ScalarNode) for child in flat):
        raise _fault(path, node.start_mark.line + 1, "is nested deeper than any setting")
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node, deep=True)
    except YAML_FAULTS:
        raise _fault(path, node.start_mark.line + 1, "has a value that YAML cannot read") from None
    finally:
        loader.dispose()


def _fault(path: Path, line: int, what: str) -> SettingsError:
    return SettingsError(f"{path}:{line}: {what}", {"file": str(path), "line": line})
