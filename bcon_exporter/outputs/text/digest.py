"""A digest as blocks; a quiet week is two lines."""

from collections.abc import Iterator

from bcon_exporter.model.digest import DigestReport
from bcon_exporter.model.quantities import show_count, show_duration, show_time, show_times
from bcon_exporter.outputs.text.blocks import (
    SEVERITY_STYLES,
    Block,
    Heading,
    Item,
    Items,
    Span,
    dim,
    line,
    name,
    strong,
)


def digest_blocks(report: DigestReport) -> list[Block]:
    """Return what a period was like, the worst first."""
    period = dim(f"{show_time(report.since)} to {show_time(report.until)}")
    blocks: list[Block] = [Heading(line(strong(summarize(report)), notes=(period,)))]
    parts = list(_parts(report))
    blocks += [block for title, items in parts for block in (Heading(line(strong(title)), 2), Items(items))]
    if not (report.drifted or report.failed_deployments):
        blocks.append(line("Nothing has drifted, and no deployment failed."))
    if report.known_since is None:
        blocks.append(line(dim("No daemon has watched here: see --state.path.")))
    elif report.known_since > report.since:
        blocks.append(line(dim(f"Nothing is known of before {show_time(report.known_since)}.")))
    return blocks


def summarize(report: DigestReport) -> str:
    """Return one sentence of the period."""
    if not report.began and not report.going_on:
        return "No incident."
    goes_on = f"{len(report.going_on)} {'goes' if len(report.going_on) == 1 else 'go'} on" if report.going_on else ""
    parts = (show_count(report.began, "new incident"), f"{report.ended} closed" if report.ended else "", goes_on)
    return f"{', '.join(part for part in parts if part)}."


def _parts(report: DigestReport) -> Iterator[tuple[str, tuple[Item, ...]]]:
    if report.going_on:
        yield (
            "Goes on",
            tuple(
                Item(line(Span(one.title, SEVERITY_STYLES[one.severity]), dim(f" since {show_time(one.started_at)}")))
                for one in report.going_on
            ),
        )
    if report.worst:
        yield (
            "New",
            tuple(
                Item(line(Span(one.title, SEVERITY_STYLES[one.severity]), dim(f" {show_time(one.started_at)}")))
                for one in report.worst
            ),
        )
    if report.flapping:
        yield (
            "Again and again",
            tuple(Item(line(name(one.name), f": {one.code} {show_times(one.count)}")) for one in report.flapping),
        )
    if report.drifted:
        yield (
            "Drifted longest",
            tuple(
                Item(
                    line(
                        name(f"{one.project}/{one.service}"),
                        f": {one.drift_type} for {show_duration((report.until - one.since).total_seconds())}",
                    )
                )
                for one in report.drifted
            ),
        )
    if report.failed_deployments:
        yield (
            "Deployments that failed",
            tuple(
                Item(line(name(one.project), f": {one.summary}", dim(f" {show_time(one.at)}")))
                for one in report.failed_deployments
            ),
        )
