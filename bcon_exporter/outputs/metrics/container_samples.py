"""Turns the last diagnosis into samples: one function a kind of family."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from bcon_exporter.model.facts import ContainerFacts, ContainerState, HealthStatus, UsageFacts
from bcon_exporter.model.findings import Severity, SymptomType
from bcon_exporter.model.lifecycle import LifecycleFacts
from bcon_exporter.outputs.metrics.families import BY_NAME, C, Family
from bcon_exporter.outputs.metrics.subjects import Subject
from bcon_exporter.outputs.metrics.writing import Samples, label_set, label_value, number, sample
from bcon_exporter.store import DiagnoseScan

STATUS_VALUES = {"healthy": 0, "warning": 1, "error": 2, "critical": 3}
LOG_LEVELS = ("warning", "error", "critical")
RESERVED_LABELS = frozenset((*C, "id", "image", "compose_file"))
_SYMPTOM_LABELS = tuple((symptom, f'symptom="{symptom.value}"') for symptom in SymptomType)
_LABELS_GO_HERE = "\0"
_NO_SYMPTOM = "".join(
    f"{BY_NAME['bcon_container_symptom'].name}{{{_LABELS_GO_HERE},{label}}} 0\n" for _, label in _SYMPTOM_LABELS
)
"""All lines of a container without symptoms: most containers of most hosts."""
_HEALTH_LABELS = tuple((status, f'health="{status.value}"') for status in HealthStatus)
_STOPPED = (ContainerState.EXITED, ContainerState.DEAD)


def container_samples(
    scan: DiagnoseScan, subjects: tuple[Subject, ...], label_names: tuple[str, ...]
) -> tuple[Samples, ...]:
    """Return every per-container family; bcon_container_info carries the container labels of `label_names`."""
    now = scan.snapshot.taken_at
    return (
        _samples("info", _info_lines(subjects, label_names)),
        _each("status", subjects, lambda one: STATUS_VALUES[one.report.status]),
        _samples("symptom", _symptom_lines(subjects)),
        _samples("symptom_start_timestamp_seconds", _symptom_start_lines(subjects)),
        _samples("cause_info", _cause_lines(subjects)),
        _each("not_evaluated", subjects, lambda one: len(one.report.not_evaluated)),
        _each("running", subjects, lambda one: int(one.facts.is_running)),
        _each("start_time_seconds", subjects, lambda one: _start_time(one.facts)),
        _each("exit_code", subjects, lambda one: one.facts.exit_code if one.facts.state in _STOPPED else None),
        _samples("health", _health_lines(subjects)),
        *_lifecycle_samples(subjects, now - timedelta(hours=1)),
        *_usage_samples(subjects),
        _samples("log_events_total", _log_lines(scan, subjects)),
    )


def _family(short_name: str) -> Family:
    return BY_NAME[f"bcon_container_{short_name}"]


def _samples(short_name: str, lines: Iterable[str]) -> Samples:
    return Samples(_family(short_name), ("".join(lines),))  # of 500 containers one text, not 20,000


def _each(short_name: str, subjects: Iterable[Subject], value_of: Callable[[Subject], float | None]) -> Samples:
    """One sample a container; a fact that is None has none."""
    name = _family(short_name).name
    values = ((one.labels, value_of(one)) for one in subjects)
    return _samples(
        short_name, (f"{name}{{{labels}}} {number(value)}\n" for labels, value in values if value is not None)
    )


def _start_time(facts: ContainerFacts) -> float | None:
    return facts.started_at.timestamp() if facts.started_at else None


def _info_lines(subjects: Iterable[Subject], label_names: tuple[str, ...]) -> Iterator[str]:
    name = _family("info").name
    safe_names = safe_label_names(label_names)
    for one in subjects:
        facts = one.facts
        compose_file = facts.compose.config_files[0] if facts.compose and facts.compose.config_files else ""
        own = label_set(("id", "image", "compose_file"), (facts.short_id, facts.image, compose_file))
        more = "".join(
            f',{safe}="{label_value(facts.labels.get(raw))}"' for raw, safe in zip(label_names, safe_names, strict=True)
        )
        yield f"{name}{{{one.labels},{own}{more}}} 1\n"


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


def _symptom_lines(subjects: Iterable[Subject]) -> Iterator[str]:
    """0 or 1 for every symptom that was judged; history (severity info) is 0."""
    name = _family("symptom").name
    for one in subjects:
        report = one.report
        if not report.symptoms and not report.not_evaluated and not report.rule_errors:
            yield _NO_SYMPTOM.replace(_LABELS_GO_HERE, one.labels)
            continue
        present = {symptom.type for symptom in report.symptoms if symptom.severity is not Severity.INFO}
        unjudged = {missing.symptom for missing in report.not_evaluated}.union(report.rule_errors) - present
        head = f"{name}{{{one.labels},"
        for symptom, label in _SYMPTOM_LABELS:
            if symptom not in unjudged:
                yield f"{head}{label}}} {1 if symptom in present else 0}\n"


def _symptom_start_lines(subjects: Iterable[Subject]) -> Iterator[str]:
    name = _family("symptom_start_timestamp_seconds").name
    for one in subjects:
        starts = {
            symptom.type: symptom.first_seen or symptom.detected_at
            for symptom in one.report.symptoms
            if symptom.severity is not Severity.INFO
        }
        for symptom in sorted(starts):
            yield sample(name, f'{one.labels},symptom="{symptom.value}"', starts[symptom].timestamp())


def _cause_lines(subjects: Iterable[Subject]) -> Iterator[str]:
    name = _family("cause_info").name
    for one in subjects:
        if one.report.status != "healthy" and one.report.likely_causes:
            top = max(one.report.likely_causes, key=lambda cause: cause.confidence)
            yield f"{name}{{{one.labels},{label_set(('cause', 'peer'), (top.id, top.peer))}}} 1\n"


def _health_lines(subjects: Iterable[Subject]) -> Iterator[str]:
    name = _family("health").name
    for one in subjects:
        current = _health(one.facts)
        if current is not None:
            yield "".join(
                f"{name}{{{one.labels},{label}}} {int(current is status)}\n" for status, label in _HEALTH_LABELS
            )


def _health(facts: ContainerFacts) -> HealthStatus | None:
    """None for a container that does not run (its status is frozen), and where it could not be read."""
    if not facts.is_running or not {"health", "inspect"}.isdisjoint(facts.unread):
        return None
    return facts.health.status if facts.health else HealthStatus.NONE


def _lifecycle_samples(subjects: tuple[Subject, ...], hour_ago: datetime) -> tuple[Samples, ...]:
    def past(value_of: Callable[[LifecycleFacts], int]) -> Callable[[Subject], int | None]:
        return lambda one: None if one.facts.lifecycle is None else value_of(one.facts.lifecycle)

    return (
        _each("restarts_total", subjects, past(lambda known: known.restarts_total)),
        _each("oom_kills_total", subjects, past(lambda known: known.oom_kills_total)),
        _each("restarts_last_hour", subjects, past(lambda known: sum(at > hour_ago for at in known.restarts))),
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
)


def _usage_samples(subjects: tuple[Subject, ...]) -> tuple[Samples, ...]:
    """Usage that is only the last known one is withheld: a frozen number would look alive."""

    def fresh(value_of: Callable[[UsageFacts], float | None]) -> Callable[[Subject], float | None]:
        return lambda one: None if one.facts.usage is None or one.facts.usage.stale else value_of(one.facts.usage)

    return (*(_each(name, subjects, fresh(value_of)) for name, value_of in _USAGE), _memory_limits(subjects))


def _memory_limits(subjects: tuple[Subject, ...]) -> Samples:
    return _each(
        "memory_limit_bytes", subjects, lambda one: one.facts.limits.memory_bytes if one.facts.limits else None
    )


def _log_lines(scan: DiagnoseScan, subjects: Iterable[Subject]) -> Iterator[str]:
    name = _family("log_events_total").name
    for one in subjects:
        counted = scan.log_events.get(one.facts.id)
        if counted is not None:
            for level in LOG_LEVELS:
                yield f'{name}{{{one.labels},level="{level}"}} {counted.get(level, 0)}\n'
