"""Writes the list of all names that others build upon: `make interface`, once, when the version is raised.

It can list an older checkout too, for it imports nothing but the package:
`PYTHONPATH=CHECKOUT python tests/interface/write.py FILE`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import yaml

import bcon_exporter
from bcon_exporter.alerting import INCIDENT_ALERT
from bcon_exporter.cli.commands import COMMANDS
from bcon_exporter.cli.exits import Exit
from bcon_exporter.cli.setting_flags import read_table
from bcon_exporter.errors import ErrorCode
from bcon_exporter.model.findings import DriftType, SymptomType
from bcon_exporter.outputs.alertmanager.wording import label_incident
from bcon_exporter.outputs.http.api import create_api
from bcon_exporter.outputs.http.request_threads import RequestThreads
from bcon_exporter.outputs.metrics import FAMILIES
from bcon_exporter.settings import list_settings
from bcon_exporter.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from bcon_exporter.cli.parsing import Command

LAST_RELEASE = Path(__file__).with_name("last_release.txt")
_RULES = Path(bcon_exporter.__file__).parents[1] / "alerts" / "bcon.rules.yml"


def collect() -> list[str]:
    """Return a line for each name; a name that is not stable has its stage before it."""
    return sorted({*_metrics(), *_settings(), *_commands(), *_tools(), *_addresses(), *_alerts(), *_codes()})


def render(lines: Iterable[str], version: str) -> str:
    """Return the text of the file."""
    return "\n".join((f"# {version}, written by tests/interface/write.py", *lines, ""))


def _word(row: object) -> str:
    """Return what stands before the names of a row: nothing of a stable one, and of those from before stages."""
    word = getattr(getattr(row, "stage", None), "word", "stable")
    return "" if word == "stable" else f"{word} "


def _metrics() -> Iterator[str]:
    for family in FAMILIES:
        name = f"{_word(family)}metric {family.name}"
        yield f"{name} {family.kind}"
        yield from (f"{name} label {label}" for label in family.labels)


def _settings() -> Iterator[str]:
    metavars = {flag["name"]: flag["metavar"] or "SWITCH" for flag in read_table()["flags"]}
    for name, field in list_settings().items():
        words = [f"{mark.word} " for mark in field.metadata if getattr(mark, "word", "stable") != "stable"]
        yield f"{''.join(words)}setting {name} {metavars[name]}"


def _commands() -> Iterator[str]:
    for command in COMMANDS:
        name = f"{_word(command)}command {command.name}"
        yield name
        yield from (f"{name} {word}" for word in _words_of(command))


def _words_of(command: Command) -> Iterator[str]:
    parser = ArgumentParser(add_help=False)
    command.add_arguments(parser)
    for action in parser._actions:
        names = action.option_strings or [str(action.metavar or action.dest).upper()]
        yield from names
        yield from (f"{names[0]} {choice}" for choice in action.choices or ())


def _tools() -> Iterator[str]:
    for tool in TOOLS:
        name = f"{_word(tool)}tool {tool.name}"
        yield name
        schema = tool.input_schema()
        yield from (f"{name} input {key.partition(': ')[0]}" for key in _keys(schema, schema.get("$defs", {})))


def _addresses() -> Iterator[str]:
    """Each address with its parameters; the keys of its result, where no address before it has the same."""
    document = _read_document()
    listed: set[str] = set()
    for path, operations in document["paths"].items():
        for method in operations.keys() & {"get", "post"}:
            operation = operations[method]
            stage = operation.get("x-stage", "stable")
            name = f"{'' if stage == 'stable' else f'{stage} '}address {method.upper()} {path}"
            yield name
            parameters = operation.get("parameters", operations.get("parameters", ()))
            yield from (f"{name} {parameter['in']} {parameter['name']}" for parameter in parameters)
            content = operation["responses"].get("200", {}).get("content", {})
            result = content.get("application/json", {}).get("schema", {})
            if path.startswith("/api/") and result.get("$ref") not in listed:
                listed.add(result.get("$ref", ""))
                yield from (f"{name} gives {key}" for key in _keys(result, document["components"]["schemas"]))


def _read_document() -> dict[str, Any]:
    """Return the OpenAPI document, asked of the API's own route."""
    api = create_api(lambda: None, RequestThreads())  # type: ignore[arg-type,return-value] # no tool is called
    route = next(route for route in api.routes if getattr(route, "path", "") == "/openapi.json")
    answer = asyncio.run(route.endpoint())  # type: ignore[attr-defined] # every route of the API has one
    document: dict[str, Any] = json.loads(answer.body)
    return document


def _keys(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    """Yield "a.b[].c: type" for each key of an object, and for those below it."""
    yield from sorted(set(_keys_below(schema, definitions, "", frozenset())))


def _keys_below(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], path: str, above: frozenset[str]
) -> Iterator[str]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in above:
            yield from _keys_below(definitions[name], definitions, path, above | {name})
        return
    below = partial(_keys_below, definitions=definitions, above=above)
    for variant in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("prefixItems", ())):
        yield from below(variant, path=path)
    if isinstance(schema.get("items"), dict):
        yield from below(schema["items"], path=f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from below(schema["additionalProperties"], path=f"{path}.*")
    for key, value in schema.get("properties", {}).items():
        inner = f"{path}.{key}".lstrip(".")
        yield f"{inner}: {'|'.join(sorted(_types_of(value, definitions)))}"
        yield from below(value, path=inner)


def _types_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> set[str]:
    if "$ref" in schema:
        return _types_of(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    variants = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
    return {type_ for variant in variants for type_ in _types_of(variant, definitions)} or {schema.get("type", "any")}


def _alerts() -> Iterator[str]:
    """Yield the alerts of Prometheus' rules with what they carry, and the labels of the alert that is pushed."""
    for group in yaml.safe_load(_RULES.read_text())["groups"]:
        for rule in (rule for rule in group["rules"] if "alert" in rule):
            name = f"alert {rule['alert']}"
            yield name
            yield from (f"{name} label {label}" for label in rule.get("labels", ()))
            yield from (f"{name} annotation {annotation}" for annotation in rule.get("annotations", ()))
    root = SimpleNamespace(code="exit_error", container="shop-db-1", project="shop", service="db")
    incident: Any = SimpleNamespace(id="2026-01-01-db-exit_error-1", root=root)
    yield from (f"alert {INCIDENT_ALERT} label {label}" for label, _ in label_incident(incident))


def _codes() -> Iterator[str]:
    yield from (f"exit {code.value} {code.name.lower()}" for code in Exit)
    yield from (f"error {code.value}" for code in ErrorCode)
    yield from (f"symptom {code.value}" for code in SymptomType)
    yield from (f"drift {code.value}" for code in DriftType)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else LAST_RELEASE
    target.write_text(render(collect(), bcon_exporter.__version__))
