"""A check as blocks: the verdict, what stands in the way, what `up` would do, what could not be seen."""

from collections.abc import Iterable, Iterator

from bcon_exporter.model.check_report import (
    CheckCode,
    CheckFinding,
    CheckReport,
    CheckSeverity,
    CheckVerdict,
    ServicePlan,
)
from bcon_exporter.model.quantities import show_count
from bcon_exporter.model.rule_faults import list_faults
from bcon_exporter.outputs.text.blocks import (
    EMPTY_LINE,
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
    dim,
    line,
    name,
    strong,
)

_VERDICTS = {
    CheckVerdict.FAILS: Style.BAD,
    CheckVerdict.RISK: Style.WARNING,
    CheckVerdict.OK: Style.GOOD,
    CheckVerdict.UNKNOWN: Style.DOUBT,
}
_SEVERITIES = {
    CheckSeverity.FAILS: Style.BAD,
    CheckSeverity.RISK: Style.WARNING,
    CheckSeverity.ADVICE: Style.DIM,
}
_ACTIONS = ("recreate", "create", "restart", "start", "remove", "orphan", "leave", "unknown")


def check_blocks(report: CheckReport) -> list[Block]:
    """Return a check; the plan stands in a table of its own, not among the findings."""
    badge = Badge(report.verdict.value.upper(), _VERDICTS[report.verdict])
    title = line(name(report.project or "deployment", Style.STRONG), badge=badge, notes=(dim(report.summary),))
    blocks: list[Block] = [Heading(title), EMPTY_LINE]
    findings = [finding for finding in report.findings if finding.code is not CheckCode.RECREATES]
    if findings:
        blocks += [Fields(tuple(map(_finding, findings))), EMPTY_LINE]
    if report.plan:
        blocks += [_plan(report), EMPTY_LINE]
    if report.diff:
        blocks += [Section(_title("Judged with this edit, which is not written"), (_diff(report.diff),)), EMPTY_LINE]
    if report.not_checked:
        blocks += [Section(_title("Not checked"), (Items(tuple(_not_checked(report))),)), EMPTY_LINE]
    if report.rule_errors:
        blocks.append(line(Span(list_faults(report.rule_errors, report.rule_faults), Style.BAD)))
    return blocks


def _title(text: str) -> Heading:
    return Heading(line(strong(text)), 2)


def _finding(finding: CheckFinding) -> Field:
    style = _SEVERITIES[finding.severity]
    label = line(Span(finding.code.value, Style.CODE), badge=Badge(finding.severity.value, style, "●"))
    where = f"{finding.file}:{finding.line}" if finding.file and finding.line else finding.file or ""
    service = (strong(finding.service), ": ") if finding.service else ()
    evidence = () if len(finding.evidence) < 2 else (_quote(finding.evidence),)  # noqa: PLR2004 -- one says no more
    return Field(label, (Item(line(*service, finding.message, notes=(dim(where),)), evidence),))


def _quote(texts: Iterable[str]) -> Quote:
    return Quote(tuple(line(dim(text)) for text in texts))


def _plan(report: CheckReport) -> Section:
    steps = sorted(report.plan, key=lambda step: (_ACTIONS.index(step.action), step.service))
    fields = tuple(
        Field(
            line(Span(step.action, Style.CODE)),
            (
                Item(
                    line(
                        name(step.service, Style.STRONG),
                        notes=(*map(dim, step.why), *map(dim, _hooks(step)), dim(_away(step.is_away))),
                    )
                ),
            ),
        )
        for step in steps
    )
    return Section(_title(f"What `up` would do to {show_count(len(steps), 'service')}"), (Fields(fields),))


def _hooks(step: ServicePlan) -> tuple[str, ...]:
    return (f"after {', '.join(step.hooks)}",) if step.hooks else ()


def _away(is_away: bool) -> str:  # noqa: FBT001 -- private
    return "away meanwhile" if is_away else ""


def _not_checked(report: CheckReport) -> Iterator[Item]:
    for one in report.not_checked:
        yield Item(line(Span(one.what, Style.DOUBT), notes=(dim(one.reason),)))


def _diff(diff: str) -> Quote:
    return _quote(diff.split("\n"))
