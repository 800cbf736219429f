"""Rows: lists that are no findings, each row with what an agent needs to choose one; and the lines of a log."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from bcon_exporter.agents.untrusted_text import sort_texts
from bcon_exporter.model.disk import DiskItem
from bcon_exporter.model.host_reads import ProjectLogEntry
from bcon_exporter.model.incidents import IncidentLine
from bcon_exporter.model.journal import JournalEntry
from bcon_exporter.model.odd_names import is_odd_name
from bcon_exporter.model.quantities import show_size
from bcon_exporter.model.reports import ContainerInfo, ContainerStats, LogEntry
from bcon_exporter.model.verify_report import DeploymentRecord


def project_rows(values: Iterable[Any], *, detail: bool) -> list[dict[str, Any]]:
    """Return values as rows; with `detail` all fields of each."""
    return [_row(value, detail=detail) for value in values]


def _row(value: Any, *, detail: bool) -> dict[str, Any]:
    texts = sort_texts(value, without=frozenset() if detail else _ONLY_IN_DETAIL.get(type(value), frozenset()))
    own = texts.own if isinstance(texts.own, dict) else {"value": texts.own}
    brief = _BRIEF.get(type(value)) if not detail else None
    if brief is not None:
        own = {name: item for name, item in brief(own, value).items() if item not in (None, "", [], {})}
    return {**own, "untrusted": list(texts.untrusted)} if texts.untrusted else own


def _brief_container(own: Mapping[str, Any], value: ContainerInfo) -> dict[str, Any]:
    since = value.finished_at or value.started_at or value.created
    return {
        "name": own["name"],
        "project": own.get("compose_project"),
        "state": own["state"],
        "since": show_moment(since),
        "health": own.get("health"),
        "image": own["image"],
        "status": own.get("status"),
    }


def _brief_incident(own: Mapping[str, Any], value: IncidentLine) -> dict[str, Any]:
    return {
        "id": own["id"],
        "severity": own["severity"],
        "title": own["title"],
        "open": (value.ended_at is None and value.merged_into is None) or None,
        "ended_by": own.get("ended_by"),
        "suffers": len(value.suffers) or None,
        "merged_into": own.get("merged_into"),
    }


def _brief_deployment(own: Mapping[str, Any], value: DeploymentRecord) -> dict[str, Any]:
    bad = [service for service in value.services if service.code is not None]
    return {
        "project": own["project"],
        "at": show_moment(value.at),
        "verdict": own["verdict"],
        "bad": [f"{service.service}: {service.code}" for service in bad[:3] if not is_odd_name(service.service)],
        "summary": own["summary"],
    }


def _brief_entry(own: Mapping[str, Any], value: JournalEntry) -> dict[str, Any]:
    whom = own.get("container") or own.get("service") or own.get("project")
    told = {"text": own["text"]} if "text" in own else {}
    return {"at": show_moment(value.at), "kind": own["kind"], "of": whom, "code": own.get("code"), **told}


def _brief_item(own: Mapping[str, Any], value: DiskItem) -> dict[str, Any]:
    return {
        "kind": own["kind"],
        "name": own["name"],
        "containers": own.get("containers", [])[:3],
        "size": show_size(value.size_bytes),
        "unrotated": value.unrotated or None,
        "reclaimable": show_size(value.reclaimable_bytes) if value.reclaimable_bytes else None,
        "note": own.get("note"),
    }


def _brief_stats(own: Mapping[str, Any], value: ContainerStats) -> dict[str, Any]:
    return {
        "name": own["container_name"],
        "cpu_percent": own.get("cpu_percent"),
        "memory": show_size(value.memory_usage_bytes),
        "memory_percent": own.get("memory_percent"),
        "pids": own.get("pids"),
        "last_known": value.last_known or None,
    }


_BRIEF: Mapping[type, Callable[[Any, Any], dict[str, Any]]] = {
    ContainerInfo: _brief_container,
    ContainerStats: _brief_stats,
    DeploymentRecord: _brief_deployment,
    DiskItem: _brief_item,
    IncidentLine: _brief_incident,
    JournalEntry: _brief_entry,
}
_ONLY_IN_DETAIL: Mapping[type, frozenset[str]] = {
    ContainerInfo: frozenset(("labels",)),
    DeploymentRecord: frozenset(("services",)),
    JournalEntry: frozenset(("data",)),
}
"""Model → its fields with untrusted text that a row has only with `detail`."""


def show_moment(at: datetime) -> str:
    """Return a time to the second, as short as it can be written."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def project_lines(entries: Sequence[LogEntry | ProjectLogEntry]) -> list[str]:
    """Return the lines of a log, oldest first; equal ones in a row are one, with the time of the last and how many."""
    lines = []
    for (whose, _, _), equal in groupby(entries, key=lambda entry: (_owner_of(entry), entry.stream, entry.message)):
        run = list(equal)
        last = run[-1]
        at = f"{show_moment(last.timestamp)} " if last.timestamp is not None else ""
        stream = "stderr: " if last.stream == "stderr" else ""
        times = f" ×{len(run)}" if len(run) > 1 else ""  # noqa: RUF001 -- as people write it
        lines.append(f"{at}{whose}{stream}{_cut_line(last.message)}{times}")
    return lines


def _owner_of(entry: LogEntry | ProjectLogEntry) -> str:
    return f"{entry.container} " if isinstance(entry, ProjectLogEntry) else ""


LONGEST_LINE = 360


def _cut_line(message: str) -> str:
    """Return a line, cut so that what stands around it is not."""
    left_out = len(message) - LONGEST_LINE
    return message if left_out <= 0 else f"{message[:LONGEST_LINE]}…(+{left_out})"
