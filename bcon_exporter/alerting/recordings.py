"""Recording rules that carry the last value on while a host cannot be seen: an outage resolves nothing.

Each carries **itself**, by its own last evaluation: unlike a window, that has no end in a long outage, and does not
bring back what was gone before it.
"""

from dataclasses import dataclass

from bcon_exporter.alerting.expressions import (
    CONTAINER,
    HOST,
    SERVICE,
    AnyOnHost,
    Both,
    Either,
    Expr,
    Names,
    OnlyPrometheus,
    Series,
    Without,
    above,
    is_value,
    series,
)


@dataclass(frozen=True, slots=True)
class Recording:
    """One recording rule; `why` stands above it in the rule file."""

    name: str
    expr: Expr
    why: str


BLIND = series("instance:bcon_blind:bool")
SYMPTOM = "container:bcon_symptom:held"
STATUS = series("container:bcon_status:held")
DRIFT_ITEMS = "service:bcon_drift_items:held"
DRIFT_START = "service:bcon_drift_start_timestamp_seconds:held"
STOP_REQUESTED = series("service:bcon_stop_requested:held")

DIAGNOSIS_IS_THERE = series("bcon_containers")
"""A family that stands in the metrics exactly as long as the last diagnosis is not withheld."""
DRIFT_IS_THERE = series("bcon_untracked_containers")
_AS_LAST_SEEN = (
    "As reported; as last seen while blind, or while the project's files or its containers cannot be judged."
)
_UNKNOWN_PROJECT = is_value(series("bcon_compose_project_status", status="unknown"), 1)

_KNOWN = "last_over_time(bcon_build_info[1h])"

_BLIND = AnyOnHost(
    Either(
        (
            OnlyPrometheus(
                f"up == 0\n  and on (job, instance) ({_KNOWN} or last_over_time({BLIND.name}[1h]))",
            ),
            OnlyPrometheus(f"{_KNOWN}\n  unless on (job, instance) up"),
            is_value(series("bcon_up"), 0),
            is_value(series("bcon_scan_success"), 0),
            is_value(series("bcon_docker_endpoint_up"), 0),
            Without(series("bcon_scan_interval_seconds", scan="diagnose"), DIAGNOSIS_IS_THERE, HOST),
            Without(series("bcon_scan_interval_seconds", scan="drift"), DRIFT_IS_THERE, HOST),
        )
    )
)


def _earlier(own_name: str, source: str) -> Without:
    """Return what held at the last evaluation and has no sample now."""
    return Without(Series(own_name), Series(source), None)


def _unseen(own_name: str, source: str, report: Series) -> Expr:
    """Return what is carried because the whole report is withheld."""
    return Without(Both(_earlier(own_name, source), BLIND, HOST), report, HOST)


def _held_symptoms() -> Expr:
    source = "bcon_container_symptom"
    unjudged = Both(
        Both(_earlier(SYMPTOM, source), BLIND, HOST), above(series("bcon_container_not_evaluated"), 0), CONTAINER
    )
    return Either((is_value(series(source), 1), _unseen(SYMPTOM, source, DIAGNOSIS_IS_THERE), unjudged))


def _held_of_projects(own_name: str, source: str, present: Expr, *more: Expr) -> Recording:
    unknown = Both(_earlier(own_name, source), _UNKNOWN_PROJECT, ("project",))
    held = Either((present, _unseen(own_name, source, DRIFT_IS_THERE), unknown, *more))
    return Recording(
        own_name, held, "As reported; as last seen while blind, or while project or service cannot be judged."
    )


def _held_difference(own_name: str, source: str, present: Expr) -> Recording:
    """Return what is also carried while differences of this type cannot be judged in a service that is known."""
    known = Both(Series(own_name), series("bcon_service_replicas_desired"), SERVICE)
    return _held_of_projects(own_name, source, present, Without(known, series("bcon_drift_items"), (*SERVICE, "drift")))


RECORDINGS: tuple[Recording, ...] = (
    Recording(
        BLIND.name,
        _BLIND,
        "1 for every host of which something cannot be seen now: exporter down or gone from discovery, engine or one\n"
        "of its endpoints not answering, a scan failing, or no scan yet.",
    ),
    Recording(
        SYMPTOM,
        _held_symptoms(),
        "Symptoms as reported; as last seen while blind. A removed container is gone at once, an outage ends nothing.",
    ),
    Recording(
        STATUS.name,
        Either(
            (
                above(series("bcon_container_status"), 0),
                _unseen(STATUS.name, "bcon_container_status", DIAGNOSIS_IS_THERE),
            )
        ),
        "The status of ailing containers, held likewise.",
    ),
    _held_difference(DRIFT_ITEMS, "bcon_drift_items", above(series("bcon_drift_items"), 0)),
    _held_difference(DRIFT_START, "bcon_drift_start_timestamp_seconds", series("bcon_drift_start_timestamp_seconds")),
    _held_of_projects(
        STOP_REQUESTED.name, "bcon_service_stop_requested", is_value(series("bcon_service_stop_requested"), 1)
    ),
)


def symptom(*names: str) -> Series:
    """Return the containers that show one of these symptoms, as last seen while blind."""
    where: Names = names
    return series(SYMPTOM, symptom=where)


def drift(*names: str) -> Series:
    """Return the services with a drift of one of these types, as last seen while blind."""
    where: Names = names
    return series(DRIFT_ITEMS, drift=where)


def drift_since(name: str) -> Series:
    """Return since when the services have had a drift of this type."""
    return series(DRIFT_START, drift=name)
