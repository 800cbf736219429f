"""Flux and Scout: each operation of the table is answered, denied with a preview, or to be had elsewhere."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, NoReturn

from bcon_exporter.errors import InvalidInputError, NotAvailableError, PermissionDeniedError
from bcon_exporter.model.base import Frozen
from bcon_exporter.model.config_text import ConfigText
from bcon_exporter.model.disk import DiskReport
from bcon_exporter.model.host_reads import (
    ContainerDetails,
    FileDifference,
    FileRow,
    FileSystemRow,
    HelpRow,
    NodeRow,
    OperationRows,
    ProjectLogs,
)
from bcon_exporter.model.name_suggestions import did_you_mean, nearest_names
from bcon_exporter.model.odd_names import is_odd_name
from bcon_exporter.model.operations import Operation, make_flat_model, make_model, read_fields
from bcon_exporter.model.previews import Instead, Preview
from bcon_exporter.model.reports import ContainerInfo, ContainerLogs, ContainerStats, HealthCheck
from bcon_exporter.model.system_status import SystemStatus
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.stages import EXPERIMENTAL
from bcon_exporter.tools.context import Context
from bcon_exporter.tools.host_reads import ANSWERS, check_host, path_of
from bcon_exporter.tools.operation_table import FLUX_OPERATIONS, HELP, SCOUT_OPERATIONS
from bcon_exporter.tools.previews import PREVIEWS, Outcome
from bcon_exporter.tools.tool import Tool, Toolset

TABLES: Mapping[str, tuple[Operation, ...]] = {"flux": FLUX_OPERATIONS, "scout": SCOUT_OPERATIONS}
_DENIED = "bcon-exporter changes nothing on a host"
_ROWS = {"docker:df": "items", "peek": "lines"}
_READS_OF_COMMANDS = {
    **dict.fromkeys(("cat", "head", "tail", "grep", "rg", "wc", "sort", "uniq", "diff", "stat", "file"), "peek"),
    **dict.fromkeys(("ls", "find", "tree"), "find"),
    **dict.fromkeys(("df", "du"), "df"),
}
_ANSWER = (
    OperationRows
    | ContainerInfo
    | ContainerDetails
    | ContainerLogs
    | ProjectLogs
    | SystemStatus
    | HealthCheck
    | DiskReport
    | ConfigText
    | FileDifference
    | tuple[ContainerStats, ...]
    | tuple[FileSystemRow, ...]
    | tuple[NodeRow, ...]
    | tuple[FileRow, ...]
    | tuple[ConfigText, ...]
    | tuple[HelpRow, ...]
)


def find_operation(tool: str, payload: Mapping[str, object]) -> Operation:
    """Return the operation that an input names.

    Raises:
        InvalidInputError: There is none of this name; `details["near_matches"]`.
    """
    operations = {operation.key: operation for operation in (HELP, *TABLES[tool])}
    action, subaction = payload.get("action"), payload.get("subaction")
    key = f"{action}:{subaction}" if subaction is not None else str(action)
    if key in operations:
        return operations[key]
    begun = [one for one in operations if one.startswith(f"{key}:")]
    field = "action" if subaction is None and not begun else "subaction"
    known = begun or list(operations)
    message = "is required" if action is None or begun else f"is unknown{did_you_mean(key, known)}"
    details = {"tool": tool, "errors": [{"field": field, "message": message}]}
    near = nearest_names(key, known) or tuple(begun)
    msg = f"{tool}: {field}: {message}; action help lists all operations"
    raise InvalidInputError(msg, {**details, "near_matches": near})


def _run(context: Context, tool: str, operation: Operation, request: Any) -> Any:
    """Answer an operation.

    Raises:
        PermissionDeniedError: It would change the host; `details` are a Preview.
        NotAvailableError: It is to be had elsewhere; `details["would_help"]` is the command.
        BconError: What it asks for cannot be read.
    """
    check_host(context, getattr(request, "host", None))
    if operation is HELP:
        return tell_operations(tool, request.topic)
    if operation.kind == "elsewhere":
        raise _elsewhere(context, operation, request)
    if operation.kind == "denied" or (operation.key == "emit" and request.command is not None):
        _deny(context, tool, operation, request)
    return ANSWERS[operation.key](context, request)


def tell_operations(tool: str, topic: str | None) -> tuple[HelpRow, ...]:
    """Return what help says: of all operations in short, of those of a topic with their fields.

    Raises:
        InvalidInputError: There is no such topic.
    """
    operations = TABLES[tool]
    chosen = [one for one in operations if topic is None or topic in (one.key, one.key.partition(":")[0])]
    if not chosen:
        shown = clean_name(topic or "")[:64]
        keys = [one.key for one in operations]
        msg = f"Unknown topic: {shown}{did_you_mean(shown, keys)}"
        raise InvalidInputError(msg, {"errors": [{"field": "topic", "message": "is unknown"}]})
    return tuple(
        HelpRow(
            key=one.key,
            kind=one.kind,
            says=one.says,
            fields=tuple(spec.words for spec in read_fields(one.fields)) if topic is not None else (),
        )
        for one in chosen
    )


def _deny(context: Context, tool: str, operation: Operation, request: Any) -> NoReturn:
    """Say what it would do.

    Raises:
        PermissionDeniedError: Always; `details` are a Preview.
        BconError: What it is about cannot be read.
    """
    _check_places(context, request)
    preview = PREVIEWS.get(operation.key)
    wish = operation.says[0].lower() + operation.says[1:].rstrip(".")
    unknown = Outcome(f"{wish}; what that does cannot be known from here")
    outcome = preview(context, request) if preview is not None else unknown
    told = Preview(
        would=outcome.would,
        effects=outcome.effects,
        helps=outcome.helps,
        why=outcome.why,
        command=write_command(context, operation, request, outcome.words),
        instead=outcome.instead or _find_instead(tool, request),
    )
    msg = f"{_DENIED}. It would {told.would}."
    raise PermissionDeniedError(msg, told.model_dump(mode="json"))


def _check_places(context: Context, request: Any) -> None:
    """Refuse places on other hosts."""
    for place in (getattr(request, "target", None), *(getattr(request, "targets", None) or ())):
        if place is not None:
            path_of(context, place)


def _find_instead(tool: str, request: Any) -> Instead:
    """Return the read that is behind what is denied."""
    container = getattr(request, "container_id", None)
    if container is not None:
        return Instead(tool="diagnose_container", arguments={"container_id": container})
    target = getattr(request, "target", None)
    word = (getattr(request, "command", None) or "").partition(" ")[0]
    if tool == "scout" and target is not None:
        action = _READS_OF_COMMANDS.get(word, "peek")
        more = {"pattern": "*"} if action == "find" else {}
        place = {"host": target.partition(":")[0]} if action == "df" else {"target": target}
        return Instead(tool="scout", arguments={"action": action, **place, **more})
    return Instead(tool="diagnose_all")


def _elsewhere(context: Context, operation: Operation, request: Any) -> NotAvailableError:
    command = write_command(context, operation, request, {})
    how = "Somebody with a shell on the host can see it" + (f" with {command[0]}." if command else ".")
    msg = f"{operation.key} is not read from here. {how}"
    return NotAvailableError(msg, {"would_help": command})


def write_command(
    context: Context, operation: Operation, request: Any, words: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return an operation's command for a person, word for word; empty where none is told.

    What stands on the host in place of a name may be a sentence, and no sentence of others is a command of ours.
    """
    if not context.tells_commands or any(is_odd_name(word) for found in words.values() for word in found):
        return ()
    return tuple(context.secrets.hide(word) for word in _write_words(operation.command, request, words))


def _write_words(template: str, request: Any, words: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    for part in template.split():
        condition, colon, word = part.partition(":")
        if not colon or "{" in condition:
            condition, word = "", part
        sign, name = condition[:1], condition.lstrip("?!")
        field, has_value, value = name.partition("=")
        given = getattr(request, field, None) if field else None
        is_set = given is not None and given is not False
        if condition and (str(given) != value if has_value else is_set is (sign == "!")):
            continue
        if word.startswith("{") and word[1:-1] in words:
            yield from words[word[1:-1]]
        elif word.startswith("{"):
            yield from _words_of(getattr(request, word[1:-1], None))
        else:
            yield word


def _words_of(value: object) -> Iterable[str]:
    if isinstance(value, datetime):
        yield f"{value:%Y-%m-%d %H:%M:%S} UTC"
    elif value is not None:
        yield str(value)


@cache
def tool_of(tool: str, operation: Operation) -> Tool[Any]:
    """Return one operation as a tool."""
    return Tool(
        tool,
        operation.says,
        make_model(tool, operation),
        _ANSWER,
        lambda context, request: _run(context, tool, operation, request),
        toolset=_TOOLSETS[tool],
        timeout_seconds=240.0,
        also_named=_names_of(tool),
        answer_format="markdown",
        rows=_ROWS.get(operation.key, "rows"),
        stage=EXPERIMENTAL,
    )


@cache
def _names_of(tool: str) -> frozenset[str]:
    specs = (spec for operation in (HELP, *TABLES[tool]) for spec in read_fields(operation.fields))
    return frozenset(("subaction", *(spec.name for spec in specs)))


_TOOLSETS: Mapping[str, Toolset] = {"flux": "flux", "scout": "scout"}


def _make(tool: str, summary: str) -> Tool[Any]:
    def run(context: Context, request: Frozen) -> Any:  # reached by no input: each is answered by its operation
        raise NotImplementedError(type(request).__name__, context)

    return Tool(
        tool,
        summary,
        make_flat_model(tool, (HELP, *TABLES[tool])),
        _ANSWER,
        run,
        toolset=_TOOLSETS[tool],
        timeout_seconds=240.0,
        choose=lambda payload: tool_of(tool, find_operation(tool, payload)),
        answer_format="markdown",
        rows="rows",
        stage=EXPERIMENTAL,
    )


OPERATION_TOOLS = (
    _make(
        "flux",
        "Answer about containers, Compose projects, the engine; say what a change would do. Begin with action help.",
    ),
    _make(
        "scout",
        "Answer about files of Compose projects and disks; name the command for the rest. Begin with action help.",
    ),
)
