"""Incidents as blocks: a list, and one of them as a hand-over that a person can paste."""

from collections.abc import Iterator
from itertools import groupby

from bcon_exporter.incidents import ENDED_BY, NOT_MENDED
from bcon_exporter.model.incidents import (
    Incident,
    IncidentChange,
    IncidentLine,
    IncidentMember,
    IncidentsReport,
)
from bcon_exporter.model.journal import HISTORY_KEPT
from bcon_exporter.model.quantities import show_count, show_duration, show_time, show_times
from bcon_exporter.model.quiet import QUIET_LABEL, QuietReport
from bcon_exporter.outputs.text.blocks import (
    SEVERITY_STYLES,
    Badge,
    Block,
    Field,
    Fields,
    Heading,
    Item,
    Items,
    Quote,
    Section,
    Span,
    Style,
    Table,
    dim,
    field,
    line,
    name,
    strong,
)

_QUIET_COLUMNS = ("quiet", "until", "by", "why")


def list_blocks(report: IncidentsReport) -> list[Block]:
    """Return two lines for each, newest first: what it is, and its state and id, so that both stand whole."""
    shown = len(report.incidents)
    counted = show_count(report.total, "incident") if report.total else "No incident."
    title = counted if shown == report.total else f"{shown} of {counted}"
    blocks: list[Block] = [Heading(line(strong(title), notes=(dim(f"since {show_time(report.since)}"),)))]
    for date, of_date in groupby(report.incidents, key=lambda incident: incident.started_at.date()):
        blocks.append(Heading(line(strong(f"{date:%Y-%m-%d}"), notes=(dim("UTC"),)), 2))
        blocks.append(Fields(tuple(map(_listed, of_date))))
    if report.known_since is None:
        blocks.append(line(dim("No daemon has watched here: see --state.path.")))
    return blocks


def _listed(incident: IncidentLine) -> Field:
    what = name(incident.title, SEVERITY_STYLES[incident.severity])
    state = line(*_state(incident), notes=(name(incident.id, Style.DIM),))
    return Field(line(dim(f"{incident.started_at:%H:%M:%S}")), (Item(line(what), (state,)),))


def _state(incident: IncidentLine | Incident) -> tuple[Span, ...]:
    if incident.merged_into is not None:
        return (dim("merged"),)
    if incident.ended_at is None:
        known = (dim(", acknowledged"),) if incident.acknowledged_at is not None else ()
        return (Span("open", Style.BAD), *known)
    lasted = (incident.ended_at - incident.started_at).total_seconds()
    is_left = incident.ended_by is None
    return (dim(f"{'told no more' if is_left else 'over'} after {show_duration(lasted)}"),)


def quiet_blocks(report: QuietReport) -> list[Block]:
    """Return who is quiet and until when, what ends first on top."""
    if not report.quiet:
        blocks: list[Block] = [line(dim("Nothing is quiet."))]
    else:
        rows = tuple(
            (line(name(one.name or "the whole host")), line(show_time(one.until)), line(one.source), line(one.why))
            for one in report.quiet
        )
        blocks = [Table(_QUIET_COLUMNS, rows, (), (_QUIET_COLUMNS,))]
    for container in report.misread:
        blocks.append(line(name(container), dim(f": its label {QUIET_LABEL} is not understood and mutes nothing")))
    return blocks


def incident_blocks(incident: Incident) -> list[Block]:
    """Return all of one: what, since when, who suffers, what changed before, why, what to do, what shows it."""
    badge = Badge(incident.severity.value.upper(), SEVERITY_STYLES[incident.severity])
    title = line(strong(incident.title), badge=badge, notes=_state(incident))
    return [Section(Heading(title), (Fields(tuple(_facts(incident)), label_width=12), *_parts(incident)))]


def _facts(incident: Incident) -> Iterator[Field]:
    yield field("id", name(incident.id))
    yield field("since", show_time(incident.started_at))
    if incident.merged_into is not None:
        yield field("part of", name(incident.merged_into))
    elif incident.ended_at is not None:
        how = ENDED_BY[incident.ended_by] if incident.ended_by is not None else NOT_MENDED
        yield field("until", f"{show_time(incident.ended_at)}: {how}")
    if incident.acknowledged_at is not None:
        yield field("acknowledged", show_time(incident.acknowledged_at))
    if incident.root.project is not None:
        yield field("project", name(incident.root.project))
    if incident.seen_before.count:
        ended = incident.seen_before.usual_end
        usual = f", mostly over when {ENDED_BY[ended]}" if ended is not None else ""
        yield field("before", f"{show_times(incident.seen_before.count)} in {HISTORY_KEPT.days} days{usual}")


def _parts(incident: Incident) -> Iterator[Block]:
    if incident.causes:
        cause = incident.causes[0]
        yield Fields((field("likely cause", Span(cause.full_text, Style.CAUSE)),), label_width=12)
    yield Heading(line(strong("Who")), 2)
    yield Items(tuple(map(_member, incident.members)))
    yield Heading(line(strong("Changed before")), 2)
    if incident.changes:
        yield Fields(tuple(map(_change, incident.changes)), label_width=12)
    else:
        yield line(dim("Nothing is written down of the half hour before."))
    if incident.suggestions:
        yield Heading(line(strong("What to do")), 2)
        yield Items(tuple(Item(line(one.full_text)) for one in incident.suggestions))
    if incident.notes:
        yield Heading(line(strong("Notes")), 2)
        yield Items(tuple(Item(line(note.text, notes=(dim(note.id),))) for note in incident.notes))
    if incident.evidence:
        yield Heading(line(strong("Evidence")), 2)
        yield Quote(tuple(line(text) for text in incident.evidence))


def _member(member: IncidentMember) -> Item:
    what = ", ".join(member.symptoms) or "well itself"
    style = Style.ROOT if member.role == "root" else Style.PLAIN
    role = "root" if member.role == "root" else "suffers"
    return Item(
        line(name(member.name, style), f": {role}, ", Span(what, Style.CODE), dim(f" since {show_time(member.since)}"))
    )


def _change(change: IncidentChange) -> Field:
    who = change.container or change.service or change.project or "the host"
    before = f"{show_duration(change.seconds_before)} before"
    what = line(name(who), ": ", change.text, notes=(dim(f"{change.at:%H:%M:%S} UTC"),))
    return Field(line(dim(before)), (Item(what),))
