"""The samples of every container, from the last diagnosis: one function for each kind of family."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial

from bcon_exporter.latest_scans import DiagnoseScan
from bcon_exporter.model.container_facts import (
    ContainerFacts,
    ContainerState,
    HealthStatus,
    Limits,
    Pressure,
    PressureTotals,
    UsageFacts,
)
from bcon_exporter.model.findings import STATUS_RANK, Severity, SymptomType
from bcon_exporter.model.lifecycle import LifecycleFacts
from bcon_exporter.model.quiet import Muting
from bcon_exporter.outputs.metrics.families import BY_NAME, CONTAINER_LABELS, Family
from bcon_exporter.outputs.metrics.series_labels import SeriesSubject
from bcon_exporter.outputs.metrics.writing import Samples, label_set, label_value, number, sample

PRESSURE_KINDS = PressureTotals._fields
LOG_LEVELS = ("warning", "error", "critical")
RESERVED_LABELS = frozenset((*CONTAINER_LABELS, "id", "image", "compose_file"))
_SYMPTOM_LABELS = tuple((symptom, f'symptom="{symptom.value}"') for symptom in SymptomType)
_LABELS_GO_HERE = "\0"
_NO_SYMPTOM = "".join(
    f"{BY_NAME['bcon_container_symptom'].name}{{{_LABELS_GO_HERE},{label}}} 0\n" for _, label in _SYMPTOM_LABELS
)
"""All symptom lines of a container without symptoms, which most containers are."""
_HEALTH_LABELS = tuple((status, f'health="{status.value}"') for status in HealthStatus)
_STOPPED = (ContainerState.EXITED, ContainerState.DEAD)


def container_samples(
    scan: DiagnoseScan, subjects: tuple[SeriesSubject, ...], label_names: tuple[str, ...]
) -> Iterator[Samples]:
    """Yield every per-container family; bcon_container_info carries the container labels of `label_names`."""
    now = scan.snapshot.taken_at
    yield _samples("info", _info_lines(subjects, label_names))
    yield _samples("image_info", _image_lines(subjects))
    yield _per_container("status", subjects, lambda subject: STATUS_RANK[subject.report.status])
    yield _samples("symptom", _symptom_lines(subjects))
    yield _samples("symptom_start_timestamp_seconds", _symptom_start_lines(subjects))
    yield _samples("cause_info", _cause_lines(subjects))
    yield _samples("explained", _explained_lines(subjects))
    yield _per_container("explained_start_timestamp_seconds", subjects, lambda subject: _explained_since(scan, subject))
    yield _per_container("quiet", subjects, lambda subject: _quiet(scan.muting, subject.facts))
    yield _per_container("not_evaluated", subjects, _count_not_evaluated)
    yield _per_container("running", subjects, lambda subject: int(subject.facts.is_running))
    yield _per_container("start_time_seconds", subjects, lambda subject: _start_time(subject.facts))
    yield _per_container(
        "exit_code", subjects, lambda subject: subject.facts.exit_code if subject.facts.state in _STOPPED else None
    )
    yield _samples("health", _health_lines(subjects))
    yield from _lifecycle_samples(subjects, now - timedelta(hours=1))
    yield from _usage_samples(subjects)
    yield _samples("log_events_total", _log_lines(scan, subjects))


def _family(short_name: str) -> Family:
    return BY_NAME[f"bcon_container_{short_name}"]


def _samples(short_name: str, lines: Iterable[str]) -> Samples:
    return Samples.of(_family(short_name), lines)


def _per_container(
    short_name: str, subjects: Iterable[SeriesSubject], value_of: Callable[[SeriesSubject], float | None]
) -> Samples:
    """One sample a container; a fact that is None has none."""
    name = _family(short_name).name
    values = ((subject.labels, value_of(subject)) for subject in subjects)
    return _samples(
        short_name, (f"{name}{{{labels}}} {number(value)}\n" for labels, value in values if value is not None)
    )


def _start_time(facts: ContainerFacts) -> float | None:
    return facts.started_at.timestamp() if facts.started_at else None


def _info_lines(subjects: Iterable[SeriesSubject], label_names: tuple[str, ...]) -> Iterator[str]:
    name = _family("info").name
    safe_names = safe_label_names(label_names)
    for subject in subjects:
        facts = subject.facts
        compose_file = facts.compose.config_files[0] if facts.compose and facts.compose.config_files else ""
        own = label_set(("id", "image", "compose_file"), (facts.short_id, facts.image, compose_file))
        more = "".join(
            f',{safe}="{label_value(facts.labels.get(raw))}"' for raw, safe in zip(label_names, safe_names, strict=True)
        )
        yield f"{name}{{{subject.labels},{own}{more}}} 1\n"


def _image_lines(subjects: Iterable[SeriesSubject]) -> Iterator[str]:
    name = _family("image_info").name
    for subject in subjects:
        facts = subject.facts
        own = label_set(("image", "version", "digest"), (facts.image, facts.image_version, facts.image_id))
        yield f"{name}{{{subject.labels},{own}}} 1\n"


def safe_label_names(raw_names: Iterable[str]) -> tuple[str, ...]:
    """Return Prometheus label names for container labels: other signs become `_`, a taken name gets `label_` before."""
    safe_names: list[str] = []
    for raw in raw_names:
        safe = "".join(sign if sign.isascii() and sign.isalnum() else "_" for sign in raw)
        if not safe or safe[0].isdigit() or safe.startswith("__") or safe in RESERVED_LABELS or safe in safe_names:
            safe = f"label_{safe}"
        while safe in safe_names:
            safe += "_"
        safe_names.append(safe)
    return tuple(safe_names)


def _explained_lines(subjects: Iterable[SeriesSubject]) -> Iterator[str]:
    name = _family("explained").name
    for subject in subjects:
        if subject.report.root is not None:
            yield f'{name}{{{subject.labels},root="{label_value(subject.report.root)}"}} 1\n'


def _count_not_evaluated(subject: SeriesSubject) -> int:
    """Count rules that lacked facts; not those that only advise: alerts hold what was seen where one is not judged."""
    return sum(not rule.is_advisory for rule in subject.report.not_evaluated)


def _explained_since(scan: DiagnoseScan, subject: SeriesSubject) -> float | None:
    report = subject.report
    if report.root is None:
        return None
    return scan.explained_since.get(report.container_id, report.timestamp).timestamp()


def _quiet(muting: Muting, facts: ContainerFacts) -> float | None:
    compose = facts.compose
    project, service = (compose.project, compose.service) if compose is not None else (None, None)
    return None if muting.find(facts.name, project, service) is None else 1.0


def _symptom_lines(subjects: Iterable[SeriesSubject]) -> Iterator[str]:
    """Yield 0 or 1 for every symptom that was judged; 0 for history (severity info)."""
    name = _family("symptom").name
    for subject in subjects:
        report = subject.report
        if not report.symptoms and not report.not_evaluated and not report.rule_errors:
            yield _NO_SYMPTOM.replace(_LABELS_GO_HERE, subject.labels)
            continue
        present = {symptom.type for symptom in report.symptoms if symptom.severity is not Severity.INFO}
        unjudged = {missing.symptom for missing in report.not_evaluated}.union(report.rule_errors) - present
        head = f"{name}{{{subject.labels},"
        for symptom, label in _SYMPTOM_LABELS:
            if symptom not in unjudged:
                yield f"{head}{label}}} {1 if symptom in present else 0}\n"


def _symptom_start_lines(subjects: Iterable[SeriesSubject]) -> Iterator[str]:
    name = _family("symptom_start_timestamp_seconds").name
    for subject in subjects:
        starts = {
            symptom.type: symptom.first_seen or symptom.detected_at
            for symptom in subject.report.symptoms
            if symptom.severity is not Severity.INFO
        }
        for symptom in sorted(starts):
            yield sample(name, f'{subject.labels},symptom="{symptom.value}"', starts[symptom].timestamp())


def _cause_lines(subjects: Iterable[SeriesSubject]) -> Iterator[str]:
    name = _family("cause_info").name
    for subject in subjects:
        if subject.report.status != "healthy" and subject.report.likely_causes:
            top = max(subject.report.likely_causes, key=lambda cause: cause.confidence)
            yield f"{name}{{{subject.labels},{label_set(('cause', 'peer'), (top.id, top.peer))}}} 1\n"


def _health_lines(subjects: Iterable[SeriesSubject]) -> Iterator[str]:
    name = _family("health").name
    for subject in subjects:
        current = _health(subject.facts)
        if current is not None:
            yield "".join(
                f"{name}{{{subject.labels},{label}}} {int(current is status)}\n" for status, label in _HEALTH_LABELS
            )


def _health(facts: ContainerFacts) -> HealthStatus | None:
    """Return the health of a running container; None where it does not run or was not read."""
    if not facts.is_running or not {"health", "inspect"}.isdisjoint(facts.unread):
        return None
    return facts.health.status if facts.health else HealthStatus.NONE


def _lifecycle_samples(subjects: tuple[SeriesSubject, ...], hour_ago: datetime) -> tuple[Samples, ...]:
    def past(value_of: Callable[[LifecycleFacts], int]) -> Callable[[SeriesSubject], int | None]:
        return lambda subject: None if subject.facts.lifecycle is None else value_of(subject.facts.lifecycle)

    return (
        _per_container("restarts_total", subjects, past(lambda lifecycle: lifecycle.restarts_total)),
        _per_container("oom_kills_total", subjects, past(lambda lifecycle: lifecycle.oom_kills_total)),
        _per_container(
            "restarts_last_hour", subjects, past(lambda lifecycle: sum(at > hour_ago for at in lifecycle.restarts))
        ),
    )


_USAGE: tuple[tuple[str, Callable[[UsageFacts], float | None]], ...] = (
    ("cpu_usage_ratio", lambda usage: usage.cpu_ratio),
    ("memory_usage_bytes", lambda usage: usage.memory_usage_bytes),
    ("cpu_seconds_total", lambda usage: usage.cpu_seconds_total),
    ("cpu_throttled_seconds_total", lambda usage: usage.cpu_throttled_seconds_total),
    ("network_receive_bytes_total", lambda usage: usage.network_rx_bytes),
    ("network_transmit_bytes_total", lambda usage: usage.network_tx_bytes),
    ("block_read_bytes_total", lambda usage: usage.block_read_bytes),
    ("block_write_bytes_total", lambda usage: usage.block_write_bytes),
    ("pids", lambda usage: usage.pids),
    ("open_files", lambda usage: usage.open_files),
)
_NETWORK = tuple(
    (f"network_{way}_{what}_total", f"{done}_{what}")
    for way, done in (("receive", "received"), ("transmit", "sent"))
    for what in ("packets", "errors", "dropped")
)
"""Family and field of `NetworkCounters`."""


def _usage_samples(subjects: tuple[SeriesSubject, ...]) -> Iterator[Samples]:
    """Usage of now; the last known usage is withheld, since a frozen number would look alive."""

    def fresh(value_of: Callable[[UsageFacts], float | None]) -> Callable[[SeriesSubject], float | None]:
        return lambda subject: (
            None if subject.facts.usage is None or subject.facts.usage.stale else value_of(subject.facts.usage)
        )

    for name, value_of in _USAGE:
        yield _per_container(name, subjects, fresh(value_of))
    for name, counter in _NETWORK:
        yield _per_container(name, subjects, fresh(partial(_packets, counter)))
    yield _limits("memory_limit_bytes", subjects, lambda limits: limits.memory_bytes)
    yield _limits("pids_limit", subjects, lambda limits: limits.pids)
    yield from _pressure_samples(subjects)


def _packets(counter: str, usage: UsageFacts) -> float | None:
    return None if usage.network is None else getattr(usage.network, counter)


def _limits(name: str, subjects: tuple[SeriesSubject, ...], value_of: Callable[[Limits], float | None]) -> Samples:
    return _per_container(
        name, subjects, lambda subject: value_of(subject.facts.limits) if subject.facts.limits else None
    )


def _pressure_samples(subjects: tuple[SeriesSubject, ...]) -> Iterator[Samples]:
    for kind in PRESSURE_KINDS:
        name = f"pressure_{kind}_seconds_total"
        yield _samples(name, _pressure_lines(_family(name).name, kind, subjects))


def _pressure_lines(name: str, kind: str, subjects: tuple[SeriesSubject, ...]) -> Iterator[str]:
    for subject in subjects:
        usage = subject.facts.usage
        if usage is not None and not usage.stale and usage.pressure is not None:
            for resource, seconds in pressure_seconds(usage.pressure, kind):
                yield f'{name}{{{subject.labels},resource="{resource}"}} {number(seconds)}\n'


def pressure_seconds(pressure: Pressure, kind: str) -> Iterator[tuple[str, float]]:
    """Yield each resource with its total; those that the kernel does not tell of are left out."""
    for resource, totals in zip(Pressure._fields, pressure, strict=True):
        microseconds = None if totals is None else getattr(totals, kind)
        if microseconds is not None:
            yield resource, microseconds / 1e6


def _log_lines(scan: DiagnoseScan, subjects: Iterable[SeriesSubject]) -> Iterator[str]:
    name = _family("log_events_total").name
    for subject in subjects:
        counted = scan.log_events.get(subject.facts.id)
        if counted is not None:
            for level in LOG_LEVELS:
                yield f'{name}{{{subject.labels},level="{level}"}} {counted.get(level, 0)}\n'
