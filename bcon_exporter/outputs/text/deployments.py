"""Verdicts on deployments as blocks: of one, what failed first and who suffers from it below; of several, a list."""

from collections.abc import Iterator

from bcon_exporter.model.quantities import show_count, show_duration, show_time
from bcon_exporter.model.verify_report import (
    DeployedService,
    DeploymentRecord,
    DeploymentsReport,
    DeploymentVerdict,
    ServiceVerdict,
    VerifyReport,
)
from bcon_exporter.outputs.text.blocks import (
    Badge,
    Block,
    Field,
    Fields,
    Heading,
    Item,
    Line,
    Quote,
    Section,
    Span,
    Style,
    dim,
    field,
    line,
    name,
    strong,
)

_STYLES = {
    DeploymentVerdict.BAD: Style.BAD,
    DeploymentVerdict.UNSURE: Style.DOUBT,
    DeploymentVerdict.GOOD: Style.GOOD,
}


def verify_blocks(report: VerifyReport) -> list[Block]:
    """Return the verdict, each service that is not good in full, and one line for those that are."""
    seconds = (report.watched_until - report.watched_from).total_seconds()
    watched = dim(f"deployed {show_time(report.since)}, watched for {show_duration(seconds)}")
    badge = Badge(report.verdict.value.upper(), _STYLES[report.verdict])
    body: list[Block] = []
    if report.reason is not None:
        body.append(line(Span(report.reason, Style.DOUBT)))
    body += [_service(one) for one in report.services if one.verdict is not DeploymentVerdict.GOOD]
    body += [_good(one) for one in report.services if one.verdict is DeploymentVerdict.GOOD]
    body += [line(dim(text), badge=Badge("note", Style.DIM, "○")) for text in report.notes]
    title = Heading(line(report.summary, badge=badge, notes=(watched,)))
    return [Section(title, tuple(body))]


def _good(service: ServiceVerdict) -> Line:
    return line(name(service.service, Style.STRONG), " ", dim(service.message), badge=Badge("good", Style.GOOD, "✓"))


def list_blocks(report: DeploymentsReport) -> list[Block]:
    """Return each deployment with what failed in it, newest first."""
    shown = len(report.deployments)
    counted = show_count(report.total, "deployment") if report.total else "No deployment."
    title = counted if shown == report.total else f"{shown} of {counted}"
    blocks: list[Block] = [Heading(line(strong(title)))]
    blocks += [_deployment(record) for record in report.deployments]
    if report.known_since is None:
        blocks.append(line(dim("No daemon has watched here: see --state.path.")))
    return blocks


def _deployment(record: DeploymentRecord) -> Section:
    badge = Badge(record.verdict.value.upper(), _STYLES[record.verdict])
    title = line(record.summary, badge=badge, notes=(dim(f"deployed {show_time(record.since)}"),))
    body: list[Block] = []
    for service in record.services:
        if service.verdict is not DeploymentVerdict.GOOD:
            body.append(_title(service, f": {service.message}"))
            body += [line(dim(f"changed  {change}")) for change in service.changes]
    return Section(Heading(title, 2), tuple(body))


def _title(service: ServiceVerdict | DeployedService, message: str = "") -> Line:
    word = service.code.value if service.code is not None else service.verdict.value
    notes = (Span(f"suffers from {service.root}", Style.ROOT),) if service.root is not None else ()
    badge = Badge(word, _STYLES[service.verdict])
    return line(name(service.service, Style.STRONG), message, badge=badge, notes=notes)


def _service(service: ServiceVerdict) -> Section:
    return Section(Heading(_title(service), 2), tuple(_body(service)))


def _body(service: ServiceVerdict) -> Iterator[Block]:
    yield line(service.message)
    if service.causes:
        cause = service.causes[0]
        yield Fields((field("likely cause", Span(cause.full_text, Style.CAUSE)),))
    if service.changes:
        items = tuple(Item(line(change)) for change in service.changes)
        yield Fields((Field(line(dim("changed")), items),))
    elif service.verdict is DeploymentVerdict.BAD and not service.changes_known:
        yield Fields((field("changed", dim("not known: the container that this one replaced was not seen")),))
    if service.evidence:
        yield Quote(tuple(line(text) for text in service.evidence))
