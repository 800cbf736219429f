"""Flux and Scout, two tools that other agents know: the fields of their operations, and the models made of them."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Union

from pydantic import BeforeValidator, Field, StringConstraints, ValidationInfo, create_model

from bcon_exporter.model.base import Frozen
from bcon_exporter.model.text_patterns import HOST_PATTERN, PLAIN_PATTERN, TARGET_PATTERN, TEXT_PATTERN
from bcon_exporter.model.tool_inputs import MAX_TAIL, WORDS, ContainerRef, Moment, ProjectName, Switch, Whole

Kind = Literal["answered", "denied", "elsewhere"]

_Text = Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=TEXT_PATTERN)]
_Target = Annotated[str, StringConstraints(pattern=TARGET_PATTERN)]


def _split_words(raw: object, info: ValidationInfo) -> object:
    return raw.split(",") if isinstance(raw, str) and (info.context or {}).get(WORDS) else raw


FIELDS: Mapping[str, Any] = {
    "command": _Text,
    "container_id": ContainerRef,
    "content": Annotated[str, StringConstraints(max_length=65_536)],
    "context": _Text,
    "dangling_only": Switch,
    "dataset": _Text,
    "depth": Annotated[Whole, Field(ge=1, le=10)],
    "destination": _Text,
    "detach": Switch,
    "dockerfile": _Text,
    "force": Switch,
    "format": Literal["markdown", "json"],
    "grep": Annotated[str, StringConstraints(pattern=PLAIN_PATTERN)],
    "health": Literal["online", "degraded", "faulted"],
    "host": Annotated[str, StringConstraints(pattern=HOST_PATTERN)],
    "human_readable": Switch,
    "image": _Text,
    "image_filter": _Text,
    "label_filter": _Text,
    "limit": Annotated[Whole, Field(ge=1, le=100)],
    "limit~1000": Annotated[Whole, Field(ge=1, le=1000)],
    "lines": Annotated[Whole, Field(ge=1, le=MAX_TAIL)],
    "name_filter": _Text,
    "no_cache": Switch,
    "offset": Annotated[Whole, Field(ge=0, le=1_000_000)],
    "path": _Text,
    "pattern": _Text,
    "pool": _Text,
    "priority": Literal["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"],
    "project": ProjectName,
    "prune_target": Literal["containers", "images", "volumes", "networks", "buildcache", "all"],
    "pull": Switch,
    "query": _Text,
    "recursive": Switch,
    "remove_volumes": Switch,
    "response_format": Literal["markdown", "json"],
    "service": _Text,
    "service_filter": _Text,
    "since": Moment,
    "sort": Literal["cpu", "mem", "pid", "time"],
    "source": _Text,
    "state": Literal["running", "exited", "paused", "restarting", "all"],
    "state~unit": Literal["running", "stopped", "failed", "all"],
    "stream": Literal["stdout", "stderr", "both"],
    "summary": Switch,
    "tag": _Text,
    "target": _Target,
    "target~place": _Text,
    "targets": Annotated[tuple[_Target, ...], Field(min_length=1, max_length=20), BeforeValidator(_split_words)],
    "timeout": Annotated[Whole, Field(ge=1, le=120)],
    "topic": _Text,
    "tree": Switch,
    "type": Literal["filesystem", "volume"],
    "unit": _Text,
    "until": Moment,
    "user": _Text,
    "workdir": _Text,
}
"""Name, or name~variant where two operations mean different things by it → what it may be."""


class Operation(NamedTuple):
    """One operation.

    Attributes:
        key: action, or action:subaction.
        fields: Its fields, apart by blanks: `name` is required, `name?` may be left out, `name=value` has a default.
        kind: How it is answered.
        says: One sentence: what it answers, or what it would do.
        command: For a person, of what is denied or to be had elsewhere: words, of which `{field}` is its value, and one
            behind `?field:`, `!field:` or `field=value:` stands only where the field is set, is not, or has this value.
    """

    key: str
    fields: str
    kind: Kind
    says: str
    command: str = ""


class OperationInput(Frozen):
    """What every operation has."""

    response_format: Literal["markdown", "json"] = "markdown"


class FieldSpec(NamedTuple):
    """A field of an operation; `default` is ... where it is required."""

    name: str
    type: Any
    default: Any

    @property
    def words(self) -> str:
        """The field as people read it."""
        if self.default is ...:
            return f"{self.name} (required)"
        return self.name if self.default is None else f"{self.name} = {str(self.default).lower()}"


@cache
def read_fields(fields: str) -> tuple[FieldSpec, ...]:
    """Return the fields that a row of the table names."""
    return tuple(map(_read_field, fields.split()))


def _read_field(word: str) -> FieldSpec:
    name, has_default, raw = word.partition("=")
    key = name.removesuffix("?")
    kind = FIELDS[key]
    field = key.partition("~")[0]
    if name.endswith("?"):
        return FieldSpec(field, kind | None, None)
    if not has_default:
        return FieldSpec(field, kind, ...)
    default: Any = {"true": True, "false": False}.get(raw, int(raw) if raw.isdecimal() else raw)
    return FieldSpec(field, kind, default)


@cache
def make_model(tool: str, operation: Operation) -> type[Frozen]:
    """Return the model of an operation's input."""
    action, _, subaction = operation.key.partition(":")
    known: dict[str, Any] = {"action": (Literal[action], ...)}
    if subaction:
        known["subaction"] = (Literal[subaction], ...)
        known["action_subaction"] = (Literal[operation.key], operation.key)
    fields: dict[str, Any] = {spec.name: (spec.type, spec.default) for spec in read_fields(operation.fields)}
    name = f"{tool}_{operation.key.replace(':', '_')}"
    return _create(name, known | fields)


def make_flat_model(tool: str, operations: Iterable[Operation]) -> type[Frozen]:
    """Return a model with the fields of all operations, of which none is required but the action.

    Clients refuse a union, so this one is published; which fields an operation needs it says itself.
    """
    keys = [operation.key.split(":") for operation in operations]
    actions = tuple(dict.fromkeys(key[0] for key in keys))
    subactions = tuple(dict.fromkeys(key[1] for key in keys if len(key) > 1))
    kinds: dict[str, list[Any]] = {}
    for operation in operations:
        for spec in read_fields(operation.fields):
            kinds.setdefault(spec.name, []).append(spec.type)
    fields: dict[str, Any] = {name: (Union[(*types, None)], None) for name, types in kinds.items()}
    known: dict[str, Any] = {"action": (Literal[actions], ...), "subaction": (Literal[subactions] | None, None)}
    return _create(f"{tool}_input", known | fields)


def _create(name: str, fields: dict[str, Any]) -> type[Frozen]:
    return create_model(name, __base__=OperationInput, **fields)
