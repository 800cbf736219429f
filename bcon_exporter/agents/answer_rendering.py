"""The agent's view of every tool's answer: findings or rows, within a budget of bytes, with what is not ours apart."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from bcon_exporter.agents.finding_categories import ERROR_CODE_OF, AgentSeverity, worst_of
from bcon_exporter.agents.findings import project_container, project_drift, project_host
from bcon_exporter.agents.paging import JsonWriter, MarkdownWriter, Page, Writer, fit
from bcon_exporter.agents.rows import project_lines, project_rows, show_moment
from bcon_exporter.agents.select import check_expression, select
from bcon_exporter.agents.untrusted_text import (
    find_odd_names,
    find_odd_names_in,
    hide_odd_names,
    sort_texts,
)
from bcon_exporter.errors import BconError, InvalidInputError
from bcon_exporter.model.base import Frozen
from bcon_exporter.model.config_text import ConfigText
from bcon_exporter.model.host_reads import ProjectLogs
from bcon_exporter.model.odd_names import is_odd_name
from bcon_exporter.model.quantities import show_count
from bcon_exporter.model.reports import ContainerLogs, DiagnoseAllReport, DiagnosisReport, DriftReport
from bcon_exporter.model.tool_inputs import WORDS, Switch, Whole, Words
from bcon_exporter.model.validation_messages import tell_refusal
from bcon_exporter.secrets.cleaning import clean_name
from bcon_exporter.tools import Context, Envelope, Tool
from bcon_exporter.tools.drift import DriftFindings

PROVIDER = "docker"
_LONGEST_METADATA = 64
_LONGEST_AS_OF = 64
_OFFSET_DIGITS = 7
_LINES = "untrusted"
"""What the lines of a log are called: nobody vouches for them."""
_DETAILS = (
    *("errors", "near_matches", "file", "line"),
    *("reason", "would", "effects", "helps", "why", "command", "instead", "would_help"),
)
"""Details of an error that agents are told; those in the second line say what is refused here, and what helps."""


class ViewOptions(Frozen):
    """How much of an answer is shown, and how; the faces take it beside a tool's own input.

    Attributes:
        as_of: What `more.next` of the page before gave; `more.changed` says when the host's answer is another by now.
    """

    detail: Switch = Field(False, description="Also causes, what to do, and the untrusted evidence")
    limit: Whole = Field(10, ge=1, le=100, description="At most so many findings or rows")
    offset: Whole = Field(0, ge=0, le=1_000_000, description="Leave out so many of the first")
    max_bytes: Whole = Field(8192, ge=1024, le=65536, description="The answer is no longer than this")
    response_format: Literal["json", "markdown"] = Field("json", description="How it is written")
    select: str | None = Field(None, description="JMESPath expression: answer with what it chooses of the report")
    as_of: str | None = Field(None, max_length=_LONGEST_AS_OF, description="As more.next of the page before had it")


VIEW_FIELDS = frozenset(ViewOptions.model_fields)
"""Names of the view's inputs."""


@dataclass(frozen=True, slots=True)
class Listed:
    """All findings, rows or lines of one look at the host, of which each answer shows a page.

    Attributes:
        key: What they are called in the answer; "untrusted" of the lines of a log.
        rows: Those from the first on, or from the tool's own offset on.
        report: Our words beside them; they stand on the first page.
        total: How many there are, also beyond those that the tool gave.
        reachable: How many can be had by a higher offset.
        as_of: Names the look.
        own_offset: How many the tool itself has left out.
        at_most: So many rows are shown; None: as many as the caller wants.
    """

    key: str
    rows: Sequence[Any]
    metadata: Mapping[str, Any]
    report: Mapping[str, Any]
    total: int
    reachable: int
    as_of: str
    own_offset: int = 0
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """An answer.

    Attributes:
        body: Compact JSON or Markdown; in UTF-8 at most `max_bytes` long.
        listed: What the answer is a page of; None of other answers.
        has_next: A next page can be had.
    """

    body: str
    is_error: bool
    media_type: str
    listed: Listed | None = None
    has_next: bool = False


def split_options(payload: Mapping[str, Any], tool: Tool[Any] | None = None) -> tuple[ViewOptions, dict[str, Any]]:
    """Return the view's inputs of a call, and the tool's.

    An input that the tool has itself stays with it (`limit` and `offset` of get_history).

    Raises:
        InvalidInputError: One of the view's is wrong, `select` in its form too; `details["errors"]`.
    """
    own = tool.input_model.model_fields if tool is not None else {}
    names = VIEW_FIELDS - own.keys()
    of_view = {name: item for name, item in payload.items() if name in names and item is not None}
    rest = {name: item for name, item in payload.items() if name not in names}
    try:
        options = ViewOptions.model_validate(of_view, context={WORDS: isinstance(payload, Words)})
    except ValidationError as error:
        problems = [
            {"field": clean_name(str(item["loc"][0])), "message": tell_refusal(item)}
            for item in error.errors(include_input=False, include_url=False)
        ]
        msg = "; ".join(f"{one['field']}: {one['message']}" for one in problems)
        raise InvalidInputError(msg, {"errors": problems}) from None
    if options.select is not None:
        check_expression(options.select)
    if "response_format" in own and tool is not None:
        wanted = payload.get("response_format")
        form = wanted if wanted in ("json", "markdown") else tool.answer_format
        options = options.model_copy(update={"response_format": form})
    offset = str(payload.get("offset", ""))
    if "offset" in own and offset.isdecimal() and len(offset) <= _OFFSET_DIGITS:
        options = options.model_copy(update={"offset": int(offset)})
    return options, rest


def find_host_name(context: Context, *, ask: bool = False) -> str:
    """Return what the engine calls its host; "" where it is not known. Only with `ask` the engine is asked for it."""
    scan = context.scans.diagnosis
    of_scan = scan.snapshot.engine if scan is not None else None
    name = context.memory.memory.engine_name or (of_scan.name if of_scan is not None else "")
    if name or not ask:
        return name
    try:
        return context.host.engine().name
    except BconError:
        return ""


def render_answer(
    tool: Tool[Any], envelope: Envelope, options: ViewOptions, host_name: str, now: datetime
) -> AgentAnswer:
    """Return a tool's answer as agents read it."""
    if envelope.error is not None:
        return render_error(tool.name, envelope.error, options, host_name, now)
    if options.select is not None:
        try:
            chosen = select(options.select, envelope.data()["result"], len(envelope.body))
        except InvalidInputError as error:
            return render_error(tool.name, error, options, host_name, now)
        return render_chosen(tool, chosen, options, host_name, now)
    listed = _list_rows(tool, envelope.value, options, host_name, now)
    if listed is not None:
        return render_page(tool, listed, options)
    at = getattr(envelope.value, "timestamp", None) or now
    return _answer(_object_page(tool, envelope.value, options, _metadata(host_name, at)), options)


def render_page(tool: Tool[Any], listed: Listed, options: ViewOptions) -> AgentAnswer:
    """Return the page that the options ask for."""
    build = _log_page if listed.key == _LINES else _list_page
    return replace(_answer(build(tool, listed, options), options), listed=listed)


def render_chosen(tool: Tool[Any], chosen: Any, options: ViewOptions, host_name: str, now: datetime) -> AgentAnswer:
    """Return what an expression has chosen from a report, as plain JSON: nobody knows any more who wrote which text."""
    report = {"untrusted": chosen}
    return _answer(Page(tool.name, _metadata(host_name, now), report=report, detail=options.detail), options)


def render_error(name: str, error: BconError, options: ViewOptions, host_name: str, now: datetime) -> AgentAnswer:
    """Return the answer that says what went wrong with a call."""
    details = {key: _plain(error.details[key]) for key in _DETAILS if error.details.get(key) not in (None, (), [], "")}
    record: dict[str, Any] = {
        "code": ERROR_CODE_OF[error.code].value,
        "message": error.message,
        "tool": clean_name(name)[:_LONGEST_METADATA],
        **({"detail": details} if details else {}),
    }
    odd = find_odd_names_in(_plain(error.details))  # those that agents are not told, too: the message may name them
    return _answer(Page(record["tool"], _metadata(host_name, now), error=hide_odd_names(record, odd)), options)


def _answer(page: Page, options: ViewOptions) -> AgentAnswer:
    writer: Writer = JsonWriter() if options.response_format == "json" else MarkdownWriter()
    media_type = "application/json" if options.response_format == "json" else "text/markdown"
    fitted = fit(page, options.max_bytes, writer)
    return AgentAnswer(fitted.body, page.error is not None, media_type, has_next=fitted.has_next)


def _list_rows(tool: Tool[Any], value: Any, options: ViewOptions, host_name: str, now: datetime) -> Listed | None:
    """Return what a result lists; None where it is no list."""
    at = getattr(value, "timestamp", None) or now
    match value:
        case DiagnosisReport():
            rows, key = project_container(value, detail=options.detail), "findings"
        case DiagnoseAllReport():
            rows, key = project_host(value, detail=options.detail), "findings"
        case DriftReport():
            rows, key = project_drift(value, detail=options.detail), "findings"
        case DriftFindings():
            each = (project_drift(report, detail=options.detail) for report in value.reports)
            rows, key = [finding for findings in each for finding in findings], "findings"
        case ContainerLogs() | ProjectLogs():
            return _list_lines(value, _metadata(host_name, at))
        case tuple():
            rows, key = project_rows(value, detail=options.detail), "rows"
        case BaseModel() if tool.rows is not None and hasattr(value, tool.rows):
            rows, key = project_rows(getattr(value, tool.rows), detail=options.detail), "rows"
        case _:
            return None
    pages_itself = "offset" in tool.input_model.model_fields
    own_offset = options.offset if pages_itself else 0
    total = _count_all(value, len(rows), own_offset)
    metadata = _metadata(host_name, at, _namespace(value))
    return Listed(
        key=key,
        rows=rows,
        metadata=metadata,
        report=_write_report(tool, value, options),
        total=total,
        reachable=total if pages_itself else len(rows),
        as_of=f"{metadata['timestamp']}~{_fingerprint(['total', total] if pages_itself else rows)}",
        own_offset=own_offset,
        at_most=max(1, len(rows))
        if "limit" in tool.input_model.model_fields or isinstance(value, ConfigText)
        else None,
    )


def _list_lines(value: ContainerLogs | ProjectLogs, metadata: dict[str, Any]) -> Listed:
    lines = project_lines(value.entries)
    report = sort_texts(value, without=_BESIDE_LINES).own
    return Listed(
        key=_LINES,
        rows=lines,
        metadata=metadata,
        report={name: item for name, item in report.items() if item is not False},
        total=len(lines),
        reachable=len(lines),
        as_of=f"{metadata['timestamp']}~{_fingerprint(lines)}",
    )


_BESIDE_LINES = frozenset(("entries", "container_id", "tail", "lines", "since", "until"))
"""Fields of a log that are not told beside its lines: the lines themselves, and what was asked for."""
_SHOWN_AS_ROWS = {
    DiagnosisReport: frozenset(("symptoms", "likely_causes", "suggestions", "container_id", "detailed_explanation")),
    DiagnoseAllReport: frozenset(("summaries", "reports", "unchecked")),
    DriftReport: frozenset(("differences", "doubts", "remarks", "services", "compose_files")),
    DriftFindings: frozenset(("reports",)),
}
"""Report → fields that stand in its findings, or are too many for what stands before them."""


def _list_page(tool: Tool[Any], listed: Listed, options: ViewOptions) -> Page:
    wanted = listed.rows[options.offset - listed.own_offset :]
    return Page(
        title=tool.name,
        metadata=listed.metadata,
        report=listed.report if options.offset == 0 else {},
        key=listed.key,
        rows=wanted,
        at_most=listed.at_most or options.limit,
        skipped=options.offset,
        total=listed.total,
        reachable=listed.reachable,
        as_of=listed.as_of,
        changed=_is_changed(options, listed.as_of),
        describe_rest=lambda shown: _describe_rest(
            wanted[shown:],
            listed.key,
            listed.total - options.offset - shown,
            beyond=listed.total > listed.reachable,
        ),
        detail=options.detail,
    )


def _write_report(tool: Tool[Any], value: Any, options: ViewOptions) -> dict[str, Any]:
    """Return our words of a report without its rows."""
    if isinstance(value, tuple):
        return {}
    without = {"timestamp", "query", *_SHOWN_AS_ROWS.get(type(value), ()), *([tool.rows] if tool.rows else [])}
    texts = sort_texts(value, without=frozenset(without))
    own = texts.own
    if isinstance(value, DiagnoseAllReport):
        own |= {"not_checked_names": [one.container_name for one in value.unchecked]} if value.unchecked else {}
    if isinstance(value, DriftFindings):
        own["projects"] = [f"{one.project_name}: {one.status.value}" for one in value.reports]
    told = {name: item for name, item in own.items() if options.detail or not _is_as_usual(value, name, item)}
    told = hide_odd_names(told, find_odd_names(value))  # of its rows, too: a summary may name them
    return {**told, "untrusted": list(texts.untrusted)} if texts.untrusted else told


def _is_as_usual(value: Any, name: str, item: Any) -> bool:
    """Whether a field need not be told: a count of none, a switch as it mostly is."""
    if isinstance(item, bool):
        field = type(value).model_fields.get(name) if isinstance(value, Frozen) else None
        return field is not None and field.default is item
    return bool(item == 0)


def _log_page(tool: Tool[Any], listed: Listed, options: ViewOptions) -> Page:
    """Return the page of a log: its offset counts from the newest line."""
    end = max(0, len(listed.rows) - options.offset)
    return Page(
        title=tool.name,
        metadata=listed.metadata,
        report=listed.report,
        key=listed.key,
        rows=listed.rows[:end],
        at_most=max(1, len(listed.rows)),
        skipped=options.offset,
        total=listed.total,
        reachable=listed.reachable,
        as_of=listed.as_of,
        changed=_is_changed(options, listed.as_of),
        describe_rest=lambda shown: show_count(max(0, end - shown), "older line"),
        detail=options.detail,
    )


def _object_page(tool: Tool[Any], value: Any, options: ViewOptions, metadata: dict[str, Any]) -> Page:
    texts = sort_texts(value, without=frozenset(("timestamp",)))
    own = texts.own if isinstance(texts.own, dict) else {"value": texts.own}
    return Page(title=tool.name, metadata=metadata, report=own, rows=texts.untrusted, detail=options.detail)


def _describe_rest(rest: Sequence[Mapping[str, Any]], key: str, count: int, *, beyond: bool) -> str:
    """Return how many more there are, and of findings how bad the worst of them is.

    `beyond`: the tool itself has left some out.
    """
    told = show_count(max(0, count), key.removesuffix("s"))
    if key == "findings" and rest:
        return f"{told}, worst of them {worst_of(AgentSeverity(row['severity']) for row in rest).value}"
    return f"{told}; a higher limit of the tool shows more" if beyond else told


def _count_all(value: Any, rows: int, skipped: int) -> int:
    """Return how many rows there are, also beyond those that the tool gave."""
    for name in ("total", "totalFound"):
        if isinstance(count := getattr(value, name, None), int):
            return max(count, rows + skipped)
    return rows + skipped + int(getattr(value, "left_out", 0) or 0)


def _namespace(value: Any) -> str | None:
    match value:
        case DiagnosisReport():
            return value.project
        case DriftReport():
            return value.project_name
        case _:
            return None


def _metadata(host_name: str, at: datetime, namespace: str | None = None) -> dict[str, Any]:
    names = {"clusterName": host_name or "this host", "timestamp": show_moment(at)}
    if namespace and not is_odd_name(namespace):
        names["namespace"] = namespace
    return {name: text[:_LONGEST_METADATA] for name, text in names.items()} | {"provider": PROVIDER}


def _fingerprint(rows: Sequence[Any]) -> str:
    """Return a short name of what rows there are, and in which order; not of their words, which count minutes."""
    names = [_identity(row) for row in rows]
    return f"{zlib.crc32(repr(names).encode('utf-8', 'replace')):08x}"


def _identity(row: Any) -> str:
    if not isinstance(row, Mapping):
        return str(row)
    resource = row.get("resource", {})
    return repr([row.get(name) for name in ("code", "id", "name", "kind", "at")] + [resource.get("name")])


def _is_changed(options: ViewOptions, as_of: str) -> bool:
    """Whether the page before was of other rows, or of the same in another order."""
    return options.as_of is not None and options.as_of.rpartition("~")[2] != as_of.rpartition("~")[2]


def _plain(value: object) -> Any:
    match value:
        case Mapping():
            return {str(name): _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case bool() | int() | float() | None:
            return value
        case BaseModel():
            return value.model_dump(mode="json", exclude_none=True)
        case _:
            return str(value)
