"""Sorts every text of a result: our words and names here, what containers and people chose to say there.

What is trusted is listed; all other text is not. So a tool that nobody has thought of yet can leak nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields as fields_of_dataclass
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from bcon_exporter.model.base import UntrustedText
from bcon_exporter.model.journal_kinds import JournalKind
from bcon_exporter.model.odd_names import is_odd_name

OWN_WORDS: Mapping[str, frozenset[str]] = {
    model: frozenset(fields.split())
    for model, fields in {
        "AffectedContainer": "name container_id image image_id stop_signal loses",
        "CheckFinding": "service message file",
        "CheckReport": "project summary services files rule_errors",
        "ConfigText": "path projects",
        "ContainerDetails": "image_id networks log_driver stop_signal",
        "ContainerHealthSummary": "container_id container_name top_issue root",
        "ContainerInfo": "id name image status ports restart_policy compose_project compose_service",
        "ContainerLogs": "container_id container_name",
        "ContainerStats": "container_id container_name",
        "CostEntry": "operation",
        "CostReport": "by_operation note",
        "DeployedService": "service root message",
        "DeploymentRecord": "project summary",
        "DiagnoseAllReport": "incomplete unread",
        "DiagnosisReport": "container_id container_name summary detailed_explanation project service root explains",
        "DiskItem": "name project containers note",
        "DiskReport": "engine_id unread",
        "DiskSpace": "path",
        "DriftFindings": "untracked",
        "DriftReport": "project_name compose_file compose_files untracked summary unknown_detail unresolved",
        "Effects": "away loses_network depending networks creates unknown",
        "EditEffect": "service",
        "ErrorExplanation": "container_id container_name explanation",
        "ExplainedCause": "id description",
        "FailedDeployment": "project summary",
        "FailedRun": "name project image",
        "FileSystemRow": "total free containers",
        "Flapping": "name project code",
        "HealthCheck": "docker_version message version endpoints",
        "HelpRow": "key kind says fields",
        "HostLoad": "pressure",
        "ImageRow": "name image_id tags containers",
        "Incident": "id title merged_into",
        "IncidentChange": "project service container text",
        "IncidentLine": "id title suffers merged_into",
        "IncidentMember": "container project service symptoms",
        "IncidentRoot": "container project service code",
        "Instead": "tool arguments",
        "JournalEntry": "host project service container code text",
        "LikelyCause": "id description",
        "Limits": "cpuset_cpus",
        "LogAnalysis": "",
        "LogEventGroup": "level signatures runbooks",
        "LogSymptom": "description",
        "LongDrift": "project service drift_type",
        "MemoryUser": "name",
        "NetworkRow": "name driver subnets project containers stopped",
        "NodeRow": "name engine_version api_version",
        "NotChecked": "what reason",
        "NotEvaluated": "missing reason",
        "NoteAbout": "container project",
        "NoteLine": "id",
        "OperationRows": "rows summary unread",
        "Passage": "id content",
        "PassageMetadata": "title",
        "Preview": "reason would why command",
        "ProjectLogEntry": "container",
        "ProjectLogs": "project unread",
        "ProjectRow": "name status",
        "QuietLine": "name",
        "QuietReport": "misread",
        "RemovedImage": "name image_id untagged",
        "RemovedVolume": "name project",
        "RootCause": "container_id container_name issue explains",
        "SearchHit": "id title content",
        "SeenBefore": "last_id",
        "ServiceDrift": "service_name message container_name",
        "ServicePlan": "service",
        "ServiceReplicas": "service_name",
        "ServiceRow": "service container summary",
        "ServiceVerdict": "service root message containers",
        "ShownNote": "id",
        "Suggestion": "action rationale check",
        "Symptom": "description",
        "SystemStatus": "engine_name engine_version api_version architecture operating_system kernel storage_driver "
        "cgroup_version states pressure unseen",
        "TaskFinding": "name status what",
        "TaskReport": "summary",
        "VolumeRow": "name driver project containers",
        "VerifyReport": "project summary notes config_files files reason",
        "WhatIfReport": "project path summary recreates",
        "WrittenNote": "id next_step",
    }.items()
}
"""Model → its texts that hold our words, numbers and names. A text that is neither here nor marked as `Untrusted` in
its model counts as untrusted, and fails a test."""

_NAME_FIELDS = frozenset(
    (
        *("name", "container", "container_name", "project", "project_name", "projects", "compose_project"),
        *("service", "service_name", "compose_service", "image", "root", "explains", "suffers", "containers"),
        *("untracked", "incomplete", "services", "recreates", "near_matches", "misread"),
        *(
            "away",
            "loses",
            "loses_network",
            "depending",
            "creates",
            "unknown",
            "stopped",
            "networks",
            "tags",
            "untagged",
        ),
    )
)
"""Fields that hold names. Those of projects and services come from labels, which may say anything."""
NO_NAME = "(no valid name)"
_SAFE_FIELDS = frozenset(
    (
        *("image", "restart", "mem_limit", "memswap_limit", "mem_reservation", "cpus", "pids_limit"),
        *("ports", "networks", "network_mode", "container_name"),
    )
)
"""Fields of a Compose file whose paths and values cannot be a sentence: names, numbers, words that the engine knows."""


def is_safe_field(path: str | None) -> bool:
    """Whether what a difference of this field says of itself is ours: neither its path nor its value is free text."""
    return path is None or path.partition(".")[0] in _SAFE_FIELDS


_UNLESS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "JournalEntry": ("text", lambda entry: entry.kind is JournalKind.CONFIG_CHANGE),
    "IncidentChange": ("text", lambda change: change.kind is JournalKind.CONFIG_CHANGE),
    "ServiceDrift": ("message", lambda drift: not is_safe_field(drift.field)),
    "DeployedService": ("message", lambda service: service.code is not None and service.code.value == "differs"),
    "ServiceVerdict": ("message", lambda service: service.code is not None and service.code.value == "differs"),
}
"""Model → a text of ours that is none in some cases: it names keys of variables or labels then, or quotes a program."""


class Sorted(NamedTuple):
    """A value, sorted.

    Attributes:
        own: JSON values of our words; what is absent or empty is left out.
        untrusted: All other texts, in their order, each once.
    """

    own: Any
    untrusted: tuple[str, ...]


def sort_texts(value: Any, *, without: frozenset[str] = frozenset()) -> Sorted:
    """Return a model value, sorted; `without` names fields of the value itself that are left out."""
    sorter = _Sorter()
    own = sorter.take(value, without)
    return Sorted(hide_odd_names(own, sorter.odd), tuple(dict.fromkeys((*sorter.untrusted, *sorter.odd))))


def sort_all(values: Iterable[Any]) -> list[Sorted]:
    """Return each of several values, sorted."""
    return [sort_texts(value) for value in values]


def find_odd_names(value: Any) -> tuple[str, ...]:
    """Return the names in a value that are none: text that somebody put where a name belongs."""
    sorter = _Sorter()
    sorter.take(value, frozenset())
    return tuple(sorter.odd)


def hide_odd_names(own: Any, odd: Iterable[str]) -> Any:
    """Return JSON values without those names."""
    names = sorted(odd, key=len, reverse=True)
    return _replace(own, names) if names else own


def _replace(own: Any, names: list[str]) -> Any:
    match own:
        case str():
            for name in names:
                own = own.replace(name, NO_NAME)
            return own
        case list():
            return [_replace(item, names) for item in own]
        case dict():
            return {_replace(key, names): _replace(item, names) for key, item in own.items()}
        case _:
            return own


def find_odd_names_in(details: Any, field: str = "") -> Iterator[str]:
    """Yield the same of JSON values, such as the details of an error."""
    match details:
        case str() if field in _NAME_FIELDS and is_odd_name(details):
            yield details
        case list():
            for item in details:
                yield from find_odd_names_in(item, field)
        case dict():
            for name, item in details.items():
                yield from find_odd_names_in(item, name)
        case _:
            return


class _Sorter:
    """Walks a value once."""

    def __init__(self) -> None:
        self.untrusted: list[str] = []
        self.odd: dict[str, None] = {}

    def take(self, value: Any, without: frozenset[str]) -> Any:
        """Return the JSON value of our words in it; keep the others."""
        if isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
            return dict(self._take_fields(value, without))
        if isinstance(value, Mapping):
            return {_plain(key): self.take(item, frozenset()) for key, item in value.items()}
        if isinstance(value, tuple | list | frozenset):
            return [self.take(item, frozenset()) for item in value]
        return _plain(value)

    def _take_fields(self, value: Any, without: frozenset[str]) -> Iterator[tuple[str, Any]]:
        model: type[Any] = type(value)
        sorting = sort_fields(model)  # type: ignore[arg-type]  # mypy: classes can be hashed
        changes, is_changed = _UNLESS.get(model.__name__, ("", lambda _: False))
        for name in sorting.names:
            item = getattr(value, name)
            if name in without or item is None or item in ((), "", {}):
                continue
            if name in sorting.untrusted or (name == changes and is_changed(value)):
                self.untrusted.extend(_texts_of(item))
                continue
            if name in _NAME_FIELDS:
                names = (item,) if isinstance(item, str) else item if isinstance(item, tuple) else ()
                self.odd.update((text, None) for text in names if isinstance(text, str) and is_odd_name(text))
            own = self.take(item, frozenset())
            if own not in ({}, []):
                yield name, own


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return f"{value:%Y-%m-%dT%H:%M:%SZ}"
        case Enum():
            return value.value
        case float():
            return round(value, 3)
        case _:
            return value


def _texts_of(value: Any) -> Iterator[str]:
    """Yield the texts within a value that is not trusted."""
    match value:
        case str():
            yield value
        case Mapping():
            for key, item in value.items():
                yield from (f"{key}={text}" for text in _texts_of(item))
        case tuple() | list() | frozenset():
            for item in value:
                yield from _texts_of(item)
        case BaseModel():
            for name in type(value).model_fields:
                yield from _texts_of(getattr(value, name))
        case None:
            return
        case _:
            yield str(_plain(value))


class FieldSorting(NamedTuple):
    """The fields of a model.

    Attributes:
        names: All that are shown.
        untrusted: Those whose text is not ours.
        unsorted: Those of them that are marked nowhere.
    """

    names: tuple[str, ...]
    untrusted: frozenset[str]
    unsorted: frozenset[str]


@cache
def sort_fields(model: type) -> FieldSorting:
    """Return how the fields of a model or a dataclass are sorted."""
    own = OWN_WORDS.get(model.__name__, frozenset())
    hints = _hints_of(model)
    marked = {name for name, hint in hints.items() if _is_marked(hint)}
    unsorted = {name for name, hint in hints.items() if name not in own | marked and bears_text(hint)}
    return FieldSorting(tuple(hints), frozenset(marked | unsorted), frozenset(unsorted))


def _hints_of(model: type) -> dict[str, Any]:
    """Return field → type, without fields that are never written."""
    if issubclass(model, BaseModel):
        hints = get_type_hints(model, include_extras=True)
        return {name: hints[name] for name, field in model.model_fields.items() if not field.exclude}
    if not is_dataclass(model):
        return {}
    hints = get_type_hints(model, include_extras=True)
    return {field.name: hints[field.name] for field in fields_of_dataclass(model)}


def _is_marked(hint: Any) -> bool:
    if get_origin(hint) is Annotated and any(isinstance(mark, UntrustedText) for mark in hint.__metadata__):
        return True
    return any(_is_marked(argument) for argument in get_args(hint) if not isinstance(argument, str))


def bears_text(hint: Any) -> bool:
    """Whether a value of this type may hold text that is not written in this program; models are asked on their own."""
    origin = get_origin(hint)
    if origin is Annotated:
        return bears_text(hint.__origin__)
    if origin is Literal:
        return False
    if origin in (Union, UnionType, tuple, list, dict, frozenset, set) or (origin is not None and get_args(hint)):
        return any(bears_text(argument) for argument in get_args(hint) if argument is not Ellipsis)
    if hint is None or hint is type(None):
        return False
    if isinstance(hint, type):
        known = (bool, int, float, datetime, Enum, BaseModel)
        return not (issubclass(hint, known) or is_dataclass(hint)) or hint is str
    return True
