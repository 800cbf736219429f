"""Configuration files in Prometheus' own formats: read strictly; what is wrong is one line that quotes no value."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from bcon_exporter.errors import SettingsError
from bcon_exporter.model.validation_messages import tell_refusal
from bcon_exporter.regular_files import UnreadableFileError, read_regular_file
from bcon_exporter.yaml_faults import YAML_FAULTS, line_of_fault, tell_fault

Problem = dict[str, Any]
"""One problem as pydantic describes it, without what was written."""


class Strict(BaseModel):
    """A part of such a file; refuses keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


Config = TypeVar("Config", bound=Strict)


def describe_problem(problem: Problem) -> str:
    """Return a sentence that names the key and what is wrong with it."""
    where = [str(part) for part in problem["loc"] if part != "[key]"]
    if problem["type"] == "extra_forbidden":
        return f"unknown key {'.'.join(where)}"
    return f"{'.'.join(where) or 'the file'}: {tell_refusal(problem)}"


def load_config(path: Path, model: type[Config], describe: Callable[[Problem], str] = describe_problem) -> Config:
    """Return the content of a file.

    Args:
        path: A YAML file.
        model: What it holds.
        describe: Says what is wrong with a key.

    Raises:
        SettingsError: It cannot be read, or a key is unknown or wrong.
    """
    raw = _read_yaml(path)
    try:
        return model.model_validate(raw if raw is not None else {})
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        msg = f"{path}: {describe(dict(first))}"
        raise SettingsError(msg, {"file": str(path)}) from None


def _read_yaml(path: Path) -> Any:
    try:
        return yaml.safe_load(read_regular_file(path))
    except UnreadableFileError as error:
        msg = f"{path}: {error}"
        raise SettingsError(msg, {"file": str(path)}) from None
    except YAML_FAULTS as error:
        line = line_of_fault(error)
        where = path if line is None else f"{path}, line {line}"
        msg = f"{where}: {tell_fault(error)}"
        raise SettingsError(msg, {"file": str(path)}) from None
