"""The table of containers: a row for each, which rows a filter takes, and in which order they stand."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from bcon_exporter.latest_scans import DiagnoseScan
from bcon_exporter.model.container_facts import ContainerFacts, ContainerState
from bcon_exporter.model.findings import STATUS_RANK, Severity, Symptom
from bcon_exporter.model.quantities import show_duration
from bcon_exporter.model.reports import DiagnosisReport
from bcon_exporter.tools import Context

NO_PROJECT = "no project"
OPEN_UP_TO = 50
"""Healthy containers: more of them are folded by project until somebody unfolds them."""
ALL, NONE = "*", "-"
"""Values of `open` that are no project's."""
_WORST_FIRST = "status"


@dataclass(frozen=True, slots=True)
class ContainerRow:
    """One container of a list.

    Attributes:
        status: "critical" to "healthy", or "not checked".
        since: When the trouble was first seen.
        what, cause, first_step: Of its worst trouble; empty where there is none.
        root: Name of the container whose trouble is behind this one's.
        cpu_ratio: Share of the CPUs that it may use; None where it does not run or that is not known, as all numbers.
        memory_ratio: Of its own limit; None where it has none.
        is_stale: The usage is the last known, since the newest could not be read.
        age: "3 days" since it started, "ended 4 min ago (137)".
        age_seconds: Since it started or ended.
        ports: "8080→80", those that are published.
        image: Name and tag, without the registry's address.
        texts: What the words of a filter are looked for in.
    """

    name: str
    status: str
    project: str
    state: str
    since: datetime | None = None
    what: str = ""
    cause: str = ""
    first_step: str = ""
    root: str | None = None
    cpu_ratio: float | None = None
    memory_bytes: int | None = None
    memory_limit_bytes: int | None = None
    is_stale: bool = False
    age: str = ""
    age_seconds: float | None = None
    restarts: int | None = None
    ports: tuple[str, ...] = ()
    image: str = ""
    texts: tuple[str, ...] = ()

    @property
    def memory_ratio(self) -> float | None:
        """The memory in use of its own limit."""
        if self.memory_bytes is None or not self.memory_limit_bytes:
            return None
        return self.memory_bytes / self.memory_limit_bytes

    @property
    def is_well(self) -> bool:
        """Whether it is known to be healthy."""
        return self.status == "healthy"


@dataclass(frozen=True, slots=True)
class PageFilter:
    """What is shown: words, a project, a status of containers."""

    text: str = ""
    project: str = ""
    status: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Return what a query asks for."""
        return cls(*(query.get(name, "").strip()[:255] for name in ("q", "project", "status")))

    def __bool__(self) -> bool:
        """Return whether anything is left out."""
        return bool(self.text or self.project or self.status)

    def takes(self, row: ContainerRow) -> bool:
        """Return whether a container is shown."""
        return (
            self.project in ("", row.project)
            and self.status in ("", row.status)
            and self._is_in((row.name, row.project, row.image, row.what, row.cause, row.first_step, *row.texts))
        )

    def takes_other(self, project: str | None, *texts: str | None) -> bool:
        """Return whether something is shown that is no container, and so has no status."""
        return (
            not self.status
            and self.project in ("", project or NO_PROJECT)
            and self._is_in((project or "", *(text for text in texts if text)))
        )

    def _is_in(self, texts: Iterable[str]) -> bool:
        """Return whether all words stand somewhere in some texts."""
        words = self.text.lower().split()
        if not words:
            return True
        joined = "\n".join(texts).lower()
        return all(word in joined for word in words)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table.

    Attributes:
        key: Its name in an address.
        value: What rows are sorted by; None stands last whichever way they are sorted.
        is_falling: Its first order is from the highest down.
        is_number: Its cells are numbers, which are renewed with each scan.
    """

    key: str
    title: str
    value: Callable[[ContainerRow], Any]
    is_falling: bool = False
    is_number: bool = False


def _rank(row: ContainerRow) -> int:
    return next((rank for status, rank in STATUS_RANK.items() if status == row.status), 0)


def _first_port(row: ContainerRow) -> int | None:
    """Return the first port of the host that leads to it."""
    outside = (port.partition("→")[0].rpartition(":")[2] for port in row.ports)
    return next((int(digits) for digits in outside if digits.isdecimal()), None)


COLUMNS = (
    Column(
        _WORST_FIRST, "Status", lambda row: (_rank(row), row.status != "healthy", row.root is None), is_falling=True
    ),
    Column("name", "Name", lambda row: row.name.lower()),
    Column("cpu", "CPU", lambda row: row.cpu_ratio, is_falling=True, is_number=True),
    Column("memory", "Memory", lambda row: row.memory_bytes, is_falling=True, is_number=True),
    Column("up", "Up", lambda row: row.age_seconds, is_number=True),
    Column("restarts", "Restarts", lambda row: row.restarts, is_falling=True, is_number=True),
    Column("ports", "Ports", _first_port),
    Column("image", "Image", lambda row: row.image.lower() or None),
)
_COLUMN_OF = {column.key: column for column in COLUMNS}


@dataclass(frozen=True, slots=True)
class Order:
    """By which column the rows are sorted, and which way."""

    column: Column = COLUMNS[0]
    is_falling: bool = COLUMNS[0].is_falling

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Return the order that a query asks for (`sort=cpu`; `sort=-cpu` is the other way round); else worst first."""
        asked = query.get("sort", "")
        column = _COLUMN_OF.get(asked.removeprefix("-"))
        return cls() if column is None else cls(column, column.is_falling != asked.startswith("-"))

    @property
    def is_worst_first(self) -> bool:
        """Whether it is the one that nobody needs to ask for."""
        return self == Order()

    def sort(self, rows: Iterable[ContainerRow]) -> list[ContainerRow]:
        """Return rows in this order; equal ones by name, and those without a value last."""
        value = self.column.value
        by_name = sorted(rows, key=lambda row: row.name)
        known = [row for row in by_name if value(row) is not None]
        known.sort(key=value, reverse=self.is_falling)
        return [*known, *(row for row in by_name if value(row) is None)]

    def aria(self, column: Column) -> str:
        """Return what a heading tells a screen reader; empty for the columns by which nothing is sorted."""
        if column != self.column:
            return ""
        return "descending" if self.is_falling else "ascending"

    def next(self, column: Column) -> str:
        """Return what a click on a heading asks for: its first order, and then the other way round."""
        turned = column == self.column and self.is_falling == column.is_falling
        return f"-{column.key}" if turned else column.key


@dataclass(frozen=True, slots=True)
class Group:
    """The healthy containers of one project. `is_open`: its rows are shown."""

    project: str
    rows: tuple[ContainerRow, ...]
    is_open: bool = True

    @property
    def memory_bytes(self) -> int | None:
        """What they use in total; None where nothing is known."""
        known = [row.memory_bytes for row in self.rows if row.memory_bytes is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class ContainerTable:
    """What the table shows.

    Attributes:
        rows: Those that stand by themselves, first.
        groups: Healthy ones by project; empty where the reader has chosen an order or a part.
        total: How many there are without a filter.
    """

    rows: tuple[ContainerRow, ...]
    groups: tuple[Group, ...]
    total: int
    order: Order

    @property
    def found(self) -> int:
        """How many the filter takes."""
        return len(self.rows) + sum(len(group.rows) for group in self.groups)


def make_table(rows: Sequence[ContainerRow], wanted: PageFilter, order: Order, opened: str = "") -> ContainerTable:
    """Return the table of the rows that a filter takes.

    Args:
        rows: All.
        wanted: Which of them.
        order: Of the rows; only where it is the usual one and nothing is left out are healthy ones folded.
        opened: The project whose rows are shown, `ALL` or `NONE`; empty for the usual.
    """
    taken = order.sort(row for row in rows if wanted.takes(row))
    if wanted or not order.is_worst_first:
        return ContainerTable(tuple(taken), (), len(rows), order)
    well = [row for row in taken if row.is_well]
    usual = ALL if len(well) <= OPEN_UP_TO else NONE
    by_project: dict[str, list[ContainerRow]] = {}
    for row in well:
        by_project.setdefault(row.project, []).append(row)
    groups = (
        Group(project, tuple(members), (opened or usual) in (ALL, project))
        for project, members in sorted(by_project.items(), key=lambda item: (item[0] == NO_PROJECT, item[0]))
    )
    return ContainerTable(tuple(row for row in taken if not row.is_well), tuple(groups), len(rows), order)


def to_rows(
    context: Context, scan: DiagnoseScan | None, only: Collection[DiagnosisReport] | None = None
) -> Iterator[ContainerRow]:
    """Yield a row for each container of a scan; what raises in one costs that row, which says so."""
    if scan is None:
        return
    facts_of = {facts.short_id: facts for facts in scan.snapshot.containers}
    for report in scan.report.reports if only is None else only:
        row = ContainerRow(
            name=report.container_name,
            status="not checked",
            project=report.project or NO_PROJECT,
            state=report.state.value,
            what="This row could not be shown; the log says why.",
        )
        with context.errors.contained("reading a row of a page"):
            row = to_row(report, facts_of.get(report.container_id))
        yield row


def to_row(report: DiagnosisReport, facts: ContainerFacts | None) -> ContainerRow:
    """Return a container's row: its worst symptom, the likeliest cause, the first thing to do, and its numbers."""
    worst = _worst(report)
    blind = report.not_evaluated[0].reason if report.is_unchecked and report.not_evaluated else ""
    usage = facts.usage if facts is not None and facts.is_running else None
    age, age_seconds = _tell_age(report, facts)
    return ContainerRow(
        name=report.container_name,
        status="not checked" if report.is_unchecked else report.status,
        project=report.project or NO_PROJECT,
        state=report.state.value,
        since=None if worst is None else worst.first_seen or worst.detected_at,
        what=worst.description if worst is not None else blind,
        cause=report.likely_causes[0].full_text if worst is not None and report.likely_causes else "",
        first_step=report.suggestions[0].full_text if worst is not None and report.suggestions else "",
        root=report.root,
        cpu_ratio=usage.cpu_ratio if usage is not None else None,
        memory_bytes=usage.memory_usage_bytes if usage is not None else None,
        memory_limit_bytes=usage.memory_limit_bytes if usage is not None else None,
        is_stale=usage is not None and usage.stale,
        age=age,
        age_seconds=age_seconds,
        restarts=facts.restart_count if facts is not None else None,
        ports=_published(facts.ports) if facts is not None else (),
        image=facts.image.rpartition("/")[2] if facts is not None else "",
        texts=_texts_of(report),
    )


def _worst(report: DiagnosisReport) -> Symptom | None:
    telling = [symptom for symptom in report.symptoms if symptom.severity is not Severity.INFO]
    return max(telling, key=lambda symptom: symptom.severity.rank, default=None)


def _tell_age(report: DiagnosisReport, facts: ContainerFacts | None) -> tuple[str, float | None]:
    """Return since when it runs or has ended, in words and in seconds."""
    state = report.state.value
    if report.state is ContainerState.RUNNING and report.uptime is not None:
        return show_duration(report.uptime), report.uptime
    if report.uptime is not None:
        return f"{state}, {show_duration(report.uptime)}", report.uptime
    ended_at = facts.finished_at if facts is not None else None
    if facts is None or ended_at is None or report.state is ContainerState.CREATED:
        return state, None
    seconds = max(0.0, (report.timestamp - ended_at).total_seconds())
    code = "" if facts.exit_code is None else f" ({facts.exit_code})"
    verb = "ended" if report.state is ContainerState.EXITED else f"{state}, ended"
    return f"{verb} {show_duration(seconds)} ago{code}", seconds


def _published(ports: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return those that are published, as "8080→80" and "53→53/udp"."""
    return tuple(f"{outside}→{inside.removesuffix('/tcp')}" for inside, outside in ports.items() if outside is not None)


def _texts_of(report: DiagnosisReport) -> tuple[str, ...]:
    symptoms = (text for symptom in report.symptoms for text in (symptom.type, symptom.description, *symptom.evidence))
    causes = (text for cause in report.likely_causes for text in (cause.full_text, *cause.evidence))
    return (*symptoms, *causes, report.service or "", report.state.value)
